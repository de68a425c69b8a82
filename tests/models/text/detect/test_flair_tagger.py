"""flair: a tagger trained on the spot, saved, loaded and asked again."""

import pytest
from any_text import any_text, check_spans
from hypothesis import HealthCheck, given, settings

from sottovoce.models.text.detect.flair_tagger import Flair

pytestmark = pytest.mark.slow  # importing flair alone takes seconds


@pytest.fixture(scope="module")
def folder(labelled_file, tmp_path_factory):
    from sottovoce.models.text.detect.builder.build import build
    from sottovoce.models.text.detect.builder.recipe import read_recipe

    out = tmp_path_factory.mktemp("flair")
    recipe = read_recipe(
        {
            "augmentation": {"swap": 0.0, "say_digits": 0.0, "drop_punctuation": 0.0},
            "corpora": {"mine": {"hold_out": 0.2}},
            "train": {"epochs": 4, "hidden": 32, "word_dimensions": 16, "learning_rate": 0.02},
        }
    )
    measured = build([labelled_file], recipe, "flair", out, None, lambda line: None)
    assert measured["mine"]["recall"] > 0.9
    return out


@pytest.fixture(scope="module")
def detector(folder):
    made = Flair(model=str(folder / "model.pt"), device="cpu", trust=True)
    made.setup()
    return made


def test_the_loaded_tagger_finds_what_it_learnt(detector):
    text = "my name is elena and hugo lives in oslo"
    found = [(text[s.begin : s.end], s.type) for s in detector.detect([text])[0]]
    assert ("elena", "PER") in found
    assert ("oslo", "LOC") in found


def test_a_second_save_and_load_repeats_every_prediction(detector, tmp_path):
    detector._tagger.save(tmp_path / "again.pt")
    again = Flair(model=str(tmp_path / "again.pt"), device="cpu", trust=True)
    again.setup()
    texts = ["call anna now", "what is the weather in lima", "unknown words zzz", "farid lives in delhi"]
    assert again.detect(texts) == detector.detect(texts)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_text)
def test_offsets_hold_for_any_text(detector, text):
    check_spans(text, detector.detect([text])[0])
