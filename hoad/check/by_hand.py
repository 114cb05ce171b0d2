"""Derivatives written by hand, compared with finite differences and with hoad's derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hoad._docstrings import docfiller
from hoad._drivers.gradient import grad
from hoad._drivers.hessian import hessian as second_derivatives
from hoad._drivers.jacobian import jacobian as first_derivatives
from hoad._pytree.arguments import positions
from hoad.check.claims import Shape, read
from hoad.check.components import Question, compared, differences, noise_by
from hoad.check.derivative_report import DerivativeReport
from hoad.check.points import Array, called, check_arguments, check_functions, numbers, quietly
from hoad.check.report import name_of
from hoad.errors import ArgumentError, ShapeError

Argnums = int | tuple[int, ...]

RTOL = 1e-6
MOST = 100


@docfiller
def gradient(
    f: Callable[..., Any],
    g: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    rtol: float = RTOL,
    most: int = MOST,
    seed: int = 0,
) -> DerivativeReport:
    """Check a gradient written by hand against finite differences of f and against hoad.

    Parameters
    ----------
    f : callable
        A scalar function. If hoad cannot trace it, only differences judge.
    g : callable
        Its gradient, called like f and with results as those of ``hoad.grad(f, argnums)``.
    %(check_args)s
    argnums : int, tuple or list of int, optional
        The arguments that g differentiates with respect to. For a tuple, g returns a tuple.
    %(check_choices)s

    Returns
    -------
    %(check_returns)s

    Raises
    ------
    ShapeError
        If f is not scalar, or the point is not finite.
    %(check_raises)s

    See Also
    --------
    jacobian, hessian, taylor_test

    Notes
    -----
    Cost: about 20 values of f per component, 30 more for each argument, and one gradient by hoad.

    Central differences at halved steps are extrapolated to step 0 (Ridders 1982), with an error estimate that includes
    rounding in f. If that error is large, hoad's derivative judges instead, if f can be traced. If neither can decide,
    or f has a kink or a jump, the component is undecided, and the check does not pass.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def f(x):
    ...     return x[0] ** 2 * x[1]
    >>> def g(x):
    ...     return np.array([2 * x[0] * x[1], -(x[0] ** 2)])  # a wrong sign
    >>> print(hoad.check.gradient(f, g, np.array([1.0, 3.0])))
    gradient of f at [1, 3]: FAILED
      component  yours  hoad  difference  ± error  digits
      [0]            6     6           6  ...         15.7  right
      [1]           -1     1           1  ...          0.0  wrong  the sign is wrong
    """
    wrt = _arguments("gradient", f, g, args, argnums, rtol, most)
    value = _value("gradient", f, args)
    _check_scalar("gradient", value.shape, "use hoad.check.jacobian")
    own = grad(f, argnums)
    return compared(
        Question("gradient", f, g, own, args, wrt, isinstance(argnums, (tuple, list)), value, rtol, most, seed)
    )


@docfiller
def jacobian(
    f: Callable[..., Any],
    j: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    rtol: float = RTOL,
    most: int = MOST,
    seed: int = 0,
) -> DerivativeReport:
    """Check a Jacobian written by hand against finite differences of f and against hoad.

    Parameters
    ----------
    f : callable
        A function whose result has any shape (S). hoad need not be able to trace it.
    j : callable
        Its Jacobian, called like f, of shape ``(*S, *x.shape)`` as that of ``hoad.jacobian(f, argnums)``.
    %(check_args)s
    argnums : int, tuple or list of int, optional
        The arguments that j differentiates with respect to. For a tuple, j returns a tuple.
    %(check_choices)s

    Returns
    -------
    %(check_returns)s

    Raises
    ------
    ShapeError
        If the point is not finite, or f does not return an array.
    %(check_raises)s

    See Also
    --------
    gradient

    Notes
    -----
    Cost: about 20 values of f per entry of x, 30 more for each argument, and one Jacobian by hoad. See `gradient` for
    how differences are judged.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def f(x):
    ...     return np.stack([x[0] * x[1], np.sin(x[0])])
    >>> def j(x):
    ...     return np.array([[x[1], x[0]], [np.cos(x[0]), 0.0]])
    >>> hoad.check.jacobian(f, j, np.array([1.0, 3.0])).passed
    True
    """
    wrt = _arguments("jacobian", f, j, args, argnums, rtol, most)
    value = _value("jacobian", f, args)
    own = first_derivatives(f, argnums)
    return compared(
        Question("jacobian", f, j, own, args, wrt, isinstance(argnums, (tuple, list)), value, rtol, most, seed)
    )


@docfiller
def hessian(
    f: Callable[..., Any],
    h: Callable[..., Any],
    *args: Any,
    gradient: Callable[..., Any] | None = None,
    argnums: int = 0,
    rtol: float = RTOL,
    most: int = MOST,
    seed: int = 0,
) -> DerivativeReport:
    """Check a Hessian written by hand against finite differences of gradients and against hoad.

    Parameters
    ----------
    f : callable
        A scalar function.
    h : callable
        Its Hessian, called like f, of shape ``(*x.shape, *x.shape)``.
    %(check_args)s
    gradient : callable, optional
        The gradient to take differences of. The default is hoad's, or differences of f if hoad cannot trace it.
    argnums : int, optional
        The argument that h differentiates with respect to.
    %(check_choices)s

    Returns
    -------
    %(check_returns)s

    Raises
    ------
    ShapeError
        If f is not scalar, or the point is not finite.
    %(check_raises)s

    See Also
    --------
    gradient

    Notes
    -----
    Cost: about 20 gradients per entry of x, 30 more, and one Hessian by hoad. See `gradient` for how differences are
    judged.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> def f(x):
    ...     return x[0] ** 2 * x[1]
    >>> def h(x):
    ...     return np.array([[2 * x[1], 2 * x[0]], [2 * x[0], 0.0]])
    >>> hoad.check.hessian(f, h, np.array([1.0, 3.0])).passed
    True
    """
    wrt = _arguments("hessian", f, h, args, argnums, rtol, most)
    if np.ndim(argnums):
        raise ShapeError(f"check.hessian takes one argument at a time, but argnums={argnums!r}. Check block by block.")
    _check_scalar("hessian", _value("hessian", f, args).shape, "check its parts one by one")
    (k,) = wrt
    slope, note = _slope(f, gradient, args, k)
    value, own = numbers(quietly(slope, *args), "check.hessian"), second_derivatives(f, k)
    asked = Question("hessian", slope, h, own, args, wrt, False, value, rtol, most, seed)
    if gradient is not None:
        asked = replace(asked, suspect="see hoad.check.gradient for the gradient that was given")
    report = compared(asked)
    return replace(report, name=name_of(f), notes=(*report.notes, note, *_asymmetry(h, args, rtol, report)))


# ---- how it is answered ---------------------------------------------------------------------------------------------


def _arguments(
    kind: str,
    f: Callable[..., Any],
    claim: Callable[..., Any],
    args: tuple[Any, ...],
    argnums: Argnums,
    rtol: float,
    most: int,
) -> tuple[int, ...]:
    """The arguments to differentiate by, once it is known that there are functions, and a point that can be moved."""
    check = f"check.{kind}"
    check_functions(check, f, claim)
    if not args:
        raise ShapeError(f"{check} needs a point: the arguments of f, as in {check}(f, g, x).")
    wrt = positions(argnums, len(args), check)
    check_arguments(check, args, wrt)
    if not (rtol >= 0 and most >= 0):
        raise ArgumentError(f"{check} takes rtol and most of 0 or more, not rtol={rtol!r}, most={most!r}.")
    return wrt


def _value(kind: str, f: Callable[..., Any], args: tuple[Any, ...]) -> Array:
    return numbers(called(f"check.{kind}", "f", f, args), f"check.{kind}")


def _check_scalar(kind: str, shape: Shape, advice: str) -> None:
    if shape:
        number = "Return a number, as by f(x).item(), or" if math.prod(shape) == 1 else "For several results,"
        raise ShapeError(f"check.{kind} needs a scalar function, but f(x) has shape {shape}. {number} {advice}.")


def _slope(
    f: Callable[..., Any], gradient: Callable[..., Any] | None, args: tuple[Any, ...], k: int
) -> tuple[Callable[..., Any], str]:
    """The gradient of f, and what to say of it."""
    if gradient is not None:
        check = "check.hessian"
        check_functions(check, gradient)
        _, wrong = read(called(check, name_of(gradient), gradient, args), [np.shape(args[k])], False)
        if wrong:
            raise ShapeError(f"{check}, gradient={name_of(gradient)}: {wrong}")
        return gradient, "differences are of the gradient that was given"
    by_hoad = grad(f, k)
    try:
        quietly(by_hoad, *args)
    except Exception as error:  # whatever f does to a traced value
        reason = f"differences are of differences of f: hoad cannot trace it ({type(error).__name__})"
    else:
        return by_hoad, "differences are of hoad's gradient"

    noise = noise_by(f, args, k, "check.hessian", ())

    def by_differences(*at: Any) -> Array:
        found = differences(f, at, k, range(np.size(at[k])), "check.hessian", (), noise)
        return np.reshape([d.value for _, d, _ in found], np.shape(at[k]))

    return by_differences, reason


def _asymmetry(h: Callable[..., Any], args: tuple[Any, ...], rtol: float, report: DerivativeReport) -> list[str]:
    if report.shape_error:
        return []
    size = int(np.sqrt(report.size))
    matrix = numbers(quietly(h, *args), "check.hessian").reshape(size, size)
    far = abs(matrix - matrix.T) > rtol * np.maximum(abs(matrix), abs(matrix.T))
    if not far.any():
        return []
    i, j = (int(k) for k in np.argwhere(far)[0])
    return [f"it is not symmetric: [{i}, {j}] is {matrix[i, j]:.9g}, [{j}, {i}] is {matrix[j, i]:.9g} (flattened)"]
