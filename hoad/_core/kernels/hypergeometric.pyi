import numpy as np
from numpy.typing import NDArray

def partials(
    kind: int,
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    c: NDArray[np.float64],
    x: NDArray[np.float64],
    orders: tuple[int, int, int],
    degree: int,
    total: int | None = None,
) -> NDArray[np.float64]: ...
