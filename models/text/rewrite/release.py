"""Crowd release of a corpus that fits into memory, as a plain loop: for studies, and what the graph is held against."""

from __future__ import annotations

import dataclasses
import json
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance
from sottovoce.models.text.replace.distribution import Draws
from sottovoce.models.text.replace.private_counts import Pair, gather, noisy_count
from sottovoce.models.text.rewrite import ReleasesTemplates
from sottovoce.models.text.rewrite.template import from_key, to_key

PARTS = "parts"  # the count of single parts of utterances, which are of two kinds:
VALUES = "values"  # values of slots, which fill gaps and are no records,
WORDS = "words"  # and words, which are said together with others of their intent


def unit_of(utterance: Utterance) -> tuple[str, str]:
    """Who is protected: the speaker, or the dialogue where it names none."""
    return ("speaker", utterance.speaker_id) if utterance.speaker_id else ("dialogue", utterance.dialogue_id)


Said = tuple[bytes, bytes]  # a keyed hash of its sort, by which a speaker's utterances are chosen; what it adds, packed


def said_of(crowd: ReleasesTemplates, utterance: Utterance, sink: str, secret: Secret) -> tuple[bytes, Said]:
    """Whose the utterance is (keyed), and the utterance as it is counted: a few hundred bytes and no object, since a runner holds
    K of them for every speaker. Where it could add several things to a count, as it has several values, the keyed hash chooses
    one."""
    speaker = secret.digest("crowd speaker", *unit_of(utterance))[:16]
    adds = {
        name: min(pairs, key=lambda pair: secret.digest("crowd choice", speaker.hex(), *pair))
        if len(pairs) > 1
        else pairs[0]
        for name, pairs in crowd.adds(utterance, sink).items()
    }
    sort = secret.digest("crowd sort", speaker.hex(), sink, crowd.sort_of(utterance, sink))[:16]
    plain = json.dumps(sorted(adds.items()), ensure_ascii=False, separators=(",", ":"))
    return speaker, (sort, zlib.compress(plain.encode(), 1))


def adds_of(said: Said) -> dict[str, Pair]:
    """{count: (kind, value)}: what the utterance adds to each count, unpacked."""
    return {name: (kind, value) for name, (kind, value) in json.loads(zlib.decompress(said[1]))}


def keep(own: dict[bytes, bytes], said: Said, limit: int) -> None:
    """Of the utterances of one speaker at most `limit`, each of another sort: a random choice that does not depend on order.
    One that is let go has `limit` sorts before it, and so has whatever comes of its sort later."""
    sort, adds = said
    known = own.get(sort)
    own[sort] = adds if known is None or known == adds else min(known, adds, key=zlib.decompress)
    if len(own) > limit:
        del own[max(own)]


def chosen(said: Iterable[Said], limit: int) -> list[Said]:
    """The at most `limit` utterances that count for one speaker, sorted by hash: the same in any order of input."""
    own: dict[bytes, bytes] = {}
    for one in said:
        keep(own, one, limit)
    return sorted(own.items())


def added(own: Iterable[Said], count: str, released: Collection[Pair]) -> set[Pair]:
    """What a speaker adds to a count: of utterances of which nothing was released before, each thing once."""
    every = (adds_of(one) for one in own)
    return {adds[count] for adds in every if count in adds and not any(pair in released for pair in adds.values())}


def filled(crowd: ReleasesTemplates, pair: Pair, weight: float, lists: dict, secret: Secret) -> list[Utterance]:
    """The records of one released template: each with a keyed name, belonging to nobody."""
    kind, template = pair
    rung = kind.partition("/")[0]
    records = []
    for number in range(min(int(weight), crowd.copies)):
        record = crowd.fill(pair, lists, Draws(secret, "crowd", kind, template, number))
        if record is None:
            break
        name = secret.token("crowd record", kind, template, number)
        records.append(dataclasses.replace(record, id=name, dialogue_id=name, source=Source(rung, number)))
    return records


def is_said(pair: Pair) -> bool:
    """Whether records are made of it: of everything that is released but values."""
    return not pair[0].startswith(f"{VALUES}/")


def lists_in(released: Iterable[tuple[Pair, float]]) -> dict[str, dict[str, float]]:
    """Of what was released of values and of words: slot -> value -> weight, intent and language -> word -> weight."""
    return gather((_listed(kind, value), weight) for (kind, value), weight in released)


def _listed(kind: str, value: str) -> Pair:
    if kind.startswith(f"{VALUES}/"):
        return kind.partition("/")[2], value
    (word,), intent, language = from_key(value)
    return to_key((), intent, language), str(word)


def release(
    crowd: ReleasesTemplates, utterances: Sequence[Utterance], sink: str, secret: Secret, nonce: str
) -> tuple[list[Utterance], int]:
    """(records for one sink, how many utterances had a template that was released)."""
    said = [said_of(crowd, one, sink, secret) for one in utterances]
    by_speaker: dict[bytes, dict[bytes, bytes]] = {}
    for speaker, one in said:
        keep(by_speaker.setdefault(speaker, {}), one, crowd.utterances_per_speaker)
    counted = [sorted(own.items()) for own in by_speaker.values()]
    released: dict[str, dict[Pair, float]] = {}
    known: set[Pair] = set()
    for count in crowd.counts():
        counts = Counter(pair for own in counted for pair in added(own, count.name, known))
        weighed = ((pair, noisy_count(pair, size, count.settings, secret, nonce)) for pair, size in counts.items())
        released[count.name] = {pair: weight for pair, weight in weighed if weight is not None}
        known |= released[count.name].keys()
    lists = lists_in(released.get(PARTS, {}).items())
    templates = {pair: weight for found in released.values() for pair, weight in found.items() if is_said(pair)}
    records = [one for pair in sorted(templates) for one in filled(crowd, pair, templates[pair], lists, secret)]
    return records, sum(any(pair in templates for pair in adds_of(one).values()) for _, one in said)
