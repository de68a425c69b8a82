"""`sottovoce evaluate exposure`: what a language model remembers of lines that it was trained on."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from sottovoce.models.errors import CorpusError, SettingsError

EXAMPLES = """\
  sottovoce evaluate exposure --json                          # cases whose answers are known
  sottovoce evaluate exposure --embeddings lines.jsonl        # what word vectors change; some minutes
  sottovoce evaluate exposure --embeddings lines.jsonl --vectors glove.6B.50d.txt --epochs 20
  sottovoce evaluate exposure --model out/trained/RUN/model --inserted canaries.txt --candidates codes.txt --control others.txt

A line a text. `--inserted` were in the training data; `--candidates` are lines of the same form that could have been there in
their place, and were not; `--control` are such lines that are measured like the inserted ones. Exposure is in bits, 0 to log2 of
the number of candidates and the line itself; a line that was never seen has about 1.44 on average.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="DIR", help="the folder `model` that a training of task lm has left")
    parser.add_argument("--inserted", metavar="FILE", help="lines that it was trained on")
    parser.add_argument("--candidates", metavar="FILE", help="lines of the same form that it was not trained on")
    parser.add_argument("--control", metavar="FILE", help="lines that it was not trained on, to compare with")
    parser.add_argument(
        "--embeddings",
        metavar="FILE",
        help="train models on these JSON lines with `text`, by several kinds of word vectors",
    )
    parser.add_argument(
        "--vectors", nargs="+", default=[], metavar="FILE", help="with --embeddings: word vectors, as GloVe's files are"
    )
    for flag, default, of in (("epochs", 10, "of each training"), ("times", 4, "each secret is put in"),
                              ("seeds", 3, "trainings, with other secrets, of each row")):  # fmt: skip
        parser.add_argument(f"--{flag}", type=int, default=default, help=f"with --embeddings: {of} ({default})")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    if args.embeddings:
        return _compared(args)
    given = {"--model": args.model, "--inserted": args.inserted, "--candidates": args.candidates}
    if not any([*given.values(), args.control]):
        from sottovoce.models.evaluation.known_answers.exposures import known_exposures

        return _show(known_exposures(), args.json)
    if missing := [flag for flag, value in given.items() if not value]:
        raise SettingsError([f"{flag}: missing; needed to measure a model" for flag in missing])
    return _show(_measured(args), args.json)


def _compared(args: argparse.Namespace) -> int:
    import tempfile

    from sottovoce.pipelines.studies.measure_embeddings import EmbeddingStudy, measure

    if min(args.epochs, args.times, args.seeds) < 1:
        raise SettingsError(["--epochs, --times, --seeds: must be at least 1"])
    study = EmbeddingStudy(Path(args.embeddings), tuple(args.vectors), args.times, args.epochs, seeds=args.seeds)
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(study, Path(folder))
        if args.json:
            print(json.dumps(list(rows), indent=2))
            return 0
        for number, row in enumerate(rows):
            if not number:
                print(f"{'vectors':<14}{'mode':<9}{'perplexity':>10}" + "".join(f"{name:>24}" for name in row["bits"]))
            bits = "".join(f"{v['value']:>10.1f} ({v['low']:.1f} to {v['high']:.1f})" for v in row["bits"].values())
            print(f"{row['vectors']:<14}{row['mode']:<9}{row['perplexity']:>10.1f}{bits}", flush=True)
    return 0


def _measured(args: argparse.Namespace) -> dict[str, Any]:
    from sottovoce.models.evaluation.metrics.exposure import null_mean
    from sottovoce.models.training.loop.export import load_trained

    model = load_trained(Path(args.model))
    candidates = _costs(model, _lines(args.candidates, "--candidates"), "--candidates")
    out: dict[str, Any] = {
        "candidates": len(candidates),
        "exposure of a line never seen": null_mean(len(candidates) + 1),
    }
    for name, path in (("inserted", args.inserted), ("control", args.control)):
        if path:
            out |= _summary(name, _costs(model, _lines(path, f"--{name}"), f"--{name}"), candidates)
    return out


def _summary(name: str, costs: list[float], candidates: list[float]) -> dict[str, Any]:
    """Over the lines: mean with an interval drawn over lines, and the most."""
    from sottovoce.models.evaluation.metrics.estimate import mean_of
    from sottovoce.models.evaluation.metrics.exposure import exposure

    bits = [exposure(cost, candidates) for cost in costs]
    mean = mean_of(bits)
    tied = sum(cost in candidates for cost in costs) / len(costs)
    return {
        f"{name}: lines": len(bits),
        f"{name}: mean exposure": mean.value,
        f"{name}: interval": [mean.low, mean.high],
        f"{name}: highest exposure": max(bits),
        f"{name}: lines that the model cannot tell from a candidate": tied,
    }


def _costs(model: Any, lines: list[str], flag: str) -> list[float]:
    found = [answer.get("log_probability") for answer in model.answers(iter(lines))]
    if any(cost is None for cost in found):
        raise SettingsError(
            [f"{flag}: the model gives some line no probability; expected a model of task lm, and no empty line"]
        )
    return [-float(cost) for cost in found]


def _lines(path: str, flag: str) -> list[str]:
    try:
        lines = [line for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError):
        raise CorpusError(f"{flag} {path}: cannot be read as text; expected a line a text") from None
    if not lines:
        raise CorpusError(f"{flag} {path}: holds no line")
    return lines


def _show(figures: dict[str, Any], as_json: bool) -> int:
    if as_json:
        print(json.dumps(figures, indent=2))
        return 0
    for name, figure in figures.items():
        print(f"  {name:<60} " + (f"{figure:.4f}" if isinstance(figure, float) else str(figure)))
    return 0
