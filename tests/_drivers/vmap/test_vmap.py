"""vmap against a Python loop over the inputs: values, and derivatives in every mode."""

from __future__ import annotations

import contextvars
import functools
import pickle
import re
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hoad

RNG = np.random.default_rng(11)
CONTEXT: contextvars.ContextVar[str] = contextvars.ContextVar("context")
A = RNG.normal(size=(3, 3))


def looped(f: Callable[..., Any], *args: Any) -> Any:
    """f for the rows of the arguments, one after another, stacked."""
    return np.stack([f(*row) for row in zip(*args, strict=True)])


def smooth(x: Any) -> Any:
    return np.exp(np.sin(x)) * np.tanh(x) / (1 + x * x)


def branching(x: Any) -> Any:
    if x > 1:
        return np.log(x)
    if x < -1:
        return x * np.sin(x)
    return x**3


def of_vector(x: Any) -> Any:
    return np.tanh(A @ x) * np.sum(x**2)


# Lengths around the number of lanes of a chunk, and around what is a block of several chunks.
@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 1000, 20011])
def test_values_and_derivatives_at_many_points(n: int) -> None:
    x = RNG.normal(size=n)
    np.testing.assert_allclose(hoad.vmap(smooth)(x), smooth(x), rtol=1e-14)
    np.testing.assert_allclose(hoad.vmap(hoad.grad(lambda t: np.sin(3 * t)))(x), 3 * np.cos(3 * x), rtol=0, atol=1e-14)
    np.testing.assert_allclose(hoad.vmap(hoad.derivative(np.sin, 4))(x), np.sin(x), rtol=0, atol=1e-14)


def test_no_inputs() -> None:
    assert hoad.vmap(np.sin)(np.zeros(0)).shape == (0,)
    assert hoad.vmap(of_vector)(np.zeros((0, 3))).shape == (0, 3)
    assert hoad.grad(lambda c: np.sum(hoad.vmap(lambda t: c * t)(np.zeros(0))))(2.0) == 0.0


@pytest.mark.parametrize("f", [of_vector, hoad.jacobian(of_vector), hoad.hessian(lambda x: np.prod(np.cosh(x)))])
def test_arrays(f: Any) -> None:
    x = RNG.normal(size=(7, 3))
    np.testing.assert_allclose(hoad.vmap(f)(x), looped(f, x), rtol=1e-13, atol=1e-14)


def test_every_mode_and_order_is_that_of_the_loop() -> None:
    t, x, v = RNG.normal(size=9), RNG.normal(size=3), RNG.normal(size=3)

    def body(c: Any, s: Any) -> Any:
        return np.sum(np.sin(s * c) * c[0]) + np.exp(-s) * c[1] * c[2]

    def mapped(c: Any) -> Any:
        return np.sum(hoad.vmap(lambda s: body(c, s))(t) ** 2)

    def twin(c: Any) -> Any:
        total = 0.0
        for s in t:
            total = total + body(c, s) ** 2
        return total

    close = functools.partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-12)
    close(mapped(x), twin(x))
    close(hoad.grad(mapped)(x), hoad.grad(twin)(x))
    close(hoad.jvp(mapped, (x,), (v,)), hoad.jvp(twin, (x,), (v,)))
    close(hoad.hessian(mapped)(x), hoad.hessian(twin)(x))
    close(hoad.hvp(mapped)(x, v), hoad.hvp(twin)(x, v))
    close(hoad.vhp(mapped)(x, v), hoad.vhp(twin)(x, v))
    for order in (3, 4):
        found, wanted = (hoad.derivative(lambda s, f=f: f(x + s * v), order)(0.0) for f in (mapped, twin))
        close(found, wanted, rtol=1e-11)
    close(
        hoad.grad(lambda c: hoad.grad(lambda s: mapped(c * s))(1.5))(x),
        hoad.grad(lambda c: hoad.grad(lambda s: twin(c * s))(1.5))(x),
    )


