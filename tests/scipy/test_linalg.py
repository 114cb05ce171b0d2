"""Each row of scipy.linalg: plain calls are SciPy's to the bit; derivatives satisfy equations, in every mode."""

from __future__ import annotations

import inspect
import math
import warnings
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

sl = pytest.importorskip("scipy.linalg")

from _numpy.agreement import assert_same, by_differences  # noqa: E402
from _scipy import linalg_rows  # noqa: E402
from _scipy.linalg_rows import CONSTANTS, LATEST, ROWS, A, B, Case, E, P, V, positive, sym  # noqa: E402
from _scipy.power_series import ORDER, Series, as_series  # noqa: E402
from covered.rows import Kind  # noqa: E402
from rules.modes import along, words  # noqa: E402

import hoad  # noqa: E402
from hoad._scipy.registry import IMPLEMENTED  # noqa: E402
from hoad.errors import HoadError  # noqa: E402
from hoad.scipy import linalg  # noqa: E402

RECORDED = [row for row in ROWS if row.kind is Kind.DIFFERENTIABLE]
FIRST = list({row.name: row for row in reversed(RECORDED)}.values())
# What reads both triangles, or all of a matrix, of complex numbers too.
ANALYTIC = """
solve inv det solve_triangular solve_banded solve_toeplitz matmul_toeplitz solve_circulant lu lu_factor lu_solve expm
cosm sinm tanm coshm sinhm tanhm logm sqrtm fractional_matrix_power signm funm expm_frechet solve_sylvester block_diag
toeplitz hankel circulant leslie diagsvd khatri_rao convolution_matrix companion fiedler_companion
""".split()


def each(rows: list[Case]) -> Any:
    return pytest.mark.parametrize("row", rows, ids=Case.label)


def leaves(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    return [result]


def is_inexact(leaf: Any) -> bool:
    return leaf is not None and np.asarray(leaf).dtype.kind in "fc"


# The places of the results that are not integers.
KEPT = {row.label(): [k for k, leaf in enumerate(leaves(row.f(row.x))) if is_inexact(leaf)] for row in RECORDED}


def floats(row: Case, x: Any) -> list[Any]:
    """The results that are not integers."""
    found = leaves(row.f(x))
    return [found[k] for k in KEPT[row.label()]]


def flat(row: Case, x: Any) -> Any:
    """The results in one vector."""
    return np.concatenate([np.reshape(leaf, -1) for leaf in floats(row, x)])


def direction_of(row: Case, k: int = 0) -> Any:
    rng = np.random.default_rng(zlib.crc32(f"{row.label()} {k}".encode()))
    return rng.uniform(-1.0, 1.0, np.shape(row.x))


def total(row: Case) -> Callable[[Any], Any]:
    """A scalar of all results, no derivative of which vanishes by itself."""
    return lambda x: np.sum(np.sin(1.0 + flat(row, x)))


def assert_close(found: Any, wanted: Any, rtol: float) -> None:
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=rtol * scale)


# ---- all names ------------------------------------------------------------------------------------------------------


def public_names() -> set[str]:
    found = {name: getattr(sl, name) for name in sl.__all__}
    return {name for name, value in found.items() if callable(value) and not inspect.isclass(value)}


def test_every_name_of_scipy_has_a_row() -> None:
    missing = public_names() - {row.name for row in ROWS} - set(CONSTANTS)
    assert not missing, f"no row in tests/_scipy/linalg_rows.py for {sorted(missing)}"


@pytest.mark.skipif(not LATEST, reason="older releases have other names")
def test_every_row_is_of_a_name_that_scipy_has() -> None:
    assert {row.name for row in ROWS} | set(CONSTANTS) == public_names()


def test_the_package_has_the_names_of_scipy() -> None:
    classes = {"LinAlgError", "LinAlgWarning"}
    assert set(linalg.__all__) == public_names() | classes
    for name in [*CONSTANTS, *classes]:
        assert getattr(linalg, name) is getattr(sl, name)
    for name in public_names() - set(CONSTANTS):
        assert IMPLEMENTED[getattr(sl, name)] is getattr(linalg, name)
        assert inspect.signature(getattr(linalg, name)) == inspect.signature(getattr(sl, name))


