"""vmap of operations on matrices and along axes: the bits, and the errors, of the inputs one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._core.base.threads import assume_cores
from hoad._core.runtime.lanes import Map

RNG = np.random.default_rng(23)
LANES = (0, 1, 7, 128, 131, 300)  # around chunks of 128, and fewer than are done item by item


def symmetric(x: Any) -> Any:
    return x @ x.T + 4.0 * np.eye(x.shape[0])


# Functions of two square matrices.
MATRICES: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda x, y: x @ y,
    "product with a transpose": lambda x, y: x @ y.T,
    "product with a vector": lambda x, y: x @ y[0],
    "vector times matrix": lambda x, y: x[:, 1] @ y,
    "einsum": lambda x, y: np.einsum("ij,kj->ik", x, y),
    "inverse": lambda x, y: np.linalg.inv(x),
    "solve a vector": lambda x, y: np.linalg.solve(x, y[0]),
    "solve a matrix": lambda x, y: np.linalg.solve(x, y),
    "determinant": lambda x, y: np.linalg.det(x),
    "slogdet": lambda x, y: np.linalg.slogdet(x)[1],
    "transpose": lambda x, y: x.T * 2.0,
    "outer": lambda x, y: x[0][:, None] * y[1],
    "difference of rows": lambda x, y: x[:, None] - y[None],
    "part": lambda x, y: x[1:, ::-2] + 1.0,
    "sum of columns": lambda x, y: np.sum(x, axis=0),
}
DECOMPOSITIONS: dict[str, Callable[[Any], Any]] = {
    "cholesky": lambda x: np.linalg.cholesky(symmetric(x)),
    "eigh": lambda x: np.linalg.eigh(symmetric(x))[1],
    "eigvalsh": lambda x: np.linalg.eigvalsh(symmetric(x)),
    "svd": lambda x: np.concatenate([f if f.ndim == 2 else f[None] for f in np.linalg.svd(x)]),
    "qr": lambda x: np.concatenate(np.linalg.qr(x)),
    "pinv": lambda x: np.linalg.pinv(x[:, 1:]),
    "eig": lambda x: np.linalg.eig(symmetric(x))[0],
    "sort": lambda x: np.sort(x, axis=0),
    "argsort": lambda x: np.argsort(x, axis=-1),
    "median": lambda x: np.median(x, axis=0),
    "partition": lambda x: np.partition(x, 2, axis=1),
    "argmax": lambda x: np.argmax(x),
    "argmin along an axis": lambda x: np.argmin(x, axis=1, keepdims=True),
    "argmax with all axes": lambda x: np.argmax(x, keepdims=True),
    "fft": lambda x: np.abs(np.fft.fft(x, axis=0)),
    "fft2": lambda x: np.abs(np.fft.fft2(x)),
    "ifft": lambda x: np.real(np.fft.ifft(x)),
    "rfft": lambda x: np.imag(np.fft.rfft(x, axis=0)),
    "irfft": lambda x: np.fft.irfft(x, axis=1),
}


def require_bits(found: Any, want: Any) -> None:
    assert (found.shape, found.dtype) == (want.shape, want.dtype)
    assert np.array_equal(found, want, equal_nan=True)
    parts = (found.real, want.real), (found.imag, want.imag)
    assert all(np.array_equal(np.signbit(a), np.signbit(b)) for a, b in parts if found.dtype.kind in "fc")


def one_by_one(f: Callable[..., Any], *rows: Any) -> Any:
    program = hoad.record(f, *[x[0] for x in rows])
    return np.stack([program.evaluate(*row) for row in zip(*rows, strict=True)])


@pytest.mark.parametrize("n", [1, 4, 11])
@pytest.mark.parametrize("name", MATRICES)
def test_bits_of_matrices(name: str, n: int) -> None:
    f = MATRICES[name]
    if n == 1 and name in ("outer", "vector times matrix"):
        return
    x, y = RNG.normal(size=(2, max(LANES), n, n)) + np.eye(n)
    want = one_by_one(f, x, y)
    for lanes in LANES:
        for mapped in (hoad.vmap(f), hoad.vmap(f, threads=2), hoad.jit(hoad.vmap(f))):
            require_bits(np.asarray(mapped(x[:lanes], y[:lanes])), want[:lanes])


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.complex64])
@pytest.mark.parametrize("name", MATRICES)
def test_bits_of_other_numbers(name: str, dtype: Any) -> None:
    f = MATRICES[name]
    given = RNG.normal(size=(2, 131, 4, 4, 2))
    numbers = given.view(np.complex128) if np.dtype(dtype).kind == "c" else given
    x, y = numbers[..., 0].astype(dtype)
    require_bits(hoad.vmap(f)(x, y), one_by_one(f, x, y))


@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_bits_of_decompositions(name: str) -> None:
    f = DECOMPOSITIONS[name]
    x = RNG.normal(size=(max(LANES), 4, 4))
    want = one_by_one(f, x)
    for lanes in LANES:
        for mapped in (hoad.vmap(f), hoad.jit(hoad.vmap(f))):
            require_bits(np.asarray(mapped(x[:lanes])), want[:lanes])


@pytest.mark.parametrize("name", ["product", "solve a matrix", "transpose", "outer"])
def test_other_axes_and_views(name: str) -> None:
    f = MATRICES[name]
    x, y = RNG.normal(size=(2, 131, 4, 4)) + np.eye(4)
    want = one_by_one(f, x, y)
    last = np.moveaxis(x, 0, -1).copy()
    require_bits(hoad.vmap(f, in_axes=(2, 0))(last, np.repeat(y, 2, axis=0)[::2]), want)
    require_bits(hoad.vmap(f, out_axes=1)(x, y), np.moveaxis(want, 0, 1))
    one = one_by_one(lambda a: f(a, y[3]), x)
    np.testing.assert_allclose(hoad.vmap(f, in_axes=(0, None))(x, y[3]), one, rtol=1e-13, atol=1e-13)


SCALARS: dict[str, Callable[[Any], Any]] = {
    "det": lambda x: np.linalg.det(x),
    "log det": lambda x: np.log(np.linalg.det(symmetric(x))),
    "slogdet": lambda x: np.linalg.slogdet(symmetric(x))[1],
    "inverse": lambda x: np.sum(np.linalg.inv(symmetric(x)) ** 2),
    "solve": lambda x: x[0] @ np.linalg.solve(symmetric(x), x[1]),
    "cholesky": lambda x: np.sum(np.log(np.diag(np.linalg.cholesky(symmetric(x))))),
    "eigvalsh": lambda x: np.sum(np.linalg.eigvalsh(symmetric(x)) ** 3),
    "sorted": lambda x: np.sum(np.sort(x, axis=None)[:3] ** 4),
    "spectrum": lambda x: np.sum(np.abs(np.fft.fft(x, axis=1)) ** 4),
}


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", SCALARS)
def test_derivatives(name: str, order: int) -> None:
    f, x, v = SCALARS[name], RNG.normal(size=(9, 4, 4)), RNG.normal(size=(4, 4))
    derivative: Callable[[Any], Any] = hoad.grad(f)
    for _ in range(order - 1):
        derivative = (lambda g: lambda a: hoad.jvp(g, (a,), (v,))[1])(derivative)
    want = np.stack([derivative(a) for a in x])
    for mapped in (hoad.vmap(derivative), hoad.jit(hoad.vmap(derivative))):
        np.testing.assert_allclose(mapped(x), want, rtol=1e-10, atol=1e-10 * np.max(abs(want)))


@pytest.mark.parametrize("f", [np.linalg.inv, lambda a: np.linalg.solve(a, np.ones(3)), np.linalg.cholesky])
@pytest.mark.parametrize("place", [0, 64, 199])
def test_one_singular_input(f: Any, place: int) -> None:
    a = np.repeat(np.eye(3)[None], 200, axis=0)
    a[place] = 0.0
    for mapped in (hoad.vmap(f), hoad.jit(hoad.vmap(f))):
        with pytest.raises(np.linalg.LinAlgError):
            mapped(a)
    a[place] = 2.0 * np.eye(3)
    require_bits(hoad.vmap(f)(a), one_by_one(f, a))


@pytest.mark.parametrize("f", [np.linalg.det, lambda a: np.linalg.slogdet(a)[1]])
def test_values_of_singular_and_infinite_inputs(f: Any) -> None:
    a = np.repeat(np.eye(4)[None], 200, axis=0)
    a[3], a[70, 1, 2], a[199, 0, 0] = 0.0, np.nan, np.inf
    require_bits(hoad.vmap(f)(a), one_by_one(f, a))


def test_gradients_of_determinants_stay_in_their_lanes() -> None:
    a = RNG.normal(size=(200, 4, 4))
    a[3], a[5, :, 1:], a[70, 1, 2] = 0.0, 0.0, np.nan
    a[9, 2] = a[9, 1]
    found = hoad.vmap(hoad.grad(np.linalg.det))(a)
    require_bits(found, np.stack([hoad.grad(np.linalg.det)(x) for x in a]))
    assert not found[3].any() and not found[5].any() and np.isnan(found[70]).all()
    np.testing.assert_allclose(np.sum(found[9] * a[9], axis=1), 0.0, atol=1e-14)
    assert np.isfinite(np.delete(found, 70, axis=0)).all()


def test_threads_are_asked_for_by_the_work_of_operations() -> None:
    """A product with a matrix is one step, of many operations."""

    def operations(f: Callable[[Any], Any], shape: tuple[int, ...]) -> int:
        program = hoad.record(f, RNG.normal(size=shape))
        return Map(program._lowered([True]), "x", "y", 1000).operations

    m = RNG.normal(size=(64, 64))
    assert operations(lambda x: m @ x, (64,)) == 1000 * 64 * 64 // 8
    assert operations(lambda x: x @ x, (8, 8)) == 1000 * 8 * 8 * 8 // 8
    assert operations(np.linalg.inv, (8, 8)) == 1000 * 8 * 8 * 8
    assert operations(lambda x: np.sin(x) * 2.0, (64,)) == 1000 * 2 * 64
    assert operations(np.sum, (64,)) == 1000 * 64


@pytest.fixture
def cores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("hoad._transform.lanes.most_threads", lambda: 4)
    assume_cores(4)
    yield
    assume_cores(0)


@pytest.mark.usefixtures("cores")
@pytest.mark.parametrize("length", [1, 5, 129, 1000])
@pytest.mark.parametrize("name", ["inverse", "product with a vector", "sum of columns"])
def test_maps_in_a_program_use_threads(name: str, length: int) -> None:
    f, x = MATRICES[name], RNG.normal(size=(length, 4, 4)) + 3.0 * np.eye(4)
    program = hoad.record(lambda a: 2.0 * hoad.vmap(lambda b: f(b, b), threads=4)(a), x)
    for threads in (1, 2, 4):
        require_bits(program.evaluate(x, threads=threads), 2.0 * one_by_one(lambda b: f(b, b), x))


@pytest.mark.usefixtures("cores")
def test_maps_in_threads_say_what_fails() -> None:
    x = np.repeat(np.eye(3)[None], 1000, axis=0)
    singular, other = x.copy(), x.copy()
    singular[700], other[700] = 0.0, -np.eye(3)
    inverses = hoad.jit(lambda a: 2.0 * hoad.vmap(np.linalg.inv, threads=4)(a))
    inverses(x)
    with pytest.raises(np.linalg.LinAlgError):
        inverses(singular)
    branching = hoad.record(lambda a: hoad.vmap(lambda b: b @ b if b[0, 0] > 0.0 else b, threads=4)(a), x)
    require_bits(branching.evaluate(x), x)
    with pytest.raises(hoad.errors.GuardError):
        branching.evaluate(other)
