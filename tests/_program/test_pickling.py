"""Programs in pickles: the same values, derivatives and guards on the other side."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from campaigns.pickles import trial

import hoad
import hoad.implicit
from hoad._core.trace.calls import apply_primitive
from hoad._ops.primitives import GATHER_ITEMS

X = np.array([0.3, 0.7, 1.1])


@hoad.primitive(vjp=lambda g, p, x: (3.0 * g * x * x,))
def cube(x: Any) -> Any:
    return x**3


def mixed(x: Any) -> Any:
    """Items, slices, a captured array, a user's primitive, several results and a branch."""
    sign, logarithm = np.linalg.slogdet(np.outer(x, x) + np.diag([1.0, 2.0, 3.0]))
    total = np.sum(cube(x) * np.sin(x[::-1])) + x[0] * x[1] + sign * logarithm
    return total if x[2] > 0 else -total


def there_and_back(program: hoad.Program) -> hoad.Program:
    return pickle.loads(pickle.dumps(program))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_values_and_derivatives(order: int) -> None:
    program = hoad.record(mixed, X)
    for _ in range(order):
        program = hoad.gradient(program, None if program.output_types[0].shape == () else "symbolic")
    other = there_and_back(program)
    inputs = [1.5 * X, *[X] * (order - 1)]
    np.testing.assert_array_equal(other.evaluate(*inputs), program.evaluate(*inputs))
    assert [tape.size for tape in other] == [tape.size for tape in program]
    with pytest.raises(hoad.GuardError, match="Record the function again"):
        other.evaluate(-X, *inputs[1:])


def test_what_arrives_can_be_swept_and_read() -> None:
    other = hoad.gradient(there_and_back(hoad.record(mixed, X)))
    np.testing.assert_allclose(other.evaluate(X), hoad.grad(mixed)(X), rtol=1e-14)
    nodes = other[0].nodes
    assert [node.operation for node in nodes] == [node.operation for node in hoad.record(mixed, X)[0].nodes]
    assert nodes[other[0].outputs[0] - 1].result == pytest.approx(mixed(X), rel=1e-14)


def test_calls_of_programs() -> None:
    inner = hoad.record(mixed, X)
    other = there_and_back(hoad.record(lambda x: 2.0 * inner(x * x), X))
    assert other.evaluate(X) == pytest.approx(2.0 * mixed(X * X), rel=1e-14)


def test_a_primitive_that_cannot_be_found_by_name() -> None:
    @hoad.primitive(vjp=lambda g, p, x: (g,))
    def local(x: Any) -> Any:
        return x

    with pytest.raises(pickle.PicklingError, match=r"local.*cannot be pickled.*top of a module"):
        pickle.dumps(hoad.record(local, 1.0))


def test_a_primitive_whose_rule_has_changed() -> None:
    data = pickle.dumps(hoad.record(cube, 1.0))
    hoad.defvjp(cube, lambda g, p, x: (3.0 * g * x * x,))
    with pytest.raises(pickle.UnpicklingError, match=r"cube.*rules.*Record the program again"):
        pickle.loads(data)


# ---- what is kept apart ---------------------------------------------------------------------------------------------


def test_constants_that_are_equal_keep_their_places() -> None:
    def f(x: Any) -> Any:
        a = np.where(x > 0, 1, 0)
        return a * np.sin(2.3 * x) * np.where(x > 0.5, 1, 2) * 2.8

    program = hoad.record(f, 1.0)
    for x in (1.0, 0.9):
        assert there_and_back(program).evaluate(x) == program.evaluate(x) == np.sin(2.3 * x) * 2.8
    assert str(there_and_back(program)) == str(program)


def test_an_expression_of_equal_constants_of_two_kinds() -> None:
    x = hoad.symbols("x")
    program = (x * 3.0 + np.array(3.0) * np.sin(x) - np.float64(7.0)).to_program(x)
    assert program.evaluate(0.5) == pytest.approx(1.5 + 3.0 * np.sin(0.5) - 7.0, rel=1e-15)


def test_coefficients_of_another_degree() -> None:
    """Operations that give so many coefficients are found by how many these are."""
    special = pytest.importorskip("scipy.special")
    for degree in (2, 5, 3):
        program = hoad.record(lambda x, n=degree: hoad.derivatives(special.erfcx, n)(x)[n], 0.7)
        assert there_and_back(program).evaluate(0.7) == program.evaluate(0.7)


@pytest.mark.parametrize("count", [5_000, 40_000])
def test_many_arrays(count: int) -> None:
    arrays = [np.array([k, 0.5]) for k in range(count)]

    def f(x: Any) -> Any:
        for array in arrays:
            x = x + array
        return x

    program = hoad.record(f, np.ones(2))
    other = there_and_back(program)
    np.testing.assert_array_equal(other.evaluate(np.ones(2)), program.evaluate(np.ones(2)))


# ---- what does not travel -------------------------------------------------------------------------------------------

ruled = hoad.custom_vjp(lambda x: x * x)
ruled.defvjp(lambda g, p, x: (2 * x * g,))
CANNOT_TRAVEL: dict[str, tuple[Any, str]] = {
    "root": (
        lambda a: hoad.implicit.root(lambda x, a: x**3 + x - a, lambda a: 1.0)(a - 0.0),
        r"equation of hoad\.implicit.*its solver.*record it there",
    ),
    "linear solve": (
        lambda a: np.sum(hoad.implicit.linear_solve(lambda u: 2 * u, lambda matvec, b: b / 2)(a * np.ones(2))),
        r"solver of hoad\.implicit\.linear_solve.*could not find this one by name.*top of a module",
    ),
    "checkpointed loop": (
        lambda a: hoad.checkpointed_loop(lambda k, s: s * 0.5, 3, a),
        r"checkpointed_loop.*fori_loop or hoad\.scan",
    ),
    "rule": (ruled, r"rule of <lambda>.*could not find this one by name.*top of a module"),
}


