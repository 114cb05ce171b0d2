from typing import final

from hoad._core.graph.tape import AbstractValue
from hoad._core.kernels.native_call import NativeCall

@final
class SearchSorted(NativeCall): ...

def sorted_places(a: AbstractValue, v: AbstractValue, side: str) -> NativeCall | None: ...
