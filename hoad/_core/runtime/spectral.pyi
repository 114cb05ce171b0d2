from collections.abc import Sequence
from typing import Literal, final

from hoad._core.graph.primitive import Primitive
from hoad._core.graph.tape import AbstractValue
from hoad._core.kernels.native_call import NativeCall

HIDDEN: int

@final
class Spectral(NativeCall): ...

def spectral(
    matmul: Primitive,
    what: Literal["derivative", "weights", "product"],
    singular: bool,
    known: bool,
    strong: bool,
    one: bool,
    avals: Sequence[AbstractValue],
) -> NativeCall: ...
