"""A blind challenge holds everything but the answers, and an outsider's scores are judged as our own attackers are."""

import numpy as np
import pytest

from sottovoce.models.errors import CorpusError, RunError
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance
from sottovoce.models.speech.audio import Speech, to_flac
from sottovoce.pipelines.audit.challenge import judged, read_scores, write_challenge
from sottovoce.pipelines.audit.voices import Person

SECRET = Secret(b"k" * 32)


def speech(number: int) -> Speech:
    return Speech(np.random.default_rng(number).normal(0, 0.1, 800).astype(np.float32), 16_000)


def people(count: int) -> list[Person]:
    def utterance(person, number):
        return Utterance(f"u{person}-{number}", f"d{person}-{number}", 0, "said", Source("f", 1), f"speaker {person}")

    def row(person, number):
        return {"id": f"{person * 100 + number:032x}", "audio": {"bytes": to_flac(speech(person * 100 + number))}}

    return [
        Person(f"name of {p}", [utterance(p, n) for n in range(3)], [row(p, n) for n in range(4)]) for p in range(count)
    ]


@pytest.fixture
def made(tmp_path):
    return tmp_path / "out", write_challenge(people(9), lambda utterance: speech(7), SECRET, "run-1", tmp_path / "out")


def test_the_files_hold_everything_but_the_answers(made):
    out, key = made
    assert len(set(key.values())) == 6 and len(key) == 24
    assert len((out / "trials" / "trials").read_text().splitlines()) == 6 * 24
    assert not (out / "trials" / "utt2spk").exists()
    told = (out / "train" / "utt2spk").read_text() + (out / "enrolls" / "utt2spk").read_text()
    assert not any(name in told for name in key)
    everything = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    for word in (b"name of", b"speaker ", b"u0-0", f"{100:032x}".encode()):
        assert word not in everything
    assert out.stat().st_mode & 0o077 == 0
    assert len({path.stat().st_mtime for path in (out / "trials" / "wav").iterdir()}) == 1


def scored(path, key, score):
    lines = [f"{who} {name} {score(who, name)}" for who in sorted(set(key.values())) for name in key]
    path.write_text("\n".join(lines))
    return judged(read_scores(str(path), key), key)


def test_who_knows_all_names_everybody_and_who_guesses_is_at_chance(made, tmp_path):
    _, key = made
    found, rate = scored(tmp_path / "s", key, lambda who, name: float(key[name] == who))
    assert found.attack.value == 1.0 and found.risk.value == 1.0 and rate.value == 0.0
    found, rate = scored(tmp_path / "s", key, lambda who, name: 0.5)
    assert found.risk.value == pytest.approx(0.0) and rate.value == pytest.approx(0.5)


@pytest.mark.parametrize("line", ["p1 x 0.5", "one", "{who} {name} nan"])
def test_lines_that_score_nothing_are_named_by_their_place(made, tmp_path, line):
    _, key = made
    name, who = next(iter(key.items()))
    (tmp_path / "s").write_text(line.format(who=who, name=name))
    with pytest.raises(CorpusError, match="line 1: expected a person and a slice"):
        read_scores(str(tmp_path / "s"), key)


def test_trials_without_a_score_are_counted(made, tmp_path):
    _, key = made
    name, who = next(iter(key.items()))
    (tmp_path / "s").write_text(f"{who} {name} 1.0")
    with pytest.raises(CorpusError, match="143 of 144 trials have no score"):
        read_scores(str(tmp_path / "s"), key)


def test_one_person_is_no_challenge(tmp_path):
    with pytest.raises(RunError, match="at least 2 people"):
        write_challenge(people(1), lambda utterance: speech(7), SECRET, "run-1", tmp_path / "out")
