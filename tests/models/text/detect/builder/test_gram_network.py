"""The tagger of many languages, in miniature: built, interrupted, exported, routed to."""

import itertools
import json
import random
import re
import shutil

import pytest

from sottovoce.models.errors import CorpusError, RunError
from sottovoce.models.text.detect import grams
from sottovoce.models.text.detect.builder.build import CHECKPOINT, build
from sottovoce.models.text.detect.builder.corpora import TaggedExample
from sottovoce.models.text.detect.builder.export import PackedTagger
from sottovoce.models.text.detect.builder.gram_bank import aside_of
from sottovoce.models.text.detect.builder.gram_network import GramTagger, GramTraining
from sottovoce.models.text.detect.builder.gram_start import start_from
from sottovoce.models.text.detect.builder.lists import listed
from sottovoce.models.text.detect.builder.recipe import read_recipe
from sottovoce.models.text.detect.known_lists import KINDS, lists_with
from sottovoce.models.text.detect.known_words import KnownWords
from sottovoce.models.text.detect.pieces import TOKENIZER, PieceNetwork
from sottovoce.models.text.detect.tagger import SHIPPED, Tagger, load, read_settings
from sottovoce.models.text.languages import TABLE

FRAMES = {"de": ("ruf PER an", "wetter in LOC", "spiele musik"), "pl": ("zadzwoń do PER", "pogoda LOC", "włącz muzykę")}
NAMES = {"PER": ("anna", "bruno", "carla", "emil", "greta"), "LOC": ("berlin", "łódź", "riga", "oslo")}
RECIPE = {
    "augmentation": {"swap": 0.0, "say_digits": 0.0, "drop_punctuation": 0.0},
    "corpora": {"de": {"hold_out": 0.2}, "pl": {"hold_out": 0.2}},
    "train": {"rows": 2048, "width": 16, "hidden": 16, "cycles": [16], "batch": 32, "learning_rate": 2e-2, "average": 0.9,
              "hide": 0.0, "forget_words": 0.0, "forget_lists": 0.0, "dropout": 0.0},
    "tune": {"over_masking": 0.05},
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    draw, folder = random.Random(3), tmp_path_factory.mktemp("many")
    for code, frames in FRAMES.items():
        rows = []
        for at in range(160):
            words = [*draw.choice(frames).split(), *["x"] * (at % 4)]
            tokens = [draw.choice(NAMES[word]) if word in NAMES else word for word in words]
            tags = [f"B-{word}" if word in NAMES else "O" for word in words]
            rows.append({"tokens": tokens, "tags": tags, "lang": code})
        (folder / f"{code}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return sorted(folder.glob("*.jsonl"))


@pytest.fixture(scope="module")
def built(files, tmp_path_factory):
    import torch

    torch.set_num_threads(1)  # on such small tensors threads only wait for one another
    out = tmp_path_factory.mktemp("grams")
    build(files, read_recipe(RECIPE), "grams", out, None, lambda line: None)
    return out


@pytest.mark.slow
def test_a_network_of_two_languages_finds_names_in_both_and_leaves_no_checkpoint(built):
    tagger = Tagger(model=str(built))
    tagger.setup()
    assert [s.type for s in tagger.detect_in("de", ["wetter in berlin"])[0]] == ["LOC"]
    assert [s.type for s in tagger.detect_in("pl", ["zadzwoń do anna"])[0]] == ["PER"]
    assert tagger.detect_in("pl", ["", "  "]) == [[], []]
    assert not (built / CHECKPOINT).exists()
    assert set(json.loads((built / "tagger.json").read_text())["biases"]) == {"de", "pl"}


@pytest.mark.slow
def test_a_build_that_was_interrupted_ends_with_the_same_network(built, files, tmp_path):
    def stop_after_three(line):
        if line.startswith("epoch 3"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(files, read_recipe(RECIPE), "grams", tmp_path, None, stop_after_three)
    assert (tmp_path / CHECKPOINT).exists()
    build(files, read_recipe(RECIPE), "grams", tmp_path, None, lambda line: None)
    assert (tmp_path / "tagger.onnx").read_bytes() == (built / "tagger.onnx").read_bytes()


@pytest.mark.slow
def test_a_second_stage_begins_with_what_the_first_one_learnt(built, files, tmp_path):
    import torch

    kept = read_settings(built)
    model = GramTagger(GramTraining(rows=2048, width=16, hidden=16), len(kept["labels"]), 1).eval()
    start_from(model, built, kept["labels"], kept["languages"])
    words, scores = load(built).scored(["ruf anna an"], "de")[0]
    bags = grams.encode(["ruf", "anna", "an"], "de", 0, 2048, KnownWords.read(built))
    with torch.inference_mode():
        again = model(torch.from_numpy(bags[None]))[0, 1:].numpy()
    assert len(words) == 3 and abs(again - scores).max() < 0.5
    with pytest.raises(RunError, match="other labels or languages"):
        start_from(model, built, kept["labels"], ["de"])
    quick = {"cycles": [1], "settle": 1, "batches_per_epoch": 1, "learning_rate": 1e-5, "start": str(built)}
    build(files, read_recipe(RECIPE | {"train": RECIPE["train"] | quick}), "grams", tmp_path, None, lambda line: None)
    tagger = Tagger(model=str(tmp_path))
    tagger.setup()
    assert [s.type for s in tagger.detect_in("de", ["wetter in berlin"])[0]] == ["LOC"]


@pytest.mark.slow
def test_a_built_tagger_keeps_the_words_that_it_knows(built):
    known = KnownWords.read(built)
    assert known is not None and ("de", "wetter") in known and ("pl", "wetter") not in known


def test_rows_without_a_language_are_told(files, tmp_path):
    shutil.copy(files[0], tmp_path / "de.jsonl")
    (tmp_path / "de.jsonl").write_text((tmp_path / "de.jsonl").read_text().replace('"lang": "de"', '"lang": ""'))
    with pytest.raises(CorpusError, match="lang"):
        build(
            [tmp_path / "de.jsonl", files[1]], read_recipe(RECIPE), "grams", tmp_path / "out", None, lambda line: None
        )


def test_words_keep_their_place_and_share_their_parts():
    assert [("a-b 7")[begin:end] for begin, end in grams.words_of("a-b 7")] == ["a", "-", "b", "7"]
    assert set(grams.rows_of("Jānim", "lv", 1 << 16)) == set(grams.rows_of("jānim", "lv", 1 << 16))
    assert set(grams.rows_of("jānim", "lv", 1 << 16)) & set(grams.rows_of("jānis", "lv", 1 << 16))
    assert grams.rows_of("17", "de", 4096) == grams.rows_of("23", "de", 4096)
    assert all(grams.RESERVED <= row < 4096 for row in grams.rows_of("\ud800" * 60, "", 4096))


def test_a_word_knows_its_lists_and_no_list_knows_a_rare_value():
    name, place = listed("de", "given_names")[0].lower(), listed("lv", "places")[0].lower()
    assert grams.LISTED in grams.rows_of(name, "de", 4096)
    assert lists_with(place, "lv") and not lists_with("xqzt", "lv")
    assert grams.LISTED + len(KINDS) <= grams.RESERVED
    taught = {word.lower() for code in TABLE for word in listed(code, "places")}
    parts = {part.lower() for code in TABLE for value in listed(code, "places") for part in re.findall(r"\w+", value)}
    rare = [value.lower() for value in listed("de", "places", rare=True) if value.isalpha()]
    unheard = [value for value in rare if value not in taught | parts]
    assert unheard and not any(
        KINDS[kind].startswith("places") for value in unheard for kind in lists_with(value, "de")
    )


def test_the_learning_rate_falls_in_every_cycle_and_begins_anew_half_as_high():
    options = GramTraining(cycles=(10, 4), learning_rate=1.0)
    rates = [options.rate(epoch, 0.5) for epoch in range(options.epochs)]
    assert options.epochs == 14
    assert all(a > b for a, b in itertools.pairwise(rates[:10])) and all(
        a > b for a, b in itertools.pairwise(rates[10:])
    )
    assert rates[9] > 0.05 and 0.4 < rates[10] < 0.5 and rates[13] < 0.03


def test_a_rounded_table_is_the_same_in_four_bits():
    import torch

    torch.manual_seed(1)
    model = GramTagger(GramTraining(rows=256, width=8, hidden=4), 3, 2).eval()
    model.met[:-1] = True
    before = model.table.weight.detach().clone()
    before[-1] = 0  # nothing came by
    model.round_table()
    assert (model.table.weight - before).abs().max() < 0.6 * before.abs().max() / 7 * 2
    bags = torch.randint(0, 256, (2, 5, 6))
    packed = PackedTagger(model).eval()
    assert packed.packed.dtype == torch.uint8 and packed.packed.shape == (256, 4)
    assert torch.allclose(model(bags), packed(bags), atol=1e-5)
    assert torch.allclose(model(bags), model.quick(bags)[0], atol=1e-5)


def test_other_slots_follow_their_words_through_what_varies_them():
    words = (("spiel", ""), (",", ""), ("hallo", "song_name"), ("von", ""))
    varied = TaggedExample(("spiel", "hallo", "von", "ilmars", "kalns"), ("O", "O", "O", "B-PER", "I-PER"), aside=words)
    assert aside_of(varied) == ["", "song_name", "", None, None]


def test_rare_values_are_never_learnt_from():
    assert not set(listed("pl", "places")) & set(listed("pl", "places", rare=True))
    assert len(listed("pl", "places", rare=True)) > 100


@pytest.mark.slow
def test_english_keeps_its_own_network_and_all_that_ships_is_at_most_30_megabytes():
    tagger = Tagger()
    assert tagger.network("de") is tagger.network("lv") and isinstance(tagger.network("de"), grams.GramNetwork)
    assert isinstance(tagger.network("en"), PieceNetwork) and (SHIPPED / TOKENIZER).is_file()
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) <= 30_000_000
