"""Workspaces for programs within programs, and calls of them."""

from typing import final

from typing_extensions import Self

from hoad._core.kernels.native_call import NativeCall
from hoad._core.runtime.engine import Lowered

@final
class Spaces:
    """Workspaces of a program with so many lanes, each with `more` bytes beside its registers."""

    def __new__(cls, program: Lowered, lanes: int, more: int) -> Self: ...

@final
class Call(NativeCall):
    """A program that runs once, in so many threads at most; 0 for any."""

    def __new__(cls, program: Lowered, most: int = 0) -> Self: ...

def offered(program: Lowered, native: NativeCall) -> NativeCall | None: ...
