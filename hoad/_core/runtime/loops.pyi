from collections.abc import Sequence
from typing import Any, final

from typing_extensions import Self

from hoad._core.kernels.native_call import NativeCall
from hoad._core.runtime.engine import Lowered

@final
class LoopCall(NativeCall):
    def __new__(cls, program: Lowered, takes: str, gives: str, length: int, backwards: bool) -> Self: ...
    def run(self, values: list[Any]) -> tuple[list[Any], int]: ...

@final
class Count(NativeCall):
    def __new__(cls, loop: LoopCall) -> Self: ...

def run_loop(
    program: Lowered, takes: str, gives: str, values: Sequence[Any], length: int, backwards: bool = False
) -> tuple[list[Any], int]: ...
