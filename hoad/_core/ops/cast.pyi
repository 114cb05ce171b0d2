"""Conversions of numbers without Python."""

from typing import Any, final

from hoad._core.kernels.scalar.native_call import Native
from hoad._core.graph.tape import Aval

@final
class Cast(Native):
    """Numbers of one dtype as those of another."""

def cast(x: Aval, dtype: Any) -> Native | None: ...
