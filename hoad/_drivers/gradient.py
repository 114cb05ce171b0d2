"""Gradients of scalar functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from hoad._core.record.recording import Recording, differentiating
from hoad._docstrings import docfiller
from hoad._drivers.holomorphic import check_gradient
from hoad._program.trace import call_traced, output_operand, plain, split_aux
from hoad._pytree.arguments import Argnames, Argnums, Choice
from hoad._pytree.containers import Forms
from hoad.errors import ShapeError


def require_scalar(recording: Recording, operand: int, driver: str) -> None:
    """Raise unless the operand is a real scalar."""
    aval = recording.aval(operand)
    if aval.shape:
        advice = "Use jacobian(f), or vjp with a cotangent."
        if driver == "minimize":
            advice = "Return a number, such as np.sum(r**2) of residuals r."
        if aval.size == 1:
            item = ", ".join("0" for _ in aval.shape)
            advice = (
                f"Return its one item, f(x)[{item}], or np.sum(f(x)). SciPy's minimize, for one, calls f with x of "
                "shape (1,) where x0 is a number."
            )
        raise ShapeError(f"{driver} needs a scalar function, but f(x) has shape {aval.shape}. {advice}")


def scalar_output(
    d: Recording, f: Callable[..., Any], choice: Choice, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[int, Forms | None, Any]:
    """What f gives, a scalar, with the chosen arguments traced: its operand, the containers among these, and aux."""
    aux = None
    result, forms = call_traced(d, f, args, choice.keys(args, kwargs), choice.driver, kwargs)
    if has_aux:
        result, aux = split_aux(result, has_aux, choice.driver)
    y = output_operand(d, result, choice.driver)
    require_scalar(d, y, choice.driver)
    return y, forms, None if aux is None else plain(aux, d.nested)


def _sweep(
    f: Callable[..., Any],
    choice: Choice,
    has_aux: bool,
    holomorphic: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, Any, Any]:
    """(value, gradient as asked for, aux) by one reverse sweep."""
    with differentiating() as d:
        d.forget_unread()
        y, forms, aux = scalar_output(d, f, choice, has_aux, args, kwargs)
        check_gradient(d, y, choice.driver, holomorphic)
        value, *gradients = d.gradients(y)
    return value, choice.arranged(gradients, forms), aux


@docfiller
def value_and_grad(
    f: Callable[..., Any],
    argnums: Argnums = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: Argnames = None,
) -> Callable[..., Any]:
    """The value and gradient function ``x -> (f(x), ∇f(x))``.

    Parameters
    ----------
    %(f_scalar)s
    %(argnums)s
    %(has_aux)s
    %(holomorphic)s
    %(argnames)s

    Returns
    -------
    callable
        Called like f; returns ``(value, gradient)`` or ``((value, aux), gradient)``, with the gradient as for `grad`.

    Raises
    ------
    ShapeError
        If f(x) is not a scalar.
    DTypeError
        If an argument is neither a float nor a complex number and contains none, or f(x) is complex and `holomorphic`
        is False.

    Notes
    -----
    Cost: f once, traced, and one reverse sweep: a small multiple of f for any size of x. Memory: about 40 bytes per
    scalar operation, and the intermediate arrays.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    (5.0, array([2., 4.]))
    """

    return paired(f, Choice("value_and_grad", f, argnums, argnames), has_aux, holomorphic)


def paired(
    f: Callable[..., Any], choice: Choice, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """The function that gives value and gradient, whose errors name the driver of the choice."""

    @functools.wraps(f, updated=())
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        value, found, aux = _sweep(f, choice, has_aux, holomorphic, args, kwargs)
        return ((value, aux) if has_aux else value), found

    return value_and_gradient


@docfiller
def grad(
    f: Callable[..., Any],
    argnums: Argnums = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: Argnames = None,
) -> Callable[..., Any]:
    """The gradient function ``x -> ∇f(x)`` of a scalar function.

    Parameters
    ----------
    %(f_scalar)s
    %(argnums)s
    %(has_aux)s
    %(holomorphic)s
    %(argnames)s

    Returns
    -------
    callable
        Called like f; returns the gradient, or ``(gradient, aux)``. The gradient has the structure of its argument,
        with None in place of everything that is not a float. It is a tuple for a tuple of argnums, a dict for a tuple
        of argnames, and a pair of these if both are given. Its units are those of f over those of the argument.

    Raises
    ------
    ArgumentError
        If f cannot be called.
    ShapeError
        If f(x) is not a scalar: use `jacobian`, or `vjp` with a cotangent.
    DTypeError
        If an argument is neither a float nor a complex number and contains none, or f(x) is complex and `holomorphic`
        is False.

    Notes
    -----
    Cost: f once, traced, and one reverse sweep: a small multiple of f for any size of x. Memory: about 40 bytes per
    scalar operation, and the intermediate arrays.

    Singular points: at a kink (``abs``, ``norm``, ``hypot`` at 0) the gradient is the subgradient 0. Ties of ``max``,
    ``min``, ``maximum``, ``minimum`` and ``clip`` share it equally. The branch that ``np.where`` does not choose gives
    0, even where its own derivative is infinite. At a pole the gradient is inf or nan, as in IEEE arithmetic. See
    docs/design/0003-singular-points.md.

    Complex arguments: the gradient of a real f with respect to z = x + iy is ∂f/∂x - i ∂f/∂y, so that df = Re(g dz).
    The steepest ascent is along its conjugate. See docs/howto/complex.md.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> hoad.grad(np.tanh)(0.0)
    1.0
    >>> hoad.grad(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([ 3., 12.])
    >>> hoad.grad(lambda p: np.sum(p["w"] ** p["n"]))({"w": np.array([1.0, 2.0]), "n": 3})
    {'w': array([ 3., 12.]), 'n': None}
    >>> hoad.grad(lambda x, rate=1.0: np.exp(rate * x), argnames="rate")(2.0, rate=0.0)
    2.0
    """

    choice = Choice("grad", f, argnums, argnames)

    @functools.wraps(f, updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        _, found, aux = _sweep(f, choice, has_aux, holomorphic, args, kwargs)
        return (found, aux) if has_aux else found

    return gradient
