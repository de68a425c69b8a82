"""The acoustic model of a recogniser from the `stt_am` sink: slices of speech and what is said in them.

A row has `audio` (a FLAC file as bytes, as the sink writes it, or in JSON lines the path of a recording) and `text`.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.models.errors import CorpusError, Refusal
from sottovoce.models.records import AudioRef, Source
from sottovoce.models.speech.audio import AudioLimits, load, resample
from sottovoce.models.speech.mel_bands import HOP, RATE_HZ, log_bands
from sottovoce.models.text.edit_distance import edit_distance
from sottovoce.models.training.networks.vocabulary import words_of
from sottovoce.models.training.rows import Row
from sottovoce.models.training.tasks.task import NoNames, Task, TaskCorpus

if TYPE_CHECKING:
    from sottovoce.models.training.batches import NamedBatch
    from sottovoce.models.training.loop.evaluation import Confidence
    from sottovoce.models.training.networks.conv import ConvNetwork
    from sottovoce.models.training.train_settings import TrainSettings

ROWS = 32
LIMITS = AudioLimits(min_s=0.1, max_s=120.0)


@dataclass(frozen=True, slots=True, repr=False)
class SpokenText:
    """One slice of speech as an example: mel bands, and what is said."""

    bands: np.ndarray
    text: str
    source: Source
    speaker: str | None = None

    def __repr__(self) -> str:
        return "<SpokenText: sensitive>"

    @property
    def content(self) -> tuple[str, ...]:
        """A hash of the mel bands, in place of the bands, and the text."""
        return (hashlib.sha256(self.bands.tobytes()).hexdigest(), self.text)


class Recognition(Task):
    """Trains a recogniser's acoustic model, which tells letters from sound."""

    sink, columns, default_model = "stt_am", frozenset({"audio", "text"}), "conv"
    examples = "slices of speech"
    left_out_because = "have speech without text"
    publishes = "the alphabet, which is public and owes nothing to the data"
    judged_by = "letter_errors"

    def read(self, rows: Iterable[Row], split: str | None = None) -> TaskCorpus:
        found, without = [], 0
        for source, row in rows:
            if split is not None and row.get("split") != split:
                continue
            text = row.get("text")
            words = words_of(text) if isinstance(text, str) else ()
            if not words:
                without += 1
                continue
            try:
                bands = _heard(row.get("audio"))
            except Refusal as refusal:
                raise CorpusError(f"{source.file}: line {source.line}: audio: {refusal.code}") from None
            speaker = row.get("speaker")
            found.append(SpokenText(bands, " ".join(words), source, None if speaker is None else str(speaker)))
        return TaskCorpus(found, without)

    def schema(self, train: Sequence[SpokenText], settings: TrainSettings) -> NoNames:
        if len({example.text for example in train}) == 1 and len(train) > 1:
            raise CorpusError(f"data: all {len(train)} slices say the same: there is nothing to tell apart")
        alphabet = set(settings.member.make().alphabet) - {" "}
        if not any(alphabet & set(example.text) for example in train):
            raise CorpusError(f"data: no text of the {len(train)} slices has a sign of the model's alphabet")
        return NoNames()

    def load_schema(self, values: Mapping[str, Any]) -> NoNames:
        """Nothing to read: the alphabet is public, and no name of the data is published."""
        return NoNames()

    def encode(self, examples: Sequence[SpokenText], member: Any, schema: NoNames) -> list[dict[str, np.ndarray]]:
        number = {letter: place for place, letter in enumerate(member.alphabet, 1)}
        frames = int(member.longest_s * RATE_HZ / HOP)
        return [
            {
                "bands": example.bands[:frames],
                "letters": np.array([number[x] for x in example.text if x in number], dtype=np.int64),
            }
            for example in examples
        ]

    def collate(self, rows: Sequence[Any], weights: Sequence[float] | None = None) -> NamedBatch:
        """One batch of rows padded to the longest; rows weigh the same where no weights are given."""
        from sottovoce.models.training.batches import collate_named

        return collate_named(rows, weights)

    def evaluate(
        self, network: ConvNetwork, rows: Sequence[Any], examples: Sequence[SpokenText], schema: NoNames
    ) -> dict[str, float]:
        """Errors over letters, and over words where the alphabet has a space. `errors_elsewhere` are those of the same answers
        against the text of the next recording: what a model gets right that does not listen."""
        answers, said = self._answers(network, rows), [row["letters"].tolist() for row in rows]
        letters = max(sum(map(len, said)), 1)
        errors, elsewhere = (
            sum(edit_distance(wanted, answer) for wanted, answer in zip(texts, answers, strict=True)) / letters
            for texts in (said, said[1:] + said[:1])
        )
        found = {"letter_errors": errors, "errors_elsewhere": elsewhere, "examples": len(rows)}
        if network.space:
            texts, heard = ([_words(one, network.space) for one in many] for many in (said, answers))
            wrong = sum(edit_distance(wanted, answer) for wanted, answer in zip(texts, heard, strict=True))
            found["word_errors"] = wrong / max(sum(map(len, texts)), 1)
        return found

    def nothing_learnt(self, scores: Mapping[str, float]) -> str | None:
        if scores["letter_errors"] < 0.95 * scores["errors_elsewhere"]:
            return None
        return (
            f"its answers fit what was said ({scores['letter_errors']:.3g} errors a letter) hardly better than what was said in "
            f"another recording ({scores['errors_elsewhere']:.3g})"
        )

    def confidence(self, network: ConvNetwork, rows: Sequence[Any]) -> Confidence:
        import torch

        from sottovoce.models.training.loop.evaluation import Confidence

        found: list[float] = []
        was_training = network.training
        network.eval()
        with torch.no_grad():
            for begin in range(0, len(rows), ROWS):
                found += network(self.collate(rows[begin : begin + ROWS])).tolist()
        network.train(was_training)
        return Confidence(-np.array(found)[:, None], -np.array(found))

    def canary(self, examples: Sequence[SpokenText], draw: np.random.Generator) -> SpokenText:
        """A recording under the text of another one."""
        one, other = (examples[at] for at in draw.integers(len(examples), size=2))
        return replace(one, text=other.text)

    def predict(
        self, network: ConvNetwork, member: Any, schema: NoNames, lines: Iterable[str]
    ) -> Iterator[dict[str, Any]]:
        for number, path in enumerate(lines, 1):
            try:
                example = SpokenText(_heard(path), "", Source("input", number))
            except Refusal as refusal:
                yield {"audio": path, "text": None, "refused": refusal.code}
                continue
            [answer] = self._answers(network, self.encode([example], member, schema))
            text = "".join(member.alphabet[letter - 1] for letter in answer)
            yield {"audio": path, "text": " ".join(text.split())}

    @staticmethod
    def _answers(network: ConvNetwork, rows: Sequence[Any]) -> list[list[int]]:
        """The most probable letter of each frame, repetitions and blanks taken out."""
        import torch

        from sottovoce.models.training.batches import collate_named

        found, was_training, device = [], network.training, next(network.parameters()).device
        network.eval()
        with torch.no_grad():
            for begin in range(0, len(rows), ROWS):
                scores, frames = network.scores(collate_named(rows[begin : begin + ROWS]).to(device))
                for row, length in zip(scores.argmax(-1).tolist(), frames.tolist(), strict=True):
                    kept = [x for x, before in zip(row[:length], [0, *row], strict=False) if x != before]
                    found.append([letter for letter in kept if letter])
        network.train(was_training)
        return found


def _heard(audio: Any) -> np.ndarray:
    """Bands of a recording, each with mean 0 and deviation 1 over its own frames."""
    if isinstance(audio, Mapping):
        content = audio.get("bytes") or b""
        speech = load(AudioRef("slice.flac"), lambda _: io.BytesIO(content), LIMITS)
    else:
        speech = load(AudioRef(str(audio)) if audio else None, limits=LIMITS)
    bands = log_bands(resample(speech, RATE_HZ).samples)
    return ((bands - bands.mean(0)) / (bands.std(0) + 1e-5)).astype(np.float32)


def _words(letters: Sequence[int], space: int) -> list[tuple[int, ...]]:
    words: list[list[int]] = [[]]
    for letter in letters:
        if letter == space:
            words.append([])
        else:
            words[-1].append(letter)
    return [tuple(word) for word in words if word]
