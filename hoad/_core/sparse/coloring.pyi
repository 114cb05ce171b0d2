import numpy as np
from numpy.typing import NDArray

_Numbers = NDArray[np.int32]

def color_distance_2(
    indptr: _Numbers, indices: _Numbers, indptr_t: _Numbers, indices_t: _Numbers, order: _Numbers
) -> _Numbers: ...
def color_star(indptr: _Numbers, indices: _Numbers, order: _Numbers, rows: int = -1) -> _Numbers: ...
def color_acyclic(indptr: _Numbers, indices: _Numbers, order: _Numbers) -> _Numbers: ...
def order_vertices(
    name: str,
    indptr: _Numbers,
    indices: _Numbers,
    indptr_t: _Numbers | None = None,
    indices_t: _Numbers | None = None,
) -> _Numbers: ...
