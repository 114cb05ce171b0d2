from typing import final

from typing_extensions import Self

from hoad._core.kernels.native_call import NativeCall
from hoad._core.runtime.engine import Lowered

@final
class Spaces:
    def __new__(cls, program: Lowered, lanes: int, more: int) -> Self: ...

@final
class Call(NativeCall):
    def __new__(cls, program: Lowered, most: int = 0) -> Self: ...

def offered(program: Lowered, native: NativeCall) -> NativeCall | None: ...
