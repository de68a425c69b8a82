"""An ear for single words: pocketsphinx listens for a keyword against everything else that could be said."""

from __future__ import annotations

from typing import Any

from sottovoce.models.speech import sphinx
from sottovoce.models.speech.audio import Speech


class Ear:
    """Knows the words of the dictionary that pocketsphinx carries; every name of a canary is one of them."""

    def __init__(self) -> None:
        self._decoder: Any = sphinx.new_decoder(dictionary=True, beam=1e-80, word_beam=1e-60)
        self._known: set[str] = set()

    def hears(self, word: str, speech: Speech) -> bool:
        if word not in self._known:
            self._decoder.add_keyphrase(word, word)
            self._known.add(word)
        sphinx.decode(self._decoder, word, sphinx.pcm_of(speech))
        return self._decoder.hyp() is not None
