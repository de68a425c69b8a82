"""Turn a table of public recordings (manifest.tsv) into the corpus that `make voice` and `evaluate voice` read.

    python tools/speech_manifest.py data/speech/manifest.tsv --prefix an4 libri

Columns: utt_id, speaker, gender, path, transcript. A missing transcript becomes "-": the builder has it written down by a
recogniser. `manifest.jsonl` lands beside the table.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description="manifest.tsv -> manifest.jsonl")
    parser.add_argument("table", type=Path)
    parser.add_argument(
        "--prefix", nargs="*", default=[], help="take only utterances whose id begins with one of these"
    )
    parser.add_argument("--out", type=Path, help="default: manifest.jsonl beside the table")
    args = parser.parse_args()
    folder = args.table.resolve().parent
    out = args.out or folder / "manifest.jsonl"
    rows = []
    with open(args.table, encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if args.prefix and not row["utt_id"].startswith(tuple(args.prefix)):
                continue
            rows.append({
                "id": row["utt_id"], "dialogue_id": row["utt_id"], "speaker_id": row["speaker"], "gender": row["gender"],
                "text": row["transcript"] or "-", "audio_filepath": str(folder / row["path"]), "language": "en",
            })  # fmt: skip
    out.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    print(f"{out.name}: {len(rows):,} recordings of {len({row['speaker_id'] for row in rows}):,} speakers")


if __name__ == "__main__":
    main()
