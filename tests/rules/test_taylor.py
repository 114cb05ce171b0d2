"""One rule gives Taylor series too: coefficients to order 12 from the rules alone, against mpmath.

Errors are measured as in test_elementwise: against a coefficient, and what it changes by with the point.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from reference import NotClosedError, taylor
from rules import oracle
from rules.arrays import examples
from rules.cases import CASES, Elementwise, Structured

import hoad
from hoad._core.graph.primitive import Primitive, primitive_named

ORDER = 12
ORDER_OF_FEW = 6  # where an oracle takes its time
NUDGE = mp.mpf(10) ** -30

# Of arrays, and of several results: rules that ask for operations on other than elements; they have steps of their own.
OF_ARRAYS = frozenset(
    """modf modf_whole frexp max max_axis min min_axes solve inv det det_of_singular cofactors slogdet norm_inf
    det_gradient norm_-inf norm_1_of_matrix norm_-1_of_matrix norm_inf_of_matrix norm_-inf_of_matrix
    cholesky cholesky_upper eig eigh eigh_of_upper eigvalsh svd svdvals qr pinv lstsq norm_2_of_matrix nuclear_norm
    matrix_exponential
    matrix_power_negative ptp complex_inv complex_solve complex_det complex_sign_of_det
    complex_cholesky complex_pinv
    complex_lstsq complex_qr complex_max complex_min complex_cofactors complex_logdet complex_eigvalsh
    complex_det_gradient
    complex_svdvals complex_eigh complex_determined complex_eigh_of_upper complex_svd complex_hermitian_svd
    complex_full_svd complex_further_vectors full_svd further_vectors one_further_vector""".split()
)


def _has_series(name: str) -> bool:
    """Whether a primitive has a series beside its rule, which does not close."""
    primitive = primitive_named(name)
    assert isinstance(primitive, Primitive)
    return primitive.kernel is not None or primitive.expansion is not None


NOT_CLOSED = OF_ARRAYS | {
    case.name
    for case in CASES
    if isinstance(case, Elementwise) and (not case.closes or any(map(_has_series, case.primitives)))
}
ELEMENTWISE = [case for case in CASES if isinstance(case, Elementwise)]
STRUCTURED = [case for case in CASES if isinstance(case, Structured)]


def distances(case: Elementwise, xs: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """How far each operand is from 0, and from its singular points."""
    return [np.min([abs(x - at) for at in (0.0, *case.singular)], axis=0) for x in xs]


def curve(case: Elementwise) -> tuple[tuple[np.ndarray, ...], list[np.ndarray]]:
    """Points, and a direction for each operand that has derivatives, that stays clear of singular points."""
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    xs = case.sample(rng, 1 if case.few else 2 if case.room == "special" else 5 if len(case.at) == 1 else 3)
    return xs, [rng.uniform(-0.3, 0.3, len(d)) * d for k, d in enumerate(distances(case, xs)) if k in case.wrt]


def series_of(case: Elementwise, xs: tuple[np.ndarray, ...], directions: list[np.ndarray], order: int) -> np.ndarray:
    count = len(case.wrt)
    lines = [np.stack([x, v]) for x, v in zip(xs, directions, strict=False)]
    return taylor(lambda *args, f=case.f: f(*args, *xs[count:]), lines, order)


def exact_series(case: Elementwise, point: list[Any], direction: list[float], order: int) -> np.ndarray:
    """Coefficients along a line, as mpf; operands without a direction stay as they are."""
    along = list(map(oracle.exact, direction))

    def f(t: Any) -> Any:
        return case.oracle(*[x + t * v for x, v in zip(point, along, strict=False)], *point[len(along) :])

    return np.array(oracle.taylor(f, order, oracle.SPARE_DIGITS_OF_FEW if case.few else oracle.SPARE_DIGITS))


def highest(case: Elementwise) -> int:
    return ORDER_OF_FEW if case.few else ORDER


def change(case: Elementwise, point: list[Any], direction: list[float], j: int, distance: float, exact: Any) -> Any:
    """How much the coefficients change with operand j, over the distance from its nearest singular point."""
    with mp.workdps(200):
        nudged = list(point)
        nudged[j] = nudged[j] + NUDGE * distance
        return abs(oracle.as_floats((exact_series(case, nudged, direction, highest(case)) - exact) / NUDGE))


@pytest.mark.parametrize("case", [c for c in ELEMENTWISE if c.name not in NOT_CLOSED], ids=lambda case: case.name)
def test_elementwise(case: Elementwise) -> None:
    xs, directions = curve(case)
    order = highest(case)
    got = series_of(case, xs, directions, order)
    for k in range(len(xs[0])):
        point = [oracle.exact(x.tolist()[k]) for x in xs]
        direction = [float(v[k]) for v in directions]
        exact = exact_series(case, point, direction, order)
        want = oracle.as_floats(exact)
        scale = (1 + np.arange(order + 1)) * abs(want) + 1e-290
        for j in case.wrt:
            scale += change(case, point, direction, j, float(distances(case, xs)[j][k]), exact)
        error = abs(got[:, k] - want) / scale
        assert np.all(error <= 4 * case.tolerance), (
            f"{case.name} at {point} along {direction}: coefficients\n{got[:, k]}\nnot\n{want}\nerrors {error}"
        )


@pytest.mark.parametrize("case", [c for c in STRUCTURED if c.name not in NOT_CLOSED], ids=lambda case: case.name)
def test_structured(case: Structured) -> None:
    order = 6
    for xs in examples(case):
        rng = np.random.default_rng(1)
        directions = [0.3 * rng.uniform(-1.0, 1.0, x.shape) for x in xs]
        got = taylor(case.f, [np.stack([x, v]) for x, v in zip(xs, directions, strict=True)], order)
        lines = [(oracle.exact(x), oracle.exact(v)) for x, v in zip(xs, directions, strict=True)]
        exact = oracle.taylor(lambda t, lines=lines: np.asarray(case.oracle(*[x + t * v for x, v in lines])), order)
        for n in range(order + 1):
            want = oracle.as_floats(exact[n])
            assert np.all(abs(got[n] - want) <= case.tolerance * (1.0 + abs(want).max(initial=0.0)))


@pytest.mark.parametrize("case", [c for c in CASES if c.name in NOT_CLOSED][::3], ids=lambda case: case.name)
def test_what_does_not_close_says_so(case: Elementwise | Structured) -> None:
    xs = case.sample(np.random.default_rng(1), 2) if isinstance(case, Elementwise) else next(examples(case))
    with pytest.raises(NotClosedError):
        taylor(case.f, [x[None] for x in xs], 3)


@pytest.mark.parametrize("x", [0.3, -1.7])
def test_composition(x: float) -> None:
    """exp(sin x) tanh x / (1 + x²), as high as series are worth it, and the tower of sweeps as high as it goes."""

    def f(x: Any) -> Any:
        return np.exp(np.sin(x)) * np.tanh(x) / (1.0 + x**2)

    def exact(t: Any) -> Any:
        y = x + t
        return mp.exp(mp.sin(y)) * mp.tanh(y) / (1 + y**2)

    order = 24
    want = oracle.as_floats(oracle.taylor(exact, order))
    got = taylor(f, [np.array([x, 1.0])], order)
    rho = max(abs(want[1:]) ** (1 / np.arange(1, order + 1)))
    assert np.all(abs(got - want) <= 1e-13 * rho ** np.arange(order + 1))
    for n in range(7):
        assert abs(hoad.derivative(f, n)(x) / np.prod(np.arange(1.0, n + 1)) - want[n]) <= 1e-13 * max(1.0, rho) ** n
