"""Expressions as trees, in which what is used twice stands twice."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from hoad._display.values import constant_text
from hoad._program.tape import Constant
from hoad._symbolic.operators import Operators
from hoad._symbolic.rows import in_order
from hoad.errors import count

ROWS = 200  # of a tree that is printed


class ExpressionTree:
    """A node of an expression tree, and the tree below it.

    Unlike the program of the expression, a tree has a node for every use: x**2 used twice appears twice. Nodes are
    created on access, so the tree of a small expression may be very large.

    Attributes
    ----------
    expression : Expression
        The expression of the tree below this node.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> x, y = hoad.symbols("x y")
    >>> tree = (np.sin(y * x**2) + np.exp(x**2)).to_expression_tree()
    >>> print(tree)
    add
    ├─ sin
    │  └─ multiply
    │     ├─ y
    │     └─ power
    │        ├─ x
    │        └─ 2
    └─ exp
       └─ power
          ├─ x
          └─ 2
    >>> tree.size, tree.depth
    (11, 5)
    """

    __slots__ = ("expression",)

    def __init__(self, expression: Operators) -> None:
        self.expression = expression

    @property
    def operation(self) -> str | None:
        """The name of its operation; None for a symbol or a number."""
        row = self.expression.row
        return None if row is None else row.primitive.name

    @property
    def operands(self) -> tuple[ExpressionTree, ...]:
        """The trees below, in the order of the operands."""
        return tuple(ExpressionTree(operand) for operand in self.expression.operands)

    @property
    def label(self) -> str:
        """The name of its operation or symbol, or its number."""
        if self.operation is not None:
            return self.operation
        source = self.expression.source
        return constant_text(source.value) if isinstance(source, Constant) else str(source)

    @property
    def size(self) -> int:
        """The number of nodes of the tree, with symbols and numbers counted at every use."""
        sizes: dict[int, int] = {}
        for node in in_order([self.expression]):
            sizes[id(node)] = 1 + sum(sizes[id(operand)] for operand in node.operands)
        return sizes[id(self.expression)]

    @property
    def depth(self) -> int:
        """The number of nodes on the longest path down."""
        depths: dict[int, int] = {}
        for node in in_order([self.expression]):
            depths[id(node)] = 1 + max((depths[id(operand)] for operand in node.operands), default=0)
        return depths[id(self.expression)]

    def __iter__(self) -> Iterator[ExpressionTree]:
        """Every node, each before those below it."""
        stack = [self]
        while stack:
            tree = stack.pop()
            yield tree
            stack.extend(reversed(tree.operands))

    def __str__(self) -> str:
        lines = list(islice(self._lines(), ROWS))
        left_out = self.size - len(lines)
        return "\n".join([*lines, *([f"... {count(left_out, 'node')} left out"] if left_out else [])])

    def _lines(self) -> Iterator[str]:
        stack: list[tuple[ExpressionTree, str, str]] = [(self, "", "")]  # what goes before it, and before those below
        while stack:
            tree, head, rest = stack.pop()
            yield head + tree.label
            below = [(operand, f"{rest}├─ ", f"{rest}│  ") for operand in tree.operands]
            if below:
                below[-1] = (below[-1][0], f"{rest}└─ ", f"{rest}   ")
            stack.extend(reversed(below))

    def __repr__(self) -> str:
        return f"<ExpressionTree: {self.label}, {count(self.size, 'node')}>"