def test_labels_tell_the_rows_apart() -> None:
    assert not [label for label, n in Counter(map(Case.label, ROWS)).items() if n > 1]


def test_how_many_names_are_of_each_kind() -> None:
    kinds = {kind: {row.name for row in ROWS if row.kind is kind} for kind in Kind}
    assert len(kinds[Kind.DIFFERENTIABLE] | kinds[Kind.CONSTANT] | set(CONSTANTS)) >= 80


# ---- values ---------------------------------------------------------------------------------------------------------


@each([row for row in ROWS if row.kind is not Kind.IMPOSSIBLE])
def test_plain_calls_are_scipys(row: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    found = leaves(row.f(row.x))
    monkeypatch.setattr(linalg_rows, "linalg", sl)
    own = {f: original for original, f in IMPLEMENTED.items()}
    wanted = leaves(own.get(row.f, row.f)(row.x))
    for a, b in zip(found, wanted, strict=True):
        if b is None or not isinstance(b, (np.ndarray, np.generic)):
            assert a == b
        else:
            assert_same(a, b)


def traced(row: Case, x: Any) -> list[Any]:
    """All results of a call with a traced argument, as plain values."""
    seen: list[Any] = []

    def f(x: Any) -> Any:
        found = leaves(row.f(x))
        seen[:] = map(hoad.value, found)
        return np.sum(x)

    hoad.jvp(f, (x,), (np.zeros_like(x),))
    return seen


def assert_values(found: list[Any], wanted: list[Any], rtol: float = 1e-12) -> None:
    for a, b in zip(found, wanted, strict=True):
        if not isinstance(b, (np.ndarray, np.generic, float)):
            assert a == b
            continue
        assert np.shape(a) == np.shape(b)
        if np.asarray(b).dtype.char not in "gG":  # which SciPy 1.13 makes of complex roots
            assert np.asarray(a).dtype == np.asarray(b).dtype
        assert_close(a, b, rtol if is_inexact(b) else 0.0)


@each([row for row in ROWS if row.kind is not Kind.IMPOSSIBLE])
def test_traced_values_are_scipys_to_rounding(row: Case) -> None:
    assert_values(traced(row, row.x), leaves(row.f(row.x)))


@each([row for row in RECORDED if np.ndim(row.x)])
def test_layouts_do_not_matter(row: Case) -> None:
    for x in (np.asfortranarray(row.x), row.x[::-1].copy()[::-1]):
        assert_values(traced(row, x), leaves(row.f(row.x)))


@each([row for row in FIRST if row.single])
def test_single_precision(row: Case) -> None:
    x = row.x.astype(np.float32)
    assert_values(traced(row, x), leaves(row.f(x)), 1e-4)


# ---- derivatives ----------------------------------------------------------------------------------------------------


def series_of(row: Case) -> list[Series]:
    """The Taylor series of each result along a direction."""
    x, d = row.x, direction_of(row)
    found = hoad.derivatives(lambda t: flat(row, x + t * d), ORDER)(0.0)
    shapes = [np.shape(leaf) for leaf in floats(row, x)]
    made, at = [], 0
    for shape in shapes:
        n = math.prod(shape)
        made.append(Series(np.reshape(c[at : at + n], shape) / math.factorial(k) for k, c in enumerate(found)))
        at += n
    return made


@each([row for row in RECORDED if row.equation])
def test_derivatives_satisfy_the_equations(row: Case) -> None:
    """At every order up to 4."""
    x = Series([row.x, direction_of(row), *(np.zeros_like(row.x) for _ in range(ORDER - 1))])
    assert row.equation is not None
    pairs = list(row.equation(x, *series_of(row)))
    assert pairs
    for left, right in pairs:
        for order, (a, b) in enumerate(zip(as_series(left).c, as_series(right).c, strict=True)):
            assert np.shape(a) == np.shape(b), order
            assert_close(a, b, 1e-10)


@each([row for row in RECORDED if not row.equation])
def test_derivatives_are_those_of_differences(row: Case) -> None:
    """Of plain values, and then each order of that before."""
    x, d = row.x, direction_of(row)
    steps = 1e-3 * np.array([-4, -3, -2, -1, 0, 1, 2, 3, 4])
    orders = [hoad.derivatives(lambda t: flat(row, x + t * d), ORDER)(t) for t in steps]
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / 1e-3
    slope = by_differences(lambda t: flat(row, x + t * d), 0.0)
    assert_close(orders[4][1], slope, 1e-8)
    for k in range(ORDER):
        slope = sum(w * at[k] for w, at in zip(weights, orders, strict=True))
        assert_close(orders[4][k + 1], slope, 1e-7)


@each(RECORDED)
def test_modes_agree(row: Case) -> None:
    """Forward, reverse and Taylor mode, to order 3."""
    f, x = total(row), row.x
    d = direction_of(row)
    if not np.ndim(x):
        x, d = float(x), float(d)
    series = hoad.derivatives(lambda t: f(x + t * d), 3)(0.0)
    for order in (1, 3):
        for word in words(order):
            assert_close(along(f, word, [(d,)] * order)(x), series[order], 1e-9)


@each(FIRST)
def test_order_four_in_mixed_modes(row: Case) -> None:
    f, x, d = total(row), row.x, direction_of(row)
    if not np.ndim(x):
        x, d = float(x), float(d)
    series = hoad.derivatives(lambda t: f(x + t * d), 4)(0.0)
    assert_close(along(f, "rfrf", [(d,)] * 4)(x), series[4], 1e-8)


@each(FIRST)
def test_jit_and_vmap(row: Case) -> None:
    x, y = row.x, 1.0625 * row.x
    jitted = hoad.jit(lambda x: tuple(floats(row, x)))
    for point in (x, x, y):
        assert_values(leaves(jitted(point)), floats(row, point))
    mapped = hoad.vmap(lambda x: tuple(floats(row, x)))(np.stack([x, y]))
    for found, *wanted in zip(leaves(mapped), floats(row, x), floats(row, y), strict=True):
        assert_close(found, np.stack(wanted), 1e-12)


@each([row for row in FIRST if row.name in ANALYTIC and np.ndim(row.x)])
def test_complex_arguments(row: Case) -> None:
    """What is analytic has one derivative in the complex plane, which a difference in any direction finds."""
    z = row.x + 0.1j * direction_of(row, 1)
    dz = direction_of(row, 2) + 1j * direction_of(row, 3)
    values, tangents = hoad.jvp(lambda z: tuple(floats(row, z)), (z,), (dz,))
    for k, (value, tangent, wanted) in enumerate(zip(values, tangents, floats(row, z), strict=True)):
        assert_values([value], [wanted])
        for part in (np.real, np.imag):
            slope = by_differences(lambda t, k=k: part(floats(row, z + t * dz)[k]), 0.0)
            assert_close(part(tangent), slope, 1e-8)


def _complex(*shape: int) -> Any:
    rng = np.random.default_rng(7)
    return rng.uniform(-1.0, 1.0, shape) + 1j * rng.uniform(-1.0, 1.0, shape)


def hermitian(x: Any) -> Any:
    return 0.5 * (x + x.conj().T)


Z, Z_TALL, Z_WIDE, Z_FEW = _complex(3, 3) + np.eye(3), _complex(4, 3), _complex(3, 4), _complex(3, 2)
Z_POSITIVE = Z @ Z.conj().T + np.eye(3)
Z_BAND = np.array([[0.0, 1.0 + 0.5j, 0.5j, 0.25], [5.0, 6.0, 7.0, 8.0]])
R = np.array([[2.0, 0.25 + 0.5j], [0.25 - 0.5j, 1.0]])


def projections(v: Any) -> Any:
    """v vᴴ of each column, which its phase does not change."""
    return v[:, None] * np.conj(v)[None]


def pairs(w: Any, v: Any) -> Any:
    return w, projections(v)


def invariants(u: Any, s: Any, vh: Any) -> Any:
    """u vᴴ of each pair of vectors, and the projections on those beyond."""
    k = s.shape[0]
    further = u[:, k:], np.conj(vh[k:]).T
    return u[:, None, :k] * vh[:k].T[None], s, [x @ np.conj(x).T for x in further]


OF_COMPLEX: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "solve, her": (lambda x: linalg.solve(hermitian(x), Z_WIDE, assume_a="her"), Z + 2 * np.eye(3)),
    "solve, sym": (lambda x: linalg.solve(x + x.T, Z_WIDE, assume_a="sym"), Z),
    "norm": (linalg.norm, Z),
    "cholesky": (lambda x: linalg.cholesky(x @ x.conj().T + Z_POSITIVE), Z),
    "cho_solve": (lambda x: linalg.cho_solve((x, False), Z_WIDE), Z + 2 * np.eye(3)),
    "cholesky_banded": (linalg.cholesky_banded, Z_BAND),
    "solveh_banded": (lambda x: linalg.solveh_banded(x, Z_TALL), Z_BAND),
    "eigvals_banded": (linalg.eigvals_banded, Z_BAND),
    "lu, more rows": (lambda x: linalg.lu(x)[1:], Z_TALL),
    "lu_solve": (lambda x: linalg.lu_solve(linalg.lu_factor(x), Z_WIDE, trans=2), Z),
    "solve_triangular": (lambda x: linalg.solve_triangular(x, Z_WIDE, trans="C"), Z + 2 * np.eye(3)),
    "qr": (linalg.qr, Z_TALL),
    "rq": (linalg.rq, Z_WIDE),
    "qr_multiply": (lambda x: linalg.qr_multiply(x, Z_WIDE, conjugate=True), Z_TALL),
    "svdvals": (linalg.svdvals, Z_TALL),
    "svd": (lambda x: invariants(*linalg.svd(x)), Z_TALL),
    "svd, more columns": (lambda x: invariants(*linalg.svd(x)), Z_WIDE),
    "svd, full_matrices=False": (lambda x: invariants(*linalg.svd(x, full_matrices=False)), Z_TALL),
    "orth": (lambda x: projections(linalg.orth(x)), Z_TALL),
    "eigh": (lambda x: pairs(*linalg.eigh(hermitian(x))), Z),
    "eigh, lower=False": (lambda x: pairs(*linalg.eigh(hermitian(x), lower=False)), Z),
    "eigh, subset": (lambda x: pairs(*linalg.eigh(hermitian(x), subset_by_index=[1, 2])), Z),
    "eigh, b": (lambda x: pairs(*linalg.eigh(hermitian(Z), x @ x.conj().T + Z_POSITIVE)), Z),
    "eigh, b, type=3": (lambda x: pairs(*linalg.eigh(hermitian(x), Z_POSITIVE, type=3)), Z),
    "eig_banded": (lambda x: pairs(*linalg.eig_banded(x)), Z_BAND),
    "pinv": (linalg.pinv, Z_TALL),
    "pinvh": (lambda x: linalg.pinvh(hermitian(x)), Z + 2 * np.eye(3)),
    "lstsq": (lambda x: linalg.lstsq(x, Z_BAND[0])[:2], Z_TALL),
    "polar": (linalg.polar, Z_TALL),
    "orthogonal_procrustes": (lambda x: linalg.orthogonal_procrustes(x, Z_TALL), Z_TALL + 1.0),
    "hessenberg": (lambda x: linalg.hessenberg(x, calc_q=True), Z),
    "eigvalsh": (lambda x: linalg.eigvalsh(hermitian(Z), x @ x.conj().T + Z_POSITIVE), Z),
    "solve_continuous_lyapunov": (lambda x: linalg.solve_continuous_lyapunov(x, Z), Z + 2 * np.eye(3)),
    "solve_discrete_lyapunov": (lambda x: linalg.solve_discrete_lyapunov(x, Z), 0.25 * Z),
    "solve_continuous_are, a": (lambda x: linalg.solve_continuous_are(x, Z_FEW, Z_POSITIVE, R), Z),
    "solve_continuous_are, r": (lambda x: linalg.solve_continuous_are(Z, Z_FEW, Z_POSITIVE, hermitian(x)), R),
    "solve_discrete_are, b": (lambda x: linalg.solve_discrete_are(Z, x, Z_POSITIVE, R), Z_FEW),
    "solve_discrete_are, s": (lambda x: linalg.solve_discrete_are(Z, Z_FEW, Z_POSITIVE, R, s=x), 0.125 * Z_FEW),
}


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_complex_matrices_in_every_mode(name: str) -> None:
    """What takes conjugates: the derivative along a direction, and the second one, of a real function of the result."""
    if name == "orthogonal_procrustes" and not LATEST:
        pytest.skip("older releases forget to conjugate")
    f, x = OF_COMPLEX[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    d = rng.uniform(-1.0, 1.0, x.shape) + 1j * rng.uniform(-1.0, 1.0, x.shape)
    if "banded" in name:
        d[1] = d[1].real
    weights = [rng.uniform(-1.0, 1.0, np.shape(leaf)) + 0.5j for leaf in leaves(f(x))]

    def real(x: Any) -> Any:
        pairs = zip(weights, leaves(f(x)), strict=True)
        return sum(np.sum(np.real(w * y) + np.real(y * np.conj(y))) for w, y in pairs)

    def reverse(x: Any) -> Any:
        return np.real(np.sum(hoad.grad(real)(x) * d))

    slope = by_differences(lambda t: real(x + t * d), 0.0)
    series = hoad.derivatives(lambda t: real(x + t * d), 2)(0.0)
    assert_close(hoad.jvp(real, (x,), (d,))[1], slope, 1e-8)
    assert_close([reverse(x), series[1]], [slope, slope], 1e-8)
    second = by_differences(lambda t: reverse(x + t * d), 0.0)
    assert_close(hoad.derivative(lambda t: reverse(x + t * d), 1)(0.0), second, 1e-7)
    assert_close(series[2], second, 1e-7)


# ---- shapes ---------------------------------------------------------------------------------------------------------

OF_SQUARE: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(linalg, name) for name in "inv det norm cholesky lu lu_factor qr rq svd svdvals pinv".split()},
    **{name: getattr(linalg, name) for name in "pinvh eigvals eig eigvalsh eigh expm logm sqrtm cosm tanhm".split()},
    **{name: getattr(linalg, name) for name in "signm polar matrix_balance circulant companion fiedler".split()},
    "solve": lambda x: linalg.solve(x, np.ones(x.shape[-1])),
    "solve_triangular": lambda x: linalg.solve_triangular(x, np.ones(x.shape[-1])),
    "lstsq": lambda x: linalg.lstsq(x, np.ones(x.shape[-1])),
    "cho_factor": lambda x: linalg.cho_factor(x)[0],
    "cho_solve": lambda x: linalg.cho_solve((x, True), np.ones(x.shape[-1])),
    "lu_solve": lambda x: linalg.lu_solve(linalg.lu_factor(x), np.ones(x.shape[-1])),
    "solve_sylvester": lambda x: linalg.solve_sylvester(x, x, x),
    "solve_discrete_lyapunov": lambda x: linalg.solve_discrete_lyapunov(0.1 * x, x),
    "block_diag": lambda x: linalg.block_diag(x, x),
    "expm_frechet": lambda x: linalg.expm_frechet(x, x),
    "khatri_rao": lambda x: linalg.khatri_rao(x, x),
    "matmul_toeplitz": lambda x: linalg.matmul_toeplitz(x[..., 0], x[..., 1]),
    "solve_toeplitz": lambda x: linalg.solve_toeplitz(x[..., 0], x[..., 1]),
    "solve_circulant": lambda x: linalg.solve_circulant(x[..., 0], x[..., 1], baxis=-1),
    "bandwidth": linalg.bandwidth,
    "issymmetric": linalg.issymmetric,
}
POINTS = {
    "no rows": np.zeros((0, 0)),
    "one row": np.array([[2.0]]),
    "a stack": 0.25 * np.stack([[P, P + np.eye(3)], [2 * P, P @ P]]),
}


