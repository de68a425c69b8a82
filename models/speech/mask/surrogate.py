"""Say another word where a sensitive one stood: the surrogate that the text sinks would draw, in the pseudo-speaker's voice.

Recognisers that are trained on speech without names cannot hear names. Here the text is rewritten before the voice speaks,
with the keyed draws of `replace` and without its coin: no sensitive word is kept by chance. The sound of the old words is
cut out of the recording, so that nothing later can depend on it, not even on how long it was. The new words stand at the
cut, without any time of their own: a voice that speaks from phones gives them what lengths and melody it expects of them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Edit, Phone, Word
from sottovoce.models.speech.align.readings import Piece, TextNotPronounceable, pieces
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.lexicon import Lexicon
from sottovoce.models.speech.mask import BeforeVoice
from sottovoce.models.speech.mask.fill import Silence
from sottovoce.models.speech.masked_words import MaskedWords, mark
from sottovoce.models.speech.spoken import Spoken

PLACEHOLDER = re.compile(r"\[[^\]]*\]")  # what `replace` writes for a type that it has no values of: nothing to say
SHORTEST_S = 0.2  # of what is left of a recording
NOTHING_MASKED = MaskedWords(frozenset(), (), ())


@dataclass(frozen=True)
class Surrogate(Silence, BeforeVoice):
    """The options are those of silence, which stands wherever nobody speaks: in `sottovoce mask` and in its studies."""

    def respoken(self, spoken: Spoken, edits: Sequence[Edit]) -> Spoken:
        utterance, words = spoken.utterance, spoken.words
        marked = mark(utterance.text, utterance.spans, words)
        edits = [dataclasses.replace(edit, replacement=PLACEHOLDER.sub("", edit.replacement)) for edit in edits]
        text, places = _rewritten(utterance.text, edits, [w for n, w in enumerate(words) if n not in marked.indices])
        found = pieces(text)
        kept = {place: word for place, word in places.items() if place in {(p.begin, p.end) for p in found}}
        gone = [word for word in words if word not in kept.values()]
        cuts = list(_stretches(words, set(map(id, gone))))
        said = tuple(_words(found, kept, cuts))
        new = dataclasses.replace(utterance, text=text, spans=(), slots=())
        return dataclasses.replace(
            spoken, utterance=new, speech=_without(spoken.speech, cuts), words=said, masked=NOTHING_MASKED
        )

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="mask",
            mechanism="surrogate",
            says="Sensitive words are cut out of the speech and the text before the voice speaks; where they stood it says "
            "surrogates, drawn with the secret as `replace` draws them, and no coin keeps a word",
            not_protected=(
                "words that no detector found",
                "of what type a removed word was, which its surrogate tells; drawn by chance, it may be the word itself",
                "what the remaining words tell about the removed ones",
            ),
            parameters={name: getattr(self, name) for name in self.__dataclass_fields__},
            assumptions=("the aligner places each sensitive word where it is said",),
        )


def _rewritten(text: str, edits: Sequence[Edit], words: Sequence[Word]) -> tuple[str, dict[tuple[int, int], Word]]:
    """The new text, and where in it each of these words stands, none of which an edit touches."""
    edits = sorted(edits, key=lambda edit: edit.begin)
    out, at = [], 0
    for edit in edits:
        out += [text[at : edit.begin], edit.replacement]
        at = edit.end
    places = {}
    for word in words:
        shift = sum(len(e.replacement) - (e.end - e.begin) for e in edits if e.end <= word.begin)
        places[word.begin + shift, word.end + shift] = word
    return "".join([*out, text[at:]]), places


def _stretches(words: Sequence[Word], gone: Collection[int]) -> Iterator[tuple[float, float]]:
    """Times from the begin of the first to the end of the last of neighbouring words that are gone, pauses included."""
    for is_gone, run in groupby(words, key=lambda word: id(word) in gone):
        if is_gone:
            own = list(run)
            yield own[0].begin_s, own[-1].end_s


def _words(
    found: Sequence[Piece], kept: dict[tuple[int, int], Word], cuts: Sequence[tuple[float, float]]
) -> Iterator[Word]:
    """The words of the new text on the clock of what is left. A surrogate lasts no time: it was never said."""
    lexicon = Lexicon.of(word for piece in found if (piece.begin, piece.end) not in kept for word in _said(piece))
    at_s, now_s = 0.0, 0.0  # in the old recording, in the new one
    for piece in found:
        word = kept.get((piece.begin, piece.end))
        if word is not None:
            moved_s = -sum(end_s - begin_s for begin_s, end_s in cuts if end_s <= word.begin_s)
            phones = tuple(_moved(phone, moved_s) for phone in word.phones)
            word = dataclasses.replace(_moved(word, moved_s), begin=piece.begin, end=piece.end, phones=phones)
            at_s, now_s = word.end_s - moved_s, word.end_s
            yield word
            continue
        if any(one not in lexicon for one in _said(piece)):
            raise TextNotPronounceable
        begins = [begin_s for begin_s, _ in cuts if begin_s >= at_s]
        then_s = now_s + (min(begins) - at_s if begins else 0.0)
        sounds = tuple(Phone(label, then_s, then_s) for label in lexicon.usual(_said(piece)))
        yield Word(piece.begin, piece.end, then_s, then_s, 1.0, sounds)


def _said(piece: Piece) -> list[str]:
    return [slot[0] for slot in piece.forms[0]]


def _moved(timed: Any, by_s: float) -> Any:
    return dataclasses.replace(timed, begin_s=timed.begin_s + by_s, end_s=timed.end_s + by_s)


def _without(speech: Speech, cuts: Sequence[tuple[float, float]]) -> Speech:
    left = np.ones(len(speech.samples), bool)
    for begin_s, end_s in cuts:
        left[round(begin_s * speech.rate_hz) : round(end_s * speech.rate_hz)] = False
    samples = speech.samples[left]
    missing = round(SHORTEST_S * speech.rate_hz) - len(samples)
    return Speech(np.pad(samples, (0, max(missing, 0))), speech.rate_hz)
