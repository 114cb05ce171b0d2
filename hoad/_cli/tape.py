"""`hoad tape`, once its arguments are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from hoad._cli.target import UsageError, find_function, read_point
from hoad._program.program import Program
from hoad._program.record import record
from hoad._transform.adjoint import gradient
from hoad.errors import HoadError, told

SHOWN = 0


def run(
    target: str,
    at: Sequence[str],
    order: int,
    simplify: bool,
    format: str,
    rows: int,
    html: str | None,
    dot: str | None,
    open: bool,
    out: TextIO,
    err: TextIO,
) -> int:
    """Show the tapes of a function and of its derivatives.

    Parameters
    ----------
    target : str
        ``MODULE:FUNCTION``.
    at : sequence of str
        A point for every argument.
    order : int
        How often to differentiate.
    simplify : bool
        False keeps every node of the derivatives.
    format : str
        Of the table.
    rows : int
        The most rows of a tape in the table; 0 for all.
    html, dot : str or None
        Files for the page and the graph, in place of the table; ``-`` writes the graph to `out`.
    open : bool
        Open the page.
    out, err : file objects
        For the table, and for the names of the files that were written.

    Returns
    -------
    int
        0.

    Raises
    ------
    UsageError
        If something cannot be found, read, recorded, differentiated or written.
    """
    if order < 0:
        raise UsageError(f"--order {order} is not a number of derivatives. Write 0, 1, 2 or more.")
    if rows < 0:
        raise UsageError(f"--rows {rows} is not a number of rows. Write 0 for all of them.")
    if open and not html:
        raise UsageError("--open opens the page that --html FILE writes. Give both.")
    f = find_function(target)
    points = tuple(read_point(text) for text in at)
    try:
        program = derived(f, points, order, simplify)
    except (HoadError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise UsageError(f"{target} cannot be recorded there: {told(error)}") from error
    name = target.partition(":")[2]
    if html:
        _write(html, lambda: program.explore(html, open=open, title=name), err)
    if dot and dot != "-":
        _write(dot, lambda: Path(dot).write_text(program.to_dot() + "\n", encoding="utf-8"), err)
    elif dot:
        text = program.to_dot()
        _print(text, lambda: text.encode("ascii", "xmlcharrefreplace").decode("ascii"), out)  # Graphviz reads entities
    if not html and not dot:
        _print(program.table(format, rows or None), lambda: program.table(format, rows or None, ascii=True), out)
    return SHOWN


def derived(f: Callable[..., Any], points: tuple[Any, ...], order: int, simplify: bool) -> Program:
    """A program and its gradients; what gives more than one number is differentiated for a symbolic seed."""
    program = record(f, *points)
    for _ in range(order):
        single = len(program.output_types) == 1 and not program.output_types[0].shape
        program = gradient(program, None if single else "symbolic", simplify=simplify)
    return program


def _write(file: str, write: Callable[[], Any], err: TextIO) -> None:
    try:
        write()
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
