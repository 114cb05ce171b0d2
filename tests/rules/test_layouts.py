"""Every rule at other shapes, memory layouts and dtypes: the numbers that test_elementwise found in rows of float64."""

from __future__ import annotations

import functools
import itertools
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from rules.arrays import examples
from rules.cases import CASES, Elementwise, Structured
from rules.modes import along, multi_indices, pointwise, words

import hoad

ELEMENTWISE = [case for case in CASES if isinstance(case, Elementwise)]
STRUCTURED = [case for case in CASES if isinstance(case, Structured)]
each_elementwise = pytest.mark.parametrize("case", ELEMENTWISE, ids=lambda case: case.name)
each_structured = pytest.mark.parametrize("case", STRUCTURED, ids=lambda case: case.name)

Arrays = tuple[np.ndarray, ...]

# Shapes of one operand, and of two that are broadcast together.
ONE = [(), (1,), (4,), (2, 3), (2, 1, 2)]
TWO = [((3, 1), (4,)), ((), (2, 3)), ((2, 3), ()), ((2, 3), (1, 3)), ((2, 1), (1, 1, 3)), ((1,), ()), ((2, 2), (2, 2))]


def rng_of(case: Elementwise | Structured) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(case.name.encode()))


def operands(case: Elementwise, shapes: Any) -> Arrays:
    """Points of the row at these shapes."""
    rng = rng_of(case)
    size = max(int(np.prod(shape)) for shape in shapes)
    columns = case.sample(rng, max(size, 8))
    return tuple(x[: int(np.prod(s))].reshape(s) for x, s in zip(columns, shapes, strict=True))


def partial_at(case: Elementwise, by: tuple[int, ...], xs: Arrays) -> np.ndarray:
    """A partial derivative in float64, computed in one row of all points and put in the broadcast shape."""
    full = np.broadcast_arrays(*xs)
    rows = [x.ravel() if x.dtype.kind == "i" else x.ravel().astype(float) for x in full]
    found = partial_of_rows(case, by, *[(x.dtype, x.tobytes()) for x in rows])
    return found.reshape(full[0].shape)


@functools.lru_cache(maxsize=64)
def partial_of_rows(case: Elementwise, by: tuple[int, ...], *rows: tuple[np.dtype, bytes]) -> np.ndarray:
    """The same of rows, once for the layouts of one point and the orders that ask for it."""
    xs = [np.frombuffer(data, dtype).copy() for dtype, data in rows]
    found = np.asarray(pointwise(case.f, "f" * len(by), by)(*xs))
    found.flags.writeable = False
    return found


def contraction(case: Elementwise, xs: Arrays, weights: np.ndarray, directions: list[Arrays]) -> tuple[float, float]:
    """Σ w ∂ₐ∂ᵦ… f vₐ uᵦ …, and the same of absolute values."""
    total, size = 0.0, 0.0
    for by in itertools.product(case.wrt, repeat=len(directions)):
        term = weights * partial_at(case, tuple(sorted(by)), xs)
        for k, direction in zip(by, directions, strict=True):
            term = term * direction[case.wrt.index(k)]
        total += np.sum(term)
        size += np.sum(abs(term))
    return float(total), float(size)


