"""What the phonetic voice claims, and what of the speaker is left under the options that it has."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.speech.voice import corpus_means

if TYPE_CHECKING:
    from sottovoce.models.speech.voice.phonetic import Phonetic

PARTS = {"rhythm": "rhythm and pauses", "melody": "pitch and voicing", "loudness": "loudness"}
NEAR = {"spectrum": "its spectrum, the mean of its kind taken out", "phones": "the phones that a network hears in it"}


def entry_of(voice: Phonetic, parameters: Mapping[str, Any]) -> LedgerEntry:
    """The line of the ledger; `parameters` are the voice's options with the values that they have."""
    if voice.from_text:
        return LedgerEntry(
            stage="voice",
            mechanism="phonetic, from text",
            says="The sound of each slice follows from its released text, its released id and the secret: nothing of a "
            "recording is in it, neither voice nor melody, loudness, tempo or pronunciation. Speech tells what its text "
            "tells, and no more; what holds for the texts of the run holds for their speech."
            + corpus_means.told(voice.pool),
            not_protected=("whatever the released texts tell: this voice hides who speaks, not what is said",),
            parameters=dict(parameters),
            assumptions=("the secret of the run is not known to the reader", "pool and dictionary are public"),
        )
    return LedgerEntry(
        stage="voice",
        mechanism="phonetic",
        says="Speech is made anew from its phones in the voice of a mix of public speakers; no spectrum of the source "
        "is said, and words to be masked are not spoken at all." + corpus_means.told(voice.pool),
        not_protected=(
            *_left_of(voice),
            "choice of words and of pronunciations, and how loud the utterance is as a whole",
            "speech that the transcript lacks vanishes; a wrong word in the transcript is spoken",
        ),
        parameters=dict(parameters),
    )


def _left_of(voice: Phonetic) -> Iterator[str]:
    shares = voice.public_shares
    if shares is None:
        yield (
            "how lengths, loudness and voicing of the sounds of one kind differ inside the utterance, the mean of each "
            "kind taken out: little of the speaker was found in it, none is not proved"
        )
    elif not shares.all_public:
        own = {said: 1 - getattr(shares, part) for part, said in PARTS.items()}
        left = ", ".join(f"of {said} {100 * share:.0f} %" for said, share in own.items() if share)
        yield (
            f"what is left of the prosody: {left} of their shape is the source's, by which several utterances of one "
            "person can be linked better than by chance"
        )
    if voice.sounds_drawn:
        yield (
            f"which of {voice.sounds_drawn} public sounds goes best with each sound of the source and with its neighbours, by "
            f"{NEAR[voice.follow]}, in which what is heard around a sound has a part: at most "
            f"{math.log2(voice.sounds_drawn):.1f} bits a sound; how much of that tells the speaker is measured, not proved"
        )
    if voice.versions > 1:
        yield (
            f"{voice.versions} versions of each utterance: no id links them, but their text does, and who takes them together "
            "hears what of the source is in all of them: draws are each version's own, so that the bits of a sound add up"
        )
