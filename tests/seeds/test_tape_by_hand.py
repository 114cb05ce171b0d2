"""The tape worked by hand: z = 4xy + 3x sin 4y, its adjoint row by row, and what gradient(program) takes and gives."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import hoad

POINTS = [(2.0, 0.5), (-1.0, 3.0), (0.25, -0.75), (0.0, 0.0)]

# The rows of the adjoint table, in its order: the node swept, and the contribution. @16 is cos(@5); a factor 3 or 4
# stands on the right in hoad, on the left in the document.
ADJOINT = [
    ("@9", "∇@9 = 1"),
    ("@9", "∇@4 = ∇@9"),
    ("@9", "∇@8 = ∇@9"),
    ("@8", "∇@6 = ∇@8 * @7"),
    ("@8", "∇@7 = ∇@8 * @6"),
    ("@7", "∇¹@1 = ∇@7 * 3"),
    ("@6", "∇@5 = ∇@6 * @16"),
    ("@5", "∇¹@2 = ∇@5 * 4"),
    ("@4", "∇@3 = ∇@4 * @2"),
    ("@4", "∇²@2 = ∇@4 * @3"),
    ("@3", "∇²@1 = ∇@3 * 4"),
]
SUMS = [("@4", "∇@2 = ∇¹@2 + ∇²@2"), ("@3", "∇@1 = ∇¹@1 + ∇²@1")]


def z(x: Any, y: Any) -> Any:
    return 4 * x * y + np.sin(4 * y) * (3 * x)


def rows_of(program: hoad.Program) -> list[tuple[str, str, str]]:
    """(operation, swept node, equation) of the rows of the last tape."""
    lines = program.table("markdown").split("**Tape")[-1].splitlines()
    cells = [line.split("|")[1:4] for line in lines if line.startswith("| `@")]
    return [(a.strip(" `"), b.strip(" `"), c.strip(" `")) for a, b, c in cells]


def test_the_primal_table_as_it_is_printed() -> None:
    x, y = hoad.symbols("x y")
    for program in (hoad.record(z, 2.0, 0.5), z(x, y).to_program(x, y)):
        lines = program.table("markdown").splitlines()
        found = [line.split("|")[1].strip(" `") for line in lines if line.startswith("| `@")]
        assert found == [
            *("@1 = x", "@2 = y", "@3 = 4 * @1", "@4 = @3 * @2", "@5 = 4 * @2", "@6 = sin(@5)", "@7 = 3 * @1"),
            *("@8 = @6 * @7", "@9 = @4 + @8"),
        ]


def test_the_adjoint_table_as_it_is_printed() -> None:
    """Every contribution, its formula, and the node whose sweep gave it; the sums are hoad's addition."""
    rows = rows_of(hoad.gradient(hoad.record(z, 2.0, 0.5), simplify=False))
    noted = [(swept, equation) for _, swept, equation in rows if equation]
    assert [row for row in noted if row not in SUMS] == ADJOINT
    assert sorted(noted) == sorted([*ADJOINT, *SUMS])
    assert [(operation, swept) for operation, swept, equation in rows if not equation] == [("@16 = cos(@5)", "@6")]


def test_the_sweep_stops_at_the_inputs() -> None:
    for simplify in (True, False):
        adjoint = hoad.gradient(hoad.record(z, 2.0, 0.5), simplify=simplify)[1]
        assert not {node.swept for node in adjoint.nodes} & {1, 2}


def test_the_partial_derivatives_as_formulas() -> None:
    x, y = hoad.symbols("x y")
    e = z(x, y)
    assert str(e.derivative(x)) == "4 * y + 3 * sin(4 * y)"
    for a, b in POINTS:
        at = {x: a, y: b}
        found = [e.derivative(x).evaluate(at), e.derivative(y).evaluate(at)]
        np.testing.assert_allclose(found, [4 * b + 3 * np.sin(4 * b), 4 * a + 12 * a * np.cos(4 * b)], rtol=1e-14)


def test_the_three_types() -> None:
    program = hoad.gradient(hoad.record(z, 2.0, 0.5), simplify=False)
    assert isinstance(program, list) and all(isinstance(tape, hoad.Tape) for tape in program)
    primal, adjoint = program
    assert all(isinstance(node, hoad.TapeNode) for tape in program for node in tape.nodes)
    node = primal.nodes[7]
    assert (node.number, node.operation, node.parents) == (8, "multiply", (6, 7))
    assert node.result == pytest.approx(6 * np.sin(2.0), rel=1e-15)
    assert (primal.inputs, primal.outputs, primal.parents) == ((1, 2), (9,), ())
    assert (adjoint.inputs, adjoint.outputs, adjoint.parents) == ((), (23, 21), (2, 3, 5, 6, 7))
    used = {k for node in adjoint.nodes for k in node.parents if k <= 9}
    assert used == set(adjoint.parents)


def derivatives(a: float, b: float) -> dict[str, float]:
    """Those of second and third order, by hand."""
    mixed, twice = 4 + 12 * np.cos(4 * b), -48 * a * np.sin(4 * b)
    xyy, yyy = -48 * np.sin(4 * b), -192 * a * np.cos(4 * b)
    return {"xx": 0.0, "xy": mixed, "yy": twice, "xxx": 0.0, "xxy": 0.0, "xyy": xyy, "yyy": yyy}


UNIT = {"x": (1.0, 0.0), "y": (0.0, 1.0)}


@pytest.mark.parametrize("names", list(itertools.product(["gradient", "tangent"], repeat=2)), ids="-".join)
@pytest.mark.parametrize("simplify", [True, False])
def test_all_second_and_third_derivatives(names: tuple[str, str], simplify: bool) -> None:
    """Two further tapes with symbolic seeds, each forward or reverse: every entry of both tensors."""
    program = hoad.gradient(hoad.record(z, 2.0, 0.5), simplify=simplify)
    transforms = [getattr(hoad, name) for name in names]
    second = transforms[0](program, seed="symbolic", simplify=simplify)
    third = transforms[1](second, seed="symbolic", simplify=simplify)
    assert ([len(p) for p in (second, third)], [len(p.inputs) for p in (second, third)]) == ([3, 4], [4, 6])
    for a, b in POINTS:
        wanted = derivatives(a, b)
        for i, j in itertools.product("xy", repeat=2):
            found = second.evaluate(a, b, *UNIT[i])["xy".index(j)]
            assert found == pytest.approx(wanted["".join(sorted(i + j))], rel=1e-14, abs=1e-13)
            for k, value in zip("xy", third.evaluate(a, b, *UNIT[i], *UNIT[j]), strict=True):
                assert value == pytest.approx(wanted["".join(sorted(i + j + k))], rel=1e-14, abs=1e-13)
