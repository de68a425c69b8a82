"""`sottovoce evaluate detect`: what a detector finds in labelled text, and what it hits besides."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

from sottovoce.models.errors import CorpusError
from sottovoce.pipelines.local.numbers import at_least_one

EXAMPLES = """\
  sottovoce evaluate detect --data snips.jsonl.gz nlu_eval.jsonl.gz --split test
  sottovoce evaluate detect --data snips.jsonl.gz --split valid --curve 1 2 3 4
  sottovoce evaluate detect --data de-DE.jsonl.gz lv-LV.jsonl.gz --split test --exchange PER LOC
  sottovoce evaluate detect --data mine.jsonl --detector '{use: flair, model: my_flair/model.pt, trust: true}' --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", required=True, nargs="+", type=Path, metavar="FILE", help="labelled text (see build text)"
    )
    parser.add_argument("--split", metavar="NAME", help="only rows of this split (default: all rows)")
    parser.add_argument("--detector", default="default", metavar="NAME", help="default: rules and the shipped tagger")
    parser.add_argument(
        "--exchange",
        nargs="+",
        default=[],
        metavar="TYPE",
        help="of other languages: PER, LOC, ORG for rare names that no tagger learnt",
    )
    parser.add_argument("--limit", type=at_least_one, metavar="N", help="the first N utterances of each file")
    parser.add_argument(
        "--curve", type=float, nargs="+", metavar="BIAS", help="what each outside_bias of the tagger would give"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--record", type=Path, metavar="FILE", help="keep recall and over-masking for the ledger")


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.text.detect.builder.corpora import corpus_name
    from sottovoce.models.text.detect.measure import measure
    from sottovoce.pipelines.local.read_locally import read_member

    if args.curve:
        return _curves(args)
    detector = read_member("detect", "--detector", args.detector).make()
    detector.setup()
    results: dict[str, Any] = {}
    for path in args.data:
        examples = _examples(path, args.split, args.limit)
        if args.exchange:
            examples = _exchanged(path, examples, args.exchange)
        _refuse_foreign_tags(path, examples, detector.finds())
        results[corpus_name(path)] = measure(detector, examples).as_dict()
        if not args.json:
            _show(corpus_name(path), results[corpus_name(path)])
    if args.json:
        print(json.dumps(results, indent=2))
    if args.record:
        _record(args, results)
    return 0


def _exchanged(path: Path, examples: list, kinds: list[str]) -> list:
    import numpy as np

    from sottovoce.models.text.detect.builder.augment import exchanged
    from sottovoce.models.text.detect.builder.lists import has_lists
    from sottovoce.models.text.detect.builder.values import LISTED

    unknown = sorted(set(kinds) - set(LISTED))
    if unknown:
        raise CorpusError(f"--exchange: {', '.join(unknown)} not known; allowed: {', '.join(LISTED)}")
    without = sorted({example.language or "none" for example in examples if not has_lists(example.language)})
    if without:
        raise CorpusError(f"{path.name}: --exchange has no lists for the language {', '.join(without)}")
    draw = np.random.default_rng(0)
    return [exchanged(example, kinds, draw) for example in examples]


def _refuse_foreign_tags(path: Path, examples: list, known: frozenset[str] | None) -> None:
    """Recall of types that nobody looks for would be a figure about nothing."""
    named = {label[2:] for example in examples for label in example.labels if label.startswith("B-")}
    if not named or (known is not None and not named & known):
        has = f"its tags name {', '.join(sorted(named)[:8])}" if named else "no word of it is tagged"
        raise CorpusError(
            f"{path.name}: {has}, and nothing that the detector looks for: {', '.join(sorted(known or ())) or 'any type'}"
        )


def _curves(args: argparse.Namespace) -> int:
    from sottovoce.models.settings import read_spec
    from sottovoce.models.text.detect.builder.corpora import corpus_name
    from sottovoce.models.text.detect.builder.tune import curve
    from sottovoce.models.text.detect.ensemble import DEFAULT
    from sottovoce.models.text.detect.tagger import Tagger

    names = DEFAULT if args.detector == "default" else (args.detector,)
    *others, tagger = (read_spec("detect", name).make() for name in names)
    if not isinstance(tagger, Tagger):
        raise CorpusError(f"--curve: {args.detector} has no outside_bias; expected default, tagger or tagger:FOLDER")
    for detector in (*others, tagger):
        detector.setup()
    results: dict[str, Any] = {}
    for path in args.data:
        points = curve(tagger, others, _examples(path, args.split, args.limit), args.curve)
        results[corpus_name(path)] = {bias: measured.as_dict() for bias, measured in points}
        for bias, row in results[corpus_name(path)].items() if not args.json else ():
            print(f"{corpus_name(path)} bias {bias:g}: recall {100 * row['recall']:.2f} %"
                  f"   over-masking {100 * row['over_masking']:.2f} %", flush=True)  # fmt: skip
    if args.json:
        print(json.dumps(results, indent=2))
    return 0


def _examples(path: Path, split: str | None, limit: int | None) -> list:
    from sottovoce.models.text.detect.builder.corpora import read_examples

    everything = list(read_examples(path))
    examples = [example for example in everything if split is None or example.split == split]
    if not examples:
        known = ", ".join(sorted({example.split for example in everything})) or "none"
        raise CorpusError(f"{path.name}: no rows of split {split!r}; it has: {known}")
    return examples[:limit]


def _show(name: str, row: dict[str, Any]) -> None:
    low, high = row["interval"]
    print(
        f"{name}: {row['utterances']:,} utterances, {row['entity_words']:,} sensitive words\n"
        f"  token recall  {100 * row['recall']:6.2f} %   (95 %: {100 * low:.2f} to {100 * high:.2f})\n"
        f"  over-masking  {100 * row['over_masking']:6.2f} %   ({100 * row['over_masking_untold']:.2f} of it where the "
        f"set does not tell: mixed slots, unlabelled types)   whole entities found {100 * row['whole_entity_recall']:.2f} %\n"
        f"  without small words in or beside an entity: recall {100 * row['recall_without_small_words']:.2f} %   "
        f"over-masking {100 * row['over_masking_without_small_words']:.2f} %"
    )
    for kind, part in row["types"].items():
        low, high = part["interval"]
        print(
            f"    {kind:<8}{100 * part['recall']:6.2f} %   (95 %: {100 * low:.2f} to {100 * high:.2f})   "
            f"with this type {100 * part['same_type']:.2f} %   of {part['words']:,}"
        )


def _record(args: argparse.Namespace, results: dict[str, Any]) -> None:
    """{detector: {set: {...}}}: what `ledger()` quotes. Paths are reduced to names: a ledger may be published. A `note` that
    was written beside a figure by hand stays."""
    kept: dict[str, Any] = json.loads(args.record.read_text("utf-8")) if args.record.is_file() else {}
    for name, row in results.items():
        path = next(path for path in args.data if path.name.split(".")[0] == name)
        command = ["sottovoce", "evaluate", "detect", "--data", path.name]
        command += ["--split", args.split] if args.split else []
        command += ["--exchange", *args.exchange] if args.exchange else []
        command += ["--detector", args.detector] if args.detector != "default" else []
        kept.setdefault(args.detector, {}).setdefault(
            " ".join([name, args.split or "all", *(f"rare {kind}" for kind in args.exchange)]), {}
        ).update(
            recall=round(row["recall"], 4),
            interval=[round(value, 4) for value in row["interval"]],
            over_masking=round(row["over_masking"], 4),
            utterances=row["utterances"],
            command=shlex.join(command),
        )
    args.record.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
