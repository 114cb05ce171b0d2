from collections.abc import Sequence
from typing import Any, final

from typing_extensions import Self

from hoad._core.kernels.native_call import NativeCall
from hoad._core.runtime.engine import Lowered

@final
class Map(NativeCall):
    blocks: int
    operations: int
    def __new__(cls, program: Lowered, takes: str, gives: str, length: int, rows_a_block: int = 0) -> Self: ...
    def in_threads(self, count: int) -> bool: ...

@final
class Lanes:
    results: list[Any]
    def __new__(
        cls,
        program: Lowered,
        takes: str,
        gives: str,
        values: Sequence[Any],
        length: int,
        rows_a_block: int = 0,
        first: int = 0,
    ) -> Self: ...
    @property
    def blocks(self) -> int: ...
    @property
    def operations(self) -> int: ...
    @property
    def rows_a_block(self) -> int: ...
    def run(self, start: int, stop: int) -> None: ...
    def collected(self) -> list[Any]: ...
