"""What is done with texts: found, and replaced. The same members as the pipeline's, one copy in the process."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.models.records import Source, Span, Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.text.chain import draws_of
from sottovoce.models.text.edits import apply_edits
from sottovoce.pipelines.service.batches import Asked, each
from sottovoce.pipelines.service.draws import Draws
from sottovoce.transforms.engine import members

NOWHERE = Source("request", 0)


@dataclass(frozen=True, slots=True, repr=False)
class TextItem:
    """`strategy` None: only found. `spans` given: nothing is looked for."""

    text: str
    draws: Draws
    strategy: Spec | None = None
    spans: tuple[Span, ...] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class TextAnswer:
    spans: tuple[Span, ...]
    text: str | None = None
    replaced: tuple[tuple[int, int], ...] = ()  # where the replacements stand in the new text, one for each edit
    epsilons: tuple[float, ...] = ()  # of the units that replacing answers for


@functools.lru_cache(maxsize=32)
def strategy(spec: Spec) -> Any:
    """Callers choose options, so that only the last few are kept. For the one thread of texts alone: there is no lock."""
    made = spec.make()
    made.setup()
    return made


class TextWork:
    def __init__(self, detector: Spec):
        self._detector = detector

    def setup(self) -> None:
        members.load(self._detector)

    def __call__(self, batch: Sequence[Asked]) -> list[Any]:
        unknown = [asked.item.text for asked in batch if asked.item.spans is None]
        try:
            found = dict(zip(unknown, self.detect(unknown), strict=True))
        except Exception:  # noqa: BLE001  (one of them breaks it: each finds out for itself)
            found = {}
        return each(batch, lambda asked: self._one(asked.item, found))

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        if not texts:
            return []
        loaded = members.load(self._detector)
        with loaded.lock:
            return loaded.member.detect(texts)

    def _one(self, item: TextItem, found: Mapping[str, list[Span]]) -> TextAnswer:
        spans = item.spans
        if spans is None:
            spans = tuple(found[item.text] if item.text in found else self.detect([item.text])[0])
        if item.strategy is None:
            return TextAnswer(spans)
        return replace(item.strategy, utterance_of(item.text, item.draws, spans), item.draws)


def utterance_of(text: str, draws: Draws, spans: Sequence[Span] = (), **more: Any) -> Utterance:
    return Utterance(draws.name, draws.name, 0, text, NOWHERE, spans=tuple(spans), **more)


def replace(spec: Spec, utterance: Utterance, draws: Draws) -> TextAnswer:
    """As the stage of the graph does it: draws belong to the mechanism, so that two of them cannot be compared."""
    member = strategy(spec)
    secret = draws_of(draws.secret, spec)
    edits = sorted(member.replace(utterance, secret), key=lambda edit: edit.begin)
    text, _ = apply_edits(utterance.text, edits)
    places, shift = [], 0
    for edit in edits:
        places.append((edit.begin + shift, edit.begin + shift + len(edit.replacement)))
        shift += len(edit.replacement) - (edit.end - edit.begin)
    return TextAnswer(utterance.spans, text, tuple(places), tuple(member.costs(utterance, secret).values()))


def plain(number: float) -> float | str:
    """JSON has no infinity."""
    return "inf" if math.isinf(number) else number


def entity(span: Span) -> dict[str, Any]:
    return dataclasses.asdict(span)
