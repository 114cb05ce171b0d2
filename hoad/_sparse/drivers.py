"""Sparse Jacobians and Hessians of functions of one array."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.trace.traced import is_traced
from hoad._docstrings import docfiller
from hoad._drivers.products import jvp
from hoad._pytree.arguments import check_function, packed_list
from hoad._pytree.containers import kind_of
from hoad._sparse.sparse_plan import Format, SparseDerivative
from hoad._sparse.sweeps import Triangle, sweep_of_hessian, sweep_of_jacobian
from hoad.errors import ArgumentError, DTypeError, ShapeError, count


@docfiller
def sparse_jacobian(f: Callable[..., Any], *, format: Format = "csr") -> SparseDerivative:
    """The Jacobian ``x -> ∂f/∂x`` as a sparse matrix, of the entries that may be other than zero.

    Parameters
    ----------
    %(sparse_f)s
        f(x) is an array of M entries in any shape, or a number.
    %(sparse_format)s

    Returns
    -------
    SparseDerivative
        Called like f; returns a matrix of shape (M, N), with the entries of f(x) and of x in C order. ``plan(x)`` gives
        its structure and a compiled program for its values, to be called again and again; so does `hoad.jit`. Units:
        those of f over those of x, entry by entry.

    Raises
    ------
    %(sparse_raises)s

    Notes
    -----
    Cost: f once, traced, and a sweep. If f is made of array operations that are elementwise, slices, sums, gathers,
    products with matrices and the like, entries are computed a diagonal at a time, at the cost of a few array
    operations for each one in f. Anything else is swept once for each color of a coloring. Structure: what the recorded
    operations connect, whatever the values; zeros may be among the entries.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, chapters 7 and 8.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> a = hoad.sparse_jacobian(lambda x: x[1:] * x[:-1])(np.array([1.0, 2.0, 3.0, 4.0]))
    >>> a.toarray()
    array([[2., 1., 0., 0.],
           [0., 3., 2., 0.],
           [0., 0., 4., 3.]])
    """
    check_function("sparse_jacobian", f)
    return SparseDerivative("sparse_jacobian", f, sweep_of_jacobian, format, None)


@docfiller
def sparse_hessian(f: Callable[..., Any], *, format: Format = "csr", triangle: Triangle = None) -> SparseDerivative:
    """The Hessian ``x -> ∇²f(x)`` of a scalar function as a sparse matrix, of the entries that may be other than zero.

    Parameters
    ----------
    %(sparse_f)s
        f(x) is a number.
    %(sparse_format)s
    %(sparse_triangle)s

    Returns
    -------
    SparseDerivative
        Called like f; returns a symmetric matrix of shape (N, N), with the entries of x in C order. ``plan(x)`` gives
        its structure and a compiled program for its values, to be called again and again; so does `hoad.jit`. Units:
        those of f over those of the two entries of x.

    Raises
    ------
    %(sparse_raises)s
    ShapeError
        If f(x) is not a number.

    Notes
    -----
    Cost: f once, traced, a reverse and a forward sweep. If f is made of array operations as in `sparse_jacobian`,
    entries on and below the diagonal are computed a diagonal at a time, and those above are copies. Anything else is
    swept once for each color of a star coloring.

    References
    ----------
    Gebremedhin, Tarafdar, Manne and Pothen (2007), New acyclic and star coloring algorithms with application to
    computing Hessians, SIAM Journal on Scientific Computing 29, 1042-1072.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def rosenbrock(x):
    ...     return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    >>> h = hoad.sparse_hessian(rosenbrock)(np.ones(1000))
    >>> h.shape, h.nnz
    ((1000, 1000), 2998)

    Compiled once, and filled in again for other numbers:

    >>> plan = hoad.sparse_hessian(rosenbrock).plan(np.ones(1000))
    >>> values = np.empty(plan.nnz)
    >>> plan.values(np.zeros(1000), out=values)[:3]
    array([ 2., -0., -0.])
    """
    check_function("sparse_hessian", f)
    return SparseDerivative("sparse_hessian", f, sweep_of_hessian, format, triangle)


@docfiller
def lagrangian_hessian(
    f: Callable[..., Any],
    g: Callable[..., Any],
    *,
    format: Format = "csr",
    triangle: Triangle = "lower",
) -> SparseDerivative:
    """The Hessian ``(x, λ, σ) -> σ ∇²f(x) + Σᵢ λᵢ ∇²gᵢ(x)`` of a Lagrangian as a sparse matrix.

    Parameters
    ----------
    %(sparse_f)s
        f(x) is a number, the objective.
    g : callable
        The constraints: a function of the same arguments, with M entries in any shape.
    %(sparse_format)s
    triangle : {"lower", "upper", None}, optional
        The part of the matrix that is given, its diagonal included. None gives all of it.

    Returns
    -------
    SparseDerivative
        Called with x, the multipliers λ, an array of M entries, and σ, 1 by default; then with any further arguments of
        f and g. Returns a matrix of shape (N, N). ``plan(x, λ, σ)`` gives its structure and a compiled program for its
        values. Units: those of σ f over those of the two entries of x.

    Raises
    ------
    %(sparse_raises)s
    ShapeError
        If f(x) or σ is not a number, or λ does not have as many entries as g(x).

    Notes
    -----
    Cost: as `sparse_hessian` of one function; f and g are recorded together, so what both compute is computed once.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> h = hoad.lagrangian_hessian(lambda x: np.sum(x**4), lambda x: x[1:] * x[:-1])
    >>> h(np.array([1.0, 2.0, 3.0]), np.array([5.0, 7.0]), 0.5).toarray()
    array([[ 6.,  0.,  0.],
           [ 5., 24.,  0.],
           [ 0.,  7., 54.]])
    """
    check_function("lagrangian_hessian", f)
    check_function("lagrangian_hessian", g)

    @functools.wraps(f, updated=())
    def lagrangian(x: Any, multipliers: Any = None, sigma: Any = 1.0, *args: Any, **kwargs: Any) -> Any:
        if multipliers is None:
            raise ArgumentError(
                "lagrangian_hessian is a function of x, the multipliers λ and σ, but got no multipliers. Call it as "
                "h(x, λ) or h(x, λ, σ), with a multiplier for each entry of g(x)."
            )
        multipliers = _real("lagrangian_hessian", "the multipliers λ", multipliers)
        sigma = _real("lagrangian_hessian", "σ, the third argument", sigma)
        if np.shape(sigma):
            raise ShapeError(
                f"lagrangian_hessian takes a number as σ, the third argument, but got one of shape {np.shape(sigma)}. "
                "Further arguments of f and g come after it."
            )
        constraints = _real("lagrangian_hessian", "g(x)", g(x, *args, **kwargs))
        if np.size(constraints) != np.size(multipliers):
            raise ShapeError(
                f"lagrangian_hessian takes a multiplier for each entry of g(x), which has {np.size(constraints)}, but "
                f"got {count(np.size(multipliers), 'multiplier')}, of shape {np.shape(multipliers)}."
            )
        y = f(x, *args, **kwargs)
        if y is None or kind_of(type(y)) is not None:
            return y  # which is refused as for other derivatives
        return sigma * y + np.sum(np.reshape(multipliers, np.shape(constraints)) * constraints)

    return SparseDerivative("lagrangian_hessian", lagrangian, sweep_of_hessian, format, triangle)


@docfiller
def sparse_hessian_derivative(
    f: Callable[..., Any], *, format: Format = "csr", triangle: Triangle = None
) -> SparseDerivative:
    """The derivative ``(x, v) -> d/dt ∇²f(x + t v)`` of the Hessian along a direction, at t = 0, as a sparse matrix.

    Parameters
    ----------
    %(sparse_f)s
        f(x) is a number.
    %(sparse_format)s
    %(sparse_triangle)s

    Returns
    -------
    SparseDerivative
        Called with x and the direction v, of the shape of x; then with any further arguments of f. Returns a symmetric
        matrix of shape (N, N), the tensor of third derivatives times v. ``plan(x, v)`` gives its structure and a
        compiled program for its values. Units: those of f times those of v over those of three entries of x.

    Raises
    ------
    %(sparse_raises)s
    ShapeError
        If f(x) is not a number, or v does not have the shape of x.

    Notes
    -----
    Cost: that of `sparse_hessian` of ``x -> ∇f(x)·v``, a few times that of f: no tensor is made. For the third
    derivatives themselves see `sparse_derivative_tensor`.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> x, v = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 2.0])
    >>> hoad.sparse_hessian_derivative(lambda x: np.sum(x[1:] ** 2 * x[:-1]))(x, v).toarray()
    array([[0., 0., 0.],
           [0., 2., 4.],
           [0., 4., 0.]])
    """
    check_function("sparse_hessian_derivative", f)

    @functools.wraps(f, updated=())
    def slope(x: Any, v: Any = None, *args: Any, **kwargs: Any) -> Any:
        if v is None:
            raise ArgumentError(
                "sparse_hessian_derivative is a function of x and the direction v, but got no v. Call it as h(x, v)."
            )
        v = _real("sparse_hessian_derivative", "the direction v", v)
        if np.shape(v) != np.shape(x):
            raise ShapeError(
                f"sparse_hessian_derivative takes a direction v of the shape of x, {np.shape(x)}, but got one of shape "
                f"{np.shape(v)}."
            )
        return jvp(lambda x: f(x, *args, **kwargs), (x,), (v,))[1]

    return SparseDerivative("sparse_hessian_derivative", slope, sweep_of_hessian, format, triangle)


def _real(driver: str, name: str, given: Any) -> Any:
    """A number, array or list in double precision; raises if it is not real."""
    value = packed_list(given)
    value = value if is_traced(value) else np.asarray(value)
    if value.dtype.kind not in "biuf":
        found = "a complex number" if value.dtype.kind == "c" else type(given).__name__
        found = f"an array of shape {value.shape} and dtype {value.dtype}" if value.ndim else found
        raise DTypeError(f"{driver} takes real numbers as {name}, but got {found}.")
    return value if value.dtype == np.float64 else value.astype(np.float64)
