"""Linear least squares without negative unknowns: `scipy.optimize.nnls`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize

from hoad._numpy.registry import decided
from hoad._scipy.registry import implements, plain_result, refused

FLAT = 1e-10  # a slope, by the size of its terms, that is zero but for rounding


@implements(scipy.optimize.nnls, A=2, b=1)
def nnls(A: Any, b: Any, **options: Any) -> tuple[Any, Any]:
    """The solution, which is that of least squares in the unknowns above 0, and the norm of what is left.

    Notes
    -----
    Cost: SciPy's search, once, and least squares. Which unknowns are 0 is guarded. One that is 0 without its bound too
    has a derivative on one side only, and raises.

    References
    ----------
    Lawson, C. L. and Hanson, R. J. (1995). Solving least squares problems, chapter 23.

    Examples
    --------
    >>> from hoad.scipy import optimize
    >>> a = np.array([[1.0, 0.5], [0.0, 1.0]])
    >>> hoad.jacobian(lambda b: optimize.nnls(a, b)[0])(np.array([1.0, -1.0]))
    array([[1., 0.],
           [0., 0.]])
    """
    above = plain_result(scipy.optimize.nnls, (A, b), options)[0] > 0.0
    free = np.flatnonzero(above)
    solved = np.linalg.lstsq(A[:, free], b, rcond=None)[0]
    x = solved @ np.eye(len(above))[free]
    residual = A @ x - b
    slopes = (A.T @ residual)[~above]
    if decided(np.any(np.abs(slopes) <= FLAT * np.sum(np.abs(A.T) * np.abs(b), 1)[~above])):
        raise refused(
            "nnls", "where an unknown is 0 without its bound", "Move the arguments a little.", "scipy.optimize"
        )
    decided(solved > 0.0)
    decided(slopes > 0.0)
    return x, np.linalg.norm(residual)
