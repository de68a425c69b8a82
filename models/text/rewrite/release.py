"""Crowd release of a corpus that fits into memory, as a plain loop: for studies, and what the graph is held against."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance
from sottovoce.models.text.replace.distribution import Draws
from sottovoce.models.text.replace.private_counts import Contribution, Pair, gather, noisy_count, smallest
from sottovoce.models.text.rewrite import Count, ReleasesTemplates


def unit_of(utterance: Utterance) -> tuple[str, str]:
    """Who is protected: the speaker, or the dialogue where it names none."""
    return ("speaker", utterance.speaker_id) if utterance.speaker_id else ("dialogue", utterance.dialogue_id)


def speaker_of(secret: Secret, utterance: Utterance) -> bytes:
    return secret.digest("crowd speaker", *unit_of(utterance))[:16]


def contribution(secret: Secret, speaker: bytes, kind: str, value: str) -> Contribution:
    """The keyed hash chooses which of a speaker's contributions are counted, where there are too many."""
    return secret.digest("crowd choice", speaker.hex(), kind, value)[:16], kind, value


def filled(crowd: ReleasesTemplates, pair: Pair, weight: float, values: dict, secret: Secret) -> list[Utterance]:
    """The records of one released template: each with a keyed name, belonging to nobody."""
    kind, template = pair
    rung = kind.partition("/")[0]
    records = []
    for number in range(min(int(weight), crowd.copies)):
        record = crowd.fill(template, values, Draws(secret, "crowd", kind, template, number))
        if record is None:
            break
        name = secret.token("crowd record", kind, template, number)
        records.append(dataclasses.replace(record, id=name, dialogue_id=name, source=Source(rung, number)))
    return records


def release(
    crowd: ReleasesTemplates, utterances: Sequence[Utterance], sink: str, secret: Secret, nonce: str
) -> tuple[list[Utterance], int]:
    """(records for one sink, how many utterances had a template that was released)."""
    speakers = [speaker_of(secret, one) for one in utterances]
    values: dict[str, dict[str, float]] = {}
    if count := crowd.of_values:
        pairs = [(who, pair) for who, one in zip(speakers, utterances, strict=True) for pair in crowd.values(one)]
        values = gather(_counted(pairs, count, secret, nonce))
    left = list(zip(speakers, (crowd.templates(one, sink) for one in utterances), strict=True))
    records: list[Utterance] = []
    for count in crowd.rungs():
        kind = f"{count.name}/{sink}"
        pairs = [(who, (kind, own[count.name])) for who, own in left if count.name in own]
        found = dict(_counted(pairs, count, secret, nonce))
        for pair, weight in sorted(found.items()):
            records += filled(crowd, pair, weight, values, secret)
        left = [item for item in left if (kind, item[1].get(count.name, "")) not in found]
    return records, len(utterances) - len(left)


def _counted(pairs: Iterable[tuple[bytes, Pair]], count: Count, secret: Secret, nonce: str) -> list[tuple[Pair, float]]:
    by_speaker: dict[bytes, list[Contribution]] = {}
    for who, pair in pairs:
        by_speaker.setdefault(who, []).append(contribution(secret, who, *pair))
    counts: Counter[Pair] = Counter()
    for own in by_speaker.values():
        counts.update(item[1:] for item in smallest(own, count.settings.values_per_speaker))
    weighed = ((pair, noisy_count(pair, number, count.settings, secret, nonce)) for pair, number in counts.items())
    return [(pair, weight) for pair, weight in weighed if weight is not None]
