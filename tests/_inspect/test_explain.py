"""What `hoad.explain` tells beside dependence: branches, captured arrays, numbers taken out, counts and warnings."""

from __future__ import annotations

import numpy as np
import pytest
from _inspect.finding import marked

import hoad

W = np.arange(6.0).reshape(2, 3)


def model(p, x, sign):
    h = W @ x + p["b"]  # captured
    if sign > 0:  # branch
        h = h * 2.0
    scale = hoad.value(h[0])  # taken
    return {"loss": np.sum(h**2) / scale, "steps": np.floor(x[0]), "nothing": 3.0}


def test_a_model():
    found = hoad.explain(model, {"b": np.ones(2), "spare": 1.0}, np.ones(3), 2.0)
    assert [x.name for x in found.inputs] == ["p['b']", "p['spare']", "x", "sign"]
    assert [x.shape for x in found.inputs] == [(2,), (), (3,), ()]
    assert [x.name for x in found.outputs] == ["model['loss']", "model['steps']", "model['nothing']"]
    assert found.depends["model['loss']", "p['b']"].tolist() == [True, True]
    assert found.depends["model['steps']", "x"].tolist() == [True, False, False]
    assert not found.depends["model['loss']", "sign"]
    [branch] = found.branches
    assert (branch.condition, branch.outcome, branch.where) == ("2.0 > 0", True, marked(model, "# branch"))
    [captured] = found.captured
    assert (captured.shape, captured.where) == ((2, 3), marked(model, "# captured"))
    assert [place.split(":")[-1] for place in found.escaped] == [marked(model, "# taken").split(":")[-1]]
    assert found.operations["matmul"] == 1
    assert sum(found.operations.values()) + 4 == found.program[0].size
    assert found.lines[marked(model, "# captured")] == 2
    assert sum(found.lines.values()) == sum(found.operations.values())
    assert found.flat == (("model['steps']", "x"),)
    assert found.warnings == (
        "model['nothing'] depends on no input: it is constant",
        "nothing depends on p['spare']",
        "nothing depends on sign, except through a branch",
        "model['steps'] has derivative zero with respect to x everywhere, through floor",
    )


def test_the_report():
    text = str(hoad.explain(model, {"b": np.ones(2), "spare": 1.0}, np.ones(3), 2.0))
    for row in (
        "model: p['b'] (2,), p['spare'], x (3,), sign -> model['loss'], model['steps'], model['nothing']",
        "model['loss'] depends on p['b'], x",
        "model['steps'] depends on x (1 of 3 pairs of items)",
        "model['nothing'] depends on nothing",
        f"2.0 > 0 was True at {marked(model, '# branch')}",
        f"an array of shape (2, 3) at {marked(model, '# captured')}",
        "1 matmul",
        "nothing depends on p['spare']",
    ):
        assert row in text


FLAT = [np.floor, np.sign, np.rint, np.ceil, np.trunc, lambda x: np.where(x > 0, 1.0, 2.0), hoad.stop_gradient]


@pytest.mark.parametrize("f", FLAT)
def test_derivatives_that_are_zero_everywhere(f):
    assert hoad.explain(lambda x: f(x), 1.5).flat == (("f", "x"),)
    assert hoad.explain(lambda x: f(x) * x, 1.5).flat == ()
    assert hoad.explain(lambda x, y: f(x) * y, 1.5, 2.0).flat == (("f", "x"),)


def test_functions_of_tuples():
    found = hoad.explain(lambda x, y: (x * 2.0, y, x + y), 1.0, 2.0)
    table = [[bool(found.depends[o.name, i.name]) for i in found.inputs] for o in found.outputs]
    assert table == [[True, False], [False, True], [True, True]]


def test_large_inputs_are_followed_as_wholes():
    x = np.ones(2000)
    found = hoad.explain(lambda x, y: (np.sum(x), y), x, 1.0)
    assert [bool(table) for table in found.depends.values()] == [True, False, False, True]
    assert all(table.shape == () for table in found.depends.values())


def test_loops_carry_apart():
    def f(x, y, rows):
        def step(c, row):
            return (c[0] + row, c[1] * 2.0), c[0]

        return hoad.scan(step, (x, y), rows)

    found = hoad.explain(f, 1.0, 2.0, np.ones(3))
    names = [x.name for x in found.outputs]
    assert [bool(found.depends[name, "y"].any()) for name in names] == [False, True, False]
    assert [bool(found.depends[name, "x"].any()) for name in names] == [True, False, True]
    assert [bool(found.depends[name, "rows"].any()) for name in names] == [True, False, True]


def test_nested_derivatives_and_keywords():
    def f(x, *, rate):
        return hoad.grad(lambda t: t**3 * rate)(x)

    found = hoad.explain(f, 2.0, rate=3.0)
    assert found.depends["f", "x"]
    assert found.program.evaluate(2.0) == 36.0


def test_what_explain_refuses():
    with pytest.raises(hoad.ArgumentError, match=r"needs the arguments of f: explain\(f, x\)"):
        hoad.explain(np.sin)
    with pytest.raises(hoad.ArgumentError, match="explain takes a function"):
        hoad.explain(np.sin(1.0))
    with pytest.raises(hoad.DTypeError):
        hoad.explain(np.sin, 1)
