"""What drivers say of containers they cannot take: the leaf by its path, what it is, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _pytree.kinds import Named, Plain, X

import hoad

DRIVERS: dict[str, Callable[[Callable[..., Any], Any], Any]] = {
    "grad": lambda f, p: hoad.grad(f)(p),
    "value_and_grad": lambda f, p: hoad.value_and_grad(f)(p),
    "jacobian": lambda f, p: hoad.jacobian(f)(p),
    "hessian": lambda f, p: hoad.hessian(f)(p),
    "hvp": lambda f, p: hoad.hvp(f)(p, p),
    "vhp": lambda f, p: hoad.vhp(f)(p, p),
    "jvp": lambda f, p: hoad.jvp(f, (p,), (p,)),
    "vjp": lambda f, p: hoad.vjp(f, p),
    "linearize": lambda f, p: hoad.linearize(f, p),
    "record": lambda f, p: hoad.record(f, p),
}
drivers = pytest.mark.parametrize("driver", DRIVERS)

ARGUMENTS: list[tuple[Any, str]] = [
    (
        {"w": [1.0, np.float16(2.0)]},
        r"computes in float64 and float32, but argument 0 \(p\['w'\]\[1\]\) is float16\. Use x",
    ),
    ({"w": [1.0, np.ones(2, np.longdouble)]}, r"argument 0 \(p\['w'\]\[1\]\) is .*Use x\.astype\(np\.float64\)"),
    (
        Plain(1.0, Named(2.0, np.array([1.5], object))),
        r"argument 0 \(p\.y\.y\) is an array of object\. Use x\.astype\(float\)",
    ),
    ({"n": 3}, r"needs a float, but argument 0, a dict, holds none: p\['n'\] is int\. Write numbers as floats, 3\.0"),
    ([1, 2, 3, 4], r"argument 0, a list, holds none: p\[0\] is int, p\[1\] is int, p\[2\] is int, and 1 more\. Write"),
    ([np.arange(3)], r"argument 0, a list, holds none: p\[0\] is ndarray\. .* x\.astype\(float\)"),
    ({}, r"needs a float, but argument 0, a dict, is empty\. Pass one that holds a float"),
    (((), [], {}), r"needs a float, but argument 0, a tuple, is empty\."),
    ([np.ma.array([1.0])], "arrays of class MaskedArray have an arithmetic of their own"),
    (object(), r"argument 0 is object\. .* see hoad\.register_container"),
    ({1.0}, r"argument 0 is set\. Convert it with np\.asarray"),
]


@drivers
@pytest.mark.parametrize(("p", "message"), ARGUMENTS, ids=[message for _, message in ARGUMENTS])
def test_arguments(driver: str, p: Any, message: str) -> None:
    with pytest.raises(hoad.DTypeError, match=message) as caught:
        DRIVERS[driver](lambda p: 1.0, p)
    if "MaskedArray" not in message:
        assert str(caught.value).startswith(f"{driver} ")
        chosen = driver in ("grad", "value_and_grad", "jacobian", "hessian", "hvp", "vhp") and "holds none" in message
        assert str(caught.value).endswith("or choose other arguments with argnums.") or not chosen


@drivers
def test_the_argument_is_named(driver: str) -> None:
    if driver in ("jvp", "vjp", "linearize", "record"):
        call = {
            "jvp": lambda f: hoad.jvp(f, (1.0, {"w": 2}), (1.0, None)),
            "vjp": lambda f: hoad.vjp(f, 1.0, {"w": 2}),
            "linearize": lambda f: hoad.linearize(f, 1.0, {"w": 2}),
            "record": lambda f: hoad.record(f, 1.0, {"w": 2}),
        }[driver]
    else:
        call = lambda f: getattr(hoad, driver)(f, argnums=(0, 1))(1.0, {"w": 2}, (1.0, None))  # noqa: E731
    with pytest.raises(hoad.DTypeError, match=r"argument 1, a dict, holds none: second\['w'\] is int"):
        call(lambda first, second, *rest: first)
    with pytest.raises(hoad.DTypeError, match=r"argument 1, a dict, holds none: args\[1\]\['w'\] is int"):
        call(lambda *args: args[0])


def test_derivative_takes_no_container() -> None:
    with pytest.raises(hoad.DTypeError, match=r"derivative takes floats and arrays, but argument 0 is dict\. Use jvp"):
        hoad.derivative(lambda p: p["x"])({"x": 1.0})
    with pytest.raises(
        hoad.DTypeError, match=r"check\.gradient takes floats and arrays, .* is dict\. hoad\.ravel makes"
    ):
        hoad.check.gradient(lambda p: 1.0, lambda p: p, {"x": 1.0})


POINT = {"w": X, "b": [1.0], "n": 3}
WRONG: list[tuple[Any, type[Exception], str]] = [
    ({"w": X[:2], "b": [1.0], "n": None}, hoad.ShapeError, r" at \['w'\] must have shape \(3,\), but has shape \(2,\)"),
    (
        {"w": X, "b": [1.0], "n": 4},
        hoad.ShapeError,
        r" at \['n'\] must be None or the constant 3, but is 4: a constant has no derivative",
    ),
    ({"w": X, "b": [1.0], "n": 3.0}, hoad.ShapeError, r"constant 3, but is 3\.0"),
    (
        {"w": X, "b": (1.0,), "n": 3},
        hoad.ShapeError,
        r" at \['b'\] must be a list of 1 item, .* but is a tuple of 1 item",
    ),
    ({"w": X, "b": [1.0]}, hoad.ShapeError, "must be a dict of 'w', 'b', 'n', .* is a dict of 'w', 'b'"),
    (
        X,
        hoad.ShapeError,
        r"must be a dict .* ndarray of shape \(3,\)\. Give it the structure \{'w': \*, 'b': \[\*\], 'n': \*\}",
    ),
    (
        {"w": X, "b": [None], "n": 3},
        hoad.DTypeError,
        r"(at \['b'\]\[0\] must be a float|has dtype float64, but object)",
    ),
]
TAKING: dict[str, tuple[Callable[[Any], Any], str]] = {
    "jvp": (lambda v: hoad.jvp(f, (POINT,), (v,)), "^tangent 0"),
    "linearize": (lambda v: hoad.linearize(f, POINT)[1](v), "^the tangent"),
    "linearize, several": (
        lambda v: hoad.linearize(lambda s, p: f(p), 1.0, POINT)[1](1.0, v),
        "^the tangent of argument 1",
    ),
    "hvp": (lambda v: hoad.hvp(f)(POINT, v), "^the direction"),
    "vhp": (lambda v: hoad.vhp(f)(POINT, v), "^the direction"),
    "vjp": (lambda v: hoad.vjp(lambda s: {"w": s * X, "b": [s], "n": 3}, 2.0)[1](v), "^the cotangent"),
    "evaluate": (lambda v: hoad.record(f, POINT).evaluate(v), "^argument 0"),
    "gradient": (lambda v: hoad.gradient(hoad.record(lambda s: {"w": s * X, "b": [s], "n": 3}, 2.0), v), "^the seed"),
}


def f(p: Any) -> Any:
    return np.sum(p["w"]) * p["b"][0]


@pytest.mark.parametrize("driver", TAKING)
@pytest.mark.parametrize(("given", "kind", "message"), WRONG, ids=[message for *_, message in WRONG])
def test_directions(driver: str, given: Any, kind: type[Exception], message: str) -> None:
    call, what = TAKING[driver]
    if driver == "evaluate":
        message = message.replace(", but has", ", as recorded, but has")
    with pytest.raises(kind, match=message) as caught:
        call(given)
    if kind is hoad.ShapeError:
        assert re.match(what, str(caught.value))


OF_NUMBERS = ("grad", "value_and_grad", "hessian", "hvp", "vhp")


@drivers
def test_results_without_a_float(driver: str) -> None:
    with pytest.raises(hoad.ShapeError, match="f returned dict") as caught:
        DRIVERS[driver](lambda p: {"n": 3, "s": ["a"]}, [1.0])
    if driver in OF_NUMBERS:
        assert "use jacobian(f), which takes containers" in str(caught.value)
    else:
        assert "without a float: {'n': *, 's': [*]}. Return the values to be differentiated." in str(caught.value)


@pytest.mark.parametrize("driver", [*OF_NUMBERS, "jacobian", "jvp", "vjp", "linearize"])
def test_has_aux_is_offered_for_pairs(driver: str) -> None:
    if driver in OF_NUMBERS:
        with pytest.raises(hoad.ShapeError, match=r"A pair of value and extra output is for has_aux=True\."):
            DRIVERS[driver](lambda p: (p[0] ** 2, {"metric": p[0]}), [1.0])
        with pytest.raises(hoad.ShapeError, match="f returned list") as caught:
            DRIVERS[driver](lambda p: [p[0] ** 2], [1.0])
        assert "has_aux" not in str(caught.value)
    else:
        DRIVERS[driver](lambda p: (p[0] ** 2, {"metric": p[0]}), [1.0])
