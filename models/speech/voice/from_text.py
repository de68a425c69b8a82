"""Speech that follows from a text and keyed draws alone: `voice: {use: phonetic, from_text: true}`.

Theorem. The sound of a slice is a function of its released text, its released id and the secret of the run. Proof: `speak` is
given nothing else. The words are said as a public dictionary says them, with the lengths, melody, pauses and loudness that
the public pool's networks expect of them, in the voice of a pseudo-speaker drawn by the id; neither the recording nor its
alignment, nor the gender of its speaker, is an argument. So speech tells nothing of a person that its text does not tell:
whatever holds for the text (`rewrite: crowd`: epsilon for the speaker) holds for text and speech together, by post-processing.

The law that goes with it says every slice of a run again from the released files and the secret, byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Phone, Utterance, Word
from sottovoce.models.speech.align.readings import Piece, TextNotPronounceable, pieces
from sottovoce.models.speech.audio import Speech, level
from sottovoce.models.speech.lexicon import Lexicon
from sottovoce.models.speech.masked_words import MaskedWords
from sottovoce.models.speech.slice import Slice, slice_id, text_of
from sottovoce.models.speech.voice.opus_features import HOP, RATE_HZ
from sottovoce.models.speech.voice.phone_track import PhoneTrack, repaused, track_of, without_words
from sottovoce.models.speech.voice.prosody import Shared
from sottovoce.models.speech.voice.say_phones import PEAK, PseudoVoice, VoicedFrames, retimed, say

if TYPE_CHECKING:
    from sottovoce.models.speech.voice.phonetic import Phonetic

PUBLIC = Shared(np.zeros((1, 3), np.float32))  # of no source at all: the pool says everything
LEVEL, PAUSE_RATE = 0.05, 0.13


def words_of(text: str) -> tuple[Word, ...]:
    """The words as the dictionary says them; none lasts any time yet."""
    found = pieces(text)
    lexicon = Lexicon.of(word for piece in found for word in _said(piece))
    if any(word not in lexicon for piece in found for word in _said(piece)):
        raise TextNotPronounceable
    return tuple(
        Word(p.begin, p.end, 0.0, 0.0, 1.0, tuple(Phone(label, 0.0, 0.0) for label in lexicon.usual(_said(p))))
        for p in found
    )


def _said(piece: Piece) -> list[str]:
    return [slot[0] for slot in piece.forms[0]]


def planned(
    voice: Phonetic, words: Sequence[Word], left_out: frozenset[int], gap: int, secret: Secret, key: str
) -> PhoneTrack:
    """How the words will stand in time, with a silence of fixed length in place of those that must not be said."""
    return _timed(voice, without_words(track_of(words, 0), left_out, gap), secret, key)[0]


def _timed(
    voice: Phonetic, track: PhoneTrack, secret: Secret, key: str
) -> tuple[PhoneTrack, PseudoVoice, np.random.Generator]:
    draw = secret.generator("voice.from_text", key)
    weights = voice.parts["pseudo_speakers"].draw(secret, ("from_text", key))
    speaker = PseudoVoice.of(voice.parts["pool"], weights)
    paused = repaused(track, 1.0, PAUSE_RATE, draw)
    return retimed(voice.parts["network"], speaker, paused, PUBLIC, draw), speaker, draw


def speak(voice: Phonetic, text: str, secret: Secret, key: str) -> Speech:
    """All of the theorem: text, secret and key are all that the sound comes from."""
    said, speaker, draw = _timed(voice, track_of(words_of(text), 0), secret, key)
    features = say(voice.parts["network"], [VoicedFrames(0, said.frames, speaker)], said, PUBLIC, draw)
    samples = voice.parts["vocoder"].speak(features)
    spoken = np.repeat(said.speech, HOP)[: len(samples)]
    loud = LEVEL / max(level(samples[: len(spoken)][spoken]), 1e-9)
    gain = min(loud, PEAK / max(float(np.max(np.abs(samples))), 1e-9))
    return Speech((samples * gain).astype(np.float32), RATE_HZ)


def spoken_slices(
    voice: Phonetic,
    utterance: Utterance,
    words: Sequence[Word],
    groups: Sequence[tuple[int, int]],
    masked: MaskedWords,
    secret: Secret,
) -> tuple[Slice, ...]:
    """Each slice said by itself, from the text that will be released of it, under its own id."""
    texts = [text for group in groups if (text := text_of(utterance.text, words, group, masked))]
    return tuple(
        Slice(speak(voice, text, secret, slice_id(secret, utterance, number)), text)
        for number, text in enumerate(texts)
    )