@pytest.mark.skipif(not LATEST, reason="older releases take few stacks")
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("name", OF_SQUARE)
def test_shapes_of_all_kinds(name: str, point: str) -> None:
    row, x = Case(name, Kind.DIFFERENTIABLE, OF_SQUARE[name], A), POINTS[point]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = leaves(row.f(x))
        except Exception as failure:
            with pytest.raises(type(failure)):
                traced(row, x)
            return
        assert_values(traced(row, x), wanted, 1e-11)


# ---- policies -------------------------------------------------------------------------------------------------------


def test_equal_eigenvalues_and_singular_values() -> None:
    """Functions of the matrix are smooth there, and vectors have no derivative."""
    eye = np.eye(3)

    def cube(x: Any) -> Any:
        w, v = linalg.eigh(sym(x))
        return np.sum(E * ((v * w**3) @ v.T))

    found = hoad.hvp(cube)(eye, E)
    np.testing.assert_allclose(found, hoad.hvp(lambda x: np.sum(E * (sym(x) @ sym(x) @ sym(x))))(eye, E), atol=1e-13)
    assert np.isnan(hoad.grad(lambda x: linalg.eigh(sym(x))[1][1, 0])(eye)).any()
    turned = hoad.jvp(lambda x: linalg.polar(x)[0], (2.0 * eye,), (E,))[1]
    np.testing.assert_allclose(turned, (E - E.T) / 4, atol=1e-15)
    np.testing.assert_allclose(hoad.grad(lambda x: np.sum(linalg.expm(x)))(0.0 * eye), np.ones((3, 3)))
    np.testing.assert_allclose(hoad.grad(lambda x: np.sum(linalg.sqrtm(x)))(4.0 * eye), 0.25 * np.ones((3, 3)))


