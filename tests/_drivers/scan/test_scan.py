"""Loops recorded once against their unrolled versions, in every mode and to the fourth order."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from _drivers.scan.unrolled import nested, unrolled, vector_loss
from hypothesis import given, settings
from hypothesis import strategies as st

import hoad
from hoad._transform import loops as room

RNG = np.random.default_rng(5)
POINT = np.concatenate([RNG.normal(size=9) * 0.4, RNG.normal(size=6), [0.7]])
DIRECTION = RNG.normal(size=16)


def close(found: Any, expected: Any, tolerance: float = 2e-13) -> None:
    scale = np.max(np.abs(expected))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


@pytest.fixture(params=["whole", "stretches"])
def kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Keep what is carried at every step, or run stretches again."""
    if request.param == "stretches":
        monkeypatch.setattr(room, "KEPT_BYTES", 0)
        monkeypatch.setattr(room, "FEW_STEPS", 3)
    return str(request.param)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [1, 2, 4, 7, 30])
def test_every_mode_is_that_of_the_unrolled_loop(n: int, reverse: bool, kept: str) -> None:
    rows = RNG.normal(size=(n, 3)) * 0.5
    f, unrolled_loop = vector_loss(hoad.scan, rows, reverse), vector_loss(unrolled, rows, reverse)
    gradient = hoad.grad(unrolled_loop)(POINT)
    product = hoad.hvp(unrolled_loop)(POINT, DIRECTION)
    close(f(POINT), unrolled_loop(POINT))
    close(hoad.grad(f)(POINT), gradient)
    close(hoad.jvp(f, (POINT,), (DIRECTION,))[1], gradient @ DIRECTION)
    close(hoad.hvp(f)(POINT, DIRECTION), product)
    close(hoad.vhp(f)(POINT, DIRECTION), product)
    close(hoad.grad(lambda v: hoad.jvp(f, (v,), (DIRECTION,))[1])(POINT), product)
    close(hoad.linearize(f, POINT)[1](DIRECTION), gradient @ DIRECTION)
    close(hoad.vjp(f, POINT)[1](1.0)[0], gradient)


