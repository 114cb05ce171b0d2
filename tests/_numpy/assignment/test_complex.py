"""Complex arrays that are written to, and views of their parts: which array sees what, and the derivatives.

The random programs are affine over the real numbers, so that NumPy itself says their derivatives by differences that
are exact but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.assignment.programs import advanced_index, basic_index
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hoad

F = Callable[[Any], Any]
Rng = np.random.Generator

X = np.array([0.5, -1.25, 2.0, 0.75])
V = np.array([1.0, -0.5, 0.25, 2.0])
CONSTANTS = [0.5, -1.0, 1j, 0.5 - 0.5j]
MOST = 10  # arrays


def zeros(x: Any, shape: tuple[int, ...], dtype: Any = complex) -> Any:
    return np.zeros(shape, dtype) if type(x) is np.ndarray else np.zeros(shape, dtype, like=x)


# ---- random programs ------------------------------------------------------------------------------------------------


def one(arrays: list[Any], rng: Rng) -> Any:
    return arrays[rng.integers(len(arrays))]


def fitting(arrays: list[Any], rng: Rng, a: Any, shape: tuple[int, ...]) -> Any:
    """A value that can be put into a shape of `a`: its real part, if `a` is real."""
    value: Any = CONSTANTS[rng.integers(len(CONSTANTS))]
    for k in rng.permutation(len(arrays)):
        own = arrays[k].shape
        if len(own) <= len(shape) and all(m in (1, n) for m, n in zip(own[::-1], shape[::-1], strict=False)):
            value = arrays[k]
            break
    return value if a.dtype.kind == "c" else value.real if rng.random() < 0.5 else np.imag(value)


def look(arrays: list[Any], rng: Rng) -> None:
    a = one(arrays, rng)
    index = (*(k for k in basic_index(rng, a.shape) if k is not ...), ...)
    looks: list[Callable[[], Any]] = [lambda: a[index], lambda: a.T, lambda: a.reshape(-1), lambda: a[..., ::-1]]
    arrays.append(looks[rng.integers(len(looks)) if a.ndim else 1]())


def part(arrays: list[Any], rng: Rng) -> None:
    a = one(arrays, rng)
    takes: list[Callable[[], Any]] = [lambda: a.real, lambda: a.imag, lambda: np.real(a), lambda: np.imag(a)]
    if a.dtype.kind == "c":
        arrays.append(takes[rng.integers(4)]())


def assign(arrays: list[Any], rng: Rng) -> None:
    a = one(arrays, rng)
    advanced = rng.random() < 0.4
    index = advanced_index(rng, a.shape) if advanced else (*basic_index(rng, a.shape),)
    value = fitting(arrays, rng, a, np.empty(a.shape)[index].shape)
    a[index] = 1.0 * value if advanced else value  # what overlaps, NumPy writes by lists and masks as it comes


def assign_part(arrays: list[Any], rng: Rng) -> None:
    a = one(arrays, rng)
    value = fitting(arrays, rng, a.real, a.shape)
    if a.dtype.kind == "c" and rng.random() < 0.5:
        a.imag = value
    else:
        a.real = value


def in_place(arrays: list[Any], rng: Rng) -> None:
    a = one(arrays, rng)
    value = fitting(arrays, rng, a, a.shape)
    how = rng.integers(4)
    if how == 0:
        a += value
    elif how == 1:
        a -= value
    elif how == 2 and a.dtype.kind == "c":
        a *= 0.5 + 0.5j
    else:
        a *= 0.5


def copied(arrays: list[Any], rng: Rng) -> None:
    a = one(arrays, rng)
    makes: list[Callable[[], Any]] = [lambda: a.copy(), lambda: np.zeros_like(a, complex)]
    makes += [
        lambda: 0.5 * np.conj(a),
        lambda: a * 0.5j,
        lambda: a.astype(complex),
        lambda: a.real * 0.5,
    ]
    arrays.append(makes[rng.integers(len(makes) if a.ndim else 2)]())  # others give numbers, which are not written to


OPERATIONS = {f.__name__: f for f in (look, part, assign, assign_part, in_place, copied)}
programs = st.lists(st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 10**6)), min_size=1, max_size=14)


def run(program: list[tuple[str, int]], x: Any) -> Any:
    """Both parts of all items of all arrays of the program."""
    arrays = [x * (1 + 0.5j), zeros(x, (2, 3)), zeros(x, (4,)).real, 1.0 * x]
    for name, seed in program:
        OPERATIONS[name](arrays, np.random.default_rng(seed))
        del arrays[MOST:]
    return np.concatenate([np.reshape(take(a), -1) for a in arrays for take in (np.real, np.imag)])


def check_program(program: list[tuple[str, int]]) -> None:
    f = lambda x: run(program, x)  # noqa: E731
    columns = np.stack([f(X + e) - f(X) for e in np.eye(4)], axis=1)
    close = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_array_equal(hoad.vjp(f, X)[0], f(X))
    np.testing.assert_allclose(hoad.jvp(f, (X,), (V,))[1], columns @ V, **close)
    weights = np.cos(np.arange(len(columns)))
    g = lambda x: np.sum(weights * np.sin(f(x)))  # noqa: E731
    np.testing.assert_allclose(hoad.grad(g)(X), columns.T @ (weights * np.cos(f(X))), **close)
    hessian = -columns.T @ (weights[:, None] * np.sin(f(X))[:, None] * columns)
    np.testing.assert_allclose(hoad.hessian(g)(X), hessian, **close)
    np.testing.assert_allclose(hoad.hvp(g)(X, V), hessian @ V, **close)
    recorded = hoad.gradient(hoad.record(g, X))
    np.testing.assert_allclose(recorded.evaluate(2 * X), columns.T @ (weights * np.cos(f(2 * X))), **close)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs)
def test_random_programs(program: list[tuple[str, int]]) -> None:
    check_program(program)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_many_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = sorted(OPERATIONS)
    for _ in range(100):
        check_program([(str(rng.choice(names)), int(rng.integers(10**6))) for _ in range(int(rng.integers(2, 25)))])


# ---- views of parts -------------------------------------------------------------------------------------------------

SOURCES: dict[str, F] = {
    "new": lambda x: x * (1 + 2j),
    "zeros": lambda x: zeros(x, (4,)),
    "matrix": lambda x: (x * 1j).reshape(2, 2),
    "view": lambda x: (x * 1j)[::-2],
    "part of a number as array": lambda x: (x * 1j)[1, ...],
    "single": lambda x: (x * 1j).astype(np.complex64),
    "real": lambda x: x * 2.0,
}
PARTS: dict[str, F] = {
    "a.real": lambda a: a.real,
    "np.real": lambda a: np.real(a),
    "a.imag": lambda a: a.imag,
    "np.imag": lambda a: np.imag(a),
    "a.real.T": lambda a: a.real.T,
    "a.T.imag": lambda a: a.T.imag,
    "a[...].real": lambda a: a[...].real,
    "a.imag.real": lambda a: a.imag.real,
    "a.imag.flat": lambda a: a.T.imag.reshape(-1),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("source", SOURCES)
def test_parts_are_views(source: str, part: str) -> None:
    if source == "real" and "imag" in part:
        pytest.skip("a real array has no imaginary part to write to")

    def program(x: Any) -> Any:
        a = SOURCES[source](x)
        b = PARTS[part](a)
        before = b * 1.0
        a[...] = a * 2.0 + 1.0 + (1j if a.dtype.kind == "c" else 0.0)
        seen = b * 1.0
        b[...] = x[0] * x[1]
        b += 0.25
        return np.concatenate([np.reshape(p, -1) for c in (before, seen, b, a) for p in (np.real(c), np.imag(c))])

    value, slope = hoad.jvp(program, (X,), (V,))
    np.testing.assert_array_equal(value, program(X))
    h = 1.0 / 1024
    np.testing.assert_allclose(slope, (program(X + h * V) - program(X - h * V)) / (2 * h), rtol=1e-4, atol=1e-4)


def test_a_part_that_was_read_before_a_write_is_not_stale() -> None:
    def f(x: Any) -> Any:
        y = x * 1j
        r = y.real
        y[0] = x[1] ** 3
        y.imag[1] = x[0] * x[2]
        return np.sum(r) + y.imag[1]

    np.testing.assert_allclose(hoad.grad(f)(X), [X[2], 3 * X[1] ** 2, X[0], 0.0])
    want = np.zeros((4, 4))
    want[0, 2] = want[2, 0] = 1.0
    want[1, 1] = 6 * X[1]
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(hoad.jacobian(hoad.grad(f), mode=mode)(X), want)
        np.testing.assert_allclose(hoad.jacobian(hoad.jacobian(f, mode=mode), mode=mode)(X), want)


def test_the_part_of_a_number_is_a_number() -> None:
    def f(x: Any) -> Any:
        y = x * 1j
        first = y[0].imag
        y[0] = 0.0
        return first**2

    np.testing.assert_array_equal(hoad.grad(f)(X), [2 * X[0], 0.0, 0.0, 0.0])


def test_a_recurrence_item_by_item() -> None:
    """yₖ = a yₖ₋₁ with y₀ = 1 has |yₙ|² = |a|²ⁿ."""
    n = 6

    def f(x: Any) -> Any:
        a = x[0] + 1j * x[1]
        y = np.zeros(n + 1, complex, like=x)
        y[0] = 1
        for k in range(n):
            y[k + 1] = a * y[k]
        return y.real[n] ** 2 + y.imag[n] ** 2

    x = np.array([0.8, 0.3])
    s = x @ x
    np.testing.assert_allclose(hoad.grad(f)(x), 2 * n * x * s ** (n - 1), rtol=1e-13)
    want = 2 * n * s ** (n - 1) * np.eye(2) + 4 * n * (n - 1) * s ** (n - 2) * np.outer(x, x)
    np.testing.assert_allclose(hoad.hessian(f)(x), want, rtol=1e-12)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(hoad.jacobian(hoad.grad(f), mode=mode)(x), want, rtol=1e-12)


# ---- what is refused ------------------------------------------------------------------------------------------------

NOT_HELD = r"an array of float64 cannot hold complex128 \(test_complex\.py:\d+\)\. Take np\.real or np\.imag, or make"
REFUSED: dict[str, tuple[F, type[Exception], str]] = {
    "complex into real": (lambda x: (x * 1.0).__setitem__(0, x[0] * 1j), hoad.DTypeError, NOT_HELD),
    "complex constant into real": (lambda x: (x * 1.0).__setitem__(0, 1j), hoad.DTypeError, NOT_HELD),
    "complex into a part": (lambda x: (x * 1j).real.__setitem__(0, x[0] * 1j), hoad.DTypeError, NOT_HELD),
    "complex into zeros": (
        lambda x: np.zeros(2, like=x).__setitem__(slice(None), x[:2] * 1j),
        hoad.DTypeError,
        NOT_HELD,
    ),
    "in place": (lambda x: (x * 1.0).__iadd__(1j), hoad.DTypeError, r"would give complex128 \(.*Write x = x \+ y"),
    "out": (
        lambda x: np.multiply(x, 1j, out=x * 1.0),
        hoad.DTypeError,
        "float64 would give complex128",
    ),
    "imag of real": (lambda x: setattr(x * 1.0, "imag", 1.0), ValueError, "read-only"),
    "items of imag of real": (lambda x: (x * 1.0).imag.__setitem__(0, 1.0), ValueError, "read-only"),
    "part of an argument": (
        lambda x: x.real.__setitem__(0, 1.0),
        hoad.TracedValueError,
        r"argument .* is never changed \(test_complex\.py:\d+\)",
    ),
    "view": (
        lambda x: (x * 1j).view(float),
        hoad.NoRuleError,
        r"x\.view .* lies in memory.* \(test_complex\.py:\d+\)\. Write x\.real and x\.imag",
    ),
    "shape": (
        lambda x: (x * 1j).real.__setitem__(slice(None), np.ones((3, 4))),
        hoad.ShapeError,
        r"from shape \(3, 4\) into shape \(4,\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    f, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        hoad.vjp(lambda x: (f(x), x)[1], X)


def into_floats(x: Any) -> Any:
    y = np.zeros(2)
    y[0] = x[0] * 1j
    return y


def into_an_item(x: Any) -> Any:
    y = np.zeros(2)
    y[0] = x
    return y


def into_complex_numbers(x: Any) -> Any:
    y = np.zeros(2, complex)
    y[:] = x[:2]
    return y


def into_a_part(x: Any) -> Any:
    y = np.zeros(2, complex)
    y.imag[1] = x[0]
    return y


@pytest.mark.parametrize("f", [into_floats, into_an_item, into_complex_numbers, into_a_part])
def test_plain_arrays_take_nothing_traced(f: F) -> None:
    with pytest.raises(hoad.TracedValueError, match=r" -> y = np\.zeros\(2.*, like=x\) .*item of a plain array"):
        hoad.vjp(f, X)


def test_parts_of_a_complex_argument_are_not_written_to() -> None:
    for take in (lambda z: z.real, lambda z: np.imag(z)[1:]):
        with pytest.raises(hoad.TracedValueError, match=r"argument .* is never changed"):
            hoad.vjp(lambda z, take=take: (take(z).__setitem__(0, 1.0), z)[1], X + 1j)
