from typing import Any

from hoad._core.graph.primitive import Primitive
from hoad._core.graph.tape import AbstractValue, Graph

def apply_primitive(primitive: Primitive, params: Any, *values: Any) -> Any: ...
def record_known(
    graph: Graph, primitive: Primitive, params: Any, operands: list[int], values: list[Any]
) -> tuple[Any, ...]: ...
def apply_assembly(aval: AbstractValue, offsets: Any, parts: tuple[Any, ...], *values: Any) -> Any: ...
