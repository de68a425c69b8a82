"""`sottovoce evaluate acoustic`: trains on some speakers, tests on others, goes on where it was."""

from __future__ import annotations

import json

import pytest
from spoken_corpus import write_corpus

from sottovoce.pipelines.cli import main
from sottovoce.pipelines.local.read_locally import read_utterances
from sottovoce.pipelines.studies.acoustic_plan import choose, named, split


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("spoken"), 5)


def arguments(corpus, out, *more: str) -> list[str]:
    few = ["--learner", "{use: ctc, steps: 3, batch: 2}", "--trainings", "1", "--encoder", "prosody", "--together", "1"]
    few += ["--unmasked", "--calibrate", "none", "--enrol", "2", "--test", "3", "--share", "0.3"]
    return ["evaluate", "acoustic", "--data", str(corpus), "--out", str(out), *few, *more]


@pytest.mark.slow
@pytest.mark.long
def test_a_study_has_all_sources_a_chart_and_goes_on_with_another_voice(corpus, tmp_path, capsys) -> None:
    assert main([*arguments(corpus, tmp_path, "--voice", "vtln", "--mix"), "--json"]) == 0
    first = capsys.readouterr()
    found = json.loads(first.out)
    names = {row["source"] for row in found["taught"]}
    assert names == {"originals", "vtln", "flite", "30 % of the originals", "vtln + 30 % of the originals"}
    assert set(found["attacks"]) == {"originals", "vtln"} and (tmp_path / "frontier.png").stat().st_size > 1000
    assert found["frontier"]["ctc"]["originals"]["wer_ratio"]["value"] == 1.0
    assert main([*arguments(corpus, tmp_path, "--voice", "vtln", "--mix"), "--json"]) == 0
    again = capsys.readouterr()
    assert again.out == first.out and again.err.startswith("0 of ")
    assert main(arguments(corpus, tmp_path, "--voice", "vtln", "--voice", "mcadams")) == 0
    more = capsys.readouterr()
    assert "ctc on originals" not in more.err and "speak as vtln:" not in more.err and "ctc on mcadams" in more.err
    assert "to originals" in more.out and "semi-informed" in more.out


@pytest.mark.slow
@pytest.mark.long
def test_table_1_holds_both_kinds_of_speech_whole_and_in_slices(corpus, tmp_path, capsys) -> None:
    assert main([*arguments(corpus, tmp_path, "--voice", "vtln", "--table1"), "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)["table_1"]["vtln"]
    assert set(tables) == {"originals", "vtln, whole"}
    assert [row["source"] for row in tables["originals"]] == [
        "originals", "originals, 4 s", "originals, 3 s", "originals, 1.5 s",
        "vtln, whole", "vtln, 4 s", "vtln, 3 s", "vtln, 1.5 s",
    ]  # fmt: skip


def test_nobody_is_trained_on_and_tested_and_everybody_is_tested_in_folds(corpus) -> None:
    speakers = sorted({one.speaker_id for one in choose(read_utterances(str(corpus)), None, 0)})
    (tested,) = split(speakers, None, 1 / 3, 0)
    assert 1 <= len(tested) <= len(speakers) - 2 and split(speakers, None, 1 / 3, 0) == (tested,)
    folds = split(speakers, 3, 1 / 3, 0)
    assert sorted(name for fold in folds for name in fold) == speakers


@pytest.mark.slow
def test_training_sets_hold_nobody_of_the_test_and_the_same_originals_alone_and_beside_a_voice(
    corpus, tmp_path
) -> None:
    import argparse

    from sottovoce.pipelines.commands import evaluate_acoustic
    from sottovoce.pipelines.studies.acoustic_study import SpeechSource

    parser = argparse.ArgumentParser()
    evaluate_acoustic.add_arguments(parser)
    plan = evaluate_acoustic._plan(parser.parse_args(arguments(corpus, tmp_path, "--voice", "vtln", "--mix")[2:]))
    study = plan.study
    alone = study.training(SpeechSource("30 %", share=0.3), 0)
    mixed = study.training(SpeechSource("vtln + 30 %", "vtln", 0.3), 0)
    for pieces in (alone, mixed, study.training(SpeechSource("vtln", "vtln"), 0)):
        assert pieces and not {piece.speaker for piece in pieces} & study.test_folds[0]
    assert {piece.flac for piece in alone} <= {piece.flac for piece in mixed}
    assert len({piece.utterance for piece in mixed}) == len(mixed) > len(alone)


def test_voices_are_told_apart_by_their_options() -> None:
    from sottovoce.models.errors import SettingsError
    from sottovoce.models.settings import read_spec

    specs = [read_spec("voice", "phonetic"), read_spec("voice", {"use": "phonetic", "prosody": 0.0})]
    assert list(named(specs)) == ["phonetic", "phonetic, prosody 0.0"]
    with pytest.raises(SettingsError, match="given twice"):
        named([specs[0], specs[0]])


@pytest.mark.parametrize(
    "more, code, words",
    [
        (("--voice", "vtln", "--share", "1.5"), 2, "--share 1.5: must lie between 0 and 1"),
        (("--voice", "vtln", "--folds", "1"), 2, "--folds 1: must be at least 2"),
        (("--voice", "vtln", "--folds", "9"), 2, "more than the 4 speakers"),
        (("--voice", "whisper"), 2, "voice.use: 'whisper' is not known"),
        (("--voice", "vtln", "--learner", "kaldi"), 2, "allowed: map, ctc"),
        (("--voice", "vtln", "--learner", "{use: map, programs: nowhere}"), 1, "apt-get install sphinxtrain"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_done(corpus, tmp_path, capsys, more, code, words) -> None:
    assert main(arguments(corpus, tmp_path / "out", *more)) == code
    assert words in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.pickle"))


def test_a_corpus_of_too_few_speakers_is_refused(tmp_path, capsys) -> None:
    path = tmp_path / "few.jsonl"
    path.write_text(json.dumps({"id": "a", "dialogue_id": "a", "speaker_id": "s", "text": "go", "audio_filepath": "a"}))
    assert main(arguments(path, tmp_path / "out", "--voice", "vtln")) == 1
    assert "1 speakers with recordings and transcripts; at least 3 are needed" in capsys.readouterr().err
