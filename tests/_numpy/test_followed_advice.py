"""The first words of a message are code: put where they say, the function has the derivative that differences show."""

from __future__ import annotations

import importlib
import json
import linecache
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

X = np.array([1.5, 0.5, 2.25])
A = np.array([[2.0, 0.5, 0.1], [0.5, 3.0, 0.2], [0.1, 0.2, 4.0]])
FILE = "followed.py"

# (what the function returns, or its lines; what the advice takes the place of, where it does not say so itself)
ROWS: list[tuple[str, str]] = [
    ("math.sin(x[0]) * x[1]", ""),
    ("math.pow(x[0], x[1])", ""),
    ("math.atan2(x[0], x[1])", ""),
    ("math.fsum(x * x)", ""),
    ("math.lgamma(x[2])", ""),
    ("math.hypot(x[0], x[1])", ""),
    ("x[0] if math.isnan(x[1]) else x[0] * x[1]", ""),
    ("math.dist(x, [0.0, 1.0, 2.0])", "math.dist(x, [0.0, 1.0, 2.0])"),
    ("np.sum(np.vectorize(math.exp)(x))", ""),
    ("cmath.sqrt(x[0]).real", ""),
    ("float(x[0]) * x[1]", ""),
    ("float(np.sum(x * x))", ""),
    ("np.float64(x[0]) ** 2", ""),
    ("np.sum(np.asarray(x) ** 2)", "np.asarray(x)"),
    ("np.sum(np.array(x, dtype=float) ** 2)", "np.array(x, dtype=float)"),
    ("np.sum(np.array([x, x * x]))", "np.array([x, x * x])"),
    ("np.sum(np.array([x[0], x[1] ** 2], dtype=float))", "np.array([x[0], x[1] ** 2], dtype=float)"),
    ("np.sum(np.ascontiguousarray(x) ** 2)", "np.ascontiguousarray(x)"),
    ("np.sum(np.fromiter((v * v for v in x), float))", "np.fromiter((v * v for v in x), float)"),
    ("np.sum(np.r_[x, x[0], 1.0] ** 2)", "np.r_[x, x[0], 1.0]"),
    ("np.sum(np.c_[x, x * x] ** 2)", "np.c_[x, x * x]"),
    ("np.sum(A.dot(x) ** 2)", "A.dot(x)"),
    ("sum(v * v for v in np.nditer(x))", "np.nditer(x)"),
    ("sum((k[0] + 1) * v * v for k, v in np.ndenumerate(x))", "np.ndenumerate(x)"),
    ("np.sum(np.vectorize(lambda v: v * v if v > 1 else v, otypes=[float])(x))", ""),
    ("a = np.zeros(3)\na[0] = x[0] ** 2\nreturn np.sum(a * x)", ""),
    ("a = np.zeros(3)\na[...] = x\nreturn np.sum(a * x)", ""),
    ("a = np.zeros(3)\na.flat[0] = x[0] ** 2\nreturn np.sum(a * x)", ""),
    ("a = np.zeros(3)\na.flat = x\nreturn np.sum(a * x)", ""),
    ("a = np.zeros(3)\na.fill(x[0])\nreturn np.sum(a * x)", ""),
    ("a = np.zeros(3)\na.put([1], x[0])\nreturn np.sum(a * x)", ""),
    ("a = np.zeros(3)\na += x\nreturn np.sum(a * x)", ""),
    ("np.linalg.det(np.array([[x[0], 1.0], [1.0, x[1]]]))", "np.array([[x[0], 1.0], [1.0, x[1]]])"),
    ("np.sum(scipy.special.logsumexp(x[:, None] * A, axis=0))", ""),
    ("scipy.special.logsumexp(x, b=A[0])", ""),
    ("scipy.special.softmax(x)[0]", ""),
    ("scipy.special.comb(x[0] + 3.0, 2)", ""),
    ("np.sum(scipy.linalg.eigh(A * x[0], A + x[1] * np.eye(3))[0])", ""),
    ("scipy.linalg.expm(A * x[0])[0, 1]", ""),
    ("np.sum(scipy.fft.fft(x).real ** 2)", ""),
    ("scipy.signal.convolve(x, [1.0, 2.0])[2] * x[0]", ""),
    ("scipy.integrate.quad(lambda t: np.sin(t * x[0]), 0.0, x[1])[0]", ""),
    ("scipy.integrate.simpson(x**2)", ""),
    ("scipy.interpolate.CubicSpline(np.arange(3.0), x)(0.7)", ""),
    ("scipy.stats.norm.logpdf(x[0], x[1])", ""),
    ("scipy.stats.norm(x[0], 2.0).cdf(x[1])", ""),
    ("scipy.stats.zscore(x)[0]", ""),
    ("scipy.spatial.distance.euclidean(x, A[0])", ""),
]
IN_PACKAGES: list[tuple[str, str, str]] = [
    ("numba", "square(x)", ""),
    ("numba", "square(x[0])", ""),
    ("pandas", "np.sum(frame @ x)", "frame @ x"),
    ("pandas", "column.dot(x)", "column.dot(x)"),
    ("pandas", "np.sum(frame['a'].apply(lambda v: math.sin(v * x[0])))", ""),
    ("xarray", "float(np.sum(xarray.DataArray(x, dims='i') ** 2).data)", ""),
]


