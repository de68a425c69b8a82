"""Why a record of a corpus is turned away. Codes are stable: the summary counts them and docs/input.md lists them."""

from __future__ import annotations

from sottovoce.models.corpus.parquet_bounds import MAX_GROUP_BYTES
from sottovoce.models.errors import Refusal

MAX_LINE_BYTES = 1 << 20
MAX_WORDS = 20_000
MAX_CHARACTERS = 200_000
MAX_ID_CHARACTERS = 512
LABEL_PATTERN = r"[A-Za-z0-9_.:/+#-]{1,64}"


class FileUnreadable(Refusal):
    code = "file_unreadable"
    allowed = "a complete file of the corpus's format"


class RowGroupTooLarge(Refusal):
    code = "row_group_too_large"
    allowed = f"Parquet row groups of at most {MAX_GROUP_BYTES} bytes in the columns of a record, decompressed"


class LineTooLong(Refusal):
    code = "line_too_long"
    allowed = f"at most {MAX_LINE_BYTES} bytes for a line, or for a sentence of CoNLL"


class NotUtf8(Refusal):
    code = "not_utf8"
    allowed = "text in UTF-8, without lone surrogates"


class NotJsonObject(Refusal):
    code = "not_json_object"
    allowed = "one complete JSON object on each line"


class KeysMissing(Refusal):
    code = "keys_missing"
    allowed = "a record with text, and audio where there is any"


class TextMissing(Refusal):
    code = "text_missing"
    allowed = "audio with its transcript"


class TextMalformed(Refusal):
    code = "text_malformed"
    allowed = "text as a string, without control characters"


class TextEmpty(Refusal):
    code = "text_empty"
    allowed = "at least one character that is not a space"


class TextTooLong(Refusal):
    code = "text_too_long"
    allowed = f"at most {MAX_WORDS} words and {MAX_CHARACTERS} characters"


class IdMalformed(Refusal):
    code = "id_malformed"
    allowed = f"ids as strings of at most {MAX_ID_CHARACTERS} characters, or whole numbers"


class TurnNotWhole(Refusal):
    code = "turn_not_whole"
    allowed = "turn as a whole number from 0 to 2147483647"


class LabelMalformed(Refusal):
    code = "label_malformed"
    allowed = f"intent, slot names, language and gender that match {LABEL_PATTERN}"


class SlotsMalformed(Refusal):
    code = "slots_malformed"
    allowed = 'slots as a list of {"name", "begin", "end"} with whole-number offsets'


class SlotsOutsideText(Refusal):
    code = "slots_outside_text"
    allowed = "0 <= begin < end <= number of characters of the text"


class SlotsOverlap(Refusal):
    code = "slots_overlap"
    allowed = "slots that do not overlap"


class TagsMalformed(Refusal):
    code = "tags_malformed"
    allowed = "O, or B-name and I-name (also E-, L-, S-, U-), in the last column of every token"


class TurnsMalformed(Refusal):
    code = "turns_malformed"
    allowed = "a dialogue under its name, with a list of turns"


class CellsMalformed(Refusal):
    code = "cells_malformed"
    allowed = "as many cells in a row of a table as its first line names, quotes closed, numbers as numbers"


class AudioPathMalformed(Refusal):
    code = "audio_path_malformed"
    allowed = "a path or URI as a string, or a struct {bytes, path}"


class AudioIsCommand(Refusal):
    code = "audio_is_command"
    allowed = "a path in wav.scp; commands (a line that ends in |) are never run"


class DurationNotPositive(Refusal):
    code = "duration_not_positive"
    allowed = "duration as a number of seconds above 0"


class OffsetNegative(Refusal):
    code = "offset_negative"
    allowed = "offset as a number of seconds, 0 or more; a segment that ends after it begins"


class ColumnsMissing(Refusal):
    code = "columns_missing"
    allowed = "the columns that Kaldi asks of this file"


class RecordingUnknown(Refusal):
    code = "recording_unknown"
    allowed = "segments of recordings that wav.scp lists"


class DialogueUnknown(Refusal):
    code = "dialogue_unknown"
    allowed = "every utterance of text in utt2dialogue, else in segments, where the directory has that file"


class EntryDuplicated(Refusal):
    code = "entry_duplicated"
    allowed = "one line for each id in wav.scp, segments, utt2spk, utt2dialogue and spk2gender"


REASONS = {reason.code: reason for reason in Refusal.__subclasses__() if reason.__module__ == __name__}
