from typing import Any, Final, final

from hoad._core.graph.primitive import Signature
from hoad._core.graph.tape import Graph
from hoad._core.trace.context import RUNNING as RUNNING

@final
class RuleTemplate:
    graph: Final[Graph]
    signature: Final[Signature]
    mode: Final[str]
    active: Final[int]

def kept_arrays() -> int: ...
def template_rows(template: RuleTemplate) -> dict[str, Any]: ...
