from typing import Any

import numpy as np
from numpy.typing import NDArray

_Numbers = NDArray[np.int32]

def pattern_fault(indptr: _Numbers, indices: _Numbers, columns: int) -> tuple[int, int]: ...
def transposed(indptr: _Numbers, indices: _Numbers, columns: int) -> tuple[_Numbers, _Numbers, _Numbers]: ...
def colors_alone(indptr: _Numbers, indices: _Numbers, colors: _Numbers, n_colors: int) -> _Numbers: ...
def needed_colors(one: _Numbers, other: _Numbers, used: NDArray[np.bool_]) -> int: ...
def direct_slots(
    indptr: _Numbers,
    indices: _Numbers,
    one: _Numbers,
    other: _Numbers,
    renumbered: _Numbers,
    columns: int,
    column_colors: int,
) -> NDArray[np.int64]: ...
def substitution(
    indptr: _Numbers,
    indices: _Numbers,
    mirror: _Numbers,
    colors: _Numbers,
    n_colors: int,
    used: NDArray[np.bool_],
) -> tuple[_Numbers, _Numbers, int] | None: ...
def substitute(
    compressed: NDArray[Any],
    data: NDArray[Any],
    entries: _Numbers,
    mirrored: _Numbers,
    slots: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> None: ...