@pytest.mark.parametrize("name", CANNOT_TRAVEL)
def test_functions_without_a_name_are_named(name: str) -> None:
    f, message = CANNOT_TRAVEL[name]
    with pytest.raises(pickle.PicklingError, match=message):
        pickle.dumps(hoad.record(f, 2.0))


def test_a_function_in_a_container() -> None:
    program = hoad.record(lambda tree: tree["x"] * 2.0, {"x": 1.0, "f": lambda: 0})
    with pytest.raises(pickle.PicklingError, match=r"function in a container.*top of a module"):
        pickle.dumps(program)


# ---- what is damaged ------------------------------------------------------------------------------------------------


def taken(x: Any) -> Any:
    return np.sum(np.sort(x)[::2]) + x[0] * np.max(x) if x[1] > 0 else x[0]


def parts() -> tuple[Any, tuple[Any, Any]]:
    """What makes a program of data, and the data."""
    make, (data, extra) = hoad.record(taken, X).__reduce__()
    return make, (data, extra)


def numbers(data: dict[str, Any], table: str) -> np.ndarray:
    return np.frombuffer(data["graph"][table], "<i4").copy()


def with_numbers(table: str, at: int, value: int) -> Any:
    def damage(data: dict[str, Any]) -> None:
        changed = numbers(data, table)
        changed[at] = value
        data["graph"][table] = changed.tobytes()

    return damage


def without_signature(data: dict[str, Any]) -> None:
    rows = numbers(data, "nodes").reshape(4, -1)
    rows[2, np.flatnonzero(rows[1] & 4)[-1]] = 99
    data["graph"]["nodes"] = rows.tobytes()


def with_params(name: str, change: Any) -> Any:
    """Another form of the first signature of a primitive."""

    def damage(data: dict[str, Any]) -> None:
        names = [description[1] for description in data["graph"]["operations"]]
        rows = data["graph"]["signatures"]
        k = next(k for k, row in enumerate(rows) if names[row[0]] == name)
        rows[k] = (rows[k][0], change(rows[k][1]), *rows[k][2:])

    return damage


DAMAGE: dict[str, tuple[Any, str]] = {
    "operand behind its node": (with_numbers("pool", 0, 9), "operand 9, which is not a node before it"),
    "constant that is none": (with_numbers("pool", 0, -100), "not a node before it and no constant"),
    "signature that is none": (without_signature, "entry 99 of a list"),
    "cut table": (lambda data: data["graph"].update(nodes=data["graph"]["nodes"][:-4]), "cut off"),
    "shape": (lambda data: data["graph"]["avals"].__setitem__(0, ("<f8", (-3,))), "not a dtype and a shape"),
    "dtype": (lambda data: data["graph"]["avals"].__setitem__(0, ("|O", (3,))), "no array of numbers"),
    "huge shape": (lambda data: data["graph"]["avals"].__setitem__(0, ("<f8", (2**50,))), "no array of numbers"),
    "view outside": (with_params("getitem", lambda p: (p[0], p[1], 5)), "does not lie in"),
    "axes": (with_params("max", lambda p: ((3,), p[1])), "over axes"),
    "no parameters": (with_params("getitem", lambda p: None), "TypeError"),
    "guard": (lambda data: data["graph"]["guards"].append((1000, True)), "names node 1000"),
    "input": (lambda data: data["graph"]["inputs"].__setitem__(0, (0, b"abc")), "other bytes"),
    "window": (lambda data: data["windows"].__setitem__(0, ((0, 10**6, 0, 0), *data["windows"][0][1:])), "nodes"),
    "other format": (lambda data: data.update(format=1), "another version of hoad"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_refused(name: str) -> None:
    make, (data, extra) = parts()
    assert make(data, extra).evaluate(X) == taken(X)
    damage, message = DAMAGE[name]
    damage(data)
    with pytest.raises(pickle.UnpicklingError, match=message):
        make(data, extra)


def test_computed_places_outside_of_an_array() -> None:
    """Integers of a program are not known before it runs; a place that they give is looked at there."""
    program = there_and_back(
        hoad.record(lambda x: np.sum(apply_primitive(GATHER_ITEMS, None, x, x.astype(np.int64)) * x), X)
    )
    assert program.evaluate(X) == X[[0, 0, 1]] @ X
    for made in (program, hoad.gradient(program), hoad.gradient(hoad.gradient(program), "symbolic")):
        values = (9.0 * X, X)[: len(made.inputs)]
        with pytest.raises(IndexError, match="outside of an array of 3 items"):
            made.evaluate(*values)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_pickles_do_no_harm(seed: int) -> None:
    assert trial(np.random.default_rng([17, seed])) is None


def test_sums_to_axes_of_length_one() -> None:
    """What was broadcast along a new axis, and along one of length 1, is summed over both at once."""
    x = np.array([[1.0], [2.0]])
    program = hoad.gradient(hoad.record(lambda x: np.sum(np.sin(x * np.arange(8.0).reshape(2, 2, 2))), x))
    restored = pickle.loads(pickle.dumps(program))
    np.testing.assert_array_equal(restored(x), program(x))
