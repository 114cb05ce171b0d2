"""Lanes of numbers run as columns of arrays: the bits of the lanes, whatever the function and the number of threads."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._transform import loops
from hoad._transform.columns import in_columns
from hoad._transform.lanes import run_lanes
from hoad._transform.loops import Loop

Function = Callable[..., Any]
LENGTH = 1037  # no multiple of a block
RNG = np.random.default_rng(20)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 1e-308, -1e-320, 1e300, -1e300, np.inf, -np.inf, np.nan, 2.0, -0.5]


def loop_of(f: Function, *avals: Any, takes: str, length: int = LENGTH) -> Loop:
    program = hoad.record(f, *avals)
    return Loop(program, takes, "y" * len(program.output_types), length)


def bits(values: Any) -> np.ndarray:
    found = np.asarray(values)
    plain = np.where(np.isnan(found), np.nan, found)  # which nan it is, NumPy does not promise either
    return plain.view(np.uint64)


def check_alike(loop: Loop, *values: Any) -> None:
    """Columns give what lanes give."""
    columns = in_columns(loop._lane, loop.takes, loop.gives, loop.length, list(loop.operands))
    assert columns is not None
    in_lanes = run_lanes(loop._in_lanes(), loop.takes, loop.gives, values, loop.length, 1)
    for threads in (1, 2):
        for one, other in zip(in_lanes, columns._run(values, threads), strict=True):
            assert np.array_equal(bits(one), bits(other))


def price(x: Any) -> Any:
    spot, strike, rate, sigma, years = x[0], x[1], x[2], x[3], x[4]
    spread = sigma * np.sqrt(years)
    d = (np.log(spot / strike) + (rate + sigma**2 / 2) * years) / spread
    return spot * np.tanh(d) - strike * np.exp(-rate * years) * np.tanh(d - spread)


POINTS = RNG.uniform([80, 80, 0.01, 0.1, 0.5], [120, 120, 0.05, 0.4, 2.0], (LENGTH, 5))

FUNCTIONS: dict[str, Function] = {
    "one number": lambda x: np.sin(x[0]) * np.exp(-x[1]) + x[2] ** 2.5,
    "the argument itself": lambda x: x,
    "an item": lambda x: x[1],
    "a constant among others": lambda x: np.stack([x[0], np.array(2.5), x[3] * x[4]]),
    "array operations": lambda x: -(x * x[::-1] - 1.0) / x,
    "a matrix": lambda x: (x[:, None] * x[1:4]).T * 2.0,
    "put together and taken apart": lambda x: np.concatenate([x[:2] * 3, np.stack([x[4], x[0]]), x])[[0, 3, 8, 8, 2]],
    "a sum of few": lambda x: np.sum(x) * np.sum(x[:1]) - np.sum(x * x),
    "a call": lambda x: hoad.checkpoint(price)(x) * x[0],
    "equal numbers": lambda x: (x[0] * x[1] + x[1] * x[0]) * (x[0] * x[1]) - np.stack([x[0] * x[1], x[1]]),
    "signs": lambda x: (-x[0]) * x[1] - (-(x[2] / (-x[3]))) + (-x[4]),
    "a selection": lambda x: np.where(x[0] > 100, np.sin(x[1]), x[2]),
    "selections of arrays": lambda x: np.where(x > 90, x, 2.0) + np.where(x[0] > 100, x[::-1], x),
    "booleans": lambda x: np.where(np.logical_and(x > 1, np.logical_not(x[0] <= x)), x, -x),
    "gradient of a selection": hoad.grad(lambda x: np.where(x[0] > x[1], x[0] * x[1], np.maximum(x[2], 1.2) ** 2)),
    "gradient": hoad.grad(price),
    "Hessian": hoad.hessian(price),
    "triangle": lambda x: hoad.hessian(price)(x)[np.triu_indices(5)],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_columns_have_the_bits_of_lanes(name: str) -> None:
    check_alike(loop_of(FUNCTIONS[name], POINTS[0], takes="x"), POINTS)


RADIAL: dict[str, Function] = {
    "a function with a kink": lambda x: np.sin(np.sqrt(x[0] * x[0] + x[1] * x[1]) * x[2]) + np.tanh(x[3]),
    "a smooth one": lambda x: (1 + np.linalg.norm(x[:3]) * x[3]) * np.exp(-np.linalg.norm(x[:3]) * x[3]),
}
NEAR = RNG.normal(size=(LENGTH, 4))
NEAR[::3, :2] = 0.0  # where a smooth function of the norm goes by its expansion
NEAR[::5, :3] = -0.0
NEAR[1 : len(SPECIAL) + 1, 0] = SPECIAL


@pytest.mark.parametrize("name", RADIAL)
@pytest.mark.parametrize("driver", [hoad.grad, hoad.hessian, lambda f: hoad.jacobian(hoad.hessian(f))])
def test_functions_of_norms(driver: Function, name: str) -> None:
    check_alike(loop_of(driver(RADIAL[name]), NEAR[1] + 1.0, takes="x"), NEAR)


ONE = "exp expm1 log log1p sin cos tan tanh sinh cosh sqrt arctan arcsin arccos square negative".split()
TWO = "add subtract multiply divide power arctan2".split()


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(name: str) -> None:
    values = np.resize(np.concatenate([SPECIAL, RNG.normal(size=100), 50 * RNG.normal(size=100)]), LENGTH)
    with np.errstate(all="ignore"):
        check_alike(loop_of(lambda x: getattr(np, name)(x), 0.5, takes="x"), values)


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers(name: str) -> None:
    x, y = np.resize(np.array(list(itertools.product(SPECIAL, SPECIAL))), (LENGTH, 2)).T.copy()
    with np.errstate(all="ignore"):
        check_alike(loop_of(lambda x, y: getattr(np, name)(x, y), 0.5, 0.7, takes="xx"), x, y)
        check_alike(loop_of(lambda x, y: getattr(np, name)(x, y), 0.5, 0.7, takes="xk"), x, 1.25)
        check_alike(loop_of(lambda x, y: getattr(np, name)(x, y), 0.5, 0.7, takes="kx"), -2.5, y)


def test_selections_of_numbers() -> None:
    x, y = np.resize(np.array(list(itertools.product(SPECIAL, SPECIAL))), (LENGTH, 2)).T.copy()

    def f(x: Any, y: Any) -> Any:
        return np.where(x > y, x, y), np.where(x == y, 2.0, x), np.where(np.logical_or(x < 0, y < 0), y, -1.0)

    for takes, a, b in (("xx", x, y), ("xk", x, 1.25), ("kx", -2.5, y)):
        loop = loop_of(f, 0.5, 0.7, takes=takes)
        check_alike(loop, a, b)
        given = np.broadcast_arrays(a, b, np.empty(LENGTH))[:2]
        for one, other in zip(run_lanes(loop._in_lanes(), takes, "yyy", (a, b), LENGTH, 1), f(*given), strict=True):
            assert np.array_equal(bits(one), bits(other))


def test_whole_powers() -> None:
    values = np.resize(np.concatenate([SPECIAL, RNG.normal(size=500)]), LENGTH)
    for exponent in (2, 3, -1, 0.5, 2.0):
        check_alike(loop_of(lambda x, exponent=exponent: x**exponent, 0.5, takes="x"), values)


def test_quotients_by_powers_of_two() -> None:
    values = np.resize(np.concatenate([SPECIAL, RNG.normal(size=500)]), LENGTH)
    for divisor in (2.0, -0.5, 2.0**-1000, 2.0**1023, 5e-324, 3.0, 0.0, np.inf):
        check_alike(loop_of(lambda x, divisor=divisor: x / divisor, 0.5, takes="x"), values)


def test_what_is_the_same_in_all_lanes() -> None:
    def f(x: Any, a: Any, b: Any) -> Any:
        return np.sin(a[1] * x[0]) + a[0] / b, np.exp(b) * a

    loop = loop_of(f, POINTS[0], np.ones(2), 1.5, takes="xkk")
    check_alike(loop, POINTS, np.array([0.3, -2.0]), 0.75)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.concatenate([x, x])),
        lambda x: np.argmax(x) * x,
        lambda x: x @ x,
        lambda x: np.cbrt(x),
        lambda x: hoad.fori_loop(0, 3, lambda _, y: y * y, x),
    ],
)
def test_other_functions_have_no_columns(f: Function) -> None:
    loop = loop_of(f, POINTS[0], takes="x")
    assert in_columns(loop.program, "x", "y", LENGTH, list(loop.operands)) is None


def test_sums_over_lanes_have_no_columns() -> None:
    loop = loop_of(lambda x: x * 2, POINTS[0], takes="x")
    assert in_columns(loop.program, "x", "s", LENGTH, list(loop.operands)) is None


def test_constants_alone() -> None:
    def f(x: Any) -> Any:
        y = np.zeros(3, like=x)
        y[1] = x[0]
        return np.sin(y[0]) + np.stack([y[1], y[2], y[0] * 2.0])

    check_alike(loop_of(f, POINTS[0], takes="x"), POINTS)


def test_a_replayed_map_has_the_bits_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    f = hoad.vmap(lambda x: hoad.hessian(price)(x)[np.triu_indices(5)])
    lanes = f(POINTS)
    calls = []
    made = loops.in_columns
    monkeypatch.setattr(loops, "WORTH_COLUMNS", 1)
    monkeypatch.setattr(loops, "WORTH_COLUMNS_ONCE", 1)
    monkeypatch.setattr(loops, "in_columns", lambda *args: calls.append(args) or made(*args))
    assert np.array_equal(lanes, f(POINTS))
    for threads in (1, 2):
        replay = hoad.jit(f, threads=threads)
        out = np.empty_like(lanes)
        for _ in range(3):
            replay(POINTS, out=out)
            assert np.array_equal(lanes, out)
    assert calls


def test_derivatives_of_a_map_in_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "WORTH_COLUMNS", 1)
    monkeypatch.setattr(loops, "WORTH_COLUMNS_ONCE", 1)
    xs = np.linspace(0.2, 1.5, 40)
    f = hoad.vmap(lambda x: np.sin(x) * np.exp(x))
    second = hoad.hessian(lambda xs: np.sum(f(xs) ** 2))(xs)
    u, du, ddu = np.sin(xs) * np.exp(xs), (np.cos(xs) + np.sin(xs)) * np.exp(xs), 2 * np.cos(xs) * np.exp(xs)
    np.testing.assert_allclose(second, np.diag(2 * (du**2 + u * ddu)), rtol=1e-13, atol=1e-13)


def test_branches_of_so_many_inputs_that_their_conditions_are_columns() -> None:
    x = np.linspace(-1.0, 1.0, 1 << 12)
    f = hoad.vmap(hoad.grad(lambda x: np.exp(x) * np.tanh(x) if np.exp(x) * (1 + x * x) > 0.5 else x**3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "WORTH_COLUMNS_ONCE", 1)
        made = f(x)
    assert np.array_equal(bits(made), bits(f(x)))
