"""Containers and keywords, methods and pickles of functions with a rule of their own, of checkpoints."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest
from rules.modes import along, words

import hoad

DIRECTIONS = [(0.3, np.array([-0.8, 0.5])), (1.1, np.array([0.4, -1.0])), (-0.2, np.array([0.9, 0.1]))]
AT = (0.7, np.array([1.2, -0.4]))


@dataclasses.dataclass
class Layer:
    slope: Any
    shift: Any
    name: str = "layer"


class Moments(NamedTuple):
    first: Any
    second: Any


def line(layer: Layer, x: Any) -> Moments:
    y = layer.slope * x + layer.shift
    return Moments(np.sum(y), {"square": np.sum(y * y), "note": layer.name})


ruled = hoad.custom_vjp(line)


@ruled.defvjp
def line_rule(g: Any, p: Any, layer: Any, x: Any) -> Any:
    assert p.second["note"] == layer.name and g.second["note"] is None
    y_bar = g.first + 2 * g.second["square"] * (layer.slope * x + layer.shift)
    return Layer(np.sum(y_bar * x), np.sum(y_bar), None), layer.slope * y_bar


def loss(f: Any) -> Any:
    def of_numbers(slope: Any, x: Any) -> Any:
        found = f(Layer(slope, slope**2), x)
        return np.sin(found.first) + found.second["square"] * slope

    return of_numbers


# ---- containers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("f", [ruled, hoad.checkpoint(line)], ids=["custom_vjp", "checkpoint"])
def test_operands_and_results_in_containers(f: Any, order: int) -> None:
    want = along(loss(line), "f" * order, DIRECTIONS[:order])(*AT)
    for word in words(order):
        assert along(loss(f), word, DIRECTIONS[:order])(*AT) == pytest.approx(want, rel=1e-11), word


def test_gradients_by_containers() -> None:
    """d/d(slope, shift) of Σy², which is (2 Σ x y, 2 Σ y)."""
    x = AT[1]
    y = 2.0 * x + 1.0
    for f in (ruled, hoad.checkpoint(line)):
        found = hoad.grad(lambda layer, f=f: f(layer, x).second["square"])(Layer(2.0, 1.0))
        assert type(found) is Layer and found.name is None
        assert found.slope == pytest.approx(2 * np.sum(x * y), rel=1e-14)
        assert found.shift == pytest.approx(2 * np.sum(y), rel=1e-14)


def test_none_for_a_container() -> None:
    """As in JAX: a rule may give None for all of an operand, or for a part."""
    f = hoad.custom_vjp(lambda p, x: p["a"] * p["b"][0] * x)
    f.defvjp(lambda g, y, p, x: (None, g * p["a"] * p["b"][0]))
    assert hoad.grad(lambda a: f({"a": a, "b": [2.0]}, a))(3.0) == 6.0
    f.defvjp(lambda g, y, p, x: ({"a": g * p["b"][0] * x, "b": [None]}, None))
    assert hoad.grad(lambda a: f({"a": a, "b": [2 * a]}, 5.0))(3.0) == 30.0


def test_a_pair_of_rules_with_containers() -> None:
    f = hoad.custom_vjp(line)

    def fwd(layer: Any, x: Any) -> Any:
        result = f(layer, x)
        return result, Moments({"layer": layer, "x": x}, result)

    def bwd(residuals: Any, g: Any) -> Any:
        assert residuals.second.second["note"] == "layer"
        return line_rule(g, residuals.second, residuals.first["layer"], residuals.first["x"])

    f.defvjp(fwd, bwd)
    for order in (1, 2):
        want = along(loss(line), "f" * order, DIRECTIONS[:order])(*AT)
        for word in words(order):
            assert along(loss(f), word, DIRECTIONS[:order])(*AT) == pytest.approx(want, rel=1e-11), word


def test_calls_in_containers_share_no_constants() -> None:
    """Two calls that differ in a constant of a container are two, also where a checkpoint records both."""
    f = hoad.custom_vjp(lambda p: p["x"] ** p["n"])
    f.defvjp(lambda g, y, p: ({"x": g * p["n"] * p["x"] ** (p["n"] - 1), "n": None},))

    def twice(n: int) -> Any:
        return hoad.checkpoint(lambda x: f({"x": x, "n": n, "name": str(n)}) if n else x)

    f.defvjp(lambda g, y, p: ({"x": g * int(p["name"]) * p["x"] ** (int(p["name"]) - 1), "n": None, "name": None},))
    assert hoad.grad(lambda x: twice(2)(x) + twice(3)(x))(2.0) == 4.0 + 12.0


@pytest.mark.parametrize(
    ("rule", "words_"),
    [
        (lambda g, p, layer, x: ({"slope": g.first, "shift": None}, None), ["adjoint 0", "rule of line", "Layer"]),
        (lambda g, p, layer, x: (Layer(g.first, None, 3.0), None), ["adjoint 0", ".name", "constant"]),
        (lambda g, p, layer, x: (Layer(x * g.first, None, None), None), ["rule of line", "shape (2,)", "operand 0"]),
    ],
)
def test_adjoints_of_another_form(rule: Any, words_: list[str]) -> None:
    f = hoad.custom_vjp(line)
    f.defvjp(rule)
    with pytest.raises(hoad.HoadError) as raised:
        hoad.grad(lambda slope: f(Layer(slope, 1.0), AT[1]).first)(2.0)
    for word in words_:
        assert word in str(raised.value)


# ---- keywords -------------------------------------------------------------------------------------------------------


def test_operands_by_keyword_and_by_default() -> None:
    @hoad.custom_vjp
    def scaled(x: Any, scale: Any = 3.0, *, shift: float = 0.0) -> Any:
        return scale * x + shift

    @scaled.defvjp
    def rule(g: Any, p: Any, x: Any, scale: Any, **parameters: Any) -> Any:
        return g * scale, g * x

    assert hoad.grad(scaled)(2.0) == 3.0
    assert hoad.grad(lambda s: scaled(scale=s, x=5.0))(2.0) == 5.0
    assert hoad.grad(lambda x: scaled(x, shift=1.0) ** 2)(2.0) == 2 * 7.0 * 3.0
    assert scaled(2.0) == 6.0


# ---- methods --------------------------------------------------------------------------------------------------------


class Oscillator:
    def __init__(self, frequency: float) -> None:
        self.frequency = frequency

    @hoad.custom_vjp(nondiff_argnums=(0,))
    def wave(self, x: Any) -> Any:
        return np.sin(self.frequency * x)

    @wave.defvjp
    def wave_rule(g: Any, p: Any, x: Any, *, self: Any) -> Any:
        return (g * self.frequency * np.cos(self.frequency * x),)


@dataclasses.dataclass
class Spring:
    stiffness: float

    @hoad.custom_vjp
    def energy(self, x: Any) -> Any:
        return self.stiffness * x**2 / 2

    energy.defvjp(lambda g, p, self, x: (Spring(g * x**2 / 2), g * self.stiffness * x))

    @hoad.checkpoint
    def force(self, x: Any) -> Any:
        return -self.stiffness * x


def test_methods_of_objects() -> None:
    slow, fast = Oscillator(2.0), Oscillator(5.0)
    for order in (1, 2, 3):
        for oscillator in (slow, fast):
            w = oscillator.frequency
            want = w**order * math.sin(w * 0.3 + order * math.pi / 2)
            assert hoad.derivative(oscillator.wave, order)(0.3) == pytest.approx(want, rel=1e-12)
    assert slow.wave(0.3) == math.sin(0.6) and Oscillator.wave(fast, 0.3) == math.sin(1.5)
    assert hoad.grad(lambda x: slow.wave(x=x))(0.0) == 2.0


def test_methods_of_containers() -> None:
    """What a method belongs to is an operand like others, if it is a container."""
    assert hoad.grad(lambda spring, x: spring.energy(x), argnums=(0, 1))(Spring(3.0), 2.0) == (Spring(2.0), 6.0)
    assert hoad.grad(lambda spring: spring.force(2.0))(Spring(3.0)) == Spring(-2.0)


# ---- pickles and copies ---------------------------------------------------------------------------------------------


def test_they_travel_by_name() -> None:
    assert pickle.loads(pickle.dumps(ruled_at_the_top)) is ruled_at_the_top
    assert copy.copy(ruled_at_the_top) is copy.deepcopy(ruled_at_the_top) is ruled_at_the_top
    assert pickle.loads(pickle.dumps(Oscillator.wave)) is Oscillator.wave
    bound = pickle.loads(pickle.dumps(Spring(3.0).energy))
    assert hoad.grad(bound)(2.0) == 6.0
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(hoad.custom_vjp(lambda x: x))


@hoad.custom_vjp
def ruled_at_the_top(x: Any) -> Any:
    return np.rint(x)


@ruled_at_the_top.defvjp
def rule_at_the_top(g: Any, p: Any, x: Any) -> Any:
    return (g * p,)


@hoad.custom_vjp
def paired_at_the_top(p: Any) -> Any:
    return p["x"] * p["y"]


def top_fwd(p: Any) -> Any:
    return paired_at_the_top(p), p


def top_bwd(p: Any, g: Any) -> Any:
    return ({"x": g * p["y"], "y": 3 * g * p["x"]},)


paired_at_the_top.defvjp(top_fwd, top_bwd)


def test_programs_that_call_them_do_too() -> None:
    program = hoad.record(lambda x: ruled_at_the_top(x) * paired_at_the_top({"x": x, "y": x}), 2.2)
    for made in (program, pickle.loads(pickle.dumps(program))):
        assert made.evaluate(3.1) == pytest.approx(3 * 3.1**2, rel=1e-15)
        # (3 + 3·4·x) x² with the rules taken at their word: round′ = round, (xy)′ = (y, 3x)
        assert hoad.gradient(made).evaluate(3.1) == pytest.approx(3 * 3.1**2 + 3 * 4 * 3.1, rel=1e-14)
    adjoint = pickle.loads(pickle.dumps(hoad.gradient(program)))
    assert adjoint.evaluate(3.1) == pytest.approx(3 * 3.1**2 + 3 * 4 * 3.1, rel=1e-14)


def test_what_has_no_name_says_so() -> None:
    f = hoad.custom_vjp(lambda x: x)
    f.defvjp(lambda g, p, x: (g,))
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(hoad.record(f, 1.0))


# ---- loops ----------------------------------------------------------------------------------------------------------


def step(k: int, state: Any, setting: Any) -> Any:
    h = np.tanh(setting["gain"] * state["h"] + 0.1 * k)
    return {"h": h, "sum": state["sum"] + np.sum(h), "name": state["name"]}


def run(n: int, loop: bool) -> Any:
    def f(gain: Any, h: Any) -> Any:
        state = {"h": h, "sum": 0.0, "name": "run"}
        setting = {"gain": gain, "kind": "tanh", "count": 3}
        if loop:
            state = hoad.checkpointed_loop(step, n, state, setting, slots=3)
        else:
            for k in range(n):
                state = step(k, state, setting)
        assert state["name"] == "run" and list(state) == ["h", "sum", "name"]
        return state["sum"] * np.sum(state["h"])

    return f


@pytest.mark.parametrize("order", [1, 2, 3])
def test_states_and_arguments_in_containers(order: int) -> None:
    want = along(run(7, False), "f" * order, DIRECTIONS[:order])(*AT)
    for word in words(order):
        assert along(run(7, True), word, DIRECTIONS[:order])(*AT) == pytest.approx(want, rel=1e-10), word
    assert run(7, True)(*AT) == run(7, False)(*AT)


def test_states_of_another_form() -> None:
    def loop(f: Any, state: Any) -> Any:
        return hoad.grad(lambda x: hoad.checkpointed_loop(f, 3, (x, *state))[0])(1.0)

    with pytest.raises(hoad.ShapeError, match=r"step 0 .*given a state \(\*, \*\), but returned \[\*, \*\]"):
        loop(lambda k, state: list(state), (2.0,))
    with pytest.raises(hoad.DTypeError, match=r"state\[1\] is int64"):
        loop(lambda k, state: state, (2,))


# ---- what the tape shows --------------------------------------------------------------------------------------------


def test_what_a_node_runs_can_be_seen() -> None:
    """The operations of a composite and of a checkpoint, with their values at that call; a loop runs no one program."""

    def f(x: Any) -> Any:
        return ruled_at_the_top(hoad.checkpoint(lambda y: y * x + 1)(2 * x))

    program = hoad.record(f, 3.0)
    calls = [node.number for node in program[0].nodes if node.operation == "call"]
    checkpoint, composite = (program.inner(k) for k in calls)
    assert [node.result for node in checkpoint[0].nodes][-2:] == [18.0, 19.0]
    assert [node.operation for node in composite[0].nodes][-1] == "rint" and composite[0].nodes[-1].result == 19.0
    looped = hoad.record(lambda x: hoad.checkpointed_loop(lambda k, s: s * 2, 3, x), 1.0)
    with pytest.raises(hoad.ArgumentError, match="a call node, but @2 is call"):
        looped.inner(2)
    scanned = hoad.record(lambda x: hoad.scan(lambda c, _: (c * 2, None), x, length=3)[0], 1.0)
    with pytest.raises(hoad.ArgumentError, match="a call node, but @2 is scan"):
        scanned.inner(2)


def test_pages_of_them(tmp_path: Any) -> None:
    def f(x: Any) -> Any:
        return hoad.checkpointed_loop(lambda k, s: s * 2, 3, ruled_at_the_top(hoad.checkpoint(np.sin)(x)))

    program = hoad.gradient(hoad.record(f, 3.0))
    program.explore(tmp_path / "page.html")
    assert "call(" in program.table() and "digraph" in program.to_dot()
