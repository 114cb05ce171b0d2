"""Constant sparse matrices times traced arrays, and systems of them: what dense matrices give."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

sp = pytest.importorskip("scipy.sparse")

import scipy.sparse.linalg as ssl  # noqa: E402
from policy.memory import growth  # noqa: E402
from rules.modes import along, words  # noqa: E402

import hoad  # noqa: E402
from hoad.scipy import sparse  # noqa: E402
from hoad.scipy.sparse import linalg  # noqa: E402

DENSE = np.array([[2.0, 1.0, 0.0, 0.0], [0.0, 3.0, 1.0, 0.5], [1.0, 0.0, 4.0, 0.0], [0.0, 0.25, 0.0, 5.0]])
V, W = np.array([1.0, 2.0, 0.5, -1.0]), np.array([0.5, -0.25, 1.0, 0.75])
M, N = np.outer(V, W[:3]) + 1.0, np.outer(W, V[:3])
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]


def of_format(name: str, kind: str = "array") -> Any:
    return getattr(sp, f"{name}_{kind}")(sp.csr_array(DENSE))


PRODUCTS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any], Any, Any]] = {
    "A @ x": (lambda a, x: a @ x, lambda x: DENSE @ x, V, W),
    "A.dot(x)": (lambda a, x: a.dot(x), lambda x: DENSE @ x, V, W),
    "A @ X": (lambda a, x: a @ x, lambda x: DENSE @ x, M, N),
    "a column": (lambda a, x: a @ x, lambda x: DENSE @ x, M[:, :1], N[:, :1]),
    "A.T @ x": (lambda a, x: a.T @ x, lambda x: DENSE.T @ x, V, W),
    "A.T.T @ x": (lambda a, x: a.T.T @ x, lambda x: DENSE @ x, V, W),
    "A.T.tocsc() @ x": (lambda a, x: a.T.tocsc() @ x, lambda x: DENSE.T @ x, V, W),
    "x @ A": (lambda a, x: x @ a, lambda x: x @ DENSE, V, W),
    "X @ A": (lambda a, x: x.T @ a, lambda x: x.T @ DENSE, M, N),
}


@pytest.mark.parametrize("adopt", [lambda f: f, hoad.adopt], ids=["", "adopted"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, form: str, kind: str, adopt: Callable[..., Any]) -> None:
    f, dense, x, d = PRODUCTS[name]
    a = of_format(form, kind)
    value, slope = hoad.jvp(adopt(lambda x: f(a, x)), (x,), (d,))
    np.testing.assert_array_equal(value, f(a if form in ("csr", "csc") else a.tocsr(), x))
    np.testing.assert_allclose(value, dense(x), rtol=1e-14)
    np.testing.assert_allclose(slope, dense(d), rtol=1e-14)
    wanted = hoad.grad(lambda x: np.sum(np.sin(dense(x))))
    jitted = hoad.jit(hoad.grad(adopt(lambda x: np.sum(np.sin(f(a, x))))))
    for point in (x, d):
        np.testing.assert_allclose(jitted(point), wanted(point), rtol=1e-13, atol=1e-15)


MATRICES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    "A * x": (lambda a, x: a * x, lambda x: DENSE @ x),
    "x * A": (lambda a, x: x * a, lambda x: x @ DENSE),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("form", FORMATS)
def test_products_in_the_notation_of_matrices(name: str, form: str) -> None:
    f, dense = MATRICES[name]
    a = of_format(form, "matrix")
    value, slope = hoad.jvp(lambda x: f(a, x), (V,), (W,))
    np.testing.assert_allclose(value, dense(V), rtol=1e-14)
    np.testing.assert_allclose(slope, dense(W), rtol=1e-14)


def test_vectors() -> None:
    a = sp.coo_array(DENSE[1])
    for f, dense, x in (
        (lambda x: a @ x, lambda x: DENSE[1] @ x, V),
        (lambda x: x @ a, lambda x: x @ DENSE[1], V),
        (lambda x: a @ x, lambda x: DENSE[1] @ x, M),
        (lambda x: x @ a, lambda x: x @ DENSE[1], M.T),
    ):
        np.testing.assert_allclose(hoad.jacobian(f)(x), hoad.jacobian(dense)(x), rtol=1e-14)


def test_orders_of_products() -> None:
    a = of_format("csr")
    p, q = DENSE @ V, DENSE @ W
    for order, slope in ((1, np.cos(p)), (2, -np.sin(p)), (3, -np.cos(p)), (4, np.sin(p))):
        for word in words(order):
            found = along(lambda x: np.sum(np.sin(a @ x)), word, [(W,)] * order)(V)
            np.testing.assert_allclose(found, np.sum(slope * q**order), rtol=1e-12)
    coefficients = hoad.taylor(lambda t: np.sum(np.sin(a @ (V + t * W))), 0.0, 4)
    np.testing.assert_allclose(coefficients[4], np.sum(np.sin(p) * q**4) / 24, rtol=1e-12)
    found = hoad.vmap(hoad.grad(lambda x: np.sum((a @ x) ** 2)))(M.T)
    np.testing.assert_allclose(found, 2 * M.T @ DENSE.T @ DENSE, rtol=1e-13)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_a_matrix_that_is_written_to(form: str) -> None:
    """A recording keeps what the matrix was; what jit has recorded is not used for what it is now."""
    a = of_format(form)
    slope = hoad.grad(lambda x: np.sum((a @ x) ** 2))
    jitted, program = hoad.jit(slope), hoad.record(lambda x: a @ x, V)
    np.testing.assert_allclose(jitted(V), 2 * DENSE.T @ DENSE @ V, rtol=1e-13)
    a.data *= 2.0
    for found in (slope(V), jitted(V)):
        np.testing.assert_allclose(found, 8 * DENSE.T @ DENSE @ V, rtol=1e-13)
    np.testing.assert_allclose(program(V), DENSE @ V, rtol=1e-14)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_many_products_with_a_matrix_keep_it_once(form: str) -> None:
    a = of_format(form)

    def f(x: Any) -> Any:
        for _ in range(3):
            x = a @ x - (x @ a) * 0.1
        return x

    nodes = [node for node in hoad.record(f, V)[0] if node.operation == "sparse_product"]
    assert len(nodes) == 6
    assert len({x.value.ctypes.data for node in nodes for x in node.operands[1:]}) == 3


def test_new_matrices_leave_nothing() -> None:
    """A recording keeps what it multiplies by, and no table keeps it longer."""
    n = 20_000
    x, held = np.ones(n), []

    def slope() -> None:
        a = sp.diags_array([np.full(n, 2.0)], offsets=[0], format="csr")
        held.append(weakref.ref(a))
        hoad.grad(lambda x: np.sum(a @ x))(x)

    assert growth(slope, 30) < n  # bytes, of the 16 n of one matrix


class Doubled(sp.csr_array):
    def _matmul_vector(self, other: Any) -> Any:
        return 2.0 * super()._matmul_vector(other)


class Plain(sp.csr_array):
    pass


@pytest.mark.parametrize("adopt", [lambda f: f, hoad.adopt], ids=["", "adopted"])
def test_classes_of_the_users(adopt: Callable[..., Any]) -> None:
    plain, doubled = Plain(DENSE), Doubled(DENSE)
    np.testing.assert_allclose(hoad.grad(adopt(lambda x: np.sum(plain @ x)))(V), np.sum(DENSE, 0), rtol=1e-14)
    with pytest.raises(hoad.TracedValueError, match=r"Doubled multiplies in its own way, by _matmul_vector"):
        hoad.grad(adopt(lambda x: np.sum(doubled @ x)))(V)


class Other:
    """No matrix of SciPy's, with a method that has the name of one of theirs."""

    def _matmul_dispatch(self, other: Any) -> Any:
        return 2.0 * other if isinstance(other, np.ndarray) else 3.0 * other