@pytest.mark.parametrize("reverse", [False, True])
def test_orders_two_to_four(reverse: bool, kept: str) -> None:
    rows = RNG.normal(size=(7, 3)) * 0.5
    f, unrolled_loop = vector_loss(hoad.scan, rows, reverse), vector_loss(unrolled, rows, reverse)
    for order in (2, 3, 4):
        close(
            hoad.derivative(lambda t: f(POINT + t * DIRECTION), order)(0.0),
            hoad.derivative(lambda t: unrolled_loop(POINT + t * DIRECTION), order)(0.0),
            1e-12,
        )
    close(hoad.hessian(f)(POINT), hoad.hessian(unrolled_loop)(POINT))

    def thrice(g: Any) -> Any:
        return lambda v: hoad.jvp(
            lambda w: hoad.jvp(lambda u: hoad.grad(g)(u), (w,), (DIRECTION,))[1], (v,), (DIRECTION,)
        )[1]

    close(thrice(f)(POINT), thrice(unrolled_loop)(POINT), 1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_loop_in_a_loop(order: int, kept: str) -> None:
    close(hoad.derivative(nested(hoad.scan), order)(0.7), hoad.derivative(nested(unrolled), order)(0.7), 1e-12)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobian_of_the_rows(mode: str) -> None:
    def rows(loop: Any) -> Any:
        return lambda a: loop(lambda c, x: (c * x + a[0], c * a[1]), a, np.array([1.0, 2.0, 3.0]))[1]

    point = np.array([0.5, -1.5])
    close(hoad.jacobian(rows(hoad.scan), mode=mode)(point), hoad.jacobian(rows(unrolled))(point))


@pytest.mark.parametrize("n", [1, 2, 9])
def test_strong_zeros_pass_loops(n: int, kept: str) -> None:
    """What `where` leaves out does not come back as 0 · ∞, whether it is carried, a row, or mixed with what stays."""

    def f(x: Any) -> Any:
        def roots(c: Any, row: Any) -> Any:
            a, b = c
            return (np.sqrt(a), b * 2), np.sqrt(row * a)

        (a, b), ys = hoad.scan(roots, (x, x), np.ones((n, 3)))
        return np.sum(np.where(x > 0, a, 0.0) + b) + np.sum(np.where(x > 0, ys, 0.0))

    def slopes(x: float) -> tuple[float, float]:
        """Of x^(2⁻ⁿ) + Σ_k x^(2⁻ᵏ) + 2ⁿ x, k = 1, ..., n, and once more."""
        powers = [0.5**n, *(0.5**k for k in range(1, n + 1))]
        first = sum(p * x ** (p - 1) for p in powers) + 2.0**n
        return first, sum(p * (p - 1) * x ** (p - 2) for p in powers)

    x = np.array([4.0, 0.0, 1.0])
    (first, second), (at_one, twice) = slopes(4.0), slopes(1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        close(hoad.grad(f)(x), np.array([first, 2.0**n, at_one]), 1e-12)
        close(hoad.hvp(f)(x, np.ones(3)), np.array([second, 0.0, twice]), 1e-12)
        program = pickle.loads(pickle.dumps(hoad.gradient(hoad.record(f, x))))
        close(program.evaluate(x), np.array([first, 2.0**n, at_one]), 1e-12)
        close(hoad.gradient(program, np.ones(3)).evaluate(x), np.array([second, 0.0, twice]), 1e-12)


def test_a_derivative_inside_the_body() -> None:
    def descent(a: Any) -> Any:
        def step(x: Any, _: Any) -> Any:
            return x - 0.1 * hoad.grad(lambda t: (t - a) ** 4)(x), None

        return hoad.scan(step, 0.0, length=50)[0]

    def by_hand(a: Any) -> Any:
        x = 0.0
        for _ in range(50):
            x = x - 0.4 * (x - a) ** 3
        return x

    for order in (1, 2, 3):
        close(hoad.derivative(descent, order)(1.3), hoad.derivative(by_hand, order)(1.3), 1e-11)


def test_the_logistic_map_settles_at_its_fixed_point() -> None:
    f = lambda r: hoad.scan(lambda x, _: (r * x * (1 - x), None), 0.5, length=3000)[0]  # noqa: E731
    for r in (2.5, 2.9):  # x* = 1 - 1/r
        assert f(r) == pytest.approx(1 - 1 / r, rel=1e-14)
        assert hoad.grad(f)(r) == pytest.approx(r**-2, rel=1e-12)
        assert hoad.derivative(f, 2)(r) == pytest.approx(-2 * r**-3, rel=1e-11)


# ---- programs -------------------------------------------------------------------------------------------------------


def test_a_loop_is_one_node_of_constant_size() -> None:
    def program(n: int) -> hoad.Program:
        return hoad.record(lambda x: hoad.scan(lambda c, _: (np.sin(c) * x, None), x, length=n)[0], 0.5)

    short, long = program(3), program(100_000)
    assert short[0].size == long[0].size == 2
    assert short[0].nbytes == long[0].nbytes


def test_the_body_takes_its_branches_with_it() -> None:
    """Of what the body recorded nothing stays around the loop, and its branches are checked where it runs."""

    def f(x: Any) -> Any:
        def body(c: Any, _: Any) -> Any:
            return (np.sin(c) if x > -5 and c < 2 else c) * x, None

        y = x
        for _ in range(10):
            y = hoad.scan(body, y, length=3)[0]
        return y

    program = hoad.record(f, 0.5)
    assert program[0].size == 11 and not program[0].guards
    with pytest.raises(hoad.GuardError, match=r"its step 0 does not take"):
        program.evaluate(-6.0)


def test_programs_are_replayed_differentiated_and_pickled() -> None:
    f = nested(hoad.scan)
    program = hoad.gradient(hoad.gradient(hoad.record(f, 0.7)))
    expected = hoad.derivative(nested(unrolled), 2)(0.9)
    close(program.evaluate(0.9), expected)
    close(pickle.loads(pickle.dumps(program)).evaluate(0.9), expected)
    close(hoad.derivative(hoad.record(f, 0.7), 2)(0.9), expected)


def test_the_body_is_shown_as_a_program() -> None:
    program = hoad.record(lambda x: hoad.scan(lambda c, _: (np.sin(c) * x, None), x, length=3)[0], 0.5)
    (node,) = [node for node in program[0].nodes if node.operation == "scan"]
    body = node.parameters["loop"].program
    assert [n.operation for n in body[0].nodes] == ["input", "input", "sin", "multiply"]
    assert "3 steps" in program.table()


def test_what_the_body_captures_is_as_it_was() -> None:
    kept = np.array([2.0, 3.0])

    def f(a: Any) -> Any:
        result = hoad.scan(lambda c, _: (c * kept[0], None), a, length=3)[0]
        kept[0] = 50.0
        return result

    assert hoad.grad(f)(1.0) == 8.0


# ---- carries and rows -----------------------------------------------------------------------------------------------


def filled_outside(scan: Any, count: int) -> Any:
    """An array that is written to, is first looked at in the body of a loop in a loop, and is used again behind it."""

    def f(x: Any) -> Any:
        def inner(v: Any, row: Any) -> Any:
            for _ in range(count):
                v = scan(lambda w, r: (np.sin(w * weights[0] + r), w), v, np.array([0.2, 0.1, 0.3]))[0]
            return v, v * row

        def outer(v: Any, row: Any) -> Any:
            nonlocal weights
            u = np.zeros(3, like=v)
            u[0] = v[2] * row
            u[1:] = v[:2]
            weights = u[np.array([0, 1, 2, 1])] * 0.5
            u, rows = scan(inner, u, np.array([0.1, 0.3]))
            return np.cos(x[0] * u), np.sum(rows)

        weights: Any = None
        v, rows = scan(outer, x * 1.0, np.array([0.9, 1.1, 0.7]))
        return np.sum(v) + np.sum(rows**2)

    return f


@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_is_first_read_in_the_body_is_kept_behind_it(count: int) -> None:
    x = np.array([0.5, -0.4, 0.7])
    f, unrolled_loop = filled_outside(hoad.scan, count), filled_outside(unrolled, count)
    close(f(x), unrolled_loop(x))
    close(hoad.grad(f)(x), hoad.grad(unrolled_loop)(x))
    close(hoad.hessian(f)(x), hoad.hessian(unrolled_loop)(x), 1e-12)


def test_containers_and_constants_in_carry_and_rows() -> None:
    def body(carry: Any, x: Any) -> Any:
        carry = {"sum": carry["sum"] + x["a"] * x["b"][0][1], "name": carry["name"]}
        return carry, (carry["sum"], None, {"twice": 2 * x["a"]})

    xs = {"a": np.arange(3.0), "b": [np.ones((3, 2))]}
    carry, (sums, nothing, twice) = hoad.scan(body, {"sum": 0.0, "name": "total"}, xs)
    assert carry == {"sum": 3.0, "name": "total"}
    assert nothing is None
    np.testing.assert_array_equal(sums, [0.0, 1.0, 3.0])
    np.testing.assert_array_equal(twice["twice"], [0.0, 2.0, 4.0])


def test_integers_and_truth_values_are_carried() -> None:
    def body(carry: Any, x: Any) -> Any:
        number, seen = carry
        return (number + 1, np.logical_or(seen, x > 0.5)), x > 0.5

    (number, seen), above = hoad.scan(body, (0, False), np.array([0.1, 0.9, 0.2]))
    assert (number, seen) == (3, True)
    np.testing.assert_array_equal(above, [False, True, False])
    assert isinstance(number, np.integer)


def test_the_carry_takes_the_dtype_that_the_body_gives() -> None:
    total, _ = hoad.scan(lambda c, x: (c + x, None), 0, np.array([0.5, 0.25]))
    assert total == 0.75
    assert hoad.grad(lambda a: hoad.scan(lambda c, x: (c + a * x, None), 0, np.array([0.5, 0.25]))[0])(2.0) == 0.75


def test_single_precision_stays() -> None:
    carry, rows = hoad.scan(lambda c, x: (c + x, c), np.zeros(2, np.float32), np.ones((3, 2), np.float32))
    assert carry.dtype == rows.dtype == np.float32
    gradient = hoad.grad(lambda x: np.sum(hoad.scan(lambda c, r: (c * x + r, None), x, np.ones((3, 2), np.float32))[0]))
    assert gradient(np.ones(2, np.float32)).dtype == np.float32


def test_what_is_carried_may_change_places() -> None:
    a = np.array([1.0, 2.0])
    (x, y, s, t), _ = hoad.scan(lambda c, _: ((c[1], c[0], c[3], c[2]), None), (a, 2 * a, 1.0, 5.0), length=3)
    np.testing.assert_array_equal(x, 2 * a)
    np.testing.assert_array_equal(y, a)
    assert (s, t) == (5.0, 1.0)


@pytest.mark.parametrize("rows", [np.zeros(0), np.zeros((0, 2))])
def test_no_steps(rows: Any) -> None:
    start = np.ones(rows.shape[1:])[()]
    carry, ys = hoad.scan(lambda c, x: (c + x, c * x), start, rows)
    np.testing.assert_array_equal(carry, start)
    assert ys.shape == rows.shape
    f = lambda a: np.sum(hoad.scan(lambda c, x: (c + a * x, a * x), a * start, rows)[0])  # noqa: E731
    assert hoad.grad(f)(2.0) == np.size(start)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 6), st.booleans(), st.lists(st.sampled_from("abcd"), min_size=1, max_size=5), st.data())
