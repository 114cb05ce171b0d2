"""Conversions of numbers without Python."""

from typing import Any, final

from hoad._core.graph.tape import AbstractValue
from hoad._core.kernels.native_call import NativeCall

@final
class Cast(NativeCall):
    """Numbers of one dtype as those of another."""

def cast(x: AbstractValue, dtype: Any) -> NativeCall | None: ...
