"""Text for the language model of speech recognition: single lines with nothing that joins them."""

from __future__ import annotations

from sottovoce.models.randomness import Secret
from sottovoce.models.records import TextLine, Utterance
from sottovoce.transforms.rows import Row, to_row
from sottovoce.transforms.sinks.replaced_text import ReplacedText


class TextSink(ReplacedText):
    record_type = TextLine

    @staticmethod
    def row(utterance: Utterance, secret: Secret) -> Row:
        name = secret.token("text line", utterance.dialogue_id, utterance.id)
        return to_row(name, utterance.source, TextLine(name, utterance.text, utterance.language))
