"""Every elementwise rule on complex numbers, at orders 0 to 4 and in every mode, against mpmath.

An error is measured in the plane, against the value and against what the value would change by if an operand were
another in its last digits: |got − want| ≤ tolerance · (|want| + Σ |zₖ ∂ want/∂zₖ|), zₖ taken from the nearest singular
point.
"""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from reference import primal
from rules.arrays import examples
from rules.cases import CASES as REAL_CASES
from rules.cases import Structured
from rules.complex_cases import CASES, Complex
from rules.modes import multi_indices, words
from rules.oracle import SPARE_DIGITS, STEP_DIGITS, partial, stencil, sure
from rules.test_completeness import PRIMITIVES

import hoad
from hoad._core.kernels.ufuncs import compose

HIGHEST = 4
POINTS = {1: 12, 2: 6}
UNDERFLOW = 1e-290

holomorphic = pytest.mark.parametrize("case", [c for c in CASES if c.holomorphic], ids=lambda case: case.name)
others = pytest.mark.parametrize("case", [c for c in CASES if not c.holomorphic], ids=lambda case: case.name)
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name, scope="module")


def mpc(z: Any) -> Any:
    return mp.mpc(z.real, z.imag)


@functools.cache
def points(case: Complex) -> tuple[np.ndarray, ...]:
    return case.sample(np.random.default_rng(zlib.crc32(case.name.encode())), POINTS[len(case.at)])


def derivative(f: Callable[..., Any], point: Sequence[complex], orders: Sequence[int]) -> complex:
    """The partial derivative of a holomorphic function, by central differences along the real axis."""
    total = sum(orders)
    with mp.workdps(STEP_DIGITS * total + SPARE_DIGITS):
        z = [mpc(item) for item in point]
        steps = [abs(item) * mp.mpf(10) ** -STEP_DIGITS for item in z]
        value, size = mp.mpc(0), mp.zero
        for places in _product([stencil(n) for n in orders]):
            at = [item + k * h for item, (k, _), h in zip(z, places, steps, strict=True)]
            term = math.prod(w for _, w in places) * f(*at)
            value, size = value + term, size + abs(term)
        return complex(sure(value, size) / math.prod((h**n for h, n in zip(steps, orders, strict=True)), start=mp.one))


def _product(sets: list[Any]) -> list[tuple[Any, ...]]:
    made: list[tuple[Any, ...]] = [()]
    for items in sets:
        made = [(*before, item) for before in made for item in items]
    return made


@functools.cache
def expected(case: Complex, orders: tuple[int, ...]) -> np.ndarray:
    return np.array([derivative(case.oracle, point, orders) for point in zip(*points(case), strict=True)])


@functools.cache
def scale(case: Complex, orders: tuple[int, ...]) -> np.ndarray:
    """What errors are measured against."""
    total = abs(expected(case, orders)) + UNDERFLOW / case.tolerance
    for k, z in enumerate(points(case)):
        raised = tuple(n + (j == k) for j, n in enumerate(orders))
        distance = np.min([abs(z - at) for at in (0.0, *case.singular)], axis=0)
        total = total + distance * abs(expected(case, raised))
    return total


def check(case: Complex, got: Any, operands: tuple[int, ...], how: str) -> None:
    orders = tuple(operands.count(k) for k in range(len(case.at)))
    want = expected(case, orders)
    error = abs(np.asarray(got) - want) / scale(case, orders)
    worst = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
    at = [complex(z[worst]) for z in points(case)]
    assert error[worst] <= case.tolerance, (
        f"∂{orders} {case.name}{at} by {how}: {np.asarray(got)[worst]!r} is off {want[worst]!r} by {error[worst]:.1e}"
    )


def stepped(f: Callable[..., Any], word: str, operands: Sequence[int]) -> Callable[..., Any]:
    """f differentiated by an operand for each letter, forward or in reverse."""
    for letter, k in zip(word, operands, strict=True):
        f = _forward(f, k) if letter == "f" else _reverse(f, k)
    return f


def _forward(f: Callable[..., Any], k: int) -> Callable[..., Any]:
    def tangent(*xs: Any) -> Any:
        return hoad.jvp(lambda x: f(*xs[:k], x, *xs[k + 1 :]), (xs[k],), (np.ones(np.shape(xs[k])),))[1]

    return tangent


def _reverse(f: Callable[..., Any], k: int) -> Callable[..., Any]:
    return lambda *xs: hoad.grad(lambda *args: np.sum(f(*args)), argnums=k, holomorphic=True)(*xs)


# ---- holomorphic functions ------------------------------------------------------------------------------------------


@holomorphic
def test_value(case: Complex) -> None:
    with np.errstate(all="ignore"):
        check(case, case.f(*points(case)), (), "NumPy")
    check(case, hoad.jvp(case.f, points(case), points(case))[0], (), "a recording")


@holomorphic
def test_partial_derivatives(case: Complex) -> None:
    for order in range(1, HIGHEST + 1):
        for operands in multi_indices(len(case.at), order):
            for word in words(order):
                check(case, stepped(case.f, word, operands)(*points(case)), operands, word)


@holomorphic
def test_derivative_of_any_order(case: Complex) -> None:
    zs = points(case)
    for order in range(HIGHEST + 1):
        got = hoad.derivative(lambda z, f=case.f: f(z, *zs[1:]), order, holomorphic=True)(zs[0])
        check(case, got, (0,) * order, "derivative")


@holomorphic
def test_numbers(case: Complex) -> None:
    columns = [z.tolist() for z in points(case)]
    for order in (1, 2):
        for operands in multi_indices(len(case.at), order):
            for word in words(order):
                df = stepped(case.f, word, operands)
                got = [df(*point) for point in zip(*columns, strict=True)]
                assert all(type(value) is complex for value in got)
                check(case, got, operands, f"{word} of numbers")


