"""Words of any language as phones that the phone network says: espeak-ng's IPA, each sound taken for the nearest one in English.

A rough reading: as if a speaker of English read the language aloud. `ipa.tsv` has the sounds; docs/languages.md says how well
what comes of it is understood. espeak-ng (GPL-3.0) is called as a program and is no part of this package: Debian's espeak-ng.
"""

from __future__ import annotations

import csv
import functools
import shutil
import subprocess
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from sottovoce.models.errors import RunError

_VOICES = {"fr": "fr-fr"}  # what espeak-ng calls otherwise
_OTHER_MANNER, _OTHER_VOICE, _OTHER_ROUNDING = 4.0, 0.8, 0.7
VOWELS = frozenset(["AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW"])


@dataclass(frozen=True)
class Sound:
    """A sound of IPA: its features, the phone of the network that is this sound, or the sounds it is made of."""

    kind: str
    features: tuple[str, str, str]
    phone: str
    made_of: tuple[str, ...]

    def distance(self, other: Sound) -> float:
        """How far apart two sounds of one kind are said, in steps of place or height; not for a vowel and a consonant."""
        first, second, third = zip(self.features, other.features, strict=True)
        apart = abs(float(first[0]) - float(first[1]))
        if self.kind == "vowel":
            return apart + abs(float(second[0]) - float(second[1])) + _OTHER_ROUNDING * (third[0] != third[1])
        return apart + _OTHER_MANNER * (second[0] != second[1]) + _OTHER_VOICE * (third[0] != third[1])


@functools.cache
def sounds() -> dict[str, Sound]:
    """{symbol: sound}, the table `ipa.tsv`; symbols are decomposed (NFD)."""
    lines = Path(__file__).with_name("ipa.tsv").read_text("utf-8").splitlines()
    rows = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t")
    return {
        unicodedata.normalize("NFD", row["symbol"]): Sound(
            row["kind"],
            (row["first"], row["second"], row["third"]),
            row["phone"] or "",
            tuple((row["as"] or "").split()),
        )
        for row in rows
    }


@functools.cache
def phones_of_sound(symbol: str) -> tuple[str, ...]:
    """The phones of the network for one symbol, the nearest one where it has none. KeyError for a symbol without a row."""
    sound = sounds()[symbol]
    if sound.made_of:
        return tuple(phone for part in sound.made_of for phone in phones_of_sound(part))
    if sound.phone:
        return (sound.phone,)
    known = [other for other in sounds().values() if other.phone and other.kind == sound.kind]
    return (min(known, key=sound.distance).phone,)


def phones_of_ipa(written: str) -> tuple[str, ...]:
    """Longest symbols first; stress, length and what has no row say nothing of their own."""
    text, at = unicodedata.normalize("NFD", written), 0
    found: list[str] = []
    while at < len(text):
        symbol = next((text[at : at + n] for n in (2, 1) if text[at : at + n] in sounds()), "")
        found += phones_of_sound(symbol) if symbol else ()
        at += max(1, len(symbol))
    return tuple(found)


def phones_of_word(word: str, language: str) -> tuple[str, ...]:
    """Nothing where espeak-ng says nothing."""
    return phones_of_ipa(_ipa(word, _VOICES.get(language, language)))


@functools.lru_cache(maxsize=1 << 14)
def _ipa(word: str, voice: str) -> str:
    program = shutil.which("espeak-ng")
    if program is None:
        raise RunError(
            "espeak-ng is not installed, which tells the sounds of other languages: apt-get install espeak-ng"
        )
    done = subprocess.run(
        [program, "-q", "--ipa", "-v", voice, "--stdin"],
        input=word,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    if done.returncode:
        raise RunError(f"espeak-ng has no voice {voice!r}")
    return done.stdout