def test_by_the_inputs_themselves() -> None:
    x = RNG.normal(size=(5, 3))
    mapped = hoad.jacobian(lambda y: hoad.vmap(of_vector)(y))(x)
    for k in range(5):
        np.testing.assert_allclose(mapped[k, :, k], hoad.jacobian(of_vector)(x[k]), rtol=1e-13)
        mapped[k, :, k] = 0
    assert not mapped.any()


def test_in_a_program_replayed_elsewhere() -> None:
    t = np.linspace(0.0, 1.0, 5)
    program = hoad.gradient(hoad.record(lambda c: np.sum(hoad.vmap(lambda s: np.sin(c * s))(t)), 0.3))
    np.testing.assert_allclose(program.evaluate(1.7), np.sum(t * np.cos(1.7 * t)), rtol=1e-14)
    again = pickle.loads(pickle.dumps(program))
    assert again.evaluate(1.7) == program.evaluate(1.7)
    assert program[0].size < 10


def test_a_map_in_a_map() -> None:
    x, y = RNG.normal(size=4), RNG.normal(size=6)
    outer = hoad.vmap(lambda a: hoad.vmap(lambda b: np.sin(a * b))(y))
    np.testing.assert_allclose(outer(x), np.sin(np.outer(x, y)), rtol=1e-14)
    np.testing.assert_allclose(
        hoad.vmap(hoad.grad(lambda a: np.sum(hoad.vmap(lambda b: np.sin(a * b))(y))))(x),
        np.cos(np.outer(x, y)) @ y,
        rtol=1e-13,
    )


def test_loops_inside() -> None:
    r = np.linspace(1.5, 2.9, 9)

    def settled(rate: Any) -> Any:
        return hoad.fori_loop(0, 500, lambda _, x: rate * x * (1 - x), 0.5)

    np.testing.assert_allclose(hoad.vmap(settled)(r), 1 - 1 / r, atol=1e-8)
    np.testing.assert_allclose(hoad.vmap(hoad.grad(settled))(r), 1 / r**2, atol=1e-6)


# ---- axes -----------------------------------------------------------------------------------------------------------


class Point(NamedTuple):
    x: Any
    y: Any


def test_axes_of_arguments_and_results() -> None:
    a, b = RNG.normal(size=(2, 5, 3)), RNG.normal(size=3)
    found = hoad.vmap(lambda m, v: m * v, in_axes=(1, None), out_axes=-1)(a, b)
    np.testing.assert_array_equal(found, np.moveaxis(a * b, 1, -1))
    np.testing.assert_array_equal(hoad.vmap(np.sum, in_axes=-1)(a), [a[..., k].sum() for k in range(3)])


def test_axes_of_containers() -> None:
    tree = {"p": Point(RNG.normal(size=4), RNG.normal(size=(2, 4))), "c": 3.0}

    def f(t: Any, scale: Any) -> Any:
        return {"sum": t["p"].x + t["p"].y.sum() * t["c"], "all": [t["p"].y * scale, "kept"], "same": scale}

    axes = {"p": Point(0, 1), "c": None}
    found = hoad.vmap(f, in_axes=(axes, None), out_axes={"sum": 0, "all": 1, "same": None})(tree, 2.0)
    np.testing.assert_allclose(found["sum"], tree["p"].x + tree["p"].y.sum(axis=0) * 3)
    np.testing.assert_array_equal(found["all"][0], tree["p"].y * 2)
    assert found["all"][1] == "kept"
    assert found["same"] == 2.0


def test_none_has_no_axis() -> None:
    """What is left out of a container of parameters, or is an argument that has no value."""

    def f(p: Any, shift: Any = None) -> Any:
        y = p["a"] * 2.0 if p["b"] is None else p["b"]
        return y if shift is None else y + shift

    parameters, x = {"a": np.arange(3.0), "b": None}, np.arange(3.0)
    assert hoad.vmap(f)(parameters, None).tolist() == [0.0, 2.0, 4.0]
    assert hoad.vmap(hoad.grad(lambda y, p: f({"a": y, **p})), (0, 0))(x, {"b": None}).tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(hoad.ArgumentError, match="axis_size=n"):
        hoad.vmap(lambda x: 1.0)(None)


