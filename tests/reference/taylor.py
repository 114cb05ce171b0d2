"""Taylor coefficients from the rules (Griewank and Walther 2008, chapter 13).

For p = φ(x) element by element, the rule with g = 1 is h in p′(t) = Σ hₖ(p(t), x(t)) xₖ′(t), which gives the
coefficients of p order by order from those of h. What h computes is done the same way, and so on until nothing new is
asked for. By hand are only + − × ÷ and powers; an operation that is linear acts on each coefficient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.graph.primitive import UFUNC, Primitive, primitive_named
from hoad._core.graph.tape import AbstractValue, intern_aval
from reference.interpreter import compute
from reference.listing import LINEAR, Constant, Listing, Operand, Row, primal, row_of, template

MOST_ROWS = 2000

# What is done by hand: lists of its own, so that the facts which the core reads off a primitive are checked by others.
SUMS = (LINEAR | {"add", "subtract", "assemble", "put", "complex"}) - {"stop_gradient"}
PRODUCTS = frozenset({"multiply", "strong_multiply", "strong_multiply_both", "matmul", "correlate"})
QUOTIENTS = frozenset({"divide", "strong_divide"})
POWERS = frozenset({"power", "float_power"})
STEPS = frozenset({"sign", "floor", "ceil", "trunc", "rint", "floor_divide", "spacing", "stop_gradient"})


class NotClosedError(Exception):
    """A rule that asks for ever new operations."""


class System:
    """Operations whose series are found together, order by order; equal operations are one."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.rows: list[Row | None] = []  # None: a given series
        self.series: list[np.ndarray] = []
        self.slopes: list[list[tuple[int, int]] | None] = []  # of row i: pairs (hₖ, xₖ), where a rule gives them
        self.known: dict[Any, int] = {}
        self.constants: set[int] = set()

    def given(self, coefficients: Any) -> int:
        """A row whose series is known."""
        self.rows.append(None)
        self.series.append(np.asarray(coefficients))
        self.slopes.append(None)
        return len(self.rows) - 1

    def constant(self, value: Any) -> int:
        value = np.asarray(value)
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in self.known:
            self.known[key] = self.given(np.stack([value] + [np.zeros_like(value)] * self.order))
            self.constants.add(self.known[key])
        return self.known[key]

    def add(self, primitive: Primitive, operands: Sequence[int], row: Row) -> int:
        """The row of an operation, new or found again; −(−x) is x, and what depends on constants alone is one."""
        name = primitive.name
        inner = self.rows[operands[0]] if operands else None
        if name == "negative" and inner is not None and inner.primitive is not None and inner.primitive.name == name:
            return int(inner.operands[0])  # type: ignore[arg-type]
        if operands and primitive.nout == 1 and self.constants.issuperset(operands):
            with np.errstate(all="ignore"):
                return self.constant(compute(row, [self.series[k][0] for k in operands]))
        key = (primitive.op, tuple(operands), repr(row.params))
        if key not in self.known:
            if len(self.rows) > MOST_ROWS:
                raise NotClosedError(f"the rules around {name} do not close")
            self.rows.append(row_of(primitive, operands, row.params, row.aval))
            self.series.append(np.zeros((self.order + 1, *row.aval.shape), row.aval.dtype))
            self.slopes.append(None)
            self.known[key] = len(self.rows) - 1
        return self.known[key]

    def insert(self, listing: Listing, leaves: Sequence[int]) -> list[int | None]:
        """The rows of a listing, with `leaves` for its inputs."""
        place = dict(zip(listing.inputs, leaves, strict=True))

        def placed(x: Operand | None) -> Any:
            if x is None:
                return None
            return self.constant(x.value) if isinstance(x, Constant) else place[x]

        calls = any(row.primitive is not None and row.primitive.name == "call" for row in listing.rows)
        needed = _needed(listing) if calls else range(len(listing.rows))
        for i, row in enumerate(listing.rows):
            if row.primitive is None or i not in needed:
                continue
            if calls and row.primitive.name == "smooth":
                place[i] = placed(row.operands[0])
            else:
                place[i] = self.add(row.primitive, [placed(x) for x in row.operands], row)
        return [placed(x) for x in listing.outputs]

    def close(self) -> None:
        """Insert the rules of all rows that need one, and of what these compute."""
        i = 0
        while i < len(self.rows):
            row = self.rows[i]
            if row is not None and row.primitive is not None and by_rule(row):
                operands = [self.broadcast(int(k), row.aval) for k in row.operands]  # type: ignore[arg-type]
                avals = [self.aval(k) for k in operands]
                active = [aval.inexact and k not in self.constants for k, aval in zip(operands, avals, strict=True)]
                rule = template(row.primitive, row.params, avals, active)
                one = self.constant(np.ones(row.aval.shape, row.aval.dtype))
                slopes = self.insert(rule, [one, i, *operands])
                self.slopes[i] = [(h, x) for h, x in zip(slopes, operands, strict=True) if h is not None]
            i += 1

    def aval(self, i: int) -> AbstractValue:
        return intern_aval(self.series[i].dtype, self.series[i].shape[1:])

    def broadcast(self, i: int, like: AbstractValue) -> int:
        """Row i at the shape of the result, so that no rule needs to sum over what broadcasting stretched."""
        if self.aval(i).shape == like.shape:
            return i
        primitive = primitive_named("broadcast_to")
        assert primitive is not None
        aval = intern_aval(self.series[i].dtype, like.shape)
        return self.add(primitive, [i], row_of(primitive, (i,), (like.shape,), aval))

    def run(self) -> None:
        """All coefficients, order by order; operands come before what uses them."""
        with np.errstate(all="ignore"):
            for n in range(self.order + 1):
                for i, row in enumerate(self.rows):
                    if row is not None:
                        self.series[i][n] = self.coefficient(i, row, n)

    def coefficient(self, i: int, row: Row, n: int) -> Any:
        """Coefficient n of row i, from those before it and those of its operands."""
        assert row.primitive is not None
        name = row.primitive.name
        operands = [self.series[int(k)] for k in row.operands]  # type: ignore[arg-type]
        p = self.series[i]
        if name in PRODUCTS or name == "square":
            x, y = operands if len(operands) == 2 else operands * 2
            product = {"matmul": np.matmul, "correlate": _correlate}.get(name, np.multiply)
            return sum(product(x[k], y[n - k]) for k in range(n + 1))
        if name == "mask":
            return np.where(operands[0][0], operands[1][n], 0.0)
        if name == "select":
            return np.where(operands[0][0], operands[1][n], operands[2][n])
        if name in SUMS:
            return compute(row, [x[n] if x.dtype.kind in "fc" else x[0] for x in operands])
        if n == 0:
            return compute(row, [x[0] for x in operands])
        if name in STEPS or not np.issubdtype(row.aval.dtype, np.inexact):
            return 0
        if name in QUOTIENTS or name == "reciprocal":
            x, y = operands if len(operands) == 2 else (np.zeros(n + 1), operands[0])
            return (x[n] - sum(y[k] * p[n - k] for k in range(1, n + 1))) / y[0]
        if name in POWERS:
            return self.power(operands[0], operands[1], p, n)
        slopes = self.slopes[i]
        assert slopes is not None, name
        terms = [k * self.series[x][k] * self.series[h][n - k] for h, x in slopes for k in range(1, n + 1)]
        found = sum(terms) / n
        return found if row.aval.is_complex else np.real(found)  # a real p′ is Re(h x′)

    def power(self, x: np.ndarray, y: np.ndarray, p: np.ndarray, n: int) -> Any:
        """p = xʸ: repeated products for a whole constant y; else x p′ = y p x′, or p′ = p (y ln x)′ if y varies."""
        exponent = y[0].ravel()[0] if y[0].size else 0.0
        exponent = exponent.real if np.imag(exponent) == 0 else exponent
        if not y[1:].any() and np.all(y[0] == exponent):
            if exponent >= 0 and exponent == int(exponent):
                return _whole_power(x, int(exponent), n)
            weights = [exponent * k - (n - k) for k in range(n + 1)]
            return sum(weights[k] * x[k] * p[n - k] for k in range(1, n + 1)) / (n * x[0])
        log = np.zeros_like(p)
        for m in range(n + 1):
            log[m] = np.log(x[0]) if m == 0 else (x[m] - sum(k * log[k] * x[m - k] for k in range(1, m)) / m) / x[0]
        product = [sum(y[k] * log[m - k] for k in range(m + 1)) for m in range(n + 1)]
        return sum(k * product[k] * p[n - k] for k in range(1, n + 1)) / n


