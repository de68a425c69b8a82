"""Text for the language model of speech recognition: single lines with nothing that joins them."""

from __future__ import annotations

from sottovoce.models.forget.whose import part_of_utterance
from sottovoce.models.randomness import Secret
from sottovoce.models.records import TextLine, Utterance
from sottovoce.transforms.sinks.sink import ReplacedText
from sottovoce.transforms.write.rows import Row, to_row


class TextSink(ReplacedText):
    """The sink `stt_lm`: every utterance is a line of its own."""

    record_type = TextLine
    holds = "single lines of text, for the language model of a recogniser"
    released = ("the number of lines, and every character of a line that no detector marked",)

    @staticmethod
    def row(utterance: Utterance, secret: Secret) -> Row:
        name = secret.token("text line", utterance.dialogue_id, utterance.id)
        line = TextLine(name, utterance.text, utterance.language)
        return to_row(name, utterance.source, line, part_of_utterance(secret, utterance))
