"""Examples for spoken language understanding: text, intent, and slots at their new places."""

from __future__ import annotations

from sottovoce.models.forget.whose import part_of_utterance
from sottovoce.models.randomness import Secret
from sottovoce.models.records import SluExample, Utterance
from sottovoce.transforms.sinks.sink import ReplacedText
from sottovoce.transforms.write.rows import Row, to_row


class SluSink(ReplacedText):
    """The sink `slu`: every utterance is an example of its own."""

    record_type = SluExample
    holds = "text with intent and slots, for language understanding"
    released = (
        "the number of examples, and every character that no detector marked",
        "the intent label of each example, and the name and place of each slot",
    )

    @staticmethod
    def row(utterance: Utterance, secret: Secret) -> Row:
        name = secret.token("slu example", utterance.dialogue_id, utterance.id)
        example = SluExample(name, utterance.text, utterance.intent, utterance.slots, utterance.language)
        return to_row(name, utterance.source, example, part_of_utterance(secret, utterance))
