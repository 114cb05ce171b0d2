from typing import Any, final

from typing_extensions import Self

from hoad._core.graph.tape import Graph
from hoad._core.kernels.native_call import NativeCall
from hoad._core.runtime.engine import Lowered
from hoad._core.runtime.lanes import Map

@final
class LoopCall(NativeCall):
    def __new__(
        cls, program: Lowered, takes: str, gives: str, length: int, backwards: bool, ahead: Map | None = None
    ) -> Self: ...
    def run(self, values: list[Any]) -> tuple[list[Any], int]: ...

@final
class Count(NativeCall):
    def __new__(cls, loop: LoopCall) -> Self: ...

def functions_of_rows(graph: Graph, outputs: list[int], inputs: list[int], takes: str) -> list[int]: ...
