"""Running lowered programs."""

from collections.abc import Iterable
from typing import Any

class Lowered:
    """A program made ready to run; `lower` makes them."""

    @property
    def size(self) -> int: ...
    @property
    def calls_python(self) -> bool: ...
    @property
    def varying_outputs(self) -> list[bool]: ...
    @property
    def bytes_per_lane(self) -> int: ...
    def run(self, values: Iterable[Any], lanes: int = 1, threads: int | None = None) -> list[Any]: ...
    @property
    def worth(self) -> int: ...

class Steps:
    """Steps that a program is to have instead of those without lanes."""
