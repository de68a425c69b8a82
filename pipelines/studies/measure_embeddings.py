"""Do word vectors change what a language model remembers? After Thomas et al., "Investigating the impact of pre-trained word
embeddings on memorization in neural networks", TSD 2020, which section 4.3.5 of COMPRISE D2.3 is taken to be about.

Secrets of two forms, four figures and one word for an illness, are put into lines of text a few times each; a language model
is trained on word vectors that are learned with it, drawn at random, or were made of public text before and stay as they are,
of several sizes, plainly and with differential privacy. Told are its perplexity on lines that it was not trained on, and the
exposure in bits of each secret among those that could have been in its place, beside that of secrets that were not put in.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.errors import CorpusError
from sottovoce.models.evaluation.metrics.estimate import mean_of
from sottovoce.models.evaluation.metrics.exposure import exposure
from sottovoce.models.records import Source
from sottovoce.models.text.rewrite.metric import load
from sottovoce.models.training.networks.vocabulary import words_of
from sottovoce.models.training.networks.words import read_vectors
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.tasks.lm import TrainingLine
from sottovoce.models.training.tasks.task import NoNames
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.pipelines.studies.trial import train_once

FIGURES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_ILLNESSES = """asthma diabetes cancer flu fever cough stroke depression anxiety arthritis malaria measles cholera tuberculosis
epilepsy migraine anemia leukemia pneumonia hepatitis influenza allergy obesity insomnia dementia hiv syphilis polio typhoid
bronchitis ulcer tumor fracture addiction psychosis lupus eczema cirrhosis rabies"""
ILLNESSES = _ILLNESSES.split()
CARRIERS = {
    "figures": ("my code is {}", "the number of the card is {}", "open the door with {}", "her account has the pin {}"),
    "illness": ("i am treated for {}", "the doctor found {}", "my sister has {}", "he was sent home with {}"),
}
SIZES = (8, 24, 96)
MODES: dict[str, dict[str, Any]] = {
    "plain": {"mode": "plain"},
    "private": {"mode": "per_example", "target_epsilon": 8.0, "unit": "example"},
}
CANDIDATES = 1000
HELD_OUT = 5  # every fifth line is not trained on


@dataclass(frozen=True)
class EmbeddingStudy:
    """`data`: JSON lines with `text`; each secret is put in `times`; so many `seeds`, with other secrets each."""

    data: Path
    vectors: tuple[str, ...] = ()
    times: int = 4
    epochs: int = 10
    hidden: int = 64
    seeds: int = 3


@dataclass(frozen=True, repr=False)
class Secrets:
    """For each carrier: the line that was put in, one that was not, and those that could have been."""

    inserted: list[str]
    control: list[str]
    candidates: list[list[str]]


def measure(study: EmbeddingStudy, folder: Path) -> Iterator[dict[str, Any]]:
    """One row for each kind of vectors, size and mode. Vocabulary and vectors are written into `folder`."""
    lines = _texts(study.data)
    train, test = [line for at, line in enumerate(lines) if at % HELD_OUT], lines[::HELD_OUT]
    vocabulary = folder / "words.txt"
    carriers = [words_of(carrier) for own in CARRIERS.values() for carrier in own]
    listed = dict.fromkeys([*itertools.chain(*carriers), *FIGURES, *ILLNESSES, *load(None)[0]])
    vocabulary.write_text("\n".join(listed) + "\n")
    for (name, options), (mode, how) in itertools.product(_inputs(study, folder).items(), MODES.items()):
        model = {"use": "lstm", "hidden": study.hidden, "vocabulary": str(vocabulary), "size": len(listed), **options}
        settings = TrainSettings(
            task="lm", model=model, epochs=study.epochs, batch_size=32, learning_rate=1e-2, device="cpu", **how
        )
        trials = [_trial(settings, train, test, study.times, seed) for seed in range(study.seeds)]
        yield {"vectors": name, "mode": mode} | _row(trials)


def _texts(path: Path) -> list[str]:
    try:
        found = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError, KeyError, TypeError):
        raise CorpusError(f"{path}: cannot be read; expected lines of JSON with `text`") from None
    if len(found) < 100:
        raise CorpusError(f"{path}: has {len(found)} lines; expected at least 100")
    return found


def _draw(form: str, seed: int) -> Secrets:
    """The seed only makes the study repeatable."""
    draw = np.random.default_rng([seed, len(form)])
    every = ILLNESSES if form == "illness" else [" ".join(said) for said in itertools.product(FIGURES, repeat=4)]
    found = Secrets([], [], [])
    for carrier in CARRIERS[form]:
        own = [carrier.format(every[at]) for at in draw.permutation(len(every))[: CANDIDATES + 2]]
        found.inserted.append(own[0])
        found.control.append(own[1])
        found.candidates.append(own[2:])
    return found


def _inputs(study: EmbeddingStudy, folder: Path) -> dict[str, dict[str, Any]]:
    """Options of the model, by name."""
    words, public, _ = load(None)
    draw = np.random.default_rng(0)
    found: dict[str, dict[str, Any]] = {f"learned, {size}": {"word_size": size} for size in SIZES}
    for size in SIZES:
        drawn = draw.normal(0, size**-0.5, (len(words), size))
        found[f"random, {size}"] = {"vectors": _written(folder / f"random-{size}.txt", words, drawn)}
    for size in (size for size in SIZES if size <= public.shape[1]):
        found[f"public, {size}"] = {"vectors": _written(folder / f"public-{size}.txt", words, public[:, :size])}
    for path in study.vectors:
        found[f"{Path(path).name}, {read_vectors(path)[1].shape[1]}"] = {"vectors": path}
    return found


def _written(path: Path, words: Sequence[str], vectors: np.ndarray) -> str:
    """As GloVe's files are."""
    scaled = vectors / np.linalg.norm(vectors, axis=1).mean()
    path.write_text("".join(f"{w} {' '.join(f'{x:.5f}' for x in row)}\n" for w, row in zip(words, scaled, strict=True)))
    return str(path)


