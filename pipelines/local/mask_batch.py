"""Remove chosen words from a batch of recordings and their texts: the work of `sottovoce mask`."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce.models.corpus import Refused
from sottovoce.models.errors import Refusal, reason_of
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Slot, Span, Utterance, Word
from sottovoce.models.speech import chain
from sottovoce.models.speech.audio import Speech, to_flac
from sottovoce.models.speech.masked_words import MaskedWords, mark, text_between, text_with_markers
from sottovoce.models.speech.spoken import Spoken
from sottovoce.models.text.detect.labelled_slots import SlotSettings
from sottovoce.models.text.detect.word_list import WordList, chosen


@dataclass
class MaskBatch:
    """What to mask (`detector` spans of `types`, and the word list), with whom, and how the text is written."""

    word_list: WordList
    types: tuple[str, ...] | None
    typed: bool
    detector: Any
    aligner: Any
    masker: Any
    listener: Any
    load: Callable[[Utterance], Speech]

    def setup(self) -> None:
        for member in (self.detector, self.aligner, self.masker, self.listener):
            if member is not None:
                member.setup()

    def run(self, records: Iterable[Utterance | Refused], folder: Path, secret: Secret, keep_ids: bool) -> Counter[str]:
        """Writes FLAC files and a manifest; returns counts: `masked`, `refused: <reason>`, `found: <type>`."""
        counts: Counter[str] = Counter()
        folder.mkdir(parents=True, exist_ok=True)
        with (
            open(folder / "manifest.jsonl", "w", encoding="utf-8") as manifest,
            open(folder / "failures.jsonl", "w", encoding="utf-8") as failures,
        ):
            for record in records:
                try:
                    row, audio, found = self._one(record)
                except Refusal as refusal:
                    reason, allowed = reason_of(refusal)
                    counts[f"refused: {reason}"] += 1
                    place = {
                        "file": record.source.file,
                        "line": record.source.line,
                        "reason": reason,
                        "allowed": allowed,
                    }
                    failures.write(json.dumps(place) + "\n")
                    continue
                assert isinstance(record, Utterance)
                name = secret.token("mask", record.dialogue_id, record.id)
                row = {"id": record.id if keep_ids else name} | row
                if audio is not None:
                    (folder / "audio").mkdir(exist_ok=True)
                    (folder / "audio" / f"{name}.flac").write_bytes(audio)
                    row["audio_filepath"] = f"audio/{name}.flac"
                manifest.write(json.dumps(row, ensure_ascii=False) + "\n")
                counts["masked"] += 1
                counts.update(f"found: {kind}" for kind in found)
        return counts

    def spans(self, text: str, slots: Sequence[Slot] = ()) -> list[Span]:
        """What to mask in a text, in no order, finds may overlap; without a detector only the word list counts, not `slots`."""
        if self.detector is None:
            return self.word_list.spans(text)
        found = [*self.detector.detect([text])[0], *SlotSettings().spans(slots)]
        return [*chosen(found, self.types), *self.word_list.spans(text)]

    def _one(self, record: Utterance | Refused) -> tuple[dict[str, Any], bytes | None, list[str]]:
        if isinstance(record, Refused):
            raise record.error if isinstance(record.error, Refusal) else Refusal
        spans = self.spans(record.text, record.slots)
        if record.audio is None:
            words, speech = tokens(record.text), None
            masked: MaskedWords | None = mark(record.text, spans, words)
        else:
            loaded = Spoken(dataclasses.replace(record, spans=tuple(spans)), self.load(record))
            spoken = chain.checked(self.listener, chain.masked(self.masker, chain.aligned(self.aligner, loaded)))
            words, speech, masked, spans = spoken.words, spoken.speech, spoken.masked, list(spoken.utterance.spans)
        assert masked is not None
        if self.typed:
            text = text_with_markers(record.text, spans, words)
        else:
            text = text_between(record.text, 0, len(record.text), masked.removed)
        row: dict[str, Any] = {"text": text}
        kinds = [span.type for span in spans]
        if speech is None:
            return row, None, kinds
        return row | {"duration": round(speech.duration_s, 3)}, to_flac(speech), kinds


def tokens(text: str) -> tuple[Word, ...]:
    """Words of a text that nobody spoke: what stands between blanks."""
    words, at = [], 0
    for token in text.split():
        begin = text.index(token, at)
        at = begin + len(token)
        words.append(Word(begin, at, 0.0, 0.0, 1.0))
    return tuple(words)
