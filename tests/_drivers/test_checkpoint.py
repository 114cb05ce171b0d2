"""Checkpoints: derivatives as without them, and the memory they are for."""

from __future__ import annotations

import gc
import math
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from policy.memory import peak_of_process
from rules.modes import along, words

import hoad

W = np.array([[1.0, 0.5], [0.2, -0.3]])
X = np.array([0.3, 0.7])


def layer(h: Any) -> Any:
    return np.tanh(W @ h) * h


kept = hoad.checkpoint(layer)


def plain(x: Any) -> Any:
    return np.sum(layer(layer(layer(x))) ** 2)


def checkpointed(x: Any) -> Any:
    return np.sum(kept(kept(kept(x))) ** 2)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_every_mode_and_order(order: int) -> None:
    directions = [(np.array(v),) for v in ([1.0, 2.0], [0.3, -1.0], [-0.5, 0.5], [2.0, 0.1])][:order]
    want = along(plain, "f" * order, directions)(X)
    for word in words(order):
        assert along(checkpointed, word, directions)(X) == pytest.approx(want, rel=1e-11)


def test_matrices() -> None:
    for mode in ("forward", "reverse"):
        found = hoad.jacobian(lambda x: kept(kept(x)), mode=mode)(X)
        np.testing.assert_allclose(found, hoad.jacobian(lambda x: layer(layer(x)))(X), rtol=1e-14)
    np.testing.assert_allclose(hoad.hessian(checkpointed)(X), hoad.hessian(plain)(X), rtol=1e-13, atol=1e-16)


def test_record_and_replay() -> None:
    program = hoad.gradient(hoad.record(checkpointed, X))
    y = np.array([-0.4, 1.1])
    np.testing.assert_allclose(program.evaluate(y), hoad.grad(plain)(y), rtol=1e-14)
    second = hoad.gradient(program, seed="symbolic")
    np.testing.assert_allclose(second.evaluate(y, X), hoad.hvp(plain)(y, X), rtol=1e-13)
    assert [node.operation for node in program[0].nodes].count("call") == 3
    assert "adjoint of" in str(program)


def test_a_program_in_a_pickle() -> None:
    program = pickle.loads(pickle.dumps(hoad.record(checkpointed, X)))
    assert program.evaluate(X) == pytest.approx(plain(X), rel=1e-13)
    np.testing.assert_allclose(hoad.gradient(program).evaluate(X), hoad.grad(plain)(X), rtol=1e-14)


def test_traced_values_from_outside() -> None:
    def f(x: Any, wrap: Any) -> Any:
        scale = np.sum(x) ** 2
        return np.sum(wrap(lambda h: np.sin(h * scale) + scale)(x))

    for order in (1, 2, 3):
        directions = [(X,)] * order
        want = along(lambda x: f(x, lambda g: g), "r" * order, directions)(X)
        for word in words(order):
            assert along(lambda x: f(x, hoad.checkpoint), word, directions)(X) == pytest.approx(want, rel=1e-12)


def test_a_loop_variable_is_what_it_was() -> None:
    """The function is not run again when the variable that it uses has changed."""

    def f(x: Any) -> Any:
        for k in range(1, 4):
            x = hoad.checkpoint(lambda h: h * k + np.sin(h))(x)
        return x

    def like(x: Any) -> Any:
        for k in range(1, 4):
            x = x * k + np.sin(x)
        return x

    assert hoad.grad(f)(0.3) == pytest.approx(hoad.grad(like)(0.3), rel=1e-15)


def test_captured_arrays_are_as_they_were() -> None:
    weights = np.array([2.0, 3.0])

    def f(x: Any) -> Any:
        x = hoad.checkpoint(lambda h: h * weights)(x)
        weights[:] = 5.0
        x = hoad.checkpoint(lambda h: h * weights)(x)
        return np.sum(x)

    assert hoad.grad(f)(X).tolist() == [10.0, 15.0]


