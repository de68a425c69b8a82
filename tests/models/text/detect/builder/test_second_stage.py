"""What the second stage of training adds: case, errors, small dev sets, a bias by type, and a start from int8 weights."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from sottovoce.models import settings
from sottovoce.models.errors import RunError
from sottovoce.models.text import detect
from sottovoce.models.text.detect.builder import letter_case, noise
from sottovoce.models.text.detect.builder.build import Tuning
from sottovoce.models.text.detect.builder.corpora import TaggedExample, stretches
from sottovoce.models.text.detect.builder.dev_sets import dev_sets
from sottovoce.models.text.detect.builder.recipe import templates
from sottovoce.models.text.detect.tagger import Tagger

SAID = TaggedExample(
    ("i", "met", "anna", "smith", "in", "oslo", "on", "monday"),
    ("O", "O", "B-PER", "I-PER", "O", "B-LOC", "O", "B-DATE"),
)


def test_case_changes_letters_and_nothing_else():
    seen = {letter_case.varied(SAID, (1,), np.random.default_rng(seed)) for seed in range(200)}
    assert all([word.lower() for word in words] == list(SAID.tokens) for words in seen)
    assert {
        SAID.tokens,
        ("I", "Met", "Anna", "Smith", "in", "Oslo", "on", "Monday"),
        tuple(map(str.upper, SAID.tokens)),
    } <= seen


def test_errors_keep_every_label_on_its_value():
    for seed in range(300):
        rough = noise.added(SAID, np.random.default_rng(seed))
        assert len(rough.tokens) == len(rough.labels)
        assert {kind for _, _, kind in stretches(rough.labels)} == {"PER", "LOC", "DATE"}
    assert noise.added(TaggedExample((), ()), np.random.default_rng(0)).tokens == ()


def test_dev_sets_are_read_with_their_punctuation_and_repeat_no_template():
    sets = dev_sets()
    places = {"taxi", "cinema", "booking", "words", "commands", "hard"}
    assert places | {"lasting", "numbers", "codes", "addresses", "people", "nothing"} == set(sets)
    assert not any(example.has_entity() for name in ("commands", "numbers", "nothing") for example in sets[name])
    hard = {example.text: example.labels for example in sets["hard"]}
    assert hard["My name is Saoirse O'Brien."] == ("O", "O", "O", "B-PER", "I-PER")
    assert not {example.text for own in sets.values() for example in own} & set(templates())


def test_the_recipe_names_the_seeds_and_the_bias_that_ship():
    values = yaml.safe_load(
        (Path(detect.__file__).parents[3] / "runner_configs/detect/second_stage_tagger.yaml").read_text()
    )
    tuning = settings.build(Tuning, values["tune"], "tune")
    kept = json.loads((Path(detect.__file__).parent / "weights" / "tagger.json").read_text())
    assert tuning.seeds == kept["seeds"] and tuning.bias + tuning.raised == kept["outside_bias"]


@pytest.mark.slow  # the fixture trains a network
def test_a_bias_by_type_costs_no_more_than_none(tiny_tagger):
    from sottovoce.models.text.detect.builder.tune_types import _cost, _read, tune_types
    from sottovoce.models.text.detect.rules import Rules

    tagger = Tagger(model=str(tiny_tagger))
    tagger.setup()
    dev = {"words": dev_sets()["words"][:12]}
    offsets, cost = tune_types(tagger, dev, 4.0, 0.0)
    names = tagger.network("en").names
    plain = _cost([_read(tagger, Rules(), dev["words"], names)], names, dict.fromkeys(offsets, 0.0), 0.0, 4.0)
    assert cost <= plain


@pytest.mark.slow
def test_training_goes_on_from_the_weights_of_a_tagger(tiny_encoder, tiny_tagger):
    torch = pytest.importorskip("torch")
    from sottovoce.models.text.detect.builder.start import start_from
    from sottovoce.models.text.detect.builder.transformer import WordClassifier, load_encoder
    from sottovoce.models.text.detect.pieces import Pieces
    from sottovoce.models.text.detect.tagger import load

    network = load(tiny_tagger)
    model = WordClassifier(load_encoder(tiny_encoder), len(network.names), 0.0)
    start_from(model, tiny_tagger, network.names)
    pieces = Pieces(tiny_tagger / "tokenizer.json")
    (pieced,) = pieces.encode(["my name is elena"])
    ids = torch.tensor([[pieces.begin_id, *pieced.ids, pieces.end_id]])
    with torch.inference_mode():
        logits = model.eval()(ids, torch.ones_like(ids), torch.zeros_like(ids))[0, 1:-1].numpy()
    assert logits.shape == (len(pieced.ids), len(network.names))


def test_a_blend_lies_between_both_networks_and_the_cheapest_is_kept(tiny_encoder, monkeypatch):
    torch = pytest.importorskip("torch")
    from sottovoce.models.text.detect.builder import blend
    from sottovoce.models.text.detect.builder.transformer import Trained

    model = torch.nn.Linear(2, 1)
    start = {name: torch.zeros_like(tensor) for name, tensor in model.state_dict().items()}
    end = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    monkeypatch.setattr(blend, "export", lambda *given: None)
    costs, said = iter([3.0, 1.0, 2.0]), []
    trained = Trained(model, [], start=start)
    share = blend.cheapest_blend(
        trained, tiny_encoder, 64, [], lambda made: ({}, next(costs)), (0.0, 0.5, 1.0), said.append
    )
    assert share == 0.5 and len(said) == 3
    assert torch.allclose(model.weight, end["weight"] / 2)
    with pytest.raises(RunError, match=r"train\.start"):
        blend.cheapest_blend(Trained(model, []), tiny_encoder, 64, [], lambda made: ({}, 0.0), (0.5,), said.append)


@pytest.mark.slow  # the fixture trains a network, and so does the test
def test_held_words_pull_towards_the_network_that_training_began_from(
    tiny_encoder, tiny_tagger, labelled_file, tmp_path
):
    from sottovoce.models.text.detect.builder.corpora import corpus_name
    from sottovoce.models.text.detect.builder.recipe import gather, read_recipe
    from sottovoce.models.text.detect.builder.transformer import TaggerTraining, train

    material = gather([labelled_file], read_recipe({}))
    moved = {}
    for hold in (0.0, 50.0):
        options = TaggerTraining(
            epochs=1, start=str(tiny_tagger), hold=hold, held=(corpus_name(labelled_file),), keep="last", hide=0.0
        )
        trained = train(material, tiny_encoder, options, lambda line: None)
        now = trained.model.state_dict()
        moved[hold] = sum(float((now[name] - tensor).square().sum()) for name, tensor in trained.start.items())
    assert 0 < moved[50.0] < moved[0.0]