def test_a_program_of_symmetric_matrices_refuses_others() -> None:
    for f in (
        linalg.cholesky,
        linalg.eigvalsh,
        linalg.pinvh,
        lambda x: linalg.solve(x, V, assume_a="pos"),
        lambda x: linalg.solve(x, V, assume_a="sym"),
    ):
        program = hoad.record(f, P)
        with pytest.raises(hoad.GuardError, match="was recorded with a matrix that is symmetric"):
            program.evaluate(np.tril(P))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: linalg.solve(x, np.ones(4)),
        lambda x: linalg.solve(x, V, assume_a="round"),
        lambda x: linalg.solve(0.0 * x, V),
        lambda x: linalg.inv(x[:2]),
        lambda x: linalg.inv(0.0 * x),
        lambda x: linalg.det(np.nan * x),
        lambda x: linalg.cholesky(-positive(x)),
        lambda x: linalg.qr(x, mode="some"),
        lambda x: linalg.solve_triangular(x, np.ones(2)),
        lambda x: linalg.solve_triangular(0.0 * x, V),
        lambda x: linalg.eigh(sym(x), subset_by_index=[1, 5]),
        lambda x: linalg.expm(x[0, 0] * np.ones((2, 3))),
        lambda x: linalg.sqrtm(x[:2]),
        lambda x: linalg.solve_sylvester(x, x, np.ones((2, 2))),
        lambda x: linalg.solve_continuous_are(x, x, x, x),
        lambda x: linalg.companion(0.0 * x[0]),
        lambda x: linalg.solve(x),
        lambda x: linalg.solve(x, V, upper=True),
    ],
)
def test_errors_are_scipys(call: Callable[[Any], Any]) -> None:
    with pytest.raises(Exception) as plain:  # noqa: PT011
        call(A)
    with pytest.raises(type(plain.value)) as failure:
        hoad.jvp(lambda x: (call(x), np.sum(x))[1], (A,), (A,))
    assert str(failure.value) == str(plain.value)


