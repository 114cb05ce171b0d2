"""Random nestings of loops, maps, checkpoints, programs and composites: their derivatives beside those of the same code
inline, at points where roots, logarithms and powers are singular and masks, ties and indices leave nothing of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hoad

TOLERANCE = 1e-8
DEPTH = 3
LONG, PART_OF_LONG = 20, 0.1  # steps, more than are looked at one by one
POINTS = (0.0, 0.0, 0.25, 1.0, 2.0)
ALONG, ALONG_TOO = np.array([1.0, -0.5, 0.25]), np.array([0.5, 1.0, 0.0])

Function = Callable[[Any], Any]
Step = Callable[[Any, Any, Any], Any]  # (u, v, w) -> (u, v)

# No product is one of powers of the same number, whose slope at 0 is found inline only: what u is made of is not seen
# in the body of a loop.
LINES = [
    "u, v = np.where(u > 0, np.sqrt(v), 2 * u + w), v",
    "u, v = u, np.where(v > 0.1, v * (w - 0.25), np.sqrt(u))",
    "u, v = np.where(w > 0, u, np.log(v)), v + u",
    "u, v = u + v * (w - 0.25), np.sqrt(u)",
    "u, v = u * (w - 0.25), np.sqrt(u) + v",
    "u, v = v, u",
    "u, v = u, u * (v - 0.25)",
    "u, v = np.maximum(u, np.sqrt(v) - 2), v",
    "u, v = np.minimum(u + w, 3 + np.sqrt(v)), v",
    "u, v = u, np.clip(np.sqrt(u) + v, 0.5, 2.0)",
    "u, v = np.stack([u, np.sqrt(v)])[0], u + w",
    "u, v = np.stack([np.sqrt(u), v, w])[1], u",
    "u, v = np.power(u, 1.5) + w, v",
    "u, v = u, np.where(u > 0, u, 1.0) ** np.where(v > 0, v, 0.5)",
    "u, v = np.where(u > 0, u * np.log(u), u * (w - 0.25)), v",
    "u, v = np.sum(np.where(np.stack([u, v]) > 0, np.sqrt(np.stack([v, u])), np.stack([w, u]))), v",
    "u, v = np.sin(u) + v, np.cos(v) * u",
    "u, v = u, np.sqrt(v)",
    "u, v = u, w",
    "u, v = np.max(np.stack([u, np.sqrt(v) - 3])), np.sqrt(u)",
    "u, v = u + 1.0, np.log(u)",
]
RESULTS = ["u", "v", "u + v", "u * (v - 0.25)", "np.where(u > 0, v, u + w)", "np.maximum(u, v - 9)", "u + 0.3 * w"]


# ---- containers of a step, and what n of its steps are inline -------------------------------------------------------


def in_rows(f: Step, n: int) -> Step:
    def g(u: Any, v: Any, w: Any) -> Any:
        rows = np.stack([u] * n), np.stack([v] * n)
        us, vs = hoad.scan(lambda c, row: (c + row[0], f(row[0], c * 0.5 + row[1], w)), v, rows)[1]
        return us[n - 1], vs[n - 1]

    return g


def in_rows_inline(f: Step, n: int) -> Step:
    def g(u: Any, v: Any, w: Any) -> Any:
        c = v
        for _ in range(n):
            found = f(u, c * 0.5 + v, w)
            c = c + u
        return found

    return g


def until(f: Step, n: int, most: int | None = None) -> Step:
    return lambda u, v, w: hoad.while_loop(
        lambda c: c[2] < n - 0.5, lambda c: (*f(c[0], c[1], w), c[2] + 1.0), (u, v, 0.0), max_steps=most
    )[:2]


def mapped(f: Step, n: int) -> Step:
    def g(u: Any, v: Any, w: Any) -> Any:
        us, vs = hoad.vmap(f, (0, 0, None))(np.stack([u] * n), np.stack([v, *[w] * (n - 1)]), w)
        return us[0], vs[n - 1]

    return g


def mapped_inline(f: Step, n: int) -> Step:
    def g(u: Any, v: Any, w: Any) -> Any:
        found = [f(u, y, w) for y in [v, *[w] * (n - 1)]]
        return found[0][0], found[-1][1]

    return g


def ruled(f: Step, n: int) -> Step:
    made = hoad.custom_vjp(f)
    made.defvjp(lambda g, p, u, v, w: hoad.vjp(f, u, v, w)[1](g))
    return made


def once(f: Step, n: int) -> Step:
    return f


def repeated(f: Step, n: int) -> Step:
    def g(u: Any, v: Any, w: Any) -> Any:
        for _ in range(n):
            u, v = f(u, v, w)
        return u, v

    return g


Container = Callable[[Step, int], Step]

KINDS: dict[str, tuple[Container, Container]] = {
    "checkpoint": (lambda f, n: hoad.checkpoint(f), once),
    "checkpointed_loop": (
        lambda f, n: lambda u, v, w: hoad.checkpointed_loop(lambda k, c, w: f(*c, w), n, (u, v), w, slots=2),
        repeated,
    ),
    "scan": (lambda f, n: lambda u, v, w: hoad.scan(lambda c, _: (f(*c, w), None), (u, v), length=n)[0], repeated),
    "rows": (in_rows, in_rows_inline),
    "fori_loop": (lambda f, n: lambda u, v, w: hoad.fori_loop(0, n, lambda k, c: f(*c, w), (u, v)), repeated),
    "while_loop": (until, repeated),
    "bounded": (lambda f, n: until(f, n, n + 2), repeated),
    "vmap": (mapped, mapped_inline),
    "program": (lambda f, n: lambda u, v, w: hoad.record(f, 0.25, 0.25, 0.25)(u, v, w), once),
    "jit": (lambda f, n: hoad.jit(f), once),
    "custom_vjp": (ruled, once),
}


# ---- nestings -------------------------------------------------------------------------------------------------------


def compiled(lines: list[str]) -> Step:
    text = "".join(f"    {line}\n" for line in lines)
    space: dict[str, Any] = {"np": np}
    exec(f"def step(u, v, w):\n{text}    return u, v", space)
    made: Step = space["step"]
    return made


def nested(kinds: list[tuple[str, int]], lines: list[list[str]], result: str, inline: bool) -> Function:
    """The function of three numbers: containers from the outermost in, lines before and after what is within each."""

    def body(k: int) -> Step:
        before, after = compiled(lines[2 * k]), compiled(lines[2 * k + 1])
        inner = contained(k + 1) if k + 1 < len(kinds) else lambda u, v, w: (u, v)
        return lambda u, v, w: after(*inner(*before(u, v, w), w), w)

    def contained(k: int) -> Step:
        kind, n = kinds[k]
        return KINDS[kind][inline](body(k), n)

    whole, last = contained(0), eval(f"lambda u, v, w: {result}", {"np": np})
    return lambda x: last(*whole(x[0], x[1], x[2]), x[2])


def forward(f: Function) -> Function:
    return lambda x: hoad.jvp(f, (x,), (ALONG,))[1]


def contracted(f: Function) -> Function:
    return lambda x: np.sum(hoad.grad(f)(x) * ALONG_TOO)


MODES: dict[str, Callable[[Function], Function]] = {
    "grad": hoad.grad,
    "jvp": forward,
    "jit": lambda f: hoad.jit(hoad.grad(f)),
    "hessian": hoad.hessian,
    "reverse over reverse": lambda f: hoad.grad(contracted(f)),
    "forward over reverse": lambda f: forward(hoad.grad(f)),
    "reverse over forward": lambda f: hoad.grad(forward(f)),
    "forward over forward": lambda f: forward(forward(f)),
    "tapes": lambda f: lambda x: hoad.tangent(hoad.gradient(hoad.record(f, np.full(3, 0.5))), ALONG).evaluate(x),
}


def difference(form: tuple[Any, ...], x: Any, mode: str) -> str | None:
    """What is not as inline where that is finite; None if nothing is, or a rule would have to branch on values."""
    with np.errstate(all="ignore"):
        wanted = np.asarray(MODES[mode](nested(*form, inline=True))(x))
        try:
            found = np.asarray(MODES[mode](nested(*form, inline=False))(x))
        except hoad.TracedValueError as error:
            if "is not known here" in str(error):
                return None
            raise
        finite = np.isfinite(wanted)
        largest = np.max(np.abs(wanted[finite]), initial=1.0)
        if np.all(np.abs(found - wanted)[finite] <= TOLERANCE * largest):
            return None
    return f"{mode} of {form} at {x.tolist()}: {found.tolist()}, but {wanted.tolist()} inline"


def trial(rng: np.random.Generator) -> str | None:
    kinds = [(str(rng.choice(list(KINDS))), int(rng.integers(1, 4))) for _ in range(DEPTH)]
    lines = [[str(x) for x in rng.choice(LINES, rng.integers(0 if k else 1, 3))] for k in range(2 * DEPTH)]
    names = [name for name, _ in kinds]
    if "custom_vjp" in names and "while_loop" in names:
        return None  # in a rule nothing has a value, and so the steps of a loop cannot be counted
    form = kinds, lines, str(rng.choice(RESULTS))
    x = rng.choice(POINTS, 3)
    if "checkpointed_loop" not in names and rng.random() < PART_OF_LONG:  # its second derivatives would take minutes
        k = int(rng.integers(DEPTH))
        kinds[k] = names[k], LONG
    with np.errstate(all="ignore"):
        if not np.isfinite(nested(*form, inline=True)(x)):
            return None
    differences = (difference(form, x, mode) for mode in ("grad", "jvp", str(rng.choice(list(MODES)))))
    return next(filter(None, differences), None)
