"""What was heard survives its file to the bit, and a file of another kind is named."""

import dataclasses
import io

import numpy as np
import pytest

from sottovoce.models.errors import CorpusError
from sottovoce.models.records import Phone, Word
from sottovoce.models.speech.voice.builder.examples import Heard
from sottovoce.models.speech.voice.builder.heard_file import read_heard, write_heard


def heard(name, frames, words, embedding=None):
    features = np.random.default_rng(frames).normal(size=(frames, 20)).astype(np.float32)
    return Heard(name, f"speaker of {name}", "f" if frames % 2 else "", features, words, embedding)


def word(at, *phones):
    sounds = tuple(Phone(label, at + 0.1 * n, at + 0.1 * n + 0.1) for n, label in enumerate(phones))
    return Word(int(at * 10), int(at * 10) + 3, at, at + 1 / 3, 0.1, sounds)


BATCH = [heard("a", 7, (word(0.1, "HH", "AH"), word(0.7))), heard("b", 0, ()), heard("ç 東", 3, (word(0.2, "S"),))]


def written(batch, path):
    with open(path, "wb") as file:
        write_heard(file, batch)
    return read_heard(path)


@pytest.mark.parametrize("embedded", [False, True])
def test_everything_comes_back_as_it_was(tmp_path, embedded):
    vectors = [np.arange(4, dtype=np.float32) + n for n in range(3)]
    batch = [dataclasses.replace(h, embedding=v if embedded else None) for h, v in zip(BATCH, vectors, strict=True)]
    back = written(batch, tmp_path / "heard.npz")
    assert len(back) == len(batch)
    for one, other in zip(batch, back, strict=True):
        assert (one.utterance, one.speaker, one.gender) == (other.utterance, other.speaker, other.gender)
        assert one.words == other.words and one.features.dtype == other.features.dtype
        np.testing.assert_array_equal(one.features, other.features)
        assert (one.embedding is None) == (other.embedding is None)
        assert other.phones is None
        if embedded:
            np.testing.assert_array_equal(one.embedding, other.embedding)


def test_phones_heard_in_it_come_back_too(tmp_path):
    phones = [np.full((len(h.features), 40), n, np.uint8) for n, h in enumerate(BATCH)]
    batch = [dataclasses.replace(h, phones=rows) for h, rows in zip(BATCH, phones, strict=True)]
    for rows, back in zip(phones, written(batch, tmp_path / "heard.npz"), strict=True):
        np.testing.assert_array_equal(rows, back.phones)


def test_the_same_batch_is_the_same_file():
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        write_heard(file, BATCH)
    assert files[0].getvalue() == files[1].getvalue()


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x05\x06" + bytes(18)])
def test_another_kind_of_file_is_named(tmp_path, content):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(CorpusError, match=r"x\.npz: not a file of what was heard"):
        read_heard(tmp_path / "x.npz")
