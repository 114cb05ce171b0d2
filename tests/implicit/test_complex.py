"""Complex numbers in implicit functions: arguments may be complex, unknowns of linear equations, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hoad

C, V = 3.0 + 4.0j, 0.5 - 1.0j
MATRIX = np.array([[2.0, 1j], [0.5, 3.0 - 1j]])
B = np.array([1.0 + 1j, 2.0])


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


def dense(matvec: Any, b: Any) -> Any:
    return np.linalg.solve(np.stack([matvec(e.astype(b.dtype)) for e in np.eye(b.size)], axis=1), b)


solution = hoad.implicit.linear_solve(lambda y, s: (MATRIX * s) @ y, dense)


def test_a_real_root_of_complex_arguments() -> None:
    """x² = |c|² has x = |c|, whose gradient is c̄ / |c|."""
    size = hoad.implicit.root(lambda x, c: x**2 - np.abs(c) ** 2, lambda c: abs(c))
    close(hoad.grad(size)(C), C.conjugate() / abs(C))
    close(hoad.jvp(size, (C,), (V,))[1], (C.conjugate() * V).real / abs(C))
    change = V.conjugate() / abs(C) - C.conjugate() * (C.conjugate() * V).real / abs(C) ** 3
    close(hoad.hvp(size)(C, V), change)


def test_a_real_minimum_of_complex_arguments() -> None:
    nearest = hoad.implicit.argmin(lambda w, c: np.abs(w - c) ** 2, lambda c: c.real)
    close(hoad.grad(nearest)(C), 1.0)


def test_linear_equations() -> None:
    """y = M⁻¹ b / s: |y|² falls as 1 / |s|²."""
    energy = lambda b, s: np.sum(np.abs(solution(b, s)) ** 2)  # noqa: E731
    inverse = np.linalg.inv(MATRIX)
    size = np.sum(abs(inverse @ B) ** 2)
    close(energy(B, 2.0), size / 4)
    close(hoad.grad(energy, argnums=1)(B, 2.0), -2 * size / 8)
    close(hoad.derivative(lambda s: energy(B, s), 2)(2.0), 6 * size / 16)
    close(hoad.jvp(lambda s: energy(B, s), (2.0,), (1.0,))[1], -2 * size / 8)
    close(hoad.grad(energy, argnums=1)(B, C), -2 * size * C.conjugate() / abs(C) ** 4)
    product = inverse.conj().T @ inverse / abs(C) ** 2
    close(hoad.grad(energy)(B, C), 2 * (product @ B).conj())
    close(hoad.hvp(lambda b: energy(b, C))(B, 1j * B), 2 * (product @ (1j * B)).conj())


def by_real_numbers(matvec: Any, b: Any) -> Any:
    """For equations that are linear over the real numbers only."""
    n = b.size
    units = [*np.eye(n), *(1j * np.eye(n))]
    columns = [np.concatenate([image.real, image.imag]) for image in map(matvec, units)]
    found = np.linalg.solve(np.stack(columns, axis=1), np.concatenate([b.real, b.imag]))
    return found[:n] + 1j * found[n:]


def test_equations_with_conjugates() -> None:
    """3y + s ȳ = b has the solution (3b - s b̄) / (9 - s²), for a real s."""
    solved = hoad.implicit.linear_solve(lambda y, s: 3 * y + s * np.conj(y), by_real_numbers)
    written = lambda b, s: (3 * b - s * np.conj(b)) / (9 - s**2)  # noqa: E731
    of = lambda f: lambda b, s: np.sum(np.real(f(b, s)) * np.imag(f(b, s)) ** 2)  # noqa: E731
    close(hoad.grad(of(solved), argnums=(0, 1))(B, 0.7)[0], hoad.grad(of(written))(B, 0.7))
    close(hoad.grad(of(solved), argnums=1)(B, 0.7), hoad.grad(of(written), argnums=1)(B, 0.7))
    close(hoad.derivative(lambda s: of(solved)(B, s), 2)(0.7), hoad.derivative(lambda s: of(written)(B, s), 2)(0.7))


def test_what_is_refused() -> None:
    root = hoad.implicit.root(lambda x, c: x**2 - c, lambda c: np.sqrt(c))
    with pytest.raises(hoad.DTypeError, match=r"solver of implicit\.root returns must be real, but is complex128"):
        hoad.grad(root, holomorphic=True)(C)
    with pytest.raises(hoad.DTypeError, match=r"implicit\.root needs real equations, but the residual is complex"):
        hoad.grad(hoad.implicit.root(lambda x, c: x + 1j * c, lambda c: c * 1.0))(3.0)
    for call in (lambda: solution(np.ones(2), 1.5), lambda: hoad.grad(lambda s: abs(solution(np.ones(2), s)[0]))(1.5)):
        with pytest.raises(hoad.DTypeError, match=r"a complex b where matvec\(y\) is complex.* Write b \+ 0j"):
            call()
