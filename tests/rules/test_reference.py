"""The compiled interpreter, sweeps and lanes against the slow ones of `reference`, over every row of the table."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reference import Constant, adjoint, evaluate, evaluate_lanes, primal, tangent, template, transposed
from reference.listing import Listing
from rules.arrays import examples
from rules.cases import CASES, Elementwise, Structured

import hoad

TOLERANCE = 1e-12


class Example:
    """A row at one choice of operands; those without derivatives are constants."""

    def __init__(self, case: Elementwise | Structured, xs: tuple[np.ndarray, ...]) -> None:
        self.case = case
        count = len(case.wrt) if isinstance(case, Elementwise) else len(xs)
        self.xs, rest = xs[:count], xs[count:]
        self.f: Callable[..., Any] = lambda *args, f=case.f: f(*args, *rest)
        rng = np.random.default_rng(1)
        self.directions = [tuple(rng.uniform(-1.0, 1.0, x.shape) for x in self.xs) for _ in range(2)]
        value = case.f(*xs)
        self.weights = rng.uniform(-1.0, 1.0, np.shape(value))
        # What an error may be compared with where entries of a result add up to nothing.
        self.magnitude = 0.0 if isinstance(case, Elementwise) else 1e-2 * abs(np.asarray(value)).max(initial=0.0)

    def listing(self) -> Listing:
        return primal(self.f, *self.xs)


def all_examples() -> list[Any]:
    made = []
    for case in CASES:
        if isinstance(case, Elementwise):
            rng = np.random.default_rng(zlib.crc32(case.name.encode()))
            made.append(pytest.param(Example(case, case.sample(rng, 3)), id=case.name))
        else:
            for k, xs in enumerate(examples(case)):
                made.append(pytest.param(Example(case, xs), id=f"{case.name}-{k}"))
    return made


def close(example: Example, got: Any, want: Any) -> None:
    """Equal but for the order of operations."""
    want = np.asarray(want)
    assert np.shape(got) == want.shape
    error = abs(got - want)
    assert np.all(error <= TOLERANCE * (abs(want) + example.magnitude) + 1e-300), f"{got}\nis not\n{want}"


def or_zeros(values: list[Any], like: Any) -> list[Any]:
    return [np.zeros_like(x) if value is None else value for value, x in zip(values, like, strict=True)]


@pytest.mark.parametrize("example", all_examples())
def test_sweeps(example: Example) -> None:
    check_interpreter(example)
    check_adjoint(example)
    check_tangent(example)
    if getattr(example.case, "orders", 2) >= 2:
        check_second_order(example)
    check_lanes(example)
    check_template_and_its_transpose(example)


def check_interpreter(example: Example) -> None:
    listing = example.listing()
    (value,) = evaluate(listing, example.xs, listing.outputs)
    close(example, hoad.record(example.f, *example.xs).evaluate(*example.xs), value)


def check_adjoint(example: Example) -> None:
    listing = example.listing()
    bars = adjoint(listing, listing.outputs, [Constant(example.weights)], listing.inputs)
    want = or_zeros(evaluate(listing, example.xs, bars), example.xs)
    _, pullback = hoad.vjp(example.f, *example.xs)
    for got, bar in zip(pullback(example.weights), want, strict=True):
        close(example, got, bar)


def check_tangent(example: Example) -> None:
    listing = example.listing()
    seeds = [Constant(v) for v in example.directions[0]]
    dots = tangent(listing, listing.outputs, listing.inputs, seeds)
    (want,) = or_zeros(evaluate(listing, example.xs, dots), [example.weights])
    close(example, hoad.jvp(example.f, example.xs, example.directions[0])[1], want)


def check_second_order(example: Example) -> None:
    """Sweeps over what sweeps emitted: forward and reverse over reverse, reverse over forward."""
    seeds = [Constant(v) for v in example.directions[0]]
    found = []
    for first, second in ("rf", "fr", "rr"):
        listing = example.listing()
        inputs = list(listing.inputs)
        if first == "r":
            outer = adjoint(listing, listing.outputs, [Constant(example.weights)], inputs)
            outer_seeds = seeds
        else:
            outer = tangent(listing, listing.outputs, inputs, seeds)
            outer_seeds = [Constant(example.weights)]
        if second == "f":
            wanted = tangent(listing, outer, inputs, seeds)
        else:
            wanted = adjoint(listing, outer, outer_seeds, inputs)
        found.append(or_zeros(evaluate(listing, example.xs, wanted), example.xs))

    def weighted(*xs: Any, f: Any = example.f, weights: Any = example.weights) -> Any:
        return np.sum(weights * f(*xs))

    everywhere = tuple(range(len(example.xs)))
    want = hoad.jvp(lambda *xs: np.concatenate([np.ravel(g) for g in hoad.grad(weighted, everywhere)(*xs)]),
                    example.xs, example.directions[0])[1]  # fmt: skip
    for way in found:
        close(example, np.concatenate([np.ravel(x) for x in way]), want)


def check_lanes(example: Example) -> None:
    """Unit seeds in lanes give Jacobians, forward and reverse."""
    x, out = example.xs[0], example.weights
    listing = example.listing()
    inputs = list(listing.inputs)
    seed = listing.add_input(listing.aval(inputs[0]))
    dots = tangent(listing, listing.outputs, inputs[:1], [seed])
    units = np.eye(x.size).reshape(x.size, *x.shape)
    varying = [False] * len(inputs) + [True]
    columns = evaluate_lanes(listing, [*example.xs, units], varying, dots)[0] if x.size else None
    columns = np.zeros((x.size, *out.shape)) if columns is None else columns
    want = np.moveaxis(columns.reshape(*x.shape, *out.shape), range(x.ndim), range(-x.ndim, 0))
    close(example, hoad.jacobian(example.f, mode="forward")(*example.xs), want)

    listing = example.listing()
    seed = listing.add_input(listing.aval(listing.outputs[0]))
    bars = adjoint(listing, listing.outputs, [seed], inputs[:1])
    units = np.eye(out.size).reshape(out.size, *out.shape)
    rows = evaluate_lanes(listing, [*example.xs, units], varying, bars)[0]
    rows = np.zeros((out.size, *x.shape)) if rows is None else rows
    close(example, hoad.jacobian(example.f, mode="reverse")(*example.xs), rows.reshape(*out.shape, *x.shape))


def drawn(rng: np.random.Generator, aval: Any) -> Any:
    """A random adjoint or tangent."""
    x = rng.uniform(-1.0, 1.0, aval.shape)
    return x + 1j * rng.uniform(-1.0, 1.0, aval.shape) if aval.is_complex else x


def check_template_and_its_transpose(example: Example) -> None:
    """⟨g, J ẋ⟩ = ⟨Jᵀ g, ẋ⟩ for every operation recorded, with the compiled transpose as well as the slow one.

    The pairing of complex numbers is Re(g ẋ).
    """
    listing = example.listing()
    rng = np.random.default_rng(3)
    checked = 0
    for i, row in enumerate(list(listing.rows)):
        primitive = row.primitive
        if primitive is None or primitive.rule is None or not row.aval.inexact or primitive.nout > 1:
            continue
        avals = [listing.aval(x) for x in row.operands]
        active = [isinstance(x, int) and aval.inexact for x, aval in zip(row.operands, avals, strict=True)]
        wanted = [*row.operands, i]
        *operands, p = evaluate(listing, example.xs, wanted)
        g = drawn(rng, row.aval)
        dots = [drawn(rng, aval) for aval in avals]
        vjp = template(primitive, row.params, avals, active)
        pulled = evaluate(vjp, [g, p, *operands], vjp.outputs)
        right = sum(np.sum((bar * dot).real) for bar, dot in zip(pulled, dots, strict=True) if bar is not None)
        size = sum(np.sum(abs(bar * dot)) for bar, dot in zip(pulled, dots, strict=True) if bar is not None)
        for jvp in (
            transposed(primitive, row.params, avals, active),
            template(primitive, row.params, avals, active, "jvp"),
        ):
            (pushed,) = evaluate(jvp, [g * np.nan, p, *operands, *dots], jvp.outputs)
            left = 0.0 if pushed is None else np.sum((g * pushed).real)
            assert abs(left - right) <= max(TOLERANCE, example.case.tolerance) * size
        checked += 1
    assert checked or not any(row.primitive and row.primitive.rule and row.primitive.nout == 1 for row in listing.rows)
