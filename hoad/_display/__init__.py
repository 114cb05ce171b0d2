"""Programs made visible: as tables, as graphs, and as a page to explore them in.

`Program.table`, `records`, `to_dot` and `explore` are the methods; ``print(program)`` shows the table of its tapes.
"""

from hoad._display import formats
from hoad._display.table import format_program
from hoad._program.program import Program

Program._display = formats

__all__ = ["format_program"]
