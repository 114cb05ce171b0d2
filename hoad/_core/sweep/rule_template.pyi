"""Rules recorded once and spliced into tapes."""

from collections.abc import Sequence
from typing import Any, final

from hoad._core.graph.primitive import Primitive, Signature
from hoad._core.graph.tape import Aval, Graph

@final
class Template:
    """A rule recorded at a signature, for the operands that are asked for."""

    @property
    def graph(self) -> Graph: ...
    @property
    def signature(self) -> Signature: ...
    @property
    def mode(self) -> str: ...
    @property
    def active(self) -> int: ...

def template_of(
    primitive: Primitive, params: Any, avals: Sequence[Aval], active: int, mode: str = "vjp"
) -> Template: ...
def kept_arrays() -> int: ...
def template_rows(template: Template) -> dict[str, Any]: ...
