"""Indexing as NumPy does it: values bit for bit, derivatives by complex steps (all of it is linear)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import assert_same, check
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.lib.stride_tricks import sliding_window_view

import hoad
from hoad.errors import TracedValueError


class Place:
    """A number by `__index__` alone."""

    def __init__(self, at: int) -> None:
        self.at = at

    def __index__(self) -> int:
        return self.at

    def __repr__(self) -> str:
        return f"Place({self.at})"


V = np.array([0.5, -1.25, 2.0, 3.5])
M = np.arange(12.0).reshape(3, 4) / 7 - 0.5
T = np.arange(24.0).reshape(2, 3, 4) / 7 - 1.5

INDICES: list[tuple[np.ndarray, Any]] = [
    (V, 0),
    (V, -1),
    (V, np.int64(2)),
    (V, Place(2)),
    (V, slice(Place(1), None)),
    (M, (Place(1), slice(None))),
    (V, np.uint8(2)),
    (V, np.array(1)),
    (V, slice(None)),
    (V, slice(1, 3)),
    (V, slice(None, None, -1)),
    (V, slice(3, 0, -2)),
    (V, slice(2, 2)),
    (V, slice(-100, 100)),
    (V, ...),
    (V, None),
    (V, ()),
    (V, (..., None)),
    (V, [0, 2]),
    (V, [0, 0, 0]),
    (V, []),
    (V, [-1, 1]),
    (V, np.array([[0, 1], [3, 3]])),
    (V, np.array([True, False, True, False])),
    (V, [True, False, True, False]),
    (V, np.zeros(4, dtype=bool)),
    (V, (None, [0, 1], None)),
    (V, True),
    (V, False),
    (M, 1),
    (M, -2),
    (M, (1, 2)),
    (M, (-1, -1)),
    (M, (0,)),
    (M, (..., 1)),
    (M, (1, ...)),
    (M, (1, ..., 2)),
    (M, (slice(None), 1)),
    (M, (slice(None, None, -1), slice(None, None, -2))),
    (M, (slice(1, None), slice(None, 2))),
    (M, (None, slice(None), None, 1)),
    (M, [1, 1, 0]),
    (M, (slice(None), [1, 1, 0])),
    (M, ([0, 1, 2], [1, 1, 0])),
    (M, ([[0], [2]], [1, 3])),
    (M, (1, [0, 0, 2])),
    (M, ([0, 2], 1)),
    (M, ([0, 2], slice(1, 3))),
    (M, ([0, 2], None, slice(1, 3))),
    (M, np.array([True, False, True])),
    (M, (slice(None), np.array([True, False, False, True]))),
    (M, M > 0.2),
    (M, (np.array([True, False, True]), [1, 2])),
    (M, np.ix_([0, 2], [1, 3])),
    (M, (np.array([2, 0]), ...)),
    (M, np.array([], dtype=int)),
    (T, (1, 2, 3)),
    (T, (slice(None), 1)),
    (T, (..., 0)),
    (T, (0, ..., 0)),
    (T, ([0, 1], slice(None), [2, 3])),
    (T, (slice(None), [0, 2], [1, 1])),
    (T, ([0, 1], [0, 2], slice(None))),
    (T, (0, slice(None), [1, 1])),
    (T, (slice(None), 0, [1, 1])),
    (T, (np.array([True, False]), slice(None), [1, 2])),
    (T, T > 0),
    (T, (1, T[1] > 0)),
    (T, (slice(None), slice(None, None, -1), slice(0, 0))),
    (np.zeros((0, 3)), (slice(None), 1)),
    (np.zeros((0, 3)), []),
    (np.zeros((2, 0, 3)), (1, slice(None), [0, 0])),
    (np.array(1.5), ...),
    (np.array(1.5), ()),
    (np.array(1.5), None),
]


@pytest.mark.parametrize(("x", "index"), INDICES, ids=[f"{x.shape}-{index!r}"[:60] for x, index in INDICES])
def test_indexing(x: np.ndarray, index: Any) -> None:
    check(lambda x: x[index], x)
    weight = np.arange(1.0, 1 + np.size(x[index])).reshape(np.shape(x[index]))
    gradient = np.zeros_like(x)
    np.add.at(gradient, index, weight)
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(weight * x[index]))(x), gradient)


OUTSIDE: list[tuple[np.ndarray, Any]] = [
    (V, 4),
    (V, -5),
    (V, (0, 0)),
    (V, [0, 4]),
    (V, 1.0),
    (V, [0.5]),
    (V, "a"),
    (V, np.array([True, False])),
    (M, (0, 4)),
    (M, (slice(None), 4)),
    (M, (..., ...)),
    (M, ([0, 1], [0, 1, 2])),
    (M, np.zeros((3, 3), dtype=bool)),
    (np.array(1.5), 0),
    (np.zeros((0, 3)), 0),
]


@pytest.mark.parametrize(("x", "index"), OUTSIDE, ids=[f"{x.shape}-{index!r}"[:60] for x, index in OUTSIDE])
def test_indices_outside_raise_as_in_numpy(x: np.ndarray, index: Any) -> None:
    with pytest.raises(IndexError):
        x[index]
    with pytest.raises(IndexError):
        hoad.jacobian(lambda x: x[index])(x)


@given(st.data())
def test_any_index(data: st.DataObject) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4))
    x = np.arange(1.0, 1 + np.prod(shape, dtype=int)).reshape(shape)
    index = data.draw(
        st.one_of(
            hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True),
            hnp.arrays(np.bool_, shape),
            hnp.arrays(np.bool_, shape[:1]),
        )
        if 0 in shape
        else st.one_of(
            hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True),
            hnp.integer_array_indices(shape),
            hnp.arrays(np.bool_, shape),
        )
    )
    weight = np.arange(1.0, 1 + np.size(x[index])).reshape(np.shape(x[index]))
    gradient = np.zeros_like(x)
    np.add.at(gradient, index, weight)
    value, tangent = hoad.jvp(lambda x: x[index], (x,), (2 * x,))
    assert_same(value, x[index])
    assert_same(tangent, 2 * x[index])
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(weight * x[index]))(x), gradient)


def test_items_of_items() -> None:
    """Slices of slices and items of slices lead back to the one array they came from."""
    check(lambda x: x[1:][::-1][0], V)
    check(lambda x: x[1][2:][0] * x[:, 3][1], M)
    check(lambda x: np.stack([row[::-1][1] for row in x]), M)
    check(lambda x: x[[0, 2]][:, 1:][::-1].T[0], M)


def test_an_item_used_often() -> None:
    f = lambda x: sum(x[k % 3] * x[-1] for k in range(60))  # noqa: E731
    np.testing.assert_allclose(hoad.grad(f)(np.array([1.0, 2.0, 3.0])), [60.0, 60.0, 20 * (1 + 2 + 6)])


def test_masks_that_depend_on_x_are_guards() -> None:
    """`x[x > 0]` has a shape that depends on values; the derivative is that of the branch taken."""
    x = np.array([1.0, -2.0, 3.0])
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(x[x > 0] ** 2))(x), [2.0, 0.0, 6.0])
    np.testing.assert_array_equal(hoad.hessian(lambda x: np.sum(x[x > 0] ** 2))(x), np.diag([2.0, 0.0, 2.0]))


@pytest.mark.parametrize("c", [0.5, 2.0])
@pytest.mark.parametrize(
    "index",
    [
        lambda s, c: s > c,
        lambda s, c: (s > c, None),
        lambda s, c: (None, s > c),
        lambda s, c: (..., s > c),
        lambda s, c: (s > c, s > 0),
        lambda s, c: np.array(c < 1),
    ],
)
def test_a_number_by_a_mask(index: Any, c: float) -> None:
    """As NumPy's own numbers: one item where the mask is true, none where it is not; the branch is a guard."""
    f = lambda x: np.sum(np.exp(x[0][index(x[0], c)])) * x[1]  # noqa: E731
    x = np.array([1.3, 0.7])
    wanted = np.array([0.7 * np.exp(1.3), np.exp(1.3)]) if c < 1 else np.zeros(2)
    value, gradient = hoad.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-15)
    jitted = hoad.jit(f)
    for first in (1.3, 3.0, 0.1, 1.3):
        assert jitted(np.array([first, 0.7])) == pytest.approx(f(np.array([first, 0.7])), rel=1e-15)


