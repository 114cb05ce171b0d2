from typing import Final, final

from hoad._core.graph.tape import AbstractValue
from hoad._core.kernels.native_call import NativeCall

MOST_ROWS: Final[int]

@final
class DetGradient(NativeCall): ...

def det_gradient(x: AbstractValue) -> NativeCall: ...
