"""Examples for spoken language understanding: text, intent, and slots at their new places."""

from __future__ import annotations

from sottovoce.models.randomness import Secret
from sottovoce.models.records import SluExample, Utterance
from sottovoce.transforms.rows import Row, to_row
from sottovoce.transforms.sinks.replaced_text import ReplacedText


class SluSink(ReplacedText):
    record_type = SluExample

    @staticmethod
    def row(utterance: Utterance, secret: Secret) -> Row:
        name = secret.token("slu example", utterance.dialogue_id, utterance.id)
        example = SluExample(name, utterance.text, utterance.intent, utterance.slots, utterance.language)
        return to_row(name, utterance.source, example)
