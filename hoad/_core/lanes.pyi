"""Running a lowered program for the rows of arrays at once."""

from collections.abc import Sequence
from typing import Any, final

from typing_extensions import Self

from hoad._core.engine import Lowered

@final
class Lanes:
    """One run of a program for all rows."""

    blocks: int
    def __new__(cls, program: Lowered, takes: str, gives: str, values: Sequence[Any], length: int) -> Self: ...
    def run(self, start: int, stop: int) -> None: ...
    def collected(self) -> list[Any]: ...
