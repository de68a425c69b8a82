"""One trial: a learner is trained on some speech and tested on other people's; errors are counted for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sottovoce.models.errors import CorpusError, Refusal
from sottovoce.models.evaluation.learners import SpokenExample
from sottovoce.models.evaluation.metrics.word_errors import WordErrors
from sottovoce.models.settings import Spec
from sottovoce.models.speech.align.readings import as_said
from sottovoce.models.speech.lexicon import Lexicon
from sottovoce.models.text.edit_distance import edit_distance
from sottovoce.pipelines.studies.acoustic_sets import Clip


def try_out(
    learner: Spec, training: Sequence[Clip], tests: Mapping[str, Sequence[Clip]], seed: int
) -> dict[str, dict[str, WordErrors]]:
    """Errors in each test, by speaker. The language model is a loop over the words of the tests, all equally likely."""
    everything = [piece for test in tests.values() for piece in test]
    said = {text: _said(text) for text in {piece.text for piece in (*training, *everything)}}
    lexicon = Lexicon.of(word for words in said.values() for word in words)
    usable = {text for text, words in said.items() if words and all(word in lexicon for word in words)}
    vocabulary = sorted({word for piece in everything if piece.text in usable for word in said[piece.text]})
    if not vocabulary:
        raise CorpusError("no utterance of the test has a text that can be pronounced")
    made: Any = learner.make()
    made.setup()
    examples = [SpokenExample(piece.speech, said[piece.text]) for piece in training if piece.text in usable]
    recogniser = made.train(examples, lexicon, vocabulary, seed)
    found: dict[str, dict[str, WordErrors]] = {}
    for name, test in tests.items():
        own = found.setdefault(name, {})
        for piece in test:
            if piece.text in usable:
                wrong = _errors(said[piece.text], recogniser.hear(piece.speech))
                own[piece.speaker] = own.get(piece.speaker, WordErrors(0, 0)) + wrong
    return found


def _said(text: str) -> tuple[str, ...]:
    try:
        return as_said(text)
    except Refusal:
        return ()


def _errors(said: Sequence[str], heard: Sequence[str]) -> WordErrors:
    """ "a." and "a" are written alike."""
    wanted, got = ([word.rstrip(".") for word in words] for words in (said, heard))
    return WordErrors(edit_distance(wanted, got), len(wanted))
