"""einsum and related functions on traced values: values as NumPy's, derivatives by complex steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _numpy.agreement import assert_same, check

import hoad

V = np.array([0.5, -1.25, 2.0])
W = np.array([1.5, 0.25, -0.75])
M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
A = np.array([[3.0, 0.5, -1.0], [0.25, 2.0, 0.75], [1.0, -0.5, 4.0]])
T = np.arange(24.0).reshape(2, 3, 4) / 7 - 1.5
C = np.arange(27.0).reshape(3, 3, 3) / 9 - 1.2
K = np.array([[0.4, -0.1], [0.6, 1.1], [-0.2, 0.3]])

Case = tuple[str, Callable[[Any], Any], Any]

# Subscripts, and operands among which x is None.
SUBSCRIPTS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("i->i", (None,), V),
    ("i->", (None,), V),
    ("i", (None,), V),
    ("ij->ji", (None,), M),
    ("ji", (None,), M),
    ("ij->j", (None,), M),
    ("ij->", (None,), M),
    ("ii->i", (None,), A),
    ("ii->", (None,), A),
    ("ii", (None,), A),
    ("iii->i", (None,), C),
    ("iij->ji", (None,), C),
    ("iji->j", (None,), C),
    ("i,i->", (None, W), V),
    ("i,i", (None, None), V),
    ("i,i->i", (None, W), V),
    ("i,j->ij", (None, W), V),
    ("i,j->ji", (None, None), V),
    ("ij,j->i", (None, V), M),
    ("ij,jk->ik", (None, A), M),
    ("ij,jk", (None, A), M),
    ("ij,kj->ki", (None, None), M),
    ("ij,jk->", (None, A), M),
    ("ij,ij->ij", (None, M), M),
    ("ij,ij->", (None, None), M),
    ("ij,ij->i", (None, M), M),
    ("ij,ji->", (None, A), A),
    ("ii,i->", (None, V), A),
    ("ii,jj->ij", (None, A), A),
    ("ijk,ikl->ijl", (None, T.transpose(0, 2, 1)), T),
    ("ijk,kl->ijl", (None, np.ones((4, 2))), T),
    ("ijk,jil->kl", (None, T.transpose(1, 0, 2)), T),
    ("i,ij,j->", (None, A, None), V),
    ("ij,jk,kl->il", (None, A, K), M),
    ("ij,jk,kl,lm->im", (None, A, None, A), A),
    ("ij,jk,ki->", (None, None, A), A),
    ("ia,ib,ic->abc", (None, None, None), K),
    ("ia,ja,ka->ijk", (None, K, None), K),
    ("i,i,i->i", (None, None, W), V),
    ("...->...", (None,), T),
    ("...i->...", (None,), T),
    ("i...->...", (None,), T),
    ("...ij->...ji", (None,), T),
    ("...ii->...i", (None,), C),
    ("...ij,...jk->...ik", (None, np.ones((4, 2))), T),
    ("...i,...i", (None, T), T),
    ("...,...", (None, V), M),
    ("i...,i...->...", (None, np.ones((2, 1, 4))), T),
    ("ij...,j->i...", (None, V), T),
    ("b...,b", (None, np.array([2.0, 3.0])), T),
    (" ij , jk -> ik ", (None, A), M),
    ("Ij,jK->KI", (None, A), M),
    ("ij,ij->ij", (None, np.ones((1, 3))), M),
    ("ij,j->i", (None, np.ones(1)), M),
    ("ij->ij", (None,), np.zeros((0, 3))),
    ("ij,jk->ik", (None, np.ones((0, 2))), np.zeros((3, 0))),
    (",i->i", (2.0, None), V),
    (",->", (None, 2.0), np.array(0.7)),
]


@pytest.mark.parametrize(("subscripts", "operands", "x"), SUBSCRIPTS, ids=[c[0] for c in SUBSCRIPTS])
def test_subscripts(subscripts: str, operands: tuple[Any, ...], x: Any) -> None:
    check(lambda x: np.einsum(subscripts, *[x if a is None else a for a in operands]), x, exact=False)


PRODUCTS: list[Case] = [
    ("sublists", lambda x: np.einsum(x, [0, 1], A, [1, 2], [0, 2]), M),
    ("sublists, implicit", lambda x: np.einsum(x, [1, 0]), M),
    ("sublists, ellipsis", lambda x: np.einsum(x, [..., 0], V, [0], [...]), M),
    ("sublists, letters beyond 25", lambda x: np.einsum(x, [27, 3], [3, 27]), M),
    ("einsum, optimize=True", lambda x: np.einsum("ij,jk,kl->il", x, A, K, optimize=True), M),
    ("einsum, optimize='optimal'", lambda x: np.einsum("ij,jk,kl->il", x, A, K, optimize="optimal"), M),
    ("einsum, a path", lambda x: np.einsum("ij,jk,kl->il", x, A, K, optimize=["einsum_path", (1, 2), (0, 1)]), M),
    ("einsum with integers", lambda x: np.einsum("ij,j", x, np.array([1, 2, 3])), M),
    ("einsum of a list", lambda x: np.einsum("i,i", x, [1.0, 2.0, 3.0]), V),
    ("tensordot", lambda x: np.tensordot(x, np.ones((3, 4, 2))), T),
    ("tensordot, 0", lambda x: np.tensordot(x, W, 0), V),
    ("tensordot, 1", lambda x: np.tensordot(x, A, 1), M),
    ("tensordot, axes", lambda x: np.tensordot(x, T, axes=([0, 1], [0, 1])), T),
    ("tensordot, crossed axes", lambda x: np.tensordot(x, x, axes=([0, 1], [1, 0])), A),
    ("tensordot, negative axes", lambda x: np.tensordot(x, M, axes=(-2, -1)), T),
    ("linalg.tensordot", lambda x: np.linalg.tensordot(x, A, axes=1), M),
    ("inner of vectors", lambda x: np.inner(x, W), V),
    ("inner of matrices", lambda x: np.inner(x, A), M),
    ("inner of stacks", lambda x: np.inner(x, np.ones((5, 4))), T),
    ("inner with a number", lambda x: np.inner(x, 2.0), M),
    ("linalg.outer", lambda x: np.linalg.outer(x, W), V),
    ("linalg.matmul", lambda x: np.linalg.matmul(x, A), M),
    ("kron", lambda x: np.kron(x, A), M),
    ("kron with itself", lambda x: np.kron(x, x), M),
    ("kron of vectors", lambda x: np.kron(W, x), V),
    ("kron, other dimensions", lambda x: np.kron(x, V), M),
    ("kron with a number", lambda x: np.kron(2.0, x), V),
    ("vecdot, reflected", lambda x: np.vecdot(T, x), np.ones(4)),
    ("vecdot, axis", lambda x: np.vecdot(M.T, x, axis=0), K[:, :1] + M.T),
    ("linalg.vecdot", lambda x: np.linalg.vecdot(M, x), V),
    ("cross", lambda x: np.cross(x, W), V),
    ("cross of stacks", lambda x: np.cross(x, A), A),
    ("cross, axis", lambda x: np.cross(x, A, axis=0), A),
    ("cross, axes", lambda x: np.cross(x, A, axisa=0, axisb=1, axisc=0), A),
    ("linalg.cross", lambda x: np.linalg.cross(x, A, axis=0), A),
    ("trace", np.trace, A),
    ("trace, offset", lambda x: np.trace(x, 1), M),
    ("trace, axes", lambda x: np.trace(x, 0, 0, 2), C),
    ("x.trace()", lambda x: x.trace(), A),
    ("linalg.trace", lambda x: np.linalg.trace(x, offset=-1), C),
    ("diagonal", np.diagonal, M),
    ("diagonal, offset", lambda x: np.diagonal(x, 1), M),
    ("diagonal, offset below", lambda x: np.diagonal(x, -1), M),
    ("diagonal, offset out of it", lambda x: np.diagonal(x, 7), M),
    ("diagonal, axes", lambda x: np.diagonal(x, 1, 2, 0), T),
    ("x.diagonal()", lambda x: x.diagonal(), A),
    ("linalg.diagonal", lambda x: np.linalg.diagonal(x, offset=1), C),
    ("diag of a matrix", lambda x: np.diag(x, 1), M),
    ("diag of a vector", np.diag, V),
    ("diag of a vector, above", lambda x: np.diag(x, 2), V),
    ("diag of a vector, below", lambda x: np.diag(x, -1), V),
    ("diagflat", lambda x: np.diagflat(x, 1), M),
    ("matrix_power", lambda x: np.linalg.matrix_power(x, 5), A),
    ("matrix_power, 1", lambda x: np.linalg.matrix_power(x, 1), A),
    ("matrix_power, 0", lambda x: np.linalg.matrix_power(x, 0) + x, A),
    ("matrix_power, -3", lambda x: np.linalg.matrix_power(x, -3), A),
    ("matrix_power of a stack", lambda x: np.linalg.matrix_power(x, 3), C),
    ("multi_dot", lambda x: np.linalg.multi_dot([x, A, K]), M),
    ("multi_dot of vectors", lambda x: np.linalg.multi_dot([x, A, A, x]), V),
    ("multi_dot, vector first", lambda x: np.linalg.multi_dot([x, A, K]), V),
    ("multi_dot, vector last", lambda x: np.linalg.multi_dot([A, x, V]), A),
    ("multi_dot of two", lambda x: np.linalg.multi_dot([x, A]), M),
]

for _name, _f, _x in (
    ("matvec", lambda x: np.matvec(x, V), M),
    ("matvec, reflected", lambda x: np.matvec(M, x), A),
    ("vecmat, reflected", lambda x: np.vecmat(M[:, :2], x), M),
):
    if hasattr(np, _name.split(",")[0]):
        PRODUCTS.append((_name, _f, _x))


@pytest.mark.parametrize(("f", "x"), [c[1:] for c in PRODUCTS], ids=[c[0] for c in PRODUCTS])
def test_products(f: Callable[[Any], Any], x: Any) -> None:
    check(f, x, exact=False)


def test_products_that_conjugate() -> None:
    """A complex step is none through a conjugate, so that these are checked by differences."""
    check(lambda x: np.vdot(x, A[:2]), M, exact=False, analytic=False)
    check(lambda x: np.vecdot(x, M), M, exact=False, analytic=False)


WRONG: list[tuple[str, Callable[[Any], Any], str]] = [
    ("too many subscripts", lambda x: np.einsum("ijk", x), "does not fit"),
    ("too few subscripts", lambda x: np.einsum("i", x), "does not fit"),
    ("lengths that differ", lambda x: np.einsum("ij,ij", x, np.ones((3, 3))), "length 2 and 3|length 3 and 2"),
    ("operands that lack", lambda x: np.einsum("ij,jk", x), "2 operands, but 1"),
    ("unknown in the result", lambda x: np.einsum("ij->k", x), "no operand has"),
    ("twice in the result", lambda x: np.einsum("ij->ii", x), "more than once"),
    ("no letter", lambda x: np.einsum("i1", x), "must be letters"),
    ("two dots", lambda x: np.einsum("..i", x), "ellipsis"),
    ("tensordot", lambda x: np.tensordot(x, x, 1), "do not fit"),
    ("vecdot", lambda x: np.vecdot(x, np.ones(2)), "differ in length"),
    ("cross", lambda x: np.cross(x, np.ones(4)), "three items"),
    ("linalg.cross of two items", lambda x: np.linalg.cross(x[:, :2], x[:, 1:]), "three items"),
    ("an ellipsis that the result lacks", lambda x: np.einsum("...i->i", x), "no '...'"),
    ("the same by lists", lambda x: np.einsum(x, [..., 0], [0]), "no '...'"),
    ("diagonal", lambda x: np.diagonal(x[0]), "at least two"),
    ("matrix_power", lambda x: np.linalg.matrix_power(x, 2), "square"),
]


@pytest.mark.parametrize(("f", "message"), [c[1:] for c in WRONG], ids=[c[0] for c in WRONG])
def test_what_does_not_fit(f: Callable[[Any], Any], message: str) -> None:
    with pytest.raises((ValueError, np.linalg.LinAlgError)):
        f(M)
    with pytest.raises((ValueError, np.linalg.LinAlgError), match=message):
        hoad.jacobian(f)(M)


BOOLEAN: list[tuple[str, Callable[[Any], Any]]] = [
    ("i,i->", lambda x: np.einsum("i,i->", x, V > 0)),
    ("i,i,i->", lambda x: np.einsum("i,i,i->", x, V > 0, x)),
    ("i->", lambda x: np.einsum("i->", x)),
    ("i,j->i", lambda x: np.einsum("i,j->i", x, W > 0)),
    ("ij,j->i", lambda x: np.einsum("ij,j->i", M > 0, x)),
    ("vecdot", lambda x: np.vecdot(M > 0, x)),
    ("vecdot of vectors", lambda x: np.vecdot(x, V > 0)),
    ("inner", lambda x: np.inner(M > 0, x)),
]


@pytest.mark.parametrize("f", [c[1] for c in BOOLEAN], ids=[c[0] for c in BOOLEAN])
def test_products_of_booleans_say_whether_any_is_true(f: Callable[[Any], Any]) -> None:
    for x in (V, -V):
        value, _ = hoad.jvp(lambda x: np.where(f(x > 0), 1.0, 0.0), (x,), (V,))
        assert_same(value, np.where(f(x > 0), 1.0, 0.0))
        assert hoad.jvp(lambda x: np.sum(x) * (f(x > 0).dtype == bool), (x,), (V,))[0] == np.sum(x)


def test_the_exponent_of_matrix_power_is_an_integer() -> None:
    assert_same(hoad.jvp(lambda x: np.linalg.matrix_power(x, np.int64(2)), (A,), (A,))[0], np.linalg.matrix_power(A, 2))
    with pytest.raises(TypeError, match="integer"):
        hoad.jacobian(lambda x: np.linalg.matrix_power(x, 2.0))(A)  # type: ignore[call-overload]
    with pytest.raises(hoad.TracedValueError):
        hoad.jacobian(lambda x: np.linalg.matrix_power(x, x[0, 0]))(A)


def test_a_plain_array_as_out_is_refused() -> None:
    with pytest.raises(hoad.TracedValueError, match=r"np\.einsum\(\.\.\., out=\)"):
        hoad.grad(lambda x: np.einsum("i,i", x, x, out=np.zeros(())))(V)


def test_float32_stays() -> None:
    x = M.astype(np.float32)
    assert hoad.jacobian(lambda x: np.einsum("ij,kj->ik", x, x))(x).dtype == np.float32
    assert hoad.jacobian(lambda x: np.trace(x[:, :2]) * x)(x).dtype == np.float32


def test_subscripts_fit_many_shapes() -> None:
    """What is done is noted for the shapes, of which 1 is stretched."""
    for shape in ((3,), (1,), (3,)):
        for matrix in (M, M[:, :1], M[:1]):
            y = np.resize(V, shape)
            for text in ("ij,j->i", "ij,j->ij", "ij,j->j", "ij,j"):
                check(lambda x, t=text, y=y: np.einsum(t, x, y), matrix)


def test_a_path_of_lists() -> None:
    b = np.arange(9.0).reshape(3, 3)

    def f(t: Any) -> Any:
        return np.sum(np.einsum("ij,kj,kl->il", b * t, b, b, optimize=["einsum_path", [0, 1], [0, 1]]))

    assert hoad.value_and_grad(f)(1.0) == (f(1.0), f(1.0))


def test_outer_products_lie_as_in_c() -> None:
    a = np.asfortranarray(np.arange(6.0).reshape(2, 3) + 1.0)

    def f(t: Any) -> Any:
        z = np.tensordot(a * t, a * t, 0)
        z.reshape(-1)[0] = 100.0
        return 1.0 * z[0, 0, 0, 0]

    assert hoad.value_and_grad(f)(1.0) == (f(1.0), 0.0)