def test_keywords_lie_along_their_first_axis() -> None:
    x = RNG.normal(size=4)
    found = hoad.vmap(lambda a, b, power=1: a * b**power)(x, b=x, power=2)
    np.testing.assert_allclose(found, x**3)


def test_dtypes_stay() -> None:
    assert hoad.vmap(np.sin)(np.ones(3, np.float32)).dtype == np.float32
    assert hoad.vmap(lambda n: n + 1)(np.arange(3)).tolist() == [1, 2, 3]
    assert hoad.vmap(lambda x: x > 1)(np.array([0.5, 2.0])).tolist() == [False, True]
    assert hoad.vmap(lambda x: x * 2)(np.arange(3)).dtype == np.arange(3).dtype


def test_size_of_what_does_not_vary() -> None:
    assert hoad.vmap(lambda x: x * 2, in_axes=None, axis_size=3)(1.0).tolist() == [2.0, 2.0, 2.0]
    assert hoad.vmap(lambda x: 7.0)(np.zeros(2)).tolist() == [7.0, 7.0]


# ---- branches -------------------------------------------------------------------------------------------------------


def test_inputs_take_branches_of_their_own() -> None:
    x = RNG.normal(size=301) * 2
    np.testing.assert_allclose(hoad.vmap(branching)(x), looped(branching, x), rtol=1e-15)
    np.testing.assert_allclose(hoad.vmap(hoad.grad(branching))(x), looped(hoad.grad(branching), x), rtol=1e-14)
    weights = RNG.normal(size=301)
    np.testing.assert_allclose(
        hoad.grad(lambda y: weights @ hoad.vmap(branching)(y))(x), weights * looped(hoad.grad(branching), x), rtol=1e-14
    )


def test_as_many_ways_as_inputs() -> None:
    def steps(x: Any) -> Any:
        n = 0
        while x > 1:
            x, n = x / 2, n + 1
        return x * n

    x = 2.0 ** np.arange(12.0)
    assert hoad.vmap(steps)(x).tolist() == list(range(12))


def test_indices_taken_from_values() -> None:
    x = RNG.normal(size=(20, 4))
    np.testing.assert_array_equal(hoad.vmap(lambda v: v[int(np.argmax(v))])(x), x.max(axis=1))
    np.testing.assert_array_equal(hoad.vmap(lambda v: np.sum(v[v > 0]))(x), looped(lambda v: np.sum(v[v > 0]), x))


def test_a_replay_on_another_branch_raises() -> None:
    program = hoad.record(lambda y: np.sum(hoad.vmap(branching)(y)), np.array([0.5, 0.7, 3.0]))
    program.evaluate(np.array([0.1, 0.2, 4.0]))
    with pytest.raises(hoad.GuardError, match=r"test_vmap\.py:\d+ that its step 1 does not take"):
        program.evaluate(np.array([0.1, 2.0, 4.0]))


@pytest.mark.parametrize("f", [np.sin, np.exp, np.tanh, np.log, np.arctan, np.cos], ids=lambda f: f.__name__)
def test_a_branch_that_rounding_decides(f: Any) -> None:
    """Lanes may round otherwise than single numbers do: the first input is then computed as it was recorded."""
    x = np.linspace(0.1, 3.0, 2000)
    lanes = hoad.vmap(lambda t: f(t))(x)
    single = np.array([hoad.value_and_grad(lambda t: f(t))(t)[0] for t in x.tolist()])
    for k in np.nonzero(lanes != single)[0][:20]:
        for threshold in (lanes[k], single[k]):
            found = hoad.vmap(lambda t, c=threshold: 2 * t if f(t) >= c else t)(np.array([x[k], 3.1, 0.05]))
            assert found[0] in (x[k], 2 * x[k])