@each([row for row in ROWS if row.kind is Kind.IMPOSSIBLE])
def test_what_is_impossible_says_why(row: Case) -> None:
    assert row.note, "a reason, for the page"
    with pytest.raises(HoadError, match=r"Use|Draw"):
        hoad.jvp(lambda x: (row.f(x), np.sum(x))[1], (row.x,), (row.x,))


@each([row for row in ROWS if row.kind is Kind.CONSTANT])
def test_branches_on_structure_are_guarded(row: Case) -> None:
    found = hoad.grad(lambda x: np.sum(x) if row.f(x) else 2.0 * np.sum(x))(row.x)
    np.testing.assert_array_equal(found, np.full_like(row.x, 1.0 if row.f(row.x) else 2.0))
    jitted = hoad.jit(lambda x: x * (2.0 if linalg.issymmetric(x) else 3.0))
    for x in (P, A, P, A):
        np.testing.assert_array_equal(jitted(x), x * (2.0 if sl.issymmetric(x) else 3.0))


def test_nested_lists_of_traced_numbers() -> None:
    def f(a: Any) -> Any:
        return linalg.det([[a, 1.0], [2.0, a * a]])

    assert hoad.derivative(f, 3)(2.0) == pytest.approx(6.0)


def test_symbols_are_recorded() -> None:
    x = hoad.symbols("x")
    e = linalg.det([[x, 1.0], [2.0, x * x]])
    assert e.evaluate({x: 3.0}) == pytest.approx(25.0)
    assert e.gradient({x: 3.0})[x] == pytest.approx(27.0)


