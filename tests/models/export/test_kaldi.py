import hashlib

import numpy as np
import pytest
import soundfile

from sottovoce.models.errors import RunError
from sottovoce.models.export.folder import export


@pytest.fixture
def made(run, tmp_path):
    export(run, "kaldi", tmp_path / "made")
    return tmp_path / "made"


def table(path) -> dict[str, str]:
    return dict(line.split(" ", 1) for line in path.read_text("utf-8").splitlines())


def test_tables_are_sorted_in_the_c_locale_and_agree(made, records):
    ids = sorted(row["id"] for row in records["stt_am"])
    for name in ("wav.scp", "text", "utt2spk", "spk2utt", "utt2dur"):
        lines = (made / name).read_bytes().split(b"\n")[:-1]
        assert lines == sorted(lines)
        assert list(table(made / name)) == ids


def test_each_slice_is_its_own_speaker(made):
    assert all(speaker == utterance for utterance, speaker in table(made / "utt2spk").items())
    assert table(made / "utt2spk") == table(made / "spk2utt")


def test_samples_and_words_come_out_unchanged(made, records):
    wavs, texts, durations = (table(made / name) for name in ("wav.scp", "text", "utt2dur"))
    numbers = {hashlib.md5(str(number).encode()).hexdigest(): number for number in range(40)}
    for row in records["stt_am"]:
        samples, rate_hz = soundfile.read(wavs[row["id"]], dtype="int16")
        number = numbers[row["id"]]
        expected = np.random.default_rng(number).integers(-3000, 3000, 1600 + number, dtype=np.int16)
        assert rate_hz == 16_000 and np.array_equal(samples, expected)
        assert texts[row["id"]] == row["text"]
        assert float(durations[row["id"]]) == pytest.approx(len(samples) / rate_hz, abs=1e-4)


def test_nothing_is_left_from_the_sorting(made):
    assert {path.name for path in made.iterdir()} == {
        "audio", "export.json", "spk2utt", "text", "utt2dur", "utt2spk", "wav.scp",
    }  # fmt: skip


def test_slices_without_words_are_left_out(run_of, records, tmp_path):
    silent = [row | {"text": " \n "} for row in records["stt_am"][:3]]
    counts = export(run_of({"stt_am": [*silent, *records["stt_am"][3:]]}), "kaldi", tmp_path / "made")
    assert counts == {"wav.scp": 37}
    with pytest.raises(RunError, match="nothing for kaldi"):
        export(run_of({"stt_am": silent}), "kaldi", tmp_path / "other")


def test_an_id_that_would_leave_the_folder_is_refused(run_of, records, tmp_path):
    strange = [records["stt_am"][0] | {"id": "../../../../tmp/x"}]
    with pytest.raises(RunError, match="cannot have made"):
        export(run_of({"stt_am": strange}), "kaldi", tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_our_own_reader_takes_every_line(made, read_corpus):
    for name in ("wav.scp", "text", "utt2spk"):
        rows = read_corpus("kaldi", made / name)
        assert len(rows) == 40 and all(getattr(row, "refusal", "") is None for row in rows)
