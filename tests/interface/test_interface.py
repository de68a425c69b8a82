"""The Python interface: what its docstrings show is true, it is light to import, and it does what the pipeline does."""

from __future__ import annotations

import doctest
import importlib
import json
import secrets
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sottovoce
from sottovoce.models.errors import SettingsError
from sottovoce.models.records import Slot

ROOT = Path(__file__).parents[2]
MODULES = ("", "keys", "on_text", "on_speech", "on_corpora", "budget")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_what_the_docstrings_show_is_what_comes_out(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    module = importlib.import_module(f"sottovoce.{name}".rstrip("."))
    result = doctest.testmod(module, optionflags=FLAGS)
    assert result.attempted and not result.failed


def test_importing_the_package_loads_nothing():
    code = "import sys, sottovoce; print(len([name for name in sys.modules if name.startswith('sottovoce')]))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(shown) <= 3  # itself, and the finder of an editable install


@pytest.mark.slow
def test_a_text_needs_neither_beam_nor_torch():
    code = "import sys, sottovoce; sottovoce.replace('call anna', 'full'); print({'apache_beam', 'torch'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "set()"


def test_every_name_is_there_typed_and_documented():
    assert (ROOT / "interface" / "py.typed").exists()
    for name in sottovoce.__all__:
        assert getattr(sottovoce, name).__doc__, name
    assert sottovoce.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="it has: detect"):
        sottovoce.detekt  # noqa: B018


@pytest.mark.slow
def test_a_text_is_replaced_as_the_pipeline_replaces_it(tmp_path):
    """The same secret, ids and settings: the same words, drawn by two ways in."""
    text, secret = "remind anna to call bob in leeds", secrets.token_bytes(32)
    key = tmp_path / "secret"
    key.touch(0o600)
    key.write_bytes(secret)
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps({"id": "7", "dialogue_id": "d", "text": text, "intent": "i", "slots": []}) + "\n")
    strategy = {"use": "full", "target_epsilon": 6.0}
    run = sottovoce.sanitize(
        str(corpus), str(tmp_path / "out"), secret_file=str(key), sinks={"slu": 1}, replace=strategy
    )
    [record] = run.table("slu").to_pylist()
    alone = sottovoce.replace(text, strategy, secret=secret, id="7", dialogue_id="d")
    assert record["text"] == alone.text != text
    assert not run.before


def test_labelled_slots_are_replaced_and_move():
    made = sottovoce.replace("call xyzzy now", "typed", detector="rules", slots=[Slot(5, 10, "contact_name")])
    assert made.text == "call [PER] now"
    assert made.slots == (Slot(5, 10, "contact_name"),)


def test_wrong_settings_are_told_as_everywhere():
    with pytest.raises(SettingsError, match="allowed: redact"):
        sottovoce.replace("x", "tiped")
    with pytest.raises(SettingsError, match="words or types"):
        sottovoce.mask("a.wav", "x")
    with pytest.raises(SettingsError, match="one of pi_min, zipf and distribution"):
        sottovoce.budget.rr(p=0.5)
    with pytest.raises(SettingsError, match="unknown key"):
        sottovoce.sanitize("x", "y", sink={"slu": 1})


@pytest.mark.parametrize("act", ["anonymise", "mask"])
def test_what_is_sensitive_in_speech_is_found_in_its_language(act, monkeypatch):
    monkeypatch.setattr("sottovoce.on_speech._run", lambda steps, spoken: spoken)
    more = {"types": ["DATE"]} if act == "mask" else {}
    silence = (np.zeros(16_000, np.float32), 16_000)
    made = getattr(sottovoce, act)(silence, "bis freitag", detector="rules", language="de", **more)
    assert [(span.begin, span.type) for span in made.utterance.spans] == [(4, "DATE")]
