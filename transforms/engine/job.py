"""What a run needs to know, resolved and checked: frozen on the driver, carried to the workers."""

from __future__ import annotations

import math
import os
import secrets
from dataclasses import dataclass, field
from typing import Any, Literal

from sottovoce.models.corpus.names import Naming
from sottovoce.models.randomness import Secret
from sottovoce.models.runs.places import RunPlaces
from sottovoce.models.settings import Spec, read_spec, require
from sottovoce.models.speech.audio_roots import AudioRoots
from sottovoce.models.speech.recognise import Recogniser
from sottovoce.models.speech.slice import Slicer
from sottovoce.models.text.detect.labelled_slots import SlotSettings


@dataclass(frozen=True)
class InputSettings:
    """`input` of a job: how the corpus is laid out and read."""

    format: str = "auto"
    records_per_batch: int = 128
    text_only: bool | None = None  # null: found out by a look at the first records
    audio_roots: tuple[str, ...] = ()  # where recordings may lie, besides the manifest's own folder
    columns: dict[str, str | None] = field(default_factory=dict)  # {our key: the corpus's}
    audio_folder: str | None = None  # where relative paths begin, if not at the manifest
    language: str | None = None  # of records that do not say; null: guessed
    other_languages: Literal["refuse", "take"] = "refuse"  # those that a stage does not know

    def __post_init__(self) -> None:
        require(
            (self.records_per_batch >= 1, "records_per_batch: must be at least 1"),
            (all(map(str.strip, self.audio_roots)), "audio_roots: expected folders or URIs, not an empty text"),
        )
        _ = self.naming  # checks the columns

    @property
    def naming(self) -> Naming:
        """Names of columns and where relative paths begin, absolute; SettingsError for a key that we do not have."""
        folder = self.audio_folder
        return Naming(self.columns, os.path.abspath(folder) if folder and "://" not in folder else folder)


@dataclass(frozen=True)
class AudioSettings:
    """`audio` of a job: what speech is taken and how it is heard."""

    rate_hz: int = 16_000
    max_seconds: float = 120.0
    align_on: Literal["original", "anonymised"] = "original"
    channel: int | Literal["left", "right", "split"] | None = None  # of the speaker; split: each record names its own
    transcribe: str | None = None  # who writes down what is said where the text is "-"; null: such records are refused

    def __post_init__(self) -> None:
        require(
            (
                self.recogniser is None or isinstance(self.recogniser.make(), Recogniser),
                f"transcribe: {self.transcribe} writes nothing down; allowed: moonshine, vosk:PATH, hf:NAME",
            ),
            (8_000 <= self.rate_hz <= 48_000, f"rate_hz: {self.rate_hz} must lie between 8000 and 48000"),
            (self.max_seconds > 0, "max_seconds: must be positive"),
            (not isinstance(self.channel, int) or self.channel >= 0, "channel: must not be negative"),
        )

    @property
    def recogniser(self) -> Spec | None:
        """The member that `transcribe` names; None where records without a transcript are refused."""
        return read_spec("relisten", self.transcribe) if self.transcribe else None


@dataclass(frozen=True)
class Job:
    """One run's settings, resolved and checked: all that the graph is built from."""

    places: RunPlaces
    secret: Secret
    sinks: dict[str, float]
    shards: dict[str, int]
    detect: Spec
    replace: Spec
    align: Spec
    voice: Spec
    mask: Spec
    relisten: Spec
    slice: Slicer
    rewrite: Spec = field(default_factory=lambda: Spec("rewrite", "none"))
    slots: SlotSettings = field(default_factory=SlotSettings)
    input: InputSettings = field(default_factory=InputSettings)
    audio: AudioSettings = field(default_factory=AudioSettings)
    # Of this execution: noise on counts belongs to it, whatever else was executed under the same name.
    nonce: str = field(default_factory=lambda: secrets.token_hex(16))
    progress_dir: str | None = None
    gpu_hints: tuple[tuple[str, str], ...] = ()  # Beam's resource hints for stages whose model runs on a GPU
    canaries: tuple[Any, ...] = ()  # driver only: invented Utterances, in batches (pipelines/audit/planted.py)
    forget: bool = True  # keep the index that `sottovoce forget` needs
    forgotten: tuple[str, ...] = ()  # tables of marks: whom no run takes again
    audio_roots: AudioRoots = field(default_factory=AudioRoots)  # nowhere else may a recording be read from
    corpus_values: Any = None  # driver only: the PCollection of lists counted in the corpus, for the replacement
    # What earlier runs of the output took. A run refuses such dialogues, a night leaves them out, `--force` takes them.
    taken: tuple[str, ...] = ()
    take_again: bool = False
    other_secrets: bool = False  # of earlier runs, so that their dialogues cannot be recognised (`--force`)
    # Of a nightly run: the state of earlier ones, and what a speaker may spend over all of them.
    nightly: bool = False
    spent: tuple[str, ...] = ()
    speaker_epsilon: float = math.inf
    beyond_budget: Literal["withhold", "replace_always"] = "withhold"

    @property
    def run_uri(self) -> str:
        """The folder of the run with what it releases; private state lies elsewhere."""
        return self.places.released()
