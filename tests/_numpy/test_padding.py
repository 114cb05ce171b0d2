"""np.pad: values as NumPy's in every mode, derivatives by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _numpy.agreement import by_complex_steps, same

import hoad

V = np.array([1.3, 0.7, 2.1, -0.4])
M = np.array([[0.5, -1.0, 2.0, 0.1], [1.5, 0.25, -0.75, 0.9], [0.2, 1.1, -0.3, 0.6]])
TAKES_AXES = np.lib.NumpyVersion(np.__version__) >= "2.2.0"
WIDTHS: tuple[Any, ...] = (2, (0, 3), ((1, 2),), *([{-1: (1, 0)}] if TAKES_AXES else []), 0)
MODES: list[tuple[str, dict[str, Any]]] = [
    ("linear_ramp", {}),
    ("linear_ramp", {"end_values": (2.0, -1.0)}),
    ("maximum", {"stat_length": 2}),
    ("mean", {"stat_length": (1, 3)}),
    ("median", {}),
    ("minimum", {"stat_length": ((9, 1),)}),
    ("reflect", {"reflect_type": "odd"}),
    ("symmetric", {"reflect_type": "odd"}),
]


def _from_left(line: Any, width: Any, axis: int, options: Any) -> None:
    line[: width[0]] = options["factor"] * line[width[0]]


@pytest.mark.parametrize(("mode", "options"), MODES, ids=[f"{m}-{list(o.values())}" for m, o in MODES])
@pytest.mark.parametrize("x", [V, M, M.T[::-1], V[:1]], ids=["vector", "matrix", "view", "one"])
def test_numbers_made_of_items(mode: str, options: Any, x: Any) -> None:
    for widths in WIDTHS:
        f = lambda x, w=widths: np.pad(x, w, mode, **options)  # noqa: E731
        value, moved = hoad.jvp(f, (x,), (np.cos(x),))
        np.testing.assert_allclose(value, f(x), rtol=1e-15, atol=1e-15)  # beyond the first image roundings differ
        wanted = (f(x + 1e-6 * np.cos(x)) - f(x - 1e-6 * np.cos(x))) / 2e-6
        np.testing.assert_allclose(moved, wanted, rtol=1e-8, atol=1e-8)


def test_many_images_of_a_short_array() -> None:
    """The extension of a straight line is that line, however often it is reflected."""
    line = np.array([1.0, 1.5, 2.0])
    for mode, n in (("reflect", 9), ("reflect", 2)):
        found = hoad.jvp(lambda x, m=mode, n=n: np.pad(x, n, m, reflect_type="odd"), (line,), (line,))
        np.testing.assert_allclose(found, 2 * [1.0 + 0.5 * np.arange(-n, 3 + n)], rtol=1e-14)


def test_traced_ends_and_functions_of_the_user() -> None:
    ramp = hoad.grad(lambda e: np.sum(np.pad(e * V, 2, "linear_ramp", end_values=e[:2]) * np.arange(8.0)))(V)
    wanted = by_complex_steps(lambda e: np.sum(np.pad(e * V, 2, "linear_ramp", end_values=e[:2]) * np.arange(8.0)), V)
    np.testing.assert_allclose(ramp, wanted, rtol=1e-12)
    value, moved = hoad.jvp(lambda x: np.pad(x, ((1, 0), (2, 1)), _from_left, factor=3.0), (M,), (M,))
    np.testing.assert_array_equal(value, np.pad(M, ((1, 0), (2, 1)), _from_left, factor=3.0))
    np.testing.assert_allclose(moved, value, rtol=1e-15)
    assert hoad.grad(lambda x: np.sum(np.pad(x, 1, "empty")[1:-1]))(V).tolist() == [1.0] * 4


def test_zeros_keep_their_sign() -> None:
    x = np.array([[-0.0, 0.0], [1.0, -0.0]])
    for options in ({}, {"constant_values": -0.0}, {"constant_values": 2}):
        value, _ = hoad.jvp(lambda x, options=options: np.pad(x, ((1, 0), (0, 2)), **options), (x,), (x,))
        assert same(value, np.pad(x, ((1, 0), (0, 2)), **options))


def test_what_numpy_refuses() -> None:
    for mode, options in (("mean", {"end_values": 1.0}), ("maximum", {"stat_length": 0}), ("nowhere", {})):
        for call in (lambda f: f(V), lambda f: hoad.grad(lambda x: np.sum(f(x)))(V)):
            with pytest.raises(ValueError, match=r"mode|stat_length"):
                call(lambda x, m=mode, o=options: np.pad(x, 1, m, **o))