def made(source: str, **names: Any) -> Callable[[Any], Any]:
    """A function of x that has its source at hand."""
    lines = source.split("\n") if "\n" in source else [f"return {source}"]
    text = "\n    ".join(["def f(x):", *lines]) + "\n"
    linecache.cache[FILE] = (len(text), None, text.splitlines(True), FILE)
    space: dict[str, Any] = {"np": np, "math": math, "hoad": hoad, "A": A, **names}
    for name in ("cmath", "scipy"):
        space[name] = importlib.import_module(name)
    for name in "fft integrate interpolate linalg signal spatial.distance special stats".split():
        importlib.import_module(f"scipy.{name}")
        if name != "fft":
            importlib.import_module(f"hoad.scipy.{name}")
    exec(compile(text, FILE, "exec"), space)
    f: Callable[[Any], Any] = space["f"]
    return f


def followed(source: str, message: str, replaced: str) -> str:
    """The source with what the message says done to it."""
    action = re.split(rf" \({re.escape(FILE)}:\d+\): ", message)[0]
    forms: list[tuple[str, Callable[[re.Match[str]], tuple[str, str]]]] = [
        (r"Write np\.linalg\.norm\(np\.subtract\(p, q\)\).*", lambda m: (replaced, "np.linalg.norm(x - [0., 1., 2.])")),
        (r"(?:Write|Use) (.+) in place of (.+)", lambda m: (m[2], m[1])),
        (r"Leave (.+)\(\) out: write (.+)", lambda m: (f"{m[1]}({m[2]})", m[2])),
        (r"Leave otypes of np.vectorize out", lambda m: (", otypes=[float]", "")),
        (r"Loop over (.+)", lambda m: (replaced, m[1])),
        (r"Make it an array .*: followed\.py:2: (.+?) -> (.+?)(?:(?:; or|, or use) .*)?", lambda m: (m[1], m[2])),
        (r"Make it a traced array: followed\.py:2: (.+)", lambda m: (replaced, m[1])),
        (r"Use np\.fft\.fft", lambda m: ("scipy.fft.fft", "np.fft.fft")),
        (r"Use hoad\.(\S+)", lambda m: (m[1], f"hoad.{m[1]}")),
        (r"Call the Python function that Numba compiles, (\w+)\.py_func, .*", lambda m: (m[1], f"{m[1]}.py_func")),
        (r"Write (.+)", lambda m: (replaced, m[1])),
    ]
    for pattern, change in forms:
        found = re.fullmatch(pattern, action)
        if found is not None:
            old, new = change(found)
            assert old and old in source, (old, source, message)
            return source.replace(old, new)
    raise AssertionError(f"no action that can be followed: {message}")


def slopes(f: Callable[[Any], Any]) -> Any:
    steps = 1e-5 * np.eye(3)
    return np.array([(float(f(X + h)) - float(f(X - h))) / 2e-5 for h in steps])


