"""`sottovoce evaluate detect`: what a detector finds in labelled text, and what it hits besides."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sottovoce.models.errors import CorpusError
from sottovoce.pipelines.local.numbers import at_least_one

EXAMPLES = """\
  sottovoce evaluate detect --data snips.jsonl.gz nlu_eval.jsonl.gz --split test
  sottovoce evaluate detect --data snips.jsonl.gz --split valid --curve 1 2 3 4
  sottovoce evaluate detect --data test.conll --types film=O place=LOC --beside presidio flair:ner.pt
  sottovoce evaluate detect --data de-DE.jsonl.gz lv-LV.jsonl.gz --split test --exchange PER LOC
  sottovoce evaluate detect --data small_talk.jsonl --none-expected
  sottovoce evaluate detect --data mine.jsonl --detector '{use: flair, model: my_flair/model.pt, trust: true}' --json
"""
SAY_EVERY_S = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", required=True, nargs="+", type=Path, metavar="FILE", help="labelled text (see build text)"
    )
    parser.add_argument("--split", metavar="NAME", help="only rows of this split (default: all rows)")
    parser.add_argument("--detector", default="default", metavar="NAME", help="default: rules and the shipped tagger")
    parser.add_argument(
        "--beside",
        nargs="+",
        default=[],
        metavar="NAME",
        help="other detectors on the same data in the same run: any that a job may name, and presidio",
    )
    parser.add_argument(
        "--types",
        nargs="+",
        default=[],
        metavar="TAG=TYPE",
        help="what a tag of the files means, where its name does not say it; O: nothing sensitive",
    )
    parser.add_argument(
        "--exchange",
        nargs="+",
        default=[],
        metavar="TYPE",
        help="of other languages: PER, LOC, ORG for rare names that no tagger learnt",
    )
    parser.add_argument(
        "--none-expected",
        action="store_true",
        help="the files hold nothing sensitive: over-masking alone is measured",
    )
    parser.add_argument("--limit", type=at_least_one, metavar="N", help="the first N utterances of each file")
    parser.add_argument(
        "--curve", type=float, nargs="+", metavar="BIAS", help="what each outside_bias of the tagger would give"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--record", type=Path, metavar="FILE", help="keep recall and over-masking for the ledger")


def run(args: argparse.Namespace) -> int:
    from sottovoce.models.text.detect.measure import measure

    if args.none_expected and args.record:
        raise CorpusError("--record keeps recall, and --none-expected has none")
    if args.curve:
        return _curves(args)
    detector = _detector(args.detector)
    others = {name: _detector(name) for name in args.beside}
    results: dict[str, Any] = {}
    for name, path in _named(args.data).items():
        examples = _prepared(path, args, detector.finds())
        results[name] = measure(detector, examples, _progress(name, len(examples))).as_dict()
        for other, made in others.items():
            results[name].setdefault("beside", {})[other] = measure(
                made, examples, _progress(f"{name}, {other}", len(examples))
            ).as_dict()
        if not args.json:
            _show(name, results[name])
    if args.json:
        # Shares of nothing are null: JSON has no NaN.
        print(json.dumps(json.loads(json.dumps(results), parse_constant=lambda _: None), indent=2))
    if args.record:
        _record(args, results)
    return 0


def _detector(name: str) -> Any:
    from sottovoce.pipelines.local.read_locally import read_member
    from sottovoce.pipelines.studies.presidio_detector import Presidio

    made = Presidio() if name == "presidio" else read_member("detect", "--detector", name).make()
    made.setup()
    return made


def _named(paths: list[Path]) -> dict[str, Path]:
    """A name for each file: its own, with that of its folder where two are called alike, or the whole path."""
    from sottovoce.models.text.detect.builder.corpora import corpus_name

    for name_of in (corpus_name, lambda path: f"{path.resolve().parent.name}/{corpus_name(path)}", str):
        names = Counter(map(name_of, paths))
        if max(names.values()) == 1:
            return {name_of(path): path for path in paths}
    raise CorpusError(f"--data: {next(name for name, times in names.items() if times > 1)} is given twice")


def _prepared(path: Path, args: argparse.Namespace, known: frozenset[str] | None) -> list:
    examples = _examples(path, args.split, args.limit, _types(args.types))
    if args.exchange:
        examples = _exchanged(path, examples, args.exchange)
    _refuse_foreign_tags(path, examples, known, args.none_expected)
    return examples


def _types(given: list[str]) -> dict[str, str]:
    pairs = [item.partition("=") for item in given]
    wrong = [name for name, equals, kind in pairs if not (name and equals and kind)]
    if wrong:
        raise CorpusError(f"--types: expected TAG=TYPE, such as film=O or place=LOC, not {wrong[0]!r}")
    return {name: kind for name, _, kind in pairs}


def _progress(name: str, total: int) -> Callable[[int], None]:
    """A line now and then, beside what is printed."""
    said = [time.monotonic()]

    def done(utterances: int) -> None:
        if time.monotonic() - said[0] >= SAY_EVERY_S:
            said[0] = time.monotonic()
            print(f"{name}: {utterances:,} of {total:,} utterances", file=sys.stderr, flush=True)

    return done


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


def _refuse_foreign_tags(path: Path, examples: list, known: frozenset[str] | None, none_expected: bool) -> None:
    """Recall of types that nobody looks for would be a figure about nothing; of some of them, it is said which they are."""
    from sottovoce.models.text.detect.builder.corpora import stretches

    named = {kind for example in examples for _, _, kind in stretches(example.labels)}
    if none_expected:
        if named:
            raise CorpusError(f"{path.name}: --none-expected, but its tags name {', '.join(sorted(named)[:8])}")
        return
    if not named or (known is not None and not named & known):
        has = f"its tags name {', '.join(sorted(named)[:8])}" if named else "no word of it is tagged"
        raise CorpusError(
            f"{path.name}: {has}, and nothing that the detector looks for: {', '.join(sorted(known or ())) or 'any type'}; "
            "--types TAG=TYPE says what a tag means, --none-expected that nothing is there to be found"
        )
    beyond = sorted(named - known) if known is not None else []
    if beyond:
        print(
            f"{path.name}: counted as sensitive though the detector looks for no such type: {', '.join(beyond)} "
            f"(--types {beyond[0]}=O leaves it out)",
            file=sys.stderr,
        )


def _curves(args: argparse.Namespace) -> int:
    from sottovoce.models.settings import read_spec
    from sottovoce.models.text.detect.builder.tune import curve
    from sottovoce.models.text.detect.ensemble import DEFAULT
    from sottovoce.models.text.detect.tagger import Tagger

    names = DEFAULT if args.detector == "default" else (args.detector,)
    *others, tagger = (read_spec("detect", name).make() for name in names)
    if not isinstance(tagger, Tagger):
        raise CorpusError(f"--curve: {args.detector} has no outside_bias; expected default, tagger or tagger:FOLDER")
    for detector in (*others, tagger):
        detector.setup()
    known = frozenset[str]().union(*(detector.finds() for detector in (*others, tagger)))
    results: dict[str, Any] = {}
    for name, path in _named(args.data).items():
        examples = _prepared(path, args, known)
        points = curve(tagger, others, examples, args.curve, _progress(name, len(examples)))
        results[name] = {bias: measured.as_dict() for bias, measured in points}
        for bias, row in results[name].items() if not args.json else ():
            print(f"{name} bias {bias:g}: recall {100 * row['recall']:.2f} %"
                  f"   over-masking {100 * row['over_masking']:.2f} %", flush=True)  # fmt: skip
    if args.json:
        print(json.dumps(results, indent=2))
    return 0


def _examples(path: Path, split: str | None, limit: int | None, types: dict[str, str]) -> list:
    from sottovoce.models.text.detect.builder.corpora import read_examples

    everything = list(read_examples(path, types))
    examples = [example for example in everything if split is None or example.split == split]
    if not examples:
        known = ", ".join(sorted({example.split for example in everything})) or "none"
        raise CorpusError(f"{path.name}: no rows of split {split!r}; it has: {known}")
    return examples[:limit]


def _show(name: str, row: dict[str, Any]) -> None:
    if not row["entity_words"]:
        low, high = row["over_masking_interval"]
        print(
            f"{name}: {row['utterances']:,} utterances, nothing sensitive\n"
            f"  over-masking  {100 * row['over_masking']:6.2f} %   (95 %: {100 * low:.2f} to {100 * high:.2f})"
        )
        return
    low, high = row["interval"]
    print(
        f"{name}: {row['utterances']:,} utterances, {row['entity_words']:,} sensitive words\n"
        f"  token recall  {100 * row['recall']:6.2f} %   (95 %: {100 * low:.2f} to {100 * high:.2f})\n"
        f"  over-masking  {100 * row['over_masking']:6.2f} %   ({100 * row['over_masking_untold']:.2f} of it where the "
        f"set does not tell: mixed slots, unlabelled types)   whole entities found {100 * row['whole_entity_recall']:.2f} %\n"
        f"  strict F1     {100 * row['strict_f1']:6.2f} %   (entities with their very words and type)\n"
        f"  without small words in or beside an entity: recall {100 * row['recall_without_small_words']:.2f} %   "
        f"over-masking {100 * row['over_masking_without_small_words']:.2f} %"
    )
    for other, part in row.get("beside", {}).items():
        print(f"  beside it, {other}: recall {100 * part['recall']:.2f} %   over-masking {100 * part['over_masking']:.2f} %"
              f"   strict F1 {100 * part['strict_f1']:.2f} %")  # fmt: skip
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
    for name, path in _named(args.data).items():
        row = results[name]
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
