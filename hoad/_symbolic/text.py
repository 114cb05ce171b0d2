"""Expressions as text: ``sin(y * x ** 2) + exp(x ** 2)``."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from hoad._core.graph.inspect import node_row
from hoad._display.notation import operation_text
from hoad._display.values import constant_text
from hoad._ops import primitives as prim
from hoad._program.program import Program
from hoad._program.tape import Constant, Tape, TapeNode

WIDEST = 72  # beyond, what is used twice, and what is long, gets a name and a line of its own

# How tightly a symbol between two operands binds, as in Python; others are comparisons.
COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 7)
BINDING = {
    **dict.fromkeys(("+", "-"), SUM),
    **dict.fromkeys(("*", "/", "//", "%", "·", "×", "÷"), PRODUCT),
    "**": POWER,
}
PLACES = (prim.ITEM, prim.GETITEM, prim.GATHER_ITEMS)  # written behind their operand


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

    The inputs of the program have these names.
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
    primitive = node_row(tape._graph, node.number - 1)[0]
    symbol = primitive.symbol
    if symbol is not None and primitive.nin == 1:
        return Text(f"{symbol}{operands[0].at(POWER)}", SIGN)
    if symbol is not None:
        binding = BINDING.get(symbol, COMPARISON)
        left, right = (POWER + 1, SIGN) if binding == POWER else (binding, binding + 1)
        if binding == COMPARISON:
            left += 1
        return Text(f"{operands[0].at(left)} {symbol} {operands[1].at(right)}", binding)
    if primitive is prim.IDENTITY:
        return operands[0]
    if primitive is prim.RESULT:
        return Text(f"{operands[0].at(ATOM)}[{node.parameters['index']}]", ATOM)
    if primitive is prim.ASSEMBLE and _is_array_of(node):
        return Text(f"[{', '.join(operand.text for operand in operands)}]", ATOM)
    least = ATOM if primitive in PLACES else 0
    return Text(operation_text(node, tape, {k: texts[k].at(least) for k in node.parents}), ATOM)


def _is_array_of(node: TapeNode) -> bool:
    """Whether an assemble node is an array of its operands, one after the other."""
    return not node.parameters["parts"] and len(node.shape) == 1 and node.parameters["offsets"] == [*range(*node.shape)]


def _constant(constant: Constant) -> Text:
    text = constant_text(constant.value)
    return Text(text, SIGN if text.startswith("-") else ATOM)
