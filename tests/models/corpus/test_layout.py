import pytest

from sottovoce.models.corpus.layout import Entry, choose
from sottovoce.models.errors import CorpusError


def found(*names, how="folder", wanted="auto"):
    return choose([Entry(f"/in/{name}", name, 1) for name in names], wanted, "typed", how)


@pytest.mark.parametrize(
    ("names", "format_name", "chosen"),
    [
        (["manifest.jsonl", "a.jsonl", "a.wav"], "jsonl", ["manifest.jsonl"]),
        (["b.jsonl", "a.jsonl", "_SUCCESS", ".x.jsonl"], "jsonl", ["a.jsonl", "b.jsonl"]),
        (["train_manifest.json", "dataset_info.json"], "jsonl", ["train_manifest.json"]),
        (["text", "wav.scp", "utt2spk", "cmvn.scp", "spk2utt"], "kaldi", ["text", "wav.scp", "utt2spk"]),
        (["text", "utt2spk"], "kaldi", ["text", "utt2spk"]),
        (["data/train-0.parquet", "data/test-0.parquet"], "parquet", ["data/test-0.parquet", "data/train-0.parquet"]),
        (["data-0.arrow", "cache-1.arrow", "state.json", "dataset_info.json"], "parquet", ["data-0.arrow"]),
        (["a.conll", "readme.txt"], "conll", ["a.conll"]),
        (["a.jsonl.gz", "b.jsonl"], "jsonl", ["a.jsonl.gz", "b.jsonl"]),
        (["validated.tsv", "clips/a.mp3", "README.md"], "csv", ["validated.tsv"]),
        (["metadata.csv", "a.wav"], "csv", ["metadata.csv"]),
        (["b.WAV", "x/a.m4a", "b.txt"], "audio", ["b.WAV", "x/a.m4a"]),
        (["dialogues_001.json", "schema.json"], "json", ["dialogues_001.json"]),
    ],
)
def test_a_folder_is_recognised(names, format_name, chosen):
    seen_format, files = found(*names)
    assert (seen_format, [file.name for file in files]) == (format_name, chosen)


@pytest.mark.parametrize(
    ("name", "format_name"),
    [("a.jsonl", "jsonl"), ("a.json", "jsonl"), ("_a.parquet", "parquet"), ("a.arrow", "parquet"), ("a.iob2", "conll")],
)
def test_a_file_is_recognised_by_its_name(name, format_name):
    assert found(name, how="file")[0] == format_name


def test_only_names_that_the_operator_typed_are_published():
    assert [file.label for file in found("john.jsonl", how="file")[1]] == ["john.jsonl"]
    assert [file.label for file in found("john.jsonl", how="glob")[1]] == ["file 1 of 1"]
    labels = [file.label for file in found(*(f"john{i}.jsonl" for i in range(10)))[1]]
    assert labels[0] == "file 01 of 10" and labels == sorted(labels)
    assert [file.label for file in found("manifest.jsonl")[1]] == ["manifest.jsonl"]
    assert all("john" not in repr(file) for file in found("john.jsonl", "john2.jsonl")[1])


def test_a_format_that_is_named_takes_any_file_name():
    assert found("a.txt", "b.txt", how="glob", wanted="conll")[0] == "conll"
    assert found("a.txt", how="file", wanted="jsonl")[0] == "jsonl"
    assert [file.name for file in found("a.jsonl", "b.parquet", wanted="parquet")[1]] == ["b.parquet"]


@pytest.mark.parametrize(
    ("names", "how", "wanted", "words"),
    [
        (["a.txt"], "file", "auto", "set input.format to one of jsonl, kaldi, parquet, conll, csv, json, audio"),
        (["a.jsonl", "b.parquet"], "folder", "auto", "several formats"),
        (["a.txt"], "folder", "auto", "no file of a known format"),
        (["a.jsonl.zst"], "file", "auto", "decompress"),
        (["a.jsonl"], "file", "jsonlines", "'jsonlines' is not known"),
        (["wav.scp"], "file", "auto", "name the folder"),
        (["wav.scp"], "folder", "auto", "`text`"),
        (["text", "segments"], "folder", "kaldi", "without `wav.scp`"),
        (["a.jsonl"], "folder", "conll", "no conll file"),
    ],
)
def test_what_cannot_be_recognised_is_told_clearly(names, how, wanted, words):
    with pytest.raises(CorpusError, match=words):
        found(*names, how=how, wanted=wanted)
