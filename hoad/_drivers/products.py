"""Products with Jacobians and Hessians, none of which is formed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.record.recording import Recording, differentiating
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import is_traced
from hoad._docstrings import docfiller
from hoad._drivers.gradient import scalar_output
from hoad._drivers.holomorphic import check_gradient
from hoad._drivers.linear_map import LinearMap
from hoad._program.trace import call_traced, outputs, plain, split_aux
from hoad._pytree.arguments import Argnames, Argnums, Choice, check_function
from hoad._pytree.containers import Forms, Name, spread
from hoad.errors import ArgumentError, DTypeError, ShapeError, count


def check_numbers(value: Any, what: str | Name) -> None:
    """Raise unless a tangent, a cotangent or a seed is made of numbers."""
    if is_traced(value) or isinstance(value, (float, int)) or holds_traced(value):
        return
    dtype = np.asarray(value).dtype
    if dtype.kind not in "biufc":
        found = type(value).__name__ if np.ndim(value) == 0 else f"an array of {dtype}"
        raise DTypeError(f"{what} must be a float or an array of floats, but is {found}.")


def as_like(recording: Recording, value: Any, like: int, what: str | Name) -> int:
    """The operand of a tangent or cotangent, checked against what it belongs to."""
    aval = recording.aval(like)
    check_numbers(value, what)
    operand = recording.operand(value)
    found = recording.aval(operand)
    if found.shape != aval.shape:
        raise ShapeError(f"{what} must have shape {aval.shape}, but has shape {found.shape}.")
    if found.dtype != aval.dtype:
        if not np.can_cast(found.dtype, aval.dtype, "same_kind"):
            raise DTypeError(f"{what} must have dtype {aval.dtype}, but has dtype {found.dtype}.")
        cast = value.astype(aval.dtype) if hasattr(value, "astype") else np.asarray(value, aval.dtype)
        operand = recording.operand(cast)
    return operand


def seeds_of(recording: Recording, values: Sequence[Any], forms: Forms | None, whats: Sequence[str]) -> list[int]:
    """The operands of tangents of the inputs, from one for each argument."""
    names: Sequence[str | Name] = whats
    if forms is not None:
        values, names = spread(values, forms, whats)
    return [as_like(recording, v, x, name) for v, x, name in zip(values, recording.inputs, names, strict=True)]


@docfiller
def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """The value and the derivative along a direction, ``(f(x), J(x) ẋ)``.

    Parameters
    ----------
    %(f_any_shape)s
    primals : tuple
        The arguments of f, each a float, an array or a container of these.
    tangents : tuple
        A direction for each primal, of the same shape or structure; None, or the constant, in place of constants.
    %(has_aux_third)s

    Returns
    -------
    tuple
        ``(value, tangent)``, both of shape (S), or ``(value, tangent, aux)``. If the value is a container, the tangent
        has its structure, with None in place of everything that is not a number.

    Raises
    ------
    ShapeError
        If a tangent does not have the shape of its primal.
    DTypeError
        If an argument is neither a float nor a complex number and contains none, or a tangent has another dtype.
    ArgumentError
        If f cannot be called, or primals and tangents are not tuples.

    Notes
    -----
    Cost: f once, traced, and one forward sweep; memory as for `grad`.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.jvp(np.sin, (0.0,), (2.0,))
    (0.0, 2.0)
    """
    check_function("jvp", f)
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise ArgumentError("jvp takes primals and tangents as tuples, one item per argument: jvp(f, (x,), (x_dot,)).")
    if len(primals) != len(tangents):
        raise ShapeError(
            f"jvp was given {count(len(primals), 'primal')} and {count(len(tangents), 'tangent')}. Give one for each."
        )
    with differentiating() as d:
        returned, forms = call_traced(d, f, tuple(primals), tuple(range(len(primals))), "jvp")
        result, aux = split_aux(returned, has_aux, "jvp")
        ys, parts = outputs(d, result, "jvp")
        aux = plain(aux, d.nested)
        del returned, result
        seeds = seeds_of(d, tangents, forms, [f"tangent {k}" for k in range(len(tangents))])
        found = d.results([*ys, *d.or_zeros(d.tangents(ys, d.inputs, seeds), ys)])
    values, dots = found[: len(ys)], found[len(ys) :]
    both = (values[0], dots[0]) if parts is None else (parts.filled(values), parts.derivative(dots))
    return (*both, aux) if has_aux else both


@docfiller
def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value and the pullback, ``(f(x), ȳ -> ȳᵀ J(x))``.

    Parameters
    ----------
    %(f_any_shape)s
    *primals
        The arguments of f, each a float, an array or a container of these.
    %(has_aux_third)s

    Returns
    -------
    tuple
        ``(value, pullback)``, or ``(value, pullback, aux)``. ``pullback(y_bar)``, with y_bar of shape (S), returns a
        tuple of adjoints, one for each argument. It can be called repeatedly, also on traced values. Cotangents have
        the structure of the value, adjoints those of the arguments, with None in place of constants.

    Raises
    ------
    ShapeError
        If a cotangent does not fit the value.
    DTypeError
        If an argument is neither a float nor a complex number and contains none.

    Notes
    -----
    Cost: f once, traced, and one reverse sweep; a call of the pullback replays the sweep.

    Complex numbers: adjoints are defined by dL = Re(ȳ dy), so that the adjoint of z = x + iy is ∂L/∂x - i ∂L/∂y, and a
    holomorphic f maps ȳ to ȳ f′(z). The cotangent 1 differentiates the real part of f, -1j the imaginary part.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> value, pullback = hoad.vjp(lambda x: x**2, np.array([1.0, 2.0]))
    >>> pullback(np.ones(2))
    (array([2., 4.]),)
    """

    value, aux, linear = _linear(f, primals, has_aux, "vjp")

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        return tuple(linear((cotangent,)))

    return (value, pullback, aux) if has_aux else (value, pullback)


