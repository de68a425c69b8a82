"""What one speaker changes in the counts of a crowd release, whatever they and the others say: the first half of its proof."""

import dataclasses
import random

import pytest

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Slot, Source, Utterance
from sottovoce.models.text.rewrite.crowd import ORDER, Crowd
from sottovoce.models.text.rewrite.release import Said, added, chosen, release, said_of
from sottovoce.models.text.rewrite.template import NoTemplate

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
        speaker, said = said_of(crowd, one, sink, SECRET)
        own.setdefault(speaker, []).append(said)
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


# Whatever a corpus may be like: the same in whole runs in tests/pipelines/sanitize/test_crowd_runs.py.


def said(text: str, who: str | None, number: int = 0, intent: str = "ask", slot: str = "") -> Utterance:
    slots = (Slot(0, len(text), slot),) if slot else ()
    name = f"{who}-{number}"
    return Utterance(name, f"d{name}", 0, text, Source("f", 1), speaker_id=who, intent=intent, slots=slots)


def texts(utterances: list[Utterance], **options) -> list[str]:
    return [one.text for one in release(Crowd(**options), utterances, "slu", SECRET, "one execution")[0]]


def test_without_speaker_ids_dialogues_are_counted():
    assert len(texts([said("what is the news", None, n) for n in range(60)])) > 30
    one_dialogue = [dataclasses.replace(said("what is the news", None, n), dialogue_id="d") for n in range(60)]
    assert texts(one_dialogue) == []


def test_fewer_speakers_than_the_threshold_release_nothing():
    assert texts([said("good morning", f"s{n}") for n in range(3)]) == []
    assert texts([]) == []


def test_one_speaker_says_nothing_to_anybody_however_often():
    assert texts([said(f"read my diary of day {n % 7}", "him", n) for n in range(1000)]) == []


def test_an_intent_of_one_speaker_alone_does_not_go_out():
    crowd = [said("what is the news", f"s{n}") for n in range(60)]
    records, _ = release(Crowd(), [*crowd, said("what is the news", "her", 0, "only_hers")], "slu", SECRET, "one")
    assert {one.intent for one in records} == {"ask"}


def test_single_words_of_an_intent_go_out_together_and_a_word_of_one_alone_does_not():
    """Forty who say nothing alike but one word each; a name that one of them says stays with her."""
    rare = [said(f"alpha{n} fares beta{n}", f"s{n}", 0, "fare") for n in range(120)]
    hers = said("xochiquetzal fares", "her", 0, "fare")
    records, covered = release(Crowd(ladder={"full": 1.0, "parts": 1.0}), [*rare, hers], "slu", SECRET, "one")
    assert {one.text for one in records} == {"fares fares fares"} and {one.intent for one in records} == {"fare"}
    assert (
        20 < len(records) < 60 and covered < 80
    )  # a third of them bring this word: one word of an utterance is counted


def test_single_words_never_go_to_a_model_of_language():
    assert set(Crowd(ladder={"full": 1.0, "parts": 1.0}).adds(said("cheapest fares", "s"), "stt_lm")) == {"full"}


def test_a_text_without_a_word_has_no_template():
    for text in ("...", " - ", "?!", ""):
        with pytest.raises(NoTemplate):
            said_of(Crowd(), said(text, "s"), "slu", SECRET)


def test_a_template_of_one_slot_is_filled_or_nothing():
    cities = [said("paris", f"s{n}", 0, "inform", "city") for n in range(60)]
    assert set(texts(cities)) == {"paris"}  # as sixty said it
    found = texts([said(f"{chr(97 + n)}ville", f"s{n}", 0, "inform", "city") for n in range(26)], ladder={"full": 1.0})
    assert found and not {f"{chr(97 + n)}ville" for n in range(26)} & set(found)  # a city each: any city


def test_a_value_fills_gaps_and_makes_no_record_of_itself():
    """A hundred sentences that nobody shares name one of two cities: of some the city is counted, of others a word."""
    slots = (Slot(0, 5, "town"),)
    rare = [
        dataclasses.replace(said(f"{('quito', 'sucre')[n % 2]} alpha{n} fares", f"s{n}", 0, "fare"), slots=slots)
        for n in range(300)
    ]
    shared = [dataclasses.replace(said("quito please", f"t{n}", 0, "go"), slots=slots) for n in range(60)]
    records, covered = release(Crowd(ladder={"full": 1.0, "parts": 1.0}), rare + shared, "slu", SECRET, "one")
    filled = {one.text.split()[0] for one in records if one.intent == "go"}
    assert {"quito", "sucre"} <= filled  # of the crowd, beside public lists
    assert {one.text for one in records if one.intent == "fare"} == {"fares fares fares"}
    assert len(shared) < covered < len(rare + shared)  # of whom only a value was counted, no record tells