def test_captured_arrays_at_random(rng: np.random.Generator) -> None:
    """Segments that share arrays, which change between them, and leave traced values behind."""
    arrays = [rng.normal(size=3) for _ in range(4)]

    def f(x: Any, wrap: Any, plan: Any) -> Any:
        held = [array.copy() for array in arrays]
        for used, changed, leaks in plan:
            left: list[Any] = []

            def segment(h: Any, used: Any = used, leaks: bool = leaks, left: list[Any] = left, x: Any = x) -> Any:
                for k in used:
                    h = np.tanh(h * held[k] + x[0]) + held[(k + 1) % 4] / 2
                if leaks:
                    left.append(h * held[used[0]])
                return h

            y = wrap(segment)(x)
            y = y + left[0] if left else y
            held[changed] += 0.25
            x = y * held[changed]
        return np.sum(x)

    for _ in range(30):
        plan = [(rng.integers(0, 4, 3), rng.integers(0, 4), bool(rng.integers(0, 2))) for _ in range(5)]
        x = rng.normal(size=3)
        found = hoad.grad(lambda x, plan=plan: f(x, hoad.checkpoint, plan))(x)
        np.testing.assert_allclose(
            found, hoad.grad(lambda x, plan=plan: f(x, lambda g: g, plan))(x), rtol=1e-11, atol=1e-14
        )


def test_linear_maps_from_outside_and_inside() -> None:
    def outside(x: Any) -> Any:
        _, pull = hoad.vjp(np.sin, x)
        return hoad.checkpoint(lambda t: pull(t)[0] * t)(x)

    def inside(x: Any) -> Any:
        left: list[Any] = []

        @hoad.checkpoint
        def f(t: Any) -> Any:
            y, push = hoad.linearize(np.sin, t)
            left.append(push)
            return y * t

        return f(x) * left[0](1.0)

    for order in (1, 2):
        want = along(lambda x: np.cos(x) * x * x, "r" * order, [(1.0,)] * order)(0.5)
        assert along(outside, "r" * order, [(1.0,)] * order)(0.5) == pytest.approx(want, rel=1e-13)
        want = along(lambda x: np.sin(x) * x * np.cos(x), "r" * order, [(1.0,)] * order)(0.5)
        assert along(inside, "r" * order, [(1.0,)] * order)(0.5) == pytest.approx(want, rel=1e-13)


def test_containers_parameters_and_plain_results() -> None:
    @hoad.checkpoint
    def f(tree: dict[str, Any], mode: str, *, n: int) -> Any:
        return {"a": tree["x"] * n, "rest": [tree["y"], mode, tree["x"] * tree["y"]]}

    def g(x: Any) -> Any:
        found = f({"x": x, "y": x * x}, "up", n=2)
        assert found["rest"][1] == "up"
        return found["a"] + found["rest"][0] + found["rest"][2]

    assert hoad.grad(g)(2.0) == 2 + 4 + 12
    assert f({"x": 1.0, "y": 2.0}, "up", n=3) == {"a": 3.0, "rest": [2.0, "up", 2.0]}
    assert hoad.grad(lambda x: hoad.checkpoint(lambda: 3.0)() * x)(1.0) == 3.0
    assert hoad.grad(lambda x: hoad.checkpoint(lambda y: y)(x) * x)(3.0) == 6.0


def test_branches() -> None:
    bent = hoad.checkpoint(lambda x: x * x if x > 0 else -x)
    assert (hoad.grad(bent)(2.0), hoad.grad(bent)(-2.0)) == (4.0, -1.0)
    program = hoad.record(bent, 2.0)
    assert program.evaluate(3.0) == 9.0
    with pytest.raises(hoad.GuardError, match=r"test_checkpoint\.py"):
        program.evaluate(-3.0)

    def outside(x: Any) -> Any:
        positive = x > 0
        return hoad.checkpoint(lambda y: y * y if positive else -y)(x)

    assert (hoad.grad(outside)(2.0), hoad.grad(outside)(-2.0)) == (4.0, -1.0)
    with pytest.raises(hoad.GuardError):
        hoad.record(outside, 2.0).evaluate(-3.0)


def masked(x: Any, wrap: Any) -> Any:
    positive = x > 0
    return wrap(lambda h: np.where(positive, h * h, h))(x)


def masked_by_a_number(x: Any, wrap: Any) -> Any:
    positive = x[0] > 0
    return wrap(lambda h: np.where(positive, h * h, h))(x)


def ordered(x: Any, wrap: Any) -> Any:
    places = np.argsort(x)
    return wrap(lambda h: h[places] * np.arange(3.0))(x)


