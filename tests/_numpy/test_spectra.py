"""Functions of matrices by their eigenvalues and singular values, where these are equal, nearly equal or apart.

Beside differences of mpmath's decompositions at 80 digits, in every mix of modes, at orders 1 to 4.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from rules.modes import along, some_words, words

import hoad
from hoad._core.trace.calls import has_factors

Function = Callable[[Any], Any]
RNG = np.random.default_rng(1)
STEP = 12  # digits that differences take


def symmetric(a: np.ndarray) -> np.ndarray:
    return (a + a.T) / 2


def matrix(a: np.ndarray) -> Any:
    return mp.matrix([[mp.mpmathify(complex(x) if np.iscomplexobj(a) else float(x)) for x in row] for row in a])


def mixed(f: Function, a: np.ndarray, directions: Sequence[np.ndarray]) -> float:
    """The derivative of f along the directions, by central differences."""
    with mp.workdps(80):
        h, total = mp.mpf(10) ** -STEP, mp.mpf(0)
        for signs in itertools.product((1, -1), repeat=len(directions)):
            moved = matrix(a)
            for sign, direction in zip(signs, directions, strict=True):
                moved += sign * h * matrix(direction)
            total += int(np.prod(signs)) * mp.re(f(moved))
        return float(total / (2 * h) ** len(directions))


def check(f: Function, exact: Function, a: np.ndarray, directions: Sequence[np.ndarray], orders: int = 4) -> None:
    for order in range(1, orders + 1):
        want = mixed(exact, a, directions[:order])
        for word in some_words(order, str(want)):
            got = along(f, word, [(e,) for e in directions[:order]])(a)
            assert got == pytest.approx(want, rel=1e-12, abs=1e-13), (order, word)


Q = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
DIRECTIONS = [symmetric(RNG.normal(size=(4, 4))) for _ in range(4)]
W, B, C = RNG.normal(size=(4, 4)), RNG.normal(size=4), RNG.normal(size=4)


def turned(*w: float) -> np.ndarray:
    return symmetric(Q @ np.diag(w) @ Q.T)


MATRICES = {
    "diagonal pair": np.diag([3.0, 1.0, 1.0, 2.0]),
    "pair": turned(3.0, 1.0, 1.0, 2.0),
    "triple": turned(2.0, 1.0, 1.0, 1.0),
    "all": turned(1.5, 1.5, 1.5, 1.5),
    "zeros": np.zeros((4, 4)),
    "negative": turned(-0.2, -0.2, 0.0, 1.0),
    **{f"gap {gap}": turned(3.0, 1.0, 1.0 + gap, 2.0) for gap in (1e-15, 1e-12, 1e-9, 1e-6, 1e-3)},
    "apart": turned(3.0, 1.0, 1.5, 2.0),
}
each_matrix = pytest.mark.parametrize("a", MATRICES.values(), ids=MATRICES)

FUNCTIONS: dict[str, tuple[Function, Function]] = {
    "cube": (lambda w: w**3, lambda w: w**3),
    "log": (lambda w: np.log(w + 0.5), lambda w: mp.log(w + mp.mpf(0.5))),
    "inverse": (lambda w: 1.0 / (w + 0.5), lambda w: 1 / (w + mp.mpf(0.5))),
}
each_function = pytest.mark.parametrize("name", list(FUNCTIONS))


@functools.cache
def _eigen(items: tuple[Any, ...], digits: int, with_vectors: bool) -> Any:
    """Those of a 4 × 4 matrix, to so many digits; many functions and products share them."""
    return mp.eigsy(mp.matrix([items[k : k + 4] for k in range(0, 16, 4)]), eigvals_only=not with_vectors)


def eigenvalues(a: Any) -> Any:
    return _eigen(tuple(a), mp.dps, False)


def of_matrix(f: Function, a: Any) -> Any:
    w, v = _eigen(tuple(a), mp.dps, True)
    return v * mp.diag([f(x) for x in w]) * v.T


# ---- functions of eigenvalues ---------------------------------------------------------------------------------------


@each_matrix
@each_function
def test_sums(name: str, a: np.ndarray) -> None:
    f, exact = FUNCTIONS[name]
    check(
        lambda a: np.sum(f(np.linalg.eigvalsh(a))),
        lambda a: mp.fsum(exact(w) for w in eigenvalues(a)),
        a,
        DIRECTIONS,
    )


SYMMETRIC: dict[str, tuple[Function, Function]] = {
    "trace": (np.sum, mp.fsum),
    "mean": (lambda w: np.mean(np.exp(w)), lambda w: mp.fsum(mp.exp(x) for x in w) / 4),
    "product": (np.prod, mp.fprod),
    "norm": (lambda w: np.linalg.norm(w + 1.0), lambda w: mp.sqrt(mp.fsum((x + 1) ** 2 for x in w))),
    "inner": (lambda w: np.exp(w) @ w, lambda w: mp.fsum(mp.exp(x) * x for x in w)),
    "log of sum": (lambda w: np.log(np.sum(np.exp(w))), lambda w: mp.log(mp.fsum(mp.exp(x) for x in w))),
    "shares": (
        lambda w: np.sum(np.exp(w) / np.sum(np.exp(w)) * w),
        lambda w: mp.fsum(mp.exp(x) * x for x in w) / mp.fsum(mp.exp(x) for x in w),
    ),
    "masked": (lambda w: np.sum(np.where(w > 0.5, w**2, 0.0)), lambda w: mp.fsum(x * x for x in w if x > 0.5)),
    "largest": (lambda w: w[-1], max),
    "largest by max": (np.max, max),
    "three": (lambda w: w[..., -1:].sum() * 3.0, lambda w: 3 * max(w)),
}


@pytest.mark.parametrize("name", list(SYMMETRIC))
@pytest.mark.parametrize("kind", ["diagonal pair", "pair", "gap 1e-12", "gap 1e-06"])
def test_symmetric_functions_and_simple_eigenvalues(name: str, kind: str) -> None:
    f, exact = SYMMETRIC[name]
    a = MATRICES[kind]
    check(lambda a: f(np.linalg.eigvalsh(a)), lambda a: exact(list(eigenvalues(a))), a, DIRECTIONS, 3)


def test_hessians_in_lanes_and_stacks() -> None:
    stack = np.stack([MATRICES["pair"], MATRICES["diagonal pair"], MATRICES["apart"]])
    for f in (
        lambda a: np.sum(np.linalg.eigvalsh(a) ** 3),
        lambda a: np.sum(np.linalg.norm(a, 2, axis=(-2, -1)) ** 2),
        lambda a: np.sum(np.linalg.eigvalsh(a)[..., -1] ** 2),
    ):
        alone = np.stack([hoad.hessian(f)(a) for a in stack])
        assert np.isfinite(alone).all()
        for a, want in zip(stack, alone, strict=True):
            got = [hoad.jacobian(hoad.jacobian(f, mode=x), mode=y)(a) for x, y in itertools.product(MODES, repeat=2)]
            for found in (*got, hoad.jit(hoad.hessian(f))(a)):
                np.testing.assert_allclose(found, want, atol=1e-13)
        np.testing.assert_allclose(hoad.vmap(hoad.hessian(f))(stack), alone, atol=1e-14)
        whole = hoad.hessian(f)(stack)
        for k in range(3):
            np.testing.assert_allclose(whole[k, :, :, k], alone[k], atol=1e-14)


MODES: Any = ("forward", "reverse")


def test_in_closed_form() -> None:
    """Of diag(3, 1, 1): the Hessian of the largest eigenvalue has 1 / (3 - 1) where rows and columns 0 meet others."""
    want = np.zeros((3, 3, 3, 3))
    for k in (1, 2):
        for i, j, m, n in itertools.product((0, k), repeat=4):
            want[i, j, m, n] = 0.25 if i != j and m != n else 0.0
    np.testing.assert_allclose(
        hoad.hessian(lambda a: np.linalg.eigvalsh(a)[-1])(np.diag([3.0, 1.0, 1.0])), want, atol=1e-15
    )


# ---- functions of matrices ------------------------------------------------------------------------------------------


def quadratic(by: Callable[[Any, Any], Any]) -> Function:
    return lambda f: lambda a: by(*np.linalg.eigh(a))(f)


def weighed(m: Any) -> Any:
    return mp.fsum(m[i, j] * mp.mpf(W[i, j]) for i in range(4) for j in range(4))


def between(m: Any) -> Any:
    return (matrix(C[None]) * m * matrix(B[:, None]))[0]


def within(m: Any) -> Any:
    return (matrix(B[None]) * m * matrix(B[:, None]))[0]


# name: of (f, w, v), and what it is of f(A)
PRODUCTS: dict[str, tuple[Callable[..., Any], Function]] = {
    "V * f @ V.T": (lambda f, w, v: np.sum((v * f(w)) @ v.T * W), weighed),
    "np.matmul": (lambda f, w, v: np.sum(np.matmul(v * f(w), v.T) * W), weighed),
    "np.dot": (lambda f, w, v: np.sum(np.dot(v * f(w), v.T) * W), weighed),
    "einsum of two": (lambda f, w, v: np.sum(np.einsum("ij,jk->ik", v * f(w), v.T) * W), weighed),
    "tensordot": (lambda f, w, v: np.sum(np.tensordot(v * f(w), v.T, 1) * W), weighed),
    "V / g @ V.T": (lambda f, w, v: np.sum((v / (1.0 / f(w))) @ v.T * W), weighed),
    "V @ diag @ V.T": (lambda f, w, v: np.sum(v @ np.diag(f(w)) @ v.T * W), weighed),
    "V @ (f * V.T)": (lambda f, w, v: np.sum(v @ (f(w)[:, None] * v.T) * W), weighed),
    "einsum": (lambda f, w, v: np.sum(np.einsum("ij,j,kj->ik", v, f(w), v) * W), weighed),
    "V @ (f * (V.T @ b))": (lambda f, w, v: C @ (v @ (f(w) * (v.T @ B))), between),
    "(b @ V * f) @ V.T": (lambda f, w, v: ((B @ v) * f(w)) @ v.T @ C, between),
    "inner": (lambda f, w, v: (B @ v * f(w)) @ (v.T @ C), between),
    "squares": (lambda f, w, v: np.sum((v.T @ B) ** 2 * f(w)), within),
    "squares of columns": (lambda f, w, v: np.sum((v.T @ B[:, None]) ** 2 * f(w)[:, None]), within),
    "squares of rows": (lambda f, w, v: np.sum((B[None] @ v) ** 2 * f(w)), within),
    "with a sum": (
        lambda f, w, v: np.sum(np.square(v.T @ B) * f(w) + np.exp(w)),
        lambda m: within(m),
    ),
}


@pytest.mark.parametrize("name", list(PRODUCTS))
@pytest.mark.parametrize("kind", ["pair", "gap 1e-09"])
def test_products(name: str, kind: str) -> None:
    f, exact = FUNCTIONS["inverse"]
    of, what = PRODUCTS[name]

    def known(a: Any) -> Any:
        more = mp.fsum(mp.exp(w) for w in eigenvalues(a)) if name == "with a sum" else 0
        return what(of_matrix(exact, a)) + more

    check(lambda a: of(f, *np.linalg.eigh(a)), known, MATRICES[kind], DIRECTIONS, 3)


@each_matrix
@each_function
def test_functions_of_matrices(name: str, a: np.ndarray) -> None:
    f, exact = FUNCTIONS[name]
    of, _ = PRODUCTS["V * f @ V.T"]
    check(
        lambda a: of(f, *np.linalg.eigh(a)),
        lambda a: weighed(of_matrix(exact, a)),
        a,
        DIRECTIONS,
        3,
    )


@pytest.mark.parametrize("multiply", [operator.matmul, np.matmul, np.dot], ids=["@", "matmul", "dot"])
def test_equal_eigenvalues_in_any_spelling_of_the_product(multiply: Callable[[Any, Any], Any]) -> None:
    weights = symmetric(np.arange(9.0).reshape(3, 3))

    def f(a: Any) -> Any:
        w, v = np.linalg.eigh((a + a.T) / 2)
        return np.sum(weights * multiply(v * np.exp(w), v.T))

    e2, e3 = np.exp(2.0), np.exp(3.0)
    slopes = np.array([[e2, e2, e3 - e2], [e2, e2, e3 - e2], [e3 - e2, e3 - e2, e3]])  # divided differences of exp
    np.testing.assert_allclose(hoad.grad(f)(np.diag([2.0, 2.0, 3.0])), weights * slopes, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("theta", [[1.0, 0.1, 0.0], [1.0, 1e-3, 1e-9], [0.7, 0.3, 1e-5]])
def test_a_likelihood(theta: list[float]) -> None:
    """log det K + yᵀ K⁻¹ y for K = a K₀ + b + c D, by eigenvalues of all but b."""
    k0 = MATRICES["pair"] @ MATRICES["pair"] + np.eye(4)
    d = np.diag(np.linspace(0.0, 1.0, 4))

    def likelihood(theta: Any) -> Any:
        w, v = np.linalg.eigh(theta[0] * k0 + theta[2] * d)
        y = v.T @ B
        return np.sum(np.log(w + theta[1])) + np.sum(y**2 / (w + theta[1]))

    def exact(theta: Any) -> Any:
        k = theta[0, 0] * matrix(k0) + theta[0, 2] * matrix(d) + theta[0, 1] * mp.eye(4)
        return mp.log(mp.det(k)) + within(mp.inverse(k))

    directions = [RNG.normal(size=(1, 3)) for _ in range(4)]
    check(lambda theta: likelihood(theta[0]), exact, np.array([theta]), directions)


def test_series() -> None:
    e = DIRECTIONS[0]
    for kind, (name, (f, exact)) in itertools.product(["pair", "diagonal pair", "gap 1e-09"], FUNCTIONS.items()):
        a = MATRICES[kind]
        functions = {
            "sum": (
                lambda a, f=f: np.sum(f(np.linalg.eigvalsh(a))),
                lambda a, exact=exact: mp.fsum(exact(w) for w in eigenvalues(a)),
            ),
            "product": (
                lambda a, f=f, of=PRODUCTS["V * f @ V.T"][0]: of(f, *np.linalg.eigh(a)),
                lambda a, exact=exact: weighed(of_matrix(exact, a)),
            ),
            "largest": (lambda a: np.linalg.eigvalsh(a)[-1], lambda a: max(eigenvalues(a))),
        }
        for of, known in functions.values():
            with mp.workdps(80):
                want = [float(c) for c in mp.taylor(lambda t, k=known, a=a: k(matrix(a) + t * matrix(e)), 0, 4)]
            got = hoad.taylor(lambda t, of=of, a=a: of(a + t * e), 0.0, 4).coefficients
            np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12, err_msg=f"{kind} {name}")


# ---- singular values ------------------------------------------------------------------------------------------------

LEFT, RIGHT = np.linalg.qr(RNG.normal(size=(4, 4)))[0][:, :3], np.linalg.qr(RNG.normal(size=(3, 3)))[0]
TALL = [RNG.normal(size=(4, 3)) for _ in range(4)]
RECTANGLES = {
    "pair": LEFT * [2.0, 1.0, 1.0] @ RIGHT.T,
    "all": LEFT @ RIGHT.T,
    "gap 1e-09": LEFT * [2.0, 1.0 + 1e-9, 1.0] @ RIGHT.T,
}


def values(a: Any) -> list[Any]:
    return sorted(mp.svd_r(a, compute_uv=False), reverse=True)


def root_of(a: Any) -> Any:
    u, s, v = mp.svd_r(a, full_matrices=False)
    m = u * mp.diag([mp.sqrt(x) for x in s]) * v
    return mp.fsum(m[i, j] * mp.mpf(W[i, j]) for i in range(4) for j in range(3))


def solved(a: Any) -> Any:
    return mp.fsum(mp.inverse(a.T * a) * a.T * matrix(B[:, None]))


def svd(a: Any) -> Any:
    return np.linalg.svd(a, full_matrices=False)


OF_SINGULAR: dict[str, tuple[Function, Function]] = {
    "nuclear": (lambda a: np.linalg.norm(a, "nuc"), lambda a: mp.fsum(values(a))),
    "nuclear, wide": (lambda a: np.linalg.norm(a.T, "nuc"), lambda a: mp.fsum(values(a))),
    "cubes": (lambda a: np.sum(np.linalg.svdvals(a) ** 3), lambda a: mp.fsum(x**3 for x in values(a))),
    "root": (lambda a: (lambda u, s, vh: np.sum((u * np.sqrt(s)) @ vh * W[:, :3]))(*svd(a)), root_of),
    "least squares": (lambda a: (lambda u, s, vh: np.sum(vh.T @ ((u.T @ B) / s)))(*svd(a)), solved),
    "largest": (lambda a: np.linalg.norm(a, 2), lambda a: values(a)[0]),
}


@pytest.mark.parametrize("name", list(OF_SINGULAR))
@pytest.mark.parametrize("kind", list(RECTANGLES))
def test_singular_values(name: str, kind: str) -> None:
    if (name, kind) != ("largest", "all"):
        check(*OF_SINGULAR[name], RECTANGLES[kind], TALL, 3)


@pytest.mark.parametrize("power", [2, 4])
def test_even_powers_where_the_rank_is_deficient(power: int) -> None:
    check(
        lambda a: np.sum(np.linalg.svdvals(a) ** power),
        lambda a: mp.fsum(x**power for x in values(a)),
        LEFT * [2.0, 1.0, 0.0] @ RIGHT.T,
        TALL,
        3,
    )


def test_condition_numbers() -> None:
    a = np.linalg.qr(RNG.normal(size=(4, 4)))[0] * [4.0, 2.0, 2.0, 1.0] @ Q
    directions = [RNG.normal(size=(4, 4)) for _ in range(3)]
    check(np.linalg.cond, lambda a: values(a)[0] / values(a)[-1], a, directions, 3)
    check(lambda a: np.linalg.norm(a, -2), lambda a: values(a)[-1], a, directions, 3)


# ---- Hermitian matrices ---------------------------------------------------------------------------------------------


def hermitian() -> np.ndarray:
    z = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))
    return (z + z.conj().T) / 2


@pytest.mark.parametrize(
    ("f", "exact"),
    [
        (lambda a: np.sum(np.linalg.eigvalsh(a) ** 3), lambda a: mp.fsum(w**3 for w in mp.eighe(a, True))),
        (lambda a: np.linalg.eigvalsh(a)[-1], lambda a: max(mp.eighe(a, True))),
        (lambda a: np.linalg.norm(a, 2), lambda a: max(mp.svd_c(a, compute_uv=False))),
    ],
)
def test_hermitian_matrices(f: Function, exact: Function) -> None:
    z = np.linalg.qr(RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3)))[0]
    a = z * [2.0, 1.0, 1.0] @ z.conj().T
    a = (a + a.conj().T) / 2
    directions = [hermitian() for _ in range(3)]
    for order in (1, 2, 3):
        want = mixed(exact, a, directions[:order])
        moved = functools.partial(np.tensordot, axes=1)
        for modes in itertools.product(MODES, repeat=order):
            g: Any = lambda t, order=order: f(a + moved(t, np.stack(directions[:order])))  # noqa: E731
            for k, mode in enumerate(modes):
                g = functools.partial(lambda g, k, mode, t: hoad.jacobian(g, mode=mode)(t)[k], g, k, mode)
            assert g(np.zeros(order)) == pytest.approx(want, rel=1e-12, abs=1e-13)


# ---- what has no derivative -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda w: w[0],
        lambda w: w[0] ** 2 + w[1],
        lambda w: np.sum(np.array([1.0, 2.0, 3.0, 4.0]) * w),
        lambda w: w[0] ** 2 + w[1] ** 2,  # symmetric, but not seen to be
    ],
)
def test_a_value_among_equal_ones_has_no_second_derivative(f: Function) -> None:
    for word in words(2):
        assert np.isnan(
            along(lambda a: f(np.linalg.eigvalsh(a)), word, [(e,) for e in DIRECTIONS[:2]])(MATRICES["pair"])
        )


def test_derivatives_by_values_stop_there() -> None:
    """What is taken by eigenvalues is not seen through them."""
    a = MATRICES["pair"]

    def inner(a: Any) -> Any:
        w = np.linalg.eigvalsh(a)
        return np.sum(hoad.grad(lambda w: np.sum(w**3))(w) * hoad.stop_gradient(w))

    w, v = np.linalg.eigh(a)
    np.testing.assert_allclose(hoad.grad(inner)(a), v * (6.0 * w * w) @ v.T, atol=1e-13)


def test_weights_that_are_0_by_chance() -> None:
    """(w₀ - 1)(w₁ - 1) at A = I, by items, has no derivative that is known of its parts: nan, and not 0."""

    def f(a: Any) -> Any:
        w = np.linalg.eigvalsh(np.array([[a[0], a[1]], [a[1], a[2]]], like=a))
        return (w[0] - 1.0) * (w[1] - 1.0)

    assert np.isnan(hoad.hessian(f)(np.array([1.0, 0.0, 1.0]))[1, 1])


# Functions of w = 1, 1, 2: those whose slopes by the first two are 0 there, and those that do not depend on these.
BY_CHANCE: dict[str, Function] = {
    "square": lambda w: (w[1] - w[0]) ** 2 + w[2],
    "product": lambda w: (w[0] - 1.0) * (w[1] - 1.0) + w[2],
    "factor": lambda w: w[2] * (1.0 + (w[0] - 1.0) * (w[1] - 1.0)),
    "slice": lambda w: np.sum((w[:2] - 1.0) ** 2) + w[2],
    "differences": lambda w: np.sum(np.diff(w)[:1] ** 2) + w[2],
    "masked": lambda w: np.sum(np.where(w < 1.5, w - 1.0, 0.0) ** 2 * [1.0, 2.0, 3.0]) + w[2],
}
OF_LARGEST: dict[str, Function] = {
    "item": lambda w: w[2],
    "square": lambda w: w[2] ** 2,
    "slice": lambda w: np.sum(w[2:]),
    "gathered": lambda w: np.sum(w[np.array([2])] * 3.0),
    "max": np.max,
}
PAIR_BELOW = {"diagonal": np.diag([1.0, 1.0, 2.0]), "turned": symmetric(RIGHT * [1.0, 1.0, 2.0] @ RIGHT.T)}


def second(f: Function, a: np.ndarray) -> dict[str, Any]:
    """Its second derivative along two directions in every mode, also in lanes and stacks, and replayed."""
    d, e = (x[:3, :3] for x in DIRECTIONS[:2])
    hvp, stack = hoad.hvp(f), np.stack([a, a + np.diag([0.0, 0.5, 0.0]), a])
    found = {word: along(f, word, [(d,), (e,)])(a) for word in words(2)}
    for inner, outer in itertools.product(MODES, repeat=2):
        hessian = hoad.jacobian(hoad.jacobian(f, mode=inner), mode=outer)(a)
        found[f"{inner}, {outer}"] = np.tensordot(np.tensordot(hessian, d), e)
    found["hessian"] = np.tensordot(np.tensordot(hoad.jit(hoad.hessian(f))(a), d), e)
    found["jit"] = np.sum(hoad.jit(hvp)(a, d) * e)
    found["vmap"] = np.sum(hoad.vmap(lambda a: hvp(a, d))(stack)[0] * e)
    found["sum"] = np.sum(hoad.hvp(lambda a: sum(f(x) for x in a))(stack, np.stack([d, d, d]))[0] * e)
    return found


@pytest.mark.parametrize("kind", list(PAIR_BELOW))
@pytest.mark.parametrize("name", list(BY_CHANCE))
def test_weights_that_are_0_by_chance_beside_others(name: str, kind: str) -> None:
    """Numbers that happen to be 0 at equal eigenvalues are not those on which nothing depends."""

    def f(a: Any) -> Any:
        return BY_CHANCE[name](np.linalg.eigvalsh(a))

    for mode, got in second(f, PAIR_BELOW[kind]).items():
        assert np.isnan(got), mode
    with pytest.raises(hoad.DomainError):
        hoad.taylor(lambda t: f(PAIR_BELOW[kind] + t * DIRECTIONS[0][:3, :3]), 0.0, 2)


@pytest.mark.parametrize("kind", list(PAIR_BELOW))
@pytest.mark.parametrize("name", list(OF_LARGEST))
def test_what_does_not_depend_on_the_equal_ones(name: str, kind: str) -> None:
    def largest(a: Any) -> Any:
        w = max(mp.eigsy(a, eigvals_only=True))
        return w * w if name == "square" else 3 * w if name == "gathered" else w

    a = PAIR_BELOW[kind]
    want = mixed(largest, a, [x[:3, :3] for x in DIRECTIONS[:2]])
    for mode, got in second(lambda a: OF_LARGEST[name](np.linalg.eigvalsh(a)), a).items():
        assert got == pytest.approx(want, rel=1e-12), mode


@pytest.mark.parametrize("shape", [(4, 2), (2, 5), (1, 4)])
@pytest.mark.parametrize("k", [0, -1])
def test_oblong_matrices(k: int, shape: tuple[int, int]) -> None:
    """The zeros outside of the shorter side are equal eigenvalues of the symmetric matrix: nothing depends on them."""
    a, directions = RNG.normal(size=shape), [RNG.normal(size=shape) for _ in range(4)]
    check(lambda a: np.linalg.svdvals(a)[k], lambda a: values(a)[k], a, directions)


# By the name of NumPy's function: what the user's function of that name does, and its rule.
NAMESAKES: dict[str, tuple[Function, Callable[..., Any]]] = {
    "negative": (lambda x: x**2, lambda g, p, x: (2 * x * g,)),
    "square": (lambda x: x**3, lambda g, p, x: (3 * x**2 * g,)),
    "reshape": (lambda x: x**2 + x**4, lambda g, p, x: ((2 * x + 4 * x**3) * g,)),
}


@pytest.mark.parametrize("name", NAMESAKES)
def test_an_operation_of_the_users_is_not_taken_for_numpys_of_that_name(name: str) -> None:
    function, rule = NAMESAKES[name]

    def own(x: Any) -> Any:
        return function(x)

    own.__name__ = own.__qualname__ = name
    operation = hoad.primitive(own)
    hoad.defvjp(operation, rule)

    def exact(a: Any) -> Any:
        _, v = mp.eigsy(a)
        return sum(function(sum(v[i, k] * mp.mpf(float(C[i])) for i in range(4))) ** 2 for k in range(4))

    check(lambda a: np.sum(operation(np.linalg.eigh(a)[1].T @ C) ** 2), exact, turned(1, 2, 3.5, 5), DIRECTIONS, 2)


def test_factors_are_looked_for_where_they_are_recorded() -> None:
    """In other recordings of the process, sums take no look at what they are of."""

    found = []

    def of_factors(a: Any) -> Any:
        w = np.linalg.eigvalsh(a)
        found.append(has_factors(w))
        return np.sum(w)

    def of_others(x: Any) -> Any:
        found.append(has_factors(x))
        return np.sum(x)

    hoad.grad(of_factors)(np.eye(2))
    assert found[0]
    found.clear()
    hoad.grad(of_others)(np.ones(2))
    assert not any(found)
