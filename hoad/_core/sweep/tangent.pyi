"""The forward sweep, by transposed templates."""

from collections.abc import Sequence
from typing import Any, final

from typing_extensions import Self

from hoad._core.graph.primitive import Primitive, Signature
from hoad._core.graph.tape import AbstractValue, Graph
from hoad._core.sweep.builder import Builder
from hoad._core.sweep.rule_template import RuleTemplate

@final
class ForwardSweep:
    """One forward sweep over the nodes from `low` up to `high`."""

    def __new__(cls, graph: Graph, builder: Builder, low: int, high: int, notes: bool = False) -> Self: ...

def transposed(sig: Signature, active: int) -> RuleTemplate: ...
def template_of(
    primitive: Primitive, params: Any, avals: Sequence[AbstractValue], active: int, mode: str = "vjp"
) -> RuleTemplate: ...
