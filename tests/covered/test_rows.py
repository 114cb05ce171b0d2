"""Each row of the tables: values as of a plain call, derivatives as of an oracle, to order 4 and in every mode."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import assert_same, by_differences, check
from covered.names import ROWS, TABLES
from covered.rows import Kind, Row
from rules.modes import along, some_words

import hoad
from hoad._core.trace.traced import is_traced
from hoad.errors import HoadError, JitWarning

pytestmark = pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # from NumPy 2.5 on


def of_kind(*kinds: Kind) -> Any:
    rows = [row for row in ROWS if row.kind in kinds]
    return pytest.mark.parametrize("row", rows, ids=Row.label)


def leaves(result: Any) -> list[Any]:
    """What a function returns, as a flat list."""
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    return [result]


def is_number(leaf: Any) -> bool:
    return isinstance(leaf, (bool, int, float, complex, np.generic, np.ndarray))


def is_inexact(leaf: Any) -> bool:
    return is_number(leaf) and np.asarray(leaf).dtype.kind in "fc"


def parts(row: Row) -> Iterator[tuple[Any, Any]]:
    """(a function that gives one of the results, that result) for each; a complex one in two parts."""
    for k, leaf in enumerate(leaves(row.f(row.x))):
        if is_inexact(leaf) and np.iscomplexobj(leaf):
            yield (lambda x, k=k: np.real(leaves(row.f(x))[k])), np.real(leaf)
            yield (lambda x, k=k: np.imag(leaves(row.f(x))[k])), np.imag(leaf)
        else:
            yield (lambda x, k=k: leaves(row.f(x))[k]), leaf


def traced_result(f: Callable[[Any], Any], x: Any, direction: Any = None) -> tuple[list[Any], list[Any]]:
    """(what f returns for a traced x, its tangents), each as a flat list; whatever is not a float has none."""
    direction = np.zeros_like(x) if direction is None else direction
    seen: list[Any] = []

    def of_floats(x: Any) -> Any:
        result = leaves(f(x))
        seen[:] = [None if is_inexact(hoad.value(leaf)) else hoad.value(leaf) for leaf in result]
        return [leaf for leaf in result if is_inexact(hoad.value(leaf))] or 0.0 * np.sum(x)

    values, tangents = hoad.jvp(of_floats, (x,), (direction,))
    floats = iter(leaves(values))
    return [next(floats) if leaf is None else leaf for leaf in seen], leaves(tangents) if any(
        leaf is None for leaf in seen
    ) else []


def assert_results(found: list[Any], plain: list[Any], row: Row, rtol: float = 1e-13) -> None:
    assert len(found) == len(plain)
    for a, b in zip(found, plain, strict=True):
        if not is_number(b):
            assert type(a) is type(b) and a == b
        elif row.exact or not is_inexact(b):
            assert_same(a, b)
        else:
            assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


def plain_results(f: Callable[[Any], Any], x: Any) -> list[Any] | None:
    """What f returns, or None where it takes no such x or has no value there."""
    try:
        return leaves(f(x))
    except Exception:
        return None


def has_numbers(row: Row) -> bool:
    return isinstance(row.x, np.ndarray) and row.x.size > 0


def another(row: Row) -> Any:
    """A second point, at which branches go elsewhere if they can: the numbers of x in another order."""
    if row.second is not None:
        return row.second
    for y in (np.roll(row.x, 1), 0.9 * row.x):
        if plain_results(row.f, y) is not None:
            return y
    return row.x


def test_labels_tell_the_rows_of_a_table_apart() -> None:
    for table, rows in TABLES.items():
        assert not [label for label, n in Counter(map(Row.label, rows)).items() if n > 1], table


@of_kind(Kind.DIFFERENTIABLE)
def test_derivatives(row: Row) -> None:
    check_first_derivatives(row)
    check_higher_derivatives(row)


def check_first_derivatives(row: Row) -> None:
    for f, leaf in parts(row):
        if is_inexact(leaf):
            check(f, row.x, analytic=row.analytic, exact=row.exact)
    if has_numbers(row):
        check_single_precision(row)
    if has_numbers(row) and row.analytic:
        check_complex_arguments(row)


def check_higher_derivatives(row: Row) -> None:
    """Of the composition with a function that is not linear, so that no order vanishes by itself.

    They are one in every mode; above order 2 a row has two of them.
    """
    rng = np.random.default_rng(len(row.name))
    x = np.asarray(row.x, dtype=float)
    chosen = [k for k, (_, leaf) in enumerate(parts(row)) if is_inexact(leaf)]

    def total(y: Any) -> Any:
        results = []
        for leaf in leaves(row.f(y)):
            results += [leaf.real, leaf.imag] if np.iscomplexobj(hoad.value(leaf)) else [leaf]
        return sum(np.sum(np.sin(1.0 + results[k])) for k in chosen)

    for order in (2, 3, 4):
        directions = [(rng.uniform(-1.0, 1.0, x.shape),) for _ in range(order)]
        found = [float(along(total, word, directions)(x)) for word in some_words(order, row.name)]
        assert np.allclose(found, found[0], rtol=1e-9, atol=1e-9 * max(1.0, abs(found[0]))), (order, found)
    series = hoad.derivatives(lambda t: total(x + t * directions[0][0]), 4)(0.0)
    repeated = [float(along(total, "f" * n, directions[:1] * n)(x)) for n in (1, 2, 3, 4)]
    assert np.allclose(series[1:], repeated, rtol=1e-8, atol=1e-8 * max(map(math.fabs, repeated)))


@of_kind(Kind.DIFFERENTIABLE, Kind.CONSTANT, Kind.STRUCTURAL)
def test_values(row: Row) -> None:
    check_traced_and_jitted(row)
    if isinstance(row.x, np.ndarray) and row.x.dtype.kind in "fc":
        check_of_a_traced_constant(row)
    if row.kind is not Kind.STRUCTURAL:
        check_mapped(row)
        if has_numbers(row):
            check_layouts(row)


def check_traced_and_jitted(row: Row) -> None:
    """A replay at another point takes the branches of that point: a decision on a constant is guarded as any."""
    x, y = row.x, another(row)
    plain = leaves(row.f(x))
    assert_results(traced_result(row.f, x)[0], plain, row)
    jitted = hoad.jit(row.f)
    with warnings.catch_warnings():
        if not all(map(is_number, plain)):
            warnings.simplefilter("ignore", JitWarning)  # no compilation of what returns other objects
        jitted(x)
        assert_results(leaves(jitted(x)), plain, row)
        assert_results(leaves(jitted(y)), leaves(row.f(y)), row)


def check_of_a_traced_constant(row: Row) -> None:
    """An array of plain numbers that traced ones may be written to, none of which was."""
    found: list[Any] = []

    def f(t: Any) -> Any:
        given = np.array(row.x, like=t) if is_traced(t) else row.x.copy()
        found.append([hoad.value(leaf) for leaf in leaves(row.f(given))])
        return t

    assert hoad.grad(f)(1.0) == 1.0
    for leaf, plain in zip(found[0], leaves(row.f(row.x.copy())), strict=True):
        if np.asarray(plain).dtype.kind in "fciub":
            np.testing.assert_allclose(leaf, plain, rtol=1e-9, atol=1e-9)


def check_mapped(row: Row) -> None:
    """Beside a loop of Python, where the results have one shape."""
    points = np.stack([row.x, another(row), row.x])
    plain = [leaves(row.f(x)) for x in points]
    shapes = {tuple(map(np.shape, results)) for results in plain}
    if len(shapes) > 1 or not all(map(is_number, plain[0])):
        return
    found = leaves(hoad.vmap(row.f)(points))
    assert_results(found, [np.stack(column) for column in zip(*plain, strict=True)], row)


def check_layouts(row: Row) -> None:
    """Fortran-ordered, strided and reversed arguments, and a number in three classes where a plain call takes one."""
    wide = np.full([2 * n for n in row.x.shape], np.nan)
    every_other = wide[(*(slice(None, None, 2) for _ in row.x.shape), ...)]
    every_other[...] = row.x
    layouts = [every_other, row.x[::-1].copy()[::-1], np.asfortranarray(row.x)] if row.x.ndim else []
    number = float(row.x.flat[0])
    numbers = [np.array(number), np.float64(number), number]
    direction = np.linspace(0.5, 1.5, row.x.size).reshape(row.x.shape)
    if row.x.ndim:
        wanted = traced_result(row.f, row.x, direction)
    for x in layouts:
        found = traced_result(row.f, x, direction)
        assert_results(found[0], leaves(row.f(x)), replace(row, exact=False))  # NumPy adds in the order of memory
        for a, b in zip(found[1], wanted[1], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)
    for x in numbers:
        plain = plain_results(row.f, x)
        if plain is not None:
            assert_results(traced_result(row.f, x)[0], plain, row)


def check_single_precision(row: Row) -> None:
    x = row.x.astype(np.float32)
    plain = plain_results(row.f, x)
    if plain is None:
        return  # NumPy computes in double precision only
    direction = np.linspace(0.5, 1.5, x.size, dtype=np.float32).reshape(x.shape)
    values, tangents = traced_result(row.f, x, direction)
    exact = traced_result(row.f, x.astype(float), direction.astype(float))[1]
    inexact = [leaf for leaf in plain if is_inexact(leaf)]
    for found, wanted in zip(values, plain, strict=True):
        assert np.shape(found) == np.shape(wanted)
        if is_number(wanted):
            assert np.asarray(found).dtype == np.asarray(wanted).dtype
            np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5)
    for found, value, wanted in zip(tangents, inexact, exact, strict=True):
        assert np.asarray(found).dtype == np.asarray(value).dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4 * max(1.0, float(np.max(np.abs(wanted)))))


def check_complex_arguments(row: Row) -> None:
    """What is analytic has one derivative in the complex plane, which a difference in any direction finds."""
    rng = np.random.default_rng(len(row.name))
    imaginary, *direction = rng.uniform(-0.3, 0.3, (3, *row.x.shape))
    z, dz = row.x + 1j * imaginary, direction[0] + 1j * direction[1]
    plain = plain_results(row.f, z)
    assert plain is not None
    values, tangents = traced_result(row.f, z, dz)
    for k, (value, tangent, wanted) in enumerate(zip(values, tangents, plain, strict=True)):
        assert np.shape(value) == np.shape(wanted) and np.asarray(value).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(value, wanted, rtol=1e-12, atol=1e-12)
        for part in (np.real, np.imag):
            slope = by_differences(lambda t, k=k: part(leaves(row.f(z + t * dz))[k]), 0.0)
            scale = max(1.0, float(np.max(np.abs(slope), initial=0.0)))
            np.testing.assert_allclose(part(tangent), slope, rtol=0, atol=1e-8 * scale)


@of_kind(Kind.CONSTANT)
def test_no_derivative(row: Row) -> None:
    x = np.asarray(row.x, dtype=float)
    for f, leaf in parts(row):
        if is_inexact(leaf):
            assert not np.any(hoad.jacobian(f)(x))
        elif is_number(leaf):
            found = hoad.grad(lambda y, f=f: np.sum(y) + 0.0 * np.sum(np.asarray(hoad.value(f(y)), dtype=float)))(x)
            np.testing.assert_array_equal(found, np.ones_like(x))


@of_kind(Kind.IMPOSSIBLE)
def test_what_is_impossible_says_why(row: Row) -> None:
    assert row.note, "a reason, for the page"
    with pytest.raises((HoadError, TypeError, ValueError)) as failure:
        hoad.jvp(row.f, (row.x,), (np.zeros_like(row.x),))
    assert isinstance(failure.value, HoadError), f"Python's own error: {failure.value}"
