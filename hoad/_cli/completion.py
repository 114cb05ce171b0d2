"""`hoad completion`: what a shell needs to complete commands, options and their values, made from the parser."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

BASH = """\
_hoad() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
    if [ "$COMP_CWORD" = 1 ]; then
        words={commands}
    else
        case "${{COMP_WORDS[1]}} $before" in
{values}
        *)
            case "${{COMP_WORDS[1]}} $word" in
{options}
            esac ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _hoad hoad
"""
ZSH = """\
(( $+functions[compdef] )) || { autoload -U +X compinit && compinit -i }
autoload -U +X bashcompinit && bashcompinit
"""


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Write the script for a shell; returns the exit status 0."""
    parser: argparse.ArgumentParser = options.parser
    out.write(fish(parser) if options.shell == "fish" else (ZSH if options.shell == "zsh" else "") + bash(parser))
    return 0


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands, by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def bash(parser: argparse.ArgumentParser) -> str:
    """A function for bash; where it knows no words, bash completes names of files."""
    commands = commands_of(parser)
    values, options = [], []
    for name, command in commands.items():
        for action in command._actions:
            if action.choices:
                before = [f'"{name} {option}"' for option in action.option_strings] or [f'"{name} {name}"']
                values.append(f"        {'|'.join(before)}) words={_quoted(action.choices)} ;;")
        offered = [option for action in command._actions for option in action.option_strings]
        options.append(f'            "{name} -"*) words={_quoted(offered)} ;;')
    own = [option for action in parser._actions for option in action.option_strings]
    return BASH.format(commands=_quoted([*commands, *own]), values="\n".join(values), options="\n".join(options))


def fish(parser: argparse.ArgumentParser) -> str:
    """Lines for fish, with what the help says of each option."""
    lines = [f"complete -c hoad -n __fish_use_subcommand -a {_quoted(commands_of(parser))} -f"]
    lines += [f"complete -c hoad -n __fish_use_subcommand{rest}" for rest in _fish_options(parser)]
    for name, command in commands_of(parser).items():
        seen = shlex.quote(f"__fish_seen_subcommand_from {name}")
        lines += [f"complete -c hoad -n {seen}{rest}" for rest in _fish_options(command)]
    return "\n".join(lines) + "\n"


def _fish_options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        words = f" -a {_quoted(action.choices)} -f" if action.choices else ""
        if action.option_strings:
            names = "".join(
                f" -{'l' if option[:2] == '--' else 's'} {option.strip('-')}" for option in action.option_strings
            )
            value = " -r" if action.nargs != 0 and not isinstance(action, argparse.BooleanOptionalAction) else ""
            yield f"{names}{value}{words} -d {shlex.quote((action.help or '').replace('%%', '%'))}"
        elif words and not isinstance(action, argparse._SubParsersAction):
            yield words


def _quoted(words: Iterable[Any]) -> str:
    return shlex.quote(" ".join(map(str, words)))
