"""What the text stages do, to one text: find what is sensitive in it, and replace it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.keys import Key, secret_of
from sottovoce.models.records import Slot, Source, Span, Utterance
from sottovoce.models.settings import Spec, languages_of, read_spec
from sottovoce.models.text import chain
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.detect.labelled_slots import SlotSettings
from sottovoce.models.text.language import LanguageNotSupported, code_of
from sottovoce.transforms.engine import members

Member = str | Mapping[str, Any]  # "typed", or {"use": "full", "target_epsilon": 6}


@dataclass(frozen=True)
class Replaced:
    """The new text, its slots where they now stand, and what was found in the old text."""

    text: str
    slots: tuple[Slot, ...] = ()
    spans: tuple[Span, ...] = ()


def detect(
    text: str, *, detector: Member = "default", slots: Sequence[Slot] = (), language: str = ENGLISH
) -> list[Span]:
    """The sensitive stretches of a text, in order, by the detector of the job file that ships. The first call loads it.

    >>> for span in detect("call anna at nine"):
    ...     print(span.begin, span.end, span.type)
    5 9 PER
    13 17 TIME

    A text in another language says so; one that the detector does not know is refused:

    >>> [(span.begin, span.end, span.type) for span in detect("bis freitag", detector="rules", language="de")]
    [(4, 11, 'DATE')]

    Labelled slots that are somebody's count as sensitive, whatever the detector says of them:

    >>> [span.type for span in detect("play xyzzy", detector="rules", slots=[Slot(5, 10, "contact_name")])]
    ['PER']
    """
    return list(_found(_utterance(text, slots, language=language), read_spec("detect", detector)).spans)


def replace(
    text: str,
    strategy: Member = "typed",
    *,
    secret: Key = None,
    detector: Member = "default",
    slots: Sequence[Slot] = (),
    id: str | None = None,
    dialogue_id: str | None = None,
    language: str = ENGLISH,
) -> Replaced:
    """The text with every sensitive stretch replaced, and its slots moved along.

    >>> replace("call anna at nine", "redact", slots=[Slot(5, 9, "contact")])
    ... # doctest: +NORMALIZE_WHITESPACE, +ELLIPSIS
    Replaced(text='call [REDACTED] at [REDACTED]', slots=(Slot(begin=5, end=15, name='contact'),), spans=(...))

    Strategies that draw ("word", "full", "consistent") are keyed: the same `secret`, ids and text give the same words, so
    that asking twice tells nothing new. Without `secret` every call draws anew. `secret` is 32 random bytes, or whatever
    `--secret-file` takes. Without ids a text stands for itself; a dialogue needs its id, for "consistent".

    >>> import secrets
    >>> key = secrets.token_bytes(32)
    >>> replace("call anna", "full", secret=key) == replace("call anna", "full", secret=key)
    True
    """
    spec = read_spec("replace", strategy)
    found = _found(_utterance(text, slots, id, dialogue_id, language), read_spec("detect", detector))
    _refuse_unknown(spec, language)
    loaded = members.load(spec)
    draws = chain.draws_of(secret_of(secret), spec)
    with loaded.lock:
        new = chain.replaced(loaded.member, found, draws)
    return Replaced(new.text, new.slots, found.spans)


def _refuse_unknown(member: Spec, language: str) -> None:
    known = languages_of(member)
    if known is not None and code_of(language) not in known:
        raise LanguageNotSupported


def _utterance(
    text: str, slots: Sequence[Slot], id: str | None = None, dialogue_id: str | None = None, language: str = ENGLISH
) -> Utterance:
    """Without an id of its own a text is drawn for by what it says: the strategies put the text into every key."""
    own = id or ""
    return Utterance(
        id=own,
        dialogue_id=dialogue_id or own,
        turn=0,
        text=text,
        source=Source("", 0),
        slots=tuple(slots),
        language=language,
    )


def _found(utterance: Utterance, detector: Spec) -> Utterance:
    _refuse_unknown(detector, utterance.language or ENGLISH)
    loaded = members.load(detector)
    with loaded.lock:
        found = chain.detected(loaded.member, [utterance])[0]
    return dataclasses.replace(found, spans=tuple(SlotSettings().add(found.text, found.spans, found.slots)))