@pytest.mark.parametrize("f", [linalg.expm, lambda x: linalg.logm(positive(x)), linalg.sinm])
def test_steps_of_a_loop_may_scale_otherwise(f: Callable[[Any], Any]) -> None:
    """How often a matrix is squared, or roots are taken, is no branch in a body that is recorded once."""
    steps = np.array([0.125, 4.0, 0.0, 1.0])

    def by_scan(x: Any) -> Any:
        return hoad.scan(lambda c, t: (c + np.sum(f(t * x)), t), 0.0, steps)[0]

    def by_loop(x: Any) -> Any:
        return sum(np.sum(f(t * x)) for t in steps)

    assert by_scan(A) == pytest.approx(by_loop(A), rel=1e-12)
    assert_close(hoad.grad(by_scan)(A), hoad.grad(by_loop)(A), 1e-11)
    assert_close(hoad.hvp(by_scan)(A, E), hoad.hvp(by_loop)(A, E), 1e-10)


@pytest.mark.parametrize(
    ("name", "size"), [("expm", 1e-3), ("expm", 0.5), ("expm", 8.0), ("cosm", 4.0), ("sqrtm", 0.5), ("logm", 0.5)]
)
def test_derivatives_of_functions_have_all_digits(name: str, size: float) -> None:
    """Of orders 1 to 4, beside differences of many digits."""
    mpmath = pytest.importorskip("mpmath")
    from rules import oracle

    x = size * A if name in ("expm", "cosm") else B + size * P
    found = hoad.derivatives(lambda t: getattr(linalg, name)(x + t * E), ORDER)(0.0)

    def along(t: Any) -> Any:
        of_matrix = getattr(mpmath, name)(mpmath.matrix((oracle.exact(x) + oracle.exact(E) * t).tolist()))
        return np.array(of_matrix.apply(mpmath.re).tolist())

    for k, (value, exact) in enumerate(zip(found, oracle.taylor(along, ORDER, spare=40), strict=True)):
        assert_close(value / math.factorial(k), oracle.as_floats(exact), 2e-13)


def test_what_may_be_overwritten_is_used_before() -> None:
    b = np.asfortranarray(E.copy())
    for f in (
        lambda x: linalg.solve(x, b, overwrite_b=True),
        lambda x: linalg.solve(x, b, False, True, True),
        lambda x: linalg.qr_multiply(x[:, :2], b, mode="left", overwrite_c=True)[0],
    ):
        found, wanted = traced(Case("solve", Kind.DIFFERENTIABLE, f, B), B), f(B.copy())
        b = np.asfortranarray(E.copy())
        assert_values(found, [wanted])


def test_options_of_memory_and_checks_are_taken() -> None:
    plain = sl.inv(B)
    found = hoad.jvp(lambda x: linalg.inv(x, overwrite_a=True, check_finite=False), (B.copy(),), (B,))[0]
    np.testing.assert_allclose(found, plain, rtol=1e-14)
