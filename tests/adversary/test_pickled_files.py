"""Attacker: gives the operator a file to use: a tagger, a model's folder, features of voices, a checkpoint.

A pickle runs code when it is read, and so does a model folder that brings its own Python. The planted code makes a folder:
where that stands afterwards, the attacker has run what he liked on the machine that holds the corpus.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from adversary import dialogues, weakened
from whole_runs import sottovoce, write_manifest

pytestmark = pytest.mark.slow


class Payload:
    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def sanitize(folder: Path, detector: str) -> str:
    manifest = write_manifest(folder / "corpus", dialogues(2))
    paths = ("--input", manifest, "--output", folder / "out", "--set", "sinks={slu: 1}")
    return sottovoce("sanitize", *paths, "--set", f"detect={detector}", check=False).stderr


def tagger(folder: Path, mark: Path) -> str:
    (folder / "model.pt").write_bytes(pickle.dumps(Payload(mark)))
    return sanitize(folder, f"flair:{folder / 'model.pt'}")


def tagger_in_an_ensemble(folder: Path, mark: Path) -> str:
    (folder / "model.pt").write_bytes(pickle.dumps(Payload(mark)))
    return sanitize(folder, f"{{use: ensemble, detectors: [rules, 'flair:{folder / 'model.pt'}']}}")


def model_with_code(folder: Path, mark: Path) -> str:
    name = "AutoModelForTokenClassification"
    config = {"model_type": "ours", "auto_map": {"AutoConfig": "planted.Config", name: "planted.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "planted.py").write_text(f"import os\nos.mkdir({str(mark)!r})\n")
    return sanitize(folder, f"hf:{folder}")


def heard(folder: Path, mark: Path) -> str:
    (folder / "heard").mkdir()
    (folder / "heard" / "a.pickle").write_bytes(pickle.dumps([Payload(mark)]))
    (folder / "heard" / "b.npz").write_bytes(pickle.dumps([Payload(mark)]))
    return sottovoce("build", "voice", "--heard", folder / "heard", "--out", folder / "pool", check=False).stderr


def heard_as_objects(folder: Path, mark: Path) -> str:
    """An .npz in good order, whose arrays hold pickled objects."""
    (folder / "heard").mkdir()
    np.savez(folder / "heard" / "a.npz", names=np.array([Payload(mark)], dtype=object))
    return sottovoce("build", "voice", "--heard", folder / "heard", "--out", folder / "pool", check=False).stderr


def pool(folder: Path, mark: Path) -> str:
    from sottovoce.models.errors import SottovoceError
    from sottovoce.models.speech.voice import pool as pools

    objects = np.array([Payload(mark)], dtype=object)
    np.savez(folder / "pool.npz", **{name: objects for name in ("format", "voice", "speaker", "gender", "embedding")})
    try:
        pools.load(str(folder))
    except (SottovoceError, ValueError) as error:
        return str(error)
    return ""


def checkpoint(folder: Path, mark: Path) -> str:
    from sottovoce.models.training.loop.checkpoint import NAME, load_checkpoint

    (folder / NAME).write_bytes(pickle.dumps(Payload(mark)))
    try:
        load_checkpoint(folder)
    except Exception as error:
        return str(error)
    return ""


def attack(plant: Callable[[Path, Path], str], folder: Path) -> bool:
    """Whether the operator's program ran the planted code."""
    mark = folder / "was here"
    with contextlib.suppress(Exception):  # what becomes of the program afterwards is nothing to him
        plant(folder, mark)
    return mark.exists()


FILES = (tagger, tagger_in_an_ensemble, model_with_code, heard, heard_as_objects, pool, checkpoint)


def read_anything(path: Path) -> list:
    try:
        return pickle.loads(path.read_bytes())
    except pickle.UnpicklingError:
        with np.load(path, allow_pickle=True) as stored:
            return [stored[name] for name in stored.files]


def weaknesses(plant: Callable) -> dict[str, object]:
    import torch

    from sottovoce.models.text.detect.hf import HuggingFace

    def trusting(self):
        from transformers import AutoModelForTokenClassification

        AutoModelForTokenClassification.from_pretrained(self.model, trust_remote_code=True)

    assert HuggingFace.setup is not trusting
    by_file = {
        tagger: {"sottovoce.models.text.detect.flair_tagger:require": lambda *checks: None},
        model_with_code: {"sottovoce.models.text.detect.hf:HuggingFace.setup": trusting},
        heard: {"sottovoce.pipelines.builders.hear_corpus:read_heard": read_anything},
        pool: {"numpy:load": functools.partial(np.load, allow_pickle=True)},
        checkpoint: {"torch:load": lambda path, **_: torch.serialization.pickle.loads(Path(path).read_bytes())},
    }
    return by_file[{tagger_in_an_ensemble: tagger, heard_as_objects: heard}.get(plant, plant)]


@pytest.mark.parametrize("plant", FILES, ids=lambda plant: plant.__name__)
def test_a_build_that_trusts_files_runs_what_is_in_them(plant, tmp_path):
    with weakened("the distrust of files", weaknesses(plant)):
        assert attack(plant, tmp_path)


@pytest.mark.parametrize("plant", FILES, ids=lambda plant: plant.__name__)
def test_ours_runs_nothing_of_a_file_that_nobody_vouched_for(plant, tmp_path):
    assert not attack(plant, tmp_path)


def test_the_refusal_says_what_to_do(tmp_path):
    said = tagger(tmp_path, tmp_path / "mark")
    assert "trust: true" in said and "runs whatever code" in said
    (tmp_path / "b").mkdir()
    assert "not a file of what was heard" in heard(tmp_path / "b", tmp_path / "mark")
