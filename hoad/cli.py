"""The command line: `hoad`, or `python -m hoad`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import hoad

__all__ = ["main"]


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
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 2
    try:
        return _demo(parser, options)
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
    about = "fit NIST's certified nonlinear regression data sets with exact derivatives"
    demo = commands.add_parser("demo", help=about, description=f"F{about[1:]}.", allow_abbrev=False)
    demo.add_argument(
        "--set", action="append", default=[], metavar="NAME", dest="sets",
        help="a set to fit (may be given several times, or several with commas; default: all)",
    )  # fmt: skip
    demo.add_argument(
        "--start", choices=["1", "2", "both"], default="both",
        help="NIST's starting values to begin from: 1 is far from the solution, 2 is near (default: both)",
    )  # fmt: skip
    demo.add_argument("--list", action="store_true", help="list the sets and end")
    demo.add_argument("--json", action="store_true", help="write everything as JSON, at full precision")
    return parser


def _demo(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    # Imported when asked for: the data and the drawing are no part of `import hoad`.
    from hoad.demo.command import UnknownSetError, resolve, run, show_list

    if options.list:
        return show_list(sys.stdout)
    try:
        names = resolve([name for entry in options.sets for name in entry.split(",") if name])
    except UnknownSetError as error:
        parser.exit(2, f"hoad demo: {error} See hoad demo --list.\n")
    starts = (1, 2) if options.start == "both" else (int(options.start),)
    return run(names, starts, options.json, sys.stdout, sys.stderr)
