"""Factors of matrices: NumPy's values and errors, the conventions of their derivatives, and what degenerate ones do.

Their derivatives themselves are held against mpmath in tests/rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import assert_same, by_differences
from rules.modes import along, words

import hoad

RNG = np.random.default_rng(7)
B = RNG.uniform(-1.0, 1.0, (4, 3))
SPD = B.T @ B + np.diag([1.0, 2.0, 3.0])
STACK = np.stack([SPD, SPD[::-1, ::-1] + np.eye(3)])
ROUNDED = SPD + 1e-10 * np.triu(np.ones((3, 3)), 1)  # as symmetric as sums in different orders leave it
WEIGHTS = RNG.uniform(-1.0, 1.0, (3, 3))


# ---- values ---------------------------------------------------------------------------------------------------------

VALUES: list[tuple[str, Callable[[Any], Any], Any]] = [
    ("cholesky", np.linalg.cholesky, SPD),
    ("cholesky of a stack", np.linalg.cholesky, STACK),
    ("cholesky, upper", lambda x: np.linalg.cholesky(x, upper=True), SPD),
    ("cholesky reads the lower triangle", np.linalg.cholesky, ROUNDED),
    ("cholesky, upper reads the upper triangle", lambda x: np.linalg.cholesky(x, upper=True), ROUNDED),
    ("eigh", np.linalg.eigh, SPD),
    ("eigh reads the lower triangle", np.linalg.eigh, ROUNDED),
    ("eigh, U", lambda x: np.linalg.eigh(x, UPLO="U"), ROUNDED),
    ("eigh of a stack", np.linalg.eigh, STACK),
    ("svd", lambda x: np.linalg.svd(x, full_matrices=False), B),
    ("svd of a square", np.linalg.svd, SPD),
    ("svd of a stack", np.linalg.svd, STACK),
    ("qr", np.linalg.qr, B),
    ("qr of a square, complete", lambda x: np.linalg.qr(x, "complete"), SPD),
    ("qr, r", lambda x: (np.linalg.qr(x, "r"),), B),
    ("qr of a stack", np.linalg.qr, STACK),
    ("pinv", np.linalg.pinv, B),
    ("pinv, rcond", lambda x: np.linalg.pinv(x, 1e-3), B),
    ("pinv, rtol", lambda x: np.linalg.pinv(x, rtol=0.5), B),
    ("pinv, rtol=None", lambda x: np.linalg.pinv(x, rtol=None), B),
    *[(f"{f.__name__} of nothing", f, np.zeros((0, 0))) for f in (np.linalg.cholesky, np.linalg.eigh, np.linalg.qr)],
    ("svd of nothing", np.linalg.svd, np.zeros((0, 0))),
    ("svd of no rows", lambda x: np.linalg.svd(x, full_matrices=False), np.zeros((0, 3))),
    ("pinv of nothing", np.linalg.pinv, np.zeros((0, 3))),
    ("cholesky of no matrices", np.linalg.cholesky, np.zeros((0, 2, 2))),
    ("eigh of no matrices", np.linalg.eigh, np.zeros((0, 2, 2))),
]


@pytest.mark.parametrize(("f", "x"), [c[1:] for c in VALUES], ids=[c[0] for c in VALUES])
def test_values(f: Callable[[Any], Any], x: Any) -> None:
    """Bit for bit, in the named tuples of NumPy; derivatives exist, also of nothing."""
    seen: list[Any] = []

    def total(x: Any) -> Any:
        found = f(x)
        seen.append(type(found))
        parts = found if isinstance(found, tuple) else (found,)
        return np.concatenate([np.ravel(part) for part in parts])

    plain = f(x)
    parts = plain if isinstance(plain, tuple) else (plain,)
    value, tangent = hoad.jvp(total, (x,), (np.ones_like(x),))
    assert_same(value, np.concatenate([np.ravel(part) for part in parts]))
    assert tangent.shape == value.shape and np.isfinite(tangent).all()
    assert not isinstance(plain, tuple) or seen[0] is type(plain)
    for order in (1, 2):
        for word in words(order):
            assert np.isfinite(along(lambda x: np.sum(total(x) ** 2), word, [(np.ones_like(x),)] * order)(x))


def test_values_without_vectors() -> None:
    for f in (np.linalg.eigvalsh, np.linalg.svdvals, lambda x: np.linalg.svd(x, compute_uv=False)):
        np.testing.assert_allclose(hoad.jvp(f, (SPD,), (SPD,))[0], f(SPD), rtol=1e-13)


def test_qr_of_wide_matrices() -> None:
    wide = B.T
    for mode in ("reduced", "complete"):
        q, r = np.linalg.qr(wide, mode)
        np.testing.assert_allclose(hoad.jvp(lambda x: np.linalg.qr(x, mode)[0], (wide,), (wide,))[0], q, atol=1e-15)
        np.testing.assert_allclose(hoad.jvp(lambda x: np.linalg.qr(x, mode)[1], (wide,), (wide,))[0], r, atol=1e-14)


@pytest.mark.parametrize("shape", [(4,), (4, 2)])
@pytest.mark.parametrize("a", [B, SPD[:, :2], B.T @ np.ones((4, 4))[:, :3] + SPD], ids=["tall", "3x2", "square"])
def test_lstsq_returns_what_numpy_returns(a: np.ndarray, shape: tuple[int, ...]) -> None:
    b = np.cos(np.arange(float(np.prod(shape)))).reshape(shape)[: len(a)]
    found: list[Any] = []

    def f(a: Any, b: Any) -> Any:
        found.extend(hoad.value(part) for part in np.linalg.lstsq(a, b))
        return np.linalg.lstsq(a, b)[0]

    hoad.jacobian(f, argnums=(0, 1))(a, b)
    for got, want in zip(found, np.linalg.lstsq(a, b), strict=False):
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


def test_residuals_and_singular_values_of_lstsq_have_derivatives() -> None:
    b = np.array([1.0, -2.0, 0.5, 3.0])
    for k in (1, 3):
        np.testing.assert_allclose(
            hoad.jacobian(lambda a: np.linalg.lstsq(a, b)[k])(B),
            by_differences(lambda a: np.linalg.lstsq(a, b)[k], B),
            atol=1e-9,
        )


# ---- conventions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [np.linalg.cholesky, np.linalg.eigvalsh, lambda a: np.linalg.eigh(a)[1]])
def test_adjoints_of_symmetric_matrices_are_symmetric(f: Callable[[Any], Any]) -> None:
    gradient = hoad.grad(lambda a: np.sum(f(a) * WEIGHTS[: np.ndim(f(a))].sum() + f(a) ** 3))(SPD)
    np.testing.assert_array_equal(gradient, gradient.T)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.linalg.cholesky(a) * WEIGHTS,
        lambda a: np.linalg.cholesky(a, upper=True) * WEIGHTS,
        lambda a: np.linalg.eigh(a)[1] * WEIGHTS,
        lambda a: np.linalg.eigh(a, "U")[1] * WEIGHTS,
        lambda a: np.linalg.eigvalsh(a) ** 2,
    ],
)
def test_through_a_symmetric_matrix_derivatives_are_those_of_numpy(f: Callable[[Any], Any]) -> None:
    """f(xᵀ x + D) as a function of x, where no convention enters."""

    def composed(x: Any) -> Any:
        return f(x.T @ x + np.diag([1.0, 2.0, 3.0]))

    np.testing.assert_allclose(hoad.jacobian(composed)(B), by_differences(composed, B), atol=1e-9)


@pytest.mark.parametrize("f", [np.linalg.cholesky, np.linalg.eigvalsh, lambda a: np.linalg.eigh(a)[1]])
def test_one_triangle_and_both_are_right(f: Callable[[Any], Any]) -> None:
    """NumPy reads the lower one; a derivative by half of a symmetric matrix would be half of it."""
    for by in (lambda x: f(np.tril(x)), lambda a: f(np.tril(a) + np.tril(a, -1).T)):
        np.testing.assert_allclose(hoad.jacobian(by)(SPD), by_differences(f, SPD), atol=1e-9)
    program = hoad.record(f, SPD)
    with pytest.raises(hoad.GuardError, match="was recorded with a matrix that is symmetric") as caught:
        program.evaluate(np.tril(SPD))
    assert "np.tril(a) + np.tril(a, -1).T" in str(caught.value)


LARGE_BESIDE = {
    "in a stack": np.stack([1e10 * np.eye(2), [[2.0, 0.0], [1.0, 3.0]]]),
    "on the diagonal": np.array([[1e9, 0.0], [1.0, 1e9]]),
    "in another block": np.array([[1e10, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 1.0, 3.0]]),
    "nan": np.stack([np.full((2, 2), np.nan), [[2.0, 0.0], [1.0, 3.0]]]),
}


@pytest.mark.parametrize("f", [np.linalg.cholesky, np.linalg.eigh])
@pytest.mark.parametrize("a", LARGE_BESIDE.values(), ids=LARGE_BESIDE)
def test_nothing_large_hides_a_single_triangle(f: Callable[[Any], Any], a: np.ndarray) -> None:
    jacobian = np.nan_to_num(hoad.jacobian(lambda a: f(a)[1])(a))
    i, j = np.triu_indices(a.shape[-1], 1)
    assert not jacobian[..., i, j].any()
    assert jacobian[..., j, i].any()


SCALES = np.array([1e8, 1.0, 1e-8])
NEARLY = {
    "graded": (SPD + 1e-14 * np.triu(WEIGHTS, 1)) * np.outer(SCALES, SCALES),
    "no diagonal": np.array([[0.0, 1.0 + 1e-15], [1.0, 0.0]]),
    "cancelled": np.array([[0.0, 1e-17, 1.0], [-2e-17, 0.0, 1.0], [1.0, 1.0, 0.0]]),
    "an inverse": np.linalg.inv(np.vander([0.1, 0.4, 0.7, 1.0]).T @ np.vander([0.1, 0.4, 0.7, 1.0])),
    "a product": np.linalg.qr(WEIGHTS)[0] * [1e12, 1.0, 1e-12] @ np.linalg.qr(WEIGHTS)[0].T,
    "zeros": np.zeros((2, 3, 3)),
    "single": (SPD + 1e-6 * np.triu(np.ones((3, 3)), 1)).astype(np.float32),
}


@pytest.mark.parametrize("a", NEARLY.values(), ids=NEARLY)
def test_what_is_symmetric_but_for_rounding_has_symmetric_derivatives(a: np.ndarray) -> None:
    found = hoad.grad(lambda a: np.sum(np.linalg.eigvalsh(a)[..., -1]))(a)
    np.testing.assert_array_equal(found, np.swapaxes(found, -1, -2))


def test_the_log_of_the_determinant_by_cholesky() -> None:
    gradient = hoad.grad(lambda a: 2.0 * np.sum(np.log(np.diagonal(np.linalg.cholesky(a)))))
    inverse = np.linalg.inv(SPD)
    np.testing.assert_allclose(gradient(SPD), inverse, rtol=1e-13)
    hessian = hoad.hessian(lambda a: 2.0 * np.sum(np.log(np.diagonal(np.linalg.cholesky(a)))))(SPD)
    symmetric = np.einsum("jk,li->ijkl", inverse, inverse) + np.einsum("jl,ki->ijkl", inverse, inverse)
    np.testing.assert_allclose(hessian, -symmetric / 2, rtol=1e-12)


# ---- degenerate matrices --------------------------------------------------------------------------------------------

Q = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
TWICE = np.diag([1.0, 2.0, 2.0])
TURNED = Q @ TWICE @ Q.T
TURNED = (TURNED + TURNED.T) / 2
DEGENERATE = [TWICE, TURNED, np.eye(3), np.zeros((3, 3)), np.diag([0.0, 0.0, 1.0])]


@pytest.mark.parametrize("a", DEGENERATE)
def test_symmetric_functions_of_eigenvalues_have_their_gradient(a: np.ndarray) -> None:
    np.testing.assert_allclose(
        hoad.grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 3))(a), 3 * a @ a, rtol=1e-13, atol=1e-14
    )
    _, tangent = hoad.jvp(lambda a: np.sum(np.linalg.eigvalsh(a) ** 3), (a,), (WEIGHTS,))
    assert tangent == pytest.approx(np.sum(3 * a @ a * WEIGHTS), abs=1e-13)


def test_functions_of_singular_values_have_their_gradient() -> None:
    q = np.linalg.qr(B)[0]
    np.testing.assert_allclose(hoad.grad(lambda a: np.sum(np.linalg.svdvals(a)))(q), q, atol=1e-14)
    np.testing.assert_allclose(hoad.grad(lambda a: np.linalg.norm(a, "nuc"))(2 * np.eye(3)), np.eye(3), atol=1e-15)


@pytest.mark.parametrize("a", [TWICE, TURNED])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_single_eigenvector_beside_a_degenerate_pair(a: np.ndarray, mode: Any) -> None:
    """dv = (w - A)⁺ dA v."""
    jacobian = hoad.jacobian(lambda a: np.linalg.eigh(a)[1][:, 0], mode=mode)(a)
    v = np.linalg.eigh(a)[1][:, 0]
    wanted = np.einsum("ij,k->ijk", np.linalg.pinv(np.eye(3) - a, rcond=1e-9), v)
    np.testing.assert_allclose(jacobian, (wanted + wanted.transpose(0, 2, 1)) / 2, atol=1e-14)


def test_a_single_singular_vector_beside_a_degenerate_pair() -> None:
    """duᵢ = (s₀ dAᵢ₀ + sᵢ dA₀ᵢ) / (s₀² - sᵢ²): by an index that leaves the pair out."""
    a = np.diag([3.0, 2.0, 2.0])
    wanted = np.zeros((3, 3, 3))
    wanted[[1, 2], [1, 2], 0], wanted[[1, 2], 0, [1, 2]] = 3 / 5, 2 / 5
    for mode in ("forward", "reverse"):
        jacobian = hoad.jacobian(lambda a: np.linalg.svd(a)[0][:, 0], mode=mode)(a)  # type: ignore[arg-type]
        np.testing.assert_allclose(jacobian * np.linalg.svd(a)[0][0, 0], wanted, atol=1e-15)


def test_leading_singular_vectors_of_a_matrix_of_low_rank() -> None:
    """Principal components: what is left out may be as degenerate as it likes."""
    low = B @ np.diag([3.0, 1.0, 0.0]) @ RNG.normal(size=(3, 5))

    def principal(a: Any) -> Any:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return (u[:, :2] * s[:2] ** 2) @ vh[:2]

    def by_power(a: Any) -> Any:  # where the rank is two, and to first order beside it
        return np.sum(principal(a) * np.cos(np.arange(20.0)).reshape(4, 5))

    np.testing.assert_allclose(hoad.grad(by_power)(low), by_differences(by_power, low), atol=1e-7)
    direction = np.sin(np.arange(20.0)).reshape(4, 5)
    assert hoad.jvp(by_power, (low,), (direction,))[1] == pytest.approx(np.sum(hoad.grad(by_power)(low) * direction))


def test_norms_by_singular_values_take_the_subgradient_0() -> None:
    for order in (2, -2, "nuc"):
        norm = hoad.grad(lambda a, order=order: np.linalg.norm(a, order))
        np.testing.assert_array_equal(norm(np.zeros((2, 3))), np.zeros((2, 3)))
    nuclear = hoad.grad(lambda a: np.linalg.norm(a, "nuc"))
    np.testing.assert_array_equal(nuclear(np.diag([2.0, 0.0])), np.diag([1.0, 0.0]))


def test_singular_vectors_of_a_singular_value_0_are_loud() -> None:
    gradient = hoad.grad(lambda a: np.sum(np.linalg.svd(a, full_matrices=False)[0] * B[:, :2]))
    assert not np.isfinite(gradient(np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]))).all()


def by_eigh(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def on_matrix(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return np.sum((v * f(w)) @ v.T * WEIGHTS)

    return on_matrix


UNDETERMINED: list[tuple[str, Callable[[Any], Any], np.ndarray, int]] = [
    ("eigenvectors", lambda a: np.sum(np.linalg.eigh(a)[1] * WEIGHTS), TURNED, 1),
    ("singular vectors", lambda a: np.sum(np.linalg.svd(a)[0] * WEIGHTS), np.eye(3), 1),
    ("a product that is not seen", lambda a: np.sum(np.linalg.eigh(a)[1][:, :2] @ np.ones(2)), np.eye(3), 1),
    ("an eigenvalue, twice", lambda a: np.linalg.eigvalsh(a)[1], TURNED, 2),
    ("a singular value, twice", lambda a: np.linalg.svdvals(a)[1], Q, 2),
]


@pytest.mark.parametrize(("f", "a", "order"), [c[1:] for c in UNDETERMINED], ids=[c[0] for c in UNDETERMINED])
def test_what_equal_values_leave_undetermined_is_nan(f: Callable[[Any], Any], a: np.ndarray, order: int) -> None:
    """Never a number that is only right for some functions: what a masked 1 / (wⱼ - wᵢ) would give."""
    for word in words(order):
        directions = [(WEIGHTS + k,) for k in range(order)]
        assert np.all(np.isnan(np.sum(along(f, word, directions)(a))))


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_close_eigenvalues(gap: float) -> None:
    """No digits are lost, though eigenvectors turn by rounding over the gap."""
    a = np.diag([1.0, 2.0, 2.0 + gap])
    want = np.sum(WEIGHTS * np.diag(0.5 / np.sqrt(np.diagonal(a))))
    direction = np.eye(3)
    assert along(by_eigh(np.sqrt), "f", [(direction,)])(a) == pytest.approx(want, rel=1e-13)


# ---- pseudo-inverses of deficient rank ------------------------------------------------------------------------------

LOW = np.outer([1.0, -2.0, 0.5, 1.5], [0.5, 1.0, -1.0])


@pytest.mark.parametrize("by", [1.0, 1.0 + 0.5j])
def test_pseudo_inverses_have_the_derivatives_of_inverses(by: complex) -> None:
    """What the rule projects away is rounding errors for a regular matrix: they must not grow with the order."""
    rng = np.random.default_rng(0)
    (u, _), (v, _) = (np.linalg.qr(by * rng.normal(size=(4, 4)) + rng.normal(size=(4, 4))) for _ in range(2))
    a, d = u * [1.0, 0.1, 1e-3, 1e-5] @ v, by * rng.normal(size=(4, 4))
    found, wanted = (
        hoad.derivatives(lambda t, f=f: np.real(np.sum(f(a + t * d) * d)), 3)(0.0)
        for f in (np.linalg.pinv, np.linalg.inv)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    products = [hoad.hvp(lambda x, f=f: np.real(np.sum(f(x) * d)))(a, d) for f in (np.linalg.pinv, np.linalg.inv)]
    np.testing.assert_allclose(*products, rtol=1e-9, atol=1e-9 * np.max(abs(products[1])))


@pytest.mark.parametrize("f", [np.linalg.pinv, lambda a: np.linalg.lstsq(a, WEIGHTS[[0, 1, 2, 0]])[0]])
def test_derivatives_that_keep_the_rank(f: Callable[[Any], Any]) -> None:
    """Along u vᵀ with both of them moving, rank one stays rank one."""

    def curve(t: Any) -> Any:
        return f((LOW[:, :1] + t * B[:, :1]) * (LOW[:1] + t * B[:1]))

    got = hoad.derivative(lambda t: np.sum(curve(t) * B.T if f is np.linalg.pinv else curve(t) * WEIGHTS))(0.0)
    want = by_differences(lambda t: np.sum(curve(t) * B.T if f is np.linalg.pinv else curve(t) * WEIGHTS), 0.0)
    assert got == pytest.approx(float(want), rel=1e-8)


# ---- errors ---------------------------------------------------------------------------------------------------------

REFUSED: list[tuple[str, Callable[[Any], Any], str]] = [
    ("qr, raw", lambda x: np.linalg.qr(x, "raw")[0], "reduced"),
    ("pinv, many", lambda x: np.linalg.pinv(x, np.ones(3)), "one number"),
    ("lstsq, traced rcond", lambda x: np.linalg.lstsq(x, x, x[0, 0])[0], "traced rcond"),
    ("multi_dot, out", lambda x: np.linalg.multi_dot([x, x.T], out=np.zeros((4, 4))), "out"),
]


@pytest.mark.parametrize(("f", "message"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_what_has_no_rule_says_what_to_do(f: Callable[[Any], Any], message: str) -> None:
    with pytest.raises((hoad.NoRuleError, hoad.TracedValueError), match=message) as caught:
        hoad.jacobian(f)(B)
    assert "test_decompositions.py" in str(caught.value)


WRONG: list[tuple[str, Callable[[Any], Any], Any]] = [
    ("cholesky of no square", np.linalg.cholesky, B),
    ("cholesky, not definite", np.linalg.cholesky, -SPD),
    ("eigh of no square", lambda x: np.linalg.eigh(x)[0], B),
    ("eigh, UPLO", lambda x: np.linalg.eigh(x, "X")[0], SPD),
    ("svd of a vector", lambda x: np.linalg.svd(x)[0], B[0]),
    ("qr of a vector", lambda x: np.linalg.qr(x)[0], B[0]),
    ("lstsq, rows", lambda x: np.linalg.lstsq(x, np.ones(3))[0], B),
    ("pinv, both", lambda x: np.linalg.pinv(x, 1e-3, rtol=1e-3), B),
]


@pytest.mark.parametrize(("f", "x"), [c[1:] for c in WRONG], ids=[c[0] for c in WRONG])
def test_errors_are_those_of_numpy(f: Callable[[Any], Any], x: Any) -> None:
    for call in (f, hoad.jacobian(f)):
        with pytest.raises((ValueError, np.linalg.LinAlgError)):
            call(x)


def test_a_singular_r_is_loud() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        hoad.grad(lambda x: np.sum(np.linalg.qr(x)[0]))(np.array([[1.0, 0.0], [1.0, 0.0]]))


def test_float32_stays() -> None:
    x = SPD.astype(np.float32)
    for f in (np.linalg.cholesky, np.linalg.eigvalsh, np.linalg.pinv, lambda x: np.linalg.qr(x)[0]):
        assert hoad.jacobian(f)(x).dtype == np.float32


def test_integers_are_taken_as_floats() -> None:
    a = np.array([[4, 1], [1, 3]])
    got = hoad.grad(lambda t: np.sum(np.linalg.cholesky(np.floor(t).astype(int) * 0 + a) * t))(1.0)
    assert got == pytest.approx(np.linalg.cholesky(a).sum())


def test_columns_that_are_reduced_already() -> None:
    """LAPACK does not reflect them, and signs stay."""
    for x in (np.array([[1.0, 2.0], [0.0, 3.0], [0.0, 0.0]]), np.eye(4, 2) * (1 + 1j), np.zeros((3, 2))):
        stack = np.stack([x, np.ones_like(x) + np.eye(*x.shape)])
        for a in (x, stack):
            found = hoad.jvp(lambda a: tuple(np.linalg.qr(a, mode="complete")), (a,), (a,))[0]
            for part, wanted in zip(found, np.linalg.qr(a, mode="complete"), strict=True):
                np.testing.assert_allclose(part, wanted, atol=1e-14)
