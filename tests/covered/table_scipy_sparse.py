"""scipy.sparse and scipy.sparse.linalg: constant matrices with traced vectors, and what holds traced entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from covered.scipy_calls import Call, of

V = np.array([0.5, -1.25, 2.0, 0.75])
DENSE = np.array([[4.0, 1.0, 0.0, 0.5], [0.25, 3.0, -1.0, 0.0], [0.0, 0.5, 5.0, 1.0], [1.0, 0.0, 0.25, 4.5]])
M = np.stack([V, V[::-1], V**2, np.ones(4)])
CSC, CSR = sp.csc_array(DENSE), sp.csr_array(DENSE)
SPD = sp.csc_array(DENSE @ DENSE.T)
ITERATION = "The steps themselves are differentiated."
ENTRIES = "Entries of sparse matrices are not traced. Use dense ones, or hoad.implicit.linear_solve of a product."
ITERATIVE = "It ends at a tolerance. Use spsolve, or hoad.implicit.linear_solve of a product."
FORMATS = ("coo", "csc", "csr", "dia", "dok", "lil")


def _products() -> Iterator[Call]:
    for name in ("coo_array", "csc_array", "csr_array", "dia_array"):
        yield from of(f"sparse.{name}", {"x": V}, call=lambda f, x: f(DENSE) @ x, D="x", tag="a @ x")
        yield from of(f"sparse.{name}", {"x": V}, call=lambda f, x: x @ f(DENSE), D="x", tag="x @ a")
        yield from of(f"sparse.{name}", {"x": M}, call=lambda f, x: f(DENSE) @ x, tag="a @ x of matrices", D="x")
    for name in ("bsr_array", "dok_array"):
        yield from of(f"sparse.{name}", {"x": V}, call=lambda f, x: f(DENSE) @ x, D="x", tag="a @ x")
    for name in FORMATS:
        for kind in ("array", "matrix"):
            yield from of(
                f"sparse.{name}_{kind}", {"arg1": DENSE}, call=lambda f, x: f(x).toarray(), N="arg1", note=ENTRIES
            )


def _makers() -> Iterator[Call]:
    for name in ("block_diag", "hstack", "vstack"):
        yield from of(
            f"sparse.{name}", {"blocks": M}, call=lambda f, x: f([_sparse(x), CSC]).toarray(), N="blocks", note=ENTRIES
        )
    for name in ("block_array", "bmat"):
        yield from of(
            f"sparse.{name}",
            {"blocks": M},
            call=lambda f, x: f([[_sparse(x), CSC]]).toarray(),
            N="blocks",
            note=ENTRIES,
        )
    for name in ("kron", "kronsum"):
        yield from of(f"sparse.{name}", {"A": M, "B": M}, call=lambda f, a, b: f(a, b).toarray(), N="A B", note=ENTRIES)
    for name in ("diags", "diags_array"):
        yield from of(
            f"sparse.{name}",
            {"diagonals": V},
            call=lambda f, v: f([v], offsets=[0]).toarray(),
            N="diagonals",
            note=ENTRIES,
        )
    yield from of(
        "sparse.spdiags", {"data": V}, call=lambda f, v: f(v[None], [0], 4, 4).toarray(), N="data", note=ENTRIES
    )
    for name in ("tril", "triu"):
        yield from of(f"sparse.{name}", {"A": DENSE}, call=lambda f, a: f(a).toarray(), N="A", note=ENTRIES)
    yield from of("sparse.find", {"A": M}, call=lambda f, a: f(a)[2], D="A", note=ENTRIES)
    for name in ("issparse", "isspmatrix", *(f"isspmatrix_{name}" for name in FORMATS)):
        yield from of(f"sparse.{name}", {"x": V}, S="x")


def _solutions() -> Iterator[Call]:
    P = "sparse.linalg."
    yield from of(P + "spsolve", {"b": V}, call=lambda f, b: f(CSC, b), D="b")
    yield from of(P + "splu", {"b": V}, call=lambda f, b: f(CSC).solve(b), D="b", tag="of solve")
    yield from of(P + "factorized", {"b": V}, call=lambda f, b: f(CSC)(b), D="b", tag="of the function")
    yield from of(P + "spilu", {"b": V}, call=lambda f, b: f(CSC).solve(b), N="b", tag="of solve")
    yield from of(P + "spsolve_triangular", {"b": V}, call=lambda f, b: f(sp.tril(CSR).tocsr(), b), N="b")
    for name in ("bicg", "bicgstab", "cg", "cgs", "minres", "qmr", "tfqmr"):
        yield from of(
            P + name, {"b": V}, call=lambda f, b: f(SPD, b, rtol=1e-12)[0], D="b", note=ITERATION, rtol=1e-5, slow=True
        )
    for name in ("lsmr", "lsqr"):
        yield from of(P + name, {"b": V}, call=lambda f, b: f(CSC, b)[0], D="b", note=ITERATION, rtol=1e-5, slow=True)
    for name in ("gcrotmk", "gmres", "lgmres"):
        yield from of(P + name, {"b": V}, call=lambda f, b: f(SPD, b, rtol=1e-12)[0], N="b", note=ITERATIVE)
    yield from of(P + "expm_multiply", {"B": V}, call=lambda f, b: f(CSC, b), D="B")
    yield from of(P + "aslinearoperator", {"x": V}, call=lambda f, x: f(CSR).matvec(x), D="x", tag="of matvec")
    yield from of(
        P + "LinearOperator",
        {"x": V},
        call=lambda f, x: f((4, 4), matvec=lambda v: CSR @ v, dtype=float).matvec(x),
        D="x",
        tag="of matvec",
    )
    for name in ("expm", "inv", "norm"):
        yield from of(P + name, {"A": DENSE}, call=lambda f, a: _dense(f(_sparse(a))), N="A", note=ENTRIES)
    yield from of(P + "matrix_power", {"A": DENSE}, call=lambda f, a: _dense(f(_sparse(a), 2)), N="A", note=ENTRIES)
    yield from of(P + "onenormest", {"A": DENSE}, call=lambda f, a: f(_sparse(a)), N="A", note=ENTRIES)
    yield from of(P + "svds", {"A": DENSE}, call=lambda f, a: f(_sparse(a), 1, rng=1)[1], N="A", note=ENTRIES)
    yield from of(P + "eigs", {"A": DENSE}, call=lambda f, a: f(_sparse(a), 1)[0], N="A", note=ENTRIES)
    yield from of(P + "eigsh", {"A": DENSE @ DENSE.T}, call=lambda f, a: f(_sparse(a), 1)[0], N="A", note=ENTRIES)
    yield from of(
        P + "lobpcg", {"A": DENSE @ DENSE.T}, call=lambda f, a: f(_sparse(a), np.eye(4)[:, :1])[0], N="A", note=ENTRIES
    )


def _sparse(a: Any) -> Any:
    return sp.csc_array(a)


def _dense(a: Any) -> Any:
    return a.toarray() if sp.issparse(a) else a


ROWS = [*_products(), *_makers(), *_solutions()]
LEFT = {
    "Of sizes, layouts and files": (
        "bsr_matrix expand_dims eye eye_array get_index_dtype identity isspmatrix_bsr load_npz matrix_transpose "
        "permute_dims rand random random_array "
        "safely_cast_index_arrays save_npz sparray spmatrix swapaxes"
    ),
    "Of sizes, layouts and options": (
        "linalg.LaplacianNd linalg.SuperLU linalg.is_sptriangular linalg.spbandwidth linalg.use_solver"
    ),
    "Not yet covered": "linalg.funm_multiply_krylov",
}
