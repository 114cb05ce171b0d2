from typing import Any, final

from hoad._core.graph.tape import AbstractValue
from hoad._core.kernels.native_call import NativeCall

@final
class Cast(NativeCall): ...

def cast(x: AbstractValue, dtype: Any) -> NativeCall | None: ...