def test_other_classes_are_not_scipys() -> None:
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(Other()._matmul_dispatch(x)))(V), np.full(4, 2.0))


def test_lists_of_traced_numbers() -> None:
    a = of_format("csr")
    with pytest.raises(hoad.TracedValueError, match=r"multiplied by a list of traced numbers .* np.array\(x\)"):
        hoad.grad(hoad.adopt(lambda x: np.sum(a @ [x[0], x[1], x[2], x[3]])))(V)


ENTRIES: dict[str, Callable[[], Any]] = {
    "complex": lambda: sp.csr_array(DENSE * (1.0 + 0.5j)),
    "float32": lambda: sp.csr_array(DENSE.astype(np.float32)),
    "integers": lambda: sp.csr_array(np.round(DENSE).astype(np.int32)),
    "booleans": lambda: sp.csc_array(DENSE > 0.5),
    "twice": lambda: sp.coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), (4, 4)),
    "out of order": lambda: sp.csr_array((np.arange(1.0, 5.0), [3, 0, 2, 1], [0, 2, 4, 4, 4]), (4, 4)),
    "no entries": lambda: sp.csr_array((4, 4)),
    "no rows": lambda: sp.csr_array((0, 4)),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_entries(name: str) -> None:
    a = ENTRIES[name]()
    value, slope = hoad.jvp(lambda x: a @ x, (V,), (W,))
    assert value.dtype == (a @ V).dtype
    np.testing.assert_array_equal(value, a @ V)
    np.testing.assert_array_equal(slope, a @ W)
    found = hoad.grad(lambda x: np.sum(np.abs(a @ x) ** 2))(V)
    dense = a.toarray()
    np.testing.assert_allclose(found, 2 * np.real(dense.conj().T @ (dense @ V)), rtol=1e-13)


