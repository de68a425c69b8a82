"""What is done with texts: found, and replaced. The same members as the pipeline's, one copy in the process."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.models.records import Source, Span, Utterance
from sottovoce.models.settings import Spec, common_languages
from sottovoce.models.text import chain
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.edits import apply_edits
from sottovoce.models.text.language import spoken_in
from sottovoce.pipelines.service import problems
from sottovoce.pipelines.service.batches import Asked, each
from sottovoce.pipelines.service.draws import RequestDraws
from sottovoce.transforms.engine import members

NOWHERE = Source("request", 0)


@dataclass(frozen=True, slots=True, repr=False)
class TextItem:
    """`strategy` None: only found. `language` None: as the text reads."""

    text: str
    draws: RequestDraws
    strategy: Spec | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class TextAnswer:
    """What was found in one text, and, where it was asked for, what stands there now and what that costs."""

    spans: tuple[Span, ...]
    language: str
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
    """The work of the queue for texts: finds spans in all that wait at once, and replaces them where asked to."""

    def __init__(self, detector: Spec, language: str | None = None):
        self._detector, self._language = detector, language

    def setup(self) -> None:
        members.load(self._detector)
        settled_language("so that the first caller need not wait", None, [self._detector])

    def __call__(self, batch: Sequence[Asked]) -> list[Any]:
        read = each(batch, lambda asked: self._read(asked.item))
        once = {(one.text, one.language): one for one in read if isinstance(one, Utterance)}
        try:
            found = dict(zip(once, detected(self._detector, list(once.values())), strict=True))
        except Exception:  # noqa: BLE001  (one of them breaks it: each finds out for itself)
            found = {}

        def answer(pair: tuple[Asked, Utterance | Exception]) -> TextAnswer:
            asked, one = pair
            if isinstance(one, Exception):
                raise one
            known = found.get((one.text, one.language)) or detected(self._detector, [one])[0]
            if asked.item.strategy is None:
                return TextAnswer(known.spans, known.language or ENGLISH)
            return replace(asked.item.strategy, dataclasses.replace(one, spans=known.spans), asked.item.draws)

        return each(list(zip(batch, read, strict=True)), answer)

    def _read(self, item: TextItem) -> Utterance:
        specs = [self._detector] if item.strategy is None else [self._detector, item.strategy]
        return utterance_of(item.text, item.draws, settled_language(item.text, item.language or self._language, specs))


def settled_language(text: str, said: str | None, specs: Iterable[Spec]) -> str:
    """As the graph settles it for a record: what is said of it, else what it reads like. Refused, unless all of these know it."""
    known = common_languages(specs)
    code = spoken_in(text, said, known)
    if known is not None and code not in known:
        raise problems.invalid(
            "language", f"language: {', '.join(sorted(known))}; without it, a text that reads like one of them"
        )
    return code


def detected(detector: Spec, utterances: Sequence[Utterance]) -> list[Utterance]:
    """The utterances with their spans, found in one call of the shared detector; callers wait for its lock."""
    loaded = members.load(detector)
    with loaded.lock:
        return chain.detected(loaded.member, utterances)


def utterance_of(text: str, draws: RequestDraws, language: str, **more: Any) -> Utterance:
    """A text of a request as the record that the members take; `more` are further fields of it."""
    return Utterance(draws.name, draws.name, 0, text, NOWHERE, language=language, **more)


def replace(spec: Spec, utterance: Utterance, draws: RequestDraws) -> TextAnswer:
    """As the stage of the graph does it: draws belong to the mechanism, so that two of them cannot be compared."""
    member = strategy(spec)
    secret = chain.draws_of(draws.secret, spec)
    edits = sorted(member.replace(utterance, secret), key=lambda edit: edit.begin)
    text, _ = apply_edits(utterance.text, edits)
    places, shift = [], 0
    for edit in edits:
        places.append((edit.begin + shift, edit.begin + shift + len(edit.replacement)))
        shift += len(edit.replacement) - (edit.end - edit.begin)
    costs = tuple(member.costs(utterance, secret).values())
    return TextAnswer(utterance.spans, utterance.language or ENGLISH, text, tuple(places), costs)


def plain(number: float) -> float | str:
    """JSON has no infinity."""
    return "inf" if math.isinf(number) else number


def entity(span: Span) -> dict[str, Any]:
    """A span by the field names of the service's answers: begin, end, type, score, detector."""
    return dataclasses.asdict(span)
