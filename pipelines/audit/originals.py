"""What only the operator can say: which original utterance a released record was made of.

Row ids are keyed hashes, so whoever has the corpus and the secret computes them again. With that, words that were
replaced are told from those that were kept, and slices of one utterance are found.
"""

from __future__ import annotations

import difflib
import functools
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sottovoce.models.evaluation.attacks.slice_linkage import TracedSlice
from sottovoce.models.evaluation.audit.material import KnownText, ReplacedValue
from sottovoce.models.forget.whose import Part, part_of
from sottovoce.models.randomness import Secret
from sottovoce.models.records import AudioRef, Utterance
from sottovoce.models.speech import audio
from sottovoce.models.speech.voice.from_text import slice_id
from sottovoce.pipelines.audit.released import Sample
from sottovoce.transforms.sinks import sink_class
from sottovoce.transforms.sinks.sink import ReplacedText

TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]")
AROUND = 2  # words on either side of a gap
MAX_SLICED = 400  # utterances whose slices are listened to, unless the audit is a full one

Originals = dict[str, list[Utterance]]  # by person


@functools.lru_cache(maxsize=1024)
def _part(secret: Secret, speaker_id: str | None, dialogue_id: str) -> Part:
    """Turns of one dialogue follow each other."""
    return part_of(secret, speaker_id, dialogue_id)


def _whose(secret: Secret, utterance: Utterance) -> Part:
    return _part(secret, utterance.speaker_id, utterance.dialogue_id)


def originals_of(utterances: Iterable[Any], secret: Secret, people: frozenset[str]) -> tuple[Originals, bool]:
    """(what these people said, whether the corpus says who speaks). Of a large corpus nothing else is kept."""
    found: Originals = {}
    named = False
    for utterance in utterances:
        if isinstance(utterance, Utterance):
            named = named or utterance.speaker_id is not None
            person = _whose(secret, utterance).speaker
            if person in people:
                found.setdefault(person, []).append(utterance)
    return found, named


def not_in(originals: Originals, sample: Sample, secret: Secret) -> int:
    """How many sampled dialogues these originals lack: whoever is left out of them would not be attacked."""
    given = {(person, _whose(secret, u).dialogue) for person, own in originals.items() for u in own}
    return len({part for rows in sample.owners.values() for parts in rows.values() for part in parts} - given)


def known_half(originals: Originals, secret: Secret) -> list[KnownText]:
    """Every second dialogue of each person who has several, as it was said."""
    known = []
    for person, utterances in originals.items():
        tokens = {u.dialogue_id: _whose(secret, u).dialogue for u in utterances}
        given = set(sorted(tokens, key=lambda name: tokens[name])[1::2])
        known += [KnownText(person, u.text, tokens[u.dialogue_id]) for u in utterances if u.dialogue_id in given]
    return known


def gaps_of(sample: Sample, originals: Originals, secret: Secret) -> list[ReplacedValue]:
    """Every value of the sampled records that was replaced, in the sinks of text."""
    gaps = []
    for sink, rows in sample.rows.items():
        branch = sink_class(sink)
        if issubclass(branch, ReplacedText):
            there = {dialogue for parts in sample.owners[sink].values() for _, dialogue in parts}
            own = {
                person: [u for u in said if _whose(secret, u).dialogue in there] for person, said in originals.items()
            }
            for person, utterance, text in paired(branch, rows, own, secret):
                gaps += [ReplacedValue(sink, person, *found) for found in replaced(utterance.text, text)]
    return gaps


def paired(
    branch: type[ReplacedText], rows: Mapping[str, Mapping[str, Any]], originals: Originals, secret: Secret
) -> Iterator[tuple[str, Utterance, str]]:
    """(person, utterance, its released text)."""
    turns: dict[str, list[tuple[str, Utterance]]] = {}
    for person, utterances in originals.items():
        for utterance in utterances:
            name = branch.row(utterance, secret).columns["id"]
            if name in rows:
                turns.setdefault(name, []).append((person, utterance))
    for name, own in turns.items():
        own.sort(key=lambda pair: (pair[1].turn, pair[1].source.file, pair[1].source.line))
        texts = [turn["text"] for turn in rows[name]["turns"]] if "turns" in rows[name] else [rows[name]["text"]]
        if len(texts) == len(own):  # else turns were refused, and which is whose is not known
            yield from ((person, utterance, text) for (person, utterance), text in zip(own, texts, strict=True))


def replaced(original: str, released: str) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], str, tuple[str, ...]]]:
    """(what stands before, what stands after, the value, what stands instead) for each stretch that the release lacks."""
    said, shown = TOKEN.findall(original.lower()), TOKEN.findall(released.lower())
    for kind, begin, end, shown_begin, shown_end in difflib.SequenceMatcher(None, said, shown, False).get_opcodes():
        if kind in ("replace", "delete"):
            before, after = shown[max(shown_begin - AROUND, 0) : shown_begin], shown[shown_end : shown_end + AROUND]
            yield tuple(before), tuple(after), " ".join(said[begin:end]), tuple(shown[shown_begin:shown_end])


def slices_of(sample: Sample, originals: Originals, secret: Secret, full: bool) -> list[TracedSlice]:
    """The released slices of utterances, in their places; the more slices an utterance has, the sooner it is taken."""
    rows = sample.rows.get("stt_am", {})
    cut = sorted((own for own in slices_by_utterance(rows, originals, secret).values()), key=len, reverse=True)
    chosen = [own for own in cut if len(own) > 1][: None if full else MAX_SLICED]
    return [
        TracedSlice(row["text"], number, place, heard(row))
        for number, own in enumerate(chosen)
        for place, row in enumerate(own)
    ]


def slices_by_utterance(
    rows: Mapping[str, Mapping[str, Any]], originals: Originals, secret: Secret
) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """(dialogue, utterance) -> its released slices, in order; `rows` are by id. An utterance without any is left out."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for utterance in (utterance for own in originals.values() for utterance in own):
        for number in range(len(rows)):
            row = rows.get(slice_id(secret, utterance, number))
            if row is None:
                break
            found.setdefault((utterance.dialogue_id, utterance.id), []).append(row)
    return found


def heard(row: Mapping[str, Any]) -> audio.Speech:
    """The sound of a released slice, decoded from the FLAC file in its row."""
    return audio.load(AudioRef("slice.flac"), lambda _: io.BytesIO(row["audio"]["bytes"]))
