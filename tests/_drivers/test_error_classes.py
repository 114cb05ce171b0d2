"""One class for one kind of wrong argument, whatever driver is given it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

X = np.array([1.0, 2.0, 3.0])
V = np.ones(3)


def total(x: Any) -> Any:
    return np.sum(x**3)


def each(x: Any) -> Any:
    return np.sin(x)


# Drivers of a function at a point, ``(f, x)``.
AT_POINT: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda f, x: hoad.grad(f)(x),
    "value_and_grad": lambda f, x: hoad.value_and_grad(f)(x),
    "jacobian": lambda f, x: hoad.jacobian(f)(x),
    "hessian": lambda f, x: hoad.hessian(f)(x),
    "hvp": lambda f, x: hoad.hvp(f)(x, V),
    "vhp": lambda f, x: hoad.vhp(f)(x, V),
    "jvp": lambda f, x: hoad.jvp(f, (x,), (V,)),
    "vjp": lambda f, x: hoad.vjp(f, x),
    "linearize": lambda f, x: hoad.linearize(f, x),
    "derivative": lambda f, x: hoad.derivative(f)(x),
    "derivative by series": lambda f, x: hoad.derivative(f, 5)(x),
    "derivatives": lambda f, x: hoad.derivatives(f, 3)(x),
    "taylor": lambda f, x: hoad.taylor(f, x, 3),
    "partials": lambda f, x: hoad.partials(f, [(1, 0, 0)])(x),
    "derivative_tensor": lambda f, x: hoad.derivative_tensor(f, 2)(x),
    "laplacian": lambda f, x: hoad.laplacian(f)(x),
    "biharmonic": lambda f, x: hoad.biharmonic(f)(x),
    "hessian_diagonal": lambda f, x: hoad.hessian_diagonal(f)(x),
    "directional_derivative": lambda f, x: hoad.directional_derivative(f, V)(x),
    "dense_plan": lambda f, x: hoad.dense_plan(hoad.jacobian(f), x),
    "record": lambda f, x: hoad.record(f, x),
    "explain": lambda f, x: hoad.explain(f, x),
    "check.taylor_test": lambda f, x: hoad.check.taylor_test(f, x),
    "check.modes": lambda f, x: hoad.check.modes(f, x, 2),
}

# Drivers that take the position of an argument, ``(argnums)``.
BY_ARGNUMS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda k: hoad.grad(total, argnums=k)(X),
    "value_and_grad": lambda k: hoad.value_and_grad(total, argnums=k)(X),
    "jacobian": lambda k: hoad.jacobian(each, argnums=k)(X),
    "hessian": lambda k: hoad.hessian(total, argnums=k)(X),
    "hvp": lambda k: hoad.hvp(total, argnums=k)(X, V),
    "vhp": lambda k: hoad.vhp(total, argnums=k)(X, V),
    "derivative": lambda k: hoad.derivative(each, argnums=k)(X),
    "derivatives": lambda k: hoad.derivatives(each, 2, argnums=k)(X),
    "jit": lambda k: hoad.jit(total, static_argnums=k)(X),
}

# Drivers that take a direction or a seed, of the shape of X.
ALONG: dict[str, Callable[[Any], Any]] = {
    "hvp": lambda v: hoad.hvp(total)(X, v),
    "vhp": lambda v: hoad.vhp(total)(X, v),
    "jvp": lambda v: hoad.jvp(each, (X,), (v,)),
    "vjp": lambda v: hoad.vjp(each, X)[1](v),
    "linearize": lambda v: hoad.linearize(each, X)[1](v),
    "taylor": lambda v: hoad.taylor(each, X, 2, v),
    "directional_derivative": lambda v: hoad.directional_derivative(total, v)(X),
    "gradient": lambda v: hoad.gradient(hoad.record(each, X), seed=v),
    "tangent": lambda v: hoad.tangent(hoad.record(each, X), seed=v),
    "sensitivity": lambda v: hoad.record(each, X).sensitivity(1, seed=v),
    "check.taylor_test": lambda v: hoad.check.taylor_test(total, X, v),
}

# Drivers that take an order, ``(n)``.
TO_ORDER: dict[str, Callable[[Any], Any]] = {
    "derivative": lambda n: hoad.derivative(each, n)(X),
    "derivatives": lambda n: hoad.derivatives(each, n)(X),
    "taylor": lambda n: hoad.taylor(each, X, n),
    "derivative_tensor": lambda n: hoad.derivative_tensor(total, n)(X),
    "check.taylor_test": lambda n: hoad.check.taylor_test(total, X, order=n),
    "check.modes": lambda n: hoad.check.modes(total, X, n),
}

# Calls of the derivative function without the arguments of f.
WITHOUT: dict[str, Callable[[], Any]] = {
    "grad": lambda: hoad.grad(total)(),
    "value_and_grad": lambda: hoad.value_and_grad(total)(),
    "jacobian": lambda: hoad.jacobian(each)(),
    "hessian": lambda: hoad.hessian(total)(),
    "hvp": lambda: hoad.hvp(total)(),
    "vhp": lambda: hoad.vhp(total)(),
    "vjp": lambda: hoad.vjp(each),
    "linearize": lambda: hoad.linearize(each),
    "vmap": lambda: hoad.vmap(each)(),
}

# Options of which there are a few, or a range.
OPTIONS: dict[str, Callable[[], Any]] = {
    "jacobian mode": lambda: hoad.jacobian(each, mode="sideways")(X),
    "jacobian chunk": lambda: hoad.jacobian(each, chunk=0)(X),
    "hessian chunk": lambda: hoad.hessian(total, chunk=-1)(X),
    "vmap in_axes": lambda: hoad.vmap(each, in_axes="a")(X),
    "evaluate threads": lambda: hoad.record(each, X).evaluate(X, threads=0),
    "jit threads": lambda: hoad.jit(each, threads=0)(X),
    "table format": lambda: hoad.record(each, X).table("rtf"),
    "table rows": lambda: hoad.record(each, X).table(rows=-1),
    "to_dot direction": lambda: hoad.record(each, X).to_dot(direction="up"),
    "explore limit": lambda: hoad.record(each, X).explore("unwritten.html", limit=0),
    "odeint method": lambda: hoad.ode.odeint(lambda y, t: -y, X, np.array([0.0, 1.0]), method="euler's"),
    "solve_ivp option": lambda: hoad.ode.Taylor(lambda t, y: -y, 0.0, X, 1.0, colour="red"),
    "checkpointed_loop steps": lambda: hoad.checkpointed_loop(lambda k, x: x, X, 2.5),
    "scan length": lambda: hoad.scan(lambda c, x: (c, c), 1.0, length=-1),
    "unpack_tensor shape": lambda: hoad.unpack_tensor(np.ones(6), "a", 2),
}

TABLE: list[Any] = [
    *((driver, lambda call=call: call(3.0, X), hoad.ArgumentError, "no function") for driver, call in AT_POINT.items()),
    *((driver, lambda call=call: call(total, "x"), hoad.DTypeError, "text") for driver, call in AT_POINT.items()),
    *(
        (driver, lambda call=call: call(each, np.arange(3)), hoad.DTypeError, "ints")
        for driver, call in AT_POINT.items()
    ),
    *(
        (driver, lambda call=call: call(5), hoad.ArgumentError, "beyond the last")
        for driver, call in BY_ARGNUMS.items()
    ),
    *((driver, lambda call=call: call(1.5), hoad.ArgumentError, "no position") for driver, call in BY_ARGNUMS.items()),
    *((driver, lambda call=call: call(np.ones(4)), hoad.ShapeError, "shape") for driver, call in ALONG.items()),
    *((driver, lambda call=call: call(V + 1j), hoad.DTypeError, "complex") for driver, call in ALONG.items()),
    *(
        (driver, lambda call=call: call(np.array(["a"] * 3)), hoad.DTypeError, "texts")
        for driver, call in ALONG.items()
    ),
    *((driver, lambda call=call: call(-1), hoad.ArgumentError, "negative") for driver, call in TO_ORDER.items()),
    *((driver, lambda call=call: call(1.5), hoad.ArgumentError, "no order") for driver, call in TO_ORDER.items()),
    *((driver, call, hoad.ArgumentError, "no arguments") for driver, call in WITHOUT.items()),
    *((driver, call, hoad.ArgumentError, "option") for driver, call in OPTIONS.items()),
]


@pytest.mark.parametrize(("call", "wanted"), [row[1:3] for row in TABLE], ids=[f"{row[0]}, {row[3]}" for row in TABLE])
def test_a_wrong_argument_raises_the_class_of_its_kind(call: Callable[[], Any], wanted: type[Exception]) -> None:
    with pytest.raises(hoad.HoadError) as caught:
        call()
    assert type(caught.value) is wanted, str(caught.value)
