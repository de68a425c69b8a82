"""What goes into a build: which corpora, which splits, how much of each, and what must never be learnt from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models import settings
from sottovoce.models.errors import CorpusError
from sottovoce.models.text.detect.builder.augment import Augmentation, fill
from sottovoce.models.text.detect.builder.corpora import (
    TaggedExample,
    corpus_name,
    held_out,
    leave_open,
    read_examples,
    without,
)

COPIES = 3
DEV_SPLITS = ("dev", "devel", "valid", "validation")


@dataclass(frozen=True)
class Portion:
    """One corpus of a build. Splits not named are never learnt from; without `dev`, a stable share is held out.

    `per_epoch`: how many utterances one epoch sees at most; `repeat`: how often it sees each of them."""

    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    hold_out: float = 0.05
    per_epoch: int | None = None
    repeat: int = 1
    empty_share: float = 1.0
    unlabelled: tuple[str, ...] = ()

    def divide(self, examples: Iterable[TaggedExample]) -> tuple[list[TaggedExample], list[TaggedExample]]:
        """(training pool, dev set). Without `train`, every split that is not for dev is learnt from."""
        pool: list[TaggedExample] = []
        dev: list[TaggedExample] = []
        for example in leave_open(examples, self.unlabelled):
            if example.split in self.train or not (self.train or example.split in (self.dev or DEV_SPLITS)):
                (dev if not self.dev and held_out(example, self.hold_out) else pool).append(example)
            elif example.split in (self.dev or DEV_SPLITS):
                dev.append(example)
        return pool, dev


@dataclass(frozen=True)
class Recipe:
    """A recipe file, section by section: which corpora, how they are varied, how the tagger is trained and tuned."""

    corpora: dict[str, Any] = field(default_factory=dict)
    templates: int = 0
    augmentation: dict[str, Any] = field(default_factory=dict)
    train: dict[str, Any] = field(default_factory=dict)
    tune: dict[str, Any] = field(default_factory=dict)
    never: dict[str, Any] = field(default_factory=dict)
    dev_limit: int = 1500
    notes: str = ""

    def portion(self, corpus: str) -> Portion:
        """How the recipe uses a corpus; the defaults where it says nothing of it. A SettingsError for unknown keys."""
        return settings.build(Portion, self.corpora.get(corpus, {}), f"corpora.{corpus}")

    def augment(self) -> Augmentation:
        """How examples are varied, from the recipe's section `augmentation`. A SettingsError for unknown keys."""
        return settings.build(Augmentation, self.augmentation, "augmentation")


@dataclass
class TrainingMaterial:
    """Training pools by corpus and the dev set; `epoch` draws what one pass over the data sees."""

    pools: dict[str, list[TaggedExample]]
    dev: dict[str, list[TaggedExample]]
    recipe: Recipe

    def epoch(self, draw: np.random.Generator) -> list[TaggedExample]:
        augment = self.recipe.augment()
        chosen: list[TaggedExample] = []
        for corpus, pool in self.pools.items():
            chosen += _sample(pool, self.recipe.portion(corpus), draw)
        chosen = [augment(example, draw) for example in chosen]
        frames = templates()
        varied = np.array(
            [1.0 + frame.count("{") for frame in frames]
        )  # what can be filled in many ways is seen more often
        drawn = draw.choice(len(frames), self.recipe.templates, p=varied / varied.sum())
        made = [fill(frames[int(at)], draw, augment) for at in drawn]
        return [e for e in chosen + made if e.tokens]

    def types(self) -> list[str]:
        """Sensitive types that occur in the training pools, sorted; the dev set adds none."""
        labels = {
            label[2:] for pool in self.pools.values() for e in pool for label in e.labels if label[:2] in ("B-", "I-")
        }
        return sorted(labels)


def gather(paths: Sequence[Path], recipe: Recipe) -> TrainingMaterial:
    """Read the corpora, divide them, and drop from training every utterance that is measured anywhere."""
    files = {corpus_name(path): path for path in paths}
    missing = [name for name in [*recipe.corpora, *recipe.never] if name not in files]
    if missing:
        raise CorpusError(f"the recipe names {', '.join(sorted(set(missing)))}, which --data does not hold")
    pools: dict[str, list[TaggedExample]] = {}
    dev: dict[str, list[TaggedExample]] = {}
    measured: list[TaggedExample] = []
    for name in recipe.corpora or files:
        pools[name], dev[name] = recipe.portion(name).divide(read_examples(files[name]))
        dev[name] = dev[name][:: max(1, len(dev[name]) // recipe.dev_limit)]
        measured += dev[name]
    for name, splits in recipe.never.items():
        measured += [e for e in read_examples(files[name]) if splits == "all" or e.split in splits]
    pools = {name: _few_copies(without(pool, measured)) for name, pool in pools.items()}
    return TrainingMaterial(pools, {name: examples for name, examples in dev.items() if examples}, recipe)


def read_recipe(values: Mapping[str, Any]) -> Recipe:
    """A recipe with every corpus and its augmentation checked: a mistake is told before the build begins."""
    recipe: Recipe = settings.build(Recipe, values, "recipe")
    for corpus in recipe.corpora:
        recipe.portion(corpus)
    recipe.augment()
    return recipe


def templates() -> tuple[str, ...]:
    """Sentences of `templates.txt` with places to fill, such as {PER}; comments and empty lines left out."""
    lines = Path(__file__).with_name("templates.txt").read_text("utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def _few_copies(examples: Iterable[TaggedExample]) -> list[TaggedExample]:
    """At most `COPIES` of each text: what is said often should weigh more, but not thousands of times more."""
    seen: Counter[str] = Counter()
    kept = []
    for example in examples:
        seen[example.text] += 1
        if seen[example.text] <= COPIES:
            kept.append(example)
    return kept


def _sample(pool: list[TaggedExample], portion: Portion, draw: np.random.Generator) -> list[TaggedExample]:
    kept = [e for e in pool if e.has_entity() or draw.random() < portion.empty_share]
    if portion.per_epoch is None or portion.per_epoch >= len(kept):
        return kept * portion.repeat
    return [kept[int(i)] for i in draw.choice(len(kept), portion.per_epoch, replace=False)] * portion.repeat
