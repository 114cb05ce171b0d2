"""Second derivatives of scalar functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from hoad._core.recording import differentiating
from hoad.drivers.dense import jacobian_blocks
from hoad.drivers.first import Argnums, as_asked, as_like, one_like, require_scalar
from hoad.drivers.holomorphic import check_gradient, check_hessian
from hoad.errors import ShapeError, count
from hoad.trace import call_traced, check_function, output_operand, plain, positions, split_aux


def hessian(
    f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """The Hessian function ``x -> ∇²f(x)`` of a scalar function.

    Parameters
    ----------
    f : callable
        A scalar function, written with NumPy: ``f(*args) -> ()``, or ``(value, aux)`` with `has_aux`.
    argnums : int or tuple of int, optional
        The arguments to differentiate with respect to.
    has_aux : bool, optional
        f returns ``(value, aux)``; aux is handed through.
    holomorphic : bool, optional
        f is a holomorphic function of complex arguments, and its complex derivative is meant.

    Returns
    -------
    callable
        Called like f; returns an array of shape ``(*x.shape, *x.shape)``, or, for a tuple of argnums, a tuple of
        tuples of blocks ``∂²f/∂x_i∂x_j``; ``(hessian, aux)`` with `has_aux`. Units: those of f over those of the two
        entries of x.

    Raises
    ------
    ShapeError
        If f(x) is no scalar.
    DTypeError
        If an argument or f(x) is complex and f is not said to be holomorphic, or an argument is no number.

    Notes
    -----
    Cost: f once, traced, a reverse sweep and a forward sweep over it, evaluated in lanes for each entry of x.

    Singular points: the derivative of what `grad` gives there, so at a kink it is 0, as on a straight line through it.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 5.4 (forward over reverse).

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """

    check_function("hessian", f, argnums)

    @functools.wraps(f, updated=())
    def hessian_of(*args: Any, **kwargs: Any) -> Any:
        with differentiating() as d:
            returned = call_traced(d, f, args, positions(argnums, len(args), "hessian"), "hessian", kwargs)
            result, aux = split_aux(returned, has_aux, "hessian")
            y = output_operand(d, result, "hessian")
            require_scalar(d, y, "hessian")
            check_hessian(d, y, holomorphic)
            aux = plain(aux, d.nested)
            del returned, result
            bars = d.or_zeros(d.adjoints([y], [one_like(d, y)], d.inputs), d.inputs)
            rows = jacobian_blocks(d, bars, d.inputs, "forward")
            asked = as_asked([as_asked(row, argnums) for row in rows], argnums)
        return (asked, aux) if has_aux else asked

    return hessian_of


def _split_direction(args: tuple[Any, ...], argnums: Argnums, driver: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """(arguments of f, a direction for each differentiated one)."""
    if len(args) < 2:
        raise ShapeError(f"{driver}(f) is called with the arguments of f and then a direction: {driver}(f)(x, v).")
    *primals, direction = args
    if not isinstance(argnums, tuple):
        return tuple(primals), (direction,)
    if not isinstance(direction, (tuple, list)) or len(direction) != len(argnums):
        found = len(direction) if isinstance(direction, (tuple, list)) else "no tuple"
        raise ShapeError(
            f"{driver} with argnums={argnums} needs a tuple of {count(len(argnums), 'direction')}, found {found}."
        )
    return tuple(primals), tuple(direction)


def hvp(f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The product with the Hessian, ``(x, v) -> ∇²f(x) v``, forward over reverse.

    Parameters
    ----------
    f : callable
        A scalar function, written with NumPy: ``f(*args) -> ()``, or ``(value, aux)`` with `has_aux`.
    argnums : int or tuple of int, optional
        The arguments to differentiate with respect to.
    has_aux : bool, optional
        f returns ``(value, aux)``; aux is handed through.

    Returns
    -------
    callable
        Called with the arguments of f and then a direction v of the shape of x (a tuple for a tuple of argnums);
        keywords go to f. Returns an array of the shape of x, or ``(product, aux)``.

    Raises
    ------
    ShapeError
        If f(x) is no scalar, or v does not fit x.
    DTypeError
        If an argument is no float and no complex number, or f(x) is complex.

    Notes
    -----
    Cost: f once, traced, a reverse sweep and a forward sweep; no matrix is formed.

    Complex arguments: the product is what the gradient, ∂f/∂x - i ∂f/∂y, changes by along v; v may be complex.

    References
    ----------
    Pearlmutter (1994), Fast exact multiplication by the Hessian, Neural Computation 6; Griewank and Walther (2008),
    section 5.4.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.hvp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """

    check_function("hvp", f, argnums)

    @functools.wraps(f, updated=())
    def product(*args: Any, **kwargs: Any) -> Any:
        primals, directions = _split_direction(args, argnums, "hvp")
        with differentiating() as d:
            returned = call_traced(d, f, primals, positions(argnums, len(primals), "hvp"), "hvp", kwargs)
            result, aux = split_aux(returned, has_aux, "hvp")
            y = output_operand(d, result, "hvp")
            require_scalar(d, y, "hvp")
            check_gradient(d, y, "hvp")
            aux = plain(aux, d.nested)
            del returned, result
            bars = d.or_zeros(d.adjoints([y], [one_like(d, y)], d.inputs), d.inputs)
            seeds = [as_like(d, v, x, "the direction") for v, x in zip(directions, d.inputs, strict=True)]
            products = d.results(d.or_zeros(d.tangents(bars, d.inputs, seeds), d.inputs))
        return (as_asked(products, argnums), aux) if has_aux else as_asked(products, argnums)

    return product


def vhp(f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The product of the Hessian from the left, ``(x, v) -> vᵀ ∇²f(x)``, reverse over forward.

    Parameters
    ----------
    f : callable
        A scalar function, written with NumPy: ``f(*args) -> ()``, or ``(value, aux)`` with `has_aux`.
    argnums : int or tuple of int, optional
        The arguments to differentiate with respect to.
    has_aux : bool, optional
        f returns ``(value, aux)``; aux is handed through.

    Returns
    -------
    callable
        Called with the arguments of f and then a direction v of the shape of x (a tuple for a tuple of argnums);
        keywords go to f. Returns an array of the shape of x, or ``(product, aux)``.

    Raises
    ------
    ShapeError
        If f(x) is no scalar, or v does not fit x.
    DTypeError
        If an argument is no float and no complex number, or f(x) is complex.

    Notes
    -----
    Cost: f once, traced, a forward sweep and a reverse sweep; no matrix is formed.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 5.4.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.vhp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """

    check_function("vhp", f, argnums)

    @functools.wraps(f, updated=())
    def product(*args: Any, **kwargs: Any) -> Any:
        primals, directions = _split_direction(args, argnums, "vhp")
        with differentiating() as d:
            returned = call_traced(d, f, primals, positions(argnums, len(primals), "vhp"), "vhp", kwargs)
            result, aux = split_aux(returned, has_aux, "vhp")
            y = output_operand(d, result, "vhp")
            require_scalar(d, y, "vhp")
            check_gradient(d, y, "vhp")
            aux = plain(aux, d.nested)
            del returned, result
            seeds = [as_like(d, v, x, "the direction") for v, x in zip(directions, d.inputs, strict=True)]
            dots = d.or_zeros(d.tangents([y], d.inputs, seeds), [y])
            bars = d.adjoints(dots, [one_like(d, y)], d.inputs)
            products = d.results(d.or_zeros(bars, d.inputs))
        return (as_asked(products, argnums), aux) if has_aux else as_asked(products, argnums)

    return product
