"""Eigenvalues and vectors of general matrices: closed forms, the convention for phases, and degenerate matrices."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from _numpy.agreement import assert_same, by_differences
from rules.modes import along, words

import hoad

RNG = np.random.default_rng(5)
TURNED = np.array([[0.6, -1.1, 0.2], [0.9, 0.4, -0.5], [0.3, 0.1, -1.2]])
SIMPLE = np.array([[2.0, -0.3, 0.5], [0.4, 1.0, -0.6], [-0.2, 0.7, -1.5]])
COMPLEX = TURNED + 1j * RNG.uniform(-1.0, 1.0, (3, 3))


@pytest.mark.parametrize("a", [TURNED, SIMPLE, COMPLEX, np.stack([TURNED, SIMPLE]), SIMPLE.astype(np.float32)])
def test_values_are_those_of_numpy(a: Any) -> None:
    for f in (np.linalg.eigvals, lambda a: np.linalg.eig(a)[0], lambda a: np.linalg.eig(a)[1]):
        assert_same(hoad.jvp(f, (a,), (np.ones_like(a),))[0], f(a))
        assert_same(hoad.jit(f)(a), f(a))
    kinds: list[Any] = []
    hoad.jvp(lambda a: kinds.append(np.linalg.eig(a)) or a, (a,), (a,))
    assert type(kinds[0]) is type(np.linalg.eig(a))


def test_real_matrices_whose_eigenvalues_become_complex_are_found_again() -> None:
    f = hoad.jit(np.linalg.eigvals)
    for a in (SIMPLE, TURNED, SIMPLE.T):
        assert_same(f(a), np.linalg.eigvals(a))


@pytest.mark.parametrize("a", [TURNED, SIMPLE])
def test_slopes_of_eigenvalues(a: np.ndarray) -> None:
    """y ⊗ v of the left and right vectors."""
    v = np.linalg.eig(a)[1]
    y = np.linalg.inv(v)
    wanted = np.einsum("ki,jk->kij", y, v)
    found = hoad.jacobian(lambda a: np.real(np.linalg.eigvals(a)))(a)
    np.testing.assert_allclose(found, wanted.real, atol=1e-13)
    found = hoad.jacobian(lambda a: np.imag(np.linalg.eigvals(a)))(a)
    np.testing.assert_allclose(found, wanted.imag, atol=1e-13)


def test_higher_derivatives_of_an_eigenvalue() -> None:
    """Along a direction, by 40 digits."""
    e = RNG.uniform(-1.0, 1.0, (3, 3))

    def largest(t: Any) -> Any:
        w = mpmath.eig(mpmath.matrix(SIMPLE.tolist()) + t * mpmath.matrix(e.tolist()), left=False, right=False)
        return max(mpmath.re(x) for x in w)

    with mpmath.workdps(40):
        wanted = [float(mpmath.diff(largest, 0, n)) for n in range(1, 5)]
    k = int(np.argmax(np.linalg.eigvals(SIMPLE)))
    for order in range(1, 5):
        for word in words(order):
            found = along(lambda a: np.real(np.linalg.eigvals(a))[k], word, [(e,)] * order)(SIMPLE)
            assert found == pytest.approx(wanted[order - 1], rel=1e-11), word
    series = hoad.derivatives(lambda t: np.real(np.linalg.eigvals(SIMPLE + t * e))[k], 4)(0.0)
    np.testing.assert_allclose(series[1:], wanted, rtol=1e-10)


@pytest.mark.parametrize("a", [TURNED, COMPLEX])
def test_vectors_keep_their_length_and_their_largest_component_real(a: np.ndarray) -> None:
    """So that the derivative is that of what NumPy returns."""
    tangent = hoad.jvp(lambda t: np.linalg.eig(a + t * TURNED.T)[1], (0.0,), (1.0,))
    v, dv = tangent
    np.testing.assert_allclose(np.sum(np.real(v.conj() * dv), axis=0), 0.0, atol=1e-14)
    pivot = np.argmax(np.abs(v), axis=0)
    np.testing.assert_allclose(np.imag(dv[pivot, range(3)]), 0.0, atol=1e-14)
    for part in (np.real, np.imag):
        f = lambda t, part=part: part(np.linalg.eig(a + t * TURNED.T)[1])  # noqa: E731
        np.testing.assert_allclose(part(dv), by_differences(f, 0.0), atol=1e-9)


def test_what_phases_do_not_change() -> None:
    """V f(w) V⁻¹ is a power of the matrix, of which all derivatives are known."""

    def by_vectors(a: Any) -> Any:
        w, v = np.linalg.eig(a)
        return np.sum(np.real((v * w**3) @ np.linalg.inv(v)) * SIMPLE)

    def by_products(a: Any) -> Any:
        return np.sum((a @ a @ a) * SIMPLE)

    directions = [(RNG.uniform(-1.0, 1.0, (3, 3)),) for _ in range(3)]
    for order in (1, 2, 3):
        for word in words(order):
            found, wanted = (along(f, word, directions[:order])(TURNED) for f in (by_vectors, by_products))
            assert found == pytest.approx(wanted, rel=1e-10, abs=1e-11), word


def test_equal_eigenvalues() -> None:
    """Their vectors have no derivative: nan. Their sum has, unless the matrix has too few vectors."""
    a = np.diag([1.0, 1.0, 2.0])
    a[0, 2] = 0.5
    values, vectors = (lambda a: np.real(np.linalg.eigvals(a))), (lambda a: np.real(np.linalg.eig(a)[1]))
    np.testing.assert_allclose(hoad.grad(lambda a: np.sum(values(a)))(a), np.eye(3), atol=1e-14)
    assert np.isnan(hoad.grad(lambda a: np.sum(vectors(a) ** 3))(a)).any()
    jordan = np.array([[1.0, 1.0], [0.0, 1.0]])
    assert np.isnan(hoad.grad(lambda a: values(a)[0])(jordan)).any()
    np.testing.assert_allclose(hoad.grad(lambda a: values(a)[2])(a)[2, 2], 1.0)


def test_of_nothing_and_of_what_is_not_square() -> None:
    assert hoad.jvp(np.linalg.eigvals, (np.zeros((0, 0)),), (np.zeros((0, 0)),))[0].shape == (0,)
    for f in (np.linalg.eig, np.linalg.eigvals):
        with pytest.raises(np.linalg.LinAlgError):
            hoad.jvp(f, (np.ones((2, 3)),), (np.ones((2, 3)),))


def test_the_bessel_function_at_every_order() -> None:
    for x in (-30.0, -1.5, -1e-9, 0.0, 0.3, 8.0, 8.5, 40.0, 600.0):
        for order in range(5):
            with mpmath.workdps(40):
                wanted = float(mpmath.diff(lambda t: mpmath.besseli(0, t), x, order)) if order else np.i0(x)
            for word in words(order) if order else [""]:
                found = along(np.i0, word, [(1.0,)] * order)(x)
                assert found == pytest.approx(wanted, rel=1e-12 + 3e-16 * abs(x)), (x, word)


def test_complete_factors_are_those_of_reflections() -> None:
    for a in (RNG.uniform(-1.0, 1.0, (5, 3)), RNG.uniform(-1.0, 1.0, (4, 2)) + 1j * RNG.uniform(-1.0, 1.0, (4, 2))):
        for part in (0, 1):
            f = lambda t, a=a, part=part: np.linalg.qr(a + t * a[::-1] ** 2, "complete")[part]  # noqa: E731
            value, tangent = hoad.jvp(f, (0.0,), (1.0,))
            np.testing.assert_allclose(value, f(0.0), atol=1e-14)
            wanted = (f(1e-5) - f(-1e-5)) / 2e-5
            np.testing.assert_allclose(tangent, wanted, atol=1e-8)