# ---- threads --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
def test_the_number_of_threads_changes_no_bit(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hoad._transform.lanes.most_threads", lambda: 16)
    x, c = RNG.normal(size=(30011, 2)), RNG.normal(size=2)

    def total(c: Any, count: int | None) -> Any:
        return np.sum(hoad.vmap(lambda v: np.sum(np.sin(v * c)), threads=count)(x))

    one = hoad.value_and_grad(lambda c: total(c, 1))(c)
    several = hoad.value_and_grad(lambda c: total(c, threads))(c)
    assert one[0] == several[0]
    assert one[1].tobytes() == several[1].tobytes()


def test_an_error_in_a_thread_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hoad._transform.lanes.most_threads", lambda: 4)

    @hoad.primitive
    def picky(x: Any) -> Any:
        if x > 9998:
            raise ValueError("too large")
        return x * 1.0

    with pytest.raises(ValueError, match="too large"):
        hoad.vmap(lambda x: picky(x) + 1, threads=4)(np.arange(10000.0))


@pytest.mark.parametrize("threads", [None, 4])
def test_primitives_in_python_are_called_one_at_a_time_unless_threads_are_asked_for(
    threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hoad._transform.lanes.most_threads", lambda: 4)
    callers = set()

    @hoad.primitive(elementwise=True)
    def known(x: Any) -> Any:
        callers.add(threading.get_ident())
        assert CONTEXT.get() == "here"
        time.sleep(1e-5)
        return x * 1.0

    token = CONTEXT.set("here")
    try:
        hoad.vmap(lambda x: known(x) + 1, threads=threads)(np.arange(100_000.0))
    finally:
        CONTEXT.reset(token)
    assert len(callers) == 1 if threads is None else len(callers) > 1


GRID = np.linspace(-1.0, 1.0, 7)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x[np.argsort(x)] * np.arange(5.0),
        lambda x: x[np.argsort(x)[::-1], None] + x[None, np.argsort(x)],
        lambda x: np.reshape(np.concatenate([x, x]), (2, 5))[:, np.argsort(x)],
        lambda x: np.searchsorted(GRID, x) * x,
        lambda x: np.searchsorted(GRID, x[1], side="right") * x,
        lambda x: np.searchsorted(np.sort(x), GRID, side="right") * 0.5,
        lambda x: np.interp(x, GRID, GRID**2),
        lambda x: np.cumsum((x > 0).astype(int)) * x,
        lambda x: (((x > 0) * 6) & np.arange(5)) * x,
        lambda x: (((x[0] > 0) * 6) | (x > 0.5).astype(np.int64)) * x,
        lambda x: (4 * x).astype(np.int64) * x,
        lambda x: (x > 0).astype(np.int32) * x,
        lambda x: np.sinc(x[1]) * np.sinc(x),
    ],
)
def test_what_python_computes_of_all_inputs(f: Any) -> None:
    xs = np.sin(1.0 + np.arange(150.0) ** 1.5).reshape(30, 5)
    np.testing.assert_allclose(hoad.vmap(f)(xs), [f(x) for x in xs], rtol=1e-14, atol=1e-15)
    found = hoad.vmap(hoad.grad(lambda x: np.sum(f(x) ** 2)))(xs)
    np.testing.assert_allclose(found, [hoad.grad(lambda x: np.sum(f(x) ** 2))(x) for x in xs], rtol=1e-13, atol=1e-14)


# ---- random programs ------------------------------------------------------------------------------------------------

UNARY: list[Callable[[Any], Any]] = [
    np.sin,
    np.exp,
    np.tanh,
    np.negative,
    lambda x: x * x,
    lambda x: np.where(x > 0, x, 0),
]
BINARY: list[Callable[[Any, Any], Any]] = [np.add, np.subtract, np.multiply, np.maximum, lambda a, b: a / (1 + b * b)]


