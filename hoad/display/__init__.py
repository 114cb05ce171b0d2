"""Programs as text: ``print(program)`` shows the table of its tapes."""

from functools import partial

from hoad.display.table import ROWS, format_program
from hoad.program import Program

Program._format = partial(format_program, rows=ROWS)

__all__ = ["format_program"]
