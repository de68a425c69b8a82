"""What one speaker changes in the counts of a crowd release, whatever they and the others say: the first half of its proof."""

import random

import pytest

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Slot, Source, Utterance
from sottovoce.models.text.rewrite.crowd import ORDER, Crowd
from sottovoce.models.text.rewrite.release import Said, added, chosen, said_of

SECRET = Secret(b"a secret of this test")
SINKS = ("slu", "stt_lm")
SONGS = ("yellow submarine", "hey jude", "let it be now")


def corpus(draw: random.Random, speakers: int) -> list[tuple[str, Utterance]]:
    """Few sentences and many speakers, so that they meet on every rung; a speaker may say a thing often, in any sink."""
    rows = []
    for number in range(speakers * 12):
        song, begin = draw.choice(SONGS), draw.choice(["play", "please play", "so play", "now please play", "hear"])
        slots = (Slot(len(begin) + 1, len(begin) + 1 + len(song), "song"),)
        who = f"s{draw.randrange(speakers)}"
        one = Utterance(f"u{number}", f"d{number}", 0, f"{begin} {song}", Source("f", number), speaker_id=who,
                        intent=draw.choice(["play", "hear"]), slots=slots)  # fmt: skip
        rows.append((draw.choice(SINKS), one))
    return rows


def brought(crowd: Crowd, rows: list[tuple[str, Utterance]]) -> dict[bytes, list[Said]]:
    own: dict[bytes, list[Said]] = {}
    for sink, one in rows:
        said = said_of(crowd, one, sink, SECRET)
        own.setdefault(said.speaker, []).append(said)
    return {who: chosen(said, crowd.utterances_per_speaker) for who, said in own.items()}


@pytest.mark.parametrize("seed", range(20))
def test_a_speaker_adds_k_things_to_a_count_and_gives_k_away_in_all(seed):
    draw = random.Random(seed)
    crowd = Crowd(utterances_per_speaker=draw.choice([1, 2, 4]), ladder=dict.fromkeys(ORDER, 1.0))
    rows = corpus(draw, 12)
    everybody, without = brought(crowd, rows), brought(crowd, [row for row in rows if row[1].speaker_id != "s3"])
    (hers,) = everybody.keys() - without.keys()
    assert all(everybody[who] == said for who, said in without.items())  # nobody else's choice hangs on her
    released: set = set()
    given = 0
    for count in crowd.counts():
        own = added(everybody[hers], count.name, released)
        assert len(own) <= crowd.utterances_per_speaker
        lucky = {
            pair for said in everybody.values() for pair in added(said, count.name, released) if draw.random() < 0.4
        }
        given += len(own & lucky)
        released |= lucky
    assert given <= crowd.utterances_per_speaker


def test_without_the_walk_she_gives_more_away():
    """The law bites: counted on every rung, whatever was released before, one utterance is given away again and again."""
    crowd = Crowd(utterances_per_speaker=1)
    (own,) = brought(crowd, corpus(random.Random(1), 1)).values()
    assert sum(len(added(own, count.name, ())) for count in crowd.counts()) > 1


def test_the_order_of_the_corpus_decides_nothing():
    crowd, rows = Crowd(utterances_per_speaker=2), corpus(random.Random(7), 4)
    assert brought(crowd, rows) == brought(crowd, rows[::-1])
