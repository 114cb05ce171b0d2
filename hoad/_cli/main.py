"""The command line: `hoad`, or `python -m hoad`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

import hoad
from hoad._cli.completion import commands_of
from hoad._cli.target import UsageError, check_number_of_points, close_name


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.

    Returns
    -------
    int
        The exit status.
    """
    parser = _parser()
    given = _joined(sys.argv[1:] if arguments is None else arguments)
    commands = commands_of(parser)
    if given and given[0][:1] != "-" and given[0] not in commands:
        parser.exit(
            2, f"hoad: there is no command {given[0]!r}.{close_name(given[0], list(commands))} See hoad --help.\n"
        )
    unknown: list[str] = []
    if given[:1] == ["bench"]:  # its options are those of the benchmarks, which this parser does not know
        options = argparse.Namespace(command="bench", arguments=given[1:])
    else:
        options, unknown = parser.parse_known_args(given)
    if unknown:
        name = f"hoad {options.command}" if options.command else "hoad"
        known = [
            option for action in commands.get(options.command, parser)._actions for option in action.option_strings
        ]
        close = close_name(unknown[0], known)
        if "at" in options and not unknown[0].startswith("-"):
            close = " Write the numbers of an array with commas, as in --at 1.0,2.0."
        parser.exit(2, f"{name}: there is no {' '.join(unknown)}.{close} See {name} --help.\n")
    if options.command is None:
        parser.print_help()
        return 2
    try:
        return _run(parser, options)
    except BrokenPipeError:
        # The reader has seen enough, as in `hoad demo | head`. Python would flush once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hoad", description="Higher-order automatic differentiation of plain NumPy programs."
    )
    parser.add_argument("--version", action="version", version=f"hoad {hoad.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", title="commands")
    _add_check(commands)
    _add_tape(commands)
    _add_explore(commands)
    about = "fit NIST's certified nonlinear regression data sets with exact derivatives"
    demo = commands.add_parser("demo", help=about, description=f"F{about[1:]}.", allow_abbrev=False)
    demo.add_argument("--all", action="store_true", help="show every fit, beside what NIST certifies")
    demo.add_argument(
        "--html",
        metavar="FILE",
        default="hoad-demo.html",
        help="where to write a page with figures (default: %(default)s)",
    )
    about = "show versions, the processor and threads, as a bug report needs them"
    info = commands.add_parser("info", help=about, description=f"S{about[1:]}.", allow_abbrev=False)
    info.add_argument("--json", action="store_true", help="write it as JSON")
    commands.add_parser("bench", help="measure hoad and other libraries (in a clone: the benchmarks are not installed)")
    about = "write a script with which a shell completes commands and options"
    completion = commands.add_parser(
        "completion", help=about, description=f"W{about[1:]}.", epilog=COMPLETION_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    completion.add_argument("shell", choices=["bash", "zsh", "fish"])
    completion.set_defaults(parser=parser)
    return parser


COMPLETION_EXAMPLES = """\
examples:
  eval "$(hoad completion bash)"                       in ~/.bashrc
  eval "$(hoad completion zsh)"                        in ~/.zshrc
  hoad completion fish > ~/.config/fish/completions/hoad.fish"""


def _add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, about: str, text: str, examples: str
) -> argparse.ArgumentParser:
    """The parser of a command about a function at a point."""
    command = commands.add_parser(
        name,
        help=about,
        description=text,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument(
        "function", metavar="MODULE:FUNCTION", help="the function; the current directory is searched first"
    )
    command.add_argument(
        "--at", action="append", default=[], metavar="X",
        help="the point: 1.5, or 1.0,2.0 for an array ('1.0,' for one of length 1), or '[[1,2],[3,4]]'; once for each "
        "argument of the function, in their order",
    )  # fmt: skip
    return command


def _add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "check the derivatives of a function, hoad's or your own"
    check = _add_command(commands, "check", about, CHECK, CHECK_EXAMPLES)
    check.add_argument(
        "--along", action="append", default=[], metavar="V",
        help="the direction of the Taylor test, one for each --at (default: a random one, always the same)",
    )  # fmt: skip
    check.add_argument(
        "--order", type=int, metavar="N",
        help="the highest order of the Taylor test (default: 2, or that of the derivatives given), or of --modes "
        "(default: 4)",
    )  # fmt: skip
    check.add_argument(
        "--modes", action="store_true",
        help="compare every mode of hoad with every other, in place of the Taylor test",
    )  # fmt: skip
    check.add_argument(
        "--gradient", metavar="MODULE:FUNCTION",
        help="your own gradient (or Jacobian), to be checked component by component in place of hoad's",
    )  # fmt: skip
    check.add_argument("--hessian", metavar="MODULE:FUNCTION", help="your own Hessian, likewise")
    check.add_argument(
        "--plot", metavar="FILE", help="draw the convergence to a file, .png, .svg or .pdf (needs matplotlib)"
    )


CHECK = """\
Check derivatives: the remainder |f(x + hv) - T_n(h)| beyond the Taylor polynomial of
degree n must fall like h^(n+1) as h falls, which an error of one per cent in a derivative
spoils. What you have written by hand is compared with differences of f that carry an
estimate of their own error, and with hoad."""

CHECK_EXAMPLES = """\
examples:
  hoad check numpy:tanh --at 0.3 --order 4
  hoad check model:loss --at 1.0,2.0 --gradient model:loss_gradient
  hoad check model:loss --at=-1.0,2.0 --plot convergence.png
  hoad check model:loss --at 1.0,2.0 --modes --order 6

exit status:
  0  every derivative is right
  1  one is wrong, or could not be judged (a kink, noise)
  2  the command cannot be understood, or the function cannot be evaluated there"""


def _add_tape(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "show the tapes of a function and of its derivatives: tables, a graph, a page"
    tape = _add_command(commands, "tape", about, TAPE, TAPE_EXAMPLES)
    _add_derivatives(tape)
    tape.add_argument(
        "--format", choices=["plain", "markdown", "html"], default="plain", help="of the table (default: plain)"
    )
    tape.add_argument(
        "--rows", type=int, default=200, metavar="N",
        help="the most rows to show of a tape, the first and the last of them; 0 shows all (default: 200)",
    )  # fmt: skip
    tape.add_argument(
        "--html", metavar="FILE", help="write a page to explore the tapes in a browser, in place of the table"
    )
    tape.add_argument("--dot", metavar="FILE", help="write the graph for Graphviz, in place of the table; - for here")
    tape.add_argument("--open", action="store_true", help="open the page in the browser")


def _add_derivatives(command: argparse.ArgumentParser) -> None:
    """What tapes a command shows."""
    command.add_argument(
        "--order", type=int, default=1, metavar="N",
        help="how often to differentiate: 0 shows the recording alone (default: 1)",
    )  # fmt: skip
    command.add_argument(
        "--simplify", action=argparse.BooleanOptionalAction, default=True,
        help="as derivatives are computed, or with every node, contribution and constant, for reading",
    )  # fmt: skip


def _add_explore(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "open the tapes of a function and of its derivatives in the browser"
    explore = _add_command(commands, "explore", about, f"O{about[1:]}.", EXPLORE_EXAMPLES)
    _add_derivatives(explore)
    explore.add_argument("--html", metavar="FILE", help="write the page there (default: a temporary file)")
    explore.add_argument(
        "--open", action=argparse.BooleanOptionalAction, default=True, help="open the page, or only write it"
    )


EXPLORE_EXAMPLES = """\
examples:
  hoad explore numpy:tanh --at 0.3
  hoad explore model:loss --at 1.0,2.0 --order 2 --no-simplify
  hoad explore model:loss --at 1.0,2.0 --html tape.html --no-open

exit status:
  0  the page was written
  2  the command cannot be understood, or the function cannot be recorded there"""


TAPE = """\
Show what hoad records of a function, and the tapes of its derivatives: every operation
with its value at the point, every adjoint with the node it belongs to."""

TAPE_EXAMPLES = """\
A function of several results, and every derivative after a vector of them, is
differentiated for a symbolic seed: an input more, without a value (?).

examples:
  hoad tape numpy:tanh --at 0.3
  hoad tape model:loss --at 1.0,2.0 --no-simplify
  hoad tape model:loss --at 1.0,2.0 --order 2 --html tape.html --open
  hoad tape model:loss --at=-1.0,2.0 --dot - | dot -Tsvg > tape.svg

exit status:
  0  the tapes were shown, or written
  2  the command cannot be understood, or the function cannot be recorded there"""

POINTS = ("--at", "--along")


def _joined(arguments: Sequence[str]) -> list[str]:
    """Arguments with ``--at -1,2`` as ``--at=-1,2``: argparse would take the point for an option."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1] in POINTS and argument[:1] == "-" and argument[1:2] in tuple("0123456789."):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Run a command. Its module is imported when it is asked for: what the demo needs is no part of `import hoad`."""
    command = importlib.import_module(f"hoad._cli.{options.command}")
    try:
        if "at" in options:
            check_number_of_points(options.command, options.function, len(options.at))
        status: int = command.run(options, sys.stdout, sys.stderr)
    except UsageError as error:
        parser.exit(2, f"hoad {options.command}: {error}\n")
    return status
