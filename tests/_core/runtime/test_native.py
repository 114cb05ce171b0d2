"""Loops, maps and calls within programs: without Python they give, and raise, what they do in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from _core.runtime.test_bits import require_bits

import hoad
from hoad._core.graph.primitive import primitives

RNG = np.random.default_rng(31)


@pytest.fixture
def in_python(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on, programs that are recorded run what is within them in Python."""

    def switch() -> None:
        for primitive in primitives():
            if primitive.of_programs:
                monkeypatch.setattr(primitive, "native", None)

    return switch


def lowered(program: hoad.Program) -> Any:
    return program._lowered()


def leaves(x: Any) -> Iterator[Any]:
    if isinstance(x, tuple):
        for part in x:
            yield from leaves(part)
    else:
        yield x


def require_same(f: Callable[..., Any], at: tuple[Any, ...], points: list[tuple[Any, ...]], switch: Any) -> None:
    """The same bits, values and gradients, without Python and in Python, at all points, and again."""
    program = hoad.record(f, *at)
    found = [program.evaluate(*x) for x in (*points, *points)]
    assert not lowered(program).calls_python
    switch()
    program = hoad.record(f, *at)
    wanted = [program.evaluate(*x) for x in (*points, *points)]
    assert lowered(program).calls_python
    for a, b in zip(found, wanted, strict=True):
        for x, y in zip(leaves(a), leaves(b), strict=True):
            assert type(x) is type(y) and np.asarray(x).dtype == np.asarray(y).dtype
            require_bits(np.real(x), np.real(y))
            require_bits(np.imag(x), np.imag(y))


# ---- loops


def numbers(x: Any, y: Any) -> Any:
    """Carried numbers that change places, rows, and sums for the gradient."""
    (a, b), rows = hoad.scan(lambda s, t: ((s[1] * np.sin(x), s[0] + t * y[1]), s[0] * t), (x, x * x), y)
    return a, b, rows


def arrays(x: Any, y: Any) -> Any:
    def body(carry: Any, t: Any) -> Any:
        u, v = carry
        return (v * t, u + np.sin(v) * x), (u * v, np.sum(u))

    return hoad.scan(body, (y, y[::-1] * x), np.linspace(0.0, 1.0, 5), reverse=True)


def truths(x: Any, y: Any) -> Any:
    def body(carry: Any, t: Any) -> Any:
        down, value = carry
        value = np.where(down, value * 0.5, value + t)
        return (np.logical_or(down, value > x), value), (down, value > t)

    return hoad.scan(body, (x > 1.0, x), y)


def wide_truths(x: Any, y: Any) -> Any:
    mask, total = hoad.scan(lambda s, t: (np.logical_xor(s, y > t), np.where(s, y, 0.0)), y > x, y)
    return np.where(mask, 1.0, x), total


def complex_numbers(x: Any, y: Any) -> Any:
    z = x + 1j * y[0]
    return hoad.scan(lambda s, t: (s * z + t, np.real(s)), z, y * (1 + 0j))


def nested(x: Any, y: Any) -> Any:
    def outer(c: Any, t: Any) -> Any:
        z, zs = hoad.scan(lambda z, k: (z * np.cos(x * t) + c * k, z), t, y)
        return c + np.sin(z) * 0.1, np.sum(zs)

    return hoad.scan(outer, x, y)


def counted(x: Any, y: Any) -> Any:
    return hoad.scan(lambda s, _: (s * x + y, None), y, length=5)[0]


def no_steps(x: Any, y: Any) -> Any:
    return hoad.scan(lambda s, t: (s * t, s), (x * y), y[:0])


def one_step(x: Any, y: Any) -> Any:
    return hoad.scan(lambda s, t: (s * t, s), (x * y), y[:1])


LOOPS = [numbers, arrays, truths, wide_truths, complex_numbers, nested, counted, no_steps, one_step]


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_loops(f: Callable[..., Any], in_python: Any) -> None:
    points = [(float(RNG.normal()), RNG.normal(size=6)) for _ in range(3)]
    require_same(f, (0.5, np.ones(6)), points, in_python)


def sums(f: Callable[..., Any]) -> Callable[..., Any]:
    """A number that depends on all that f gives."""

    def total(x: Any, y: Any) -> Any:
        return sum(np.sum(np.sin(np.real(part))) for part in leaves(f(x, y)) if part.dtype != bool)

    return total


