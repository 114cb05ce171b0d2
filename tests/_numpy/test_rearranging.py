"""What moves items on traced values: values as NumPy's, bit for bit, derivatives by complex steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import assert_same, check

import hoad

S = 0.7
V = np.array([0.5, -1.25, 2.0])
L = np.array([0.5, -1.25, 2.0, 0.75, -0.3])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
A = np.array([[3.0, 0.5, -1.0], [0.25, 2.0, 0.75], [1.0, -0.5, 4.0]])
T = np.arange(24.0).reshape(2, 3, 4) / 7 - 1.5
EMPTY = np.zeros((0, 3))

Case = tuple[str, Callable[[Any], Any], Any]

MOVED: list[Case] = [
    ("flip", np.flip, T),
    ("flip, axis", lambda x: np.flip(x, 1), T),
    ("flip, axes", lambda x: np.flip(x, (0, -1)), T),
    ("flip of a number", np.flip, np.array(S)),
    ("fliplr", np.fliplr, M),
    ("flipud", np.flipud, T),
    *[(f"rot90, {k}", lambda x, k=k: np.rot90(x, k), M) for k in range(-3, 6)],
    ("rot90, axes", lambda x: np.rot90(x, 1, (2, 0)), T),
    ("rot90, -1, axes", lambda x: np.rot90(x, -1, (1, 2)), T),
    ("roll", lambda x: np.roll(x, 2), M),
    ("roll, back", lambda x: np.roll(x, -1), V),
    ("roll, far", lambda x: np.roll(x, 17), L),
    ("roll, axis", lambda x: np.roll(x, 1, axis=1), T),
    ("roll, axes", lambda x: np.roll(x, (1, -2), axis=(0, 2)), T),
    ("roll, one shift, axes", lambda x: np.roll(x, 1, axis=(0, 1)), M),
    ("roll, an axis twice", lambda x: np.roll(x, (1, 1), axis=(1, 1)), M),
    ("roll of nothing", lambda x: np.roll(x, 1, axis=0), EMPTY),
    ("moveaxis", lambda x: np.moveaxis(x, 0, -1), T),
    ("moveaxis, axes", lambda x: np.moveaxis(x, [0, 1], [-1, -2]), T),
    ("rollaxis", lambda x: np.rollaxis(x, 2), T),
    ("rollaxis, start", lambda x: np.rollaxis(x, 0, 3), T),
    ("rollaxis, start -1", lambda x: np.rollaxis(x, 0, -1), T),
    ("matrix_transpose", np.matrix_transpose, T),
    ("linalg.matrix_transpose", np.linalg.matrix_transpose, T),
    ("permute_dims", lambda x: np.permute_dims(x, (1, 0, 2)), T),
    ("atleast_1d", np.atleast_1d, np.array(S)),
    ("atleast_1d of a vector", np.atleast_1d, V),
    ("atleast_1d of several", lambda x: np.atleast_1d(x, 2 * x)[1], np.array(S)),
    ("atleast_2d", np.atleast_2d, V),
    ("atleast_2d of a number", np.atleast_2d, np.array(S)),
    ("atleast_3d", np.atleast_3d, V),
    ("atleast_3d of a matrix", np.atleast_3d, M),
    ("atleast_3d of a number", np.atleast_3d, np.array(S)),
    ("broadcast_arrays", lambda x: np.broadcast_arrays(x, np.ones((2, 1)))[0], V),
    ("tile", lambda x: np.tile(x, 3), V),
    ("tile, more dimensions", lambda x: np.tile(x, (2, 2)), V),
    ("tile, fewer dimensions", lambda x: np.tile(x, 2), M),
    ("tile, dimensions", lambda x: np.tile(x, (2, 1, 3)), M),
    ("tile, none", lambda x: np.tile(x, (2, 0)), M),
    ("repeat", lambda x: np.repeat(x, 2), M),
    ("repeat, axis", lambda x: np.repeat(x, 3, axis=0), M),
    ("repeat, counts", lambda x: np.repeat(x, [2, 0, 1], axis=1), M),
    ("x.repeat", lambda x: x.repeat(2, axis=1), M),
    ("repeat of a number", lambda x: np.repeat(x, 3), np.array(S)),
    ("resize", lambda x: np.resize(x, (3, 4)), M),
    ("hstack", lambda x: np.hstack([x, 2 * x]), V),
    ("hstack of matrices", lambda x: np.hstack([x, 2 * x, np.ones((2, 1))]), M),
    ("hstack of numbers", lambda x: np.hstack([x[0], x[1], 3.0]), V),
    ("hstack of an array", np.hstack, T),
    ("vstack", lambda x: np.vstack([x, 2 * x]), V),
    ("vstack of matrices", lambda x: np.vstack([x, A]), M),
    ("dstack", lambda x: np.dstack([x, 2 * x]), M),
    ("dstack of vectors", lambda x: np.dstack([x, 2 * x]), V),
    ("column_stack", lambda x: np.column_stack([x, x**2, np.ones((3, 2))]), V),
    ("block", lambda x: np.block([[x, np.ones((2, 1))], [np.zeros((1, 3)), np.ones((1, 1))]]), M),
    ("block of vectors", lambda x: np.block([x, 2.0, x]), V),
    ("append", lambda x: np.append(x, 2 * x), M),
    ("append, axis", lambda x: np.append(x, [[1.0, 2.0, 3.0]], axis=0), M),
    ("delete", lambda x: np.delete(x, 1, axis=1), M),
    ("delete, flat", lambda x: np.delete(x, [0, 3]), M),
    ("split", lambda x: np.split(x, 3, axis=1)[2], M),
    ("split, places", lambda x: np.concatenate(np.split(x, [1, 3])[::-1]), L),
    ("split, places beyond", lambda x: np.split(x, [1, 9])[1], L),
    ("array_split", lambda x: np.array_split(x, 2)[0] * np.array_split(x, 2)[1][0], L),
    ("hsplit", lambda x: np.hsplit(x, 3)[1], M),
    ("hsplit of a vector", lambda x: np.hsplit(x, 3)[1], V),
    ("vsplit", lambda x: np.vsplit(x, 2)[1], M),
    ("dsplit", lambda x: np.dsplit(x, 2)[1], T),
    ("triu", np.triu, M),
    ("triu, k", lambda x: np.triu(x, 1), A),
    ("triu, -k", lambda x: np.triu(x, k=-1), A),
    ("tril", np.tril, M),
    ("tril of stacks", lambda x: np.tril(x, -1), T),
    ("tril of a vector", np.tril, V),
    ("take", lambda x: np.take(x, [0, 2, 2], axis=1), M),
    ("take, flat", lambda x: np.take(x, [[5, 0], [1, 1]]), M),
    ("take, one", lambda x: np.take(x, 1, axis=0), M),
    ("take of a number", lambda x: np.take(np.sum(x * x, keepdims=True)[0], [0, -1, 0], axis=0), V),
    ("take of an array of no axes", lambda x: np.take(np.reshape(x[:1], ()), [0, 0], axis=0), V),
    ("take, wrap", lambda x: np.take(x, [-1, 4], mode="wrap"), V),
    ("take, clip", lambda x: np.take(x, [-1, 4], mode="clip"), V),
    ("x.take", lambda x: x.take([1, 0], 0), M),
    ("take_along_axis", lambda x: np.take_along_axis(x, np.array([[2, 0], [1, 1]]), axis=1), M),
    ("take_along_axis, one row", lambda x: np.take_along_axis(x, np.array([[1, 0, 1]]), axis=0), M),
    ("take_along_axis, flat", lambda x: np.take_along_axis(x, np.array([5, 1]), axis=None), M),
    ("choose", lambda x: np.choose(np.array([1, 0, 1]), [x[0], x[1]]), M),
    ("choose, array", lambda x: np.choose(np.array([1, 0, 1]), x), M),
    ("choose, wrap", lambda x: np.choose(np.array([-1, 2, 5]), [x[0], x[1]], mode="wrap"), M),
    ("compress", lambda x: np.compress([True, False, True], x, axis=1), M),
    ("extract", lambda x: np.extract(np.array([True, False, True]), x), V),
    ("meshgrid", lambda x: np.meshgrid(x, 2 * x[:2])[0], V),
    ("meshgrid, second", lambda x: np.meshgrid(V, x)[1], L),
    ("meshgrid, ij", lambda x: np.meshgrid(x, V, [1.0, 2.0], indexing="ij")[0], L),
    ("meshgrid, sparse", lambda x: np.meshgrid(V, x, sparse=True)[1], L),
    ("meshgrid of one", lambda x: np.meshgrid(x)[0], V),
    ("pad", lambda x: np.pad(x, 2), V),
    ("pad, widths", lambda x: np.pad(x, ((1, 0), (2, 3))), M),
    ("pad, constants", lambda x: np.pad(x, 1, constant_values=((1.0, 2.0), (3.0, 4.0))), M),
    ("pad, constant", lambda x: np.pad(x, (2, 1), "constant", constant_values=7.0), V),
    ("pad, traced constant", lambda x: np.pad(x, 1, constant_values=x[0] * x[1]), V),
    ("pad, edge", lambda x: np.pad(x, ((1, 2), (0, 1)), "edge"), M),
    ("pad, wrap", lambda x: np.pad(x, (2, 4), "wrap"), V),
    ("pad, reflect", lambda x: np.pad(x, (2, 4), "reflect"), V),
    ("pad, symmetric", lambda x: np.pad(x, 2, mode="symmetric"), M),
    ("pad of nothing", lambda x: np.pad(x, ((1, 1), (0, 0))), EMPTY),
]

CHOSEN: list[Case] = [
    ("select", lambda x: np.select([x > 1, x > 0], [x**2, -x], default=3.0), V),
    ("select, traced default", lambda x: np.select([x > 1], [x**2], 5 * x), V),
    ("sort", np.sort, M),
    ("sort, axis", lambda x: np.sort(x, axis=0), T[:, ::-1]),
    ("sort, flat", lambda x: np.sort(x, axis=None), M),
    ("sort, stable", lambda x: np.sort(x, kind="stable"), M),
    ("sort of squares", lambda x: np.sort(x * x), L),
    ("partition", lambda x: np.partition(x, 1), M),
    ("partition, axis", lambda x: np.partition(x, (0, 1), axis=0), T[:, ::-1]),
    ("partition, flat", lambda x: np.partition(x, -2, axis=None), M),
    ("partition of squares", lambda x: np.partition(x * x, 1), L),
    ("by argpartition", lambda x: x[np.argpartition(x, 1)], L),
    ("by argsort", lambda x: x[np.argsort(x)], L),
    ("by x.argsort()", lambda x: np.take_along_axis(x, x.argsort(axis=0), 0), A),
    ("extract, traced condition", lambda x: np.extract(x > 0, x), V),
]

if hasattr(np, "unstack"):
    MOVED += [
        ("unstack", lambda x: np.unstack(x)[1], M),
        ("unstack, axis", lambda x: np.unstack(x, axis=-1)[2], T),
    ]


@pytest.mark.parametrize(("f", "x"), [c[1:] for c in MOVED], ids=[c[0] for c in MOVED])
def test_what_is_moved(f: Callable[[Any], Any], x: Any) -> None:
    check(f, x)
    check(lambda y: f(y * y + y) ** 2, x)


@pytest.mark.parametrize(("f", "x"), [c[1:] for c in CHOSEN], ids=[c[0] for c in CHOSEN])
def test_what_is_chosen(f: Callable[[Any], Any], x: Any) -> None:
    check(f, x, analytic=False)


def test_equal_items_keep_their_order_when_sorted() -> None:
    x = np.array([2.0, 1.0, 2.0, 1.0])
    np.testing.assert_array_equal(hoad.jacobian(np.sort)(x), np.eye(4)[[1, 3, 0, 2]])


def test_equal_items_keep_their_order_in_a_partition() -> None:
    x = np.array([2.0, 1.0, 2.0, 1.0, 2.0, 3.0])
    places = hoad.jacobian(lambda x: np.partition(x, 2))(x).argmax(axis=1)
    np.testing.assert_array_equal(x[places], np.partition(x, 2))
    np.testing.assert_array_equal(places[x[places] == 1.0], [1, 3])
    np.testing.assert_array_equal(places[x[places] == 2.0], [0, 2, 4])


def test_a_partition_is_found_again_when_a_program_is_replayed() -> None:
    program = hoad.gradient(hoad.record(lambda x: np.partition(x, 1)[1] ** 2, np.array([3.0, 1.0, 2.0])))
    for x in ([3.0, 1.0, 2.0], [1.0, 5.0, 9.0], [4.0, -1.0, 0.5]):
        middle = int(np.argsort(x)[1])
        np.testing.assert_array_equal(program.evaluate(np.array(x)), np.eye(3)[middle] * 2 * x[middle])


def test_nan_is_sorted_last() -> None:
    x = np.array([np.nan, 1.0, 0.5])
    assert_same(hoad.jvp(np.sort, (x,), (np.ones(3),))[0], np.array([0.5, 1.0, np.nan]))


def test_the_order_is_found_again_when_a_program_is_replayed() -> None:
    program = hoad.gradient(hoad.record(lambda x: np.sort(x) @ np.array([1.0, 10.0, 100.0]), np.array([3.0, 1.0, 2.0])))
    np.testing.assert_array_equal(program.evaluate(np.array([1.0, 2.0, 3.0])), [1.0, 10.0, 100.0])
    np.testing.assert_array_equal(program.evaluate(np.array([1.0, 3.0, 2.0])), [1.0, 100.0, 10.0])


def test_what_a_triangle_leaves_out_is_a_strong_zero() -> None:
    x = np.array([[1.0, 0.0], [4.0, 9.0]])
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(np.tril(np.sqrt(x))))(x), [[0.5, 0.0], [0.25, 1 / 6]])


@pytest.mark.parametrize("shape", [(), 5, (2, 2), (0, 2)])
def test_resize(shape: Any) -> None:
    check(lambda x: np.resize(x, shape), V)
    assert_same(hoad.jvp(lambda x: np.resize(x[:0], shape), (V,), (V,))[0], np.resize(V[:0], shape))


def test_booleans_choose_as_0_and_1() -> None:
    mask = np.array([True, True, False])
    check(lambda x: np.choose(mask, [x, 2 * x]), V)
    check(lambda x: np.choose((x > 0).real, [x, 2 * x]), V)
    check(lambda x: np.take(x, mask), V)


def test_float32_and_integers_stay() -> None:
    x = M.astype(np.float32)
    for f in (lambda x: np.pad(x, 1, "edge"), lambda x: np.pad(x, 1), lambda x: np.roll(x, 1), np.sort, np.tril):
        assert hoad.jacobian(f)(x).dtype == np.float32


REFUSED: list[tuple[str, Callable[[Any], Any], str]] = [
    ("sort, order", lambda x: np.sort(x, order="f"), "order="),
    ("repeat, traced", lambda x: np.repeat(x, x), "hoad.value"),
    ("roll, traced", lambda x: np.roll(x, x[0]), "hoad.value"),
]


@pytest.mark.parametrize(("f", "message"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_what_is_refused(f: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(hoad.NoRuleError, match=message):
        hoad.jacobian(f)(V)


WRONG: list[tuple[str, Callable[[Any], Any], str]] = [
    ("fliplr", lambda x: np.fliplr(x), "2-d"),
    ("rot90", lambda x: np.rot90(x), "axis|2-d|out of bounds|Axes"),
    ("rot90, axes", lambda x: np.rot90(np.stack([x, x]), 1, (0, 0)), "different"),
    ("moveaxis", lambda x: np.moveaxis(np.stack([x, x]), [0, 1], [0]), "source|each must be given once"),
    ("split", lambda x: np.split(x, 2), "equal division"),
    ("hsplit", lambda x: np.hsplit(x[0], 1), "dimensions"),
    ("vsplit", lambda x: np.vsplit(x, 1), "dimensions"),
    ("take", lambda x: np.take(x, 5), "out of bounds"),
    ("take_along_axis", lambda x: np.take_along_axis(x, np.array([[0]]), 0), "same number"),
    ("select", lambda x: np.select([x > 0], [x, x]), "same length"),
    ("select of nothing", lambda x: np.select([], [], x), "empty condition list"),
    ("meshgrid", lambda x: np.meshgrid(x, x, indexing="yx"), "Valid values"),
    ("block", lambda x: np.block([[x], x]), "depths are mismatched"),
    ("block of nothing", lambda x: np.block([[x], []]), "empty"),
]


@pytest.mark.parametrize(("f", "message"), [c[1:] for c in WRONG], ids=[c[0] for c in WRONG])
def test_what_does_not_fit(f: Callable[[Any], Any], message: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        f(V)
    with pytest.raises((ValueError, IndexError), match=message):
        hoad.jacobian(lambda x: np.ravel(f(x)[0]))(V)


# (shape, axis): the places are looked at although the result has no items, unless there is nothing before the axis.
@pytest.mark.parametrize(
    ("shape", "axis"), [((0, 0), 0), ((0, 0), 1), ((2, 0), 0), ((2, 0), 1), ((0, 2), 0), ((0,), 0)]
)
@pytest.mark.parametrize("places", [[0, 1, -1], [5], []])
def test_places_in_an_array_without_items_are_looked_at_as_in_numpy(
    shape: tuple[int, ...], axis: int, places: list[int]
) -> None:
    def shape_of(x: Any) -> Any:
        try:
            return np.take(x, np.array(places, int), axis=axis).shape
        except IndexError:
            return IndexError

    met = []
    hoad.record(lambda x: met.append(shape_of(x)) or 0.0, np.zeros(shape))
    assert met == [shape_of(np.zeros(shape))]
