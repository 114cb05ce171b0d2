from typing import Any, Final

import numpy as np
from typing_extensions import Self

class AbstractValue:
    number: Final[int]
    dtype: Final[np.dtype[Any]]
    shape: Final[tuple[int, ...]]
    size: Final[int]
    itemsize: Final[int]
    ndim: Final[int]
    inexact: Final[bool]
    is_float64: Final[bool]
    is_complex: Final[bool]

class Graph:
    def __new__(cls, valued: bool = True) -> Self: ...
    valued: Final[bool]
    is_guarded: bool
    has_raised: bool
    @property
    def has_factors(self) -> bool: ...
    drops: bool
    def where(self, node: int) -> str | None: ...

def aval_count() -> int: ...
def intern_aval(dtype: Any, shape: tuple[int, ...]) -> AbstractValue: ...
def aval_key(aval: AbstractValue) -> tuple[str, tuple[int, ...]]: ...
def checked_aval(dtype: str, shape: tuple[int, ...]) -> AbstractValue: ...