def test_indices_that_depend_on_x() -> None:
    """Integers made of a traced value are live indices of traced arrays."""
    x = np.array([2.2, 10.0, 20.0, 30.0])
    f = lambda x: np.sum(x[np.stack([x[0], x[0] + 1]).astype(int)] * x[0])  # noqa: E731
    assert hoad.value_and_grad(f)(x)[0] == f(x)
    np.testing.assert_allclose(hoad.grad(f)(x), [50.0, 0.0, 2.2, 2.2])
    g = lambda x: x[x[:1].astype(int)[0]]  # noqa: E731
    np.testing.assert_array_equal(hoad.grad(g)(x), [0.0, 0.0, 1.0, 0.0])


def test_plain_arrays_take_traced_integers_and_booleans() -> None:
    table, x = np.array([2.0, 3.0, 5.0, 7.0]), np.array([1.5, 0.5, 2.5])
    programs: list[Callable[[Any], Any]] = [
        lambda x: np.sum(table[x.astype(int)] * x),
        lambda x: np.sum(table[:3][np.argsort(x)] * x),
        lambda x: np.sum(table[:3][x > 1.0]) * x[0],
    ]
    for f in programs:
        jitted = hoad.jit(hoad.value_and_grad(f))
        for at in (x, x[::-1], x + 0.25, x):  # what is chosen is guarded
            factor = [table[at.astype(int)], table[:3][np.argsort(at)], [np.sum(table[:3][at > 1.0]), 0.0, 0.0]]
            value, slope = jitted(at)
            assert value == f(at)
            np.testing.assert_array_equal(slope, factor[programs.index(f)])