def test_random_bodies(n: int, reverse: bool, steps: list[str], data: st.DataObject) -> None:
    numbers = st.floats(-1.5, 1.5, allow_nan=False).map(lambda x: round(x, 3))
    xs = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)))
    weight, start = data.draw(numbers), data.draw(numbers)

    def body_of(w: Any) -> Any:
        def body(c: Any, x: Any) -> Any:
            y = c
            for step in steps:
                y = {
                    "a": lambda v: v + w * x,
                    "b": lambda v: np.sin(v) * w,
                    "c": lambda v: v * c + x,
                    "d": lambda v: np.tanh(v - w),
                }[step](y)
            return y, y * w + x * c

        return body

    def loss(loop: Any) -> Any:
        def f(v: Any) -> Any:
            carry, ys = loop(body_of(v[0]), v[1], xs * v[0], reverse=reverse)
            return carry * carry + (np.sum(np.cos(ys)) if n else 0.0)

        return f

    point = np.array([weight, start])
    unrolled_loop = loss(unrolled) if n else (lambda v: v[1] * v[1])
    np.testing.assert_allclose(
        hoad.grad(loss(hoad.scan))(point), hoad.grad(unrolled_loop)(point), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        hoad.hessian(loss(hoad.scan))(point), hoad.hessian(unrolled_loop)(point), rtol=1e-11, atol=1e-11
    )


