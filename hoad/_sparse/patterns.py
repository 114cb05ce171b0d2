"""Sparsity patterns as users ask for them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from hoad._core.record.recording import differentiating
from hoad._docstrings import docfiller
from hoad._pytree.arguments import check_function
from hoad._sparse.pattern_of_sweep import pattern_of
from hoad._sparse.sparse_structure import Structure
from hoad._sparse.sweeps import Sweep, sweep_of_hessian, sweep_of_jacobian
from hoad.errors import ArgumentError

Scope = Literal["global", "local"]


@docfiller
def jacobian_pattern(f: Callable[..., Any], *, scope: Scope = "global") -> Callable[..., Any]:
    """Which entries of the Jacobian ``x -> ∂f/∂x`` may be other than zero.

    Parameters
    ----------
    %(sparse_f)s
        f(x) is an array of M entries in any shape, or a number.
    %(sparse_scope)s

    Returns
    -------
    callable
        Called like f; returns a `scipy.sparse.csr_array` of True, of shape (M, N), with the entries of f(x) and of x in
        C order.

    Raises
    ------
    %(sparse_raises)s

    Notes
    -----
    Cost: f once, traced, a sweep, and time and memory linear in the entries of all patterns between x and f(x). No
    derivative is computed. What the pattern leaves out is zero by the recorded operations; what it has may be zero by
    their values.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 7.1.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def f(x):
    ...     return np.maximum(x[1:], x[:-1])
    >>> hoad.jacobian_pattern(f)(np.array([1.0, 2.0, 0.5])).toarray().astype(int)
    array([[1, 1, 0],
           [0, 1, 1]])
    >>> hoad.jacobian_pattern(f, scope="local")(np.array([1.0, 2.0, 0.5])).toarray().astype(int)
    array([[0, 1, 0],
           [0, 1, 0]])
    """
    return _pattern("jacobian_pattern", f, sweep_of_jacobian, scope)


@docfiller
def hessian_pattern(f: Callable[..., Any], *, scope: Scope = "global") -> Callable[..., Any]:
    """Which entries of the Hessian ``x -> ∇²f(x)`` of a scalar function may be other than zero.

    Parameters
    ----------
    %(sparse_f)s
        f(x) is a number.
    %(sparse_scope)s

    Returns
    -------
    callable
        Called like f; returns a symmetric `scipy.sparse.csr_array` of True, of shape (N, N), with the entries of x in C
        order.

    Raises
    ------
    %(sparse_raises)s
    ShapeError
        If f(x) is not a number.

    Notes
    -----
    Cost: f once, traced, a reverse and a forward sweep, and time and memory linear in the entries of all patterns
    between x and the gradient. Linear operations of f leave nothing in it.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 7.4.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.hessian_pattern(lambda x: x[0] * x[1] + np.sum(x) + x[2] ** 2)(np.ones(3)).toarray().astype(int)
    array([[0, 1, 0],
           [1, 0, 0],
           [0, 0, 1]])
    """
    return _pattern("hessian_pattern", f, sweep_of_hessian, scope)


def _pattern(driver: str, f: Callable[..., Any], sweep_of: Sweep, scope: Scope) -> Callable[..., Any]:
    check_function(driver, f)
    if scope not in ("global", "local"):
        raise ArgumentError(f"{driver} takes scope 'global' or 'local', not {scope!r}.")

    @functools.wraps(f, updated=())
    def pattern(*args: Any, **kwargs: Any) -> Any:
        with differentiating() as recording:
            sweep = sweep_of(recording, f, args, kwargs, driver)

            def value(operand: int) -> Any:
                return recording.compute([operand])[0]

            if scope == "global" and not recording.nested:
                recording.drop_arrays()
            if sweep.output is None:
                found = Structure.of(sweep.shape, False, [])
            else:
                found = pattern_of(recording, sweep.seed, sweep.output, value if scope == "local" else None)
        return found.matrix(np.ones(len(found.keys), bool), "csr")

    return pattern
