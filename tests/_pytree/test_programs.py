"""Programs of functions of containers: flat inside, of the recorded structure outside."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from _pytree.kinds import CASES, GRADIENT, X, Y, constants_of, loss

import hoad
from hoad._pytree.containers import flatten

kinds = pytest.mark.parametrize("kind", CASES)
close = np.testing.assert_allclose


def moved(point: Any, x: Any, y: Any) -> Any:
    leaves, structure = flatten(point)
    return structure.unflatten([x if leaf is X else y if leaf is Y else leaf for leaf in leaves])


@kinds
def test_programs_of_containers(kind: str) -> None:
    case = CASES[kind]
    point = case.make(X, Y)
    f = lambda p: loss(*case.parts(p))  # noqa: E731
    program = hoad.record(f, point)
    assert sorted(aval.shape for aval in program.input_types) == [(), (3,)]
    assert program.evaluate(point) == pytest.approx(loss(X, Y), rel=1e-15)
    other = moved(point, 2 * X, 0.5)
    assert program.evaluate(other) == pytest.approx(loss(2 * X, 0.5), rel=1e-15)
    once = hoad.gradient(program)
    found = once.evaluate(point)
    assert type(found) is type(point) and flatten(found)[1] == flatten(point)[1]
    for part, exact in zip(case.parts(found), GRADIENT, strict=True):
        close(part, exact, rtol=1e-14)
    assert all(value is None for value in constants_of(case, found).values())
    for twice in (hoad.gradient(once, found), hoad.gradient(once, moved(point, *GRADIENT))):
        exact = hoad.hvp(f)(point, found)
        for part, wanted in zip(case.parts(twice.evaluate(point)), case.parts(exact), strict=True):
            close(part, wanted, rtol=1e-14)
    symbolic = hoad.gradient(once, seed="symbolic")  # seeds are inputs behind the arguments, one for each leaf
    seeds = [part for part in flatten(found)[0] if part is not None]
    for part, wanted in zip(case.parts(symbolic.evaluate(point, *seeds)), case.parts(exact), strict=True):
        close(part, wanted, rtol=1e-14)


@kinds
def test_results_of_programs(kind: str) -> None:
    case = CASES[kind]
    if kind in ("dataclass that checks", "frozen attrs class"):
        return
    program = hoad.record(lambda s: case.make(s * X, s**2), 2.0)
    found = program.evaluate(3.0)
    assert type(found) is type(case.make(X, Y))
    x, y = case.parts(found)
    close(x, 3 * X, rtol=0)
    assert y == 9.0 and constants_of(case, found) == case.constants
    assert hoad.gradient(program, moved(case.make(X, Y), np.ones(3), 1.0)).evaluate(3.0) == X.sum() + 6.0
    assert hoad.grad(lambda s: case.parts(program(s))[1])(3.0) == 6.0


@kinds
def test_calls_on_traced_values(kind: str) -> None:
    case = CASES[kind]
    point = case.make(X, Y)
    program = hoad.record(lambda p: loss(*case.parts(p)), point)
    for part, exact in zip(case.parts(hoad.grad(program)(point)), GRADIENT, strict=True):
        close(part, exact, rtol=1e-14)
    gradient = hoad.gradient(program)
    found = hoad.grad(lambda p: np.sum(case.parts(gradient(p))[0]))(point)  # Σ 2 y x
    close(case.parts(found)[0], np.full(3, 2 * Y), rtol=1e-14)
    close(case.parts(found)[1], 2 * X.sum(), rtol=1e-14)
    assert program(point) == program.evaluate(point)


def f(p: dict[str, Any], q: Any) -> dict[str, Any]:
    return {"u": p["a"] * p["b"][0] * q, "n": 7, "v": [p["a"]]}


def test_several_arguments_pickles_and_copies() -> None:
    point = {"a": 2.0, "b": [3.0, "text"]}
    program = hoad.record(f, point, 5.0)
    for made in (program, program[:], program.copy(), pickle.loads(pickle.dumps(program))):
        assert made.evaluate({"b": [1.0, None], "a": 4.0}, 2.0) == {"u": 8.0, "n": 7, "v": [4.0]}
        once = hoad.gradient(made, {"u": 1.0, "v": [10.0], "n": None})
        for again in (once, pickle.loads(pickle.dumps(once))):
            assert again.evaluate(point, 5.0) == ({"a": 25.0, "b": [10.0, None]}, 6.0)
        seeds = hoad.gradient(made, seed="symbolic")
        assert seeds.evaluate(point, 5.0, 1.0, 10.0) == ({"a": 25.0, "b": [10.0, None]}, 6.0)


def test_sensitivities() -> None:
    point = {"a": 2.0, "b": [3.0, "text"]}
    program = hoad.record(f, point, 5.0)
    seed = {"u": 1.0, "v": [0.0], "n": 7}
    assert program.sensitivity(1, seed=seed) == 15.0
    assert program.sensitivities(seed=seed, at=({"a": 1.0, "b": [4.0, "text"]}, 2.0))[1] == 8.0


def test_lists_stay_lists_and_tuples_tuples() -> None:
    assert hoad.record(lambda x: [x, x], 1.0).evaluate(2.0) == [2.0, 2.0]
    assert hoad.record(lambda x: (x, x), 1.0).evaluate(2.0) == (2.0, 2.0)
    assert hoad.record(lambda x: (x,), 1.0).evaluate(2.0) == (2.0,)
    assert hoad.record(lambda x: [x, (x, None)], 1.0).evaluate(2.0) == [2.0, (2.0, None)]
    assert hoad.grad(lambda x: hoad.record(lambda y: (y * y,), 1.0)(x)[0])(3.0) == 6.0
    assert hoad.gradient(hoad.record(lambda x: [x, x**2], 1.0), [1.0, 2.0]).evaluate(3.0) == 13.0


def test_constants_belong_to_the_program() -> None:
    program = hoad.record(lambda p: p["x"] ** p["n"], {"x": 2.0, "n": 3})
    assert program.evaluate({"x": 3.0, "n": 3}) == program.evaluate({"x": 3.0, "n": None}) == 27.0
    with pytest.raises(hoad.ShapeError, match=r"argument 0 at \['n'\] must be None or the constant 3, but is 2"):
        program.evaluate({"x": 3.0, "n": 2})


def test_wrong_arguments() -> None:
    program = hoad.record(f, {"a": 2.0, "b": [3.0, "text"]}, 5.0)
    with pytest.raises(hoad.ShapeError, match="takes 2 arguments, but 1 was given"):
        program.evaluate({"a": 2.0, "b": [3.0, "text"]})
    with pytest.raises(hoad.ShapeError, match="argument 0 must be a dict"):
        program.evaluate(2.0, 3.0, 5.0)
    with pytest.raises(hoad.TracedValueError, match="evaluate was given traced values"):
        hoad.grad(lambda x: program.evaluate({"a": x, "b": [3.0, "text"]}, 5.0)["u"])(1.0)
    with pytest.raises(hoad.TracedValueError, match="arguments must be plain"):
        hoad.grad(lambda x: hoad.record(f, {"a": x, "b": [3.0, "text"]}, 5.0).evaluate(1.0))(1.0)


def test_tables_and_lines() -> None:
    program = hoad.record(f, {"a": 2.0, "b": [3.0, "text"]}, 5.0)
    assert str(program).startswith("Tape 1 (primal): 5 nodes, inputs @1, @2, @3, outputs @")
    assert {row["where"] for row in program.records(lines=True)} >= {f"{__file__}:{f.__code__.co_firstlineno + 1}"}
