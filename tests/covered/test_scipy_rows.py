"""Each row of SciPy's parts: values as of a plain call, derivatives as of differences of plain calls.

Of each name one row is differentiated in Taylor mode, too, and jitted.
Higher orders, all modes and other points are tested with the functions themselves, in `tests/scipy` and `tests/rules`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from covered.rows import Kind
from covered.scipy_calls import Call
from covered.scipy_names import ROWS

import hoad
from hoad._core.trace.traced import is_traced
from hoad.errors import HoadError

pytestmark = pytest.mark.filterwarnings("ignore")  # SciPy's own
STEP = 1e-3
SAMPLE = set({row.name: id(row) for row in reversed(ROWS)}.values())  # of each name one, which is jitted too
FIRST = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])  # of differences of order eight
SECOND = np.array([8 / 5, -1 / 5, 8 / 315, -1 / 560])


def of_kind(*kinds: Kind) -> Any:
    rows = [row for row in ROWS if row.kind in kinds]
    marked = [pytest.param(row, marks=pytest.mark.slow) if row.slow else row for row in rows]
    return pytest.mark.parametrize("row", marked, ids=map(Call.label, rows))


def leaves(result: Any) -> list[Any]:
    """What a function returns, as a flat list of arrays."""
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    return [result]


def kind_of(leaf: Any) -> str:
    if is_traced(leaf):  # not by its value, which a replay would be guarded by
        return str(leaf.dtype.kind)
    return np.asarray(leaf).dtype.kind if isinstance(leaf, (bool, int, float, complex, np.generic, np.ndarray)) else ""


def sampled(x: Any) -> Any:
    """A number that depends on each item of a result, and is not linear in it."""
    total = 0.0
    for k, leaf in enumerate(leaves(x)):
        for part in {"f": (leaf,), "c": (np.real(leaf), np.imag(leaf))}.get(kind_of(leaf), ()):
            weights = np.cos(np.arange(1.0, 1.0 + np.size(part))).reshape(np.shape(part))
            total = total + np.sum(np.sin(part + 0.5 * weights + k))
    return total


def along(row: Call) -> tuple[Any, Any]:
    """(t ↦ the result at x + t d, as a number; d)."""
    x = np.asarray(row.x, float)
    d = np.linspace(0.5, 1.25, x.size).reshape(x.shape) * np.where(np.arange(x.size).reshape(x.shape) % 3 == 1, -1, 1)
    if not x.ndim:
        x, d = float(x), float(d)
    return lambda t: sampled(row.f(x + t * d)), d


@of_kind(Kind.DIFFERENTIABLE)
def test_derivatives(row: Call) -> None:
    f, _ = along(row)
    plain = {k: f(k * STEP) for k in range(-4, 5)}
    pairs = [(plain[k], plain[-k]) for k in range(1, 5)]
    slope = sum(w * (a - b) for w, (a, b) in zip(FIRST, pairs, strict=True)) / STEP
    curve = sum(w * (a + b - 2 * plain[0]) for w, (a, b) in zip(SECOND, pairs, strict=True)) / STEP**2
    scale = max(1.0, abs(slope), abs(curve))
    assert scale < 1e6, "choose a point where it is less steep"
    assert slope != 0.0, "choose a call where it depends on the argument"
    value, reverse = hoad.value_and_grad(f)(0.0)
    assert abs(value - plain[0]) <= max(1e-11, 1e-3 * row.rtol) * scale, (value, plain[0])
    assert abs(reverse - slope) <= row.rtol * scale, (reverse, slope)
    if id(row) not in SAMPLE:
        return
    found = hoad.derivatives(f, 3)(0.0)
    assert abs(found[1] - reverse) <= 1e-9 * scale, (found[1], reverse)
    assert abs(found[2] - curve) <= max(1e-6, 1e3 * row.rtol) * scale, (found[2], curve)
    jitted = hoad.jit(hoad.grad(f))
    assert abs(jitted(0.0) - found[1]) <= 1e-9 * scale, (jitted(0.0), found[1])
    other = 0.5 * STEP
    beside = found[1] + other * (found[2] + 0.5 * other * found[3])
    assert abs(jitted(other) - beside) <= (row.rtol + 1e-5) * scale, (jitted(other), beside)


@of_kind(Kind.CONSTANT, Kind.STRUCTURAL)
def test_constants(row: Call) -> None:
    """A value without a derivative: of floats zero, and whatever else is not differentiated."""
    found: list[Any] = []

    def f(x: Any) -> Any:
        results = leaves(row.f(x))
        found[:] = [hoad.value(leaf) for leaf in results]
        return sum((np.sum(np.real(leaf)) for leaf in results if kind_of(leaf) in ("f", "c")), 0.0 * np.sum(x))

    assert not np.any(hoad.grad(f)(row.x if isinstance(row.x, float) else np.asarray(row.x, float)))
    for a, b in zip(found, leaves(row.f(row.x)), strict=True):
        if kind_of(b):
            np.testing.assert_array_equal(a, b)


@of_kind(Kind.IMPOSSIBLE, Kind.NOT_YET)
def test_what_has_no_derivative_raises(row: Call) -> None:
    assert row.note or row.kind is Kind.NOT_YET, "a reason, for the page"
    row.f(row.x)
    x = row.x if isinstance(row.x, float) else np.asarray(row.x, float)
    with pytest.raises((HoadError, TypeError, ValueError, AttributeError)) as failure:
        hoad.jvp(row.f, (x,), (np.ones_like(x),))
    assert isinstance(failure.value, HoadError), f"Python's own error: {failure.value!r}"
