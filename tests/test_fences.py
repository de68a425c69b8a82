"""The rules of the layout, as tests: who imports whom, how long a module may be, what is public, what the README promises."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("models", "transforms", "pipelines", "interface")
MAX_MODULE_LINES, MAX_FUNCTION_LINES = 300, 60
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("*.md"))]
TOP = (*FOLDERS, "runner_configs", "tests", "benchmarks", "examples", "tools", "docs")
FORBIDDEN_NAMES = {"utils", "helpers", "common", "manager", "base"}
HEAVY = {"torch", "flair", "transformers", "librosa", "apache_beam", "onnxruntime", "sklearn", "pandas"}


def modules(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@functools.cache
def imports_of(path: Path) -> list[str]:
    """Every module that the file imports, at any depth."""
    names = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


@functools.cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree_of(path)))


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def offenders(paths: list[Path], is_wrong: Callable[[Path], object]) -> dict[str, object]:
    """What is wrong, by file: one test for each rule, and all that break it at once."""
    found = {str(path.relative_to(ROOT)): is_wrong(path) for path in paths}
    return {name: wrong for name, wrong in found.items() if wrong}


def test_nothing_imports_the_folders_by_their_bare_names():
    bare = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(FOLDERS)}|runner_configs)[. ].*", re.M)
    everywhere = modules(*FOLDERS, "tests", "benchmarks", "tools")
    assert not offenders(everywhere, lambda path: bare.findall(path.read_text(encoding="utf-8")))


def test_models_know_neither_beam_nor_yaml_nor_the_layers_above():
    forbidden = ("apache_beam", "yaml", "flask", "fastapi", "sottovoce.transforms", "sottovoce.pipelines")
    assert not offenders(
        modules("models"), lambda path: [name for name in imports_of(path) if name.startswith(forbidden)]
    )


def test_nothing_below_the_interface_knows_it():
    above = re.compile(r"sottovoce\.(?!models|transforms|pipelines|runner_configs)").match
    assert not offenders(
        modules("models", "transforms", "pipelines"), lambda path: [name for name in imports_of(path) if above(name)]
    )


def test_transforms_do_not_know_the_pipelines():
    assert not offenders(
        modules("transforms"), lambda path: [n for n in imports_of(path) if n.startswith("sottovoce.pipelines")]
    )


# A module imports from levels below its own. Sideways, inside one level, only what stands here, each with its reason.
LEVELS = (
    {"records", "errors", "settings", "randomness", "tally", "secrets"},
    {"corpus", "text", "speech", "ledger", "runs"},
    {"training", "evaluation", "export", "launch", "forget"},
)
SIDEWAYS = {
    ("text", "ledger"): "a mechanism writes its own entry",
    ("speech", "ledger"): "a mechanism writes its own entry",
    ("forget", "ledger"): "forgetting says in the ledger what it can undo",
    ("text", "runs"): "labelled sets inside a run are read through its commit, whoever reads them",
    ("speech", "text"): "what a language is called is told in one place",
    ("speech", "corpus"): "recordings inside Arrow files are found by the reader of those files",
}


def test_models_import_only_from_levels_below():
    level = {family: number for number, families in enumerate(LEVELS) for family in families}

    def upwards_or_sideways(path: Path) -> set[str]:
        own = path.relative_to(ROOT / "models").parts[0].removesuffix(".py")
        named = {name.split(".")[2] for name in imports_of(path) if name.startswith("sottovoce.models.")} & set(level)
        foreign = {family for family in named - {own} if level[family] >= level[own] and (own, family) not in SIDEWAYS}
        return foreign if level[own] else foreign - LEVELS[0]  # the core is one

    below = [path for path in modules("models") if path != ROOT / "models" / "__init__.py"]
    assert not offenders(below, upwards_or_sideways)


def test_nothing_loose_in_models_but_the_core():
    assert {path.stem for path in (ROOT / "models").glob("*.py")} <= LEVELS[0] | {"__init__"}


def test_every_allowed_sideways_import_is_used():
    used = {
        (path.relative_to(ROOT / "models").parts[0], name.split(".")[2])
        for path in modules("models")
        for name in imports_of(path)
        if name.startswith("sottovoce.models.")
    }
    assert not set(SIDEWAYS) - used


def test_modules_and_functions_stay_short_and_well_named():
    def too_much(path: Path) -> list[str]:
        functions = [node for node in nodes_of(path) if isinstance(node, ast.FunctionDef)]
        wrong = [node.name for node in functions if node.end_lineno - node.lineno >= MAX_FUNCTION_LINES]
        wrong += ["module"] if path.read_text().count("\n") > MAX_MODULE_LINES else []
        return wrong + (["name"] if path.stem in FORBIDDEN_NAMES else [])

    assert not offenders(modules(*FOLDERS), too_much)


# A row of two tables is named alike in both.
IN_TWO_FAMILIES = {
    "Conll": "a layout that is read and written",
    "Kaldi": "a layout that is read and written",
    "HuggingFace": "models of one library, as detectors and as recognisers",
    "Surrogate": "a value drawn in place of another, in text and in speech",
    "Whisper": "one network, and the aligner that it makes",
    "XVector": "one network, as a speaker encoder and as a voice",
    "Replaced": "the service answers with what the Python interface gives",
}


def test_one_name_is_one_thing():
    where: dict[str, list[str]] = {}
    for path in modules(*FOLDERS):
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    twice = {name: paths for name, paths in where.items() if len(paths) > 1}
    assert not {name: paths for name, paths in twice.items() if name not in IN_TWO_FAMILIES}
    assert not set(IN_TWO_FAMILIES) - set(twice)


def test_nobody_is_asked_whether_they_have_an_attribute():
    """A Protocol says everything that is used of a member; what only some can do is a class that they inherit."""
    assert not offenders(modules(*FOLDERS), lambda path: "hasattr(" in path.read_text(encoding="utf-8"))

    def defaults(path: Path) -> list[str]:
        calls = (node for node in nodes_of(path) if isinstance(node, ast.Call) and len(node.args) == 3)
        return [ast.unparse(call) for call in calls if isinstance(call.func, ast.Name) and call.func.id == "getattr"]

    found = {call for calls in offenders(modules(*FOLDERS), defaults).values() for call in calls}
    assert found == NOT_MEMBERS


# Of objects that are not ours: errors, libraries, types, layers, routes and lists of others, a thread's own store.
NOT_MEMBERS = {
    "getattr(error, 'errno', None)",
    "getattr(error, 'filename', None)",
    "getattr(error, 'strerror', None)",
    "getattr(encoder, 'pooler', None)",
    "getattr(layer, 'variance_epsilon', None)",
    "getattr(layer, 'eps', None)",
    "getattr(_kept, 'key', None)",
    "getattr(hint, '__name__', str(hint))",
    "getattr(provider, attribute, ())",
    "getattr(ctypes.CDLL(None), 'mallopt', None)",
    "getattr(scope.get('route'), 'path', 'other')",
}


def test_every_module_says_what_it_is_for():
    written = [path for path in modules(*FOLDERS) if path.read_text().strip()]
    assert not offenders(written, lambda path: not ast.get_docstring(tree_of(path)))


def test_what_a_newcomer_meets_first_says_what_it_is():
    """The Python interface, the core, and every family's table with what a member must have."""

    def silent(path: Path) -> list[str]:
        public = [node for node in tree_of(path).body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
        return [node.name for node in public if not node.name.startswith("_") and not ast.get_docstring(node)]

    families = [path for path in modules(*FOLDERS) if path.name == "__init__.py"]
    core = [*(ROOT / "models").glob("*.py"), ROOT / "transforms/engine/job.py", ROOT / "transforms/engine/stage.py"]
    chains = [ROOT / "models/speech/chain.py", ROOT / "models/text/chain.py", ROOT / "pipelines/sanitize/job_file.py"]
    assert not offenders([*modules("interface"), *families, *core, *chains], silent)


def test_every_public_class_and_every_method_of_a_protocol_says_what_it_is():
    """A Refusal says it by `code` and `allowed`, which operators read; nothing else is silent."""

    def silent(path: Path) -> list[str]:
        classes = [node for node in tree_of(path).body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]
        wrong = [node.name for node in classes if not ast.get_docstring(node) and not _refuses(node)]
        protocols = [node for node in classes if "Protocol" in {ast.unparse(one).split("[")[0] for one in node.bases}]
        methods = [(node.name, of) for node in protocols for of in node.body if isinstance(of, ast.FunctionDef)]
        return wrong + [f"{name}.{of.name}" for name, of in methods if of.name[0] != "_" and not ast.get_docstring(of)]

    assert not offenders(modules(*FOLDERS), silent)


def test_every_public_function_says_what_it_gives():
    """But `run` and `add_arguments`, which every command has, and methods that one class documents for all that have them."""
    classes = [node for path in modules(*FOLDERS) for node in tree_of(path).body if isinstance(node, ast.ClassDef)]
    methods_of = [of for one in classes for of in one.body if isinstance(of, ast.FunctionDef)]
    documented = {of.name for of in methods_of if ast.get_docstring(of)}

    def silent(path: Path) -> list[str]:
        body = tree_of(path).body
        open_classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]
        methods = [of for one in open_classes for of in one.body if getattr(of, "name", "") not in documented]
        defined = [node for node in [*body, *methods] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        return [node.name for node in defined if node.name[0] != "_" and not ast.get_docstring(node)]

    assert not offenders(modules(*FOLDERS), lambda path: sorted({*silent(path)} - {"run", "add_arguments"}))


def _refuses(node: ast.ClassDef) -> bool:
    given = {ast.unparse(target) for line in node.body if isinstance(line, ast.Assign) for target in line.targets}
    return {"code", "allowed"} <= given


def test_no_package_at_the_root_nor_in_tests():
    assert not (ROOT / "__init__.py").exists()
    assert not list((ROOT / "tests").rglob("__init__.py"))


@pytest.mark.parametrize("module", ["sottovoce.pipelines.cli", "sottovoce.pipelines.sanitize.job_file"])
def test_help_and_job_checks_load_nothing_heavy(module):
    code = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not HEAVY & set(loaded)


@pytest.mark.slow
def test_a_run_needs_no_torch_before_a_member_asks_for_it():
    code = "import sys, sottovoce.pipelines.sanitize.run; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "transformers", "flair", "sklearn"} & set(loaded)


@pytest.mark.slow
def test_starting_a_training_loads_no_library_of_sound():
    code = (
        "import sys, sottovoce.pipelines.training.start_training; print(*{name.split('.')[0] for name in sys.modules})"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"soundfile", "soxr", "librosa", "numba", "pocketsphinx", "onnxruntime", "torch"} & set(loaded)


def test_make_targets_that_the_readme_names_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"^\s*make ([a-z-]+)", (ROOT / "README.md").read_text(), re.M))
    assert named and named <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_every_file_that_is_named_exists(page):
    text = page.read_text(encoding="utf-8")
    linked = {at.partition("#")[0] for at in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in at}
    assert not [at for at in linked if at and not (page.parent / at).exists()]
    if page.name != "CHANGELOG.md":  # which tells of files that are gone
        named = set(re.findall(rf"`((?:{'|'.join(TOP)})/[\w./-]+\.\w+)`", text))
        assert not [at for at in named if not (ROOT / at).exists() and "plates" not in at]  # a reader writes those


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


