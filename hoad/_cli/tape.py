"""`hoad tape`, once its arguments are read."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from hoad._cli.target import UsageError, find_function, read_point
from hoad._program.program import Program
from hoad._program.record import record
from hoad._transform.adjoint import gradient
from hoad.errors import HoadError, told


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Show the tapes of a function and of its derivatives; returns the exit status 0.

    Names of files that were written go to `err`.

    Raises
    ------
    UsageError
        If something cannot be found, read, recorded, differentiated or written.
    """
    if options.rows < 0:
        raise UsageError(f"--rows {options.rows} is not a number of rows. Write 0 for all of them.")
    html, dot = options.html, options.dot
    if options.open and not html:
        raise UsageError("--open opens the page that --html FILE writes. Give both.")
    program = program_of(options)
    if html:
        write(html, lambda: program.explore(html, open=options.open, title=name_of(options)), err)
    if dot and dot != "-":
        write(dot, lambda: Path(dot).write_text(program.to_dot() + "\n", encoding="utf-8"), err)
    elif dot:
        text = program.to_dot()
        _print(text, lambda: text.encode("ascii", "xmlcharrefreplace").decode("ascii"), out)  # Graphviz reads entities
    if not html and not dot:
        form = options.format, options.rows or None
        _print(program.table(*form), lambda: program.table(*form, ascii=True), out)
    return 0


def program_of(options: argparse.Namespace) -> Program:
    """The function of a command at its point, and as many derivatives as it asks for."""
    if options.order < 0:
        raise UsageError(f"--order {options.order} is not a number of derivatives. Write 0, 1, 2 or more.")
    f = find_function(options.function)
    points = tuple(read_point(text) for text in options.at)
    try:
        return derived(f, points, options.order, options.simplify)
    except (HoadError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise UsageError(f"{options.function} cannot be recorded there: {told(error)}") from error


def name_of(options: argparse.Namespace) -> str:
    """The name of the function of a command."""
    return str(options.function.partition(":")[2])


def derived(f: Callable[..., Any], points: tuple[Any, ...], order: int, simplify: bool) -> Program:
    """A program and its gradients; what gives more than one number is differentiated for a symbolic seed."""
    program = record(f, *points)
    for _ in range(order):
        single = len(program.output_types) == 1 and not program.output_types[0].shape
        program = gradient(program, None if single else "symbolic", simplify=simplify)
    return program


def write(file: str | Path, act: Callable[[], Any], err: TextIO) -> None:
    """Write a file, and say so."""
    try:
        act()
    except OSError as error:
        raise UsageError(f"{file} was not written: {error.strerror or error}") from error
    err.write(f"wrote {file}\n")


def _print(text: str, in_ascii: Callable[[], str], out: TextIO) -> None:
    """Print a text, in its other form where the encoding lacks a sign of it."""
    try:
        text.encode(out.encoding or "utf-8")
    except UnicodeEncodeError:
        text = in_ascii()
    out.write(text + "\n")
