"""The commands that align, mask and measure speech, on a corpus made on the spot."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import soundfile

from sottovoce.models.evaluation.known_answers.word_times import Known, ProgramMissing, speak_flite
from sottovoce.models.records import AudioRef, Word
from sottovoce.models.speech.audio import Speech, load
from sottovoce.pipelines.cli import main

EVERY_WORD = ("--align", "{use: pocketsphinx, misfits: refuse}")  # of these few short sentences none shall be lost
SENTENCES = {
    "one": "please call maria fernandez on the mobile",
    "two": "what is the weather in boston this weekend",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Known]]:
    folder = tmp_path_factory.mktemp("corpus")
    known, rows = {}, []
    for name, text in SENTENCES.items():
        try:
            known[name] = speak_flite(text.split(), "slt")
        except ProgramMissing as missing:
            pytest.skip(str(missing))
        soundfile.write(folder / f"{name}.wav", known[name].speech.samples, known[name].speech.rate_hz)
        rows.append({"id": name, "audio_filepath": f"{name}.wav", "text": text, "dialogue_id": name})
    rows.append({"id": "gone", "audio_filepath": "gone.wav", "text": "hello there", "dialogue_id": "gone"})
    rows.append(
        {"id": "wrong", "audio_filepath": "one.wav", "text": "play some music by the beatles", "dialogue_id": "w"}
    )
    (folder / "manifest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "manifest.jsonl", known


def reasons(folder: Path) -> list[str]:
    return [json.loads(line)["reason"] for line in (folder / "failures.jsonl").read_text().splitlines()]


@pytest.mark.slow
def test_align_writes_all_three_layouts_and_refuses_what_does_not_fit(corpus, tmp_path: Path, capsys) -> None:
    manifest, known = corpus
    assert main(["align", "--input", str(manifest), "--output", str(tmp_path)]) == 0
    rows = [json.loads(line) for line in (tmp_path / "words.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["one", "two"]
    for row in rows:
        errors_s = [abs(w["begin_s"] - t.begin_s) for w, t in zip(row["words"], known[row["id"]].words, strict=True)][
            1:
        ]
        assert np.median(errors_s) < 0.05
    assert len((tmp_path / "words.ctm").read_text().splitlines()) == sum(len(row["words"]) for row in rows)
    assert {path.stem for path in (tmp_path / "textgrid").iterdir()} == {"one", "two"}
    assert reasons(tmp_path) == ["audio_not_found", "alignment_mismatch"] or reasons(tmp_path)[1] == "alignment_failed"
    assert "gone" not in capsys.readouterr().out


def test_align_refuses_a_line_that_is_no_record_and_goes_on(corpus, tmp_path: Path) -> None:
    manifest, _ = corpus
    broken = manifest.with_name("broken.jsonl")
    broken.write_text("no json\n" + manifest.read_text().splitlines()[0] + "\n")
    assert main(["align", "--input", str(broken), "--output", str(tmp_path)]) == 0
    assert reasons(tmp_path) == ["not_json_object"]


@pytest.mark.slow
def test_mask_removes_listed_words_from_speech_and_text(corpus, tmp_path: Path) -> None:
    manifest, known = corpus
    arguments = ["mask", "--input", str(manifest), "--output", str(tmp_path), "--words", "Maria Fernandez", "boston"]
    assert main([*arguments, *EVERY_WORD]) == 0
    rows = [json.loads(line) for line in (tmp_path / "manifest.jsonl").read_text().splitlines()]
    assert [row["text"] for row in rows] == ["please call on the mobile", "what is the weather in this weekend"]
    assert all(re.fullmatch("[0-9a-f]{32}", row["id"]) for row in rows)
    for row, name, sensitive in zip(rows, ("one", "two"), ((2, 3), (5,)), strict=True):
        speech = load(AudioRef(str(tmp_path / row["audio_filepath"])))
        for index in sensitive:
            word = known[name].words[index]
            inside = speech.samples[int(word.begin_s * speech.rate_hz) + 1 : int(word.end_s * speech.rate_hz)]
            assert not inside.any()
    published = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert not re.search(rb"maria|fernandez|boston|gone", published, re.IGNORECASE)


@pytest.mark.slow
def test_mask_removes_by_list_and_by_type_from_speech_and_text_alike(tmp_path: Path) -> None:
    """One utterance with an entity that the detector knows and a word that only the list has; each alone, then both."""
    text = "call maria on five five five two three six eight please"
    try:
        known = speak_flite(text.split(), "slt")
    except ProgramMissing as missing:
        pytest.skip(str(missing))
    soundfile.write(tmp_path / "a.wav", known.speech.samples, known.speech.rate_hz)
    row = {"id": "a", "audio_filepath": "a.wav", "text": text, "dialogue_id": "a"}
    (tmp_path / "manifest.jsonl").write_text(json.dumps(row) + "\n")
    name, digits, kept = [1], list(range(3, 10)), [0, 10]
    for chosen, options, left in (
        (name, ["--words", "maria"], "call on five five five two three six eight please"),
        (digits, ["--types", "PHONE"], "call maria on please"),
        ([*name, *digits], ["--words", "maria", "--types", "PHONE"], "call on please"),
    ):
        out = tmp_path / "-".join(options)
        arguments = ["--output", str(out), "--relisten", "none", *options]
        assert main(["mask", "--input", str(tmp_path / "manifest.jsonl"), *arguments]) == 0
        written = json.loads((out / "manifest.jsonl").read_text())
        speech = load(AudioRef(str(out / written["audio_filepath"])))
        assert written["text"] == left and len(speech.samples) == len(known.speech.samples)
        silent = {index for index, word in enumerate(known.words) if not _middle(speech, word).any()}
        assert silent >= set(chosen) and not silent & set(kept)


def _middle(speech: Speech, word: Word) -> np.ndarray:
    third_s = (word.end_s - word.begin_s) / 3
    begin_s, end_s = word.begin_s + third_s, word.end_s - third_s
    return speech.samples[int(begin_s * speech.rate_hz) : int(end_s * speech.rate_hz)]


@pytest.mark.slow
def test_of_an_utterance_in_which_a_removed_word_is_still_heard_nothing_is_written(
    corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def everything(self, speech, text, words, masked):
        return masked.indices

    monkeypatch.setattr("sottovoce.models.speech.recognise.pocketsphinx.PocketSphinxListener.heard", everything)
    assert main(["mask", "--input", str(corpus[0]), "--output", str(tmp_path), "--words", "maria"]) == 0
    assert reasons(tmp_path)[0] == "still_heard" and not list(tmp_path.rglob("*maria*"))
    rows = [json.loads(line) for line in (tmp_path / "manifest.jsonl").read_text().splitlines()]
    assert [row["text"] for row in rows] == [SENTENCES["two"]]  # nothing was removed there, so nothing is listened for
    assert len(list((tmp_path / "audio").iterdir())) == 1


@pytest.mark.parametrize(
    "name, rate_hz, subtype",
    [("a.wav", 8_000, "PCM_16"), ("a.wav", 44_100, "FLOAT"), ("a.flac", 16_000, "PCM_24"), ("a.aiff", 22_050, "PCM_16"),
     ("a.ogg", 48_000, "VORBIS"), ("a.mp3", 16_000, "MPEG_LAYER_III"), ("a.au", 11_025, "PCM_16")],
)  # fmt: skip
def test_masks_lie_on_the_same_samples_whatever_the_rate_and_the_container(
    tmp_path: Path, name: str, rate_hz: int, subtype: str
) -> None:
    """What is read, masked and written again differs from what was read in the masked samples and fades alone."""
    from sottovoce.models.speech.audio import to_flac
    from sottovoce.models.speech.mask.fill import Silence

    noise = np.random.default_rng(0).uniform(-0.5, 0.5, 2 * rate_hz)
    soundfile.write(tmp_path / name, noise, rate_hz, subtype=subtype)
    read = load(AudioRef(str(tmp_path / name)))
    assert read.rate_hz == rate_hz
    (tmp_path / "masked.flac").write_bytes(to_flac(Silence(guard_ms=0.0, fade_ms=0.0).mask(read, [(0.5, 1.25)])))
    written = load(AudioRef(str(tmp_path / "masked.flac"))).samples
    begin, end = math.floor(0.5 * rate_hz), math.ceil(1.25 * rate_hz)
    assert not written[begin:end].any()
    rounding = 1 / 32768
    for kept in (slice(0, begin), slice(end, None)):
        assert np.max(np.abs(written[kept] - read.samples[kept])) <= rounding


def test_mask_writes_markers_by_type_and_keeps_ids_when_asked(tmp_path: Path) -> None:
    source = tmp_path / "texts.jsonl"
    source.write_text(json.dumps({"id": "t1", "text": "mail me at jo@example.com please", "dialogue_id": "d"}) + "\n")
    out = tmp_path / "out"
    arguments = [
        "mask",
        "--input",
        str(source),
        "--output",
        str(out),
        "--types",
        "EMAIL",
        "--text",
        "typed",
        "--keep-ids",
    ]
    assert main(arguments) == 0
    assert json.loads((out / "manifest.jsonl").read_text()) == {"id": "t1", "text": "mail me at [EMAIL] please"}


@pytest.mark.parametrize(
    "arguments, problem",
    [
        ([], "nothing to mask"),
        (["--types", "EMIAL"], "EMIAL"),
        (["--word-file", "no-such-file"], "no-such-file"),
        (["--words", "x", "--mask", "{use: silence, guard_ms: -5}"], "guard_ms"),
    ],
)
def test_mask_says_what_is_wrong_before_it_starts(corpus, tmp_path: Path, capsys, arguments, problem: str) -> None:
    assert main(["mask", "--input", str(corpus[0]), "--output", str(tmp_path / "out"), *arguments]) == 2
    assert problem in capsys.readouterr().err and not (tmp_path / "out").exists()


@pytest.mark.slow
def test_evaluations_print_their_figures(corpus, capsys) -> None:
    assert main(["evaluate", "align", "--sentences", "2", "--synthesiser", "flite", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["word borders, flite"]["median_ms"] < 50
    arguments = ["evaluate", "mask", "--sentences", "2", "--shift-ms", "800", "--guard-ms", "0", "200", "--json"]
    assert main(arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {key.split(",")[0] for key in printed} == {"masks", "guard bands", "still heard"}
    covered = [int(line.split()[0]) for line in printed["guard bands, flite, known times"].values()]
    assert covered == sorted(covered)


@pytest.mark.slow
def test_a_voice_that_leaves_masked_words_unsaid_covers_them_and_costs_their_neighbours_nothing(capsys) -> None:
    arguments = ["evaluate", "mask", "--sentences", "4", "--voice", "phonetic", "--relisten", "none", "--json"]
    assert main([*arguments, *EVERY_WORD]) == 0
    figures = json.loads(capsys.readouterr().out)["masks, flite, known times, spoken by phonetic"]
    covered, _, all_of_them, *_ = figures["sensitive words covered whole"].split()
    assert int(covered) == int(all_of_them) > 0
    assert figures["lost of the neighbouring words' speech"] == figures["lost of all kept speech"] == "0.0 %"


def test_evaluate_mask_needs_three_recordings_of_a_speaker(corpus, capsys) -> None:
    assert main(["evaluate", "mask", "--sentences", "0", "--input", str(corpus[0]), "--limit", "1"]) == 1
    assert "--limit" in capsys.readouterr().err


def test_evaluate_slices_measures_text_alone(tmp_path: Path, capsys) -> None:
    story = "one two three four five six seven eight nine ten eleven twelve"
    rows = [{"id": str(i), "text": story, "dialogue_id": str(i)} for i in range(40)]
    source = tmp_path / "texts.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["evaluate", "slices", "--input", str(source), "--text-only", "--delta", "1", "--json"]
    assert main(arguments) == 0
    printed = json.loads(capsys.readouterr().out)["slices of at least 1 s"]
    assert printed["neighbouring pairs"] == 120 and float(printed["linkability by text"].split()[0]) > 0.4
