"""What a run needs to know, resolved and checked: frozen on the driver, carried to the workers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from sottovoce.models.randomness import Secret
from sottovoce.models.settings import Spec, read_spec, require
from sottovoce.models.slice import Slicer


@dataclass(frozen=True)
class InputSettings:
    format: str = "auto"
    records_per_batch: int = 128
    text_only: bool | None = None  # null: found out by a look at the first records

    def __post_init__(self) -> None:
        require((self.records_per_batch >= 1, "records_per_batch: must be at least 1"))


@dataclass(frozen=True)
class AudioSettings:
    rate_hz: int = 16_000
    max_seconds: float = 120.0
    align_on: Literal["original", "anonymised"] = "original"
    transcribe: str | None = None  # who writes down what is said where the text is "-"; null: such records are refused

    def __post_init__(self) -> None:
        require(
            (
                self.recogniser is None or hasattr(self.recogniser.make(), "transcribe"),
                f"transcribe: {self.transcribe} writes nothing down; allowed: moonshine, vosk:PATH, hf:NAME",
            ),
            (8_000 <= self.rate_hz <= 48_000, f"rate_hz: {self.rate_hz} must lie between 8000 and 48000"),
            (self.max_seconds > 0, "max_seconds: must be positive"),
        )

    @property
    def recogniser(self) -> Spec | None:
        return read_spec("relisten", self.transcribe) if self.transcribe else None


@dataclass(frozen=True)
class Job:
    run_uri: str
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
    input: InputSettings = field(default_factory=InputSettings)
    audio: AudioSettings = field(default_factory=AudioSettings)
    progress_dir: str | None = None
    gpu_hints: tuple[tuple[str, str], ...] = ()  # Beam's resource hints for stages whose model runs on a GPU
    corpus_values: Any = None  # driver only: the PCollection of lists counted in the corpus, for the replacement
    # Of a nightly run: the state of earlier ones, and what a speaker may spend over all of them.
    nightly: bool = False
    taken: tuple[str, ...] = ()
    spent: tuple[str, ...] = ()
    speaker_epsilon: float = math.inf
    beyond_budget: Literal["withhold", "replace_always"] = "withhold"
