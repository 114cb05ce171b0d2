"""What a function read besides its arguments, and whether it is still so."""

from collections.abc import Iterable
from typing import Any, Final

from typing_extensions import Self

from hoad._core.graph.tape import Graph

KINDS: Final[dict[str, int]]
ABSENT: Final[object]

class Environment:
    """What was read, as it was."""

    def __new__(cls, watches: Iterable[tuple[str, Any, Any, Any, str]]) -> Self: ...
    @property
    def size(self) -> int: ...
    def changed_arrays(self) -> list[Any]: ...
    def has_same(self, other: Environment) -> bool: ...
    def change(self) -> str | None: ...
    def share(self, graph: Graph) -> None: ...