# ---- counted and conditional loops ----------------------------------------------------------------------------------


def test_fori_loop_counts() -> None:
    polynomial = lambda x: hoad.fori_loop(0, 4, lambda i, s: s + i * x**i, 0.0)  # noqa: E731
    assert polynomial(2.0) == 2 + 8 + 24
    assert hoad.grad(polynomial)(2.0) == 1 + 8 + 36
    assert hoad.derivative(polynomial, 3)(2.0) == 18.0
    assert hoad.fori_loop(3, 3, lambda i, s: s + 1.0, 2.0) == 2.0
    assert hoad.fori_loop(5, 2, lambda i, s: s + 1.0, 2.0) == 2.0


def heron(a: Any, **options: Any) -> Any:
    return hoad.while_loop(lambda x: abs(x * x - a) > 1e-12, lambda x: (x + a / x) / 2, 1.0, **options)


@pytest.mark.parametrize("options", [{}, {"max_steps": 20}])
def test_while_loop(options: dict[str, int]) -> None:
    f = lambda a: heron(a, **options)  # noqa: E731
    assert f(2.0) == pytest.approx(2**0.5, rel=1e-14)
    assert hoad.grad(f)(2.0) == pytest.approx(0.5 * 2**-0.5, rel=1e-12)
    assert hoad.derivative(f, 2)(2.0) == pytest.approx(-0.25 * 2**-1.5, rel=1e-10)
    assert hoad.jvp(f, (2.0,), (3.0,))[1] == pytest.approx(1.5 * 2**-0.5, rel=1e-12)
    assert f(1.0) == 1.0  # no step