def with_places(x: Any, wrap: Any) -> Any:
    places, square = wrap(lambda h: (np.argsort(h), h * h))(x)
    return square[places] * np.arange(3.0)


def with_a_truth(x: Any, wrap: Any) -> Any:
    positive, square = wrap(lambda h: (h[0] > 0, h * h))(x)
    return np.where(positive, square, x)


def cast(x: Any, wrap: Any) -> Any:
    return wrap(lambda h: h.astype(np.float32) * np.float32(2))(x)


def collected(x: Any, wrap: Any) -> Any:
    return wrap(lambda h: np.array([h[0] * h[1], h[2] ** 2]))(x)


def second_factor(x: Any, wrap: Any) -> Any:
    return wrap(lambda a: np.linalg.svd(a))(np.stack([x, x * x, np.sin(x)]))[1]


def at_a_singular_point(x: Any, wrap: Any) -> Any:
    return np.where(x > 0, wrap(np.sqrt)(np.where(x > 0, x, 0.0)), 0.0)


def at_the_origin(x: Any, wrap: Any) -> Any:
    return wrap(np.linalg.norm)(x - hoad.stop_gradient(x)) + x


@pytest.mark.parametrize(
    "f",
    [
        masked,
        masked_by_a_number,
        ordered,
        with_places,
        with_a_truth,
        cast,
        collected,
        second_factor,
        at_a_singular_point,
        at_the_origin,
    ],
)
def test_values_of_every_kind(f: Any) -> None:
    """Booleans and integers from outside and among the results, casts, strong zeros that come from behind."""
    x, v = np.array([0.3, -0.7, 2.0]), np.array([1.0, 0.5, -2.0])

    def found(wrap: Any) -> list[Any]:
        def total(x: Any) -> Any:
            return np.sum(f(x, wrap) ** 2)

        replayed = hoad.gradient(hoad.record(total, x)).evaluate(x[::-1].copy())
        return [hoad.grad(total)(x), hoad.hessian(total)(x), hoad.jvp(total, (x,), (v,))[1], replayed] + [
            hoad.jacobian(lambda x: f(x, wrap), mode=mode)(x) for mode in ("forward", "reverse")
        ]

    for one, other in zip(found(hoad.checkpoint), found(lambda g: g), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-14)


def test_strong_zeros_pass_calls_of_programs_too() -> None:
    program = hoad.record(np.sqrt, 1.0)
    for wrap in (program, hoad.checkpoint(np.sqrt), hoad.checkpoint(hoad.checkpoint(np.sqrt))):

        def f(x: Any, wrap: Any = wrap) -> Any:
            return np.where(x > 0, wrap(x), 0.0)

        with np.errstate(divide="ignore"):
            assert hoad.grad(f)(0.0) == 0.0
            assert hoad.jvp(f, (0.0,), (1.0,))[1] == 0.0
            assert hoad.derivative(f, 2)(0.0) == 0.0


def test_strong_zeros_beside_others() -> None:
    """Of two results one is masked: its operand is, behind two calls, and the other's is not."""
    both = hoad.checkpoint(lambda x, y: (np.sqrt(x), y * y))

    def f(x: Any, y: Any) -> Any:
        a, b = both(*both(x, y))
        return np.where(x > 0, a, 0.0) + b

    with np.errstate(divide="ignore"):
        assert hoad.grad(f, argnums=(0, 1))(0.0, 2.0) == (0.0, 32.0)


def test_a_value_that_gets_out() -> None:
    """What f leaves behind is traced as ever, and has its derivative."""
    out = []

    @hoad.checkpoint
    def f(x: Any) -> Any:
        out.append(x * x)
        return x + 1

    def g(x: Any) -> Any:
        out.clear()
        y = f(x)
        return y * out[0]

    assert hoad.grad(g)(3.0) == 9 + 4 * 6
    assert hoad.derivative(g, 2)(3.0) == 2 * 6 + 4 * 2
    out.clear()


def test_an_exception_leaves_the_recording_as_it_was() -> None:
    @hoad.checkpoint
    def fails(x: Any) -> Any:
        x = np.sin(x)
        raise ValueError("no")

    def f(x: Any) -> Any:
        with pytest.raises(ValueError, match="no"):
            fails(x)
        return x * x

    assert hoad.grad(f)(3.0) == 6.0


