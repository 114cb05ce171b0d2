"""Sums of higher derivatives, and derivatives along directions: of a tensor that is never formed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import of_first
from hoad._core.trace.traced import is_traced
from hoad._docstrings import docfiller
from hoad._drivers.products import check_numbers
from hoad._drivers.taylor import check_finite
from hoad._drivers.tensors import HIGHEST, differentiated
from hoad._pytree.arguments import check_function, packed, telling_call
from hoad._transform.directions import MultiIndex, shared
from hoad._transform.expansion_along_lines import Family
from hoad._transform.scaling import exponents, scaled
from hoad.errors import ArgumentError, DTypeError, ShapeError


def _units(x: Any) -> Any:
    """The unit vectors in the shape of x, along the last axis."""
    return np.eye(np.size(x)).reshape(*np.shape(x), -1)


@telling_call("Give it f alone, and call what it gives: hoad.laplacian(f)(x).")
@docfiller
def laplacian(f: Callable[..., Any]) -> Callable[..., Any]:
    """The Laplacian ``x -> Σᵢ ∂²f/∂xᵢ²``, over all entries of x.

    Parameters
    ----------
    %(f_of_array)s

    Returns
    -------
    callable
        Called like f; returns an array of shape (T). Units: those of f over the square of those of x.

    Raises
    ------
    %(array_raises)s

    Notes
    -----
    Cost: f, its Jacobian by forward mode, and one second coefficient: those along the axes enter linearly, so they are
    summed operation by operation. No Hessian is formed.

    References
    ----------
    Li et al. (2023), Forward Laplacian: a new computational framework for neural network-based variational Monte Carlo,
    arXiv:2307.08214; Dangel et al. (2025), Collapsing Taylor mode automatic differentiation, arXiv:2505.13644.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.laplacian(lambda x: np.sum(x**2) ** 2)(np.array([1.0, 2.0]))
    80.0
    """
    check_function("laplacian", f)
    return functools.wraps(f, updated=())(_laplacian("laplacian", f, f, 2))


def _laplacian(driver: str, g: Callable[..., Any], f: Callable[..., Any], order: int) -> Callable[..., Any]:
    """The Laplacian of g, which makes it a derivative of f of this order."""

    def summed(x: Any, *args: Any, **kwargs: Any) -> Any:
        def of(x: Any) -> Any:
            family = Family(lambda x: g(x, *args, **kwargs), [x])
            found = family.expanded([_units(x)], 2, collapsed=True)
            return family.parts.filled([np.multiply(2.0, series[2]) for series in found])

        return differentiated(driver, of_first(f, args, kwargs, driver), x, order, of)

    return summed


@telling_call("Give it f alone, and call what it gives: hoad.biharmonic(f)(x).")
@docfiller
def biharmonic(f: Callable[..., Any]) -> Callable[..., Any]:
    """The biharmonic operator ``x -> Σᵢⱼ ∂⁴f/∂xᵢ²∂xⱼ²``, over all entries of x: the Laplacian of the Laplacian.

    Parameters
    ----------
    %(f_of_array)s

    Returns
    -------
    callable
        Called like f; returns an array of shape (T). Units: those of f over the fourth power of those of x.

    Raises
    ------
    %(array_raises)s

    Notes
    -----
    Cost: the Laplacian of the operations of a Laplacian; for n entries of x, arrays of n² entries where f is nonlinear.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.biharmonic(lambda x: np.sum(x**2) ** 2)(np.array([1.0, 2.0]))
    64.0
    """
    check_function("biharmonic", f)
    return functools.wraps(f, updated=())(_laplacian("biharmonic", _laplacian("biharmonic", f, f, 2), f, 4))


@docfiller
def hessian_diagonal(f: Callable[..., Any]) -> Callable[..., Any]:
    """The diagonal of the Hessian, ``x -> ∂²f/∂xᵢ²``.

    Parameters
    ----------
    %(f_of_array)s

    Returns
    -------
    callable
        Called like f; returns an array of shape (T, S). Units: those of f over the square of those of x.

    Raises
    ------
    %(array_raises)s

    Notes
    -----
    Cost: f, expanded to order 2 along the axes, all at once. No Hessian is formed.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 13.3.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.hessian_diagonal(lambda x: x[0] ** 3 * x[1] ** 2)(np.array([1.0, 2.0]))
    array([24.,  2.])
    """
    check_function("hessian_diagonal", f)

    @functools.wraps(f, updated=())
    def diagonal(x: Any, *args: Any, **kwargs: Any) -> Any:
        def of(x: Any) -> Any:
            family = Family(of_first(f, args, kwargs, "hessian_diagonal"), [x])
            expanded = zip(family.expanded([_units(x)], 2), family.shapes, strict=True)
            seconds = [np.reshape(np.multiply(2.0, series[2]), (*shape, *np.shape(x))) for series, shape in expanded]
            return family.parts.filled(seconds)

        return differentiated("hessian_diagonal", of_first(f, args, kwargs, "hessian_diagonal"), x, 2, of)

    return diagonal


@docfiller
def directional_derivative(f: Callable[..., Any], *directions: Any) -> Callable[..., Any]:
    """The mixed derivative along k directions, ``x -> ∂ᵏ/∂t₁...∂tₖ f(x + Σ tⱼ vⱼ)`` at t = 0.

    Parameters
    ----------
    %(f_of_array)s
    *directions : float or ndarray (S)
        v₁, ..., vₖ; they may be traced. Equal directions cost less.

    Returns
    -------
    callable
        Called like f; returns an array of shape (T): the derivative tensor of order k contracted with all directions.

    Raises
    ------
    ArgumentError
        If f cannot be called, there is no direction, there are more than 170, or one is not finite.
    ShapeError
        If a direction does not have the shape of x, or x is empty.
    %(point_raises)s

    Notes
    -----
    Cost: f, expanded to order k along 2ᵏ⁻¹ lines at once, or along one line if all directions are equal.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 13.3.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> u, v = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> hoad.directional_derivative(lambda x: x[0] ** 2 * x[1], u, u, v)(np.array([1.0, 3.0]))
    2.0
    """
    check_function("directional_derivative", f, *directions)
    if not directions:
        raise ArgumentError("directional_derivative takes the function and then one direction or more.")
    if len(directions) > HIGHEST:
        raise ArgumentError(
            f"directional_derivative takes up to {HIGHEST} directions, whose factorial is a float, not "
            f"{len(directions)}. Along one direction v, hoad.derivative(lambda t: f(x + t * v), n)(0.0) goes further."
        )
    vectors, index = _grouped(directions)

    @functools.wraps(f, updated=())
    def along(x: Any, *args: Any, **kwargs: Any) -> Any:
        def of(x: Any) -> Any:
            for v in vectors:
                if np.shape(v) != np.shape(x):
                    raise ShapeError(
                        f"directional_derivative was given a direction of shape {np.shape(v)}, but x has shape "
                        f"{np.shape(x)}. They must be the same."
                    )
            lines, (pairs,) = shared([index])
            far = _lengths(x, vectors) if len(vectors) > 1 else [0.0]
            units = [np.multiply(np.exp2(-length), v) for length, v in zip(far, vectors, strict=True)]
            found = [functools.reduce(np.add, map(np.multiply, map(float, s), units)) for s in lines]
            weights = np.zeros(len(lines))
            for place, factor in pairs:
                weights[place] = factor
            family = Family(of_first(f, args, kwargs, "directional_derivative"), [x])
            expanded = family.expanded([np.stack(found, axis=-1)], len(directions), weights, collapsed=True)
            back = sum(k * length for k, length in zip(index, far, strict=True))
            return family.parts.filled([scaled(series[-1], back) for series in expanded])

        return differentiated(
            "directional_derivative", of_first(f, args, kwargs, "directional_derivative"), x, len(directions), of
        )

    return along


def _lengths(x: Any, vectors: list[Any]) -> list[Any]:
    """How much longer a direction is than others, beside x, as exponents: differences would lose the shorter one."""
    near = np.exp2(-exponents(np.abs(x)))
    found = [exponents(np.max(np.multiply(np.abs(v), near))) for v in vectors]
    mean = np.rint(sum(found) / len(found))
    return [length - mean for length in found]


def _grouped(directions: tuple[Any, ...]) -> tuple[list[Any], MultiIndex]:
    """The distinct directions, and how often each is there."""
    distinct: list[Any] = []
    times: list[int] = []
    for v in map(_direction, directions):
        for k, w in enumerate(distinct):
            if v is w or (not is_traced(v) and not is_traced(w) and np.array_equal(v, w)):
                times[k] += 1
                break
        else:
            distinct.append(v)
            times.append(1)
    return distinct, tuple(times)


def _direction(v: Any) -> Any:
    """A direction as an array of floats."""
    v = packed(v)
    check_numbers(v, "directional_derivative: a direction")
    v = v if is_traced(v) else np.asarray(v)
    if v.dtype.kind == "c":
        raise DTypeError("directional_derivative takes real directions, but was given a complex one.")
    check_finite("directional_derivative", v)
    return v if is_traced(v) else v.astype(np.float64)
