"""What a run says of itself to those who load it: a dataset card for Hugging Face `datasets`, and Croissant metadata.

`datasets.load_dataset(RUN, "slu")` reads the card; each sink is a configuration. Both are made of the commit's own counts and of
the job, so that they can be made anew when records are erased.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

CARD, CROISSANT = "README.md", "croissant.json"
SPLIT = "train"
KINDS = {"stt_am": "automatic-speech-recognition", "stt_lm": "text-generation", "slu": "token-classification"}
# Columns that a table of Croissant can tell of; lists of slots and turns are in the files all the same.
COLUMNS = {
    "stt_am": {"id": "sc:Text", "text": "sc:Text", "duration_s": "sc:Float", "rate_hz": "sc:Integer"},
    "stt_lm": {"id": "sc:Text", "text": "sc:Text"},
    "slu": {"id": "sc:Text", "text": "sc:Text", "intent": "sc:Text"},
    "dm": {"id": "sc:Text"},
}
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "conformsTo": "dct:conformsTo",
    "dct": "http://purl.org/dc/terms/",
    "column": "cr:column",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "includes": "cr:includes",
    "recordSet": "cr:recordSet",
    "source": "cr:source",
}


def cards_of(record: Mapping[str, Any], licence: str | None) -> dict[str, str]:
    """{file name: content}; `record` is what the commit says."""
    return {CARD: card_of(record, licence), CROISSANT: json.dumps(croissant_of(record, licence), indent=1) + "\n"}


def card_of(record: Mapping[str, Any], licence: str | None) -> str:
    """README.md: YAML that `datasets` reads, then words for people. The first sink with records is the default configuration."""
    sinks = _sinks(record)
    head = ["---", f"license: {json.dumps(licence or 'unknown')}"]
    if record.get("languages"):
        head += ["language:", *(f"- {language}" for language in record["languages"])]
    if kinds := [KINDS[sink] for sink in sinks if sink in KINDS]:
        head += ["task_categories:", *(f"- {kind}" for kind in kinds)]
    if sinks:
        head.append("configs:")
    for place, sink in enumerate(sinks):
        head += [f"- config_name: {sink}", *(["  default: true"] if place == 0 else [])]
        head += ["  data_files:", f"  - split: {SPLIT}", f"    path: {sink}/part-*.parquet"]
    return "\n".join([*head, "---", "", *_words(record, sinks)]) + "\n"


def _words(record: Mapping[str, Any], sinks: Iterable[str]) -> list[str]:
    rows = record["counts"]["rows"]
    loads = [f'datasets.load_dataset(RUN, "{sink}", split="{SPLIT}")   # {rows[sink]:,} records' for sink in sinks]
    return [
        f"# {record['run_id']}",
        "",
        *textwrap.wrap(f"Made by Sottovoce from a corpus of speech and text. {_how(record, sinks)}", 120),
        "What that protects, and what not, is in `ledger.json` and `report.html`.",
        "",
        "```python",
        "import datasets",
        *loads,
        "```",
        "",
        "`RUN` is this folder. Speech is FLAC in the column `audio`: `datasets` decodes it with torchcodec, or leaves its bytes",
        'after `cast_column("audio", datasets.Audio(decode=False))`. There are no speakers and no dialogue ids: which records',
        "belong together is what the run hid.",
    ]  # fmt: skip


def _how(record: Mapping[str, Any], sinks: Iterable[str]) -> str:
    """What was done to the texts is what their own mechanism says; `rewritten` is empty where words were replaced."""
    rewritten, speech = record.get("rewritten", ""), "stt_am" in sinks
    said = [rewritten or "Sensitive words were found and replaced."]
    if speech:
        made = record.get("crowd", False)
        said.append("A voice of nobody said the released texts." if made else "Voices were changed.")
    return " ".join([*said, "Each dialogue was put into one of these data sets only."])


def croissant_of(record: Mapping[str, Any], licence: str | None) -> dict[str, Any]:
    """The metadata as a mapping for JSON (Croissant 1.0), of sinks with records; `licence` None: unknown."""
    sinks = _sinks(record)
    shards = [shard for shard in record["shards"] if shard["sink"] in sinks]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": record["run_id"],
        "description": "Training data of speech and text that protects the people in it; see ledger.json.",
        "license": licence or "unknown",
        "url": f"urn:{record['run_id']}",
        "datePublished": record["created"],
        "version": "1.0.0",
        "inLanguage": list(record.get("languages", [])),
        "distribution": [_file(shard) for shard in shards],
        "recordSet": [_records(shard) for shard in shards if shard["sink"] in COLUMNS],
    }


def _sinks(record: Mapping[str, Any]) -> list[str]:
    """Those that have records: a configuration without files cannot be loaded."""
    return [sink for sink, rows in record["counts"]["rows"].items() if rows]


def _file(shard: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": shard["path"],
        "name": shard["path"],
        "contentUrl": shard["path"],
        "contentSize": f"{shard['bytes']} B",
        "encodingFormat": "application/x-parquet",
        "sha256": shard["sha256"],
    }


def _records(shard: Mapping[str, Any]) -> dict[str, Any]:
    name = shard["path"].removesuffix(".parquet")
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": f"{name}/{column}",
                "dataType": kind,
                "source": {"fileObject": {"@id": shard["path"]}, "extract": {"column": column}},
            }
            for column, kind in COLUMNS[shard["sink"]].items()
        ],
    }
