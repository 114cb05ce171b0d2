"""What inputs and outputs are called: as the function calls its arguments, and by the path in what it returns."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from _display.pages import explored
from _display.programs import HOSTILE, PROGRAMS, by_hand, model
from _display.reading import tables

import hoad
from hoad._program.program import Program


class Fit(NamedTuple):
    slope: Any
    offset: Any


def named(program: Program) -> list[tuple[tuple[str | None, ...], tuple[str, ...]]]:
    return [(tape.input_names, tape.output_names) for tape in program]


@pytest.mark.parametrize(
    ("f", "args", "inputs", "outputs"),
    [
        (by_hand, (2.0, 3.0), ("x", "y"), ("output",)),
        (lambda x: np.sum(x) * 2, (np.ones(3),), ("x",), ("output",)),
        (
            model,
            ({"a": 2.0, "b": [3.0]}, 0.5, 1.5),
            ("theta['a']", "theta['b'][0]", "x[0]", "x[1]"),
            ("output['cost']", "output['size']"),
        ),
        (lambda fit: fit.slope * 2 + fit.offset, (Fit(1.0, 2.0),), ("fit.slope", "fit.offset"), ("output",)),
        (lambda x, y: Fit(x, y), (1.0, 2.0), ("x", "y"), ("output.slope", "output.offset")),
        (lambda x, y: (x * y, y, 3.0), (1.0, 2.0), ("x", "y"), ("output[0]", "output[1]", "output[2]")),
        (lambda x: (x, "text", [x * 2]), (1.0,), ("x",), ("output[0]", "output[2][0]")),
        (lambda x, n: x ** n[1], (2.0, ("label", 3.0)), ("x", "n[1]"), ("output",)),
        (partial(by_hand, 2.0), (3.0,), ("y",), ("output",)),
        (max, (1.0, 2.0), (None, None), ("output",)),
    ],
)
def test_arguments_and_results(f: Any, args: Any, inputs: tuple[str | None, ...], outputs: tuple[str, ...]) -> None:
    assert named(hoad.record(f, *args)) == [(inputs, outputs)]


def test_seeds_and_derivatives() -> None:
    """The adjoint by x is ∇x, a seed has the path of its output, a tangent is dx."""
    second = hoad.gradient(PROGRAMS["containers"](), "symbolic")
    theta, x = ("theta['a']", "theta['b'][0]"), ("x[0]", "x[1]")
    assert named(second)[1:] == [
        (("seed['cost']", "seed['size']"), tuple(f"∇{name}" for name in (*theta, *x))),
        (("seed[0]['a']", "seed[0]['b'][0]", "seed[1]", "seed[2]"), tuple(f"∇{name}" for name in (*theta, *x))),
    ]
    assert named(PROGRAMS["tangent of a gradient"]())[2] == (("dx", "dy"), ("d∇x", "d∇y"))
    assert named(hoad.gradient(hoad.record(np.sum, np.ones(2))))[1] == ((), ("∇a",))
    assert named(hoad.gradient(hoad.record(max, 2.0, 1.0)))[1][1] == ("∇@1", "∇@2"), "by number where there is no name"


def test_a_seed_of_what_is_not_an_integer() -> None:
    program = hoad.gradient(hoad.record(lambda x: (x > 0, x * 2), 1.0), "symbolic")
    assert program[1].input_names == ("seed[1]",)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ("hostile", "adjoint alone")])
def test_names_travel(name: str) -> None:
    program = PROGRAMS[name]()
    assert named(pickle.loads(pickle.dumps(program))) == named(program)


def test_names_of_a_program_that_was_pickled_before_they_were() -> None:
    make, (data, extra) = PROGRAMS["hand"]().__reduce__()
    del data["names"]
    assert named(make(data, extra)) == [((None, None), ("output",)), ((), ("output[0]", "output[1]"))]


@pytest.mark.parametrize(
    "names",
    [
        (("x", 2), [None, (0, 1)]),
        (["x", "y"], [None, (0, 1)]),
        (None, [None]),
        (None, [None, (0,)]),
        (None, [None, (0, 99)]),
    ],
)
def test_damaged_names_are_refused(names: Any) -> None:
    make, (data, extra) = PROGRAMS["hand"]().__reduce__()
    with pytest.raises(pickle.UnpicklingError, match="holds no program, or a damaged one"):
        make(data | {"names": names}, extra)


def test_programs_of_jitted_functions() -> None:
    """Arguments are inputs by name; what else it reads, by number."""
    scale = np.ones(2)

    @hoad.jit
    def scaled(x: Any, theta: Any, n: int = 2) -> Any:
        return {"y": x * theta["a"] ** n * scale}

    program = scaled.program(1.0, {"a": 2.0}, n=3)
    assert program[0].input_names[:2] == ("x", "theta['a']") and program[0].output_names == ("output['y']",)
    assert set(program[0].input_names[2:]) <= {None}


def test_symbols_and_programs_that_are_called() -> None:
    x, y = hoad.symbols("x y")
    assert named((x * np.sin(y)).to_program(y, x)) == [(("y", "x"), ("output",))]
    inner = hoad.record(model, {"a": 2.0, "b": [3.0]}, 0.5, 1.5)
    outer = hoad.record(lambda x: inner({"a": x, "b": [x]}, x, x)["cost"], 3.0)
    assert named(outer.inner(2)) == named(inner)


def test_every_form_shows_them(tmp_path: Path) -> None:
    program = PROGRAMS["containers"]()
    primal, adjoint = tables(str(program))
    assert [row.operation for row in primal[:4]] == ["theta['a']", "theta['b'][0]", "x[0]", "x[1]"]
    assert {row.columns["mark"] for row in primal} == {"input", "", "output['cost']", "output['size']"}
    assert {row.operation for row in adjoint if row.columns["mark"] == "input"} == {"seed['cost']", "seed['size']"}
    assert "output ∇theta['b'][0]" in {row.columns["mark"] for row in adjoint}
    records = program.records()
    assert [row["name"] for row in records[:5]] == ["theta['a']", "theta['b'][0]", "x[0]", "x[1]", None]
    given = {name for row in records for name in row["output_names"]}
    assert given == {"output['cost']", "output['size']", "∇theta['a']", "∇theta['b'][0]", "∇x[0]", "∇x[1]"}
    assert program.to_dot().count("@1 = theta['a']\\ninput") == 1
    nodes = explored(program, tmp_path).nodes()
    assert nodes[0]["names"] == ["theta['a']"] and nodes[0]["t"] == "theta['a']"
    assert {name for node in nodes for name in node["names"]} >= given


def test_numbers_where_there_is_no_name() -> None:
    text = str(hoad.record(max, 2.0, 1.0))
    assert "@1 = ?" in text and "input 1" in text and "input 2" in text
    assert "n1 [label=" in hoad.record(max, 2.0, 1.0).to_dot() and "@1\\ninput 1" in hoad.record(max, 2.0, 1.0).to_dot()


def test_long_names_are_cut_in_tables() -> None:
    (rows,) = tables(str(hoad.record(lambda x: x["k" * 60] * 2, {"k" * 60: 1.0})))
    assert rows[0].operation == f"x['{'k' * 34}..."
    assert len(rows[0].operation) == 40


def test_names_are_no_markup(tmp_path: Path) -> None:
    program = PROGRAMS["hostile names"]()
    assert program[0].input_names == (f"x[{HOSTILE!r}]", r"x['y\n']")
    assert "<b " not in program.table("html") and "<b " not in program.table("markdown")
    page = explored(program, tmp_path)
    assert page.nodes()[0]["names"] == [f"x[{HOSTILE!r}]"] and "b" not in {tag for tag, _ in page.elements}