def test_the_number_of_steps_belongs_to_the_recording() -> None:
    counted = hoad.record(heron, 2.0)
    assert counted.evaluate(2.1) == pytest.approx(2.1**0.5, rel=1e-14)
    with pytest.raises(hoad.GuardError, match="Record the function again"):
        counted.evaluate(200.0)
    bounded = hoad.record(lambda a: heron(a, max_steps=20), 2.0)
    assert bounded.evaluate(200.0) == pytest.approx(200**0.5, rel=1e-14)


def test_a_loop_that_does_not_end_says_so() -> None:
    with pytest.raises(hoad.ArgumentError, match=r"not ended after max_steps=2 .*Allow more"):
        heron(2.0, max_steps=2)
    with pytest.raises(hoad.ArgumentError, match="not ended"):
        hoad.grad(lambda a: heron(a, max_steps=2))(2.0)


# ---- errors ---------------------------------------------------------------------------------------------------------


def test_a_branch_that_a_later_step_does_not_take() -> None:
    def body(x: Any, _: Any) -> Any:
        if x > 1.0:
            x = x * 0.5
        return x + 0.3, None

    with pytest.raises(hoad.GuardError, match=r"test_scan.py:\d+ that its step 4 does not take. Write np.where"):
        hoad.scan(body, 0.0, length=10)
    assert hoad.scan(body, 0.0, length=4)[0] == pytest.approx(1.2)


WRONG = [
    (lambda: hoad.scan(lambda c, x: c, 0.0, length=3), hoad.ShapeError, r"a pair, \(carry, y\).*return carry, None"),
    (lambda: hoad.scan(lambda c, x: (c, x), 0.0), hoad.ArgumentError, r"neither rows nor a length.*length=n"),
    (lambda: hoad.scan(lambda c, x: (c, x), 0.0, length=-1), hoad.ArgumentError, "number of steps, not -1"),
    (lambda: hoad.scan(lambda c, x: (c, x), 0.0, length=2.5), hoad.ArgumentError, "number of steps, not 2.5"),
    (
        lambda: hoad.scan(lambda c, x: (c * np.ones(2), x), 0.0, np.ones(3)),
        hoad.ShapeError,
        r"shape \(\).*shape \(2,\)",
    ),
    (
        lambda: hoad.scan(lambda c, x: ((c, c), x), 0.0, np.ones(3)),
        hoad.ShapeError,
        r"returned \(\*, \*\)",
    ),
    (lambda: hoad.scan(lambda c, x: (c, x), 0.0, (np.ones(3), np.ones(4))), hoad.ShapeError, "3 and 4 rows. Make them"),
    (lambda: hoad.scan(lambda c, x: (c, x), 0.0, np.ones(3), length=4), hoad.ShapeError, "3 rows, and length=4"),
    (lambda: hoad.scan(lambda c, x: (c, x), 0.0, 2.0), hoad.ShapeError, "xs contains a number. Put it into the carry"),
    (lambda: hoad.scan(3, 0.0, length=2), hoad.ArgumentError, r"takes a function, but was given an int"),
    (lambda: hoad.while_loop(lambda x: x, lambda x: x + 1, 1.0), hoad.DTypeError, "must be a boolean"),
]