def check_followed(source: str, replaced: str, **names: Any) -> None:
    f = made(source, **names)
    value, wanted = float(f(X)), slopes(f)
    assert np.any(wanted != 0.0)
    with pytest.raises(hoad.TracedValueError) as caught:
        hoad.grad(f)(X)
    message = str(caught.value)
    assert "\n" not in message and re.search(
        r" \(followed\.py:\d\): .*(cut it off|recorded|NumPy has no loop)", message
    )
    g = made(followed(source, message, replaced), **names)
    assert float(g(X)) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(hoad.grad(g)(X), wanted, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(("source", "replaced"), ROWS, ids=[row[0].replace("\n", "; ") for row in ROWS])
def test_following_the_advice_gives_the_derivative(source: str, replaced: str) -> None:
    pytest.importorskip("scipy")
    check_followed(source, replaced)


@pytest.mark.parametrize(("package", "source", "replaced"), IN_PACKAGES, ids=[row[1] for row in IN_PACKAGES])
def test_the_users_line_is_named_where_a_package_calls_it(package: str, source: str, replaced: str) -> None:
    pytest.importorskip("scipy")
    module = pytest.importorskip(package)
    names: dict[str, Any] = {package: module}
    if package == "numba":
        names["square"] = module.njit(lambda x: np.sum(x * x))
    if package == "pandas":
        names["frame"] = module.DataFrame(A, columns=["a", "b", "c"])
        names["column"] = names["frame"]["a"]
    check_followed(source, replaced, **names)


def test_what_pandas_and_numba_cannot_hold() -> None:
    pandas, numba = pytest.importorskip("pandas"), pytest.importorskip("numba")
    frame = pandas.DataFrame({"a": A[0]})

    def written(x: Any) -> Any:
        own = frame.copy()
        own.iloc[0, 0] = x[0]
        return own["a"].sum()

    squares = numba.vectorize(lambda x: x * x)
    for f, says in (
        (
            lambda x: pandas.DataFrame({"x": x})["x"].sum(),
            "^Keep traced values out of frames.*among the numbers of pandas",
        ),
        (written, "^Keep traced values out of frames.*among the numbers of pandas"),
        (
            lambda x: frame["a"].rolling(2).apply(lambda w: w.sum() * x[0]).sum(),
            "^Keep traced values out of frames.*numbers of pandas",
        ),
        (lambda x: np.sum(squares(x)), r"^Call the Python function that Numba compiles.*@hoad\.primitive"),
    ):
        with pytest.raises(hoad.TracedValueError, match=rf"{says}|\(test_followed_advice\.py:\d+\)") as caught:
            hoad.grad(f)(X)
        assert re.search(says, str(caught.value)) and "(test_followed_advice.py:" in str(caught.value)

    @hoad.primitive
    def ruled(x: Any) -> Any:
        return squares(x)

    hoad.defvjp(ruled, lambda g, p, x: (2.0 * g * x,))
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(ruled(x)))(X), 2.0 * X)


# Written by hand: (what raises, how the message begins, what it says to write)
BY_HAND: list[tuple[str, str, str]] = [
    ("x[0] * int(x[2])", r"Use np\.floor or np\.trunc \(", "x[0] * np.trunc(x[2])"),
    ("x[0] * round(x[2])", r"Use np\.rint\(x\)", "x[0] * np.rint(x[2])"),
    ("complex(x[0]).real ** 2", r"Write x \+ 0j \(", "(x[0] + 0j).real ** 2"),
    ("x[0] * len('%.3f' % x[0])", r"Write f'\{x:\.3f\}' or str\.format in place of", "x[0] * len(f'{x[0]:.3f}')"),
    ("x[0] * len('%d' % x[0])", r"Write f'\{x:\.3f\}' or str\.format", "x[0] * len(f'{x[0]:.0f}')"),
    ("x[0] * (json.dumps(x[0]) > '')", r"Give json hoad\.value\(x\) \(", "x[0] * (json.dumps(hoad.value(x[0])) > '')"),
    (
        "x[0] * (json.dumps({'a': list(x)}, indent=1) > '')",
        r"Give json hoad\.value\(x\) \(",
        "x[0] * (json.dumps({'a': list(hoad.value(x))}, indent=1) > '')",
    ),
    ("x[0] * [1.0, 2.0, 3.0][np.argmax(x) * 1.0 > 1 and x[0]]", r"Use int\(hoad\.value\(x\)\) \(", "x[0] * 2.0"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "says", "instead"), BY_HAND, ids=[row[0] for row in BY_HAND])
def test_what_is_said_of_text_and_integers(source: str, says: str, instead: str) -> None:
    pytest.importorskip("scipy")
    with pytest.raises(hoad.TracedValueError, match=f"^{says}") as caught:
        hoad.grad(made(source, json=json))(X)
    assert "(followed.py:2): " in str(caught.value)
    g = made(instead, json=json)
    np.testing.assert_allclose(hoad.grad(g)(X), slopes(g), rtol=1e-7, atol=1e-8)


