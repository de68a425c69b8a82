"""What was heard of a few utterances, as one .npz file: numbers and text alone, so that reading one runs nothing.

Rows of all utterances stand in one array after the other; a column of counts says how many belong to each.
"""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.records import Phone, Word
from sottovoce.models.speech.voice.builder.examples import Heard

SUFFIX = ".npz"
NO_PHONES = np.zeros((0, 0), dtype=np.uint8)  # of files that were written before phones were heard


def write_heard(file: BinaryIO, batch: Sequence[Heard]) -> None:
    """Writes a batch to an open file; embeddings and heard phones are there for all of it or for none."""
    words = [word for heard in batch for word in heard.words]
    phones = [phone for word in words for phone in word.phones]
    embedded = [heard.embedding for heard in batch if heard.embedding is not None]
    sounds = [heard.phones for heard in batch if heard.phones is not None]
    assert len(embedded) in (0, len(batch)), "an encoder has heard all of a batch, or there was none"
    assert len(sounds) in (0, len(batch)), "phones were heard in all of a batch, or in none"
    np.savez(
        file,
        names=np.array([(heard.utterance, heard.speaker, heard.gender) for heard in batch], dtype=np.str_),
        frames=np.array([len(heard.features) for heard in batch], dtype=np.int64),
        features=np.concatenate([heard.features for heard in batch]),
        words=np.array([len(heard.words) for heard in batch], dtype=np.int64),
        word_places=np.array([(word.begin, word.end) for word in words], dtype=np.int64).reshape(-1, 2),
        word_times=np.array([(w.begin_s, w.end_s, w.confidence) for w in words], dtype=np.float64).reshape(-1, 3),
        phones=np.array([len(word.phones) for word in words], dtype=np.int64),
        phone_labels=np.array([phone.label for phone in phones], dtype=np.str_),
        phone_times=np.array([(phone.begin_s, phone.end_s) for phone in phones], dtype=np.float64).reshape(-1, 2),
        embeddings=np.stack(embedded) if embedded else np.zeros((0, 0), dtype=np.float32),
        heard_phones=np.concatenate(sounds) if sounds else NO_PHONES,
    )


def read_heard(path: Path) -> list[Heard]:
    """Raises CorpusError for a file that `write_heard` did not write; pickled objects are refused, never loaded."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            return list(_heard({name: stored[name] for name in stored.files}))
    except (
        OSError,
        EOFError,
        KeyError,
        TypeError,
        ValueError,
        IndexError,
        AttributeError,
        zipfile.BadZipFile,
    ) as error:
        raise CorpusError(
            f"{path}: not a file of what was heard ({type(error).__name__}); expected one that build voice has kept"
        ) from None


def _heard(stored: dict[str, np.ndarray]) -> Iterator[Heard]:
    phones = (
        Phone(str(label), *map(float, times))
        for label, times in zip(stored["phone_labels"], stored["phone_times"], strict=True)
    )
    words = (
        _word(place, times, tuple(itertools.islice(phones, int(count))))
        for place, times, count in zip(stored["word_places"], stored["word_times"], stored["phones"], strict=True)
    )
    heard_phones = stored.get("heard_phones", NO_PHONES)
    embeddings: Any = stored["embeddings"] if stored["embeddings"].size else itertools.repeat(None)
    ends = np.cumsum(stored["frames"])
    rows = zip(stored["names"], ends - stored["frames"], ends, stored["words"], embeddings, strict=False)
    for (utterance, speaker, gender), begin, end, count, embedding in rows:
        own = tuple(itertools.islice(words, int(count)))
        found = heard_phones[begin:end] if heard_phones.size else None
        yield Heard(str(utterance), str(speaker), str(gender), stored["features"][begin:end], own, embedding, found)


def _word(place: np.ndarray, times: np.ndarray, phones: tuple[Phone, ...]) -> Word:
    (begin, end), (begin_s, end_s, confidence) = map(int, place), map(float, times)
    return Word(begin, end, begin_s, end_s, confidence, phones)
