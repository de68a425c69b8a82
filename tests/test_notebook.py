"""The notebook of the first steps runs as it stands, and is kept without outputs."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from whole_runs import ROOT

NOTEBOOK = ROOT / "examples" / "first_steps.ipynb"


def cells(kind):
    return [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == kind]


def run(source: str, names: dict[str, Any]) -> Any:
    """As a kernel does it: the value of the last expression is what is shown."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last is not None else None


@pytest.mark.slow
def test_every_cell_runs_and_shows_what_the_words_say(monkeypatch):
    monkeypatch.chdir(NOTEBOOK.parent)
    names: dict[str, Any] = {}
    shown = [run("".join(cell["source"]), names) for cell in cells("code")]
    found, (kept, masked_s), rows = shown[1], shown[-2], shown[-1]
    assert {"PER", "PHONE", "DATE"} <= {kind for _, kind, _ in found}
    assert kept == "my name is" and len(masked_s) == 1
    assert len(rows) == 3 and not any(name in row["text"] for row in rows for name in ("anna", "peter", "maria"))


def test_it_is_kept_without_outputs():
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells("code"))
