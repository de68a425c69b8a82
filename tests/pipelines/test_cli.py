import importlib
import subprocess
import sys

import pytest

from sottovoce.pipelines.cli import COMMANDS, EXIT_USAGE, _told, main


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


@pytest.mark.parametrize("given", [("--output", ""), ("--output", " "), ("--output=",)])
def test_an_option_that_was_given_nothing_is_told_and_is_not_the_folder_one_stands_in(given, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["sanitize", "--input", "corpus.jsonl", *given])
    assert ended.value.code == EXIT_USAGE and "argument --output: is empty" in capsys.readouterr().err


def test_a_name_that_was_typed_and_is_a_file_is_named_and_others_are_not(tmp_path):
    (tmp_path / "out").write_text("")
    try:
        (tmp_path / "out").mkdir()
    except FileExistsError as error:
        assert _told(error, ["--output", str(tmp_path / "out")]).endswith(
            "out: is a file, and no folder; give another name"
        )
        assert str(tmp_path) not in _told(error, [])