@docfiller
def linearize(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value and the derivative as a linear function, ``(f(x), ẋ -> J(x) ẋ)``.

    Parameters
    ----------
    %(f_any_shape)s
    *primals
        The arguments of f, each a float, an array or a container of these.
    %(has_aux_third)s

    Returns
    -------
    tuple
        ``(value, pushforward)``, or ``(value, pushforward, aux)``. ``pushforward(*tangents)``, with a tangent for each
        argument, has shape (S). It can be called repeatedly, also on traced values. Tangents have the structures of the
        arguments, the result that of the value, with None in place of constants.

    Raises
    ------
    ShapeError
        If a tangent does not fit its argument.
    DTypeError
        If an argument is neither a float nor a complex number and contains none.

    Notes
    -----
    Cost: f once, traced, and one forward sweep; a call of the linear function replays the sweep.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> value, pushforward = hoad.linearize(np.sin, 0.0)
    >>> pushforward(3.0)
    3.0
    """

    value, aux, linear = _linear(f, primals, has_aux, "linearize")

    def pushforward(*tangents: Any) -> Any:
        return linear(tangents)[0]

    return (value, pushforward, aux) if has_aux else (value, pushforward)


def _linear(f: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool, driver: str) -> tuple[Any, Any, LinearMap]:
    """f's value and aux, and its derivative as a linear map, of adjoints for vjp, of tangents for linearize."""
    check_function(driver, f)
    if not primals:
        raise ArgumentError(f"{driver} needs the arguments of f: {driver}(f, x).")
    with differentiating() as d:
        returned, forms = call_traced(d, f, primals, tuple(range(len(primals))), driver)
        result, aux = split_aux(returned, has_aux, driver)
        ys, parts = outputs(d, result, driver)
        aux = plain(aux, d.nested)
        values = d.results(ys)
        value = values[0] if parts is None else parts.filled(values)
        linear = LinearMap(d, ys, (forms, None if parts is None else [parts]), driver == "vjp", result)
        del returned, result
    return value, aux, linear


def _split_direction(args: tuple[Any, ...], choice: Choice) -> tuple[tuple[Any, ...], list[Any]]:
    """(arguments of f, a direction for each differentiated one)."""
    if len(args) < (2 if choice.argnames is None else 1):
        driver = choice.driver
        raise ArgumentError(f"{driver}(f) is called with the arguments of f and then a direction: {driver}(f)(x, v).")
    return args[:-1], choice.directions(args[-1])


def _forward_over_reverse(d: Recording, y: int, seeds: list[int]) -> list[int]:
    bars = d.or_zeros(d.adjoints([y], [d.one_like(y)], d.inputs), d.inputs)
    return d.tangents(bars, d.inputs, seeds)


def _reverse_over_forward(d: Recording, y: int, seeds: list[int]) -> list[int]:
    dots = d.or_zeros(d.tangents([y], d.inputs, seeds), [y])
    return d.adjoints(dots, [d.one_like(y)], d.inputs)


def _hessian_product(
    f: Callable[..., Any], choice: Choice, has_aux: bool, sweeps: Callable[[Recording, int, list[int]], list[int]]
) -> Callable[..., Any]:
    """The product of the Hessian with a direction, by two sweeps in either order."""

    @functools.wraps(f, updated=())
    def product(*args: Any, **kwargs: Any) -> Any:
        primals, directions = _split_direction(args, choice)
        with differentiating() as d:
            y, forms, aux = scalar_output(d, f, choice, has_aux, primals, kwargs)
            check_gradient(d, y, choice.driver)
            seeds = seeds_of(d, directions, forms, ["the direction"] * len(directions))
            products = d.results(d.or_zeros(sweeps(d, y, seeds), d.inputs))
        found = choice.arranged(products, forms)
        return (found, aux) if has_aux else found

    return product


@docfiller
def hvp(
    f: Callable[..., Any], argnums: Argnums = None, has_aux: bool = False, *, argnames: Argnames = None
) -> Callable[..., Any]:
    """The product of the Hessian and a vector, ``(x, v) -> ∇²f(x) v``, forward over reverse.

    Parameters
    ----------
    %(f_scalar)s
    %(argnums)s
    %(has_aux)s
    %(argnames)s

    Returns
    -------
    %(hessian_product)s

    Notes
    -----
    Cost: f once, traced, a reverse sweep and a forward sweep; no matrix is formed.

    Complex arguments: the product is the change of the gradient, ∂f/∂x - i ∂f/∂y, along v; v may be complex.

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

    return _hessian_product(f, Choice("hvp", f, argnums, argnames), has_aux, _forward_over_reverse)


@docfiller
def vhp(
    f: Callable[..., Any], argnums: Argnums = None, has_aux: bool = False, *, argnames: Argnames = None
) -> Callable[..., Any]:
    """The product of a vector and the Hessian, ``(x, v) -> vᵀ ∇²f(x)``, reverse over forward.

    Parameters
    ----------
    %(f_scalar)s
    %(argnums)s
    %(has_aux)s
    %(argnames)s

    Returns
    -------
    %(hessian_product)s

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

    return _hessian_product(f, Choice("vhp", f, argnums, argnames), has_aux, _reverse_over_forward)
