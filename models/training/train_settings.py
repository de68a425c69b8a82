"""The settings of a training: one flat page, each with its reason. `train.yaml` holds them under the same names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sottovoce.models.settings import Spec, read_spec, require, table
from sottovoce.models.training.privacy.soundness import Adjacency, AlphaSource, Decay, Sampling
from sottovoce.models.training.tasks import task_of

Mode = Literal["plain", "paper", "sound", "per_example"]


@dataclass(frozen=True)
class TrainSettings:
    """Everything that a training may be told; its values are checked when it is made."""

    # what is learned, and from which sink: slu, lm (stt_lm), am (stt_am), dm, rewriter (slu)
    task: str = "slu"
    # by name, or with options: {use: clc, hidden: 128, ...}; the task's own default where it is not given
    model: Any = None

    # sound: micro-batches, noise scaled to what one example can do. per_example: each example clipped, less noise.
    # paper: eDP-SGD as published, whose figure is a claim. plain: no privacy at all.
    mode: Mode = "sound"
    # whom the figure protects: an example, or a speaker with all of theirs. Speakers wherever they are known (of a run: by
    # its private state), if the mode protects them
    unit: Literal["example", "speaker"] | None = None
    longest_speaker: int = 32  # examples kept of one speaker; the rest is never seen
    # poisson: each unit enters each step by its own coin, and its amplification counts. shuffle: fixed batches.
    sampling: Sampling | None = None
    adjacency: Adjacency | None = None

    epochs: int = 10
    batch_size: int = 64  # units per step; with poisson the average
    n_micro: int = 8  # paper, sound: micro-batches of a step, shared out over the processes
    clip: float = 1.0

    # the noise: either its multiplier, or the epsilon it must reach
    z0: float | None = None
    target_epsilon: float | None = None
    delta: float | None = None  # a tenth of 1/n where it is not given
    decay: Decay = "none"
    tau: float = 0.0
    alpha: AlphaSource = "ones"  # how clipping weighs the layers
    alpha_z: float | None = None
    public_data: str | None = None  # examples of nobody: for alpha public, and for normalisation by public statistics

    # an exported model to begin with, learnt from public data alone: no epsilon covers what it gives away
    public_weights: str | None = None

    optimizer: Literal["adam", "sgd"] = "adam"
    learning_rate: float = 1e-3

    # the schema; taken from the data where it is not declared
    intents: tuple[str, ...] | None = None
    slots: tuple[str, ...] | None = None

    train_split: str | None = None  # keep rows whose `split` is this
    validation: str | None = None  # other data; or rows of another split; or a share of the data
    validation_split: str | None = None
    validation_share: float = 0.1
    validation_is_public: bool = False  # only then scores stand on the card, and decide when to stop
    patience: int | None = None  # epochs without a better validation score before training stops

    checkpoint_steps: int = 100
    rows_at_once: int = 512  # per_example: rows of one pass; more only costs memory
    # paper, sound: micro-batches of a process in one pass, where each layer has a rule for clipping; equal up to rounding
    micro_at_once: bool = False
    device: Literal["auto", "cpu", "cuda"] = "auto"
    mixed_precision: bool = False

    def __post_init__(self) -> None:
        private, micro = self.mode != "plain", self.mode in ("paper", "sound")
        known = table("tasks")
        require(
            (self.task in known, f"task: {self.task!r} is not known; allowed: {', '.join(known)}"),
            (self.epochs >= 1, f"epochs: {self.epochs} is less than 1"),
            (self.batch_size >= 1, f"batch_size: {self.batch_size} is less than 1"),
            (self.n_micro >= 1 and (not micro or self.n_micro <= self.batch_size),
             f"n_micro: {self.n_micro} does not lie between 1 and batch_size"),
            (self.clip > 0, f"clip: {self.clip} is not above 0"),
            (self.learning_rate > 0, f"learning_rate: {self.learning_rate} is not above 0"),
            (0 <= self.validation_share < 1, "validation_share: must lie in [0, 1)"),
            (self.patience is None or self.patience >= 1, "patience: must be at least 1"),
            (self.patience is None or self.validation_is_public or not private, "patience: when to stop would be told by "
             "private examples, which no epsilon covers; validate on public ones (validation, validation_is_public: true)"),
            (self.checkpoint_steps >= 1, "checkpoint_steps: must be at least 1"),
            (self.rows_at_once >= 1, "rows_at_once: must be at least 1"),
            (not self.micro_at_once or micro, f"micro_at_once: mode {self.mode} has no micro-batches"),
            (self.longest_speaker >= 1, "longest_speaker: must be at least 1"),
            (not private or self.z0 is not None or self.target_epsilon is not None,
             f"z0: mode {self.mode} adds noise; give z0, or target_epsilon"),
            (not (self.mode == "paper" and self.z0 is None), "z0: mode paper needs z0; its formula is no bound that a "
             "target_epsilon could be held to"),
            (not (self.mode == "paper" and self.unit == "speaker"), "unit: the published algorithm protects examples; "
             "use mode sound or per_example for speakers"),
            (not (self.mode == "paper" and self.sampling == "poisson"), "sampling: the published algorithm shuffles"),
            (not (self.alpha == "private_batch" and self.mode != "paper"), "alpha: scaling measured on a private batch "
             "without noise is not private; use public, parameter_counts or noisy_release"),
            (self.alpha != "public" or self.public_data is not None, "public_data: missing; alpha public needs it"),
            (self.alpha != "noisy_release" or self.alpha_z is not None, "alpha_z: missing; the release of alpha is "
             "charged, give its noise multiplier"),
            (not micro or self.drawn_by != "shuffle" or self.batch_size % self.n_micro == 0, f"n_micro: {self.n_micro} does "
             f"not divide batch_size {self.batch_size}; shuffled micro-batches are of one size"),
        )  # fmt: skip

    @property
    def member(self) -> Spec:
        """The model, which must be one for this task."""
        spec = read_spec("training", self.model or task_of(self.task).default_model)
        made = spec.make()
        require((made.task == self.task, f"model: {spec.name} is for task {made.task}; the task here is {self.task}"))
        require(
            (not made.needs_public or self.public_data is not None, f"public_data: missing; {spec.name} measures public "
             "examples at every step, as its options say"),
            (not made.mixes_rows or self.drawn_by == "shuffle", "sampling: statistics over all rows of a batch are counted "
             "for batches of a fixed size; use sampling: shuffle, or another norm"),
            (not made.mixes_rows or self.mode in ("per_example", "plain"), "mode: statistics over all rows of a batch are "
             "those of DPSGD + BN, which clips each example: use mode per_example, or another norm"),
            (not made.mixes_rows or self.z0 is not None or self.mode == "plain", "z0: missing; with statistics over all "
             "rows of a batch no target_epsilon can be held to"),
            (not made.mixes_rows or self.unit != "speaker", "unit: statistics over all rows of a batch are counted for "
             "examples"),
        )  # fmt: skip
        return spec

    @property
    def protects(self) -> Literal["example", "speaker"]:
        """The unit; until the data have said whether speakers are known, an example."""
        return self.unit or "example"

    @property
    def may_protect_speakers(self) -> bool:
        """Whether a speaker may be the unit: not in modes paper and plain, nor where a model mixes the rows of a batch."""
        return self.mode in ("sound", "per_example") and not self.member.make().mixes_rows

    @property
    def drawn_by(self) -> Sampling:
        """Poisson where its amplification may be claimed; the published and the plain algorithm shuffle."""
        return self.sampling or ("poisson" if self.mode in ("sound", "per_example") else "shuffle")

    @property
    def neighbours(self) -> Adjacency:
        """What two neighbouring data sets differ in: as set, else what the way of sampling is accounted for."""
        return self.adjacency or ("add_remove" if self.drawn_by == "poisson" else "replace_one")