RUNS = [
    "np.sum(x**2, where=x > 1)",
    "np.sum(x[np.where(x > 1)[0]] ** 2)",
    "np.sum((x @ scipy.sparse.csr_array(A)) ** 2)",
    "np.sum(np.vectorize(lambda v: v * v if v > 1 else v)(x))",
    "np.sum(x.astype(int) * x)",
    "x[0] * len(f'{x[0]:.3f} {x[1]:.2e}')",
    "np.random.default_rng(0).normal(x[0], x[1])",
    "np.gcd.reduce(np.trunc(4 * x + 0.3).astype(int)) * x[0]",
    "np.lcm.reduce(np.trunc(4 * x + 0.3).astype(int)) * x[0]",
    "np.sum(np.gcd.accumulate(np.trunc(4 * x + 0.3).astype(int)) * x)",
    "np.sum(np.lcm.reduceat(np.trunc(4 * x + 0.3).astype(int), [0, 1]) * x[:2])",
    "np.bitwise_or.reduce(x.astype(int)) * x[0] + np.bitwise_and.reduce(x.astype(int)) * x[1]",
    "np.sum(np.bitwise_xor.accumulate(x.astype(int)) * x) + np.left_shift.reduce(x.astype(int) + 1) * x[2]",
]


@pytest.mark.parametrize("source", RUNS)
def test_what_needs_no_advice(source: str) -> None:
    pytest.importorskip("scipy.sparse")
    f = made(source)
    assert float(hoad.value_and_grad(f)(X)[0]) == pytest.approx(float(f(X)), rel=1e-14)
    np.testing.assert_allclose(hoad.grad(f)(X), slopes(f), rtol=1e-7, atol=1e-8)


def test_a_function_of_objects_is_vectorized() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.frompyfunc(lambda v: v * v, 1, 1)(x))

    with pytest.raises(hoad.NoRuleError, match=r"\(test_followed_advice.py:\d+\)\. Use np\.vectorize in place of"):
        hoad.grad(f)(X)
    np.testing.assert_array_equal(hoad.grad(lambda x: np.sum(np.vectorize(lambda v: v * v)(x)))(X), 2 * X)


def test_an_error_of_the_users_own_is_left_alone_beside_a_refusal() -> None:
    def handled(x: Any) -> Any:
        try:
            float(x[0])
        except TypeError: raise TypeError("mine") from None  # fmt: skip  # noqa: E701

    with pytest.raises(TypeError, match=r"^mine$"):
        hoad.grad(handled)(X)


def test_a_derivative_of_numbers_is_mapped_over_an_array() -> None:
    def f(x: Any) -> Any:
        return hoad.scan(lambda c, k: (c * np.cos(c) + np.sin(k), c), x, np.arange(3.0))[0]

    x = np.array([0.5, 0.6])
    for driver in (hoad.derivatives, hoad.derivative):
        with pytest.raises(hoad.ShapeError, match=rf"vmap\({driver.__name__}\(f, n\)\)\(x\)"):
            driver(f, 2)(x)
        found = hoad.vmap(driver(f, 2))(x)
        np.testing.assert_allclose(found, [driver(f, 2)(0.5), driver(f, 2)(0.6)], rtol=1e-13)


def test_matrices_of_two_kinds_are_mapped_by_both_triangles() -> None:
    stack = np.stack([A, np.tril(A)])
    with pytest.raises(hoad.GuardError, match=r"^Give both triangles, as np\.tril\(a\) \+ np\.tril\(a, -1\)\.T"):
        hoad.vmap(hoad.grad(lambda a: np.sum(np.linalg.cholesky(a))))(stack)

    def f(a: Any) -> Any:
        return np.sum(np.linalg.cholesky(np.tril(a) + np.tril(a, -1).T))

    np.testing.assert_allclose(hoad.vmap(hoad.grad(f))(stack), [hoad.grad(f)(A), hoad.grad(f)(np.tril(A))], rtol=1e-13)


def test_a_carry_of_another_shape_is_broadcast_first() -> None:
    def f(x: Any, init: Any) -> Any:
        return np.sum(hoad.scan(lambda c, k: (c * x + np.sin(k), None), init, np.arange(3.0))[0])

    with pytest.raises(
        hoad.ShapeError, match=r"\(test_followed_advice\.py:\d+\).*np\.broadcast_to\(init, np\.shape\(x\)\)"
    ):
        hoad.grad(f)(X, 1.0)
    found = hoad.grad(lambda x: f(x, np.broadcast_to(1.0, np.shape(x))))(X)
    np.testing.assert_allclose(found, 3 * X**2 + np.sin(1.0), rtol=1e-14)
