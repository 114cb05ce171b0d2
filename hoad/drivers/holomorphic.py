"""Which derivatives of complex functions are one complex number an entry, and what to ask for where they are not.

The adjoint of z = x + iy is ∂/∂x - i ∂/∂y. A real function of complex arguments has such a gradient, a complex function
of real arguments a complex Jacobian, a holomorphic function a complex derivative; any other needs two numbers an entry.
"""

from __future__ import annotations

import numpy as np

from hoad._core.recording import Recording, takes_apart
from hoad.containers import Name
from hoad.errors import DTypeError

PARTS = "Take its real or imaginary part or its size (np.real, np.imag, np.abs)"
HOLOMORPHIC = "pass holomorphic=True if f is a holomorphic function of complex arguments"


def check_gradient(recording: Recording, y: int, driver: str, holomorphic: bool = False) -> None:
    """Raise unless f is real, or holomorphic if that is said."""
    if holomorphic:
        _check_holomorphic(recording, y, driver)
    elif recording.aval(y).is_complex:
        flag = f"{HOLOMORPHIC}; " if driver not in ("hvp", "vhp") else ""
        raise DTypeError(
            f"{driver} needs a real function, but f(x) is {recording.aval(y).dtype}. {PARTS}; {flag}or take the "
            "jacobian of both parts, or vjp with a cotangent."
        )


def check_jacobian(recording: Recording, y: int, holomorphic: bool, name: str | Name) -> None:
    """Raise for a complex function of complex arguments, unless it is said to be holomorphic."""
    if holomorphic:
        _check_holomorphic(recording, y, "jacobian", name)
    elif recording.aval(y).is_complex and _of_complex(recording):
        raise DTypeError(
            f"jacobian of a complex function of complex arguments is no complex matrix unless f is holomorphic, and "
            f"{name} is {recording.aval(y).dtype}. Either {HOLOMORPHIC}; or take the jacobian of both parts, np.real "
            "and np.imag of f; or jvp and vjp, one direction at a time."
        )


def check_hessian(recording: Recording, y: int, holomorphic: bool) -> None:
    """Raise unless f is a real function of real arguments, or holomorphic if that is said."""
    check_gradient(recording, y, "hessian", holomorphic)
    if not holomorphic and _of_complex(recording):
        raise DTypeError(
            "hessian of a real function of complex arguments is no complex matrix. Use hvp, one direction at a time; "
            "or make real and imaginary parts arguments of their own, "
            "hessian(lambda x, y: f(x + 1j * y), argnums=(0, 1))."
        )


def check_derivative(recording: Recording, y: int, holomorphic: bool) -> None:
    """Raise for a complex argument, unless f is said to be holomorphic."""
    if holomorphic:
        _check_holomorphic(recording, y, "derivative")
    elif _of_complex(recording):
        raise DTypeError(
            f"derivative by a complex argument is one number only if f is holomorphic. Either {HOLOMORPHIC}; or use "
            "grad for the gradient of a real function; or jvp, one direction at a time."
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


def _check_holomorphic(recording: Recording, y: int, driver: str, name: str | Name = "f(x)") -> None:
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


def check_cauchy_riemann(
    recording: Recording,
    y: int,
    driver: str,
    asked: str = " takes a holomorphic function of a complex x",
    advice: str = "Expand along a real direction, taylor(lambda t: f(x + t * v), 0.0, n).",
) -> None:
    """Raise where a cotangent that is turned by -i does not turn the adjoints."""
    aval = recording.aval(y)
    weights = np.cos(np.arange(1.0, aval.size + 1)).reshape(aval.shape).astype(aval.dtype)
    straight, turned = (
        recording.compute(
            recording.or_zeros(recording.adjoints([y], [recording.operand(seed)], recording.inputs), recording.inputs)
        )
        for seed in (weights, -1j * weights)
    )
    for a, b in zip(straight, turned, strict=True):
        size = np.max(abs(np.asarray(a)), initial=0.0) + np.max(abs(np.asarray(b)), initial=0.0)
        error = np.max(abs(np.asarray(b + 1j * a)), initial=0.0)
        if error > np.finfo(aval.dtype).eps ** 0.5 * size:
            raise DTypeError(
                f"{driver}{asked}, but f is not holomorphic here: it does not satisfy the equations of Cauchy and "
                f"Riemann (conj, real, imag and abs do not). {advice}"
            )


__all__ = [
    "check_cauchy_riemann",
    "check_derivative",
    "check_gradient",
    "check_hessian",
    "check_jacobian",
    "check_series",
]
