from typing import final

from hoad._core.graph.tape import AbstractValue
from hoad._core.kernels.native_call import NativeCall

@final
class Cumsum(NativeCall): ...

def running_sum(x: AbstractValue, axis: int) -> NativeCall | None: ...
