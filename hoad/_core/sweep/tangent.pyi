"""The forward sweep, by transposed templates."""

from typing import final

from typing_extensions import Self

from hoad._core.sweep.builder import Emitter
from hoad._core.graph.primitive import Signature
from hoad._core.graph.tape import Graph
from hoad._core.sweep.rule_template import Template

@final
class ForwardSweep:
    """One forward sweep over the nodes from `low` up to `high`."""

    def __new__(cls, graph: Graph, emitter: Emitter, low: int, high: int, notes: bool = False) -> Self: ...

def transposed(sig: Signature, active: int) -> Template: ...