@pytest.mark.parametrize("f", [f for f in LOOPS if f is not complex_numbers], ids=lambda f: f.__name__)
def test_derivatives_of_loops(f: Callable[..., Any], in_python: Any) -> None:
    total = sums(lambda x, y: tuple(hoad_array(part) for part in leaves(f(x, y))))
    points = [(float(RNG.normal()), RNG.normal(size=6)) for _ in range(2)]
    require_same(hoad.grad(total, (0, 1)), (0.5, np.ones(6)), points, in_python)
    hessian = hoad.hessian(total)
    found = hoad.record(hessian, 0.5, np.ones(6)).evaluate(*points[0])
    np.testing.assert_allclose(found, hessian(*points[0]), rtol=1e-12, atol=1e-12)


def hoad_array(x: Any) -> Any:
    return x if hasattr(x, "dtype") else np.asarray(x)


def test_float32(in_python: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        def body(s: Any, t: Any) -> Any:
            return s * t + x, (s + t) * x

        return hoad.scan(body, x, y)

    point = np.float32(0.3) * np.ones(3, np.float32), RNG.normal(size=(4, 3)).astype(np.float32)
    require_same(f, point, [point], in_python)


def heron(a: Any, y: Any) -> Any:
    return hoad.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) / 2.0, a + 1.0) + y


def test_a_loop_that_is_counted(in_python: Any) -> None:
    """Python is asked only where it takes long; a replay that takes another number of steps is another branch."""
    f = hoad.jit(heron)
    for a in (2.0, 2.1, 400.0, 2.0):
        np.testing.assert_allclose(f(a, 1.0), np.sqrt(a) + 1.0, rtol=1e-12)
    assert len(f.signatures[0].recorded) == 2
    program = hoad.record(heron, 2.0, 1.0)
    found = program.evaluate(2.1, 0.0)
    in_python()
    assert found == hoad.record(heron, 2.0, 1.0).evaluate(2.1, 0.0)
    assert lowered(program).calls_python
    with pytest.raises(hoad.GuardError):
        program.evaluate(400.0, 0.0)


def test_a_loop_that_is_long_to_count() -> None:
    def f(x: Any) -> Any:
        return hoad.while_loop(lambda s: s < 3e7, lambda s: s + x, 0.0)

    assert hoad.record(f, 1e6).evaluate(1e6) == 3e7
    program = hoad.record(f, 1.0)
    assert program.evaluate(1.0) == 3e7


# ---- maps


def summed(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: hoad.grad(lambda x, y: np.sum(f(x, y)), (0, 1))(x, y)


def of_numbers(x: Any, y: Any) -> Any:
    return hoad.vmap(lambda t: np.sin(t) * x + t / (1.5 + x * x))(y)


def of_arrays(x: Any, y: Any) -> Any:
    return hoad.vmap(lambda t: (np.exp(-t * y[:3]) * x) @ np.arange(9.0).reshape(3, 3))(y)


def of_loops(x: Any, y: Any) -> Any:
    return hoad.vmap(lambda t: hoad.scan(lambda s, k: (s * k + t, None), x, y[:4])[0])(y)


def of_maps(x: Any, y: Any) -> Any:
    return hoad.vmap(lambda t: np.sum(hoad.vmap(lambda s: np.sin(s * t) * x)(y[:5])))(y)


def in_a_loop(x: Any, y: Any) -> Any:
    return hoad.scan(lambda s, t: (hoad.vmap(lambda v: np.sin(v * t) + x)(s), np.sum(s)), y, y[:3])[0]


def of_what_is_the_same(x: Any, y: Any) -> Any:
    return hoad.vmap(lambda t: x * 2.0)(y)


MAPS = [of_numbers, of_arrays, of_loops, of_maps, in_a_loop, of_what_is_the_same]


@pytest.mark.parametrize("n", [5, 8, 127, 128, 129, 300])
@pytest.mark.parametrize("f", MAPS, ids=lambda f: f.__name__)
def test_maps(f: Callable[..., Any], n: int, in_python: Any) -> None:
    points = [(float(RNG.normal()), RNG.normal(size=n)) for _ in range(2)]
    require_same(lambda x, y: (f(x, y), *summed(f)(x, y)), (0.5, np.ones(n)), points, in_python)


def test_a_map_of_many_blocks(in_python: Any) -> None:
    """Sums go block by block: 64 of them, in chunks of 128."""
    points = [(0.3, RNG.normal(size=20_000))]
    f = summed(lambda x, y: hoad.vmap(lambda t: np.sin(t * x), threads=1)(y))
    require_same(f, (0.5, np.ones(20_000)), points, in_python)


def test_a_map_of_nothing(in_python: Any) -> None:
    points = [(0.3, np.ones(0))]
    require_same(lambda x, y: (of_numbers(x, y), *summed(of_numbers)(x, y)), points[0], points, in_python)


def test_a_map_of_truths(in_python: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return hoad.vmap(lambda t, b: (np.where(b, t, -t), np.logical_and(b, t > x), b))(y, y > x)

    require_same(f, (0.5, np.ones(200)), [(0.1, RNG.normal(size=200))], in_python)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.complex64])
