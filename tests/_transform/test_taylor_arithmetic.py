"""The Taylor arithmetic of every rule: the compiled one beside the slow one, which is held to mpmath in tests/rules.

Every row of the table of cases is expanded along curves with several coefficients: for numbers, for arrays of all sorts
of shapes and layouts, in lanes, and with operands that stay where they are.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from reference import taylor
from rules import oracle
from rules.arrays import examples
from rules.cases import CASES, Elementwise, Structured
from rules.test_taylor import NOT_CLOSED, distances
from scipy import special as sc

import hoad
from hoad._core.kernels import ufuncs
from hoad._transform.expansion import Expansion, expand, series_of

ORDER = 12
ORDER_OF_ARRAYS = 6  # what layouts and lanes do to a coefficient is the same in the next
CURVED = 3  # coefficients of a curve beyond its point

# Rows of the table whose series are not rows of numbers: their arithmetic is spelled out in traced operations.
SPELLED = frozenset(
    """eig real imag complex complex_conjugate special_lambertw astype fft fft_padded fft_cropped ifft2 ifft rfft irfft
    irfft_odd hfft complex_products complex_sum complex_prod complex_cumsum complex_mean complex_indexed complex_put
    complex_gathered complex_joined complex_stacked complex_chosen complex_matmul complex_einsum complex_vdot
    complex_correlate complex_convolve complex_inv complex_solve complex_det complex_sign_of_det complex_cholesky
    complex_pinv complex_lstsq complex_qr complex_max complex_min complex_broadcast special_modfresnelp
    special_modfresnelm special_wofz special_voigt_profile special_voigt_profile_x special_hankel1 special_hankel2
    special_hankel1e special_hankel2e special_kelvin complex_single complex_stopped complex_nested complex_cofactors
    complex_det_gradient
    complex_logdet complex_norm complex_norm_3 complex_var complex_eigvalsh complex_svdvals complex_eigh
    complex_determined complex_eigh_of_upper complex_svd complex_hermitian_svd complex_full_svd
    complex_further_vectors complex_fftn""".split()
)
SINGLE = frozenset({"astype", "complex_single"})  # rounded to single precision on the way

ELEMENTWISE = [case for case in CASES if isinstance(case, Elementwise)]
STRUCTURED = [case for case in CASES if isinstance(case, Structured)]


def cases(rows: list[Any]) -> Any:
    """Rows as parameters."""
    return pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in rows])


def curves_of(case: Elementwise, count: int) -> tuple[tuple[np.ndarray, ...], list[np.ndarray]]:
    """Points, and the coefficients of curves through them that stay clear of singular points for small t."""
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    xs = case.sample(rng, count)
    away = distances(case, xs)
    return xs, [rng.uniform(-0.3, 0.3, (CURVED, len(x))) * away[k] for k, x in enumerate(xs) if k in case.wrt]


def fixed(case: Elementwise, xs: tuple[np.ndarray, ...]) -> Callable[..., Any]:
    """The function of those operands that have derivatives."""
    rest = xs[len(case.wrt) :]
    return lambda *args, f=case.f: f(*args, *rest)


def envelope(series: np.ndarray) -> np.ndarray:
    """The largest coefficient up to each order: what an error is compared with where a coefficient is small."""
    return np.maximum.accumulate(abs(series), axis=0) + 1e-290


def assert_close(got: Any, want: np.ndarray, tolerance: float, what: str) -> None:
    assert np.shape(got) == np.shape(want), f"{what}: shape {np.shape(got)}, not {np.shape(want)}"
    error = abs(got - want) / envelope(want)
    assert np.all(error <= tolerance), f"{what}: coefficients\n{got}\nnot\n{want}\nerrors {error}"


def same(got: Any, want: Any, what: str) -> None:
    """Two runs of the same arithmetic, in other orders of summation."""
    assert_close(np.asarray(got), np.asarray(want), 1e-11, what)


def at_items(f: Callable[..., Any], xs: list[np.ndarray], curves: list[np.ndarray | None]) -> np.ndarray:
    """The series of a function of numbers at each item: recorded and compiled at the first, and run at all."""
    expansion = Expansion(f, [x[0].item() for x in xs], [c if c is None else c[:, 0] for c in curves], ORDER_OF_ARRAYS)
    constants = expansion.values[: len(expansion.values) - len(xs)]
    assert expansion.around == 0
    found = []
    for k in range(len(xs[0])):
        points = [x[k].item() if c is None else np.array([x[k], *c[:, k]]) for x, c in zip(xs, curves, strict=True)]
        found.append(np.asarray(expansion.callee._run((*constants, *points))[0]))
    return np.stack(found, axis=1)


def on_numbers(case: Elementwise, k: int, xs: tuple[np.ndarray, ...], curves: list[np.ndarray]) -> Any:
    """The series at item k, as numbers."""
    point = [x[k].item() for x in xs[: len(curves)]]
    rest = tuple(x[k : k + 1][0] for x in xs)
    return expand(fixed(case, rest), point, [c[:, k] for c in curves], ORDER)


# ---- operations on elements -----------------------------------------------------------------------------------------


@cases(ELEMENTWISE)
def test_numbers(case: Elementwise) -> None:
    xs, curves = curves_of(case, 2 if case.room == "special" else 4)
    lines = [np.concatenate([x[None], c]) for x, c in zip(xs, curves, strict=False)]
    if case.name not in NOT_CLOSED:
        want = taylor(fixed(case, xs), lines, ORDER)
    for k in range(len(xs[0])):
        got = on_numbers(case, k, xs, curves)
        if case.name in NOT_CLOSED:
            exact = [
                (oracle.exact(x[k].item()), [oracle.exact(a.item()) for a in c[:, k]])
                for x, c in zip(xs, curves, strict=False)
            ]
            along = oracle.taylor(
                lambda t, e=exact: case.oracle(*[x + sum(a * t ** (j + 1) for j, a in enumerate(c)) for x, c in e]),
                4,
                oracle.SPARE_DIGITS_OF_FEW,  # enough for curves of moderate size
            )
            assert_close(
                got[:5], oracle.as_floats(along), max(1e-11, case.tolerance), f"{case.name} at {[x[k] for x in xs]}"
            )
        else:
            same(got, want[:, k], f"{case.name} at {[x[k] for x in xs]} along {[c[:, k] for c in curves]}")


# The last of each says whether the function stands behind views.
LAYOUTS: list[tuple[tuple[int, ...], Callable[[np.ndarray], np.ndarray], bool]] = [
    ((1,), lambda x: x, False),
    ((), lambda x: x, False),
    ((2, 3), np.asfortranarray, True),
    ((0, 2), lambda x: x, True),
    ((2, 2), lambda x: np.repeat(x[::-1], 2, axis=0)[::-2], False),
]


@cases([case for case in ELEMENTWISE if len(case.wrt) == len(case.at)])
def test_arrays(case: Elementwise) -> None:
    """In any layout, item by item and behind views, which leave operations that are not done item by item."""
    xs, curves = curves_of(case, 6)
    numbers = at_items(case.f, list(xs), list(curves))

    def behind_views(*args: Any, f: Any = case.f) -> Any:
        return np.transpose(f(*[np.transpose(x[::-1]) for x in args]))[::-1]

    for shape, laid_out, is_behind in LAYOUTS:
        size = int(np.prod(shape))
        if size > len(xs[0]):
            continue
        points = [laid_out(x[:size].reshape(shape)) for x in xs]
        along = [np.stack([laid_out(item.reshape(shape)) for item in c[:, :size]]) for c in curves]
        if not size:
            along = [np.zeros((CURVED, *shape)) for _ in curves]
        want = numbers[:, :size].reshape(ORDER_OF_ARRAYS + 1, *shape)
        what = f"{case.name}{' behind views' * is_behind} of shape {shape}"
        same(expand(behind_views if is_behind else case.f, points, along, ORDER_OF_ARRAYS), want, what)


@cases([case for case in ELEMENTWISE if len(case.wrt) == 2])
def test_broadcasting(case: Elementwise) -> None:
    xs, curves = curves_of(case, 6)
    x, y = xs[0][:3, None], xs[1][None, :2]
    a, b = curves[0][:, :3, None], curves[1][:, None, :2]
    want = expand(case.f, list(np.broadcast_arrays(x, y)), list(np.broadcast_arrays(a, b)), ORDER_OF_ARRAYS)
    same(expand(case.f, [x, y], [a, b], ORDER_OF_ARRAYS), want, case.name)
    mixed = expand(case.f, [x[0, 0].item(), y], [a[:, 0, 0], b], ORDER_OF_ARRAYS)
    same(mixed, want[:, :1], f"{case.name} of a number and an array")


@cases([case for case in ELEMENTWISE if len(case.wrt) == 2])
@pytest.mark.parametrize("still", [0, 1])
def test_an_operand_that_stays(case: Elementwise, still: int) -> None:
    """Constants, as numbers and arrays, as points without a curve, and captured."""
    xs, curves = curves_of(case, 6)
    moving = 1 - still
    zero = [c * (k == moving) for k, c in enumerate(curves)]

    def f(x: Any, y: Any, g: Any = case.f) -> Any:
        return g(x, y) if moving == 0 else g(y, x)

    held = at_items(f, [xs[moving], xs[still]], [zero[moving], None])  # with a point that stays, at each item
    x, y, c = xs[moving][0].item(), xs[still][0].item(), zero[moving][:, 0]
    lines = [np.concatenate([x[:1], c[:, 0]]) for x, c in zip(xs, zero, strict=True)]
    ends = case.name not in NOT_CLOSED  # else beside what no operand is known to stay in
    want = (
        taylor(case.f, lines, ORDER_OF_ARRAYS)
        if ends
        else expand(case.f, [line[0].item() for line in lines], [line[1:] for line in lines], ORDER_OF_ARRAYS)
    )
    same(held[:, 0], want, f"{case.name}, a point")
    same(expand(lambda x: f(x, y), [x], [c], ORDER_OF_ARRAYS), want, f"{case.name}, captured")
    got = expand(lambda x: f(x, xs[still]), [xs[moving]], [zero[moving]], ORDER_OF_ARRAYS)
    same(got, held, f"{case.name}, a captured array")
    got = expand(lambda x: f(x, xs[still][:1]), [xs[moving]], [zero[moving]], ORDER_OF_ARRAYS)
    same(got[:, 0], held[:, 0], f"{case.name}, a captured array that is broadcast")
    got = expand(lambda x: f(x, xs[still]), [xs[moving][0].item()], [zero[moving][:, 0]], ORDER_OF_ARRAYS)
    same(got[:, 0], held[:, 0], f"{case.name}, a number beside a captured array")


@cases(ELEMENTWISE)
def test_lanes(case: Elementwise) -> None:
    """Directions side by side from one point."""
    lanes = 3 if case.name in SPELLED else 9 if case.few else 20
    xs, curves = curves_of(case, 2)
    rng = np.random.default_rng(7)
    f = fixed(case, xs)
    points = [x for x, _ in zip(xs, curves, strict=False)]
    many = [c[:, None] * rng.uniform(-1.0, 1.0, (CURVED, lanes, 1)) for c in curves]
    got = expand(f, points, many, ORDER_OF_ARRAYS, lanes)
    alone = Expansion(f, points, [c[:, 0] for c in many], ORDER_OF_ARRAYS)
    constants = alone.values[: len(alone.values) - len(points)]
    for lane in (0, 1, lanes - 1):
        series = [np.concatenate([x[None], c[:, lane]]) for x, c in zip(points, many, strict=True)]
        same(got[:, lane], alone.callee._run((*constants, *series))[0], f"{case.name}, lane {lane}")


# ---- operations on arrays -------------------------------------------------------------------------------------------


@cases(STRUCTURED)
def test_structured(case: Structured) -> None:
    order = 6 if case.name not in NOT_CLOSED else 3
    for xs in examples(case):
        rng = np.random.default_rng(1)
        curves = [0.3 * rng.uniform(-1.0, 1.0, (CURVED, *x.shape)) for x in xs]
        got = expand(case.f, xs, curves, order)
        if case.name in NOT_CLOSED:
            exact = [(oracle.exact(x), [oracle.exact(a) for a in c]) for x, c in zip(xs, curves, strict=True)]
            along = oracle.taylor(
                lambda t, e=exact: np.asarray(
                    case.oracle(*[x + sum(a * t ** (j + 1) for j, a in enumerate(c)) for x, c in e])
                ),
                order,
            )
            want = np.stack([oracle.as_floats(c) for c in along])
        else:
            want = taylor(case.f, [np.concatenate([x[None], c]) for x, c in zip(xs, curves, strict=True)], order)
        for n in range(order + 1):
            bound = (1e-11 if case.name not in SINGLE else 1e-6) * (1.0 + abs(want[n]).max(initial=0.0))
            assert np.shape(got[n]) == want[n].shape
            assert np.all(abs(got[n] - want[n]) <= bound), f"{case.name}, order {n}:\n{got[n]}\nnot\n{want[n]}"
        many = [np.stack([c, -c, 0.5 * c], axis=1) for c in curves]
        wide = expand(case.f, xs, many, order, 3)
        for lane, scale in enumerate((1.0, -1.0, 0.5)):
            alone = got if scale == 1.0 else expand(case.f, xs, [scale * c for c in curves], order)
            for n in range(order + 1):
                bound = 1e-12 * (1.0 + abs(alone[n]).max(initial=0.0))
                assert np.all(abs(wide[n, lane] - alone[n]) <= bound), f"{case.name}, lane {lane}, order {n}"


# ---- which rules close ----------------------------------------------------------------------------------------------


def goes_by(case: Elementwise | Structured) -> str:
    """How the series of a function are found."""
    if isinstance(case, Elementwise):
        xs, curves = curves_of(case, 2)
        f, points = fixed(case, xs), xs[: len(curves)]
    else:
        points = next(examples(case))
        f, curves = case.f, [x[None] for x in points]
    callee = Expansion(f, points, curves, 3).callee
    if series_of(callee._program(), *callee._key) is not None:
        return "rows"
    return "operations" if callee._spelled() is not None else "nested tangents"


def test_every_rule_closes() -> None:
    ways = {case.name: goes_by(case) for case in CASES}
    assert ways == {case.name: "operations" if case.name in SPELLED else "rows" for case in CASES}


# ---- accuracy -------------------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], float]] = {
    "exp": (np.exp, mp.exp, 0.7),
    "log": (np.log, mp.log, 1.7),
    "sin": (np.sin, mp.sin, 0.7),
    "cos": (np.cos, mp.cos, 0.7),
    "tan": (np.tan, mp.tan, 0.7),
    "tanh": (np.tanh, mp.tanh, 0.7),
    "sinh": (np.sinh, mp.sinh, 0.7),
    "cosh": (np.cosh, mp.cosh, 0.7),
    "arcsin": (np.arcsin, mp.asin, 0.4),
    "arccos": (np.arccos, mp.acos, 0.4),
    "arctan": (np.arctan, mp.atan, 0.7),
    "arcsinh": (np.arcsinh, mp.asinh, 0.7),
    "arccosh": (np.arccosh, mp.acosh, 1.7),
    "arctanh": (np.arctanh, mp.atanh, 0.4),
    "sqrt": (np.sqrt, mp.sqrt, 1.7),
    "cbrt": (np.cbrt, mp.cbrt, 1.7),
    "x**7": (lambda x: x**7, lambda x: x**7, 0.7),
    "x**-3": (lambda x: x**-3, lambda x: x**-3, 0.7),
    "x**2.3": (lambda x: x**2.3, lambda x: x ** mp.mpf(2.3), 0.7),
    "x**-0.5": (lambda x: x**-0.5, lambda x: x ** mp.mpf(-0.5), 0.7),
    "2**x": (lambda x: 2.0**x, lambda x: mp.mpf(2) ** x, 0.7),
    "x**x": (lambda x: x**x, lambda x: x**x, 0.7),
    "(1 + x²)**sin x": (lambda x: (1 + x * x) ** np.sin(x), lambda x: (1 + x * x) ** mp.sin(x), 0.7),
    "logistic": (ufuncs.logistic, lambda x: 1 / (1 + mp.exp(-x)), 0.7),
    "sech_squared": (ufuncs.sech_squared, lambda x: mp.sech(x) ** 2, 0.7),
    "log1p": (np.log1p, mp.log1p, 0.4),
    "expm1": (np.expm1, mp.expm1, 0.4),
    "exp(sin(tanh x))": (lambda x: np.exp(np.sin(np.tanh(x))), lambda x: mp.exp(mp.sin(mp.tanh(x))), 0.3),
    "log(2 + cos(exp x))": (lambda x: np.log(2 + np.cos(np.exp(x))), lambda x: mp.log(2 + mp.cos(mp.exp(x))), 0.3),
    "sqrt(1 + tan(x)²)": (lambda x: np.sqrt(1 + np.tan(x) ** 2), lambda x: mp.sqrt(1 + mp.tan(x) ** 2), 0.3),
    "arctan(x exp(x))": (lambda x: np.arctan(x * np.exp(x)), lambda x: mp.atan(x * mp.exp(x)), 0.6),
    "exp(-x) I₃(x)": (lambda x: sc.ive(3.0, x), lambda x: mp.exp(-x) * mp.besseli(3, x), 1.7),
    "exp(-x) I₋₂(x)": (lambda x: sc.ive(-2.0, x), lambda x: mp.exp(-x) * mp.besseli(2, x), 20.0),
    "exp(x) I₁(x), left": (lambda x: sc.ive(1.0, x), lambda x: mp.exp(x) * mp.besseli(1, x), -1.7),
    "F(1, 1, 2, x)": (lambda x: sc.hyp2f1(1.0, 1.0, 2.0, x), lambda x: -mp.log(1 - x) / x, 0.4),
    "F(1, 1, 2, x), left": (lambda x: sc.hyp2f1(1.0, 1.0, 2.0, x), lambda x: -mp.log(1 - x) / x, -1.5),
    "arcsin(x/2)**1.5": (
        lambda x: np.arcsin(x / 2) ** 1.5,
        lambda x: mp.asin(x / 2) ** mp.mpf(1.5),
        0.6,
    ),
}


@functools.cache
def exact_coefficients(f: Callable[[Any], Any], x: float, degree: int) -> np.ndarray:
    found = oracle.as_floats(oracle.coefficients(f, x, degree))
    found[abs(found) < 1e-80] = 0.0  # what ends, or is a zero, but for rounding
    return found


def distant(series: np.ndarray) -> np.ndarray:
    """The local envelope of coefficients: where one is near zero, its neighbours tell how large it might be."""
    padded = np.pad(abs(series), 1, mode="edge")
    return np.maximum(abs(series), np.sqrt(padded[:-2] * padded[2:])) + 1e-100


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_accuracy(name: str, wide: bool) -> None:
    """1e-12 to order 20, 1e-10 to order 50."""
    f, exact, x = FUNCTIONS[name]
    want = exact_coefficients(exact, x, 50)
    if wide:
        found = expand(lambda x: f(x[::-1]), [np.array([x, x])], [np.ones((1, 2))], 50)[:, 0]
    else:
        found = expand(f, [x], [np.ones(1)], 50)
    error = abs(found - want) / distant(want)
    assert np.all(error[:21] <= 1e-12), error
    assert np.all(error <= 1e-10), error


@pytest.mark.parametrize("x", [0.0, 0.5, 1.7, 40.0, -1.0, -2.4, -16.0, -17.3])
def test_reciprocal_gamma(x: float) -> None:
    """An entire function: its coefficients fall faster than those of what it is made of, so beside the largest."""
    found = expand(sc.rgamma, [x], [np.ones(1)], 20)
    want = exact_coefficients(mp.rgamma, x, 20)
    assert_close(found, want, 1e-12, f"1/Γ at {x}")


# ---- derivatives of coefficients -------------------------------------------------------------------------------------


def is_real(case: Elementwise) -> bool:
    xs, _ = curves_of(case, 1)
    value = np.asarray(case.f(*[x[0] for x in xs]))
    return value.dtype == np.float64 and value.ndim == 0


# What is made of the incomplete beta and gamma functions, by shapes, goes by their rules: these are enough.
BY_SHAPES = {f"special_{name}_by_shapes" for name in ("gammainc", "betainc", "stdtr")}


def is_apart(case: Elementwise) -> bool:
    return is_real(case) and (case.name in BY_SHAPES or "_by_shapes" not in case.name)


# SciPy's functions take long, and share a few ways: of them every second, and every fourth to order 4 and by gradients.
OF_SCIPY = [case for case in ELEMENTWISE if case.room == "special" and is_apart(case)]
OF_NUMPY = [case for case in ELEMENTWISE if case.room != "special" and is_apart(case)]
IN_TENSORS = OF_NUMPY + OF_SCIPY[::4]


@cases(OF_NUMPY + OF_SCIPY[::2])
def test_coefficients_are_differentiated(case: Elementwise) -> None:
    """Derivatives of orders 3 and 4 as those of tensors and Laplacians, beside sweeps of sweeps."""
    xs, curves = curves_of(case, 2)
    points = [x[0].item() for x in xs]
    steps = [0.3 * distance[0] for distance in distances(case, xs)[: len(curves)]]

    def along(t: Any) -> Any:
        moved = [x + t * step for x, step in zip(points, steps, strict=False)]
        return case.f(*moved, *points[len(steps) :]) if steps else t

    nested = [along]
    for _ in range(4):
        nested.append(hoad.grad(nested[-1]))
    values = [d(0.0) for d in nested]
    third, fourth = values[3:]
    scale = 1e-10 * max(map(abs, values))
    assert hoad.grad(hoad.laplacian(along))(0.0) == pytest.approx(third, rel=1e-9, abs=scale)
    assert hoad.grad(lambda t: hoad.derivatives(along, 3)(t)[3])(0.0) == pytest.approx(fourth, rel=1e-9, abs=scale)
    if case in IN_TENSORS:
        third_of = hoad.grad(lambda t: hoad.derivative_tensor(along, 3)(t))
        assert third_of(0.0) == pytest.approx(fourth, rel=1e-9, abs=scale)
        assert hoad.biharmonic(along)(0.0) == pytest.approx(fourth, rel=1e-9, abs=scale)


def test_coefficients_by_a_parameter_are_refused() -> None:
    with pytest.raises(hoad.NoRuleError, match="eval_legendre have no derivative with respect to its parameters"):
        hoad.grad(lambda v: hoad.laplacian(lambda x: sc.eval_legendre(v, x))(0.4))(1.5)


def test_a_gradient_that_is_stopped_stays_so() -> None:
    """Where a curve begins is not what the user holds still."""

    def stopped(x: Any) -> Any:
        return hoad.stop_gradient(x) ** 1.5 * x**2.5

    assert hoad.grad(hoad.laplacian(stopped))(1.3) == pytest.approx(1.3**1.5 * 2.5 * 1.5 * 0.5 * 1.3**-0.5, rel=1e-14)


POINTS = np.array([0.3, 0.5])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.linalg.eigvalsh(np.diag(x) + np.outer(x, x))[0],
        lambda x: np.linalg.eigh(np.diag(x) + np.outer(x, x))[0][1],
        lambda x: np.linalg.det(np.kron(np.eye(2) + np.outer(x, x), np.diag(x))),
        lambda x: np.linalg.svd(np.outer(x, x) + np.diag(x))[1][0],
        lambda x: np.abs(np.sum(np.fft.fft(np.exp(1j * x)) * x)) ** 2,
    ],
    ids=["eigvalsh", "eigh", "det", "svd", "fft"],
)
def test_laplacians_through_factors(f: Callable[[Any], Any]) -> None:
    hessian = hoad.hessian(f)
    assert hoad.laplacian(f)(POINTS) == pytest.approx(np.trace(hessian(POINTS)), rel=1e-11)
    np.testing.assert_allclose(hoad.derivative_tensor(f, 2)(POINTS), hessian(POINTS), rtol=1e-10)
    np.testing.assert_allclose(hoad.hessian_diagonal(f)(POINTS), np.diag(hessian(POINTS)), rtol=1e-10)
    third = hoad.jacobian(hessian)(POINTS)
    np.testing.assert_allclose(hoad.grad(hoad.laplacian(f))(POINTS), np.trace(third), rtol=1e-9)


def test_a_hypergeometric_polynomial_ends() -> None:
    """F(-2, b, c, x) = 1 - 2 (b/c) x + b (b + 1) / (c (c + 1)) x²."""
    b, c, x = 1.2, 2.3, 1.7
    square = b * (b + 1) / (c * (c + 1))
    want = [1 - 2 * b / c * x + square * x * x, -2 * b / c + 2 * square * x, 2 * square, *[0.0] * 6]
    np.testing.assert_allclose(hoad.derivatives(lambda x: sc.hyp2f1(-2.0, b, c, x), 8)(x), want, rtol=1e-13, atol=1e-13)
