"""The notebook on an adjoint tape: f(x, y, z) = x² + xy + xz at (3, 4, 5), f = 36, its gradient (15, 3, 3).

It also asks for several output seeds on one tape, with the adjoints reset between them, and for the sensitivity of any
intermediate.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import hoad
from hoad.errors import ArgumentError, GuardError, ShapeError

AT = (3.0, 4.0, 5.0)


def func1(x: Any, y: Any, z: Any) -> Any:
    return x * x + x * y + x * z


def test_the_numbers_of_the_notebook() -> None:
    program = hoad.record(func1, *AT)
    assert program.evaluate(*AT) == func1(*AT) == 36.0
    assert hoad.gradient(program).evaluate(*AT) == (15.0, 3.0, 3.0)
    x, y, z = hoad.symbols("x y z")
    e = func1(x, y, z)
    at = {x: 3.0, y: 4.0, z: 5.0}
    assert e.evaluate(at) == 36.0
    for mode in ("reverse", "forward"):
        assert e.gradient(at, mode=mode) == {x: 15.0, y: 3.0, z: 3.0}


ARRAY = [-1, -1, 0, 3, 3, 2, -1, -2, 0, 3, 4, 2, -1, -3, 0, 3, 5, 2, 3, 9, 0, 1, 21, 15, 0, 1]
PLACES = [3, 9, 15, 21, 25]  # of its variables, counted from 1


def in_the_order_of_julia(x: Any, y: Any, z: Any) -> Any:
    """All three products, then the sums."""
    xx, xy, xz = x * x, x * y, x * z
    return xx + xy + xz


def test_the_array_of_the_notebook_is_hoads_tape() -> None:
    """References, a place for the adjoint, values where the rule needs them, a tag: 1 for a sum, 2 for a product."""
    tape = hoad.record(in_the_order_of_julia, *AT)[0]
    values = {node.number: node.result for node in tape.nodes}
    place = {number: -number for number in tape.inputs}
    array: list[float] = []
    for node in tape.nodes[3:]:
        array += [*(place[k] for k in node.parents), 0]
        place[node.number] = len(array)
        array += [values[k] for k in node.parents] if node.operation == "multiply" else []
        array.append({"add": 1, "multiply": 2}[node.operation])
    assert array == ARRAY and [k for k in place.values() if k > 0] == PLACES
    assert 1 + len(array) - len(PLACES) == 22  # its position, which variables do not move


def run_backwards(array: list[int], outputs: list[int]) -> None:
    """The notebook's `evaluate`, with its two adjoint Jacobians, reading from the end."""

    def add(reference: int, value: int) -> None:
        if reference > 0:
            array[reference - 1] += value
        else:
            outputs[-reference - 1] += value

    at = len(array) - 1
    while at >= 0:
        tag = array[at]
        if tag == 2:
            second_value, first_value = array[at - 1], array[at - 2]
            at -= 2
        else:
            second_value = first_value = 1
        adjoint = array[at - 1]
        add(array[at - 2], adjoint * first_value)
        add(array[at - 3], adjoint * second_value)
        at -= 4


def test_the_array_run_backwards() -> None:
    """It gives 15, 3, 3 and the adjoints of intermediates that hoad has; without a reset, a second run does not."""
    program = hoad.record(in_the_order_of_julia, *AT)
    for seed in (1, -2):
        array, outputs = ARRAY.copy(), [0, 0, 0]
        array[PLACES[-1] - 1] = seed
        run_backwards(array, outputs)
        assert outputs == [15 * seed, 3 * seed, 3 * seed]
        found = program.sensitivities(seed=float(seed))
        assert [array[k - 1] for k in PLACES] == [found[number] for number in range(4, 9)]
    run_backwards(array, outputs)
    assert outputs != [-30, -6, -6]


def test_points_that_the_array_cannot_hold() -> None:
    """Its entries are integers; 0.5 is none."""
    program = hoad.record(func1, 0.5, -1.25, 2.75)
    assert hoad.gradient(program).evaluate(0.5, -1.25, 2.75) == (2.5, 0.5, 0.5)
    assert [node.result for node in program[0].nodes[3:]] == [0.25, -0.625, -0.375, 1.375, 1.0]


def test_the_adjoint_jacobians() -> None:
    """The rules of + and * are their transposed Jacobians, by hand."""
    assert hoad.rules.rule_of(np.add)(2.0, 8.0, 3.0, 5.0) == (2.0, 2.0)
    assert hoad.rules.rule_of(np.multiply)(2.0, 15.0, 3.0, 5.0) == (10.0, 6.0)
    at = np.array([3.0, 5.0])
    np.testing.assert_array_equal(hoad.jacobian(lambda v: v[0] + v[1])(at), [1.0, 1.0])
    np.testing.assert_array_equal(hoad.jacobian(lambda v: v[0] * v[1])(at), [5.0, 3.0])


def test_the_sensitivity_of_any_intermediate() -> None:
    program = hoad.record(func1, *AT)
    # x, y, z, then x·x, x·y, their sum, x·z, and the whole
    assert [node.operation for node in program[0]][3:] == ["multiply", "multiply", "add", "multiply", "add"]
    assert program.sensitivities() == {1: 15.0, 2: 3.0, 3: 3.0, 4: 1.0, 5: 1.0, 6: 1.0, 7: 1.0, 8: 1.0}
    for number, wanted in program.sensitivities().items():
        assert program.sensitivity(number) == wanted


