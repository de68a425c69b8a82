"""Speech made anew from its phones: nothing of the speaker's spectrum passes.

The aligned phones, with as much of the source's prosody as `prosody` says, are said by the phone network in the voice of a
pseudo-speaker (a mix of pool speakers drawn with the run's secret), and FARGAN makes the sound. Pauses, breath and
background become one and the same silence. Words that must not be said are not synthesised: a silence of fixed length
stands where they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np

from sottovoce.models.errors import Refusal
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance, Word
from sottovoce.models.settings import require
from sottovoce.models.speech.align.phone_judge import Judge
from sottovoce.models.speech.audio import Speech, resample
from sottovoce.models.speech.audio_refusals import AudioNotFinite
from sottovoce.models.speech.masked_words import mark
from sottovoce.models.speech.voice import Slices, SpeaksFromPhones, Voiced, corpus_means, public_sounds
from sottovoce.models.speech.voice import from_text as said_from_text
from sottovoce.models.speech.voice import pool as pools
from sottovoce.models.speech.voice.departures import Departures
from sottovoce.models.speech.voice.fargan import Fargan
from sottovoce.models.speech.voice.opus_features import FEATURES, HOP, RATE_HZ, Analysis
from sottovoce.models.speech.voice.phone_track import (
    SILENCE,
    PhoneTrack,
    cut_out,
    moved_words,
    repaused,
)
from sottovoce.models.speech.voice.phonetic_ledger import entry_of
from sottovoce.models.speech.voice.prosody import USUAL, PublicShares, Shared, SourceProsody, source_prosody
from sottovoce.models.speech.voice.pseudo_speaker import PseudoSpeakerOptions, PseudoSpeakers, draw_key
from sottovoce.models.speech.voice.public_sounds import Follow, phones_heard_in, spectral_departures
from sottovoce.models.speech.voice.say_phones import PEAK, PseudoVoice, VoicedFrames, retimed, say, speech_level

PAUSE_RATE = 0.13  # of the borders between words: as often as LibriSpeech's and AN4's speakers pause
USUAL_LEVEL = 0.05  # where nothing of the source is left to take the level of
SOUNDS_DRAWN = 64
LEFT_OUT_FRAMES = 30  # of silence in place of words that are not said, however long they were


class PhonesMissing(Refusal):
    code = "voice_needs_phones"
    allowed = "speech with a transcript and an aligner that gives the phones of each word, such as align: pocketsphinx"


class NothingToSay(Refusal):
    code = "nothing_to_say"
    allowed = "speech of which at least one word is not masked"


@dataclass(frozen=True, repr=False)
class Analysed:
    """An utterance, its speech, and the features that the vocoder's analysis found in it."""

    utterance: Utterance
    speech: Speech
    features: np.ndarray


