"""The entries of the matrix that a linear sweep over numbers is."""

from collections.abc import Callable
from typing import Any, final

from typing_extensions import Self

from hoad._core.graph.tape import Graph
from hoad._core.sweep.builder import Builder

@final
class EntryList:
    """A list of entries that grows, of which sets are stretches."""

@final
class NumberSweep:
    """A sweep of which the sets of all numbers, and of the items of all arrays, are to be found."""

    def __new__(
        cls, graph: Graph, builder: Builder, seed: int, output: int, moved: Callable[[int, list[int]], Any]
    ) -> Self: ...