def test_operands_that_do_not_fit() -> None:
    a = of_format("csr")
    for x in (np.ones(3), np.ones((3, 2))):
        with pytest.raises(hoad.ShapeError, match=r"the shapes \(4, 4\) and \(.*\) of a product"):
            hoad.record(lambda x: a @ x, x)
        with pytest.raises(hoad.ShapeError, match=r"the shapes \(.*\) and \(4, 4\) of a product"):
            hoad.record(lambda x: x @ a, x)


CSR, CSC = sp.csr_array(DENSE), sp.csc_array(DENSE)
# What to write instead of what takes no traced values: (what it says, the function)
ADVISED: list[tuple[str, Callable[[Any], Any]]] = [
    (r"np\.dot would make an object of the csr_array A, not an array.*Write A @ x", lambda x: np.dot(CSR, x)),
    (r"np\.dot would make an object.*Write A @ x", lambda x: np.dot(x, CSR)),
    (r"np\.inner would make.*Write A @ x", lambda x: np.inner(CSR, x)),
    (r"np\.vdot would make.*Write A @ x", lambda x: np.vdot(x, CSR)),
    (r"np\.tensordot would make.*Write A @ x", lambda x: np.tensordot(CSR, x, 1)),
    (r"np\.einsum would make.*Write A @ x", lambda x: np.einsum("ij,j", CSR, x)),
    (r"np\.linalg\.solve would make.*sparse\.linalg\.spsolve\(A, b\)", lambda x: np.linalg.solve(CSR, x)),
    (r"np\.asarray makes an object of the csr_array A.*Write A @ x", lambda x: np.asarray(CSR) @ x),
    (r"A @ \(x \* u\) for A diag\(x\) u.*csr_array\.multiply ", lambda x: CSR.multiply(x)),
    (r"^Write A @ x.*csr_array\.multiply ", lambda x: CSR * x),
    (r"A @ \(x \* u\) for A diag\(x\) u.*diags_array ", lambda x: sp.diags_array(x) @ x),
    (r"^Write x \* u.*spdiags ", lambda x: sp.spdiags(x, 0, 4, 4) @ x),
    (r"^Write A\.toarray\(\) \+ x.*_add_dense ", lambda x: x + CSR),
    (r"^Write y = .*np\.add\.at\(y, rows, values.*coo_array ", lambda x: sp.coo_array((x, (range(4), range(4)))) @ x),
    (r"^Use hoad\.scipy\.sparse\.linalg\.spsolve .* scipy\.sparse\.linalg\.spsolve ", lambda x: ssl.spsolve(CSR, x)),
    (r"hoad\.implicit\.linear_solve.*linalg\.cg ", lambda x: ssl.cg(CSR, x)[0]),
    (r"^Use hoad\.scipy\.sparse\.linalg\.spsolve.*spsolve_triangular ", lambda x: ssl.spsolve_triangular(CSR, x)),
    (
        r"takes plain arrays.*\(test_sparse\.py:\d+\).*hoad\.scipy\.sparse\.linalg\.splu",
        lambda x: ssl.splu(CSC).solve(x),
    ),
    (r"takes plain arrays.*hoad\.scipy\.sparse\.linalg\.splu", lambda x: ssl.factorized(CSC)(x)),
]


