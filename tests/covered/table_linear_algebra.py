"""Products of arrays, numpy.linalg and numpy.fft."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from covered.points import A, B, M, N, S, T, V, W, symmetric
from covered.rows import Kind, Row

D, C = Kind.DIFFERENTIABLE, Kind.CONSTANT
STACK = np.stack([B, B.T @ B])
PHASES = "What depends on the phases of vectors has no derivative."
ROTATION = "What depends on the further vectors one by one has no derivative."
C3 = np.array([[0.5, 1.0, -0.5], [1.5, -0.25, 2.0]])


def upper_factor(x: Any) -> Any:
    return np.linalg.cholesky(x @ x.T, upper=True)


def hermitian(x: Any) -> Any:
    return symmetric(x) + 1j * (x - np.swapaxes(x, -1, -2))


def eigenvectors(x: Any) -> Any:
    """What does not depend on the phases of the vectors."""
    w, v = np.linalg.eigh(hermitian(x))
    return w, np.abs(v) ** 2, (v[:, :1] @ np.conj(v[:, :1]).T)


def singular_vectors(x: Any) -> Any:
    u, s, vh = np.linalg.svd(x + 1j * x[::-1] ** 2, full_matrices=False)
    return np.abs(u) ** 2, s, u[:, :1] @ vh[:1]


def further_vectors(x: Any) -> Any:
    """What does not depend on the rotation of the further vectors."""
    u, s, vh = np.linalg.svd(x)
    rest = vh[s.shape[0] :] if x.shape[0] < x.shape[1] else u[:, s.shape[0] :].T
    return np.conj(rest).T @ rest, s


PRODUCTS = [
    Row("numpy.dot", D, lambda x: np.dot(x, N), M),
    Row("numpy.dot", D, lambda x: np.dot(N, x), M, "b"),
    Row("numpy.matmul", D, lambda x: np.matmul(x, N), M),
    Row("numpy.matmul", D, lambda x: np.matmul(N, x), M, "x2"),
    Row("numpy.vecdot", D, lambda x: np.vecdot(x, C3), M, analytic=False),
    Row("numpy.vecdot", D, lambda x: np.vecdot(C3, x), M, "x2"),
    Row("numpy.matvec", D, lambda x: np.matvec(x, V), M),
    Row("numpy.matvec", D, lambda x: np.matvec(M, x), V, "x2"),
    Row("numpy.vecmat", D, lambda x: np.vecmat(x, M), V[:2], analytic=False),
    Row("numpy.vecmat", D, lambda x: np.vecmat(V[:2], x), M, "x2"),
    Row("numpy.inner", D, lambda x: np.inner(x, C3), M),
    Row("numpy.inner", D, lambda x: np.inner(C3, x), M, "b"),
    Row("numpy.outer", D, lambda x: np.outer(x, W), V),
    Row("numpy.outer", D, lambda x: np.outer(W, x), V, "b"),
    Row("numpy.vdot", D, lambda x: np.vdot(x, W), V, analytic=False),
    Row("numpy.vdot", D, lambda x: np.vdot(W, x), V, "b"),
    Row("numpy.kron", D, lambda x: np.kron(x, B), B.T),
    Row("numpy.kron", D, lambda x: np.kron(B, x), B.T, "b"),
    Row("numpy.cross", D, lambda x: np.cross(x, C3), M),
    Row("numpy.cross", D, lambda x: np.cross(C3, x), M, "b"),
    Row("numpy.tensordot", D, lambda x: np.tensordot(x, T, axes=([0, 1], [0, 1])), M),
    Row("numpy.tensordot", D, lambda x: np.tensordot(T, x, axes=([0, 1], [0, 1])), M, "b", exact=False),
    Row("numpy.einsum", D, lambda x: np.einsum("ij,kj,j->ik", x, C3, V), M, "operands"),
    Row("numpy.einsum", D, lambda x: np.einsum("ij,kj->ik", C3, x), M, "operands, the second"),
    Row("numpy.einsum", D, lambda x: np.einsum("ii->i", x), A, "operands, a diagonal"),
    Row("numpy.trace", D, np.trace, A),
]

LINALG = [
    Row("numpy.linalg.solve", D, lambda x: np.linalg.solve(x, V), A, exact=False),
    Row("numpy.linalg.solve", D, lambda x: np.linalg.solve(A, x), V, "b", exact=False),
    Row("numpy.linalg.inv", D, np.linalg.inv, B, exact=False),
    Row("numpy.linalg.inv", D, np.linalg.inv, STACK, "a stack", exact=False),
    Row("numpy.linalg.solve", D, lambda x: np.linalg.solve(x, x.T), B, "a, b", exact=False),
    Row("numpy.linalg.det", D, np.linalg.det, A, exact=False),
    Row("numpy.linalg.slogdet", D, np.linalg.slogdet, A, analytic=False),
    Row("numpy.linalg.cholesky", D, lambda x: np.linalg.cholesky(x @ x.T), B, analytic=False, exact=False),
    Row("numpy.linalg.cholesky", D, upper_factor, B, "upper=True", analytic=False, exact=False),
    Row("numpy.linalg.eigh", D, lambda x: np.linalg.eigh(symmetric(x)), B, analytic=False, exact=False),
    Row("numpy.linalg.eigh", D, eigenvectors, B, "a, complex", PHASES, analytic=False, exact=False),
    Row("numpy.linalg.eigvalsh", D, lambda x: np.linalg.eigvalsh(symmetric(x)), B, analytic=False, exact=False),
    Row("numpy.linalg.svd", D, lambda x: np.linalg.svd(x, full_matrices=False), M, analytic=False, exact=False),
    Row(
        "numpy.linalg.svd",
        D,
        lambda x: np.linalg.svd(x, compute_uv=False),
        M,
        "compute_uv=False",
        analytic=False,
        exact=False,
    ),
    Row("numpy.linalg.svd", D, singular_vectors, M, "a, complex", PHASES, analytic=False, exact=False),
    Row("numpy.linalg.svd", D, further_vectors, M, "full_matrices=True", ROTATION, analytic=False, exact=False),
    Row("numpy.linalg.svd", D, further_vectors, N, "full_matrices=True, more rows", analytic=False, exact=False),
    Row("numpy.linalg.svdvals", D, np.linalg.svdvals, M, analytic=False, exact=False),
    Row("numpy.linalg.qr", D, np.linalg.qr, N, analytic=False, exact=False),
    Row("numpy.linalg.qr", D, lambda x: np.linalg.qr(x, mode="r"), N, "mode='r'", analytic=False, exact=False),
    Row("numpy.linalg.pinv", D, np.linalg.pinv, N, analytic=False, exact=False),
    Row("numpy.linalg.lstsq", D, lambda x: np.linalg.lstsq(x, V)[:1], N, analytic=False, exact=False),
    Row("numpy.linalg.lstsq", D, lambda x: np.linalg.lstsq(N, x)[:2], V, "b", analytic=False, exact=False),
    Row("numpy.linalg.norm", D, np.linalg.norm, M, analytic=False),
    Row("numpy.linalg.norm", D, lambda x: np.linalg.norm(x, 3, axis=1), M, "ord, axis", analytic=False),
    Row("numpy.linalg.vector_norm", D, lambda x: np.linalg.vector_norm(x, axis=0), M, analytic=False),
    Row("numpy.linalg.norm", D, lambda x: np.linalg.norm(x, "nuc"), M, "ord='nuc'", analytic=False, exact=False),
    Row("numpy.linalg.matrix_norm", D, np.linalg.matrix_norm, M, analytic=False),
    Row(
        "numpy.linalg.matrix_norm",
        D,
        lambda x: np.linalg.matrix_norm(x, ord="nuc"),
        M,
        "ord",
        analytic=False,
        exact=False,
    ),
    Row("numpy.linalg.cond", D, np.linalg.cond, B, analytic=False, exact=False),
    Row("numpy.linalg.cond", D, lambda x: np.linalg.cond(x, 1), B, "p=1", analytic=False, exact=False),
    Row("numpy.linalg.matrix_power", D, lambda x: np.linalg.matrix_power(x, -2), B, "n=-2", exact=False),
    Row("numpy.linalg.matrix_power", D, lambda x: np.linalg.matrix_power(x, 3), B, exact=False),
    Row("numpy.linalg.multi_dot", D, lambda x: np.linalg.multi_dot([x, N, x]), M, "arrays"),
    Row("numpy.linalg.trace", D, np.linalg.trace, A),
    Row("numpy.linalg.diagonal", D, np.linalg.diagonal, A),
    Row("numpy.linalg.cross", D, lambda x: np.linalg.cross(x, C3), M),
    Row("numpy.linalg.cross", D, lambda x: np.linalg.cross(C3, x), M, "x2"),
    Row("numpy.linalg.outer", D, lambda x: np.linalg.outer(x, W), V),
    Row("numpy.linalg.outer", D, lambda x: np.linalg.outer(W, x), V, "x2"),
    Row("numpy.linalg.tensordot", D, lambda x: np.linalg.tensordot(x, C3, axes=([1], [1])), M),
    Row("numpy.linalg.matmul", D, lambda x: np.linalg.matmul(x, N), M),
    Row("numpy.linalg.tensordot", D, lambda x: np.linalg.tensordot(C3, x, axes=([1], [1])), M, "x2"),
    Row("numpy.linalg.matmul", D, lambda x: np.linalg.matmul(N, x), M, "x2"),
    Row("numpy.linalg.matrix_transpose", D, np.linalg.matrix_transpose, T),
    Row("numpy.linalg.vecdot", D, lambda x: np.linalg.vecdot(x, C3), M, analytic=False),
    Row("numpy.linalg.vecdot", D, lambda x: np.linalg.vecdot(C3, x), M, "x2"),
]


def _spectra() -> Iterator[Row]:
    """Of the parts, for the derivative of a complex result by a real argument is complex."""
    for name in ("fft", "ifft", "rfft", "ihfft"):
        f = getattr(np.fft, name)
        yield Row(f"numpy.fft.{name}", D, f, V, analytic=False)
        yield Row(f"numpy.fft.{name}", D, lambda x, f=f: f(x, 5, 0), M, "n, axis", analytic=False)
    for name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn"):
        f = getattr(np.fft, name)
        yield Row(f"numpy.fft.{name}", D, f, M, analytic=False)
    for name in ("irfft", "hfft"):
        f = getattr(np.fft, name)
        yield Row(f"numpy.fft.{name}", D, lambda x, f=f: f(x * (1 + 0.5j)), V, analytic=False)
    for name in ("irfft2", "irfftn"):
        f = getattr(np.fft, name)
        yield Row(f"numpy.fft.{name}", D, lambda x, f=f: f(x * (1 + 0.5j)), M, analytic=False)
    for name in ("fftfreq", "rfftfreq"):
        f = getattr(np.fft, name)
        yield Row(f"numpy.fft.{name}", D, lambda x, f=f: f(4, x), S, "d")
    for name in ("fftshift", "ifftshift"):
        yield Row(f"numpy.fft.{name}", D, getattr(np.fft, name), M)


ROWS = [*PRODUCTS, *LINALG, *_spectra()]