def program_of(steps: list[tuple[int, int, int]]) -> Callable[..., Any]:
    def f(x: Any, c: Any) -> Any:
        values = [x, c, x * c]
        for kind, i, j in steps:
            a, b = values[i % len(values)], values[j % len(values)]
            values.append(UNARY[kind](a) if kind < len(UNARY) else BINARY[kind - len(UNARY)](a, b))
            values[-1] = np.tanh(values[-1])
        return values[-1] + values[len(values) // 2]

    return f


STEP = st.tuples(st.integers(0, len(UNARY) + len(BINARY) - 1), st.integers(0, 30), st.integers(0, 30))


@settings(deadline=None, max_examples=60)
@given(st.lists(STEP, min_size=1, max_size=14), st.integers(1, 300), st.integers(0, 2**31))
def test_random_programs(steps: list[tuple[int, int, int]], n: int, seed: int) -> None:
    f = program_of(steps)
    x = np.random.default_rng(seed).normal(size=n)
    c = 0.7
    np.testing.assert_allclose(hoad.vmap(f, in_axes=(0, None))(x, c), [f(v, c) for v in x], rtol=1e-13, atol=1e-14)
    by_c = hoad.grad(lambda c: np.sum(hoad.vmap(lambda v: f(v, c))(x)))(c)
    one_by_one = [float(hoad.jvp(lambda c, v=v: f(v, c), (c,), (1.0,))[1]) for v in x]
    np.testing.assert_allclose(by_c, np.sum(one_by_one), rtol=1e-11, atol=1e-11 * np.sum(np.abs(one_by_one)))


# ---- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: hoad.vmap(3.0), hoad.ArgumentError, "vmap takes a function, but was given a float"),
        (lambda: hoad.vmap(np.sin, threads=0), hoad.ArgumentError, "threads as a number of threads, 1 or more, not 0"),
        (
            lambda: hoad.vmap(np.sin)(1.0),
            hoad.ShapeError,
            "maps over axis 0 of .*, but it is a number. Set its in_axes",
        ),
        (
            lambda: hoad.vmap(lambda x: x)([1.0, 2.0]),
            hoad.ShapeError,
            r"of x\[0\], but it is a number. Where x lists the inputs, pass np.array\(x\): a list is a container",
        ),
        (
            lambda: hoad.vmap(lambda x, p: p)(np.ones(2), ([1.0, 2.0], np.ones(2))),
            hoad.ShapeError,
            r"of p\[0\]\[0\], .* Where p lists the inputs, pass np.array\(p\): a tuple is a container. Set its in_axes",
        ),
        (
            lambda: hoad.vmap(lambda p: p)({"a": 1.0}),
            hoad.ShapeError,
            r"of p\['a'\], but it is a number. Set its in_axes",
        ),
        (lambda: hoad.vmap(np.add)(np.ones(2), np.ones(3)), hoad.ShapeError, "the same number of inputs .* 2, .* 3"),
        (
            lambda: hoad.vmap(np.add, in_axes=(0,))(np.ones(2), 1.0),
            hoad.ShapeError,
            "1 axis in in_axes, but 2 arguments",
        ),
        (
            lambda: hoad.vmap(np.sin, in_axes=2)(np.ones((2, 3))),
            hoad.ShapeError,
            r"axis 2 of .*, but it has shape \(2, 3\)",
        ),
        (
            lambda: hoad.vmap(np.sin, in_axes="x")(np.ones(2)),
            hoad.ArgumentError,
            "integers and None, .* found 'x'",
        ),
        (lambda: hoad.vmap(np.sin, in_axes=None)(1.0), hoad.ArgumentError, "Say how many inputs: axis_size=n"),
        (lambda: hoad.vmap(np.sin, out_axes=None)(np.ones(2)), hoad.ShapeError, "out_axes=None .* it depends on them"),
        (lambda: hoad.vmap(np.sin, out_axes=3)(np.ones(2)), hoad.ShapeError, "along axis 3, but .* it has 1 axis"),
        (
            lambda: hoad.vmap(lambda s: s)(["a"]),
            hoad.ArgumentError,
            r"maps over arrays, but s\[0\] is str. Set its in_axes",
        ),
        (
            lambda: hoad.vmap(lambda x: (x, x) if x > 0 else x)(np.array([1.0, -1.0])),
            hoad.ShapeError,
            "all must have one structure, shape and dtype. But input 0 gives",
        ),
    ],
)
def test_errors_say_what_to_do(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.compile(message)):
        call()