@pytest.mark.parametrize(("wrong", "error", "message"), WRONG, ids=range(len(WRONG)))
def test_errors_say_what_to_do(wrong: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        wrong()


def entry(a: Any, c: Any) -> None:
    a[0] = c


def part(a: Any, c: Any) -> None:
    a[1:] = c


def added(a: Any, c: Any) -> None:
    a += c


def through_a_view(a: Any, c: Any) -> None:
    a[::-1][:1] *= c


def by_a_function(a: Any, c: Any) -> None:
    np.add.at(a, 0, c)


def into_out(a: Any, c: Any) -> None:
    np.multiply(a, c, out=a)


@pytest.mark.parametrize("write", [entry, part, added, through_a_view, by_a_function, into_out])
@pytest.mark.parametrize("make", [lambda x: x.copy(), lambda x: np.zeros(3, like=x), lambda x: (x * 2.0)[:]])
@pytest.mark.parametrize("deep", [False, True], ids=["at once", "in a derivative in the body"])
def test_a_body_cannot_write_to_what_is_around_it(write: Any, make: Any, deep: bool) -> None:
    """It runs once, and the loop many times: the array would be left as it is after the first step."""

    def f(x: Any) -> Any:
        a = make(x)

        def body(c: Any, row: Any) -> Any:
            if deep:
                hoad.grad(lambda z: write(a, c) or z * z)(2.0)
            else:
                write(a, c)
            return c * row + a[0], None

        return hoad.scan(body, x[0] * 1.0, np.array([1.0, 2.0]))[0] + np.sum(a)

    with pytest.raises(hoad.TracedValueError, match=r"array of the function around them \(.*test_scan.py.*carry it"):
        hoad.grad(f)(np.array([0.3, 0.2, 0.5]))


def with_rule(f: Any) -> Any:
    made = hoad.custom_vjp(f)
    made.defvjp(lambda c: (f(c), None), lambda kept, g: (g,))
    return made


APART: dict[str, Any] = {
    "vmap": lambda f, c: hoad.vmap(f)(np.array([1.0, 2.0]))[0],
    "checkpoint": lambda f, c: hoad.checkpoint(f)(c),
    "custom_vjp": lambda f, c: with_rule(f)(c),
    "fori_loop": lambda f, c: hoad.fori_loop(0, 3, lambda i, c: f(c), 1.0),
    "while_loop": lambda f, c: hoad.while_loop(lambda c: c < 3, lambda c: f(c) + 1.0, 1.0),
}


@pytest.mark.parametrize("kind", APART)
def test_nothing_recorded_apart_writes_to_what_is_around_it(kind: str) -> None:
    def f(x: Any) -> Any:
        a = x * 1.0

        def body(c: Any) -> Any:
            a[0] = c
            return c * 1.0

        return APART[kind](body, x[1]) + np.sum(a)

    with pytest.raises(hoad.TracedValueError, match="array of the function around them"):
        hoad.grad(f)(np.array([0.3, 0.2, 0.5]))


def test_a_body_writes_to_arrays_of_its_own() -> None:
    def body(scan: Any) -> Any:
        def f(x: Any) -> Any:
            around = np.zeros(3, like=x)
            around[1] = x[1]

            def step(v: Any, row: Any) -> Any:
                made = np.zeros(3, like=v)
                made[:2] = v[1:] * row
                carried = v.copy()
                carried += around
                inner = scan(lambda w, r: (made * w * r, w), carried, np.array([0.5, 0.7]))[0]
                made[2] += np.sum(inner)
                made -= 0.1 * carried
                return made, made[0]

            v, rows = scan(step, x * 1.0, np.array([1.0, 0.5]))
            around += v
            return np.sum(around**2) + np.sum(rows)

        return f

    x = np.array([0.3, 0.2, 0.5])
    close(hoad.grad(body(hoad.scan))(x), hoad.grad(body(unrolled))(x))
    close(hoad.hessian(body(hoad.scan))(x), hoad.hessian(body(unrolled))(x), 1e-12)


def test_second_and_third_derivatives_are_those_of_sweeps_and_of_series() -> None:
    def f(x: Any) -> Any:
        return hoad.scan(lambda c, u: (c * np.sin(x) + u, None), 0.5, np.arange(1.0, 4.0))[0]

    for n in (2, 3):
        swept = f
        for _ in range(n):
            swept = hoad.grad(swept)
        np.testing.assert_allclose(hoad.derivative(f, n)(0.7), swept(0.7), rtol=1e-13)
        np.testing.assert_allclose(hoad.derivative(f, n)(0.7), hoad.derivatives(f, n)(0.7)[n], rtol=1e-15)


def test_second_derivatives_are_infinite_where_they_are() -> None:
    def f(x: Any) -> Any:
        return hoad.scan(lambda c, u: (c + u * x**1.5, None), 0.0, np.arange(1.0, 4.0))[0]

    assert hoad.derivative(f, 2)(0.0) == np.inf
    np.testing.assert_allclose(hoad.vmap(hoad.derivative(f, 2))(np.array([0.0, 1.0])), [np.inf, 4.5])
