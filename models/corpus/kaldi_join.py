"""Join the tables of a Kaldi directory in buckets: by recording, by speaker, and last by utterance.

A bucket holds about one batch of ids, so no table is ever held whole; the text crosses a shuffle only once, and the
batches that come out depend on the input alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator

from sottovoce.models.corpus import CorpusFile, Refused
from sottovoce.models.corpus.fields import attempt, utterance
from sottovoce.models.corpus.kaldi import DIALOGUES, GENDERS, SEGMENTS, SPEAKERS, TEXT, WAVS, TableRow
from sottovoce.models.corpus.reasons import REASONS, DialogueUnknown, EntryDuplicated, RecordingUnknown, TextMissing
from sottovoce.models.errors import Refusal
from sottovoce.models.records import AudioRef, Source, Utterance


def bucket_of(key: str, buckets: int) -> int:
    """The same bucket in every process: Python's own hash of a string is not."""
    return zlib.crc32(key.encode("utf-8")) % buckets


def whole_recordings(wavs: Iterable[TableRow]) -> Iterator[TableRow]:
    """Without `segments` each recording is one utterance."""
    for row in wavs:
        yield TableRow(
            WAVS, row.key, (*row.values, None, None, None, None) if row.values else (), row.line, row.refusal
        )


def locate(rows: Iterable[TableRow]) -> Iterator[TableRow]:
    """Rows of `wav.scp` and `segments` of some recordings -> the audio of each utterance, and its turn by time."""
    wavs: dict[str, TableRow] = {}
    segments: dict[str, list[TableRow]] = {}
    for row in rows:
        if row.table == SEGMENTS:
            segments.setdefault(row.key, []).append(row)
        else:
            wavs[row.key] = _only(wavs.get(row.key), row)
    for recording, cuts in segments.items():
        wav = wavs.get(recording)
        for turn, cut_row in enumerate(sorted(cuts, key=lambda row: (row.values[1], row.line))):
            utterance_id, begin_s, end_s = cut_row.values
            refusal = cut_row.refusal or (RecordingUnknown.code if wav is None else wav.refusal)
            values = () if refusal or wav is None else (wav.values[0], begin_s, end_s, recording, turn)
            yield TableRow(SEGMENTS, utterance_id, values, cut_row.line, refusal)


def name_speakers(rows: Iterable[TableRow]) -> Iterator[TableRow]:
    """Rows of `spk2gender` and `utt2spk` of some speakers -> (speaker, gender) of each utterance.

    Goes over `rows` twice: one speaker may have a large part of the corpus, which must not be held.
    """
    genders: dict[str, TableRow] = {}
    for row in rows:
        if row.table == GENDERS:
            genders[row.key] = _only(genders.get(row.key), row)
    for row in rows:
        if row.table == SPEAKERS:
            known = genders.get(row.key)
            gender = known.values[0] if known and known.values else None
            yield TableRow(SPEAKERS, row.values[0], (row.key, gender), row.line, known.refusal if known else None)


def assemble(rows: Iterable[TableRow], text_file: CorpusFile, tables: Collection[str]) -> Iterator[Utterance | Refused]:
    """All rows of some utterances -> their records, in the order of `text`; `tables` are those the directory has."""
    grouped_by = next((table for table in (DIALOGUES, SEGMENTS) if table in tables), None)
    texts: list[TableRow] = []
    by_table: dict[str, dict[str, TableRow]] = {}
    for row in rows:
        if row.table == TEXT:
            texts.append(row)
        else:
            known = by_table.setdefault(WAVS if row.table == SEGMENTS else row.table, {})
            known[row.key] = _only(known.get(row.key), row)
    for row in sorted(texts, key=lambda row: row.line):
        parts = {table: known[row.key] for table, known in by_table.items() if row.key in known}
        lost = grouped_by is not None and (WAVS if grouped_by == SEGMENTS else grouped_by) not in parts
        yield attempt(text_file, row.line, _utterance, row, parts, text_file, lost)
    with_text = {row.key for row in texts}
    silent = [row for row in by_table.get(WAVS, {}).values() if row.key not in with_text]
    for row in sorted(silent, key=lambda row: row.line):
        yield Refused(Source(row.table, row.line), TextMissing(), f"{row.table}:{row.line}")


def _utterance(row: TableRow, parts: dict[str, TableRow], text_file: CorpusFile, lost: bool) -> Utterance:
    if lost:  # as a dialogue of its own it could end in another sink than its neighbours
        raise DialogueUnknown
    for part in parts.values():
        if part.refusal:
            _refuse(part.refusal)
    uri, begin_s, end_s, recording, turn = parts[WAVS].values if WAVS in parts else (None,) * 5
    speaker, gender = parts[SPEAKERS].values if SPEAKERS in parts else (None, None)
    dialogue, turn = parts[DIALOGUES].values if DIALOGUES in parts else (recording or row.key, turn)
    fields = {
        "id": row.key,
        "dialogue_id": dialogue,
        "turn": turn,
        "text": row.values[0],
        "speaker_id": speaker,
        "gender": gender,
    }
    audio = None if uri is None else AudioRef(uri, begin_s, end_s)
    return utterance(fields, text_file, row.line, audio)


def _refuse(code: str) -> None:
    reason: type[Refusal] = REASONS[code]
    raise reason()


def _only(known: TableRow | None, row: TableRow) -> TableRow:
    """A second line for the same id leaves open which one is meant."""
    if known is None:
        return row
    return TableRow(row.table, row.key, (), min(known.line, row.line), EntryDuplicated.code)