def two(x: Any, y: Any) -> tuple[Any, Any]:
    s = np.sin(x * y)
    return s * y, s + x


def test_several_seeds_on_one_tape() -> None:
    """Each seed has adjoints of its own: what one has added is not there for the next."""
    program = hoad.record(two, 0.7, 1.3)
    # x, y, x·y, sin, sin·y, sin + x
    s, c = np.sin(0.91), np.cos(0.91)
    rows = {
        (1.0, 0.0): {1: c * 1.3**2, 2: c * 0.7 * 1.3 + s, 3: c * 1.3, 4: 1.3, 5: 1.0, 6: 0.0},
        (0.0, 1.0): {1: c * 1.3 + 1, 2: c * 0.7, 3: c, 4: 1.0, 5: 0.0, 6: 1.0},
    }
    for _ in range(2):
        for seed, wanted in rows.items():
            assert program.sensitivities(seed=seed) == pytest.approx(wanted, rel=1e-14)
    both = program.sensitivities(seed=(2.0, -3.0))
    for number, found in both.items():
        assert found == pytest.approx(2 * rows[1.0, 0.0][number] - 3 * rows[0.0, 1.0][number], rel=1e-13)


def test_nothing_is_left_in_the_program() -> None:
    program = hoad.record(two, 0.7, 1.3)
    shown, size = str(program), program[0].nbytes
    for _ in range(3):
        program.sensitivities(seed=(1.0, 2.0))
        program.sensitivity(3, seed=(1.0, 2.0), at=(1.0, 1.0))
    assert (str(program), program[0].nbytes, len(program)) == (shown, size, 1)
    later = hoad.gradient(program, seed=(1.0, 2.0))
    assert later.evaluate(0.7, 1.3)[0] == pytest.approx(program.sensitivity(1, seed=(1.0, 2.0)), rel=1e-15)


def test_seeds_in_many_threads() -> None:
    program = hoad.record(two, 0.7, 1.3)
    seeds = [(float(k), 1.0) for k in range(8)]
    alone = [program.sensitivities(seed=seed) for seed in seeds]
    barrier = threading.Barrier(4)

    def work(k: int) -> list[Any]:
        barrier.wait()
        return [program.sensitivities(seed=seed) for seed in seeds[k:] + seeds[:k]]

    with ThreadPoolExecutor(4) as pool:
        for k, found in enumerate(pool.map(work, range(4))):
            assert found == alone[k:] + alone[:k]


def test_at_other_inputs_and_where_branches_differ() -> None:
    program = hoad.record(lambda x: x * x if x > 0 else -x, 2.0)
    assert program.sensitivity(1) == 4.0 and program.sensitivity(1, at=5.0) == program.sensitivity(1, at=(5.0,)) == 10.0
    with pytest.raises(GuardError):
        program.sensitivity(1, at=-1.0)


def test_arrays_and_further_tapes() -> None:
    a = np.array([[2.0, 1.0], [1.0, 3.0]])
    program = hoad.record(lambda a: np.sum(np.where(a > 1, a, 0.0)[0] * np.linalg.eigh(a)[0]), a)
    found = program.sensitivities()
    for number, adjoint in found.items():
        np.testing.assert_allclose(program.sensitivity(number), adjoint, rtol=1e-13)
        assert np.shape(adjoint) == program[0].nodes[number - 1].shape
    np.testing.assert_allclose(found[1], hoad.gradient(program).evaluate(a), rtol=1e-13)
    second = hoad.gradient(hoad.record(lambda x: x**3 * np.exp(x), 0.5))  # of the gradient, by the nodes of the primal
    assert second.sensitivity(1) == pytest.approx((6 * 0.5 + 6 * 0.25 + 0.125) * np.exp(0.5), rel=1e-14)
    assert second.sensitivities()[1] == pytest.approx(second.sensitivity(1), rel=1e-14)


def test_a_stopped_gradient() -> None:
    program = hoad.record(lambda x: hoad.stop_gradient(x * x) * x, 3.0)
    assert program.sensitivities() == {1: 9.0, 2: 0.0, 3: 3.0, 4: 1.0}


def test_what_is_refused() -> None:
    program = hoad.record(two, 0.7, 1.3)
    with pytest.raises(ShapeError, match="needs a seed"):
        program.sensitivity(1)
    with pytest.raises(ShapeError, match="1 seed for 2 outputs"):
        program.sensitivities(seed=1.0)
    for wrong in (0, 7, -1, True, 1.0, "x"):
        with pytest.raises(ArgumentError, match="number of a node, 1 to 6"):
            program.sensitivity(wrong, seed=(1.0, 1.0))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="symbolic"):
        program.sensitivity(1, seed="symbolic")
    x, y = hoad.symbols("x y")
    unvalued = (x * y).to_program()
    with pytest.raises(ArgumentError, match="2 inputs of this program were recorded without a value"):
        unvalued.sensitivity(1)
    assert unvalued.sensitivities(at=(2.0, 3.0)) == {1: 3.0, 2: 2.0, 3: 1.0}
