"""Which derivatives of complex functions are one complex number an entry, and what to ask for where they are not.

The adjoint of z = x + iy is ∂/∂x - i ∂/∂y. A real function of complex arguments has such a gradient, a complex function
of real arguments a complex Jacobian, a holomorphic function a complex derivative; any other needs two numbers an entry.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from hoad._core.graph.tape import AbstractValue
from hoad._core.record.recording import Recording, takes_apart
from hoad._pytree.containers import Name
from hoad.errors import DTypeError

PARTS = "Take its real or imaginary part or its size (np.real, np.imag, np.abs)"
HOLOMORPHIC = "pass holomorphic=True if f is a holomorphic function of complex arguments"
ASKED = " takes a holomorphic function of a complex x"
ALONG = "Expand along a real direction, taylor(lambda t: f(x + t * v), 0.0, n)."
TURN = cmath.exp(1j)


def check_gradient(recording: Recording, y: int, driver: str, holomorphic: bool = False) -> None:
    """Raise unless f is real, or holomorphic if that is said."""
    if holomorphic:
        _check_holomorphic(recording, y, driver)
    elif recording.aval(y).is_complex:
        flag = f"; {HOLOMORPHIC}" if driver not in ("hvp", "vhp") else ""
        others = f"{flag}; or take the jacobian of both parts, or vjp with a cotangent" if driver != "minimize" else ""
        raise DTypeError(f"{driver} needs a real function, but f(x) is {recording.aval(y).dtype}. {PARTS}{others}.")


def check_jacobian(recording: Recording, y: int, holomorphic: bool, name: str | Name) -> None:
    """Raise for a complex function of complex arguments, unless it is said to be holomorphic."""
    if holomorphic:
        _check_holomorphic(recording, y, "jacobian", name)
    elif recording.aval(y).is_complex and _of_complex(recording):
        raise DTypeError(
            f"jacobian of a complex function of complex arguments is not a complex matrix unless f is holomorphic, and "
            f"{name} is {recording.aval(y).dtype}. Either {HOLOMORPHIC}; or take the jacobian of both parts, np.real "
            "and np.imag of f; or jvp and vjp, one direction at a time."
        )


def check_hessian(recording: Recording, y: int, holomorphic: bool) -> None:
    """Raise unless f is a real function of real arguments, or holomorphic if that is said."""
    if holomorphic:
        _check_holomorphic(recording, y, "hessian", order=2)
        return
    check_gradient(recording, y, "hessian")
    if _of_complex(recording):
        raise DTypeError(
            "hessian of a real function of complex arguments is not a complex matrix. Use hvp, one direction at a "
            "time, or make real and imaginary parts arguments of their own, "
            "hessian(lambda x, y: f(x + 1j * y), argnums=(0, 1))."
        )


def check_derivative(recording: Recording, y: int, holomorphic: bool, order: int) -> None:
    """Raise for a complex argument, unless f is said to be holomorphic."""
    if holomorphic:
        _check_holomorphic(recording, y, "derivative", order=order)
    elif _of_complex(recording):
        raise DTypeError(
            f"derivative with respect to a complex argument is one number only if f is holomorphic. Either "
            f"{HOLOMORPHIC}; or use grad for the gradient of a real function; or jvp, one direction at a time."
        )


def check_series(recording: Recording, y: int, driver: str) -> None:
    """Raise for a real function of complex arguments, which has no Taylor series in them."""
    if _of_complex(recording) and not recording.aval(y).is_complex:
        raise DTypeError(
            f"{driver} takes a holomorphic function of a complex x, but f(x) is {recording.aval(y).dtype}. For "
            "a real function of complex numbers use grad, or expand along a real direction: "
            "taylor(lambda t: f(x + t * v), 0.0, n)."
        )


def _of_complex(recording: Recording) -> bool:
    return any(recording.aval(k).is_complex for k in recording.inputs)


def _check_holomorphic(recording: Recording, y: int, driver: str, name: str | Name = "f(x)", order: int = 1) -> None:
    for k in recording.inputs:
        if not recording.aval(k).is_complex:
            raise DTypeError(
                f"{driver} with holomorphic=True needs complex arguments, but was given {recording.aval(k).dtype}. "
                "Write x + 0j, or leave holomorphic=True out: a real argument has a derivative without it."
            )
    if not recording.aval(y).is_complex:
        raise DTypeError(
            f"{driver} with holomorphic=True needs a complex result, but {name} is {recording.aval(y).dtype}. A real "
            "function of complex arguments is not holomorphic, unless it is constant: leave holomorphic=True out."
        )
    if takes_apart(recording.graph, recording.start, recording.inputs, y):
        flag = " with holomorphic=True", "Leave holomorphic=True out, and take the real and the imaginary part of f."
        check_cauchy_riemann(recording, y, driver, *flag)
        if order > 1:
            straight, turned = (_swept(recording, y, turn, order) for turn in (1.0, TURN))
            check_turned(driver, straight, turned, 1.0, *flag)


def _swept(recording: Recording, y: int, turn: complex, order: int) -> list[Any]:
    """The coefficients of a result by sweeps, along a line that meets the zeros of all inputs about where t is 1."""
    sizes = [np.abs(recording.value(k)) for k in recording.inputs]
    lines = [
        np.where(x > 0.0, x, 1.0) * _weights(recording.aval(k)) for k, x in zip(recording.inputs, sizes, strict=True)
    ]
    seeds = [
        recording.operand((turn * v).astype(recording.aval(k).dtype))
        for k, v in zip(recording.inputs, lines, strict=True)
    ]
    ys = [y]
    for _ in range(order):
        ys.append(recording.or_zeros(recording.tangents(ys[-1:], recording.inputs, seeds), ys[-1:])[0])
    with np.errstate(invalid="ignore"):
        return [np.asarray(x) / math.factorial(k) for k, x in enumerate(recording.compute(ys))]


def check_cauchy_riemann(recording: Recording, y: int, driver: str, asked: str = ASKED, advice: str = ALONG) -> None:
    """Raise where a cotangent that is turned by -i does not turn the adjoints."""
    aval = recording.aval(y)
    weights = _weights(aval)
    straight, turned = (
        recording.compute(
            recording.or_zeros(recording.adjoints([y], [recording.operand(seed)], recording.inputs), recording.inputs)
        )
        for seed in (weights, -1j * weights)
    )
    for k, a, b in zip(recording.inputs, straight, turned, strict=True):
        size = np.max(np.abs(a), initial=0.0) + np.max(np.abs(b), initial=0.0)
        error = np.max(np.abs(b + 1j * a), initial=0.0)
        if recording.aval(k).is_complex and error > np.finfo(aval.dtype).eps ** 0.5 * size:
            _raise_not_holomorphic(driver, asked, advice)


def check_turned(
    driver: str, straight: Sequence[Any], turned: Sequence[Any], far: Any, asked: str = ASKED, advice: str = ALONG
) -> None:
    """Raise where coefficients along a line that is turned by e^i in its complex plane are not those times e^(ik).

    With f = Σ aⱼₖ zʲ z̄ᵏ the coefficient of order m is a polynomial in e^i, a transcendental number: if it vanishes, so
    do all aⱼₖ with k > 0 and j + k = m, unless they are chosen for it. It is compared with what those of lower orders
    say of its size, for a function that is singular at zeros of x, so `far` along the line.
    """
    with np.errstate(all="ignore"):
        envelope = np.zeros(np.shape(straight[0]))
        for order, (a, b) in enumerate(zip(straight, turned, strict=True)):
            if order:
                envelope = np.maximum(envelope / far, np.abs(a))
                if np.any(np.abs(b - TURN**order * a) > np.finfo(np.asarray(a).dtype).eps ** 0.5 * envelope):
                    _raise_not_holomorphic(driver, asked, advice)


def _weights(aval: AbstractValue) -> Any:
    """Numbers that are like no others."""
    return np.cos(np.arange(1.0, aval.size + 1)).reshape(aval.shape).astype(aval.dtype)


def _raise_not_holomorphic(driver: str, asked: str, advice: str) -> NoReturn:
    raise DTypeError(
        f"{driver}{asked}, but f is not holomorphic here: it does not satisfy the equations of Cauchy and Riemann "
        f"(conj, real, imag and abs do not). {advice}"
    )
