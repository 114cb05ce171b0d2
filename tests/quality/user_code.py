"""Code of a user, for the checkers of types: what comes from a driver takes the arguments of the function.

It is part of what `mypy` checks; `test_types.py` runs it, and has pyright check it. An ignored error must be one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import hoad

Floats = NDArray[np.float64]


def loss(x: Floats, scale: float = 1.0) -> float:
    total: float = np.sum(scale * x**2)
    return total


def with_aux(x: Floats) -> tuple[float, str]:
    return loss(x), "aux"


def cube(x: float) -> float:
    return x**3


def step(carry: float, row: float) -> tuple[float, float]:
    return carry + row, carry


x = np.array([1.0, 2.0])

# Arguments are those of f, by position and by name.
gradient = hoad.grad(loss)
assert gradient(x, scale=2.0).tolist() == [4.0, 8.0]
hoad.hessian(loss)(x, 3.0)
hoad.jacobian(hoad.grad(loss))(x)
assert_type(hoad.value_and_grad(loss)(x), tuple[float, Any])
assert_type(hoad.value_and_grad(with_aux, has_aux=True)(x), tuple[tuple[float, str], Any])
hoad.derivative(cube, 2)(1.0)
assert_type(hoad.checkpoint(cube)(1.0), float)
hoad.derivative(np.tanh, 3)(x)
hoad.hvp(loss)(x, np.ones(2))


def wrong() -> None:
    """Calls that the function itself would not take."""
    gradient(x, scales=2.0)  # type: ignore[call-arg]
    hoad.hessian(cube)("one")  # type: ignore[arg-type]
    hoad.grad(x)  # type: ignore[call-overload]
    hoad.jit(cube)(1.0, 2.0)  # type: ignore[call-overload]
    hoad.gard(loss)  # type: ignore[attr-defined]


# Values have the types that f gives them.
jitted = hoad.jit(cube)
assert_type(jitted(2.0), float)
jitted.report(2.0)
hoad.jit(loss)(x, out=np.zeros(()))
value, pullback = hoad.vjp(cube, 2.0)
assert_type(value, float)
assert_type(pullback(1.0), tuple[Any, ...])
assert_type(hoad.jvp(with_aux, (x,), (x,), has_aux=True), tuple[float, float, str])
assert_type(hoad.linearize(cube, 2.0)[0], float)
assert_type(hoad.scan(step, 0.0, x)[0], float)
assert_type(hoad.fori_loop(0, 3, lambda i, c: c * 2.0, 1.0), float)
assert_type(hoad.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, 1.0), float)
assert_type(hoad.stop_gradient(2.0), float)


@hoad.primitive
def square(x: float) -> float:
    return x * x


@hoad.jit
def half(x: float) -> float:
    return 0.5 * x


assert_type(square(2.0), float)
assert_type(half(2.0), float)

program = hoad.record(cube, 2.0)
assert_type(program, hoad.Program)
assert_type(hoad.gradient(program), hoad.Program)


def minimized() -> None:
    try:
        hoad.minimize(loss, x)
    except hoad.TracedValueError as error:
        assert_type(error, hoad.TracedValueError)