def test_every_attack_has_its_row_among_the_threats_and_every_row_its_attack():
    attacks = {path.name for path in (ROOT / "tests" / "adversary").glob("*.py")}
    assert set(re.findall(r"tests/adversary/(\w+\.py)", (ROOT / "docs" / "threats.md").read_text())) == attacks


def test_every_attack_says_who_attacks_and_is_tried_on_more_than_one_build():
    def incomplete(path: Path) -> list[str]:
        names = [node.name for node in tree_of(path).body if isinstance(node, ast.FunctionDef)]
        tried = sum(name.startswith("test_") for name in names) > 1
        said = (ast.get_docstring(tree_of(path)) or "").startswith("Attacker: ")
        checks = (("attack", "attack" in names), ("two builds", tried), ("attacker", said))
        return [what for what, holds in checks if not holds]

    assert not offenders(modules("tests/adversary"), incomplete)


def test_the_type_checker_sees_every_module_under_its_own_name():
    """mypy takes an import that it cannot follow for Any, and then checks nothing across modules."""
    seen = ROOT / "tools" / "types" / "sottovoce"
    packages = ("models", "transforms", "pipelines", "runner_configs")
    wanted = {ROOT / name for name in packages} | set((ROOT / "interface").glob("*.py"))
    assert {link.resolve() for link in seen.iterdir() if link.name != "py.typed"} == wanted
