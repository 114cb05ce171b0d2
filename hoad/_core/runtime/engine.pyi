"""Running lowered programs."""

from collections.abc import Iterable
from typing import Any, Final

class Lowered:
    """A program made ready to run; `lower` makes them."""

    size: Final[int]
    calls_python: Final[bool]
    products: Final[int]
    bytes: Final[int]
    varying_outputs: Final[list[bool]]
    bytes_per_lane: Final[int]
    def run(self, values: Iterable[Any], lanes: int = 1, threads: int | None = None) -> list[Any]: ...
    @property
    def worth(self) -> int: ...

class StepList:
    """Steps that a program is to have instead of those without lanes."""
