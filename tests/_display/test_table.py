"""The tables of programs: as worked by hand, aligned, and cut where they are long."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _display import programs
from _display.reading import tables

import hoad
from hoad._display import format_program
from hoad._display.table import ROWS
from hoad._program.program import Program
from hoad._program.tape import Tape


def by_hand(x: Any, y: Any) -> Any:
    return 4 * x * y + np.sin(4 * y) * (3 * x)


def chain(x: Any, length: int = 300) -> Any:
    for _ in range(length):
        x = np.sin(x) * x
    return x


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def golden(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


# ---- examples worked by hand ----------------------------------------------------------------------------------------


def test_primal_of_the_hand_worked_example() -> None:
    """z = 4xy + 3x sin 4y: nine rows."""
    assert str(hoad.record(by_hand, 2.0, 3.0)) == golden(
        """
        Tape 1 (primal): 9 nodes, inputs @1, @2, output @9
          node          value
          @1 = x        2          input
          @2 = y        3          input
          @3 = 4 * @1   8
          @4 = @3 * @2  24
          @5 = 4 * @2   12
          @6 = sin(@5)  -0.536573
          @7 = 3 * @1   6
          @8 = @6 * @7  -3.21944
          @9 = @4 + @8  20.7806    output
        """
    )


def test_adjoint_of_the_hand_worked_example() -> None:
    """Every contribution, in the order of the sweep by hand, and the sums."""
    program = hoad.gradient(hoad.record(by_hand, 2.0, 3.0), simplify=False)
    assert str(program).split("\n\n", 1)[1] == golden(
        """
        Tape 2 (adjoint): 14 nodes, outputs @23, @21
          node             from  adjoint            value
          @10 = 1          @9    ∇@9 = 1            1
          @11 = @10        @9    ∇@4 = ∇@9          1
          @12 = @10        @9    ∇@8 = ∇@9          1
          @13 = @12 * @7   @8    ∇@6 = ∇@8 * @7     6
          @14 = @12 * @6   @8    ∇@7 = ∇@8 * @6     -0.536573
          @15 = @14 * 3    @7    ∇¹@1 = ∇@7 * 3     -1.60972
          @16 = cos(@5)    @6                       0.843854
          @17 = @13 * @16  @6    ∇@5 = ∇@6 * @16    5.06312
          @18 = @17 * 4    @5    ∇¹@2 = ∇@5 * 4     20.2525
          @19 = @11 * @2   @4    ∇@3 = ∇@4 * @2     3
          @20 = @11 * @3   @4    ∇²@2 = ∇@4 * @3    8
          @21 = @18 + @20  @4    ∇@2 = ∇¹@2 + ∇²@2  28.2525    output ∇y
          @22 = @19 * 4    @3    ∇²@1 = ∇@3 * 4     12
          @23 = @15 + @22  @3    ∇@1 = ∇¹@1 + ∇²@1  10.3903    output ∇x

        ∇@k: the adjoint of @k
        ∇¹@k, ∇²@k, ...: the contributions to it, in the order of the sweep
        """
    )


def test_evaluation_trace_of_seven_variables() -> None:
    """f = x₁x₂ + exp(x₁x₂) − sin x₂, with its product recorded once."""

    def f(x: Any, y: Any) -> Any:
        product = x * y
        sine = np.sin(y)
        return np.exp(product) + (product - sine)

    (rows,) = tables(str(hoad.record(f, 1.0, 2.0)))
    assert [row.operation for row in rows] == ["x", "y", "@1 * @2", "sin(@2)", "exp(@3)", "@3 - @4", "@5 + @6"]


def test_values_and_adjoints_of_the_expression_graph() -> None:
    """sin(y x²) + exp(x²) at (2, 2): the values and the adjoints of its table, to the digits shown there."""
    program = hoad.record(lambda x, y: np.sin(y * x**2) + np.exp(x**2), 2.0, 2.0)
    primal, adjoint = tables(str(hoad.gradient(program, simplify=False)))
    assert {round(float(row.columns["value"]), 2) for row in primal} >= {2, 4, 8, 0.99, 54.6, 55.59}
    outputs = {row.columns["mark"]: (row.name, round(float(row.columns["value"]), 3)) for row in adjoint}
    assert outputs["output ∇x"] == ("∇@1", 217.229)
    assert outputs["output ∇y"] == ("∇@2", -0.582)


def test_three_variables_of_one_product() -> None:
    """x² + xy + xz at (3, 4, 5) is 36; its adjoints are 15, 3, 3."""
    program = hoad.gradient(hoad.record(lambda x, y, z: x * x + x * y + x * z, 3.0, 4.0, 5.0), simplify=False)
    primal, adjoint = tables(str(program))
    assert primal[-1].columns["value"] == "36" and primal[-1].columns["mark"] == "output"
    found = {row.columns["mark"]: row.columns["value"] for row in adjoint if row.columns["mark"]}
    assert found == {"output ∇x": "15", "output ∇y": "3", "output ∇z": "3"}
    names = [row.name for row in adjoint if row.name.endswith("@1")]
    assert names == ["∇¹@1", "∇²@1", "∇⁺@1", "∇³@1", "∇⁴@1", "∇⁺@1", "∇@1"]


def test_second_order() -> None:
    """The seed of a third tape is an input without a value; the nodes swept are those of the second."""
    program = hoad.gradient(hoad.gradient(hoad.record(by_hand, 2.0, 3.0)), seed="symbolic")
    text = str(program)
    _, second, third = tables(text)
    assert "Tape 3 (adjoint): " in text
    assert [row.columns["mark"] for row in third[:2]] == ["input", "input"]
    assert all(row.columns["value"] == "?" for row in third)
    assert [row.operation for row in third[:2]] == ["seed[0]", "seed[1]"]
    assert third[0].columns["adjoint"] == f"∇@{second[-1].number} = seed[0]"
    swept = {int(row.columns["from"][1:]) for row in third if row.columns["from"]}
    assert swept & {row.number for row in second} and swept & set(range(1, 10))
    assert {row.name for row in third if "output" in row.columns["mark"]} == {"∇@1", "∇@2"}


# ---- what stands in a table -----------------------------------------------------------------------------------------

PROGRAMS: dict[str, Callable[[], Program]] = {
    "hand": lambda: hoad.gradient(hoad.record(by_hand, 2.0, 3.0)),
    "hand, unsimplified": lambda: hoad.gradient(hoad.record(by_hand, 2.0, 3.0), simplify=False),
    "hand, twice": lambda: hoad.gradient(hoad.gradient(hoad.record(by_hand, 2.0, 3.0)), seed="symbolic"),
    "arrays": lambda: hoad.gradient(hoad.record(rosenbrock, np.linspace(0, 1, 5)), simplify=False),
    "large arrays": lambda: hoad.gradient(hoad.record(rosenbrock, np.linspace(0, 1, 5000))),
    "many inputs": lambda: hoad.gradient(hoad.record(lambda *x: sum(x) ** 2, *np.arange(20.0))),
    "long": lambda: hoad.gradient(hoad.record(chain, 0.5)),
    "linear": lambda: hoad.gradient(hoad.record(lambda x: 3 * x, 1.0)),
    "several outputs": lambda: hoad.record(lambda x, y: (x * y, y, 3.0), 1.0, 2.0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_layout(name: str) -> None:
    """Titles stand over their columns, equal signs under each other, and no line ends in blanks."""
    program = PROGRAMS[name]()
    text = str(program)
    assert all(line == line.rstrip() for line in text.split("\n")) and not text.endswith("\n")
    found = tables(text)
    assert len(found) == len(program)
    for tape, rows in zip(program, found, strict=True):
        numbers = [node.number for node in tape.nodes]
        assert [row.number for row in rows] == (numbers if len(numbers) <= ROWS else numbers[:100] + numbers[-100:])
        nodes = {node.number: node for node in tape.nodes}
        for row in rows:
            assert row.columns["value"], "a value, or a question mark"
            assert row.columns.get("from", "") == (f"@{nodes[row.number].swept}" if nodes[row.number].swept else "")
            assert bool(row.name) == (nodes[row.number].adjoint_of is not None)


@pytest.mark.parametrize("name", PROGRAMS)
def test_marks(name: str) -> None:
    """Inputs and outputs are marked where they have a row, and all of them stand in the heading if they are few."""
    program = PROGRAMS[name]()
    headings = [line for line in str(program).split("\n") if line.startswith("Tape ")]
    for tape, rows, heading in zip(program, tables(format_program(program)), headings, strict=True):
        for word, numbers in (("input", tape.inputs), ("output", tape.outputs)):
            marked = {row.number for row in rows if word in row.columns["mark"]}
            assert marked == {n for n in numbers if n in {row.number for row in rows}}
            if len(numbers) <= 6:
                assert all(f"@{n}" in heading for n in numbers if isinstance(n, int))
            else:
                assert f"@{numbers[-1]} ({len(numbers)} in all)" in heading


def test_an_output_that_depends_on_nothing_stands_in_the_heading() -> None:
    text = str(hoad.gradient(hoad.record(lambda x: 3 * x, 1.0)))
    assert text.endswith("\n\nTape 2 (adjoint): 0 nodes, output 3")


def test_output_of_an_earlier_tape() -> None:
    """The simplified adjoint of a product is its other factor."""
    text = str(hoad.gradient(hoad.record(lambda x, y: x * y, 2.0, 3.0)))
    assert "Tape 2 (adjoint): 0 nodes, outputs @2, @1" in text


@pytest.mark.parametrize("simplify", [True, False])
def test_names_of_adjoints_are_unique(simplify: bool) -> None:
    """In a tape, contributions and whole adjoints have one name each; sums so far share theirs."""

    def f(x: Any, y: Any) -> Any:
        return x * np.sin(x) + x**2 + np.exp(x) * x * y - y / x

    program = hoad.gradient(hoad.gradient(hoad.record(f, 1.0, 2.0), simplify=simplify), "symbolic", simplify=simplify)
    for rows in tables(str(program)):
        names = [row.name for row in rows if row.name and "⁺" not in row.name]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ["hand, unsimplified", "arrays"])
def test_whole_adjoints_are_the_outputs(name: str) -> None:
    program = PROGRAMS[name]()
    rows = tables(str(program))[1]
    named = {row.number: row.name for row in rows}
    assert [named[number] for number in program[1].outputs] == [f"∇@{k}" for k in program[0].inputs]


def test_legend_explains_what_occurs() -> None:
    plain = str(hoad.record(by_hand, 2.0, 3.0))
    assert "∇" not in plain and "·" not in plain
    text = str(hoad.gradient(hoad.record(lambda x, y: x**y + x * x, 1.0, 2.0), simplify=False))
    assert "∇⁺@k: the sum of contributions to it so far" in text
    assert "a · b: a product that is 0 where a is 0, whatever b is" in text


def test_long_operations_are_wrapped() -> None:
    text = format_program(PROGRAMS["arrays"]())
    assert "\n  @33 = zeros(5) with [1:] += @28, [:-1] += @32,  @1    ∇@1 " in text
    assert "\n        [:-1] += @21\n" in text


def test_wide_characters_are_aligned() -> None:
    def 関数(x: Any) -> Any:
        return 2 * x

    wide = hoad.primitive(vjp=lambda g, p, x: (2 * g,))(関数)
    assert str(hoad.record(lambda x: wide(x) + x, 1.0)) == golden(
        """
        Tape 1 (primal): 3 nodes, input @1, output @3
          node           value
          @1 = x         1      input
          @2 = 関数(@1)  2
          @3 = @2 + @1   3      output
        """
    )


def test_guards_are_marked() -> None:
    def f(x: Any, a: Any) -> Any:
        if x > 1 and x < 3:  # two guards
            x = x * 2
        big = a > 1
        return x * np.sum(a[big]) if not (x > 100) else x

    text = str(hoad.record(f, 2.0, np.array([0.5, 1.5])))
    rows = {row.operation: row.columns["mark"] for row in tables(text)[0]}
    assert rows["@1 > 1"] == rows["@1 < 3"] == "guard: was True"
    assert rows["@2 > 1"] == "guard: was [False, True]" and rows["@5 > 100"] == "guard: was False"
    assert sum("guard" in mark for mark in rows.values()) == 4
    assert "\nguard: the function branched on this value; where a replay finds another, it raises GuardError" in text
    assert "guard" not in str(hoad.record(by_hand, 1.0, 2.0))


def test_a_guard_on_an_output_and_one_asked_twice() -> None:
    def f(x: Any) -> Any:
        c = x > 1
        return (x if c else -x), (c if c else not c)

    text = str(hoad.record(f, 2.0))
    assert "  output[1], guard: was True" in text


# ---- ASCII ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["plain", "markdown", "html"])
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_tables_in_ascii(name: str, format: str) -> None:
    """The same rows, sign for sign."""
    program = programs.PROGRAMS[name]()
    text = program.table(format, rows=None, ascii=True)
    assert text.isascii()
    if format == "plain":
        signs = str.maketrans("∇·×÷⁺⁰¹²³⁴⁵⁶⁷⁸⁹", "^.x:+0123456789")
        assert text == program.table(rows=None).translate(signs)


def test_signs_in_ascii() -> None:
    text = hoad.gradient(hoad.record(lambda x, y: x**y + x * x, 1.0, 2.0), simplify=False).table(ascii=True)
    for said in ("^1@1 = ", "^+@1", "^@k: the adjoint of @k", "a . b: a product that is 0 where a is 0"):
        assert said in text


def test_names_in_ascii_are_aligned() -> None:
    def 関数(x: Any) -> Any:
        return 2 * x

    wide = hoad.primitive(vjp=lambda g, p, x: (2 * g,))(関数)
    assert hoad.record(lambda x: wide(x) + x, 1.0).table(ascii=True) == golden(
        r"""
        Tape 1 (primal): 3 nodes, input @1, output @3
          node                   value
          @1 = x                 1      input
          @2 = \u95a2\u6570(@1)  2
          @3 = @2 + @1           3      output
        """
    )


# ---- long programs --------------------------------------------------------------------------------------------------


def test_head_and_tail() -> None:
    def towards_two(x: Any) -> Any:
        for _ in range(300):
            x = x / 2 + 1
        return x

    program = hoad.record(towards_two, 0.5)
    assert format_program(program, 4) == golden(
        """
        Tape 1 (primal): 601 nodes, input @1, output @601
          node             value
            @1 = x         0.5    input
            @2 = @1 / 2    0.25
          ... 597 rows left out; program.table(rows=None) shows all
          @600 = @599 / 2  1
          @601 = @600 + 1  2      output
        """
    )
    assert f"... {601 - ROWS} rows left out" in str(program)
    assert "left out" not in format_program(program)
    assert format_program(program, 601) == format_program(program)


def test_headings_alone() -> None:
    heading, note = format_program(hoad.record(chain, 0.5), 0).split("\n")
    assert heading == "Tape 1 (primal): 601 nodes, input @1, output @601"
    assert note == "  ... 601 rows left out; program.table(rows=None) shows all"


def test_negative_number_of_rows() -> None:
    with pytest.raises(ValueError, match=r"rows=-1.*Leave it out"):
        format_program(hoad.record(chain, 0.5), -1)


@pytest.mark.parametrize("rows", [1, 7, 20, 150])
def test_names_in_a_cut_tape(rows: int) -> None:
    """What is left out may hold further contributions: then the first one is numbered, and a sum is one so far."""
    program = hoad.gradient(hoad.record(lambda x: chain(x, 40) * x + x, 0.5), simplify=False)
    whole = {row.number: row.name for row in tables(format_program(program))[1]}
    for row in tables(format_program(program, rows))[1]:
        name = whole[row.number]
        assert row.name in (name, name.replace("∇@", "∇¹@"), name.replace("∇@", "∇⁺@"))


def test_only_rows_shown_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    rows = Tape.rows

    def counted(self: Tape, start: int, stop: int) -> Any:
        read.append(stop - start)
        return rows(self, start, stop)

    monkeypatch.setattr(Tape, "rows", counted)
    format_program(hoad.gradient(hoad.record(chain, 0.5)), 50)
    assert read == [25, 25, 25, 25]


def test_program_without_tapes() -> None:
    assert str(Program()) == "Program without tapes"
