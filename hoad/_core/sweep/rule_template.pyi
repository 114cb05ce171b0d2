"""Rules recorded once and inlined into tapes."""

from typing import Any, final

from hoad._core.graph.primitive import Signature
from hoad._core.graph.tape import Graph
from hoad._core.trace.context import RUNNING as RUNNING

@final
class RuleTemplate:
    """A rule recorded at a signature, for the operands that are asked for."""

    @property
    def graph(self) -> Graph: ...
    @property
    def signature(self) -> Signature: ...
    @property
    def mode(self) -> str: ...
    @property
    def active(self) -> int: ...

def kept_arrays() -> int: ...
def template_rows(template: RuleTemplate) -> dict[str, Any]: ...