def test_plain_arrays_refuse_traced_floats_as_indices() -> None:
    with pytest.raises(IndexError):
        hoad.grad(lambda x: V[x])(1.0)


def test_unpacking_and_membership() -> None:
    def f(x: Any) -> Any:
        a, *rest, z = x
        return a * z * len(rest)

    np.testing.assert_array_equal(hoad.grad(f)(np.array([2.0, 3.0, 5.0])), [5.0, 0.0, 2.0])
    assert hoad.value_and_grad(lambda x: x[0] * (2.0 in x))(V)[0] == 0.5
    with pytest.raises(TypeError):
        hoad.grad(lambda x: [*x])(1.0)
    with pytest.raises(TypeError):
        hoad.grad(lambda x: len(x))(1.0)


ITEMS: dict[str, Any] = {
    "item(1)": lambda x: x.item(1),
    "item(-1)": lambda x: x.item(-1),
    "item(0, 2)": lambda x: x.item(0, 2),
    "item((1, 3))": lambda x: x.item((1, 3)),
    "item() of one": lambda x: x[:1, :1].item(),
    "item(0) of a slice": lambda x: x[1:].item(0),
}


@pytest.mark.parametrize("name", ITEMS)
def test_items_by_method(name: str) -> None:
    f = ITEMS[name]
    value, gradient = hoad.value_and_grad(f)(M)
    assert value == f(M)
    np.testing.assert_array_equal(gradient, (M == f(M)).astype(float))


def test_items_by_method_outside() -> None:
    for f in (lambda x: x.item(12), lambda x: x.item(0, 4), lambda x: x.item((3, 0))):
        with pytest.raises(IndexError):
            hoad.grad(f)(M)
    with pytest.raises(ValueError, match="size 1"):
        hoad.grad(lambda x: x.item())(M)


@pytest.mark.parametrize("plain", [np.array(3.0), np.array([3.0, 2.0]), np.ones((2, 2))])
def test_plain_arrays_at_a_traced_boolean(plain: np.ndarray) -> None:
    def f(x: Any) -> Any:
        chosen = plain[x > 1]
        added = plain.copy()
        added[x > 2] = 7.0
        return np.sum(chosen) * x**2 + np.sum(added) * x

    compiled = hoad.jit(f)
    for x in (0.5, 1.5, 2.5):
        assert compiled(x) == f(x)
        assert hoad.grad(f)(x) == np.sum(plain[x > 1]) * 2 * x + (7.0 * plain.size if x > 2 else np.sum(plain))
        assert hoad.derivatives(f, 3)(x)[2] == 2 * np.sum(plain[x > 1])


def test_arrays_made_of_traced_booleans_stay_traced() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.where(np.array([x > 1, x < 1]), x, x**2))

    program = hoad.record(f, 0.5)
    assert program(2.0) == f(2.0)


def test_windows_are_read_only() -> None:
    def f(x: Any) -> Any:
        return np.sum(sliding_window_view(x * 1, 2, writeable=True) ** 3)

    x = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(hoad.grad(f)(x), 3 * x**2 * [1, 2, 1])

    def written(x: Any) -> Any:
        y = sliding_window_view(x * 1, 2, writeable=True)
        y *= 2
        return np.sum(y)

    with pytest.raises(TracedValueError, match="one item stands in several windows"):
        hoad.grad(written)(x)


@pytest.mark.parametrize("place", [2**63, 2**64, -(2**63) - 1, 7, -8])
def test_places_beyond_an_array_are_refused_as_by_numpy(place: int) -> None:
    with pytest.raises(IndexError):
        hoad.grad(lambda x: np.sum(x[[0, place]]))(np.arange(5.0))
    with pytest.raises(IndexError):
        np.arange(5.0)[[0, place]]


@pytest.mark.parametrize(
    "index", [np.s_[:, [0, 2]], np.s_[[1, 0], [0, 2]], np.s_[[0, 1], :, [1, 2]], (..., np.array([[0, 1], [2, 0]]).T)]
)
@pytest.mark.parametrize("turned", [False, True])
def test_items_at_places_lie_in_memory_as_numpys_do(index: Any, turned: bool) -> None:
    """Whether what is made of them is a view of them, or a copy, depends on that."""

    def f(x: Any) -> Any:
        y = (x.transpose(0, 2, 1) if turned else x)[index]
        y.reshape(-1)[0] = 7.0
        np.ravel(y)[1] = 8.0
        return y

    value, moved = hoad.jvp(f, (T,), (T,))
    wanted = f(T.copy())
    assert_same(value, wanted)
    assert_same(moved, np.where((wanted == 7.0) | (wanted == 8.0), 0.0, wanted))
