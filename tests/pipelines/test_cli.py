import importlib
import subprocess
import sys

import pytest

from sottovoce.pipelines.cli import COMMANDS, main


def test_help_lists_every_command_with_an_example(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in COMMANDS) and "example" in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_examples(name, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*name.split(), "--help"])
    shown = capsys.readouterr().out
    assert stopped.value.code == 0
    assert "examples:" in shown and f"sottovoce {name}" in shown
    assert importlib.import_module(COMMANDS[name][0]).EXAMPLES.strip()


def test_an_unknown_command_is_answered_with_the_known_ones(capsys):
    assert main(["sanitise"]) == 2
    assert "sanitize" in capsys.readouterr().err


def test_version_is_told(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip()


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["budget adept --clip 1 --dimension 8 --epsilon 1 --json", "--help"])
def test_a_reader_who_has_read_enough_is_no_error(arguments):
    """As `| head -c 0` does it: our end of the pipe is closed before anything is printed."""
    command = [sys.executable, "-m", "sottovoce.pipelines.cli", *arguments.split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, "")