def _correlate(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Without the conjugate of NumPy's."""
    return np.correlate(x, y.conj())


def _whole_power(x: np.ndarray, exponent: int, n: int) -> Any:
    series = np.zeros_like(x[: n + 1])
    series[0] = 1.0
    for _ in range(exponent):
        series = np.stack([sum(series[k] * x[m - k] for k in range(m + 1)) for m in range(n + 1)])
    return series[n]


def _needed(listing: Listing) -> set[int]:
    """The rows that outputs need. `smooth(p, q)` is p here: no series is asked for at a kink."""
    needed: set[int] = set()
    waiting = list(listing.outputs)
    while waiting:
        x = waiting.pop()
        if isinstance(x, int) and x not in needed:
            needed.add(x)
            row = listing.rows[x]
            is_smooth = row.primitive is not None and row.primitive.name == "smooth"
            waiting += row.operands[:1] if is_smooth else row.operands
    return needed


def by_rule(row: Row) -> bool:
    """Whether the series of an operation comes from its rule."""
    primitive = row.primitive
    assert primitive is not None
    name = primitive.name
    by_hand = SUMS | PRODUCTS | QUOTIENTS | POWERS | STEPS | {"square", "reciprocal", "mask", "select"}
    if name in by_hand or not row.aval.inexact:
        return False
    if primitive.kind != UFUNC or primitive.nout > 1:
        raise NotClosedError(f"{name} is not an operation on elements: it carries a kernel for series of its own")
    return True


def taylor(f: Callable[..., Any], series: Sequence[Any], order: int) -> np.ndarray:
    """Coefficients f⁽ᵏ⁾/k! of f along a curve, given by those of its arguments (axis 0 is the order)."""
    padded = []
    for item in series:
        item = np.asarray(item, dtype=float)
        padded.append(np.concatenate([item, np.zeros((order + 1 - len(item), *item.shape[1:]))]))
    listing = primal(f, *[np.asarray(item[0])[()] for item in padded])
    system = System(order)
    (output,) = system.insert(listing, [system.given(item) for item in padded])
    system.close()
    system.run()
    assert output is not None
    return system.series[output]
