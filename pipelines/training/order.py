"""What training is asked for: `train.yaml`, where it runs, and the gate a run must pass. Read and checked before a run
begins: a night of work, or a job that waits in a queue for hours, should not end at a typo."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from sottovoce.models.errors import SettingsError
from sottovoce.models.launch import TABLE
from sottovoce.models.ledger.gate import Gate
from sottovoce.models.settings import Spec, build, read_spec, require
from sottovoce.models.training.tasks import task_of
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.pipelines.yaml_settings import read_mapping


@dataclass(frozen=True)
class Launch:
    """A launch file: where training runs, and what a run must show before it may."""

    launch: Spec
    gate: Gate


@dataclass(frozen=True)
class TrainingOrder:
    """`settings` is the text of train.yaml as it was found good, since the file may change while a run is at work; `parsed`
    is what it says.

    `private`: whether the training adds a protection of its own; `sink`: whose rows it reads."""

    settings: str
    plan: Launch
    private: bool
    sink: str
    parsed: TrainSettings


def read_order(train_yaml: str, launch: str = "local") -> TrainingOrder:
    """`launch` is a name in runner_configs/training or a file."""
    text, settings = _read_settings(train_yaml)
    return TrainingOrder(text, read_launch(launch), settings.mode != "plain", task_of(settings.task).sink, settings)


def read_launch(launch: str) -> Launch:
    """From a YAML file or by name; a launcher that needs no settings has no file. SettingsError for anything else."""
    path = Path(launch)
    if path.suffix not in (".yaml", ".yml"):
        path = Path(str(resources.files("sottovoce.runner_configs") / "training" / f"{launch}.yaml"))
        if not path.exists():
            if launch in TABLE:  # a launcher that needs nothing said comes without a file
                return Launch(read_spec("launch", launch), Gate())
            known = ", ".join(TABLE)
            raise SettingsError([f"--launch: {launch!r} is not known; allowed: {known}, or a YAML file"])
    values = read_mapping(path, "--launch")
    unknown = [key for key in values if key not in ("launch", "gate")]
    if unknown:
        raise SettingsError([f"--launch {path}: {key}: unknown key; allowed: launch, gate" for key in unknown])
    return Launch(read_spec("launch", values.get("launch")), build(Gate, values.get("gate") or {}, "gate"))


def _read_settings(path: str) -> tuple[str, TrainSettings]:
    settings = build(TrainSettings, read_mapping(path, "train.yaml"), "train")
    require(
        (settings.train_split is None, "train_split: rows of a run have no split"),
        (settings.validation_split is None or settings.validation is not None, "validation_split: rows of a run have no split"),
        (not settings.validation_is_public or settings.validation is not None, "validation_is_public: the people of a run "
         "are not; give public examples as `validation`"),
    )  # fmt: skip
    return Path(path).read_text(encoding="utf-8"), settings
