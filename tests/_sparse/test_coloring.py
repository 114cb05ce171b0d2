"""Colorings as they are used: every entry comes back, of every shape, kind, order and type; and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from _sparse.patterns import (
    arrow,
    band,
    is_acyclic,
    is_distance_2,
    is_star,
    laplacian,
    random_pattern,
    random_symmetric,
    recovered,
)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import hoad
from hoad._sparse.coloring import Coloring, color
from hoad._sparse.search import ORDERS
from hoad.errors import ArgumentError, ShapeError, TracedValueError

GENERAL = ("auto", "columns", "rows", "bidirectional")
SYMMETRIC = ("star", "acyclic")
SHAPES = [(0, 0), (0, 3), (3, 0), (1, 1), (1, 9), (9, 1), (6, 6), (5, 12), (12, 5), (30, 40)]


def whole(a: Any) -> Any:
    """The same pattern with whole numbers, whose sums are exact."""
    a = sp.csr_array(a, copy=True)
    a.data = np.random.default_rng(a.nnz).integers(1, 1000, a.nnz).astype(float)
    return a


def whole_symmetric(a: Any) -> Any:
    upper = whole(sp.triu(a, 1))
    return sp.csr_array(upper + upper.T + sp.diags_array(np.arange(1.0, a.shape[0] + 1)) * sp.diags_array(a.diagonal()))


def assert_right(found: Coloring, a: Any) -> None:
    np.testing.assert_array_equal(recovered(found, a), sp.csr_array(a).data)
    for colors, n in ((found.column_colors, found.n_column_colors), (found.row_colors, found.n_row_colors)):
        assert set(range(n)) <= set([] if colors is None else colors.tolist()) <= {-1, *range(n)}


@pytest.mark.parametrize("order", ["auto", *ORDERS])
@pytest.mark.parametrize("kind", GENERAL)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_entries_come_back(kind: str, order: str, shape: tuple[int, int]) -> None:
    for density in (0.0, 0.03, 0.1, 0.3, 0.7, 1.0):
        a = whole(random_pattern(*shape, density, seed=1))
        assert_right(color(a, kind, order), a)


@pytest.mark.parametrize("order", ["auto", *ORDERS])
@pytest.mark.parametrize("kind", SYMMETRIC)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 30])
@pytest.mark.parametrize("diagonal", [False, True])
def test_entries_of_symmetric_matrices_come_back(kind: str, order: str, n: int, diagonal: bool) -> None:
    for density in (0.0, 0.02, 0.1, 0.3, 1.0):
        a = random_pattern(n, n, density, seed=2)
        a = whole_symmetric(sp.triu(a, 1) + sp.triu(a, 1).T + (sp.eye_array(n) if diagonal else 0 * sp.eye_array(n)))
        a.eliminate_zeros()
        assert_right(color(a, kind, order), a)


@given(a=st.tuples(st.integers(1, 8), st.integers(1, 8)).flatmap(lambda shape: arrays(np.bool_, shape)))
def test_colors_are_what_they_are_called(a: Any) -> None:
    if (columns := color(sp.csr_array(a), "columns").column_colors) is not None:
        assert is_distance_2(a, columns.tolist())
    if (rows := color(sp.csr_array(a), "rows").row_colors) is not None:
        assert is_distance_2(a.T, rows.tolist())
    square = a[: min(a.shape), : min(a.shape)]
    square = square | square.T | np.eye(len(square), dtype=bool)
    for kind, is_right in (("star", is_star), ("acyclic", is_acyclic)):
        colors = color(sp.csr_array(square), kind).colors
        assert isinstance(colors, np.ndarray) and is_right(square, colors.tolist())


@given(a=st.tuples(st.integers(1, 8), st.integers(1, 8)).flatmap(lambda shape: arrays(np.bool_, shape)))
def test_auto_takes_the_fewest(a: Any) -> None:
    found = {kind: color(sp.csr_array(a), kind) for kind in GENERAL}
    counts = {kind: one.n_colors for kind, one in found.items()}
    assert counts["auto"] == min(counts.values())
    assert counts["bidirectional"] <= min(counts["columns"], counts["rows"])
    assert found["auto"].kind == ("columns" if counts["columns"] == counts["auto"] else found["auto"].kind)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.complex64, np.int64])
@pytest.mark.parametrize("kind", [*GENERAL, *SYMMETRIC])
def test_types(kind: str, dtype: type) -> None:
    a = whole_symmetric(laplacian(5, 4)).astype(dtype)
    values = recovered(color(a, kind), a)
    np.testing.assert_array_equal(values, a.data)
    assert values.dtype == (np.float64 if kind == "acyclic" and dtype is np.int64 else dtype)


def test_symmetric_values_are_equal_to_the_bit() -> None:
    """An entry and its mirror image are read in one place, whatever the errors of the products are."""
    a = random_symmetric(80, 0.04, seed=4)
    for kind in SYMMETRIC:
        found = color(a, kind)
        products = found.column_seeds() @ a.toarray()
        values = found.recover(products + 1e-12 * np.random.default_rng(0).standard_normal(products.shape))
        h = sp.csr_array((values, a.indices, a.indptr)).toarray()
        np.testing.assert_array_equal(h, h.T)


def test_derivatives_of_recovered_values() -> None:
    """What is read without arithmetic is a gather, which has a rule; a substitution refuses traced products."""
    a = arrow(5)
    for kind in ("star", "columns"):
        found = color(a, kind)
        jac = hoad.jacobian(found.recover)(found.column_seeds() @ a.toarray())
        np.testing.assert_array_equal(np.sum(jac, axis=(1, 2)), np.ones(a.nnz))
        np.testing.assert_array_equal(jac.reshape(a.nnz, -1).argmax(axis=1), found.slots)
    acyclic = color(a, "acyclic")
    with pytest.raises(TracedValueError):
        hoad.jacobian(acyclic.recover)(acyclic.column_seeds() @ a.toarray())


def test_pickles() -> None:
    a = whole_symmetric(arrow(7))
    for kind in (*GENERAL, *SYMMETRIC):
        assert_right(pickle.loads(pickle.dumps(color(a, kind))), a)


def test_substitution_loses_few_digits() -> None:
    rng = np.random.default_rng(0)
    a = band(400, 3)
    a.data = rng.standard_normal(a.nnz)
    a = sp.csr_array(a + a.T)
    np.testing.assert_allclose(recovered(color(a, "acyclic"), a), a.data, rtol=0, atol=1e-12)


def test_ways_to_give_a_pattern() -> None:
    a = whole(random_pattern(20, 30, 0.2, seed=3))
    for kind in GENERAL:
        expected = color(a, kind)
        others = [a.tocoo(), a.tocsc(), a.tolil(), sp.csr_matrix(a), (a.indptr, a.indices, a.shape)]
        others += [
            (a.indptr.astype(np.int64), a.indices.astype(np.uint64), a.shape),
            ([*a.indptr], [*a.indices], (20, 30)),
        ]
        for other in others:
            found = color(other, kind)
            assert found.n_colors == expected.n_colors
            np.testing.assert_array_equal(found.slots, expected.slots)


@pytest.mark.parametrize("kind", [*GENERAL, *SYMMETRIC])
def test_rows_out_of_order(kind: str) -> None:
    """Values come in the order of the pattern that was given."""
    a = whole_symmetric(laplacian(4, 5))
    rng = np.random.default_rng(0)
    for i in range(20):
        row = slice(a.indptr[i], a.indptr[i + 1])
        mixed = rng.permutation(np.arange(row.start, row.stop))
        a.indices[row], a.data[row] = a.indices[mixed], a.data[mixed]
    found = color((a.indptr, a.indices, a.shape), kind)
    np.testing.assert_array_equal(recovered(found, a), a.data)


def test_stored_zeros_count() -> None:
    a = sp.csr_array((np.zeros(4), np.array([0, 1, 0, 1]), np.array([0, 2, 4])), shape=(2, 2))
    assert color(a, "columns").n_colors == 2


def test_columns_without_entries_have_no_color() -> None:
    a = np.zeros((3, 4))
    a[0, 1] = a[2, 1] = a[2, 3] = 1
    columns, rows = color(sp.csr_array(a), "columns").column_colors, color(sp.csr_array(a), "rows").row_colors
    assert columns is not None and rows is not None
    assert (columns >= 0).tolist() == [False, True, False, True]
    assert (rows >= 0).tolist() == [True, False, True]


@pytest.mark.parametrize("kind", SYMMETRIC)
def test_colors_that_no_entry_needs_are_dropped(kind: str) -> None:
    """Without its diagonal an arrow is read from one column."""
    a = arrow(9) - sp.eye_array(9)
    a.eliminate_zeros()
    found = color(a, kind)
    assert found.n_colors == 1 and found.column_colors is not None
    assert found.column_colors.tolist() == [0] + [-1] * 8
    assert_right(found, a)


def test_fields() -> None:
    a = arrow(6)
    both = color(a)
    assert both.kind == "bidirectional" and both.shape == (6, 6) and both.nnz == 16
    assert (both.n_column_colors, both.n_row_colors, both.n_colors) in {(1, 2, 3), (2, 1, 3)}
    assert isinstance(both.colors, tuple) and len(both.colors) == 2
    star = color(a, "star", "natural")
    assert star.order == "natural" and star.colors is star.column_colors and star.row_colors is None
    assert color(a, "rows").colors is not None and color(a, "rows").column_colors is None
    assert star.column_seeds(np.float32).dtype == np.float32
    np.testing.assert_array_equal(star.column_seeds().sum(axis=0), np.ones(6))


ONE = np.array([0, 1]), np.array([0]), (1, 1)


@pytest.mark.parametrize(
    ("pattern", "kind", "order", "error", "says"),
    [
        (ONE, "diagonal", "auto", ArgumentError, "color takes a kind of 'auto', .*, not 'diagonal'"),
        (ONE, "star", "random", ArgumentError, "color takes an order of 'auto', .*, not 'random'"),
        (np.eye(2), "star", "auto", ArgumentError, "a pattern is a scipy.sparse array, or .*, not ndarray"),
        (random_pattern(2, 3, 1.0, 0), "star", "auto", ArgumentError, r"this one of shape \(2, 3\) is not"),
        (sp.csr_array(np.triu(np.ones((3, 3)))), "acyclic", "auto", ArgumentError, "an entry and its mirror image"),
        (
            ([0, 2], [1, 1], (1, 2)),
            "columns",
            "auto",
            ArgumentError,
            "row 0 .* an entry twice. Call sum_duplicates",
        ),
        (([0, 1], [2], (1, 2)), "columns", "auto", ArgumentError, "row 0 .* outside of its 2 columns"),
        (([0, 1], [-1], (1, 2)), "columns", "auto", ArgumentError, "row 0 .* outside of its 2 columns"),
        (
            ([0, 2, 1], [0], (2, 2)),
            "columns",
            "auto",
            ArgumentError,
            "of entries, 1; this one does not, at row 1",
        ),
        (([0, 1], [0], (2, 2)), "columns", "auto", ShapeError, r"shape \(2, 2\) has 3 numbers, but found 2"),
        (([0, 1], [0], (2,)), "columns", "auto", ShapeError, r"with two axes, but its shape is \(2,\)"),
        (([0, 1], [0.0], (1, 1)), "columns", "auto", ArgumentError, "indices .* is a vector of integers, not float64"),
        (([0, 1], [2**40], (1, 1)), "columns", "auto", ArgumentError, f"but found {2**40}"),
        (([0], [], (0, 2**30)), "columns", "auto", ArgumentError, "has at most 536870912 entries, rows and columns"),
    ],
)
def test_what_is_refused(pattern: Any, kind: str, order: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        color(pattern, kind, order)


def test_products_of_other_shapes_are_refused() -> None:
    a = arrow(5)
    star, both = color(a, "star"), color(a, "bidirectional")
    with pytest.raises(ShapeError, match=r"a row for each color, shape \(2, 5\), but found \(5, 2\)"):
        star.recover(np.zeros((5, 2)))
    with pytest.raises(ArgumentError, match=r"kind 'star' takes one: recover\(compressed\)"):
        star.recover(np.zeros((2, 5)), np.zeros((1, 5)))
    with pytest.raises(ArgumentError, match=r"takes two compressed matrices: recover\(columns, rows\)"):
        both.recover(np.zeros((2, 5)))