def summed_to(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """x summed over the axes that broadcasting from `shape` added or stretched."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    return x.sum(axis=tuple(d for d, n in enumerate(shape) if n == 1), keepdims=True)


def split(case: Elementwise, xs: Arrays) -> tuple[Callable[..., Any], Arrays]:
    """f of the operands that have derivatives, and these."""
    count = len(case.wrt)
    return lambda *args, f=case.f: f(*args, *xs[count:]), xs[:count]


def in_turn(case: Elementwise, k: int, order: int) -> str:
    """The mode of an order for the kth shape or layout: a row meets all of them, and so does a shape, in some row."""
    modes = words(order)
    return modes[(k + zlib.crc32(case.name.encode())) % len(modes)]


def check(case: Elementwise, xs: Arrays, modes: Sequence[str]) -> None:
    """Gradients entry by entry, and contractions in these modes."""
    rng = np.random.default_rng(5)
    f, active = split(case, xs)
    full = np.broadcast_shapes(*[x.shape for x in xs])
    weights = rng.uniform(0.5, 1.0, full)

    gradients = hoad.grad(lambda *args: np.sum(weights * f(*args)), tuple(range(len(active))))(*active)
    for k, (x, g) in enumerate(zip(active, gradients, strict=True)):
        term = weights * partial_at(case, (k,), xs)
        assert np.shape(g) == x.shape and np.asarray(g).dtype == x.dtype
        assert np.all(abs(g - summed_to(term, x.shape)) <= 1e-13 * summed_to(abs(term), x.shape))

    scaled = [tuple(abs(x) * rng.uniform(-0.5, 0.5, x.shape) for x in active) for _ in range(max(map(len, modes)))]
    for word in modes:
        order = len(word)
        want, size = contraction(case, xs, weights, scaled[:order])
        if order > 1:
            got = along(lambda *args: np.sum(weights * f(*args)), word, scaled[:order])(*active)
        else:
            value, tangent = hoad.jvp(f, active, scaled[0])
            assert np.shape(value) == np.shape(tangent) == full
            got = np.sum(weights * tangent)
        assert abs(got - want) <= 1e-13 * size + 1e-300, f"{case.name} at {[x.shape for x in xs]} by {word}"


@each_elementwise
def test_shapes(case: Elementwise) -> None:
    for k, shapes in enumerate([(s,) for s in ONE] if len(case.at) == 1 else TWO):
        check(case, operands(case, shapes), ["f", in_turn(case, k, 2)])  # by "r" these are the gradients


@each_elementwise
def test_memory_layouts(case: Elementwise) -> None:
    """Fortran order, views with gaps, views that run backwards, and broadcast views without memory of their own."""
    count = len(case.at)
    xs = operands(case, [(2, 3)] * count)
    layouts: list[Callable[[np.ndarray], np.ndarray]] = [
        np.asfortranarray,
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        lambda x: np.ascontiguousarray(x[::-1])[::-1],
        lambda x: np.broadcast_to(x[:, :1], (2, 3)),
    ]
    for k, layout in enumerate(layouts):
        viewed = tuple(layout(x) for x in xs)
        assert not all(x.flags.c_contiguous for x in viewed)
        check(case, viewed, ["f", in_turn(case, k, 2)])


@each_elementwise
def test_third_order_on_matrices(case: Elementwise) -> None:
    check(case, operands(case, [(2, 2)] * len(case.at)), words(3))


@each_elementwise
def test_empty_arrays(case: Elementwise) -> None:
    count = len(case.at)
    for k, shapes in enumerate(([(0,)] * count, [(2, 0, 3)] * count, [(0, 1), (3,)][:count])):
        xs = operands(case, shapes)
        f, active = split(case, xs)
        ones = tuple(np.ones_like(x) for x in active)
        full = np.broadcast_shapes(*shapes)
        for word in ("f", in_turn(case, k, 2)):
            assert along(lambda *args, f=f: np.sum(f(*args)), word, [ones] * len(word))(*active) == 0.0
        gradients = hoad.grad(lambda *args, f=f: np.sum(f(*args)), tuple(range(len(active))))(*active)
        assert [g.shape for g in gradients] == [x.shape for x in active]
        assert not any(g.any() for g in gradients)
        assert hoad.jvp(f, active, ones)[1].shape == full
        for mode in ("forward", "reverse"):
            assert hoad.jacobian(f, mode=mode)(*active).shape == full + active[0].shape
        assert hoad.hessian(lambda *args, f=f: np.sum(f(*args)))(*active).shape == active[0].shape * 2


# ---- float32 --------------------------------------------------------------------------------------------------------

SINGLE = 2e-6
FIRST = 40  # points, before all are tried


def single_precision_points(case: Elementwise) -> Arrays:
    """Six points at which everything up to order 3 is well inside the range of float32."""
    xs = case.sample(rng_of(case), 100 if case.few else 2000)
    with np.errstate(over="ignore"):
        xs = tuple(x.astype(np.float32).astype(float) if x.dtype.kind == "f" else x for x in xs)
    found = np.flatnonzero(is_moderate(case, tuple(x[:FIRST] for x in xs)))  # most often enough
    if len(found) < 6:
        found = np.flatnonzero(is_moderate(case, xs))
    assert len(found) >= 6
    return tuple(x[found[:6]] for x in xs)


def is_moderate(case: Elementwise, xs: Arrays) -> np.ndarray:
    """At which points everything up to order 3 is well inside the range of float32."""
    fits = np.ones(len(xs[0]), dtype=bool)
    for x in xs:
        fits &= (abs(x) < 1e4) & ((abs(x) > 1e-4) | (x == 0))
        for center in case.singular:
            fits &= abs(x - center) > 1e-2
    for order in range(1, 4):
        for by in multi_indices(len(xs), order):
            if set(by) <= set(case.wrt):
                with np.errstate(all="ignore"):
                    size = abs(partial_at(case, by, xs))
                fits &= (size < 1e12) & ((size > 1e-12) | (size == 0))
    return fits


@pytest.mark.parametrize("case", [case for case in ELEMENTWISE if case.single], ids=lambda case: case.name)
def test_float32(case: Elementwise) -> None:
    """What comes in float32 stays so in every mode, and is right to its last digits."""
    exact = single_precision_points(case)
    xs = tuple(x.astype(np.float32) if x.dtype.kind == "f" else x for x in exact)
    f, active = split(case, xs)
    double = case.f(*xs).dtype == np.float64  # float_power has no loop for less
    for order in (1, 2):
        for by in multi_indices(len(xs), order):
            if not set(by) <= set(case.wrt):
                continue
            want = partial_at(case, by, exact)
            scale = abs(want) + 1e-14
            for k in case.wrt:
                scale = scale + abs(exact[k] * partial_at(case, tuple(sorted((*by, k))), exact))
            for word in words(order):
                got = pointwise(f, word, by)(*active)
                assert got.dtype == (np.float64 if double and word[0] == word[-1] == "f" else np.float32)
                assert np.all(abs(got - want) <= SINGLE * scale), f"{case.name} {by} by {word}: {got} is not {want}"


# ---- operations on arrays -------------------------------------------------------------------------------------------


def weighted(case: Structured, weights: np.ndarray) -> Callable[..., Any]:
    return lambda *xs, f=case.f: np.sum(weights * f(*xs))


@each_structured
def test_memory_layouts_of_arrays(case: Structured) -> None:
    for xs in examples(case):
        weights = np.random.default_rng(6).uniform(-1.0, 1.0, np.shape(case.f(*xs)))
        gradients = hoad.grad(weighted(case, weights), tuple(range(len(xs))))
        want = gradients(*xs)
        directions = tuple(np.cos(x) for x in xs)
        for layout in (lambda x: np.array(x, order="F"), lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x):
            viewed = tuple(layout(x) for x in xs)
            # what is computed of it has views in another order of memory, and sums in another order
            for g, w in zip(gradients(*viewed), want, strict=True):
                np.testing.assert_allclose(g, w, rtol=1e-13, atol=1e-14)
            np.testing.assert_array_equal(hoad.jvp(case.f, viewed, directions)[1], hoad.jvp(case.f, xs, directions)[1])


@each_structured
def test_float32_of_arrays(case: Structured) -> None:
    for xs in examples(case):
        single = tuple(x.astype(np.float32) for x in xs)
        exact = tuple(x.astype(float) for x in single)
        weights = np.random.default_rng(7).uniform(-1.0, 1.0, np.shape(case.f(*xs)))
        everywhere = tuple(range(len(xs)))
        for order in (1, 2) if case.orders > 1 else (1,):
            directions = [tuple(np.cos(x + k) for x in exact) for k in range(order - 1)]
            halves = [tuple(v.astype(np.float32) for v in direction) for direction in directions]
            for word in words(order - 1) if order > 1 else [""]:
                f64 = along(weighted(case, weights), word, directions)
                f32 = along(weighted(case, weights.astype(np.float32)), word, halves)
                for g, w in zip(hoad.grad(f32, everywhere)(*single), hoad.grad(f64, everywhere)(*exact), strict=True):
                    assert np.asarray(g).dtype == np.float32 and np.shape(g) == np.shape(w)
                    assert np.all(abs(g - w) <= 1e-4 * (np.max(abs(w), initial=0.0) + 1.0)), f"{case.name} by {word}r"


EMPTY: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "sum": (lambda x: np.sum(x, axis=0), ((0, 3),)),
    "sum_all": (lambda x: np.sum(x) ** 2, ((0, 3),)),
    "sum_of_other_axis": (lambda x: np.sum(x, axis=1), ((0, 3),)),
    "prod": (lambda x: np.prod(x, axis=0), ((0, 3),)),
    "max_of_other_axis": (lambda x: np.max(x, axis=1), ((0, 3),)),
    "reshape": (lambda x: np.reshape(x, (3, 0)), ((0, 3),)),
    "transpose": (np.transpose, ((0, 3),)),
    "broadcast_to": (lambda x: np.broadcast_to(x, (0, 3)), ((1, 3),)),
    "getitem": (lambda x: x[2:2], ((4,),)),
    "getitem_of_nothing": (lambda x: x[::-1, 1:], ((0, 3),)),
    "gather": (lambda x: x[np.array([], dtype=int)], ((4, 2),)),
    "gather_where": (lambda x: x[np.array([False, False])], ((2, 3),)),
    "concatenate": (lambda x, y: np.concatenate([x, y]), ((0, 2), (3, 2))),
    "stack": (lambda x, y: np.stack([x, y]), ((0, 2), (0, 2))),
    "matmul_of_nothing": (np.matmul, ((2, 0), (0, 3))),
    "matmul_of_no_rows": (np.matmul, ((0, 2), (2, 3))),
    "dot_of_nothing": (np.dot, ((0,), (0,))),
    "outer": (np.outer, ((0,), (3,))),
    "solve_of_no_matrices": (np.linalg.solve, ((0, 2, 2), (0, 2, 1))),
    "inv_of_no_matrices": (np.linalg.inv, ((0, 2, 2),)),
    "det_of_no_matrices": (np.linalg.det, ((0, 2, 2),)),
    "norm": (np.linalg.norm, ((0,),)),
    "where": (lambda x: np.where(x > 0, x, 1.0), ((0, 2),)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_operands_of_arrays(name: str) -> None:
    f, shapes = EMPTY[name]
    xs = tuple(np.random.default_rng(8).uniform(0.5, 1.5, s) for s in shapes)
    ones = tuple(np.ones_like(x) for x in xs)
    value, tangent = hoad.jvp(f, xs, ones)
    np.testing.assert_array_equal(value, f(*xs))
    assert np.shape(tangent) == np.shape(value)
    gradients = hoad.grad(lambda *args: np.sum(f(*args)), tuple(range(len(xs))))(*xs)
    assert [g.shape for g in gradients] == list(shapes)
    assert np.isclose(np.sum(tangent), sum(np.sum(g) for g in gradients), rtol=1e-14, atol=0.0)
    for order in (2, 3):
        found = [along(lambda *args: np.sum(f(*args)), word, [ones] * order)(*xs) for word in words(order)]
        assert np.isfinite(found).all() and np.ptp(found) == 0.0
    for mode in ("forward", "reverse"):
        assert hoad.jacobian(f, mode=mode)(*xs).shape == np.shape(value) + shapes[0]
