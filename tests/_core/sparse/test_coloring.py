"""The compiled colorings and orders, against the definitions, on every small pattern that hypothesis thinks of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _sparse.patterns import csr, is_acyclic, is_distance_2, is_star
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from hoad._core.sparse.coloring import color_acyclic, color_distance_2, color_star, order_vertices

ORDERS = ("natural", "largest_first", "smallest_last", "incidence_degree", "dynamic_largest_first")
Pattern = NDArray[np.bool_]

sides = st.integers(1, 9)
patterns = st.tuples(sides, sides).flatmap(lambda shape: arrays(np.bool_, shape))
symmetric = sides.flatmap(lambda n: arrays(np.bool_, (n, n))).map(lambda a: a | a.T)


def common(a: Pattern) -> Pattern:
    """Which columns have a row in common."""
    return (a.T.astype(int) @ a.astype(int)) > 0


@given(a=symmetric, seed=st.integers(0, 99))
def test_stars_and_trees_in_any_order(a: Pattern, seed: int) -> None:
    indptr, indices = csr(a)[:2]
    turn = np.random.default_rng(seed).permutation(len(a)).astype(np.int32)
    assert is_star(a, color_star(indptr, indices, turn))
    assert is_acyclic(a, color_acyclic(indptr, indices, turn))


@given(a=patterns, seed=st.integers(0, 99))
def test_rows_and_columns_apart(a: Pattern, seed: int) -> None:
    """The graph of rows and columns, where even and odd colors keep the sides apart."""
    m, n = a.shape
    both = np.block([[np.zeros((m, m), bool), a], [a.T, np.zeros((n, n), bool)]])
    indptr, indices = csr(both)[:2]
    turn = np.random.default_rng(seed).permutation(m + n).astype(np.int32)
    colors = color_star(indptr, indices, turn, m)
    assert is_star(both, colors)
    assert (colors[:m] % 2 == 0).all() and (colors[m:] % 2 == 1).all()


def greedy(graph: Pattern, turn: Any, is_right: Callable[[Pattern, Any], bool]) -> list[int]:
    """The least color for each vertex in turn with which what is colored so far is right."""
    colors = np.full(len(graph), -1)
    for at, v in enumerate(turn):
        done = np.sort(turn[: at + 1])
        while True:
            colors[v] += 1
            if is_right(graph[np.ix_(done, done)], colors[done]):
                break
    return colors.tolist()


@given(a=symmetric, seed=st.integers(0, 99))
def test_acyclic_colors_are_the_least(a: Pattern, seed: int) -> None:
    """The algorithm forbids a color only where it would close a cycle."""
    indptr, indices = csr(a)[:2]
    turn = np.random.default_rng(seed).permutation(len(a)).astype(np.int32)
    assert color_acyclic(indptr, indices, turn).tolist() == greedy(a, turn, is_acyclic)


@given(a=symmetric, seed=st.integers(0, 99))
def test_star_colors_are_the_least(a: Pattern, seed: int) -> None:
    indptr, indices = csr(a)[:2]
    turn = np.random.default_rng(seed).permutation(len(a)).astype(np.int32)
    assert color_star(indptr, indices, turn).tolist() == greedy(a, turn, is_star)


def is_in_order(graph: Pattern, order: str, turn: Any) -> bool:
    """Whether each vertex had the degree that the order asks for when it was taken."""
    graph = graph & ~np.eye(len(graph), dtype=bool)
    for at in range(len(turn)):
        if order == "smallest_last":
            left = turn[: at + 1]
            degrees = graph[np.ix_(left, left)].sum(axis=1)
            right = degrees[-1] == degrees.min()
        elif order == "dynamic_largest_first":
            left = turn[at:]
            degrees = graph[np.ix_(left, left)].sum(axis=1)
            right = degrees[0] == degrees.max()
        elif order == "incidence_degree":
            degrees = graph[np.ix_(turn[at:], turn[:at])].sum(axis=1)
            right = degrees[0] == degrees.max()
        else:
            degrees = graph[turn[at:]].sum(axis=1)
            right = order == "natural" or degrees[0] == degrees.max()
        if not right:
            return False
    return sorted(turn) == list(range(len(graph)))


@given(a=symmetric)
@settings(max_examples=200)
def test_stars_and_trees(a: Pattern) -> None:
    indptr, indices = csr(a)[:2]
    for order in ORDERS:
        turn = order_vertices(order, indptr, indices)
        assert is_in_order(a, order, turn), order
        assert is_star(a, color_star(indptr, indices, turn)), order
        assert is_acyclic(a, color_acyclic(indptr, indices, turn)), order


@given(a=patterns)
@settings(max_examples=200)
def test_columns_of_a_row_differ(a: Pattern) -> None:
    indptr, indices, indptr_t, indices_t = csr(a)
    for order in ORDERS:
        turn = order_vertices(order, indptr_t, indices_t, indptr, indices)
        assert is_in_order(common(a), order, turn), order
        colors = color_distance_2(indptr_t, indices_t, indptr, indices, turn)
        assert is_distance_2(a, colors), order
        assert (colors[~a.any(axis=0)] == -1).all(), order


def test_other_types_are_refused() -> None:
    right = np.array([0, 1], dtype=np.int32)
    with pytest.raises(TypeError, match="int32, without gaps, not of int64"):
        color_star(right, np.array([0]), right[:1])
    with pytest.raises(TypeError, match="int32, without gaps"):
        color_star(np.array([0, 0, 1, 1], dtype=np.int32)[::2], right[:1], right[:1])
