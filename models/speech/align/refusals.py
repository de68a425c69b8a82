"""Why an aligner turns an utterance away."""

from __future__ import annotations

from sottovoce.models.errors import Refusal


class AlignmentFailed(Refusal):
    code = "alignment_failed"
    allowed = "speech in which every word of the text can be placed"


class AlignmentMismatch(Refusal):
    code = "alignment_mismatch"
    allowed = "speech that says what the text says, within the aligner's floors"


class LanguageNotAligned(Refusal):
    code = "language_not_supported"
    allowed = "a language that the aligner's model knows (pocketsphinx: English)"
