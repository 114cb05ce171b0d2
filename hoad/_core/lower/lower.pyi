"""The interface between tapes and the engine."""

from typing import final

from typing_extensions import Self

from hoad._core.graph.tape import Graph
from hoad._core.runtime.engine import Lowered

@final
class Lowering:
    """The making of one program."""

    def __new__(cls, graph: Graph, low: int, high: int, keep: bool) -> Self: ...

def lower(
    graph: Graph,
    outputs: list[int],
    inputs: list[int],
    varying: list[bool],
    start: int = 0,
    guards: int = 0,
    keep: bool = False,
    once: bool = False,
) -> Lowered: ...

class NoValueError(RuntimeError):
    """A value is asked for that depends on an input without one."""
