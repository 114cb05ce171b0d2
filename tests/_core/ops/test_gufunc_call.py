"""NumPy's loops without its functions give the same bits, and refuse the same operands with the same words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._core.graph.tape import intern_aval
from hoad._core.ops import gufunc_call

rng = np.random.default_rng(5)


def _square(*shape: int, symmetric: bool = False, of_complex: bool = False) -> np.ndarray:
    x = rng.normal(size=shape)
    x = x + 1j * rng.normal(size=shape) if of_complex else x
    if not symmetric:
        return x
    found = x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(shape[-1])
    return np.asarray((found + np.conj(np.swapaxes(found, -1, -2))) / 2)


def _of_matrices() -> Iterator[Any]:
    for of_complex in (False, True):
        for shape in ((1, 1), (4, 4), (2, 3, 5, 5)):
            a = _square(*shape, of_complex=of_complex)
            s = _square(*shape, symmetric=True, of_complex=of_complex)
            yield np.linalg.cholesky, s
            yield np.linalg.eigh, s
            yield lambda x: np.linalg.eigh(x, "U"), s
            yield np.linalg.eig, a
            yield np.linalg.eig, s
            yield np.linalg.qr, a
            yield np.linalg.pinv, a
            yield lambda x: np.linalg.svd(x, full_matrices=False), a
        tall = _square(6, 4, of_complex=of_complex)
        yield np.linalg.qr, tall
        yield np.linalg.pinv, tall
        yield lambda x: np.linalg.pinv(x, 0.4), tall.T.copy()
        yield lambda x: np.linalg.svd(x, full_matrices=False), tall
        yield lambda x: np.linalg.svd(x, full_matrices=False), tall.T.copy()
        yield lambda x: np.linalg.lstsq(x, x[:, 1])[0], tall
        yield lambda x: np.linalg.lstsq(x, x[:, :2], 0.4)[0], tall


def _of_lines() -> Iterator[Any]:
    z = rng.normal(size=(3, 4, 7)) + 1j * rng.normal(size=(3, 4, 7))
    for norm in ("backward", "ortho", "forward"):
        for axis in range(3):
            for f in (np.fft.fft, np.fft.ifft, np.fft.irfft):
                yield lambda x, f=f, axis=axis, norm=norm: f(x, axis=axis, norm=norm), z
            yield lambda x, axis=axis, norm=norm: np.fft.rfft(x, axis=axis, norm=norm), z.real.copy()
        yield lambda x, norm=norm: np.fft.fftn(x, norm=norm), z
        yield lambda x, norm=norm: np.fft.ifftn(x, axes=(2, 0), norm=norm), z


def _values(f: Callable[[Any], Any], x: np.ndarray) -> list[np.ndarray]:
    """What f gives where x is traced."""
    found = []

    def g(x: Any) -> Any:
        y = f(x)
        found.extend(hoad.value(part) for part in (y if isinstance(y, tuple) else (y,)))
        return np.sum(np.real(x))

    hoad.value_and_grad(g)(x)
    return found


def test_the_same_bits_as_numpys() -> None:
    for f, x in (*_of_matrices(), *_of_lines()):
        expected = f(x)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for one, other in zip(_values(f, x), expected, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize(
    ("f", "x", "message"),
    [
        (np.linalg.cholesky, np.array([[1.0, 2.0], [2.0, 1.0]]), "Matrix is not positive definite"),
        (np.linalg.eig, np.array([[1.0, np.nan], [2.0, 1.0]]), "Array must not contain infs or NaNs"),
        (lambda x: np.linalg.svd(x, full_matrices=False), np.full((2, 2), np.nan), "SVD did not converge"),
    ],
)
def test_what_lapack_refuses_is_said_in_numpys_words(f: Any, x: np.ndarray, message: str) -> None:
    with pytest.raises(np.linalg.LinAlgError, match=message):
        f(x)
    with pytest.raises(np.linalg.LinAlgError, match=message):
        _values(f, x)


def test_loops_that_numpy_has_under_other_names_are_left_to_its_functions() -> None:
    a, z = (intern_aval(np.dtype(kind), (3, 3)) for kind in "dD")
    module = object()
    assert gufunc_call.cholesky_factor(module, a) is None
    assert gufunc_call.symmetric_factors(module, a, "L") is None
    assert gufunc_call.eigenvectors(module, z, False) is None
    assert gufunc_call.singular_factors(module, a) is None
    assert gufunc_call.pseudoinverse(module, a, 1e-15) is None
    assert gufunc_call.triangular_factors(module, a) is None
    assert gufunc_call.least_squares(module, a, a, 1e-15) is None
    assert gufunc_call.fourier_transform(module, "fft", z, z, (0,), "ortho") is None


def test_a_replay_refuses_a_matrix_that_is_not_symmetric_any_more() -> None:
    s = _square(3, 3, symmetric=True)
    program = hoad.record(np.linalg.cholesky, s)
    nearly = s * (1.0 + 1e-12 * rng.normal(size=s.shape))
    np.testing.assert_array_equal(program(nearly), np.linalg.cholesky(nearly))
    with pytest.raises(hoad.errors.GuardError, match="Give both triangles"):
        program(s + np.triu(np.full((3, 3), 1e-3), 1))


def test_matrices_of_a_map_are_as_one_by_one() -> None:
    stack = _square(20, 4, 4, symmetric=True)
    for f in (np.linalg.cholesky, lambda x: np.linalg.eigh(x)[1], lambda x: np.linalg.qr(x)[1]):
        np.testing.assert_array_equal(hoad.vmap(f)(stack), [f(x) for x in stack])
    lines = _square(20, 9)
    np.testing.assert_array_equal(hoad.vmap(lambda x: np.abs(np.fft.rfft(x)))(lines), np.abs(np.fft.rfft(lines)))
