"""Each row of the tables: values as of a plain call, derivatives as of an oracle, to order 4 and in every mode."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import assert_same, check
from covered.rows import Kind, Row
from rules.modes import along, words

import hoad
from hoad.errors import HoadError

TABLES = sorted(path.stem for path in Path(__file__).parent.glob("table_*.py"))
ROWS: list[Row] = [row for table in TABLES for row in importlib.import_module(f"covered.{table}").ROWS]


def of_kind(*kinds: Kind) -> Any:
    return pytest.mark.parametrize("row", [row for row in ROWS if row.kind in kinds], ids=Row.label)


def leaves(result: Any) -> list[Any]:
    """What a function returns, as a flat list."""
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    return [result]


def parts(row: Row) -> Iterator[tuple[Any, Any]]:
    """(a function that gives one of the results, whether it is inexact) for each."""
    for k, leaf in enumerate(leaves(row.f(row.x))):
        yield (lambda x, k=k: leaves(row.f(x))[k]), np.asarray(leaf).dtype.kind in "fc"


@of_kind(Kind.DIFFERENTIABLE)
def test_first_derivatives(row: Row) -> None:
    for f, is_inexact in parts(row):
        if is_inexact:
            check(f, row.x, analytic=row.analytic, exact=row.exact)


@of_kind(Kind.DIFFERENTIABLE)
def test_higher_derivatives_are_one_in_every_mode(row: Row) -> None:
    """Of the composition with a function that is not linear, so that no order vanishes by itself."""
    rng = np.random.default_rng(len(row.name))
    x = np.asarray(row.x, dtype=float)

    def total(y: Any) -> Any:
        return sum(np.sum(np.sin(1.0 + leaf)) for leaf in leaves(row.f(y)) if np.asarray(row.x).dtype.kind == "f")

    for order in (2, 3, 4):
        directions = [(rng.uniform(-1.0, 1.0, x.shape),) for _ in range(order)]
        found = [float(along(total, word, directions)(x)) for word in words(order)]
        assert np.allclose(found, found[0], rtol=1e-9, atol=1e-9 * max(1.0, abs(found[0]))), (order, found)
    series = hoad.derivatives(lambda t: total(x + t * directions[0][0]), 4)(0.0)
    repeated = [float(along(total, "r" * n, directions[:1] * n)(x)) for n in (1, 2, 3, 4)]
    assert np.allclose(series[1:], repeated, rtol=1e-8, atol=1e-8 * max(map(math.fabs, repeated)))


@of_kind(Kind.DIFFERENTIABLE, Kind.CONSTANT, Kind.STRUCTURAL)
def test_values_traced_jitted_and_mapped(row: Row) -> None:
    plain = leaves(row.f(row.x))
    traced = leaves(hoad.jvp(row.f, (row.x,), (np.zeros_like(row.x),))[0])
    jitted = hoad.jit(row.f)
    jitted(row.x)
    for found in (traced, leaves(jitted(row.x))):
        assert len(found) == len(plain)
        for a, b in zip(found, plain, strict=True):
            if row.exact or not isinstance(b, (float, np.inexact, np.ndarray)):
                assert_same(a, b)
            else:
                np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


@of_kind(Kind.CONSTANT)
def test_no_derivative(row: Row) -> None:
    for f, is_inexact in parts(row):
        x = np.asarray(row.x, dtype=float)
        if is_inexact:
            assert not np.any(hoad.jacobian(f)(x))
        else:
            found = hoad.grad(lambda y, f=f: np.sum(y) + 0.0 * np.sum(np.asarray(hoad.value(f(y)), dtype=float)))(x)
            np.testing.assert_array_equal(found, np.ones_like(x))


@of_kind(Kind.IMPOSSIBLE)
def test_what_is_impossible_says_why(row: Row) -> None:
    assert row.note, "a reason, for the page"
    with pytest.raises((HoadError, TypeError, ValueError)) as failure:
        hoad.jvp(row.f, (row.x,), (np.zeros_like(row.x),))
    assert isinstance(failure.value, HoadError), f"Python's own error: {failure.value}"