@holomorphic
def test_cauchy_and_riemann(case: Complex) -> None:
    """The tangent along i is i times that along 1, and the gradients of both parts are f′ and -i f′."""
    z, *rest = points(case)
    f = lambda z, g=case.f: g(z, *rest)  # noqa: E731
    along_one, along_i = (hoad.jvp(f, (z,), (np.full(z.shape, unit),))[1] for unit in (1.0, 1j))
    of_real, of_imag = (hoad.grad(lambda z, part=part: np.sum(part(f(z))))(z) for part in (np.real, np.imag))
    orders = (1, *[0] * len(rest))
    for got in (along_i / 1j, of_real, of_imag / -1j):
        assert np.all(abs(got - along_one) <= case.tolerance * scale(case, orders))


# ---- functions of both parts ----------------------------------------------------------------------------------------


@others
def test_partial_derivatives_by_parts(case: Complex) -> None:
    """Re(c f(x + iy)) by x and y."""
    (z,) = points(case)
    c = 0.6 - 0.8j
    f = lambda x, y, g=case.f: np.real(c * g(compose(x, y)))  # noqa: E731
    oracle = lambda x, y: mp.re(mp.mpc(c) * case.oracle(mp.mpc(x, y)))  # noqa: E731

    @functools.cache
    def want(orders: tuple[int, int]) -> np.ndarray:
        return np.array([float(partial(oracle, (p.real, p.imag), orders)) for p in z.tolist()])

    for order in range(HIGHEST + 1):
        every = [sum(abs(want((k, n - k))) for k in range(n + 1)) for n in (order, order + 1)]
        size = every[0] + abs(z) * every[1] + UNDERFLOW / case.tolerance
        for operands in multi_indices(2, order):
            for word in words(order) if order else [""]:
                got = _by_parts(f, word, operands)(z.real.copy(), z.imag.copy())
                error = abs(got - want((operands.count(0), operands.count(1)))) / size
                assert np.all(error <= case.tolerance), f"{case.name} by {operands}, {word}: {error}"


def _by_parts(f: Callable[..., Any], word: str, operands: Sequence[int]) -> Callable[..., Any]:
    for letter, k in zip(word, operands, strict=True):
        f = _forward(f, k) if letter == "f" else _real_reverse(f, k)
    return f


def _real_reverse(f: Callable[..., Any], k: int) -> Callable[..., Any]:
    return lambda *xs: hoad.grad(lambda *args: np.sum(f(*args)), argnums=k)(*xs)


@each_case
def test_gradient_is_by_the_convention(case: Complex) -> None:
    """∂u/∂x - i ∂u/∂y for a real u, and its differential along v is Re(g v) at second order too."""
    zs = points(case)
    u = lambda *zs, f=case.f: np.sum(np.real((0.6 - 0.8j) * f(*zs)))  # noqa: E731
    everywhere = tuple(range(len(zs)))
    found = hoad.grad(u, everywhere)(*zs)
    xs, ys = [z.real.copy() for z in zs], [z.imag.copy() for z in zs]
    parts = lambda *args: u(*[compose(x, y) for x, y in zip(args[: len(zs)], args[len(zs) :], strict=True)])  # noqa: E731
    wanted = hoad.grad(parts, tuple(range(2 * len(zs))))(*xs, *ys)
    for k, g in enumerate(found):
        np.testing.assert_allclose(g, wanted[k] - 1j * wanted[len(zs) + k], rtol=1e-12, atol=0)
    vs = tuple(z[::-1] * 1j for z in zs)
    product = hoad.hvp(u, everywhere)(*zs, vs)
    turned = hoad.vhp(u, everywhere)(*zs, vs)
    for p, q in zip(product, turned, strict=True):
        np.testing.assert_allclose(p, q, rtol=1e-9, atol=1e-9 * abs(p).max())


# ---- the same set ---------------------------------------------------------------------------------------------------


REAL_ONLY = frozenset(
    """fabs cbrt degrees radians rad2deg deg2rad hypot arctan2 x_over_hypot logistic logaddexp logaddexp2 floor ceil
    trunc spacing floor_divide remainder fmod copysign heaviside nextafter modf frexp ldexp slope powlog1
    powlog2 powlog3 rfft""".split()
)


def complex_primitives() -> set[str]:
    """What the rows of both tables record on complex operands."""
    found = set()
    for case in [*CASES, *REAL_CASES]:
        if isinstance(case, Complex):
            xs = points(case)
            f = case.f
        elif isinstance(case, Structured):
            xs, f = next(examples(case)), case.f
        else:
            continue
        listing = primal(f, *xs)
        for row in listing.rows:
            if row.primitive is not None and any(listing.aval(x).is_complex for x in row.operands):
                found.add(row.primitive.name)
    return found


def test_every_rule_is_tried_on_complex_numbers_or_takes_none() -> None:
    ruled = {name for name, primitive in PRIMITIVES.items() if primitive.rule is not None}
    ruled = {name for name in ruled if not name.startswith("scipy.")}  # whose rules are for real numbers
    assert ruled - complex_primitives() - REAL_ONLY == {"complex", "i0"}  # made of real parts; NumPy's takes none
    assert not complex_primitives() & REAL_ONLY


@pytest.mark.parametrize("name", sorted(REAL_ONLY - {"rfft"}))
def test_what_takes_none_says_so(name: str) -> None:
    primitive = PRIMITIVES[name]
    with pytest.raises(TypeError):
        hoad.jvp(lambda z: primitive.function(*[z] * primitive.nin), (np.ones(2) * 1j,), (np.ones(2),))