@pytest.mark.parametrize("row", range(len(ADVISED)))
def test_what_to_write_instead(row: int) -> None:
    match, f = ADVISED[row]
    with pytest.raises(hoad.TracedValueError, match=match):
        hoad.grad(lambda x: np.sum(f(x)))(V)


def test_what_is_written_instead() -> None:
    """The advice, beside what it is for."""
    a = CSR.tocoo()

    def by_entries(values: Any, u: Any) -> Any:
        y = np.zeros(4, like=values)
        np.add.at(y, a.row, values * u[a.col])
        return y

    u = W
    for f, wanted in (
        (lambda x: CSR @ (x * u), CSR @ sp.diags_array(V) @ u),
        (lambda x: x * (CSR @ u), sp.diags_array(V) @ CSR @ u),
        (lambda x: x * u, sp.diags_array(V) @ u),
        (lambda x: CSR.toarray() + x, CSR + V),
    ):
        np.testing.assert_allclose(hoad.jvp(f, (V,), (W,))[0], wanted, rtol=1e-14)
    np.testing.assert_allclose(hoad.jacobian(by_entries)(a.data, u) @ a.data, CSR @ u, rtol=1e-14)
    solve = hoad.implicit.linear_solve(
        lambda y: CSR @ y, lambda matvec, b: ssl.gmres(ssl.LinearOperator((4, 4), matvec), b, rtol=1e-13)[0]
    )
    np.testing.assert_allclose(hoad.jacobian(solve)(V), np.linalg.inv(DENSE), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("form", FORMATS)
def test_more_than_two_dimensions(form: str) -> None:
    a = of_format(form)
    for f in (lambda x: a @ x, lambda x: x @ a):
        with pytest.raises((hoad.ShapeError, hoad.TracedValueError)):
            hoad.record(f, np.ones((2, 4, 4)))


CSC = sp.csc_array(DENSE)  # made outside of adopted code
SOLUTIONS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "spsolve": (lambda b: linalg.spsolve(sp.csc_array(DENSE), b), np.linalg.inv(DENSE)),
    "splu": (lambda b: linalg.splu(sp.csc_array(DENSE)).solve(b), np.linalg.inv(DENSE)),
    "splu, transposed": (lambda b: linalg.splu(sp.csc_array(DENSE)).solve(b, "T"), np.linalg.inv(DENSE.T)),
    "factorized": (lambda b: hoad.adopt(lambda b: ssl.factorized(CSC)(b))(b), np.linalg.inv(DENSE)),
}


@pytest.mark.parametrize("name", SOLUTIONS)
def test_solutions(name: str) -> None:
    """At orders 1 to 4, of a function of the solution."""
    f, inverse = SOLUTIONS[name]
    value, slope = hoad.jvp(f, (V,), (W,))
    np.testing.assert_allclose(value, inverse @ V, rtol=1e-13)
    np.testing.assert_allclose(slope, inverse @ W, rtol=1e-13)
    p, q = inverse @ V, inverse @ W
    for order, sign in ((1, np.cos(p)), (2, -np.sin(p)), (3, -np.cos(p)), (4, np.sin(p))):
        for word in words(order):
            found = along(lambda b: np.sum(np.sin(f(b))), word, [(W,)] * order)(V)
            np.testing.assert_allclose(found, np.sum(sign * q**order), rtol=1e-12)
    jitted = hoad.jit(hoad.grad(lambda b: np.sum(f(b) ** 2)))
    for point in (V, W):
        np.testing.assert_allclose(jitted(point), 2 * inverse.T @ (inverse @ point), rtol=1e-12)


