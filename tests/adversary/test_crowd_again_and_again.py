"""Attacker: one speaker who floods a crowd release, or whom it releases again and again: over nights, in two outputs, as speech.

What a speaker may change is bounded whatever they say and however often they come. Each attack is shown first to win on a build
without the part that bounds it.
"""

from __future__ import annotations

import math
from collections import Counter

import pytest
from adversary import FLAKINESS, Operator, Released, as_outsider, weakened
from scipy.stats import binom

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance
from sottovoce.models.text.replace.private_counts import CountSettings, noisy_count
from sottovoce.models.text.rewrite.crowd import Crowd
from sottovoce.models.text.rewrite.release import keep, release
from sottovoce.transforms.nightly.speaker_budget import afford

pytestmark = pytest.mark.slow
SECRET = Secret(b"a secret of these attacks")
DIARY, NEWS = "read my diary", "what is the news"
RELEASE = "sottovoce.models.text.rewrite.release"
EPSILON, DELTA, OTHERS = 0.5, 1e-6, 100


def said(text: str, who: str, number: int) -> Utterance:
    return Utterance(f"{who}-{number}", f"d{who}-{number}", 0, text, Source("f", 1), speaker_id=who, intent=text[:4])


def flooded() -> list[Utterance]:
    """Sixty ask for the news; one says his diary a thousand times, and a thousand things besides."""
    him = [said(DIARY, "him", n) for n in range(1000)] + [said(f"diary {n}", "him", 1000 + n) for n in range(1000)]
    return [said(NEWS, f"s{n}", 0) for n in range(60)] + him


def released_texts(corpus: list[Utterance]) -> Counter[str]:
    return Counter(one.text for one in release(Crowd(), corpus, "slu", SECRET, "one execution")[0])


def test_who_is_counted_by_utterance_floods_the_release():
    with weakened("who is a speaker", {f"{RELEASE}:unit_of": lambda one: ("utterance", one.id)}):
        assert released_texts(flooded())[DIARY] > 900


def test_however_much_one_speaker_says_it_goes_nowhere_and_changes_nobody_elses_count():
    found = released_texts(flooded())
    assert set(found) == {NEWS} and found == released_texts([one for one in flooded() if one.speaker_id != "him"])


def test_of_a_million_utterances_no_more_than_k_are_ever_held():
    own: dict[bytes, bytes] = {}
    most = 0
    for number in range(1_000_000):
        keep(own, (number.to_bytes(4, "little"), b""), 4)
        most = max(most, len(own))
    assert most == 4 and sorted(own) == [
        number.to_bytes(4, "little") for number in (0, 256 * 256, 2 * 256**2, 3 * 256**2)
    ]


def tells(counts: list[float | None]) -> bool:
    """Is she one of those who say it every night, beside OTHERS? Noise is centred: by the mean of what was released."""
    seen = [count for count in counts if count is not None]
    return bool(seen) and sum(seen) / len(seen) > OTHERS + 0.5


def attack(nights: int, budget: float, tries: int = 60) -> int:
    """How often an attacker is right of 2 `tries`, half of them with her, who has `budget` to spend."""
    spend = CountSettings(EPSILON, DELTA, "laplace", 1)
    right = 0
    for attempt in range(tries):
        for here in (False, True):
            spent, seen = 0.0, []
            for night in range(nights):
                ((*_, fits, _),) = afford([(f"d{night}", ("f", night), {}, True)], spent, budget, EPSILON)
                if not fits:  # the attacker knows the budget, and reads the nights that it paid for
                    break
                spent += EPSILON
                seen.append(noisy_count(("full/slu", NEWS), OTHERS + here, spend, SECRET, f"{attempt} {here} {night}"))
            right += tells(seen) == here
    return right


def no_more_than_epsilon(right: int, epsilon: float, tries: int = 60) -> bool:
    """Whoever guesses at a fair coin is right with at most e^epsilon / (1 + e^epsilon) + delta. Flaky: one in 10^6."""
    most = math.exp(epsilon) / (1 + math.exp(epsilon)) + DELTA
    return bool(binom.sf(right - 1, 2 * tries, most) > FLAKINESS)


def test_a_night_after_the_other_tells_of_her_where_nothing_is_charged():
    assert not no_more_than_epsilon(attack(100, math.inf), EPSILON)


def test_over_all_nights_she_spends_her_budget_and_no_more():
    assert no_more_than_epsilon(attack(100, EPSILON), EPSILON)
    assert no_more_than_epsilon(attack(100, 2 * EPSILON), 2 * EPSILON)


def two_outputs(nonces: tuple[str, str]) -> set[str]:
    """What differs between two releases of one corpus, of which she left after the first."""
    corpus = [said(NEWS, f"s{n}", 0) for n in range(40)] + [said("good morning", f"s{n}", 1) for n in range(40)]
    corpora = ([*corpus, said(NEWS, "her", 0)], corpus)
    crowd = Crowd(utterances_per_speaker=2)
    one, other = (
        Counter(record.text for record in release(crowd, rows, "slu", SECRET, nonce)[0])
        for rows, nonce in zip(corpora, nonces, strict=True)
    )
    return {text for text in one | other if one[text] != other[text]}


def test_two_outputs_with_one_noise_tell_what_she_said():
    assert two_outputs(("one noise", "one noise")) == {NEWS}


def test_two_outputs_have_noise_of_their_own():
    """What nobody left differs as well: the ledger adds up the two epsilons, and the difference alone tells nothing."""
    assert sum("good morning" in two_outputs((f"first {n}", f"second {n}")) for n in range(20)) > 10


SPEECH = ("--set", "rewrite={use: crowd, utterances_per_speaker: 1, copies: 1}", "--set", "sinks={stt_am: 1}",
          "--set", "voice={use: phonetic, from_text: true}", "--set", "detect=rules")  # fmt: skip


def spoken() -> list[dict]:
    """Nobody's recording is there: the sound follows from the released words."""
    texts = [(f"s{i}", NEWS) for i in range(40)] + [("her", "the clinic has the test of the blood")]
    return [
        {"id": who, "dialogue_id": who, "speaker_id": who, "text": text, "duration": 1.0, "audio_filepath": "gone.flac"}
        for who, text in texts
    ]


def heard(released: Released) -> list[str]:
    return [row["text"] for row in released.rows("stt_am")]


def test_without_a_threshold_she_is_heard(tmp_path):
    with weakened("a threshold", {"sottovoce.models.text.replace.private_counts:_threshold": lambda settings: -100.0}):
        theirs = Operator(tmp_path).release(spoken(), *SPEECH)
    assert any("clinic" in text for text in as_outsider(heard, theirs))


def test_speech_of_a_crowd_says_nothing_that_one_person_alone_said(tmp_path):
    assert as_outsider(heard, Operator(tmp_path).release(spoken(), *SPEECH)) == [NEWS]
