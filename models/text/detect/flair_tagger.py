"""Any flair SequenceTagger, by hub name or file: `{use: flair, model: model/best-model.pt, trust: true}`.

flair keeps its models as pickles, and unpickling runs whatever code a file holds. Nothing can be checked beforehand, so
the operator must say that whoever made the file is trusted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sottovoce.models.errors import Refusal
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Span
from sottovoce.models.settings import require
from sottovoce.models.text.detect import CONTEXT
from sottovoce.models.text.detect.overlap import resolve
from sottovoce.models.text.detect.type_names import KNOWN

# Words and single punctuation marks; what is neither (controls, lone surrogates) carries no name and is left out.
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202f\ufeff\ud800-\udfff]")


class WordsLost(Refusal):
    """flair dropped a word of the sentence, so that its labels could not be put in their place."""

    code = "words_lost_in_tagging"
    allowed = "text whose words flair keeps one by one"


@dataclass
class Flair:
    """`types` renames labels, e.g. {GPE: LOC}. `device`: auto, cpu, cuda. `trust`: the file may run code here."""

    model: str
    trust: bool = False
    device: str = "auto"
    batch_size: int = 32
    types: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(
            (bool(self.model), "model: give a hub name or a file, such as flair/ner-english-fast"),
            (
                self.trust,
                "trust: a flair model is a pickle, and loading it runs whatever code is in it; say trust: true if you trust "
                "whoever made it, or use a tagger or hf model, which cannot run code",
            ),
            (self.batch_size > 0, "batch_size: must be positive"),
        )

    def setup(self) -> None:
        import flair
        import torch
        from flair.models import SequenceTagger

        if self.device != "auto":  # flair keeps its device in a global, chosen when it is imported
            flair.device = torch.device(self.device)
        self._tagger: Any = SequenceTagger.load(self.model)
        self._tagger.eval()

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        from flair.data import Sentence

        tokens = [list(_TOKEN.finditer(text)) for text in texts]
        sentences = [Sentence([match.group() for match in matches]) for matches in tokens if matches]
        self._tagger.predict(sentences, mini_batch_size=self.batch_size, embedding_storage_mode="none")
        predicted = iter(sentences)
        return [
            resolve(self._spans(next(predicted), matches), text) if matches else []
            for text, matches in zip(texts, tokens, strict=True)
        ]

    def _spans(self, sentence: Any, matches: list[re.Match[str]]) -> list[Span]:
        if len(sentence) != len(matches):
            raise WordsLost
        spans = []
        for found in sentence.get_spans(self._tagger.label_type):
            label = found.get_label(self._tagger.label_type)
            kind = self.types.get(label.value, KNOWN.get(label.value, label.value))
            begin, end = matches[found.tokens[0].idx - 1].start(), matches[found.tokens[-1].idx - 1].end()
            spans.append(Span(begin, end, kind, float(label.score), "flair"))
        return spans

    def finds(self) -> None:
        return None

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="detect",
            mechanism="flair",
            says="A flair sequence tagger of the operator's choice. Its recall on this corpus is not known here: "
            "measure it with `sottovoce evaluate detect`.",
            not_protected=(
                "what the model misses, or has no label for",
                CONTEXT,
            ),
            parameters={"model": self.model, "types": dict(self.types)},
        )
