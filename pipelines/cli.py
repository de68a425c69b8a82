"""The command line. One row adds a command: its words, the module that holds it, and one line of help.

A command module has `EXAMPLES` (text), `add_arguments(parser)` and `run(args) -> exit code`. Only the module of the
command that was asked for is imported, so that `sottovoce --help` answers at once.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import os
import select
import sys
from collections.abc import Sequence

from sottovoce.models.errors import DEBUG, Refusal, SettingsError, SottovoceError, told_by_place, unwritable
from sottovoce.pipelines.local.beam_alone import reach_elsewhere

COMMANDS = {
    "try": ("sottovoce.try_it", "show what happens to one text or recording"),
    "init": ("sottovoce.pipelines.commands.init", "look at a corpus, and propose a job for it"),
    "sanitize": ("sottovoce.pipelines.commands.sanitize", "turn a corpus into safe data sets"),
    "finish": ("sottovoce.pipelines.commands.finish", "commit a run that was submitted and left alone"),
    "nightly": ("sottovoce.pipelines.commands.nightly", "sanitise what no committed run has taken yet"),
    "ledger": ("sottovoce.pipelines.commands.ledger", "what all nights have taken and spent together"),
    "forget": ("sottovoce.pipelines.commands.forget", "take people out of every run, and keep them out"),
    "audit": ("sottovoce.pipelines.commands.audit", "attack a committed run, and say whether it held"),
    "challenge": ("sottovoce.pipelines.commands.challenge", "files for outsiders who attack a run's voices blind"),
    "challenge attack": (
        "sottovoce.pipelines.commands.challenge_attack",
        "scores of our own attacker, from those files alone",
    ),
    "challenge score": ("sottovoce.pipelines.commands.challenge_score", "judge an outsider's scores with the key"),
    "export": ("sottovoce.pipelines.commands.export", "write a committed run as Kaldi, NeMo, CoNLL or Lhotse"),
    "start-training": (
        "sottovoce.pipelines.commands.start_training",
        "start a training job from a committed run, once",
    ),
    "jobs": ("sottovoce.pipelines.commands.jobs", "status, logs and cancelling of training jobs"),
    "build text": ("sottovoce.pipelines.commands.build_text", "train a detector of sensitive words from labelled text"),
    "build align": ("sottovoce.pipelines.commands.build_align", "bring the aligner nearer to a corpus"),
    "build voice": ("sottovoce.pipelines.commands.build_voice", "make a pool of speakers for the phonetic voice"),
    "build rewriter": ("sottovoce.pipelines.commands.build_rewriter", "train the auto-encoder that rewrites by ADePT"),
    "align": ("sottovoce.pipelines.commands.align", "write when each word is said, as CTM, TextGrid and JSON"),
    "calls": ("sottovoce.pipelines.commands.calls", "cut long and two-sided recordings into utterances"),
    "mask": ("sottovoce.pipelines.commands.mask", "remove chosen words from recordings and their texts"),
    "evaluate align": ("sottovoce.pipelines.commands.evaluate_align", "word borders, and texts that were not said"),
    "evaluate mask": ("sottovoce.pipelines.commands.evaluate_mask", "cover of sensitive words, and misplaced masks"),
    "evaluate slices": ("sottovoce.pipelines.commands.evaluate_slices", "whether slices can be put back together"),
    "evaluate voice": ("sottovoce.pipelines.commands.evaluate_voice", "who is recognised, and what speech is worth"),
    "evaluate acoustic": (
        "sottovoce.pipelines.commands.evaluate_acoustic",
        "what speech teaches a recogniser, against what it tells",
    ),
    "evaluate exposure": (
        "sottovoce.pipelines.commands.evaluate_exposure",
        "what a language model remembers of lines it was trained on",
    ),
    "evaluate scores": ("sottovoce.pipelines.commands.evaluate_scores", "EER, Cllr and D_sys of lists of scores"),
    "evaluate detect": ("sottovoce.pipelines.commands.evaluate_detect", "recall and over-masking of a detector"),
    "evaluate utility": ("sottovoce.pipelines.commands.evaluate_utility", "what text is worth after each strategy"),
    "evaluate rewrite": (
        "sottovoce.pipelines.commands.evaluate_rewrite",
        "what rewriting leaves to learn and to attack",
    ),
    "budget rr": ("sottovoce.pipelines.commands.budget_rr", "plan the epsilon of replacing sensitive words"),
    "budget adept": ("sottovoce.pipelines.commands.budget_adept", "plan the noise on latent vectors of ADePT"),
    "train": ("sottovoce.pipelines.commands.train", "train a model from a sink with differential privacy"),
    "predict": ("sottovoce.pipelines.commands.predict", "what a trained model answers"),
    "evaluate training": (
        "sottovoce.pipelines.commands.evaluate_training",
        "what each way of training is worth, gives away and costs",
    ),
    "evaluate norms": (
        "sottovoce.pipelines.commands.evaluate_norms",
        "how deep a private network of speech may be, by its normalisation",
    ),
    "serve": ("sottovoce.pipelines.commands.serve", "the models over HTTP, and a page to try them"),
    "budget edp": ("sottovoce.pipelines.commands.budget_edp", "plan the epsilon of private training"),
    "schema": ("sottovoce.pipelines.commands.schema", "JSON schema of job and train files and of audit.json"),
    "completion": ("sottovoce.pipelines.commands.completion", "completion of commands and flags for bash and zsh"),
}

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_NOBODY_READS = 0, 1, 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """`sottovoce`: the exit code of the command that the arguments name."""
    try:
        try:
            return _main(argv)
        finally:
            sys.stdout.flush()  # here, and not at the exit of the interpreter, which would complain with a stack
    except BrokenPipeError:  # `| head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_NOBODY_READS


def _nobody_reads() -> bool:
    """Whether the pipe that takes our output has lost its reader."""
    asked = select.poll()
    try:
        asked.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):
        return False
    return any(event & select.POLLERR for _, event in asked.poll(0))


def _main(argv: Sequence[str] | None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    name, rest = _split_command(arguments)
    if name is None:
        return _show_overview(arguments)
    arguments, beam_arguments = _split_beam(rest)
    module = importlib.import_module(COMMANDS[name][0])
    parser = argparse.ArgumentParser(
        prog=f"sottovoce {name}",
        description=f"{COMMANDS[name][1][0].upper()}{COMMANDS[name][1][1:]}.",
        epilog=f"examples:\n{module.EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    if empty := _empty(arguments):
        parser.error(f"argument {empty}: is empty; is a variable of the shell not set?")
    args = parser.parse_args(arguments)
    args.beam_arguments = beam_arguments
    try:
        reach_elsewhere(arguments, beam_arguments)
        return module.run(args)
    except SettingsError as error:
        for problem in error.problems:
            print(f"error: {problem}", file=sys.stderr)
        return EXIT_USAGE
    except SottovoceError as error:
        accepted = f"; accepted: {error.allowed}" if isinstance(error, Refusal) else ""
        print(f"error: {error}{accepted}", file=sys.stderr)
        return EXIT_FAILED
    except Exception as error:  # a traceback would quote what the command was working on
        if isinstance(error, BrokenPipeError) and _nobody_reads():
            raise
        if os.environ.get(DEBUG):
            raise
        print(f"error: {_told(error, arguments)}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        print("interrupted: nothing was committed; run the same command again to complete it", file=sys.stderr)
        return EXIT_INTERRUPTED


def _empty(arguments: list[str]) -> str | None:
    """An option that was given nothing: an output without a name would be the folder that one stands in."""
    pairs = itertools.pairwise(arguments)
    spaced = [option for option, value in pairs if option.startswith("--") and not value.strip()]
    return next(iter([*spaced, *(one[:-1] for one in arguments if one.startswith("--") and one.endswith("="))]), None)


def _told(error: Exception, arguments: list[str]) -> str:
    """An error that nobody foresaw, without its words: they may quote a record. Names of files only if they were typed."""
    if isinstance(error, OSError) and (said := unwritable(error)):
        return (
            f"a file could not be written or read ({said}); nothing more was done. Make room, or give it the rights, where "
            "the output and temporary files lie; then run the same command again"
        )
    typed = str(getattr(error, "filename", None))
    if isinstance(error, FileExistsError | NotADirectoryError | IsADirectoryError) and typed in arguments:
        return f"{typed}: is {'a folder' if os.path.isdir(typed) else 'a file, and no folder'}; give another name"
    return f"unexpected {told_by_place(error)}; set {DEBUG}=1 to see all of it"


def _split_command(arguments: list[str]) -> tuple[str | None, list[str]]:
    """The longest row of the table that the arguments begin with ("budget rr" before "budget")."""
    for words in (2, 1):
        name = " ".join(arguments[:words])
        if len(arguments) >= words and name in COMMANDS:
            return name, arguments[words:]
    return None, arguments


def _split_beam(arguments: list[str]) -> tuple[list[str], list[str]]:
    """What stands after `--` belongs to Beam and is passed on unchanged."""
    if "--" in arguments:
        at = arguments.index("--")
        return arguments[:at], arguments[at + 1 :]
    return arguments, []


def _show_overview(arguments: list[str]) -> int:
    asked = not arguments or arguments[0] in ("-h", "--help")
    out = sys.stdout if asked else sys.stderr
    if arguments[:1] == ["--version"]:
        from importlib.metadata import version

        print(version("sottovoce"))
        return EXIT_OK
    prefix = "" if asked else arguments[0]
    rows = {name: row for name, row in COMMANDS.items() if name.startswith(prefix + " ")} or COMMANDS
    if not asked and rows is COMMANDS:
        print(f"error: {arguments[0]!r} is not a command; allowed: {', '.join(COMMANDS)}", file=out)
        return EXIT_USAGE
    print("usage: sottovoce COMMAND [options]      (sottovoce COMMAND --help shows options and examples)\n", file=out)
    for name, (_, text) in rows.items():
        print(f"  {name:<18} {text}", file=out)
    if asked:
        print("\nexample:\n  sottovoce sanitize --input examples/demo --output out", file=out)
    return EXIT_OK if asked else EXIT_USAGE


if __name__ == "__main__":
    sys.exit(main())
