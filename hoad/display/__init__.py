"""Programs made visible: as tables, as graphs, and as a page to explore them in.

`Program.table`, `records`, `to_dot` and `explore` are the doors; ``print(program)`` shows the table of its tapes.
"""

from hoad.display import views
from hoad.display.table import format_program
from hoad.program import Program

Program._display = views

__all__ = ["format_program"]
