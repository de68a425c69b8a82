"""A run loads where data sets are loaded: Hugging Face `datasets`, Croissant's own library, Lhotse's own."""

import json
import logging

import pytest

from sottovoce.models.export.dataset_card import CARD, CROISSANT, cards_of
from sottovoce.models.export.folder import export


@pytest.fixture
def carded(run_folder):
    """A run folder with its cards, as the end of a run writes them."""
    record = json.loads((run_folder / "_COMMITTED.json").read_text())
    rows: dict[str, int] = {}
    for shard in record["shards"]:
        rows[shard["sink"]] = rows.get(shard["sink"], 0) + shard["rows"]
    record |= {"counts": {"rows": {**rows, "empty": 0}}, "languages": ["en"]}
    for name, text in cards_of(record, "cc-by-4.0").items():
        (run_folder / name).write_text(text)
    return run_folder


@pytest.mark.slow
def test_datasets_load_every_sink_and_the_first_by_default(carded, records, tmp_path):
    datasets = pytest.importorskip("datasets")
    logging.getLogger("datasets").setLevel(logging.ERROR)
    for sink, rows in records.items():
        loaded = datasets.load_dataset(str(carded), sink, split="train", cache_dir=str(tmp_path))
        if "audio" in loaded.column_names:
            loaded = loaded.cast_column("audio", datasets.Audio(decode=False))
        assert sorted(loaded["id"]) == sorted(row["id"] for row in rows)
    first = next(iter(json.loads((carded / "_COMMITTED.json").read_text())["shards"]))["sink"]
    assert datasets.load_dataset(str(carded), cache_dir=str(tmp_path))["train"].num_rows == len(records[first])


def test_the_card_names_licence_languages_and_only_what_has_records(carded):
    card = (carded / CARD).read_text()
    assert 'license: "cc-by-4.0"' in card and "- en" in card and "config_name: slu" in card and "empty" not in card
    assert (
        'license: "unknown"'
        in cards_of({"run_id": "r", "created": "c", "counts": {"rows": {}}, "shards": []}, None)[CARD]
    )


@pytest.mark.slow
def test_croissant_reads_its_metadata_and_the_records(carded, records):
    croissant = pytest.importorskip("mlcroissant")
    dataset = croissant.Dataset(jsonld=str(carded / CROISSANT))
    first = next(name for name in (found.uuid for found in dataset.metadata.record_sets) if name.startswith("slu/"))
    texts = [value for row in dataset.records(record_set=first) for key, value in row.items() if key.endswith("/text")]
    assert {text.decode() if isinstance(text, bytes) else text for text in texts} <= {
        row["text"] for row in records["slu"]
    }
    assert texts


def test_lhotse_reads_its_cuts(run, records, tmp_path, read_corpus):
    lhotse = pytest.importorskip("lhotse")
    export(run, "lhotse", tmp_path / "cuts")
    cuts = lhotse.CutSet.from_file(tmp_path / "cuts" / "cuts.jsonl.gz").with_recording_path_prefix(tmp_path / "cuts")
    by_id = {row["id"]: row for row in records["stt_am"]}
    assert len(list(cuts)) == len(by_id)
    for cut in cuts:
        assert cut.supervisions[0].text == by_id[cut.id]["text"] and cut.supervisions[0].speaker is None
        assert cut.load_audio().shape == (1, round(by_id[cut.id]["duration_s"] * 16_000))
    again = read_corpus("jsonl", tmp_path / "cuts" / "cuts.jsonl.gz")
    assert sorted(record.text for record in again) == sorted(row["text"] for row in by_id.values())
