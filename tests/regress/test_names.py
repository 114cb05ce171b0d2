"""Primitives of the user's that are named like hoad's own, and parameters that compare equal but differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._core.graph.primitive import primitive_named, primitives

OURS = sorted({primitive.name for primitive in primitives() if primitive.lasts})


def named(name: str, function: Callable[..., Any], rule: Callable[..., Any]) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    return hoad.primitive(vjp=rule)(function)


@pytest.mark.parametrize("name", [*OURS, "cosine"])
def test_a_primitive_named_like_one_of_ours(name: str) -> None:
    square = named(name, lambda x: x * x, lambda g, p, x: (2.0 * x * g,))
    f = lambda x: square(x) * x  # noqa: E731
    assert [hoad.derivative(f, n)(2.0) for n in range(5)] == [8.0, 12.0, 12.0, 6.0, 0.0]
    assert hoad.hessian(f)(2.0) == hoad.vhp(f)(2.0, 1.0) == 12.0
    program = hoad.gradient(hoad.record(f, 2.0))
    assert program.evaluate(3.0) == 27.0
    assert name in str(program)
    assert [node.operation for node in program[0].nodes] == ["input", name, "multiply"]


def test_it_is_linear_only_where_it_says_so() -> None:
    """The check that a rule is linear in g knows our primitives by what they are, not by their names."""
    for name in (*OURS, "cosine"):
        product = named(name, lambda x, y: x * y * y, lambda g, p, x, y: (product(g, y), 2.0 * x * y * g))
        with pytest.raises(hoad.RuleError, match="not linear in g"):
            hoad.grad(lambda x: product(x, 3.0))(2.0)


def test_many_primitives() -> None:
    """The number of one may be that of a norm, but for a multiple of the size of a table."""
    x = np.array([0.5, 0.25])
    of_norm, kept = primitive_named("absolute"), []
    assert of_norm is not None
    while True:
        product = named("select", lambda x, y: 2 * x * y, lambda g, p, x, y: (2 * g * y, 2 * g * x))
        kept.append(product)
        number = product.__hoad_primitive__.op  # type: ignore[attr-defined]
        if number > 1024 and number % 1024 == of_norm.op:
            break
        assert len(kept) < 5000
    found = hoad.derivatives(lambda t: np.sum(np.cos(product(t * x, x))), 3)(0.5)
    np.testing.assert_allclose(found, hoad.derivatives(lambda t: np.sum(np.cos(2 * t * x * x)), 3)(0.5), rtol=1e-13)


def derived(f: Callable[..., Any]) -> list[Any]:
    """On arrays, where passes of the compiler, lanes and series look for operations of ours."""
    x, y = np.array([[1.0, 0.5], [0.25, 2.0]]), np.array([[1.5, 0.75], [0.5, 1.25]])
    return [
        hoad.jit(hoad.grad(f, argnums=1))(x, y),
        hoad.jit(hoad.hessian(f))(x, y),
        hoad.vmap(hoad.grad(f))(x, y),
        hoad.derivatives(lambda t: f(t * x, y), 5)(0.5),
        hoad.derivative_tensor(lambda x: f(x, y), 3)(x),
    ]


@pytest.fixture(scope="module")
def exact() -> list[Any]:
    return derived(lambda x, y: np.sum(np.cos(2 * x * y * y) * x))


@pytest.mark.parametrize("name", OURS)
def test_it_is_compiled_and_expanded_as_what_it_is(name: str, exact: list[Any]) -> None:
    product = named(name, lambda x, y: 2 * x * y * y, lambda g, p, x, y: (2 * g * y * y, 4 * g * x * y))
    for found, wanted in zip(derived(lambda x, y: np.sum(np.cos(product(x, y)) * x)), exact, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_a_primitive_named_astype_mixes_elements() -> None:
    astype = named("astype", lambda x: x[::-1] * 1.0, lambda g, p, x: (g[::-1],))
    with pytest.raises(hoad.ShapeError, match="seems to mix elements"):
        hoad.derivative(astype)(np.array([1.0, 2.0]))


# ---- parameters -----------------------------------------------------------------------------------------------------


@hoad.primitive
def signed(x: Any, *, by: Any) -> Any:
    """x with a factor that tells 0.0 from -0.0, and True from 1 from 1.0."""
    return x * factor(by)


def factor(by: Any) -> float:
    inner = by[0] if isinstance(by, tuple) else by
    return {bool: 3.0, int: 5.0}.get(type(inner), 7.0) * float(np.copysign(1.0, inner))


hoad.defvjp(signed, lambda g, p, x, *, by: (g * factor(by),))

EQUALS: list[list[Any]] = [[0.0, -0.0, False, 0], [1, True, 1.0], [(0.0,), (-0.0,), (False,)]]


@pytest.mark.parametrize("values", EQUALS, ids=repr)
@pytest.mark.parametrize("x", [1.0, np.array([1.0, 2.0])], ids=["number", "array"])
def test_parameters_that_are_equal_but_not_the_same(values: list[Any], x: Any) -> None:
    """In one function, in whatever order: neither signatures nor common subexpressions take one for another."""
    for order in (values, values[::-1]):
        f = lambda x: np.sum(sum(100.0**k * signed(x, by=by) for k, by in enumerate(order)))  # noqa: E731
        slope = sum(100.0**k * factor(by) for k, by in enumerate(order))
        np.testing.assert_array_equal(hoad.grad(f)(x), np.full(np.shape(x), slope))
        np.testing.assert_array_equal(hoad.jvp(f, (x,), (x,))[1], np.sum(slope * x))
        np.testing.assert_array_equal(hoad.grad(lambda x: hoad.jvp(f, (x,), (x,))[1])(x), np.full(np.shape(x), slope))
        program = hoad.gradient(hoad.record(f, x))
        np.testing.assert_array_equal(program.evaluate(x), np.full(np.shape(x), slope))
        assert program[:1].evaluate(x) == f(x)


def test_constants_that_are_equal_but_not_the_same() -> None:
    def f(x: Any) -> Any:
        return x * (np.copysign(x, 0.0) + 10.0 * np.copysign(x, -0.0) + 100.0 * np.copysign(x, 0.0))

    for ask in (hoad.grad(f), hoad.derivative(f), hoad.gradient(hoad.record(f, 3.0)).evaluate):
        assert ask(1.0) == 2.0 * 91.0
    arrays = [np.array([0.0, -0.0]), np.array([-0.0, 0.0])]
    g = lambda x: np.sum(np.copysign(x, arrays[0]) + 10.0 * np.copysign(x, arrays[1]))  # noqa: E731
    np.testing.assert_array_equal(hoad.grad(g)(np.ones(2)), [-9.0, 9.0])
    assert hoad.grad(lambda x: x * True + x * 1 + x * 1.0 + x * np.float64(1.0))(1.0) == 4.0


def test_zero_and_no_dependence_are_told_apart() -> None:
    """0.0 times a slope of infinity is nan, and a factor that does not depend on x is nothing at all."""
    root = lambda x: 0.0 * np.sqrt(x)  # noqa: E731
    none = lambda x: np.sqrt(2.0) + hoad.stop_gradient(np.sqrt(x))  # noqa: E731
    for ask in (hoad.grad, hoad.derivative, hoad.jacobian):
        assert np.isnan(ask(root)(0.0)) and ask(none)(0.0) == 0.0
    for simplify in (True, False):
        assert np.isnan(hoad.gradient(hoad.record(root, 1.0), simplify=simplify).evaluate(0.0))
        assert hoad.gradient(hoad.record(none, 1.0), simplify=simplify).evaluate(0.0) == 0.0