def test_a_map_of_other_numbers(dtype: Any, in_python: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        made = hoad.vmap(lambda t: np.sin(t) * x + np.sum(t))(y)
        return made, hoad.vjp(lambda x: hoad.vmap(lambda t: np.sin(t) * x)(y), x)[1](made)[0]

    point = np.ones(3, dtype) * dtype(0.5), (RNG.normal(size=(20, 3)) + 0.5).astype(dtype)
    require_same(f, point, [point], in_python)


# ---- calls


def test_calls(in_python: Any) -> None:
    inner = hoad.record(lambda x, y: (y * x, y * x, y, x, np.sum(y) > 0.0, y[::-1], 3.0 * x), 0.5, np.ones(4))

    def f(x: Any, y: Any) -> Any:
        a, b, c, d, e, g, h = inner(x, y)
        return a + b * c, d, np.where(e, g, h), e, c

    require_same(f, (0.5, np.ones(4)), [(0.25, RNG.normal(size=4)), (-2.0, -np.ones(4))], in_python)


def test_a_view_is_given_as_it_lies(in_python: Any) -> None:
    inner = hoad.record(lambda y: y.T @ y, np.ones((2, 3)))
    require_same(lambda y: inner(y[::-1, ::2]), (np.ones((2, 6)),), [(RNG.normal(size=(2, 6)),)], in_python)


# ---- conversions


@pytest.mark.parametrize("to", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("dtype", [bool, np.int32, np.int64, np.float32, np.float64])
def test_conversions(dtype: Any, to: Any) -> None:
    """By NumPy's rules, of numbers and of arrays, without Python."""
    numbers = np.array([0.0, -0.0, 1.0, -3.0, 1e9 + 0.5, 0.1, 7.0]).astype(dtype)
    for rows in (numbers, np.stack([numbers, numbers[::-1]])):
        program = hoad.record(lambda x, rows=rows: hoad.scan(lambda s, i: (s * 2.0, i.astype(to)), x, rows)[1], 1.0)
        found = program.evaluate(2.0)
        assert not lowered(program).calls_python
        assert found.dtype == to
        require_bits(np.real(found), np.real(rows.astype(to)))
        require_bits(np.imag(found), np.imag(rows.astype(to)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((7,), 0), ((1,), 0), ((0,), 0), ((3, 0), 0), ((5, 4), 0), ((5, 4), 1), ((3, 4, 5), 1), ((), None)],
)
def test_running_sums(shape: tuple[int, ...], axis: int | None, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    x, y = (rng.normal(size=shape) * (1 + 2j if np.dtype(dtype).kind == "c" else 1) for _ in range(2))
    x, y = np.asarray(x, dtype), np.asarray(y, dtype)
    y.reshape(-1)[:1] = -0.0
    program = hoad.record(lambda x: np.cumsum(x, axis=axis), x)
    assert not program._lowered().calls_python
    found, wanted = np.asarray(program.evaluate(y)), np.cumsum(y, axis=axis)
    assert found.dtype == dtype and found.tobytes() == wanted.tobytes()
    if shape:
        rows = np.stack([y, 2 * y, x])
        for one, row in zip(hoad.vmap(lambda x: np.cumsum(x, axis=axis))(rows), rows, strict=True):
            assert one.tobytes() == np.cumsum(row, axis=axis).tobytes()


def test_a_counter_that_enters_arithmetic() -> None:
    def f(x: Any, y: Any) -> Any:
        return hoad.fori_loop(0, 5, lambda i, s: s + i * x**i + y, y)

    program = hoad.record(f, 0.5, np.ones(3))
    assert not lowered(program).calls_python
    np.testing.assert_allclose(program.evaluate(2.0, np.zeros(3)), np.full(3, 98.0))


# ---- failures


def guarded(x: Any, y: Any) -> Any:
    def body(s: Any, t: Any) -> Any:
        return (s * t if t > x else s + t), None

    return hoad.scan(body, x, y)[0]


def guarded_lanes(x: Any, y: Any) -> Any:
    return hoad.vmap(lambda t: hoad.scan(lambda s, k: (s * k if k > t else s, None), x, y + 2.0)[0])(y * 0.5)


@pytest.mark.parametrize("f", [guarded, lambda x, y: hoad.record(guarded, 0.5, np.ones(4))(x, y)])
def test_a_branch_within(f: Callable[..., Any]) -> None:
    program = hoad.record(f, 0.5, np.ones(4))
    with pytest.raises(hoad.GuardError, match=r"line|test_native.py:\d+ that its step 2 does not take"):
        program.evaluate(0.5, np.array([1.0, 1.0, 0.0, 1.0]))
    assert program.evaluate(0.5, np.ones(4)) == 0.5


def test_a_branch_in_a_loop_in_a_lane() -> None:
    program = hoad.record(guarded_lanes, 0.5, np.ones(4))
    with pytest.raises(hoad.GuardError, match="that its step 3 does not take"):
        program.evaluate(0.5, np.array([1.0, 2.0, 1.0, -20.0]))


def test_jit_records_another_branch() -> None:
    f = hoad.jit(guarded)
    low, high = np.zeros(4), np.ones(4)
    for y, wanted in [(high, 0.5), (low, 0.5), (high * 2.0, 8.0), (low - 1.0, -3.5)]:
        assert f(0.5, y) == wanted
    assert len(f.signatures[0].recorded) == 2


def inverses(x: Any, y: Any) -> Any:
    return hoad.scan(lambda s, t: (np.linalg.inv(s) * t, None), x, y)[0]


def test_a_singular_matrix_within() -> None:
    program = hoad.record(inverses, np.eye(2), np.ones(3))
    for y in (np.zeros(3), np.array([1.0, 0.0, 1.0])):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            program.evaluate(np.eye(2), y)


@hoad.primitive
def refused(x: Any) -> Any:
    if x == 0.0:
        raise ValueError("refused")
    return x * 1.0


def test_the_first_failure_is_told() -> None:
    def f(x: Any, y: Any) -> Any:
        a = guarded(x, y)
        b = refused(x - 0.25)
        return a + b + np.sum(inverses(np.eye(2), y))

    program = hoad.record(f, 0.5, np.ones(4))
    with pytest.raises(hoad.GuardError):
        program.evaluate(0.25, np.zeros(4))
    with pytest.raises(ValueError, match="refused"):
        program.evaluate(0.25, np.ones(4))
    with pytest.raises(np.linalg.LinAlgError):
        hoad.record(lambda x, y: inverses(np.eye(2), y) * guarded(x, y), 0.5, np.ones(4)).evaluate(0.5, np.zeros(4))


def test_what_calls_python_within_stays_in_python() -> None:
    program = hoad.record(lambda x, y: hoad.scan(lambda s, t: (refused(s + t), None), x, y)[0], 0.5, np.ones(3))
    assert lowered(program).calls_python
    assert program.evaluate(1.0, np.arange(3.0)) == 4.0
    with pytest.raises(ValueError, match="refused"):
        program.evaluate(-1.0, np.ones(3))


# ---- threads


def test_in_many_threads() -> None:
    program = hoad.record(
        lambda x, y: (*leaves(nested(x, y)), *leaves(of_loops(x, y)), guarded(x, y * y + 9.0)), 0.5, np.ones(40)
    )
    points = [(float(k), RNG.normal(size=40)) for k in range(8)]
    wanted = [program.evaluate(*point) for point in points]
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda k: program.evaluate(*points[k % 8]), range(800)))
    for k, values in enumerate(found):
        for x, y in zip(values, wanted[k % 8], strict=True):
            require_bits(x, y)
