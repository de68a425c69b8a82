"""The rules of the layout, as tests: who imports whom, how long a module may be, what is public, what the README promises."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("models", "transforms", "pipelines")
MAX_MODULE_LINES, MAX_FUNCTION_LINES = 300, 60
FORBIDDEN_NAMES = {"utils", "helpers", "common", "manager", "base"}
HEAVY = {"torch", "flair", "transformers", "librosa", "apache_beam", "onnxruntime", "sklearn", "pandas"}


def modules(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def imports_of(path: Path) -> list[str]:
    """Every module that the file imports, at any depth."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", modules(*FOLDERS, "tests", "benchmarks", "tools"), ids=name_of)
def test_nothing_imports_the_folders_by_their_bare_names(path):
    bare = {name for name in imports_of(path) if name.split(".")[0] in (*FOLDERS, "runner_configs")}
    assert not bare, f"import through sottovoce.*: {bare}"


@pytest.mark.parametrize("path", modules("models"), ids=name_of)
def test_models_know_neither_beam_nor_yaml_nor_the_layers_above(path):
    forbidden = ("apache_beam", "yaml", "flask", "fastapi", "sottovoce.transforms", "sottovoce.pipelines")
    assert not [name for name in imports_of(path) if name.startswith(forbidden)]


@pytest.mark.parametrize("path", modules("transforms"), ids=name_of)
def test_transforms_do_not_know_the_pipelines(path):
    assert not [name for name in imports_of(path) if name.startswith("sottovoce.pipelines")]


@pytest.mark.parametrize("path", modules("models"), ids=name_of)
def test_a_family_imports_no_other_family(path):
    parts = path.relative_to(ROOT / "models").parts
    families = {folder.name for folder in (ROOT / "models").iterdir() if (folder / "__init__.py").exists()}
    if len(parts) == 1:
        return  # a top-level module of models is shared by the families
    imported = {
        name.split(".")[2] for name in imports_of(path) if name.startswith("sottovoce.models.") and name.count(".") >= 2
    }
    assert not (imported & families) - {parts[0]}


@pytest.mark.parametrize("path", modules(*FOLDERS), ids=name_of)
def test_modules_and_functions_stay_short_and_well_named(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MAX_MODULE_LINES
    assert path.stem not in FORBIDDEN_NAMES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < MAX_FUNCTION_LINES, f"{node.name} is too long"
    assert not path.name.endswith("__init__.py") or path.parent.name or ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("path", [p for p in modules(*FOLDERS) if p.read_text().strip()], ids=name_of)
def test_every_module_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_no_package_at_the_root_nor_in_tests():
    assert not (ROOT / "__init__.py").exists()
    assert not list((ROOT / "tests").rglob("__init__.py"))


@pytest.mark.parametrize("module", ["sottovoce.pipelines.cli", "sottovoce.pipelines.job_file"])
def test_help_and_job_checks_load_nothing_heavy(module):
    code = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not HEAVY & set(loaded)


def test_make_targets_that_the_readme_names_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"^\s*make ([a-z-]+)", (ROOT / "README.md").read_text(), re.M))
    assert named and named <= targets


def test_commands_that_the_readme_shows_are_accepted_by_the_parser():
    import argparse
    import importlib
    import shlex

    from sottovoce.pipelines.cli import COMMANDS, _split_beam, _split_command

    text = re.sub(r"\\\n\s*", " ", (ROOT / "README.md").read_text())
    lines = re.findall(r"^\s*(?:\.venv/bin/)?sottovoce (.+)$", text, re.M)
    assert lines
    for line in lines:
        name, rest = _split_command(shlex.split(line.split("  #")[0]))
        assert name in COMMANDS, line
        if "--help" in rest:
            continue
        parser = argparse.ArgumentParser()
        importlib.import_module(COMMANDS[name][0]).add_arguments(parser)
        parser.parse_args(_split_beam(rest)[0])


def test_ci_runs_the_command_that_the_readme_names():
    assert "make test" in (ROOT / ".ci" / "run").read_text()