def test_factors_that_were_made_before() -> None:
    """Factors serve inside of a derivative wherever they were made, of the matrix that there was."""
    a = sp.csc_array(DENSE)
    factors, solve, incomplete = linalg.splu(a), linalg.factorized(a), linalg.spilu(a)
    a.data *= 2
    inverse = np.linalg.inv(DENSE)
    for f in (factors.solve, solve):
        np.testing.assert_allclose(hoad.jacobian(f)(V), inverse, rtol=1e-11)
        np.testing.assert_allclose(hoad.grad(lambda b: np.sum(f(b)))(V), np.sum(inverse, axis=0), rtol=1e-11)
        np.testing.assert_allclose(f(V), inverse @ V, rtol=1e-11)
    assert factors.shape == (4, 4) and factors.nnz == ssl.splu(sp.csc_array(DENSE)).nnz
    np.testing.assert_allclose(incomplete.solve(V), ssl.spilu(sp.csc_array(DENSE)).solve(V))
    with pytest.raises(hoad.NoRuleError, match="Use splu"):
        hoad.grad(lambda b: np.sum(incomplete.solve(b)))(V)
    assert copy.copy(factors).shape == (4, 4)
    with pytest.raises(AttributeError, match="no attribute '_other'"):
        getattr(factors, "_other")  # noqa: B009


def test_a_program_keeps_the_matrix_that_it_solves_with() -> None:
    a = sp.csc_array(DENSE)
    program = hoad.gradient(hoad.record(lambda b: np.sum(linalg.spsolve(a, b)), V))
    a.data *= 2
    np.testing.assert_allclose(program.evaluate(V), np.sum(np.linalg.inv(DENSE), axis=0), rtol=1e-11)


def test_several_right_sides() -> None:
    a = sp.csc_array(DENSE)
    for f in (lambda b: linalg.spsolve(a, b), lambda b: linalg.splu(a).solve(b)):
        value, slope = hoad.jvp(f, (M,), (N,))
        np.testing.assert_allclose(value, np.linalg.solve(DENSE, M), rtol=1e-13)
        np.testing.assert_allclose(slope, np.linalg.solve(DENSE, N), rtol=1e-13)
    column = hoad.jvp(lambda b: linalg.spsolve(a, b), (M[:, :1],), (N[:, :1],))[0]
    assert column.shape == ssl.spsolve(a, M[:, :1]).shape


def test_complex_matrices() -> None:
    a = sp.csc_array(DENSE + 1j * DENSE.T)
    for f, matrix in (
        (hoad.adopt(lambda x: a @ x), a.toarray()),
        (lambda x: linalg.spsolve(a, x), np.linalg.inv(a.toarray())),
    ):
        value, slope = hoad.jvp(f, (V,), (W,))
        np.testing.assert_allclose(value, matrix @ V, rtol=1e-13)
        np.testing.assert_allclose(slope, matrix @ W, rtol=1e-13)
        found = hoad.grad(lambda x, f=f: np.sum(np.abs(f(x)) ** 2))(V)
        np.testing.assert_allclose(found, 2 * np.real(matrix.conj().T @ (matrix @ V)), rtol=1e-12)
    z = V + 1j * W
    found = hoad.jvp(lambda b: linalg.spsolve(sp.csc_array(DENSE), b), (z,), (z,))[1]
    np.testing.assert_allclose(found, np.linalg.solve(DENSE, z), rtol=1e-13)


def test_plain_calls_are_scipys() -> None:
    a = sp.csc_array(DENSE)
    np.testing.assert_array_equal(linalg.spsolve(a, V), ssl.spsolve(a, V))
    np.testing.assert_array_equal(linalg.splu(a).solve(V), ssl.splu(a).solve(V))
    found = hoad.grad(hoad.adopt(lambda x: np.sum(a @ V) * np.sum(x)))(V)
    np.testing.assert_allclose(found, np.full(4, np.sum(DENSE @ V)))


def test_the_names_of_the_package() -> None:
    a = sparse.csr_array(DENSE)
    np.testing.assert_allclose(hoad.grad(lambda x: np.sum(a @ x))(V), np.sum(DENSE, 0))
    np.testing.assert_allclose(hoad.grad(lambda x: np.sum(a.dot(x)))(V), np.sum(DENSE, 0))
    np.testing.assert_allclose(hoad.grad(lambda x: np.sum(x @ a))(V), np.sum(DENSE, 1))
