"""`sottovoce evaluate exposure`: what a model remembers of lines that it was trained on."""

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
the number of candidates and the line itself; a line that was never seen has about 1.44 on average. Of a model of task slu it is
d-exposure: the mean over classes of the exposure among the candidates that the model puts into the class.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="DIR", help="the folder `model` that a training of task lm or slu has left")
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
    """Of a language model exposure; of a classifier d-exposure, the candidates being taken into the classes that it names."""
    from sottovoce.models.evaluation.metrics.exposure import d_exposure, exposure, null_mean
    from sottovoce.models.training.loop.export import load_trained

    model = load_trained(Path(args.model))
    candidates = _scored(model, args.candidates, "--candidates")
    classes: dict[str | None, list[float]] = {}
    for named, score in candidates:
        classes.setdefault(named, []).append(score)
    costs = [-score for _, score in candidates]
    out: dict[str, Any] = {"candidates": len(candidates)}
    if None in classes:
        out["exposure of a line never seen"] = null_mean(len(candidates) + 1)
    else:
        unseen = [null_mean(len(own) + 1) for own in classes.values()]
        out |= {"classes": len(classes), "d-exposure of a line never seen": sum(unseen) / len(unseen)}
    for name, path in (("inserted", args.inserted), ("control", args.control)):
        if path:
            scores = [score for _, score in _scored(model, path, f"--{name}")]
            if None in classes:
                out |= _summary(name, "exposure", [exposure(-score, costs) for score in scores])
            else:
                out |= _summary(name, "d-exposure", [d_exposure(score, list(classes.values())) for score in scores])
                for of, own in sorted(classes.items()):
                    each = [d_exposure(score, [own]) for score in scores]
                    out[f"{name}: mean d-exposure in class {of}"] = sum(each) / len(each)
            tied = sum(-score in costs for score in scores) / len(scores)
            out[f"{name}: lines that the model cannot tell from a candidate"] = tied
    return out


def _summary(name: str, what: str, each: list[float]) -> dict[str, Any]:
    """Over the lines: mean with an interval drawn over lines, and the most."""
    from sottovoce.models.evaluation.metrics.estimate import mean_of

    mean = mean_of(each)
    return {
        f"{name}: lines": len(each),
        f"{name}: mean {what}": mean.value,
        f"{name}: interval": [mean.low, mean.high],
        f"{name}: highest {what}": max(each),
    }


def _scored(model: Any, path: str, flag: str) -> list[tuple[str | None, float]]:
    """(class that the model names, how sure it is of it) for each line; None where the model gives lines a probability."""
    found = [
        (answer.get("intent"), answer.get("log_odds", answer.get("log_probability")))
        for answer in model.answers(iter(_lines(path, flag)))
    ]
    if any(score is None for _, score in found):
        raise SettingsError(
            [f"{flag}: the model gives some line no score; expected a model of task lm or slu, and no empty line"]
        )
    return [(named, float(score)) for named, score in found]


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
