"""`sottovoce completion`: a script for the shell, made from the commands and flags that there are."""

from __future__ import annotations

import argparse
import importlib

EXAMPLES = """\
  sottovoce completion bash > ~/.local/share/bash-completion/completions/sottovoce
  sottovoce completion zsh >> ~/.zshrc
"""

SCRIPT = """\
_sottovoce() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" two="${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}}" words
  case "$two" in
{of_two}
    *) case "${{COMP_WORDS[1]}}" in
{of_one}
      *) words="{firsts}" ;;
    esac ;;
  esac
  if (( COMP_CWORD == 1 )); then words="{firsts}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [[ "$word" != -* && COMP_CWORD -gt 1 && ${{#COMPREPLY[@]}} -eq 0 ]]; then COMPREPLY=($(compgen -f -- "$word")); fi
}}
complete -o filenames -F _sottovoce sottovoce
"""
ZSH = "autoload -U +X compinit && compinit; autoload -U +X bashcompinit && bashcompinit\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh"))


def run(args: argparse.Namespace) -> int:
    print((ZSH if args.shell == "zsh" else "") + script(), end="")
    return 0


def script() -> str:
    """A bash function that completes commands, their flags, and files where no word fits; zsh runs it through bashcompinit."""
    from sottovoce.pipelines.cli import COMMANDS

    flags = {name: " ".join(flags_of(module)) for name, (module, _) in COMMANDS.items()}
    firsts = sorted({name.split()[0] for name in COMMANDS})
    groups = {first: [name.split()[1] for name in COMMANDS if name.startswith(f"{first} ")] for first in firsts}
    of_two = [f'    "{name}"*) words="{words}" ;;' for name, words in flags.items() if " " in name]
    of_one = [f'      {name}) words="{flags.get(name, "")} {" ".join(groups[name])}" ;;' for name in firsts]
    return SCRIPT.format(of_two="\n".join(of_two), of_one="\n".join(of_one), firsts=" ".join(firsts))


def flags_of(module: str) -> list[str]:
    """The long flags of the command in a module, in the order of its help."""
    parser = argparse.ArgumentParser()
    importlib.import_module(module).add_arguments(parser)
    return [option for action in parser._actions for option in action.option_strings if option.startswith("--")]