def test_one_within_another_and_derivatives_within() -> None:
    inner = hoad.checkpoint(np.sin)
    outer = hoad.checkpoint(lambda x: inner(x * x) * inner(x))
    with_grad = hoad.checkpoint(lambda x: hoad.grad(lambda y: np.exp(x * y))(x))
    for order in (1, 2, 3):
        for word in words(order):
            found = along(outer, word, [(1.0,)] * order)(0.7)
            want = along(lambda x: np.sin(x * x) * np.sin(x), "r" * order, [(1.0,)] * order)(0.7)
            assert found == pytest.approx(want, rel=1e-12)
            found = along(with_grad, word, [(1.0,)] * order)(0.7)
            want = along(lambda x: x * np.exp(x * x), "r" * order, [(1.0,)] * order)(0.7)
            assert found == pytest.approx(want, rel=1e-12)


def test_in_a_rule() -> None:
    square = hoad.custom_vjp(lambda x: x**3)
    square.defvjp(lambda g, p, x: (g * hoad.checkpoint(lambda y: 3 * y * y)(x),))
    assert [hoad.derivative(square, k)(2.0) for k in (1, 2, 3)] == [12.0, 12.0, 6.0]


def test_symbols() -> None:
    x = hoad.symbols("x")
    e = hoad.checkpoint(lambda y: np.sin(y) * y)(x)
    assert e.evaluate({x: 2.0}) == pytest.approx(2 * math.sin(2))


@pytest.mark.frees
def test_equal_calls_share_one_program_and_nothing_outlives_its_use() -> None:
    program = hoad.record(checkpointed, X)
    callees = [node.parameters["program"] for node in program[0].nodes if node.operation == "call"]
    assert len({id(callee._program) for callee in callees}) == 1
    other = hoad.record(lambda x: np.sum(hoad.checkpoint(lambda h: np.tanh(W @ h) * h)(x)), X)
    assert other[0].nodes[1].parameters["program"]._program is callees[0]._program
    from hoad._transform.composite import _programs

    nested = hoad.checkpoint(lambda h: kept(kept(h)) * h)
    nest = hoad.record(lambda x: np.sum(nested(nested(x))), X)
    callees_ = [node.parameters["program"] for node in nest[0].nodes if node.operation == "call"]
    assert len({id(callee._program) for callee in callees_}) == 1
    del nest, callees_
    content = [key for key, found in _programs.items() if found() is callees[0]._program]
    del program, callees, other
    gc.collect()
    hoad.record(hoad.checkpoint(lambda x: x * 0.4711), 1.0)  # entries go when one is made
    assert content[0] not in _programs


def test_threads() -> None:
    program = hoad.gradient(hoad.record(checkpointed, X))
    want = program.evaluate(X).tolist()
    traced = hoad.grad(checkpointed)(X).tolist()  # done step by step, with other functions of the C library
    wrong: list[Any] = []

    def replay() -> None:
        for _ in range(50):
            if program.evaluate(X).tolist() != want or hoad.grad(checkpointed)(X).tolist() != traced:
                wrong.append(1)

    threads = [threading.Thread(target=replay) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


MEMORY = """
import sys
import numpy as np
import hoad

wrap = hoad.checkpoint if sys.argv[2] == "checkpoint" else (lambda f: f)

if sys.argv[1] == "numbers":
    x0 = 1.0
    @wrap
    def step(x):
        for _ in range(2500):
            x = x + 0.0001 * np.sin(x) * x
        return x
else:
    x0 = np.linspace(0.0, 1.0, 10000)
    @wrap
    def step(x):
        for _ in range(10):
            x = x + 0.01 * np.sin(x) * x
        return x

def f(x):
    for _ in range(40):
        x = step(x)
    return np.sum(x)

hoad.grad(np.sin)(1.0)
before = peak()
hoad.grad(f)(x0)
print(peak() - before)
"""


@pytest.mark.parametrize("kind", ["numbers", "arrays"])
def test_peak_memory(kind: str) -> None:
    """At most a quarter of what a derivative takes without checkpoints; it is a tenth and less."""
    assert peak_of_process(MEMORY, kind, "checkpoint") < peak_of_process(MEMORY, kind, "none") / 4
