"""Every learner: right transcripts teach, wrong ones do not; what it starts from and what it needs is said."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence

import pytest
from spoken_corpus import LETTERS, WORDS, commands, say

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.evaluation import learners
from sottovoce.models.evaluation.learners import SpokenExample
from sottovoce.models.evaluation.metrics.word_errors import WordErrors
from sottovoce.models.settings import read_spec
from sottovoce.models.speech.lexicon import Lexicon
from sottovoce.models.text.edit_distance import edit_distance

SPECS = {"map": "map", "ctc": {"use": "ctc", "steps": 150, "batch": 8, "rate": 5e-3}}
VOCABULARY = {"map": LETTERS, "ctc": WORDS}  # a ready model needs harder words to make errors at all


def spoken(words: Sequence[str], voices: Sequence[str], count: int, seed: int) -> list[SpokenExample]:
    return [SpokenExample(say(said, voice), said) for voice in voices for said in commands(count, 3, seed, words)]


@pytest.fixture(params=learners.TABLE)
def name(request) -> str:
    return request.param


@pytest.fixture
def learner(name: str):
    made = read_spec("learners", SPECS[name]).make()
    try:
        made.setup()
    except RunError as missing:
        pytest.skip(str(missing))
    return made


def error_rate(recogniser, test: list[SpokenExample]) -> float:
    found = [WordErrors(edit_distance(one.words, recogniser.hear(one.speech)), len(one.words)) for one in test]
    return sum(found, WordErrors(0, 0)).rate


@pytest.mark.slow
def test_right_transcripts_teach_more_than_shuffled_ones(learner, name: str) -> None:
    words, lexicon = VOCABULARY[name], Lexicon.of(VOCABULARY[name])
    training, test = spoken(words, ("awb", "rms", "slt"), 20, 1), spoken(words, ("kal16",), 12, 2)
    said = [one.words for one in training]
    random.Random(0).shuffle(said)
    wrong = [SpokenExample(one.speech, shuffled) for one, shuffled in zip(training, said, strict=True)]
    right = error_rate(learner.train(training, lexicon, words, 0), test)
    assert right < error_rate(learner.train(wrong, lexicon, words, 0), test)
    assert right < 0.6


@pytest.mark.slow
def test_the_same_seed_gives_the_same_words_again(learner) -> None:
    if hasattr(learner, "steps"):
        learner = dataclasses.replace(learner, steps=10)
    training = spoken(WORDS, ("awb", "slt"), 3, 0)
    first, second = (learner.train(training, Lexicon.of(WORDS), WORDS, 1) for _ in range(2))
    assert [first.hear(one.speech) for one in training] == [second.hear(one.speech) for one in training]


@pytest.mark.slow
def test_only_a_ready_learner_can_do_without_examples(learner) -> None:
    if not learner.ready:
        with pytest.raises(SettingsError, match="at least one is needed"):
            learner.train([], Lexicon.of(WORDS), WORDS, 0)
        return
    ready = learner.train([], Lexicon.of(WORDS), WORDS, 0)
    assert error_rate(ready, spoken(WORDS, ("slt",), 3, 0)) < 0.3


def test_absent_programs_are_named_with_the_line_that_installs_them(tmp_path) -> None:
    with pytest.raises(RunError, match=r"bw is not installed; apt-get install sphinxtrain sphinxbase-utils"):
        read_spec("learners", {"use": "map", "programs": str(tmp_path)}).make().setup()
    with pytest.raises(SettingsError, match="allowed: map, ctc"):
        read_spec("learners", "whisper")
