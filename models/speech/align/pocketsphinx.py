"""Alignment with pocketsphinx, whose package carries an English acoustic model: nothing to download.

Three passes over the same samples. A grammar of all the ways to say the text is decoded (wide beams); its words are then
aligned phone by phone; a free loop over all phones tells how well any speech at all would have fitted. The log likelihood
ratio per frame between the last two says whether the text is what was said. On request (`network`) a small network of our own,
which has heard other speech in another way, says the same of each phone, and both are added up: what one of them mishears the
other often does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sottovoce.models.errors import SettingsError
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.records import Phone, Word
from sottovoce.models.settings import require
from sottovoce.models.speech import sphinx
from sottovoce.models.speech.align.phone_judge import LABELS, Judge
from sottovoce.models.speech.align.readings import Grammar, grammar_of, pieces
from sottovoce.models.speech.align.refusals import AlignmentFailed, AlignmentMismatch, LanguageNotAligned
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.pronounce import Pronouncer

FRAME_S = 1 / sphinx.FRAMES_PER_S
FILLERS = ("<", "[")
PAUSE = -1  # in place of the number of a word
DOUBT_FRAMES = 5
PRONUNCIATIONS = 4  # of a word that the dictionary lacks: names are said in more ways than one
SAID_TOO = {"w.": ("D AH B Y UW", "D AH B AH Y UW", "D AH B Y AH")}  # ways to say it that the dictionary lacks
MOST_MISFITS = 1 / 2  # of a text's words: what fits worse is another text
WARY = 0.5  # share of the floors of words and phones under which all is left out, once something fits nowhere
IN_PAUSES = 2.0  # times as much as in words: there the network tells speech from noise where pocketsphinx does not


@dataclass(frozen=True, slots=True, repr=False)
class Segment:
    """A decoded word or pause in frames [begin, end), its phones, and how it fits against the free loop, in nats."""

    name: str
    begin: int
    end: int
    ratio: float  # per frame
    worst_phone: float  # of one phone as a whole
    phones: tuple[Phone, ...]

    @property
    def total(self) -> float:
        """How all of its frames together fit, in nats."""
        return self.ratio * (self.end - self.begin)

    @property
    def is_pause(self) -> bool:
        """Whether the decoder heard silence or noise there, and no word."""
        return self.name.startswith(FILLERS)


@dataclass
class PocketSphinx:
    """A misfit is what falls under a floor: mean and worst word in nats per frame, worst pause and phone as a whole.

    A text without one is kept whole. `misfits: refuse` turns an utterance with one away. With `leave_out` the words that do
    not fit, by floors that are then higher (WARY), and both words beside a pause that does not, are marked, and left out by
    the chain. Refused is then an utterance whose mean is too low, more than MOST_MISFITS of whose words are misfits, or in which
    something is said before its first word or after its last.
    A word of few frames may fit badly by chance, so each word is judged as if DOUBT_FRAMES more had fitted. A pause or a
    phone that fits badly for long is speech that the text does not have. docs/speech.md shows what the floors catch and
    what they cost. `model`: a folder that `sottovoce build align` wrote; without it, the package's own model. `network`: what
    the network's word counts beside pocketsphinx' own, nothing by default: it refuses fewer right texts, but fewer wrong ones too
    on some sets. Floors belong to it: with 2.0 they are -2.6, -5.4, -200 and -240.
    """

    floor: float = -1.0
    word_floor: float = -2.5
    pause_floor: float = -70.0
    phone_floor: float = -100.0
    misfits: Literal["leave_out", "refuse"] = "leave_out"
    model: str | None = None
    network: float = 0.0
    _judge: Judge | None = field(default=None, init=False, repr=False)
    _decoder: Any = field(default=None, init=False, repr=False)
    _pronouncer: Pronouncer | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        floors = (self.floor, self.word_floor, self.pause_floor, self.phone_floor)
        names = ("floor", "word_floor", "pause_floor", "phone_floor")
        require(*((floor <= 0, f"{name}: must be at most 0") for name, floor in zip(names, floors, strict=True)))
        require((self.network >= 0, "network: must be at least 0"))

    def setup(self) -> None:
        if self.model and not (Path(self.model) / "means").is_file():
            raise SettingsError(
                [f"align.model: {self.model} holds no acoustic model; make one with `sottovoce build align`"]
            )
        self._decoder = sphinx.new_decoder(dictionary=True, beam=1e-200, word_beam=1e-200, model=self.model)
        if not self.network:
            return
        self._judge = Judge()
        for word, ways in SAID_TOO.items():
            for number, phones in enumerate(ways, 2):
                self._decoder.add_word(f"{word}({number})", phones, update=False)

    def align(self, speech: Speech, text: str, language: str | None = None) -> tuple[Word, ...]:
        _refuse_unless_english(language)
        spoken = pieces(text)
        grammar = grammar_of([piece.forms for piece in spoken], self._known)
        segments = self._segments(sphinx.pcm_of(speech), grammar)
        owners = iter(grammar.owners([segment.name for segment in segments if not segment.is_pause]))
        owner_of = [PAUSE if segment.is_pause else next(owners) for segment in segments]
        misfits = self.misfits_in(segments, owner_of)
        words = []
        for index, piece in enumerate(spoken):
            own = [segment for segment, owner in zip(segments, owner_of, strict=True) if owner == index]
            word = _word(piece.begin, piece.end, own, speech.duration_s)
            words.append(replace(word, misfit=index in misfits))
        return tuple(words)

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="align",
            mechanism="pocketsphinx",
            says="Each word of the transcript is located in the speech. "
            + (
                "What does not fit, and the words beside it, are left out of text and speech; where too much does not, the "
                "utterance is refused."
                if self.misfits == "leave_out"
                else "Where the transcript does not fit, the utterance is refused."
            ),
            not_protected=(
                "words that are said but not written, where the misfit stays above the floors"
                + (", or reaches beyond the words beside it" if self.misfits == "leave_out" else ""),
            ),
            parameters={
                "misfits": self.misfits,
                "floor": self.floor,
                "word_floor": self.word_floor,
                "pause_floor": self.pause_floor,
                "phone_floor": self.phone_floor,
                "network": self.network,
            },
        )

    def _known(self, word: str) -> bool:
        """Whether the decoder can say the word; what the dictionary lacks is given a pronunciation."""
        if self._decoder.lookup_word(word) is not None:
            return True
        if not re.fullmatch(r"[a-z']*[a-z][a-z']*", word):
            return False
        self._pronouncer = self._pronouncer or Pronouncer()
        sounds = self._pronouncer.pronounce(word, best=PRONUNCIATIONS)
        for number, phones in enumerate(sounds, 1):
            self._decoder.add_word(word if number == 1 else f"{word}({number})", phones, update=False)
        return bool(sounds)

    def _segments(self, pcm: bytes, grammar: Grammar) -> list[Segment]:
        decoder = self._decoder
        decoder.add_fsg("text", decoder.create_fsg("text", 0, grammar.final, grammar.arcs))
        sphinx.decode(decoder, "text", pcm)
        heard = [_bare(segment.word) for segment in decoder.seg()] if decoder.hyp() is not None else []
        if not grammar.accepts([name for name in heard if not name.startswith(FILLERS)]):
            raise AlignmentFailed
        try:
            decoder.set_alignment()
        except RuntimeError:
            raise AlignmentFailed from None
        sphinx.decode(decoder, None, pcm)
        aligned = [
            (_bare(word.name), [(phone.name, phone.start, phone.duration, phone.score) for phone in word])
            for word in decoder.get_alignment()
        ]
        free = sphinx.free_scores(decoder, pcm)
        doubts = self.network * self._judge.ratios(pcm) if self._judge else None
        return [_segment(name, phones, free, doubts) for name, phones in aligned if phones]

    def misfits_in(self, segments: Sequence[Segment], owner_of: Sequence[int]) -> set[int]:
        """The words, by number, that are perhaps not what is said; `owner_of`: whose each segment is, or PAUSE. Refused is
        what does not fit as a whole or for the most part, and speech in a pause that is not between two words."""
        if sum(segment.total for segment in segments) < self.floor * sum(s.end - s.begin for s in segments):
            raise AlignmentMismatch
        found = self._under(1.0, segments, owner_of)
        if found and self.misfits == "leave_out":
            found = self._under(WARY, segments, owner_of)
        if len(found) > (MOST_MISFITS * len({*owner_of} - {PAUSE}) if self.misfits == "leave_out" else 0):
            raise AlignmentMismatch
        return found

    def _under(self, share: float, segments: Sequence[Segment], owner_of: Sequence[int]) -> set[int]:
        """The words under that share of their floors, and those beside a pause under its own."""
        said, found = [owner for owner in owner_of if owner != PAUSE], set[int]()
        for at, (segment, owner) in enumerate(zip(segments, owner_of, strict=True)):
            if owner == PAUSE and segment.total < self.pause_floor:
                place = at - sum(one == PAUSE for one in owner_of[:at])
                if place in (0, len(said)):
                    raise AlignmentMismatch
                found |= {said[place - 1], said[place]}
            elif owner != PAUSE and self._is_misfit(segment, share):
                found.add(owner)
        return found

    def _is_misfit(self, word: Segment, share: float) -> bool:
        fit = word.total / (word.end - word.begin + DOUBT_FRAMES)
        return fit < share * self.word_floor or word.worst_phone < share * self.phone_floor


def _refuse_unless_english(language: str | None) -> None:
    if language and re.split(r"[-_]", language.lower())[0] not in ("en", "eng", "english"):
        raise LanguageNotAligned


def _bare(name: str) -> str:
    return re.sub(r"\(\d+\)$", "", name)


def _segment(
    name: str, phones: Sequence[tuple[str, int, int, float]], free: np.ndarray, doubts: np.ndarray | None
) -> Segment:
    fits = [(score - float(free[start : start + length].sum())) * sphinx.NATS for _, start, length, score in phones]
    if doubts is not None:
        share = IN_PAUSES if name.startswith(FILLERS) else 1.0
        fits = [
            fit + share * float(doubts[start : start + length, LABELS.get(label, 0)].sum())
            for fit, (label, start, length, _) in zip(fits, phones, strict=True)
        ]
    sounds = tuple(Phone(label, start * FRAME_S, (start + length) * FRAME_S) for label, start, length, _ in phones)
    begin, end = phones[0][1], phones[-1][1] + phones[-1][2]
    return Segment(name, begin, end, sum(fits) / (end - begin), min(fits), sounds)


def _word(begin: int, end: int, segments: Sequence[Segment], duration_s: float) -> Word:
    frames = sum(segment.end - segment.begin for segment in segments)
    ratio = sum(segment.total for segment in segments) / frames
    phones = tuple(phone for segment in segments for phone in segment.phones)
    end_s = min(phones[-1].end_s, duration_s)
    return Word(begin, end, phones[0].begin_s, end_s, float(np.exp(min(ratio, 0.0))), phones)
