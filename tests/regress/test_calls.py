"""Programs called inside functions that are differentiated or recorded, whatever happens to their lists meanwhile."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

X = np.array([0.3, 0.7, 1.1])


def cubic() -> hoad.Program:
    """x³ and its derivative 3x²."""
    return hoad.gradient(hoad.record(lambda x: x**3, 1.0))


CHANGES: dict[str, Callable[[hoad.Program], object]] = {
    "append": lambda program: program.append(program[0]),
    "extend": lambda program: program.extend([program[0]]),
    "insert": lambda program: program.insert(0, program[1]),
    "pop": lambda program: program.pop(),
    "remove": lambda program: program.remove(program[0]),
    "clear": lambda program: program.clear(),
    "sort": lambda program: program.sort(key=len),
    "reverse": lambda program: program.reverse(),
    "set an item": lambda program: program.__setitem__(0, program[1]),
    "set a slice": lambda program: program.__setitem__(slice(None), []),
    "delete an item": lambda program: program.__delitem__(0),
    "delete a slice": lambda program: program.__delitem__(slice(None)),
    "in-place sum": lambda program: operator.iadd(program, [program[0]]),
    "in-place product": lambda program: operator.imul(program, 0),
}


def test_every_method_that_changes_a_list_is_tried() -> None:
    """What a list has and a tuple has not, other than copies."""
    names = {name for name in set(dir(list)) - set(dir(tuple)) if name not in ("copy", "__reversed__")}
    assert {name for name in names if vars(hoad.Program).get(name) is not vars(hoad.Program)["append"]} == set()
    assert len(names) == 12


@pytest.mark.parametrize("way", list(CHANGES))
def test_a_program_is_not_changed(way: str) -> None:
    program = cubic()
    outer = hoad.record(lambda x: program(x) * x, 2.0)
    tapes = list(program)
    with pytest.raises(hoad.ArgumentError, match=r"never changes\. Cut it, program\[:1\], or join"):
        CHANGES[way](program)
    assert list(program) == tapes and program.evaluate(3.0) == 27.0 and outer.evaluate(3.0) == 81.0
    assert program[:1].evaluate(3.0) == 27.0 and hoad.Program([*program[:1], program[1]]).evaluate(3.0) == 27.0


def test_a_program_that_is_cut_and_one_that_is_not_are_called_side_by_side() -> None:
    program = cubic()

    def f(x: Any) -> Any:
        return program(x) + 10.0 * program[:1](x) + 100.0 * program(x)

    for _ in range(2):
        assert f(2.0) == 101 * 12.0 + 80.0
        assert hoad.grad(f)(2.0) == 101 * 12.0 + 120.0
        assert hoad.derivative(f, 2)(2.0) == 101 * 6.0 + 120.0
        assert hoad.gradient(hoad.record(f, 1.0)).evaluate(2.0) == 101 * 12.0 + 120.0


def test_numbers_and_types_of_inputs_and_outputs() -> None:
    """`inputs` and `outputs` are numbers of nodes, of a program as of a tape."""
    program = hoad.gradient(hoad.record(lambda x, y: (x * y, x), np.ones(3), 2.0), seed="symbolic")
    assert program.inputs == (*program[0].inputs, *program[1].inputs) and program.inputs[:2] == (1, 2)
    assert program.outputs == program[-1].outputs
    assert [(x.shape, x.dtype.name) for x in program.input_types] == [
        *(((3,), "float64"), ((), "float64")),
        *(((3,), "float64"), ((3,), "float64")),
    ]
    assert [x.shape for x in program.output_types] == [(3,), ()]
    rows = [node for tape in program for node in tape]
    assert [rows[k - 1].shape for k in program.inputs] == [x.shape for x in program.input_types]
    assert [rows[k - 1].shape for k in program.outputs] == [x.shape for x in program.output_types]
    assert hoad.record(lambda x: 3.0, 1.0).outputs == (hoad.Constant(3.0),)


WAYS: dict[str, Callable[[hoad.Program], hoad.Program]] = {
    "itself": lambda program: program,
    "slice": lambda program: program[:],
    "copy": lambda program: program.copy(),
    "list of tapes": lambda program: hoad.Program(list(program)),
    "pickle": lambda program: pickle.loads(pickle.dumps(program)),
    "called": lambda program: hoad.record(lambda x: program(x), 1.0),
    "called twice over": lambda program: hoad.record(lambda x: hoad.record(lambda y: program(y), 1.0)(x), 1.0),
}


@pytest.mark.parametrize("name", WAYS)
def test_every_form_of_a_program_is_the_same_function(name: str) -> None:
    made = WAYS[name](cubic())
    assert [hoad.derivative(made, n)(2.0) for n in range(4)] == [12.0, 12.0, 6.0, 0.0]
    assert [hoad.grad(made)(2.0), hoad.hessian(made)(2.0), hoad.vhp(made)(2.0, 1.0)] == [12.0, 6.0, 6.0]
    assert hoad.gradient(hoad.gradient(made)).evaluate(2.0) == 6.0
    assert hoad.grad(lambda x: x * hoad.grad(lambda y: made(x * y))(x))(1.0) == 24.0  # 6x⁴
    assert hoad.gradient(made, simplify=False).evaluate(2.0) == 12.0


def test_symbolic_seeds_are_arguments() -> None:
    """What a program is linear in, it may be called with at any argument, and differentiated by."""
    product = hoad.gradient(hoad.record(lambda x: x**3, 1.0), seed="symbolic")  # 3x² s
    assert hoad.derivative(lambda s: product(2.0, s) ** 2, 2)(1.0) == 288.0
    both = lambda x: product(x, x * x)  # noqa: E731  (3x⁴)
    assert [hoad.derivative(both, n)(1.0) for n in range(5)] == [3.0, 12.0, 36.0, 72.0, 72.0]
    assert hoad.grad(lambda x: hoad.grad(both)(x) * x)(1.0) == 48.0
    assert hoad.gradient(hoad.gradient(hoad.record(both, 1.0))).evaluate(2.0) == 144.0


def test_an_outer_value_beside_a_call() -> None:
    """What a call computes once is not what the function around it computes."""
    calls: list[Any] = []

    def f(x: Any) -> Any:
        inner = hoad.record(lambda y: y * y * (1.0 + len(calls)), 1.0)
        calls.append(None)
        return x * inner(x) + inner(2.0)

    assert [hoad.grad(f)(2.0) for _ in range(3)] == [12.0, 24.0, 36.0]
    outer = hoad.record(f, 1.0)  # 4x³ + 16, whatever is called later
    hoad.grad(f)(2.0)
    assert outer.evaluate(2.0) == 48.0 and hoad.gradient(outer).evaluate(2.0) == 48.0


def test_several_outputs_of_a_call() -> None:
    inner = hoad.record(lambda a: (a, np.stack([a, a * a]), 3.0), 1.0)
    f = lambda x: inner(x)[0] * inner(x)[1][1] * inner(x)[2]  # noqa: E731
    assert [hoad.derivative(f, n)(2.0) for n in range(4)] == [24.0, 36.0, 36.0, 18.0]
    assert hoad.gradient(hoad.record(f, 1.0)).evaluate(2.0) == 36.0


def test_calls_with_arguments_of_other_kinds() -> None:
    product = hoad.record(lambda a, b: a * b, 1.0, 1.0)
    assert hoad.grad(lambda x: product(x, 3) * x)(2.0) == 12.0
    assert hoad.grad(lambda x: product(x, x > 1) * x)(2.0) == 4.0
    square = hoad.record(lambda a: a * a, np.ones(2))
    assert hoad.grad(lambda x: np.sum(square([x, 2.0 * x])))(2.0) == 20.0
    np.testing.assert_array_equal(hoad.jacobian(square)(np.ones(2, np.float32)), 2.0 * np.eye(2))
    with pytest.raises(hoad.ShapeError, match="takes 2 inputs, but 1 was given"):
        hoad.grad(lambda x: product(x))(2.0)
    with pytest.raises(hoad.ShapeError, match="without outputs"):
        hoad.grad(lambda x: hoad.gradient(hoad.record(lambda: 1.0), seed="symbolic")(x))(2.0)
    with pytest.raises(hoad.ShapeError, match=r"returned tuple without a float: \(\)"):
        hoad.record(lambda a: (), 1.0)


COSINE = hoad.record(np.cos, 1.0)


@hoad.primitive(vjp=lambda g, p, x: (g * COSINE(x),))
def sine(x: Any) -> Any:
    return np.sin(x)


def test_a_rule_that_calls_a_program() -> None:
    found = [hoad.derivative(sine, n)(0.3) for n in range(5)]
    assert found == pytest.approx([np.sin(0.3 + n * np.pi / 2) for n in range(5)], rel=1e-14)
    second = hoad.gradient(hoad.gradient(hoad.record(sine, 1.0)))
    assert second.evaluate(0.3) == pickle.loads(pickle.dumps(second)).evaluate(0.3) == pytest.approx(-np.sin(0.3))


# ---- linear maps ----------------------------------------------------------------------------------------------------


def test_a_linear_map_of_its_own_result() -> None:
    """Made inside a derivative, it depends on the outer value, and so does what it is applied to."""

    def f(x: Any) -> Any:
        _, tangent = hoad.linearize(lambda y: x * y**3, x)  # ẏ -> 3x³ẏ
        _, pullback = hoad.vjp(lambda y: x * y**3, x)
        return tangent(tangent(x)) + pullback(pullback(x)[0])[0]  # 18x⁷

    assert hoad.derivative(f)(2.0) == hoad.grad(f)(2.0) == 18 * 7 * 64.0
    assert hoad.hessian(f)(1.0) == 18 * 7 * 6.0


def test_a_linear_map_from_outside_in_every_place() -> None:
    """As a function of the outer value, as a direction, and inside a program that is replayed elsewhere."""
    _, tangent = hoad.linearize(lambda x: x * np.sin(x), X)
    diagonal = np.sin(X) + X * np.cos(X)
    np.testing.assert_allclose(hoad.jacobian(lambda x: tangent(x * x))(X), np.diag(2 * X * diagonal), rtol=1e-14)
    np.testing.assert_allclose(hoad.hessian(lambda x: np.sum(tangent(x) ** 2))(X), np.diag(2 * diagonal**2), rtol=1e-14)
    along = lambda x: hoad.jvp(np.square, (X,), (tangent(x),))[1]  # noqa: E731
    np.testing.assert_allclose(hoad.jacobian(along)(X), np.diag(2 * X * diagonal), rtol=1e-14)
    program = hoad.gradient(hoad.record(lambda x: np.sum(tangent(x) ** 2), X))
    np.testing.assert_allclose(program.evaluate(5 * X), 10 * diagonal**2 * X, rtol=1e-14)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(program)).evaluate(5 * X), 10 * diagonal**2 * X, rtol=1e-14)
