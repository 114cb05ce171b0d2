"""Vectors that a matrix determines only up to a phase or a rotation: what is held, and what is refused."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import by_differences
from mpmath import mp
from rules.modes import along, words

import hoad

RNG = np.random.default_rng(11)


def drawn(*shape: int) -> np.ndarray:
    return RNG.uniform(-1.0, 1.0, shape) + 1j * RNG.uniform(-1.0, 1.0, shape)


def hermitian(a: Any) -> Any:
    return a + np.conj(np.swapaxes(a, -1, -2))


H = hermitian(drawn(4, 4))
E = hermitian(drawn(4, 4))
W = hermitian(drawn(4, 4))
SQUARE, TALL, WIDE = drawn(3, 3), drawn(4, 2), drawn(2, 4)
REAL = RNG.uniform(-1.0, 1.0, (5, 2))


# ---- parallel transport ---------------------------------------------------------------------------------------------


def test_the_tangent_of_eigenvectors_is_that_of_perturbation_theory() -> None:
    """dv = Σ vⱼ (vⱼᴴ dA v) / (w - wⱼ), with nothing along v itself."""
    w, v = np.linalg.eigh(H)
    inside = v.conj().T @ E @ v
    gaps = w[None, :] - w[:, None] + np.diag(np.full(4, np.inf))
    dv = hoad.jvp(lambda a: np.linalg.eigh(a)[1], (H,), (E,))[1]
    np.testing.assert_allclose(dv, v @ (inside / gaps), atol=1e-13)
    np.testing.assert_allclose(np.sum(v.conj() * dv, axis=0), 0.0, atol=1e-14)


@pytest.mark.parametrize("a", [SQUARE, TALL, WIDE, REAL, REAL.T])
def test_the_tangents_of_singular_vectors(a: np.ndarray) -> None:
    """Those of U S Vᴴ = A with unitary factors, real S, and nothing within the further vectors."""
    e = a[::-1, ::-1] ** 2
    (u, s, vh), (du, ds, dvh) = hoad.jvp(np.linalg.svd, (a,), (e,))
    k = s.shape[0]
    whole = (du[:, :k] * s) @ vh[:k] + (u[:, :k] * ds) @ vh[:k] + (u[:, :k] * s) @ dvh[:k]
    np.testing.assert_allclose(whole, e, atol=1e-13)
    for q, dq in ((u, du), (vh.conj().T, dvh.conj().T)):
        turned = q.conj().T @ dq
        np.testing.assert_allclose(turned + turned.conj().T, 0.0, atol=1e-13)
        np.testing.assert_allclose(turned[k:, k:], 0.0, atol=1e-14)
    assert not np.any(np.imag(ds))
    np.testing.assert_allclose(np.diagonal((vh @ dvh.conj().T)[:k, :k]).imag, 0.0, atol=1e-14)


# ---- what does not depend on what is held ---------------------------------------------------------------------------


def exact(f: Callable[[Any], Any], order: int) -> list[float]:
    """Derivatives of a function of a matrix of mpmath along E, at H."""
    with mp.workdps(50):
        h, e = mp.matrix(H.tolist()), mp.matrix(E.tolist())
        return [float(x) * float(mp.factorial(n)) for n, x in enumerate(mp.taylor(lambda t: f(h + t * e), 0, order))]


def in_state(w: Any, v: Any) -> Any:
    """⟨v₁| W |v₁⟩ |⟨v₀|c⟩|² w₁."""
    one, other = v[:, 1], v[:, 0]
    return np.real(np.conj(one) @ (W @ one)) * np.abs(np.conj(other) @ W[0]) ** 2 * w[1]


def exact_in_state(a: Any) -> Any:
    w, v = mp.eighe(a)
    matrix, c = mp.matrix(W.tolist()), mp.matrix(W[0].tolist())
    expected = (v[:, 1].H * matrix * v[:, 1])[0]
    return mp.re(expected) * abs((v[:, 0].H * c)[0]) ** 2 * w[1]


def test_expectations_in_states_at_every_order_in_every_mode() -> None:
    wanted = exact(exact_in_state, 4)

    def f(t: Any) -> Any:
        return in_state(*np.linalg.eigh(H + t * E))

    for order in range(1, 5):
        for word in words(order):
            assert along(f, word, [(1.0,)] * order)(0.0) == pytest.approx(wanted[order], rel=1e-11), word
    np.testing.assert_allclose(hoad.derivatives(f, 4)(0.0), wanted, rtol=1e-11)
    slope = hoad.jit(hoad.grad(lambda a: in_state(*np.linalg.eigh(a))))
    for a in (H, H + 0.1 * E, H - 0.1 * E):
        wanted_slope = by_differences(lambda t, a=a: in_state(*np.linalg.eigh(a + t * E)), 0.0)
        assert np.sum(slope(a) * E).real == pytest.approx(float(wanted_slope), rel=1e-7)


def test_lanes() -> None:
    many = np.stack([H, H + E, E])
    f = hoad.grad(lambda a: in_state(*np.linalg.eigh(a)))
    np.testing.assert_allclose(hoad.vmap(f)(many), np.stack([f(a) for a in many]), rtol=1e-12, atol=1e-13)
    g = hoad.grad(lambda a: (lambda u: np.abs(u[0, 2:] @ np.conj(u[1, 2:])) ** 2)(np.linalg.svd(a)[0]))
    many = np.stack([TALL, TALL[::-1] ** 2])
    np.testing.assert_allclose(hoad.vmap(g)(many), np.stack([g(a) for a in many]), rtol=1e-12, atol=1e-13)


def test_what_fixes_the_phases_first() -> None:
    """As the message says: then the function is one of the matrix."""

    def of_eigh(a: Any) -> Any:
        v = np.linalg.eigh(a)[1]
        v = v * np.exp(-1j * np.angle(v[0]))
        return np.sum(np.real(v * W))

    def of_svd(a: Any) -> Any:
        u, _, vh = np.linalg.svd(a)
        p = np.exp(1j * np.angle(vh[:, 0]))
        return np.sum(np.real(u * p * W[:3, :3]) + np.real(vh / p[:, None] * W[1:, 1:]))

    for f, a, e in ((of_eigh, H, E), (of_svd, SQUARE, W[:3, 1:])):
        wanted = by_differences(lambda t, f=f, a=a, e=e: f(a + t * e), 0.0)
        assert np.sum(hoad.grad(f)(a) * e).real == pytest.approx(float(wanted), rel=1e-8)
        assert hoad.jvp(f, (a,), (e,))[1] == pytest.approx(float(wanted), rel=1e-8)
        second = by_differences(lambda t, f=f, a=a, e=e: np.sum(hoad.grad(f)(a + t * e) * e).real, 0.0)
        for word in ("fr", "rr", "ff"):
            found = along(lambda t, f=f, a=a, e=e: f(a + t * e), word, [(1.0,)] * 2)(0.0)
            assert found == pytest.approx(float(second), rel=1e-7), word


def test_the_zeros_of_a_first_row_do_no_harm() -> None:
    """LAPACK makes the first row real, of which all but one item are 0 here: no phase could be read off it."""
    a = np.diag([1.0, 3.0, 6.0, 10.0]) + 0j
    assert np.isfinite(hoad.derivatives(lambda t: in_state(*np.linalg.eigh(a + t * E)), 3)(0.0)).all()
    slope = hoad.grad(lambda a: in_state(*np.linalg.eigh(a)))(a)
    wanted = by_differences(lambda t: in_state(*np.linalg.eigh(a + t * E)), 0.0)
    assert np.sum(slope * E).real == pytest.approx(float(wanted), rel=1e-8)


def test_two_calls_are_two_choices() -> None:
    """Each may have phases of its own, for all that the adjoint of one of them sees; the message says so."""

    def f(a: Any) -> Any:
        return np.real(np.linalg.eigh(a)[1][0, 0] * np.conj(np.linalg.eigh(a)[1][1, 0]))

    with pytest.raises(hoad.NoRuleError, match="from one call of eigh"):
        hoad.grad(f)(H)


def test_a_reconstruction_is_the_matrix() -> None:
    """Its adjoint through the factors cancels but for rounding, in which no dependence is seen."""

    def left_over(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        u, s, vh = np.linalg.svd(a)
        rest = [(v * w) @ np.conj(v).T - a, (u * s) @ vh - a, np.conj(v).T @ v - np.eye(4)]
        return sum(np.sum(np.abs(x) ** 2) for x in rest)

    np.testing.assert_allclose(hoad.grad(left_over)(H), 0.0, atol=1e-12)


# ---- what does ------------------------------------------------------------------------------------------------------

DEPENDENT: dict[str, tuple[Callable[[Any], Any], np.ndarray, str]] = {
    "eigh": (lambda a: np.linalg.eigh(a)[1][1, 0].real, H, "phases of the vectors of eigh"),
    "eigh, a little": (
        lambda a: np.sum(np.abs(np.linalg.eigh(a)[1]) ** 4) + 1e-5 * np.linalg.eigh(a)[1][1, 0].imag,
        H,
        "phases of the vectors of eigh",
    ),
    "eigh, large": (lambda a: 1e200 * np.linalg.eigh(a)[1][1, 0].real, H, "phases of the vectors of eigh"),
    "eigh, small": (lambda a: 1e-200 * np.linalg.eigh(a)[1][1, 0].real, H, "phases of the vectors of eigh"),
    "svd, u": (lambda a: np.linalg.svd(a)[0][1, 0].real, SQUARE, "phases of the vectors of svd"),
    "svd, vh": (lambda a: np.linalg.svd(a, full_matrices=False)[2][0, 1].real, TALL, "phases of the vectors of svd"),
    "svd, hermitian": (lambda a: np.linalg.svd(a, hermitian=True)[0][1, 0].real, H, "phases of the vectors of eigh"),
    "further columns": (lambda a: np.linalg.svd(a)[0][1, 3], REAL, "further vectors of svd"),
    "further rows": (lambda a: np.linalg.svd(a)[2][3, 1], REAL.T, "further vectors of svd"),
    "further columns, complex": (lambda a: np.linalg.svd(a)[0][1, 3].imag, TALL, "further vectors of svd"),
}


@pytest.mark.parametrize("name", DEPENDENT)
def test_a_function_that_depends_on_it_is_refused_in_reverse(name: str) -> None:
    f, a, message = DEPENDENT[name]
    e = E if a is H else a.conj()
    drivers: list[Callable[[], Any]] = [
        lambda: hoad.grad(f)(a),
        lambda: hoad.jit(hoad.grad(f))(a),
        lambda: hoad.vmap(hoad.grad(f))(np.stack([a, 2.0 * a])),
        lambda: hoad.jvp(hoad.grad(f), (a,), (e,)),
        lambda: hoad.derivatives(lambda t: np.sum(hoad.grad(f)(a + t * e) * e).real, 2)(0.0),
        lambda: hoad.grad(lambda a: np.sum(hoad.grad(f)(a) * e).real)(a),
        lambda: hoad.jacobian(lambda t: f(a + t[0] * e), mode="reverse")(np.zeros(1)),
    ]
    for driver in drivers:
        with pytest.raises(hoad.NoRuleError, match=message) as caught:
            driver()
        assert "test_phases.py" in str(caught.value)


def test_a_replay_looks_again() -> None:
    """Whether the function depends on phases is seen from values, and so at each call."""
    f = hoad.jit(
        hoad.grad(lambda a, c: np.sum(np.abs(np.linalg.eigh(a)[1]) ** 4) + c * np.linalg.eigh(a)[1][1, 0].real)
    )
    assert np.isfinite(f(H, 0.0)).all()
    with pytest.raises(hoad.NoRuleError, match="phases"):
        f(H, 1.0)
    assert np.isfinite(f(H, 0.0)).all()


def test_one_further_vector_of_a_real_matrix_is_determined_but_for_its_sign() -> None:
    a = REAL[:3]

    def f(t: Any) -> Any:
        return np.linalg.svd(a + t * a[::-1] ** 2)[0][1, 2]

    assert hoad.grad(f)(0.0) == pytest.approx(float(by_differences(f, 0.0)), rel=1e-8)


def test_equal_values() -> None:
    """As for real matrices: their vectors have no derivative, and others have one."""
    q = np.linalg.qr(drawn(3, 3))[0]
    a, e = (q * [1.0, 1.0, 2.0]) @ q.conj().T, hermitian(drawn(3, 3))
    for factors in (lambda a: np.linalg.eigh(a)[1], lambda a: np.linalg.svd(a)[0]):
        assert np.isnan(hoad.grad(lambda a, v=factors: np.abs(v(a)[0, 1]) ** 2)(a)).any()
    slope = hoad.grad(lambda a: (lambda v: np.real(v[0] * np.conj(v[2])))(np.linalg.eigh(a)[1][:, 2]))(a)
    turn = q[:, :2] @ q[:, :2].conj().T @ e @ q[:, 2]  # over the gap, which is 1
    wanted = turn[0] * q[2, 2].conj() + q[0, 2] * turn[2].conj()
    np.testing.assert_allclose(np.sum(slope * e).real, wanted.real, rtol=1e-12)


def test_a_singular_value_of_0() -> None:
    """The space of the further vectors is then not determined either."""
    a = np.outer([1.0, 2.0, 0.5, -0.3], [1.0, -1.5])
    for b in (a, a.T, a + 0j):

        def projection(b: Any) -> Any:
            u, _, vh = np.linalg.svd(b)
            rest = u[:, 2:] if len(b) > 2 else vh[2:].T
            return np.abs(rest[0] @ np.conj(rest[1])) ** 2

        assert np.isnan(hoad.grad(projection)(b)).any()


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 3), (2, 0, 3), (0, 3, 2)])
@pytest.mark.parametrize("dtype", [float, complex, np.float32, np.complex64])
def test_of_nothing(shape: tuple[int, ...], dtype: Any) -> None:
    a = np.zeros(shape, dtype)
    values, tangents = hoad.jvp(np.linalg.svd, (a,), (a,))
    for value, tangent, wanted in zip(values, tangents, np.linalg.svd(a), strict=True):
        assert value.shape == tangent.shape == wanted.shape and value.dtype == tangent.dtype == wanted.dtype
        np.testing.assert_array_equal(value, wanted)
    assert hoad.grad(lambda a: sum(np.sum(np.abs(x) ** 2) for x in np.linalg.svd(a)))(a).shape == shape
    if shape[-1] == shape[-2]:
        assert hoad.grad(lambda a: np.sum(np.abs(np.linalg.eigh(a)[1]) ** 2))(a).shape == shape


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision(dtype: Any) -> None:
    a = (TALL if dtype == np.complex64 else REAL).astype(dtype)

    def f(a: Any) -> Any:
        u, s, vh = np.linalg.svd(a)
        return (
            np.sum(np.abs(u[:, :2]) ** 4) + np.abs(u[0, 2:] @ np.conj(u[1, 2:])) ** 2 + np.sum(s[0] * np.abs(vh) ** 4)
        )

    found = hoad.grad(f)(a)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, hoad.grad(f)(a.astype(np.result_type(dtype, float))), atol=1e-5)
    for part, wanted in zip(hoad.jvp(np.linalg.svd, (a,), (a,))[0], np.linalg.svd(a), strict=True):
        np.testing.assert_array_equal(part, wanted)


# ---- functions of Hermitian matrices --------------------------------------------------------------------------------

OF_MATRICES: dict[str, Callable[[Any], Any]] = {
    "V * f @ Vᴴ": lambda a: (lambda w, v: (v * np.exp(w)) @ v.conj().T)(*np.linalg.eigh(a)),
    "V @ (f * Vᴴ)": lambda a: (lambda w, v: v @ (np.exp(w)[:, None] * np.conj(v.T)))(*np.linalg.eigh(a)),
    "V @ diag @ Vᴴ": lambda a: (lambda w, v: v @ np.diag(np.exp(w)) @ v.conj().T)(*np.linalg.eigh(a)),
    "V * f @ Vᴴ in two parts": lambda a: (
        lambda w, v: (v * np.exp(w) * [1.0, 1.0, 0.0]) @ v.conj().T + (v * np.exp(w) * [0.0, 0.0, 1.0]) @ v.conj().T
    )(*np.linalg.eigh(a)),
    "einsum": lambda a: (lambda w, v: np.einsum("ij,j,kj->ik", v, np.exp(w), v.conj()))(*np.linalg.eigh(a)),
    "U * f @ Vᴴ": lambda a: (lambda u, s, vh: (u * np.exp(s)) @ vh)(*np.linalg.svd(a)),
    "V * f @ Uᴴ": lambda a: np.conj((lambda u, s, vh: (vh.conj().T * np.exp(s)) @ u.conj().T)(*np.linalg.svd(a)).T),
}


DIRECTION, WEIGHTS = E[1:, 1:], W[1:, 1:]


@functools.cache
def with_close_eigenvalues(gap: float) -> tuple[Any, list[float]]:
    """A matrix, and the derivatives of a weighted sum of its exponential along a direction."""
    rng = np.random.default_rng(5)
    q = np.linalg.qr(rng.uniform(-1.0, 1.0, (3, 3)) + 1j * rng.uniform(-1.0, 1.0, (3, 3)))[0]
    a = hermitian((q * [0.5, 0.5 + 0.5 * gap, 1.0]) @ q.conj().T)
    with mp.workdps(50):
        h, d = mp.matrix(a.tolist()), mp.matrix(DIRECTION.tolist())
        rows = mp.matrix(WEIGHTS.T.tolist())
        terms = mp.taylor(lambda t: mp.re(mp.fsum((rows * mp.expm(h + t * d))[k, k] for k in range(3))), 0, 3)
        return a, [float(x) * float(mp.factorial(n)) for n, x in enumerate(terms)]


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-7, 1e-3])
@pytest.mark.parametrize("name", OF_MATRICES)
def test_functions_of_hermitian_matrices_with_close_eigenvalues(name: str, gap: float) -> None:
    """Of positive ones, so that singular values are eigenvalues; without digits that are lost to gaps."""
    a, wanted = with_close_eigenvalues(gap)

    def f(t: Any) -> Any:
        return np.sum(np.real(OF_MATRICES[name](a + t * DIRECTION) * WEIGHTS))

    for order in (1, 2, 3):
        for word in words(order):
            found = along(f, word, [(1.0,)] * order)(0.0)
            assert found == pytest.approx(wanted[order], rel=1e-12, abs=1e-12), word
    np.testing.assert_allclose(hoad.derivatives(f, 3)(0.0), wanted, rtol=1e-11, atol=1e-11)
