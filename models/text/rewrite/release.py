"""Crowd release of a corpus that fits into memory, as a plain loop: for studies, and what the graph is held against."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance
from sottovoce.models.text.replace.distribution import Draws
from sottovoce.models.text.replace.private_counts import Pair, gather, noisy_count
from sottovoce.models.text.rewrite import ReleasesTemplates

VALUES = "values"  # the count whose pairs are values of slots, and not templates


def unit_of(utterance: Utterance) -> tuple[str, str]:
    """Who is protected: the speaker, or the dialogue where it names none."""
    return ("speaker", utterance.speaker_id) if utterance.speaker_id else ("dialogue", utterance.dialogue_id)


@dataclass(frozen=True, slots=True, repr=False)
class Said:
    """One utterance as it is counted: whose it is (keyed), a keyed hash of its sort, by which a speaker's utterances are chosen,
    and what it adds to each count."""

    speaker: bytes
    sort: bytes
    adds: dict[str, Pair]

    def __repr__(self) -> str:
        return "<Said: sensitive>"


def said_of(crowd: ReleasesTemplates, utterance: Utterance, sink: str, secret: Secret) -> Said:
    """Where an utterance could add several things to a count, as it has several values, the keyed hash chooses one."""
    speaker = secret.digest("crowd speaker", *unit_of(utterance))[:16]
    adds = {
        name: min(pairs, key=lambda pair: secret.digest("crowd choice", speaker.hex(), *pair))
        if len(pairs) > 1
        else pairs[0]
        for name, pairs in crowd.adds(utterance, sink).items()
    }
    sort = secret.digest("crowd sort", speaker.hex(), sink, crowd.sort_of(utterance, sink))[:16]
    return Said(speaker, sort, adds)


def chosen(said: Iterable[Said], limit: int) -> list[Said]:
    """Of the utterances of one speaker at most `limit`, each of another sort: a random choice that does not depend on order."""
    by_sort: dict[bytes, Said] = {}
    for one in said:
        known = by_sort.get(one.sort)
        if known is None or sorted(one.adds.items()) < sorted(known.adds.items()):
            by_sort[one.sort] = one
    return [by_sort[sort] for sort in sorted(by_sort)[:limit]]


def added(own: Iterable[Said], count: str, released: Collection[Pair]) -> set[Pair]:
    """What a speaker adds to a count: of utterances of which nothing was released before, each thing once."""
    return {
        one.adds[count] for one in own if count in one.adds and not any(pair in released for pair in one.adds.values())
    }


def filled(crowd: ReleasesTemplates, pair: Pair, weight: float, values: dict, secret: Secret) -> list[Utterance]:
    """The records of one released template: each with a keyed name, belonging to nobody."""
    kind, template = pair
    rung = kind.partition("/")[0]
    records = []
    for number in range(min(int(weight), crowd.copies)):
        record = crowd.fill(pair, values, Draws(secret, "crowd", kind, template, number))
        if record is None:
            break
        name = secret.token("crowd record", kind, template, number)
        records.append(dataclasses.replace(record, id=name, dialogue_id=name, source=Source(rung, number)))
    return records


def values_in(released: Iterable[tuple[Pair, float]]) -> dict[str, dict[str, float]]:
    """Slot -> value -> weight, of what was released on the count of values."""
    return gather(((kind.partition("/")[2], value), weight) for (kind, value), weight in released)


def release(
    crowd: ReleasesTemplates, utterances: Sequence[Utterance], sink: str, secret: Secret, nonce: str
) -> tuple[list[Utterance], int]:
    """(records for one sink, how many utterances had a template that was released)."""
    said = [said_of(crowd, one, sink, secret) for one in utterances]
    by_speaker: dict[bytes, list[Said]] = {}
    for one in said:
        by_speaker.setdefault(one.speaker, []).append(one)
    counted = [chosen(own, crowd.utterances_per_speaker) for own in by_speaker.values()]
    released: dict[str, dict[Pair, float]] = {}
    known: set[Pair] = set()
    for count in crowd.counts():
        counts = Counter(pair for own in counted for pair in added(own, count.name, known))
        weighed = ((pair, noisy_count(pair, size, count.settings, secret, nonce)) for pair, size in counts.items())
        released[count.name] = {pair: weight for pair, weight in weighed if weight is not None}
        known |= released[count.name].keys()
    values = values_in(released.pop(VALUES, {}).items())
    templates = {pair: weight for found in released.values() for pair, weight in found.items()}
    records = [one for pair in sorted(templates) for one in filled(crowd, pair, templates[pair], values, secret)]
    return records, sum(any(pair in templates for pair in one.adds.values()) for one in said)
