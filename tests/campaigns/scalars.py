"""Random programs of numbers: values beside plain Python, derivatives to order 4 in a random mode beside mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import scipy.special
from rules.modes import along, words

import hoad

TOLERANCE = 1e-8  # relative to the largest derivative up to the order: what is meant to be found is not a rounding
DIGITS = 60


# Functions by their names in programs: for floats and traced values, and for numbers of mpmath.
class Tie(Exception):
    """Two equal operands of a maximum, whose slopes hoad shares by halves even where one is larger on both sides."""


def larger(x: Any, y: Any) -> Any:
    if x == y:
        raise Tie
    return max(x, y)


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sin": (np.sin, mpmath.sin),
    "cos": (np.cos, mpmath.cos),
    "tanh": (np.tanh, mpmath.tanh),
    "arctan": (np.arctan, mpmath.atan),
    "arcsinh": (np.arcsinh, mpmath.asinh),
    "arctan2": (np.arctan2, mpmath.atan2),
    "hypot": (np.hypot, mpmath.hypot),
    "exp": (np.exp, mpmath.exp),
    "expm1": (np.expm1, mpmath.expm1),
    "log1p": (np.log1p, mpmath.log1p),
    "sqrt": (np.sqrt, mpmath.sqrt),
    "cbrt": (np.cbrt, lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x))),
    "sinc": (np.sinc, mpmath.sincpi),
    "logaddexp": (np.logaddexp, lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y))),
    "maximum": (np.maximum, larger),
    "where": (np.where, lambda c, x, y: x if c else y),
    "erf": (scipy.special.erf, mpmath.erf),
    "expit": (scipy.special.expit, lambda x: 1 / (1 + mpmath.exp(-x))),
    "gammaln": (scipy.special.gammaln, mpmath.loggamma),
    "j0": (scipy.special.j0, lambda x: mpmath.besselj(0, x)),
    "xlogy": (scipy.special.xlogy, lambda x, y: x * mpmath.log(y)),
}

# Lines of programs. {a}, {b}: values so far; {c}: a constant; {n}: a small whole number. What is appended is bounded
# in size where its operands are, so that programs of any length are well conditioned.
LINES = [
    "sin({a})",
    "cos({c} * {a})",
    "tanh({a} + {b})",
    "arctan({a} * {b})",
    "arcsinh({c} * {a})",
    "arctan2({a}, 2.0 + {b} ** 2)",
    "hypot(1.0 + {a}, {c})",
    "exp(-({a} ** 2))",
    "expm1(tanh({a}))",
    "log1p({a} ** 2)",
    "sqrt(1.0 + {a} ** 2)",
    "(1.0 + {a} ** 2) ** {c}",
    "(2.0 + sin({a})) ** tanh({b})",
    "tanh({a}) ** {n}",
    "cbrt(2.0 + cos({a}))",
    "sinc(tanh({a}))",
    "logaddexp({a}, {b})",
    "maximum({a}, {b})",
    "where({a} > {c}, {a} * {c}, sin({b}))",
    "({a} if {a} < {b} else -{b}) * {c}",
    "{a} / (1.0 + {b} ** 2)",
    "{c} / (2.0 + cos({a}))",
    "{a} - {b} * {c}",
    "0.25 * {a} * {b}",
    "-{a} + {c}",
    "abs({a} - {c})",
    "erf({a})",
    "expit({c} * {a})",
    "gammaln(2.0 + tanh({a}))",
    "j0({a})",
    "xlogy({a}, 2.0 + sin({b}))",
    "sin({a}) * {a} if {n} > 2 else cos({a})",
    "sum([sin({a} * k) for k in range({n})])",
    "value_of({a}, {b})",
]


def source(rng: np.random.Generator, inputs: int) -> str:
    """A function as text."""
    names = [f"x{k}" for k in range(inputs)]
    rows = [f"def f({', '.join(names)}):"]
    rows += ["    def value_of(u, v):", "        return u * cos(v) if u < v else v * cos(u)"]
    for k in range(int(rng.integers(2, 13))):
        line = LINES[rng.integers(len(LINES))]
        a, b = rng.choice(names[-6:], 2)
        constant = f"{rng.choice([-1.0, 1.0]) * rng.uniform(0.2, 1.8):.3f}"
        rows.append(f"    v{k} = " + line.format(a=a, b=b, c=f"({constant})", n=rng.integers(1, 6)))
        names.append(f"v{k}")
    return "\n".join([*rows, f"    return {names[-1]} + 0.5 * {names[-2]}"])


def compiled(text: str, side: int) -> Callable[..., Any]:
    """The function of a text: of floats and traced values, or of numbers of mpmath."""
    names: dict[str, Any] = {name: pair[side] for name, pair in FUNCTIONS.items()}
    exec(text, names)
    return names["f"]  # type: ignore[no-any-return]


def nth(f: Callable[..., Any], x: np.ndarray, v: np.ndarray, n: int, mode: str) -> Any:
    """The n-th derivative of f at x along v, by a mode of hoad."""

    def line(t: Any) -> Any:
        return f(*(a + b * t for a, b in zip(x.tolist(), v.tolist(), strict=True)))

    if mode == "derivative":
        return hoad.derivative(line, n)(0.0)
    if mode == "derivatives":
        return hoad.derivatives(line, n)(0.0)[n]
    if mode == "jit derivatives":
        jitted = hoad.jit(hoad.derivatives(line, n))
        jitted(0.125)
        return jitted(0.0)[n]
    if mode == "taylor":
        return hoad.taylor(line, 0.0, n).coefficients[n] * math.factorial(n)
    if mode == "vmap":
        return hoad.vmap(hoad.derivatives(line, n))(np.linspace(-0.3, 0.3, 9))[4][n]
    if mode == "tensor":
        tensor = hoad.derivative_tensor(lambda y: f(*y), n)(x)
        for _ in range(n):
            tensor = tensor @ v
        return tensor
    if mode == "jit grad":
        step = hoad.grad(lambda *xs: along(f, "f" * (n - 1), [v.tolist()] * (n - 1))(*xs), argnums=tuple(range(len(x))))
        jitted = hoad.jit(step)
        jitted(*(x + 0.01).tolist())
        return sum(g * w for g, w in zip(jitted(*x.tolist()), v.tolist(), strict=True))
    return along(f, mode, [v.tolist()] * n)(*x.tolist())


def trial(rng: np.random.Generator) -> str | None:
    inputs = int(rng.integers(1, 4))
    text = source(rng, inputs)
    plain, exact = compiled(text, 0), compiled(text, 1)
    x, v = np.round(rng.uniform(-1.5, 1.5, inputs), 3), np.round(rng.uniform(-1.0, 1.0, inputs), 3)
    n = int(rng.integers(1, 5))
    modes = [*words(n), "derivative", "derivatives", "jit derivatives", "taylor", "vmap", "tensor", "jit grad"]
    mode = str(rng.choice(modes))
    what = f"{text}\n# {mode}, order {n} at {x.tolist()} along {v.tolist()}"

    value = hoad.jit(plain)(*x.tolist())
    if not math.isclose(value, plain(*x.tolist()), rel_tol=1e-12, abs_tol=1e-12):
        return f"{what}\nvalue {value!r}, plain {plain(*x.tolist())!r}"
    try:
        wanted, close = exact_derivatives(exact, x, v, n)
    except Tie:
        return None
    if not all(abs(a - b) <= 1e-6 * (1 + abs(a)) for a, b in zip(wanted, close, strict=True)):
        return None  # a kink or a branch close by, or badly conditioned
    found = nth(plain, x, v, n, mode)
    if not abs(found - wanted[n]) <= TOLERANCE * (1 + max(map(abs, wanted))):
        return f"{what}\nfound {found!r}, mpmath {float(wanted[n])!r}"
    return None


def exact_derivatives(f: Callable[..., Any], x: np.ndarray, v: np.ndarray, n: int) -> tuple[list[Any], list[Any]]:
    """Derivatives 0 to n of f along v, at x and close by."""
    with mpmath.workdps(DIGITS):
        start, steps = [mpmath.mpf(a) for a in x.tolist()], [mpmath.mpf(b) for b in v.tolist()]
        beside = [a * (1 + mpmath.mpf(1e-10)) + mpmath.mpf(1e-10) * (k + 1) for k, a in enumerate(start)]
        return taylor_of(f, start, steps, n), taylor_of(f, beside, steps, n)


def taylor_of(f: Callable[..., Any], x: list[Any], v: list[Any], n: int) -> list[Any]:
    """Derivatives 0 to n of f at x along v, by mpmath's differences at 60 digits."""
    line = mpmath.memoize(lambda t: f(*(a + b * t for a, b in zip(x, v, strict=True))))
    return [mpmath.diff(line, 0, k) for k in range(n + 1)]


__all__ = ["trial"]
