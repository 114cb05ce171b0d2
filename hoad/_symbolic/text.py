"""Expressions as text: ``sin(y * x ** 2) + exp(x ** 2)``."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from hoad._core.graph.inspect import node_row
from hoad._core.graph.primitive import primitive_named
from hoad._display.notation import INFIX, PREFIX, operation_text
from hoad._display.values import constant_text
from hoad._program.program import Constant, Program, Tape, TapeNode

WIDEST = 72  # beyond, what is used twice, and what is long, gets a name and a line of its own

# How tightly an operator binds, as in Python.
COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 7)
BINDING = {
    **dict.fromkeys(INFIX, COMPARISON),
    **dict.fromkeys(("add", "subtract"), SUM),
    **dict.fromkeys(
        ("multiply", "divide", "floor_divide", "remainder", "strong_multiply", "strong_multiply_both", "strong_divide"),
        PRODUCT,
    ),
    "power": POWER,
}
PLACES = ("item", "getitem", "gather")  # written behind their operand


class Text(NamedTuple):
    """A part of a formula, and how tightly it is bound together."""

    text: str
    binding: int

    def at(self, least: int) -> str:
        """The text where an operator asks for a binding at least so tight."""
        return self.text if self.binding >= least else f"({self.text})"


class TooWide(Exception):
    """A formula does not fit in a line."""


def formula(program: Program, names: list[str]) -> list[str]:
    """The lines of the formula that a program of one tape computes: names of parts, then what it gives.

    Parameters
    ----------
    program : Program
        The program of an expression.
    names : list of str
        Of its inputs.
    """
    (tape,) = program
    nodes = tape.nodes
    (output,) = tape.outputs
    if isinstance(output, Constant):
        return [constant_text(output.value)]
    try:
        return [_line(tape, nodes, dict(zip(tape.inputs, names, strict=True)), output)]
    except TooWide:
        return _lines(tape, nodes, dict(zip(tape.inputs, names, strict=True)), output)


def _line(tape: Tape, nodes: list[TapeNode], names: dict[int, str], output: int) -> str:
    texts = {k: Text(name, ATOM) for k, name in names.items()}
    for node in nodes:
        if node.number not in texts:
            texts[node.number] = _text(node, tape, texts)
            if len(texts[node.number].text) > WIDEST:
                raise TooWide
    return texts[output].text


def _lines(tape: Tape, nodes: list[TapeNode], names: dict[int, str], output: int) -> list[str]:
    """A line for every part that is used more than once or is long, and one for the whole."""
    uses = Counter(k for node in nodes for k in node.parents)
    texts = {k: Text(name, ATOM) for k, name in names.items()}
    prefix = "v"
    while any(name.startswith(prefix) for name in names.values()):
        prefix += "_"
    lines: list[str] = []
    for node in nodes:
        if node.number in names:
            continue
        made = _text(node, tape, texts)
        if node.number != output and (uses[node.number] > 1 or len(made.text) > WIDEST // 2):
            name = f"{prefix}{len(lines) + 1}"
            lines.append(f"{name} = {made.text}")
            made = Text(name, ATOM)
        texts[node.number] = made
    return [*lines, texts[output].text]


def _text(node: TapeNode, tape: Tape, texts: dict[int, Text]) -> Text:
    """One operation on what its operands are called."""
    operands = [_constant(k) if isinstance(k, Constant) else texts[k] for k in node.operands]
    name = node.operation
    if node_row(tape._graph, node.number - 1)[0] is primitive_named(name):
        if name in INFIX:
            binding = BINDING[name]
            left, right = (POWER + 1, SIGN) if name == "power" else (binding, binding + 1)
            if binding == COMPARISON:
                left += 1
            return Text(f"{operands[0].at(left)} {INFIX[name]} {operands[1].at(right)}", binding)
        if name in PREFIX:
            return Text(f"{PREFIX[name]}{operands[0].at(POWER)}", SIGN)
        if name == "identity":
            return operands[0]
        if name == "result":
            return Text(f"{operands[0].at(ATOM)}[{node.parameters['index']}]", ATOM)
        if name == "assemble" and _is_array_of(node):
            return Text(f"[{', '.join(operand.text for operand in operands)}]", ATOM)
    least = ATOM if name in PLACES else 0
    return Text(operation_text(node, tape, {k: texts[k].at(least) for k in node.parents}), ATOM)


def _is_array_of(node: TapeNode) -> bool:
    """Whether an assemble node is an array of its operands, one after the other."""
    return not node.parameters["parts"] and len(node.shape) == 1 and node.parameters["offsets"] == [*range(*node.shape)]


def _constant(constant: Constant) -> Text:
    text = constant_text(constant.value)
    return Text(text, SIGN if text.startswith("-") else ATOM)


__all__ = ["formula"]