@dataclass(frozen=True)
class Phonetic(PseudoSpeakerOptions, SpeaksFromPhones):
    """Without further options all prosody is the pool's, and each sound is said as true public sounds are, not as a mean.

    `prosody`: the share of loudness, pitch, voicing, lengths and pauses that comes from the pool, 0 to 1; or
    `departures`: all of it, and what the source does otherwise with lengths, loudness and voicing, freed of its habits.
    `rhythm` (lengths and pauses), `melody` (pitch and voicing), `loudness`: the share of each, where it is not `prosody`.
    Where it is given, or `from_text` is, `nearest` is 0 unless that is given, too: at `prosody: 1` nothing of the source passes.

    `assign: slice` gives every slice a voice of its own: one voice for an utterance would join its slices again. Where
    nothing is sliced it is one voice for an utterance.
    `nearest`: each sound is said as the nearest of so many public ones, drawn for it (`public_sounds.py`); 0: as the network
    expects it. `follow`: what is near, the phones that a network hears in it or the spectrum less its habits. `depth`: how
    far on the way from what the network expects to the public sound; `joins`: what a jump between two sounds counts.
    `versions`: so many times each utterance is said and released, each with draws of its own.
    `pool` is a folder that `sottovoce build voice` wrote; without it, the pool that ships.
    """

    prosody: float | Literal["departures"] | None = None
    rhythm: float | None = None
    melody: float | None = None
    loudness: float | None = None
    nearest: int | None = None
    follow: Follow = "phones"
    joins: float = 1.0
    depth: float = 0.6
    versions: int = 1
    assign: Literal["slice", "utterance", "speaker"] = "slice"
    pool: str | None = None
    from_text: bool = False  # every slice from its released text and the secret alone (`from_text.py`)
    looks_at_source: ClassVar[bool] = False  # a subclass may choose its target by the source's own voice
    _parts: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            (
                self.public_shares is None or self.public_shares.are_shares,
                "prosody, rhythm, melody, loudness: must lie in [0, 1]; prosody may be departures",
            ),
            (
                self.prosody != "departures" or not self._said_parts,
                "rhythm, melody, loudness: none with prosody: departures",
            ),
            (0 <= self.sounds_drawn <= 1000, "nearest: must lie in [0, 1000]"),
            (
                0 <= self.depth <= 1 and self.joins >= 0,
                "depth, joins: depth must lie in [0, 1], joins must be at least 0",
            ),
            (1 <= self.versions <= 10, "versions: must lie in [1, 10]"),
            (not self.from_text or self.versions == 1, "versions: with from_text, 1 alone"),
            (
                not self.from_text or not self._takes_from_source,
                "from_text: needs prosody: 1, nearest: 0, assign: slice and gender: random, which take nothing from the source",
            ),
            (self.drawn >= 2, "drawn: must be at least 2, or a pseudo-speaker would be a real one"),
            (
                self.looks_at_source or not self.needs_source_embedding,
                "proximity: near and far would look at the source; allowed: dense, sparse, random",
            ),
        )

    @property
    def public_shares(self) -> PublicShares | None:
        """Of rhythm, melody and loudness; None where departures of the source are added to all of the pool's."""
        if self.prosody == "departures":
            return None
        of_all = USUAL if self.prosody is None and not self.from_text else PublicShares.alike(self.prosody)
        return replace(of_all, **self._said_parts)

    @property
    def _said_parts(self) -> dict[str, float]:
        said = {part: getattr(self, part) for part in ("rhythm", "melody", "loudness")}
        return {part: share for part, share in said.items() if share is not None}

    @property
    def sounds_drawn(self) -> int:
        """`nearest`, or what it is where nobody says."""
        if self.nearest is not None:
            return self.nearest
        return SOUNDS_DRAWN if self.prosody is None and not self.from_text else 0

    def setup(self) -> None:
        pool = pools.load(self.pool)
        self._parts.update(
            analysis=Analysis(), pool=pool, pseudo_speakers=PseudoSpeakers(self, pool),
            network=corpus_means.network_of(self.pool), vocoder=Fargan(),
        )  # fmt: skip
        if self.sounds_drawn:
            self._parts.update(sounds=public_sounds.load(self.pool, self.follow), judge=Judge())

    def choosing(self, **options: Any) -> Phonetic:
        """The same voice, loaded as it is, with another choice of pseudo-speakers: distance, proximity, gender."""
        other = replace(self, **options)
        other._parts.update(self._parts, pseudo_speakers=PseudoSpeakers(other, self._parts["pool"]))
        return other

    def transform(
        self, utterance: Utterance, speech: Speech, words: Sequence[Word], secret: Secret, slices: Slices | None = None
    ) -> Voiced:
        draws = [secret, *(Secret(secret.digest("version", number)) for number in range(1, self.versions))]
        first, *others = (self._said(utterance, speech, words, own, slices) for own in draws)
        return replace(first, others=tuple(others))

    def _said(
        self, utterance: Utterance, speech: Speech, words: Sequence[Word], secret: Secret, slices: Slices | None
    ) -> Voiced:
        if not np.isfinite(speech.samples).all():
            raise AudioNotFinite
        if not words or not all(word.phones for word in words):
            raise PhonesMissing
        if self.from_text:
            return self._from_text(utterance, secret, slices)
        left_out = mark(utterance.text, utterance.spans, words).indices
        speech, track, heard_words = cut_out(speech, words, left_out, LEFT_OUT_FRAMES)
        if not (track.phone != SILENCE).any():
            raise NothingToSay
        features = self._features(speech, heard_words.frames)
        draw = secret.generator("voice.phonetic", utterance.dialogue_id, utterance.id)
        heard = Analysed(utterance, speech, features)
        voice = self._pseudo_speaker(heard, secret)
        prosody = source_prosody(features, heard_words)
        source, followed = self._source(prosody, track), self._followed(heard, prosody, track)
        track = repaused(track, source.public_pauses, PAUSE_RATE, draw)
        said = retimed(self._parts["network"], voice, track, source, draw)
        moved = moved_words(words, said)
        parts = [VoicedFrames(0, said.frames, voice)]
        if self.assign == "slice" and slices is not None:
            parts = self._cast(heard, secret, said, slices(moved, mark(utterance.text, utterance.spans, moved)))
        sounds = None
        if followed is not None:
            sounds = self._parts["sounds"].said(
                said, followed, self.sounds_drawn, draw, self.joins, self.depth, self.follow
            )
        samples = self._parts["vocoder"].speak(say(self._parts["network"], parts, said, source, draw, sounds))
        loud = speech_level(resample(speech, RATE_HZ).samples, heard_words) or USUAL_LEVEL
        loud /= max(speech_level(samples, said), 1e-9)
        gain = min(loud, PEAK / max(float(np.max(np.abs(samples))), 1e-9))
        return Voiced(Speech((samples * gain).astype(np.float32), RATE_HZ), moved, unsaid=True)

    def _features(self, speech: Speech, frames: int) -> np.ndarray:
        """[frames, 20]; none are looked for where nothing of them would pass."""
        shares = self.public_shares
        told = shares is None or min(shares.melody, shares.loudness) < 1
        if self.looks_at_source or told or (self.sounds_drawn and self.follow == "spectrum"):
            found: np.ndarray = self._parts["analysis"](speech)
            return found[np.minimum(np.arange(frames), len(found) - 1)]
        return np.zeros((frames, FEATURES))

    @property
    def _takes_from_source(self) -> bool:
        public = self.public_shares is not None and self.public_shares.all_public
        drawn = public and self.sounds_drawn == 0 and self.assign == "slice" and self.gender == "random"
        return self.looks_at_source or not drawn

    @property
    def parts(self) -> dict[str, Any]:
        """Pool, networks and vocoder, once set up."""
        return self._parts

    def _from_text(self, utterance: Utterance, secret: Secret, slices: Slices | None) -> Voiced:
        words = said_from_text.words_of(utterance.text)
        left_out = mark(utterance.text, utterance.spans, words).indices
        if len(left_out) == len(words):
            raise NothingToSay
        key = secret.token("planned", utterance.dialogue_id, utterance.id)
        said = said_from_text.planned(self, words, left_out, LEFT_OUT_FRAMES, secret, key)
        moved = moved_words(words, said)
        masked = mark(utterance.text, utterance.spans, moved)
        groups = slices(moved, masked) if slices is not None else [(0, len(moved) - 1)]
        made = said_from_text.spoken_slices(self, utterance, moved, groups, masked, secret)
        # What is masked and listened to after this is the plan; what is released are the slices as they are.
        speech = Speech(np.zeros(said.frames * HOP, np.float32), RATE_HZ)
        return Voiced(speech, moved, unsaid=True, slices=made)

    def _source(self, prosody: np.ndarray, track: PhoneTrack) -> SourceProsody:
        if self.public_shares is not None:
            return Shared(prosody, self.public_shares)
        return Departures.of(self._parts["network"], self._middle, prosody, track)

    def _followed(self, heard: Analysed, prosody: np.ndarray, track: PhoneTrack) -> np.ndarray | None:
        if not self.sounds_drawn:
            return None
        if self.follow == "phones":
            return phones_heard_in(self._parts["judge"], heard.speech, track)
        return spectral_departures(self._parts["network"], self._middle, heard.features, prosody, track)

    @property
    def _middle(self) -> np.ndarray:
        return self._parts["pool"].voice.mean(axis=0).astype(np.float32)

    def _pseudo_speaker(self, heard: Analysed, secret: Secret, *slice_number: str) -> PseudoVoice:
        key = (*draw_key(heard.utterance, self.assign), *slice_number)
        weights = self._parts["pseudo_speakers"].draw(secret, key, source_gender=heard.utterance.gender)
        return PseudoVoice.of(self._parts["pool"], weights)

    def _cast(
        self, heard: Analysed, secret: Secret, said: PhoneTrack, groups: Sequence[tuple[int, int]]
    ) -> list[VoicedFrames]:
        """A pseudo-speaker for each slice, from its first word to the next slice's."""
        firsts = [int(said.begin[np.flatnonzero(said.word == first)[0]]) for first, _ in groups]
        begins = [0, *firsts[1:]]
        ends = [*begins[1:], said.frames]
        return [
            VoicedFrames(begin, end, self._pseudo_speaker(heard, secret, str(number)))
            for number, (begin, end) in enumerate(zip(begins, ends, strict=True))
        ]

    def ledger(self) -> LedgerEntry:
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        shares = {} if self.public_shares is None else asdict(self.public_shares)
        return entry_of(self, own | {"nearest": self.sounds_drawn} | shares)
