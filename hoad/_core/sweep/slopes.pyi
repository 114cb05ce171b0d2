"""Products of slopes of absolute values."""

from hoad._core.graph.tape import Graph

class Appender:
    """What appends operations to a graph, as far as products of slopes use it."""

    @property
    def graph(self) -> Graph: ...
