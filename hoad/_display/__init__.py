"""Programs made visible: as tables, as graphs, and as a page to explore them in.

`Program.table`, `records`, `to_dot` and `explore` are the methods; ``print(program)`` shows the table of its tapes.
"""

from hoad._display.table import format_program

__all__ = ["format_program"]
