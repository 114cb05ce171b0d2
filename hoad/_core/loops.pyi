"""Running a lowered program again and again."""

from collections.abc import Sequence
from typing import Any, final

from typing_extensions import Self

from hoad._core.engine import Lowered

@final
class Loop:
    """The state of one run of a loop."""

    def __new__(cls, program: Lowered, length: int, backwards: bool) -> Self: ...

def run_loop(
    program: Lowered, takes: str, gives: str, values: Sequence[Any], length: int, backwards: bool = False
) -> tuple[list[Any], int]: ...
