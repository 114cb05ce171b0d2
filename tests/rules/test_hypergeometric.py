"""Hypergeometric functions by their parameters: far beyond their rows, at special points, and where there is nothing.

An error is relative to a derivative and what a relative change of x changes it by.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sc
from mpmath import mp

import hoad
from hoad.rules.special.hypergeometric import CONFLUENT_LIMIT, GAUSS, KUMMER, TRICOMI, partial

FUNCTIONS: dict[str, tuple[int, Callable[..., Any], Callable[..., Any]]] = {
    "hyp0f1": (CONFLUENT_LIMIT, sc.hyp0f1, mp.hyp0f1),
    "hyp1f1": (KUMMER, sc.hyp1f1, mp.hyp1f1),
    "hyp2f1": (GAUSS, sc.hyp2f1, mp.hyp2f1),
    "hyperu": (TRICOMI, sc.hyperu, mp.hyperu),
}


def found(name: str, by: tuple[int, ...], *operands: float) -> Any:
    return partial(*operands, kind=FUNCTIONS[name][0], by=by)


def exact(name: str, by: tuple[int, ...], operands: tuple[float, ...]) -> Any:
    """The derivative of these orders, by differences in 60 digits."""
    places = [k for k, order in enumerate(by) if order]

    def moved(*xs: Any) -> Any:
        at = [mp.mpf(x) for x in operands]
        for k, x in zip(places, xs, strict=True):
            at[k] = x
        return FUNCTIONS[name][2](*at)

    with mp.workdps(60):
        point, orders = [mp.mpf(operands[k]) for k in places], [by[k] for k in places]
        return mp.re(
            mp.diff(moved, tuple(point), tuple(orders)) if len(places) > 1 else mp.diff(moved, *point, *orders)
        )


BEYOND: list[tuple[str, tuple[int, ...], tuple[float, ...]]] = [
    # signs of all kinds, cancellation, oscillation
    ("hyp1f1", (1, 0, 0), (-17.3, 2.1, 43.0)),
    ("hyp1f1", (1, 1, 0), (-29.5, -12.4, 50.0)),
    ("hyp1f1", (0, 2, 1), (28.3, -29.6, -50.0)),
    ("hyp1f1", (2, 0, 0), (12.5, 29.0, -37.0)),
    ("hyp1f1", (1, 0, 2), (-28.7, 22.0, -44.0)),
    ("hyp1f1", (4, 0, 0), (1.3, 2.4, -12.0)),
    ("hyp1f1", (2, 2, 0), (-1.3, 0.4, 7.0)),
    ("hyp1f1", (1, 0, 0), (3.0, 2.5, 600.0)),
    ("hyp1f1", (1, 1, 1), (1.5, 2.5, -1e5)),
    ("hyp1f1", (1, 0, 0), (2.0, -0.5, -180.0)),
    ("hyp2f1", (1, 0, 0, 0), (12.3, -17.2, 8.4, -0.97)),
    ("hyp2f1", (0, 0, 1, 0), (12.3, 17.2, -28.4, 0.6)),
    ("hyp2f1", (1, 1, 1, 0), (1.5, 0.7, 2.5, 0.9)),
    ("hyp2f1", (0, 1, 2, 0), (1.5, 0.7, 2.5, -4.0)),
    ("hyp2f1", (4, 0, 0, 0), (0.3, 1.2, 1.9, -3.0)),
    ("hyp2f1", (1, 0, 1, 0), (1.5, 2.0, 3.5, 0.99999)),
    ("hyp2f1", (0, 0, 1, 0), (0.4, 0.4, 1.3, -1e6)),
    ("hyp0f1", (3, 0), (-7.3, -900.0)),
    ("hyp0f1", (1, 2), (2.5, 400.0)),
    ("hyperu", (1, 0, 0), (12.3, -7.5, 0.01)),
    ("hyperu", (1, 2, 0), (-4.4, 3.3, 6.0)),
    ("hyperu", (0, 1, 1), (0.5, 0.5, 1e4)),
    # whole, equal and nearly whole parameters; c - a - b and a - b are whole, where the textbook's formulas end
    ("hyp1f1", (1, 1, 0), (2.5, 2.5, -30.0)),
    ("hyp1f1", (1, 0, 0), (-4.0, 3.0, 25.0)),
    ("hyp1f1", (0, 1, 0), (-4.0, 3.0, 250.0)),
    ("hyp1f1", (1, 1, 0), (-4.0 + 1e-9, -5.0 + 1e-9, 8.0)),
    ("hyp1f1", (0, 1, 0), (1.5, -3.0 + 1e-12, -20.0)),
    ("hyp2f1", (1, 0, 0, 0), (1.0, 1.0, 2.0, 0.75)),
    ("hyp2f1", (1, 0, 0, 0), (1.0, 1.0, 2.0, -900.0)),
    ("hyp2f1", (0, 0, 1, 0), (2.0, 3.0, 5.0 + 1e-10, 0.999)),
    ("hyp2f1", (1, 0, 0, 0), (-3.0, 2.5, 1.5, 0.9)),
    ("hyp2f1", (0, 1, 0, 0), (-3.0, 2.5, 1.5, 4.0)),
    ("hyp2f1", (0, 0, 1, 0), (-2.0, 1.5, -3.0 + 1e-9, 0.5)),
    ("hyperu", (1, 1, 0), (2.0, 3.0, 0.5)),
    ("hyperu", (1, 0, 0), (-3.0, 2.0, 1.5)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "by", "operands"), BEYOND)
def test_far_points(name: str, by: tuple[int, ...], operands: tuple[float, ...]) -> None:
    want, x = exact(name, by, operands), operands[-1]
    change = mp.mpf(x) * exact(name, (*by[:-1], by[-1] + 1), operands)
    got = float(found(name, by, *operands))
    assert abs(mp.mpf(got) - want) <= 2e-15 * (abs(want) + abs(change)), (got, want)


@pytest.mark.parametrize("seed", range(4))
def test_no_number_is_wrong(seed: int) -> None:
    """Parameters up to 300 in size, where digits run out: right to 1e-11 or nan."""
    rng = np.random.default_rng(seed)
    for name, by in (("hyp1f1", (1, 0, 0)), ("hyp1f1", (0, 1, 0)), ("hyp2f1", (0, 0, 1, 0)), ("hyp0f1", (1, 0))):
        size = 10.0 ** rng.uniform(0.0, 2.5)
        operands = (*rng.uniform(-size, size, len(by) - 1), float(rng.uniform(-0.95, 0.95)))
        if name != "hyp2f1":
            operands = (*operands[:-1], 60.0 * operands[-1])
        got = float(found(name, by, *operands))
        if math.isfinite(got):
            want, slope = exact(name, by, operands), exact(name, (*by[:-1], 1), operands)
            assert abs(mp.mpf(got) - want) <= 1e-11 * (abs(want) + abs(operands[-1] * slope)), (name, operands)


def test_mixed_derivatives_in_any_turn() -> None:
    """By nested gradients, tangents and all orders at once, to order 4."""
    a, b, x = 1.3, 2.6, -2.2

    def by(f: Callable[..., Any], argnum: int, forward: bool) -> Callable[..., Any]:
        if not forward:
            return hoad.grad(f, argnums=argnum)
        dots = tuple(float(k == argnum) for k in range(3))
        return lambda *at: hoad.jvp(f, at, dots)[1]

    for argnums in ((0, 0), (1, 0), (0, 2), (2, 0, 1), (1, 1, 0, 0), (0, 2, 1, 2), (1, 1, 1, 1)):
        orders = tuple(argnums.count(k) for k in range(3))
        want = float(exact("hyp1f1", orders, (a, b, x)))
        for word in range(4):
            f: Callable[..., Any] = sc.hyp1f1
            for n, argnum in enumerate(argnums):
                f = by(f, argnum, bool(word >> n % 2 & 1))
            assert f(a, b, x) == pytest.approx(want, rel=1e-12), (argnums, word)
    along = hoad.derivatives(lambda t: sc.hyp2f1(1.5 + t, 0.5 - 2.0 * t, 2.5 + 0.3 * t, 0.4 + 0.1 * t), 5)(0.0)
    with mp.workdps(40):
        curve = mp.taylor(lambda t: mp.hyp2f1(1.5 + t, 0.5 - 2 * t, 2.5 + t * mp.mpf(0.3), 0.4 + t * mp.mpf(0.1)), 0, 5)
    np.testing.assert_allclose(along, [float(c) * math.factorial(k) for k, c in enumerate(curve)], rtol=1e-12)


def test_series_in_some_operands_by_others() -> None:
    """Derivatives of Laplacians, series and tensors by what stays in them, and by what moves."""
    with mp.workdps(40):
        want = float(mp.diff(mp.hyp1f1, (1.5, 2.5, 0.4), (1, 0, 2)))
        by_two = float(mp.diff(mp.hyp1f1, (1.5, 2.5, 0.4), (1, 1, 2)))
    curvature = lambda a, b, x: hoad.laplacian(lambda y: sc.hyp1f1(a, b, y))(x)  # noqa: E731
    assert hoad.grad(curvature)(1.5, 2.5, 0.4) == pytest.approx(want, rel=1e-13)
    assert hoad.grad(hoad.grad(curvature), argnums=1)(1.5, 2.5, 0.4) == pytest.approx(by_two, rel=1e-13)
    along = hoad.grad(lambda x: hoad.derivatives(lambda a: sc.hyp1f1(a, 2.5, x), 1)(1.5)[1])
    assert hoad.grad(along)(0.4) == pytest.approx(want, rel=1e-13)
    nested = hoad.derivatives(lambda a: hoad.laplacian(lambda x: sc.hyp1f1(a, 2.5, x))(0.4), 2)(1.5)
    with mp.workdps(40):
        twice = float(mp.diff(mp.hyp1f1, (1.5, 2.5, 0.4), (2, 0, 2)))
    assert nested[1:] == pytest.approx([want, twice], rel=1e-12)
    program = hoad.record(lambda a: hoad.derivatives(lambda t: sc.hyp1f1(t, 2.5, a), 2)(a)[2], 1.5)
    assert pickle.loads(pickle.dumps(program)).evaluate(1.25) == program.evaluate(1.25)


# ---- special points -------------------------------------------------------------------------------------------------

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("name", "by", "operands", "want"),
    [
        ("hyp1f1", (1, 0, 0), (1.5, 2.5, 0.0), 0.0),
        ("hyp1f1", (1, 0, 1), (1.5, 2.5, 0.0), 0.4),
        ("hyp1f1", (0, 1, 1), (1.5, 2.5, -0.0), -0.24),
        ("hyp1f1", (1, 0, 0), (1.5, 2.5, 1e-300), 4e-301),
        ("hyp1f1", (1, 0, 0), (1.5, 2.5, -1e-300), -4e-301),
        ("hyp1f1", (0, 1, 0), (0.0, 2.5, 30.0), 0.0),
        ("hyp1f1", (0, 1, 0), (1e-300, 2.0, 2.0), -1e-300 * 2.0 * sum(
            2.0**n * sum(1.0 / (2.0 + k) for k in range(n + 1)) / ((n + 1.0) * math.factorial(n + 2)) for n in range(40)
        )),
        ("hyp1f1", (1, 0, 0), (1.5, 0.0, 1.0), NAN),
        ("hyp1f1", (1, 0, 0), (1.5, -2.0, 1.0), NAN),
        ("hyp1f1", (1, 0, 0), (1.5, 2.0, INF), NAN),
        ("hyp1f1", (1, 0, 0), (1.5, 2.0, -INF), NAN),
        ("hyp1f1", (1, 0, 0), (1.5, NAN, 1.0), NAN),
        ("hyp1f1", (1, 0, 0), (NAN, 2.0, 1.0), NAN),
        ("hyp1f1", (1, 0, 0), (1.5, 2.0, NAN), NAN),
        ("hyp2f1", (1, 0, 0, 0), (1.5, 2.5, 2.0, 0.0), 0.0),
        ("hyp2f1", (1, 0, 0, 0), (0.0, 2.5, 2.5, 0.5), math.log(2.0)),
        ("hyp2f1", (0, 1, 0, 0), (0.0, 2.5, 2.5, 0.5), 0.0),
        ("hyp2f1", (0, 0, 1, 0), (-1.0, 2.0, -2.0, 0.3), 0.15),  # 1 - x b / (-c)
        ("hyp2f1", (1, 0, 0, 0), (1.5, 2.5, -2.0, 0.5), NAN),
        ("hyp2f1", (1, 0, 0, 0), (1.5, 2.5, 2.0, 1.0), NAN),
        ("hyp2f1", (1, 0, 0, 0), (-2.0, 2.5, 2.0, 1.5), NAN),  # beside a polynomial there is none
        ("hyp2f1", (0, 1, 0, 0), (-1.0, 2.5, 2.0, 1.5), -0.75),
        ("hyp2f1", (1, 0, 0, 0), (1.5, 2.5, 2.0, -INF), NAN),
        ("hyp0f1", (1, 0), (2.0, 0.0), 0.0),
        ("hyp0f1", (1, 1), (2.0, 0.0), -0.25),
        ("hyp0f1", (1, 0), (-1.0, 0.5), NAN),
        ("hyperu", (0, 1, 0), (0.0, 2.5, 0.5), 0.0),
        ("hyperu", (1, 0, 0), (0.0, 1.0, 1e20), -math.log(1e20)),
        ("hyperu", (1, 0, 0), (0.5, 1.0, 0.0), NAN),
        ("hyperu", (1, 0, 0), (0.5, 1.0, -1.0), NAN),
    ],
)  # fmt: skip
def test_special_points(name: str, by: tuple[int, ...], operands: tuple[float, ...], want: float) -> None:
    np.testing.assert_allclose(found(name, by, *operands), want, rtol=4e-15, atol=0.0)


def test_many_points_at_once() -> None:
    """Each by itself, in arrays of any shape, in lanes, in programs, in processes, and in single precision."""
    a, x = np.linspace(-3.3, 4.0, 6)[:, None], np.linspace(-20.0, 20.0, 5)

    def slope(a: Any, x: Any) -> Any:
        return hoad.jvp(lambda a: sc.hyp1f1(a, 2.5, x), (a,), (np.ones_like(a),))[1]

    whole = slope(np.broadcast_to(a, (6, 5)).copy(), x)
    each = [[hoad.grad(sc.hyp1f1)(p, 2.5, q) for q in x.tolist()] for p in a[:, 0].tolist()]
    np.testing.assert_array_equal(whole, each)
    np.testing.assert_array_equal(hoad.vmap(lambda p: hoad.grad(sc.hyp1f1)(p, 2.5, -7.0))(a[:, 0]), [
        hoad.grad(sc.hyp1f1)(p, 2.5, -7.0) for p in a[:, 0].tolist()
    ])  # fmt: skip
    assert hoad.jit(hoad.grad(sc.hyp1f1))(1.5, 2.5, 3.0) == hoad.grad(sc.hyp1f1)(1.5, 2.5, 3.0)
    program = hoad.gradient(hoad.record(lambda c: sc.hyp2f1(1.5, 0.5, c, 0.4), 2.5))
    assert pickle.loads(pickle.dumps(program)).evaluate(2.25) == program.evaluate(2.25)
    single = hoad.grad(lambda a: sc.hyp1f1(a, np.float32(2.5), np.float32(3.0)))(np.float32(1.5))
    assert single.dtype == np.float32
    assert single == np.float32(hoad.grad(sc.hyp1f1)(1.5, 2.5, 3.0))


@pytest.mark.parametrize("name", ["hyp0f1", "hyp1f1", "hyp2f1"])
def test_parameters_beside_a_complex_argument_are_refused(name: str) -> None:
    function, parameters = FUNCTIONS[name][1], [1.5, 2.5, 3.5][: int(name[3]) + 1]
    with pytest.raises(
        hoad.NoRuleError,
        match=rf"^scipy\.special\.{name} of a complex argument has no derivative with respect to .*\(test_hyperg",
    ):
        hoad.grad(lambda v: np.real(function(v, *parameters[1:], 0.25 + 0.5j)))(1.5)
    slope = hoad.grad(lambda z: function(*parameters, z), holomorphic=True)(0.25 + 0.5j)
    assert np.isfinite(slope)


def test_slopes_of_tricomis_function_by_its_argument() -> None:
    """Which SciPy's values do not limit: U(1.2, 0.3, 9.5) has 6 digits; at x = 0 they are SciPy's."""
    for x in (5.5, 7.0, 9.5):
        with mp.workdps(30):
            want = [float(mp.diff(lambda y: mp.hyperu(1.2, 0.3, y), x, k)) for k in range(1, 5)]
        assert hoad.derivatives(lambda y: sc.hyperu(1.2, 0.3, y), 4)(x)[1:] == pytest.approx(want, rel=2e-15)
        assert hoad.grad(lambda y: sc.hyperu(1.2, 0.3, y))(x) == pytest.approx(want[0], rel=1e-15)
        assert hoad.grad(hoad.grad(lambda y: sc.hyperu(1.2, 0.3, y)))(x) == pytest.approx(want[1], rel=1e-15)
    assert hoad.grad(lambda y: sc.hyperu(1.5, -1.5, y))(0.0) == -1.5 * sc.hyperu(2.5, -0.5, 0.0)