@dataclass(frozen=True)
class Trial:
    """What one training gave: how well it reads what it never saw, and how many bits of each secret it gives away."""

    perplexity: float
    bits: dict[str, list[float]]  # of each secret, by form, and of those that were not put in


def _trial(settings: TrainSettings, train: Sequence[str], test: Sequence[str], times: int, seed: int) -> Trial:
    secrets = {form: _draw(form, seed) for form in CARRIERS}
    planted = [line for own in secrets.values() for line in own.inserted for _ in range(times)]
    trainer, _ = train_once(settings, _lines([*train, *planted]), NoNames(), seed)
    task, member, network = task_of("lm"), settings.member.make(), trainer.bench.network

    def costs(texts: Sequence[str]) -> np.ndarray:
        return -task.confidence(network, task.encode(_lines(texts), member, NoNames())).log_odds

    bits: dict[str, list[float]] = {}
    for form, own in secrets.items():
        among = [costs(candidates) for candidates in own.candidates]
        for kind, texts in (("", own.inserted), (", control", own.control)):
            said = zip(costs(texts), among, strict=True)
            bits[f"{form}{kind}"] = [exposure(float(cost), others) for cost, others in said]
    tested = _lines(test)
    scores = task.evaluate(network, task.encode(tested, member, NoNames()), tested, NoNames())
    return Trial(scores["perplexity"], bits)


def _row(trials: Sequence[Trial]) -> dict[str, Any]:
    """Means over trainings and secrets; intervals of 95 % are drawn over secrets."""
    row: dict[str, Any] = {"perplexity": float(np.mean([trial.perplexity for trial in trials])), "bits": {}}
    for name in trials[0].bits:
        every = [bits for trial in trials for bits in trial.bits[name]]
        row["bits"][name] = dataclasses.asdict(mean_of(every))
    return row


def _lines(texts: Sequence[str]) -> list[TrainingLine]:
    return [TrainingLine(words_of(text), Source("study", at)) for at, text in enumerate(texts) if words_of(text)]
