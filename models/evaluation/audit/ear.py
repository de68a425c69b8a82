"""An ear for single words: pocketsphinx listens for keywords against everything else that could be said."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any

from sottovoce.models.speech import sphinx
from sottovoce.models.speech.audio import Speech


class Ear:
    """Listens for each of `words` in one pass; they are words of the dictionary that pocketsphinx carries."""

    def __init__(self, words: Sequence[str]) -> None:
        self._decoder: Any = sphinx.new_decoder(dictionary=True, beam=1e-80, word_beam=1e-60)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as phrases:
            phrases.write("".join(f"{word}\n" for word in words))
            phrases.flush()
            self._decoder.add_kws("words", phrases.name)

    def heard(self, speech: Speech) -> frozenset[str]:
        sphinx.decode(self._decoder, "words", sphinx.pcm_of(speech))
        return frozenset(word for word, *_ in sphinx.segments(self._decoder)) if self._decoder.hyp() else frozenset()
