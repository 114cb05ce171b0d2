"""The forward sweep, by transposed templates."""

from typing import final

from typing_extensions import Self

from hoad._core.emit import Emitter
from hoad._core.primitive import Signature
from hoad._core.tape import Graph
from hoad._core.template import Template

@final
class ForwardSweep:
    """One forward sweep over the nodes from `low` up to `high`."""

    def __new__(cls, graph: Graph, emitter: Emitter, low: int, high: int, notes: bool = False) -> Self: ...

def transposed(sig: Signature, active: int) -> Template: ...
