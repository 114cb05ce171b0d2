"""Which arguments are differentiated by: argnums, argnames, both; and whatever can be called."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad


def f(a: Any, b: Any, *, c: Any = 1.0) -> Any:
    """a b² c³, at (2, 3, 1): 18, with the gradient (9, 12, 54)."""
    return a * b**2 * c**3


def test_one_name() -> None:
    assert hoad.grad(f, argnames="c")(2.0, 3.0, c=1.0) == 54.0
    assert hoad.grad(f, argnames="b")(2.0, 3.0) == 12.0  # by position
    assert hoad.grad(f, argnames="b")(2.0, b=3.0) == 12.0
    assert hoad.grad(f, argnames="a")(b=3.0, a=2.0) == 9.0
    assert hoad.value_and_grad(f, argnames="c")(2.0, 3.0, c=1.0) == (18.0, 54.0)
    assert hoad.jacobian(f, argnames="c")(2.0, 3.0, c=1.0) == 54.0
    assert hoad.hessian(f, argnames="c")(2.0, 3.0, c=1.0) == 108.0
    for product in (hoad.hvp, hoad.vhp):
        assert product(f, argnames="c")(2.0, 3.0, 0.5, c=1.0) == 54.0
        assert product(f, argnames="c")(0.5, a=2.0, b=3.0, c=1.0) == 54.0


def test_several_names_give_a_dict() -> None:
    found = hoad.grad(f, argnames=("c", "a"))(2.0, 3.0, c=1.0)
    assert found == {"c": 54.0, "a": 9.0} and list(found) == ["c", "a"]
    assert hoad.grad(f, argnames=("c",))(2.0, 3.0, c=1.0) == {"c": 54.0}
    assert hoad.grad(f, argnames=())(2.0, 3.0) == {}
    assert hoad.hessian(f, argnames=("a", "c"))(2.0, 3.0, c=1.0) == {
        "a": {"a": 0.0, "c": 27.0},
        "c": {"a": 27.0, "c": 108.0},
    }
    for product in (hoad.hvp, hoad.vhp):
        assert product(f, argnames=("a", "c"))(2.0, 3.0, {"c": 1.0, "a": 2.0}, c=1.0) == {"a": 27.0, "c": 162.0}


def test_both_give_a_pair() -> None:
    assert hoad.grad(f, 1, argnames="c")(2.0, 3.0, c=1.0) == (12.0, 54.0)
    assert hoad.grad(f, (1, 0), argnames="c")(2.0, 3.0, c=1.0) == ((12.0, 9.0), 54.0)
    assert hoad.grad(f, 0, argnames=("c", "b"))(2.0, 3.0, c=1.0) == (9.0, {"c": 54.0, "b": 12.0})
    assert hoad.grad(f, (), argnames=("c",))(2.0, 3.0, c=1.0) == ((), {"c": 54.0})
    assert hoad.hessian(f, 0, argnames="c")(2.0, 3.0, c=1.0) == ((0.0, 27.0), (27.0, 108.0))
    for product in (hoad.hvp, hoad.vhp):
        assert product(f, (0,), argnames=("c",))(2.0, 3.0, ((2.0,), {"c": 1.0}), c=1.0) == ((27.0,), {"c": 162.0})


def test_the_first_argument_unless_names_are_given() -> None:
    assert hoad.grad(f)(2.0, 3.0) == hoad.grad(f, None)(2.0, 3.0) == hoad.grad(f, argnums=0)(2.0, 3.0) == 9.0


def test_auxiliary_output_beside_names() -> None:
    g = lambda a, *, c: (a * c**2, {"c": c})  # noqa: E731
    assert hoad.grad(g, has_aux=True, argnames="c")(2.0, c=3.0) == (12.0, {"c": 3.0})
    assert hoad.value_and_grad(g, has_aux=True, argnames=("c",))(2.0, c=3.0) == ((18.0, {"c": 3.0}), {"c": 12.0})


def test_names_of_containers_and_of_keywords_without_a_parameter() -> None:
    g = lambda **options: options["p"]["x"] ** 2 * options["n"]  # noqa: E731
    assert hoad.grad(g, argnames="p")(p={"x": 3.0, "n": 1}, n=2) == {"x": 12.0, "n": None}
    assert hoad.grad(hoad.grad(g, argnames="p"), argnames="p") is not None
    twice = hoad.jacobian(hoad.grad(g, argnames="p"), argnames="p")(p={"x": 3.0}, n=2)
    assert twice == {"x": {"x": 4.0}}


def test_what_is_handed_in_is_left_alone() -> None:
    options = {"c": 1.0}
    point = {"x": 2.0}
    hoad.grad(lambda p, **k: p["x"] * k["c"], argnames="c")(point, **options)
    hoad.grad(lambda p, **k: p["x"] * k["c"])(point, **options)
    assert options == {"c": 1.0} and point == {"x": 2.0}


WRONG: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: hoad.grad(f, argnames="d")(2.0, 3.0),
        r"argnames='d', but .* without 'd'; the function takes a, b\. Pass it",
    ),
    (
        lambda: hoad.grad(f, argnames="c")(2.0, 3.0),
        r"argnames='c', but the function was called without 'c'.*\. Pass it",
    ),
    (lambda: hoad.grad(f, argnames="b")(2.0), r"argnames='b', but the function was called without 'b'\. Pass it"),
    (lambda: hoad.grad(f, argnames=("a", "a"))(2.0, 3.0), r"grad with argnames=\('a', 'a'\) names an argument twice"),
    (lambda: hoad.grad(f, 0, argnames="a")(2.0, 3.0), "grad with argnums=0 and argnames='a' names an argument twice"),
    (lambda: hoad.grad(f, "a")(2.0, 3.0), r"not 'a'\. Pass names of arguments as argnames: grad\(f, argnames='a'\)"),
    (lambda: hoad.grad(f, argnames=1), "takes argnames as a str or a tuple of str, not 1"),  # type: ignore[arg-type]
    (lambda: hoad.grad(f, argnames=("a", 1)), r"takes argnames as a str .* not \('a', 1\)"),  # type: ignore[arg-type]
    (lambda: hoad.grad(f, argnames=[1]), r"takes argnames as a str .* not \(1,\)"),  # type: ignore[list-item]
    (lambda: hoad.grad(f, 2, argnames="b")(2.0, 3.0), "argnums=2, but the function was called with 2 arguments"),
    (lambda: hoad.grad(f)(a=2.0, b=3.0), "called with 0 arguments. .* argnames chooses keywords"),
    (lambda: hoad.grad(np.sin, argnames="y")(2.0), "argnames='y', but the function was called without 'y'"),
    (lambda: hoad.hvp(f, argnames="c")(a=2.0, b=3.0, c=1.0), r"hvp\(f\)\(x, v\)"),
    (lambda: hoad.hvp(f, argnames=("c",))(2.0, 3.0, 1.0, c=1.0), "needs a dict of directions .* found float"),
    (lambda: hoad.hvp(f, argnames=("c",))(2.0, 3.0, {"d": 1.0}, c=1.0), "needs a dict of directions .* found 'd'"),
    (lambda: hoad.hvp(f, 0, argnames="c")(2.0, 3.0, 1.0, c=1.0), "needs a pair of directions, .* found float"),
    (lambda: hoad.grad(f, argnames="c")(2.0, 3.0, c=1), r"argument 'c' is int \(1\)\. Write 1\.0"),
    (lambda: hoad.grad(f, argnames="c")(2.0, 3.0, c={"n": 1}), r"argument 'c', a dict, holds none: c\['n'\] is int"),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_choices(call: Callable[[], Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()


# ---- whatever can be called -----------------------------------------------------------------------------------------


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return inner


class Model:
    """A model with its loss in every form that a class can have."""

    factor = 3.0

    def method(self, p: Any, scale: Any = 1.0) -> Any:
        return self.factor * np.sum(p["w"] ** 2) * scale

    __call__ = method

    @classmethod
    def of_class(cls, p: Any, scale: Any = 1.0) -> Any:
        return cls.factor * np.sum(p["w"] ** 2) * scale

    @staticmethod
    def static(p: Any, scale: Any = 1.0) -> Any:
        return 3.0 * np.sum(p["w"] ** 2) * scale

    @decorated
    def decorated_method(self, p: Any, scale: Any = 1.0) -> Any:
        return self.method(p, scale)

    @functools.partial(hoad.grad, argnums=1)
    def slope(self, p: Any) -> Any:
        return self.method(p)


class Nameless:
    """Callable, without the attributes that functions have."""

    __slots__ = ()

    def __call__(self, p: Any, scale: Any = 1.0) -> Any:
        return 3.0 * np.sum(p["w"] ** 2) * scale


def function(p: Any, scale: Any = 1.0) -> Any:
    return 3.0 * np.sum(p["w"] ** 2) * scale


CALLABLES: dict[str, Callable[..., Any]] = {
    "function": function,
    "lambda": lambda p, scale=1.0: 3.0 * np.sum(p["w"] ** 2) * scale,
    "method": Model().method,
    "classmethod": Model.of_class,
    "staticmethod": Model.static,
    "decorated method": Model().decorated_method,
    "object": Model(),
    "object without names": Nameless(),
    "partial": functools.partial(lambda factor, p, scale=1.0: factor * np.sum(p["w"] ** 2) * scale, 3.0),
    "partial of a method": functools.partial(Model.method, Model()),
    "partial with keywords": functools.partial(
        lambda p, scale=1.0, *, factor: factor * np.sum(p["w"] ** 2) * scale, factor=3.0
    ),
    "decorated": decorated(function),
    "decorated without names": decorated(Nameless()),
    "driver": lambda p, scale=1.0: hoad.value_and_grad(function)(p, scale)[0],
    "program": hoad.record(function, {"w": np.ones(2)}, 1.0),
}


@pytest.mark.parametrize("kind", CALLABLES)
def test_every_driver_takes_every_callable(kind: str) -> None:
    g = CALLABLES[kind]
    w, v = np.array([1.0, 2.0]), np.array([1.0, -1.0])
    point, along = {"w": w}, {"w": v}
    equal = np.testing.assert_array_equal
    scale = (2.0,)
    equal(hoad.grad(g)(point, *scale)["w"], 12 * w)
    equal(hoad.value_and_grad(g)(point, *scale)[1]["w"], 12 * w)
    equal(hoad.jacobian(g)(point, *scale)["w"], 12 * w)
    equal(hoad.hessian(g)(point, *scale)["w"]["w"], 12 * np.eye(2))
    equal(hoad.hvp(g)(point, *scale, along)["w"], 12 * v)
    equal(hoad.vhp(g)(point, *scale, along)["w"], 12 * v)
    equal(hoad.jvp(g, (point, *scale), (along, 0.0))[1], 12 * w @ v)
    equal(hoad.vjp(g, point, *scale)[1](1.0)[0]["w"], 12 * w)
    equal(hoad.linearize(g, point, *scale)[1](along, 0.0), 12 * w @ v)
    assert hoad.derivative(lambda s: g(point, s))(2.0) == 15.0
    equal(hoad.gradient(hoad.record(g, point, *scale)).evaluate(point, 2.0)[0]["w"], 12 * w)
    if kind not in ("program", "object"):
        assert hoad.grad(g, argnames="scale")(point, scale=2.0) == 15.0


def test_drivers_as_decorators_of_methods() -> None:
    np.testing.assert_array_equal(Model().slope({"w": np.ones(2)})["w"], [6.0, 6.0])


@pytest.mark.parametrize("kind", CALLABLES)
def test_errors_name_parameters_as_far_as_they_are_known(kind: str) -> None:
    if kind == "program":
        return
    name = r"args\[0\]" if kind.startswith("decorated without") else "p"
    with pytest.raises(hoad.DTypeError, match=rf"argument 0, a dict, holds none: ({name}|p)\['w'\] is int"):
        hoad.grad(CALLABLES[kind])({"w": 1})
