"""Symbols and expressions."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from hoad._core.base.where import here
from hoad._core.graph.primitive import rules_epoch
from hoad._core.graph.tape import intern_aval
from hoad._core.record.recording import inline
from hoad._core.trace.traced import is_traced
from hoad._drivers.hessian import hessian
from hoad._drivers.jacobian import jacobian
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad._pytree.arguments import checked_order
from hoad._symbolic.checks import checked_symbols, checked_value, fitting
from hoad._symbolic.derivatives import rows_of_jacobian, tangent
from hoad._symbolic.operators import Operators, no_value, record_call
from hoad._symbolic.rows import KINDS, Layout, in_order, make
from hoad._symbolic.text import formula
from hoad._symbolic.tree import ExpressionTree
from hoad._transform.adjoint import gradient
from hoad.errors import ArgumentError, DTypeError, ShapeError, TracedValueError, count

FLOAT64 = np.dtype(np.float64)
ROWS = 200  # lines of a formula that is printed

At = Mapping["Expression", Any]


class Expression(Operators):
    """A formula: a symbol, a number, or an operation on formulas.

    `symbols` creates symbols; operators and NumPy functions make expressions from them. An expression never changes.
    Expressions from different calls of `symbols`, and from different threads, can be combined. As a key of dicts, an
    expression is compared by identity, while ``x == y`` compares values, as elsewhere in NumPy.

    Attributes
    ----------
    row, operands, source, aval
        Its parts: the operation, or the value or name of a leaf; shape and dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> x, y = hoad.symbols("x y")
    >>> e = np.sin(y * x**2) + np.exp(x**2)
    >>> e
    sin(y * x ** 2) + exp(x ** 2)
    >>> print(f"{e.evaluate({x: 2, y: 2}):.4f}")
    55.5875
    >>> e.derivative(y)
    x ** 2 * cos(y * x ** 2)
    """

    __slots__ = ("__weakref__", "_adjoint", "_program", "_symbols")

    operands: tuple[Expression, ...]
    _symbols: tuple[Expression, ...] | None  # made when first asked for, as all of these
    _program: Program | None
    _adjoint: tuple[int, Program] | None  # by which rules

    def __init__(self, *args: Any) -> None:
        raise ArgumentError("an expression is made by operations on symbols. Make those with hoad.symbols('x y').")

    # ---- what it is

    @property
    def name(self) -> str | None:
        """The name of a symbol; None for any other expression."""
        return self.source if isinstance(self.source, str) else None

    @property
    def symbols(self) -> tuple[Expression, ...]:
        """The symbols in it, in the order in which they appear."""
        if self.row is None:  # a symbol that held itself would be a cycle
            return (self,) if isinstance(self.source, str) else ()
        if self._symbols is None:
            self._symbols = tuple(node for node in in_order([self]) if isinstance(node.source, str))
        return self._symbols

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its value."""
        return self.aval.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions of its value."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """The number of entries of its value."""
        return self.aval.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of its value."""
        return self.aval.dtype

    @property
    def T(self) -> Any:
        """Its transpose."""
        return record_call(np.transpose, (self,)) if self.ndim else self

    def to_expression_tree(self) -> ExpressionTree:
        """The expression as a tree, in which a part that is used twice appears twice.

        Returns
        -------
        ExpressionTree
            Its root.

        Notes
        -----
        Cost: none; nodes are created on access.

        Examples
        --------
        >>> import hoad
        >>> (x,) = hoad.symbols("x,")
        >>> (x * x + 1).to_expression_tree().size
        5
        """
        return ExpressionTree(self)

    def to_program(self, *symbols: Expression) -> Program:
        """The expression as a program, in which equal parts appear once.

        Parameters
        ----------
        *symbols : Expression
            The inputs, in this order, each once; by default, the symbols in the order in which they appear.

        Returns
        -------
        Program
            A program of one tape, to be evaluated, differentiated with `gradient`, called inside derivatives, printed
            or pickled. Its nodes have no values.

        Raises
        ------
        ArgumentError
            If an argument is not a symbol, is given twice, or a symbol of the expression is left out.

        Notes
        -----
        Cost: some microseconds per node; the program with the default order is kept.

        Examples
        --------
        >>> import hoad
        >>> x, y = hoad.symbols("x y")
        >>> print((x * y + x * y).to_program(y, x))
        Tape 1 (primal): 4 nodes, inputs @1, @2, output @4
          node          value
          @1 = y        ?      input
          @2 = x        ?      input
          @3 = @2 * @1  ?
          @4 = @3 + @3  ?      output
        """
        if symbols:
            return _program([self], checked_symbols(symbols, self.symbols))
        if self._program is None:
            self._program = _program([self], self.symbols)
        return self._program

    # ---- what it gives

    def evaluate(self, at: At | None = None) -> Any:
        """The value of the expression.

        Parameters
        ----------
        at : dict
            A number or an array for every symbol in it. Other keys are ignored. Traced values are recorded: a
            derivative sees the expression as if it were written there.

        Returns
        -------
        float, bool or ndarray
            The value.

        Raises
        ------
        ArgumentError
            If a symbol has no value.
        ShapeError, DTypeError
            If a value does not have the shape of its symbol, or does not consist of real numbers.

        Notes
        -----
        Cost: at first that of `to_program`; then a replay, some nanoseconds per node and about a microsecond per
        symbol.

        Examples
        --------
        >>> import hoad
        >>> x, y = hoad.symbols("x y")
        >>> (x * y).evaluate({x: 2, y: 3})
        6.0
        >>> hoad.grad(lambda t: (x * y).evaluate({x: t, y: t}))(3.0)
        6.0
        """
        values = self._values(at, "evaluate")
        if any(is_traced(value) for value in values):
            return self._replayed(*values)
        return self.to_program().evaluate(*values)

    def gradient(self, at: At, mode: str = "reverse") -> dict[Expression, Any]:
        """The derivatives with respect to the symbols, as numbers.

        Parameters
        ----------
        at : dict
            A number or an array for every symbol in it.
        mode : {"reverse", "forward"}, optional
            One reverse sweep, or one forward sweep for each entry of a symbol.

        Returns
        -------
        dict
            For every symbol in `at` an array of its shape; zeros if the expression does not contain it.

        Raises
        ------
        ArgumentError
            If the mode is unknown, or a symbol has no value.
        ShapeError, DTypeError
            If the expression is not a scalar: use `jacobian`. If a value does not have the shape of its symbol, or does
            not consist of real numbers.

        Notes
        -----
        Cost: in reverse mode, at first a sweep, which is kept; then a replay, a small multiple of that of the value.

        References
        ----------
        Griewank and Walther (2008), Evaluating Derivatives, sections 3.1 and 3.2.

        Examples
        --------
        >>> import hoad
        >>> x, y = hoad.symbols("x y")
        >>> found = (x * y**2).gradient({x: 2, y: 3})
        >>> found[x], found[y]
        (9.0, 12.0)
        """
        if mode not in ("reverse", "forward"):
            raise ArgumentError(f"gradient takes mode 'reverse' or 'forward', not {mode!r}.")
        if self.ndim:
            raise ShapeError(f"gradient needs a scalar expression, but this one has shape {self.shape}. Use jacobian.")
        values = self._values(at, "gradient")
        if mode == "forward" or any(is_traced(value) for value in values):
            return self._jacobian(at, values, mode)
        if not values:
            return self._by_symbol(at, ())
        found = self._adjoints().evaluate(*values)
        return self._by_symbol(at, found if isinstance(found, tuple) else (found,))

    def jacobian(self, at: At, mode: str = "auto") -> dict[Expression, Any]:
        """The derivatives of an expression of any shape with respect to the symbols, as numbers.

        Parameters
        ----------
        at : dict
            A number or an array for every symbol in it.
        mode : {"auto", "forward", "reverse"}, optional
            The sweep, as for `hoad.jacobian`.

        Returns
        -------
        dict
            For every symbol in `at` an array of shape ``(*self.shape, *symbol.shape)``.

        Raises
        ------
        ArgumentError, ShapeError, DTypeError
            As for `gradient`.

        Notes
        -----
        Cost: as for `hoad.jacobian` of the formula.

        Examples
        --------
        >>> import numpy as np
        >>> import hoad
        >>> x, y = hoad.symbols("x y")
        >>> np.stack([x * y, x + y]).jacobian({x: 2, y: 3})[x]
        array([3., 1.])
        """
        return self._jacobian(at, self._values(at, "jacobian"), mode)

    def hessian(self, at: At) -> dict[tuple[Expression, Expression], Any]:
        """The second derivatives with respect to pairs of symbols, as numbers.

        Parameters
        ----------
        at : dict
            A number or an array for every symbol in it.

        Returns
        -------
        dict
            For every pair of symbols in `at` an array of shape ``(*x.shape, *y.shape)``: ``found[x, y]``.

        Raises
        ------
        ArgumentError, ShapeError, DTypeError
            As for `gradient`.

        Notes
        -----
        Cost: as for `hoad.hessian` of the formula.

        Examples
        --------
        >>> import hoad
        >>> x, y = hoad.symbols("x y")
        >>> (x * y**2).hessian({x: 2, y: 3})[x, y]
        6.0
        """
        if self.ndim:
            raise ShapeError(f"hessian needs a scalar expression, but this one has shape {self.shape}.")
        values, own = self._values(at, "hessian"), self.symbols
        rows = hessian(self._replayed, argnums=tuple(range(len(own))))(*values) if own else ()
        found = {(x, y): value for x, row in zip(own, rows, strict=True) for y, value in zip(own, row, strict=True)}
        return {(x, y): found[x, y] if (x, y) in found else _zeros(x.shape + y.shape) for x in at for y in at}

    # ---- what can be made of it

    def derivative(self, by: Expression, n: int = 1) -> Expression:
        """The derivative with respect to a symbol, as an expression.

        Parameters
        ----------
        by : Expression
            A symbol, or any other part of the expression.
        n : int, optional
            The order.

        Returns
        -------
        Expression
            The derivative, of shape ``(*self.shape, *by.shape)``, with another ``by.shape`` for each higher order. It
            shares parts with this expression.

        Raises
        ------
        ArgumentError
            If `by` is not an expression, or n is not an order.
        DTypeError
            If `by` is a boolean or an integer.

        Notes
        -----
        Cost: a forward sweep if `by` is a scalar, otherwise a reverse sweep for each entry of the expression; some
        microseconds per node of the result.

        References
        ----------
        Griewank and Walther (2008), Evaluating Derivatives, chapter 3.

        Examples
        --------
        >>> import numpy as np
        >>> import hoad
        >>> x, y = hoad.symbols("x y")
        >>> e = np.exp(x * y)
        >>> e.derivative(x).derivative(y).evaluate({x: 0, y: 5})
        1.0
        >>> e.derivative(x, 3)
        y * (y * (y * exp(x * y)))
        """
        if not isinstance(by, Expression):
            raise ArgumentError(
                f"derivative takes a symbol or another expression, not {type(by).__name__}. For numbers, use gradient."
            )
        n = checked_order("derivative", n)
        if not by.aval.inexact:
            raise DTypeError(f"derivative takes an expression of floats, but this one has dtype {by.dtype}.")
        made = self if by.ndim else tangent(self, by, n)
        for _ in range(n if by.ndim else 0):
            made = rows_of_jacobian(made, by)
        return made

    def substitute(self, changes: Mapping[Expression, Any]) -> Expression:
        """The expression with some of its parts replaced by other expressions or numbers.

        Parameters
        ----------
        changes : dict
            The replacements of symbols or other parts; all at once, so that x and y can be exchanged.

        Returns
        -------
        Expression
            The new expression, neither computed nor simplified.

        Raises
        ------
        ArgumentError
            If a key is not an expression.
        ShapeError, DTypeError
            If a replacement has another shape or dtype.

        Notes
        -----
        Cost: a microsecond per node.

        Examples
        --------
        >>> import numpy as np
        >>> import hoad
        >>> x, y = hoad.symbols("x y")
        >>> (x**2 * y).substitute({x: np.sin(y), y: 3})
        sin(y) ** 2 * 3
        """
        put: dict[int, Expression] = {}
        for old, new in changes.items():
            if not isinstance(old, Expression):
                raise ArgumentError(f"substitute takes a dict with symbols for keys, but one is {type(old).__name__}.")
            put[id(old)] = fitting(old, new)
        for node in in_order([self]):
            if id(node) not in put:
                operands = tuple(put[id(operand)] for operand in node.operands)
                same = all(new is old for new, old in zip(operands, node.operands, strict=True))
                put[id(node)] = node if same else make(node.row, operands, None, node.aval)
        return put[id(self)]

    # ---- behind them

    def _values(self, at: At | None, what: str) -> list[Any]:
        """The values of its symbols, in their order."""
        given = {} if at is None else at
        if not isinstance(given, Mapping):
            raise ArgumentError(f"{what} takes a dict with a value for each symbol, not {type(at).__name__}.")
        missing = [str(symbol.name) for symbol in self.symbols if symbol not in given]
        if missing:
            advice = "Give one for each."
            if any(isinstance(key, str) for key in given):
                advice = "Its keys are the symbols themselves, not their names."
            raise ArgumentError(f"{what} was given no value for {', '.join(missing)}. {advice}")
        return [checked_value(symbol, given[symbol], what) for symbol in self.symbols]

    def _by_symbol(self, at: At, values: tuple[Any, ...]) -> dict[Expression, Any]:
        found = dict(zip(self.symbols, values, strict=True))
        return {symbol: found[symbol] if symbol in found else _zeros(self.shape + symbol.shape) for symbol in at}

    def _jacobian(self, at: At, values: list[Any], mode: str) -> dict[Expression, Any]:
        if not values:
            return self._by_symbol(at, ())
        return self._by_symbol(at, jacobian(self._replayed, tuple(range(len(values))), mode=mode)(*values))

    def _adjoints(self) -> Program:
        epoch = rules_epoch()
        if self._adjoint is None or self._adjoint[0] != epoch:
            self._adjoint = epoch, gradient(self.to_program())
        return self._adjoint[1]

    def _replayed(self, *values: Any) -> Any:
        """The expression recorded on traced values."""
        tape = self.to_program()[0]
        return inline(tape._graph, list(tape._outputs), list(tape._inputs), list(values))[0]

    # ---- as text

    def __str__(self) -> str:
        lines = formula(self.to_program(), _shown_names(self.symbols))
        if len(lines) > ROWS:
            lines = [*lines[: ROWS // 2], f"... {len(lines) - ROWS} lines left out", *lines[-ROWS // 2 :]]
        return "\n".join(lines)

    def __repr__(self) -> str:
        text = str(self)
        if "\n" not in text:
            return text
        names = ", ".join(_shown_names(self.symbols))
        return f"<Expression of {names}: {count(self.to_program()[0].size, 'node')}>"

    def __format__(self, spec: str) -> str:
        if spec:
            raise no_value("formatting an expression as a number", "Write f'{e}', or format e.evaluate.")
        return str(self)


class ArrayExpression(Expression):
    """An expression whose value is an array. What is here would make NumPy take a scalar one for a sequence."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(np.empty(self.shape, np.bool_)) if not self.ndim else self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        return record_call(operator.getitem, (self, index))

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(len(self))])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise no_value(
            "making a plain array of an expression (np.asarray, assignment into an ndarray)",
            "Build it with np.stack, np.concatenate or np.where, or use e.evaluate.",
        )

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise TracedValueError(
            f"an expression never changes ({here()}), so nothing can be assigned to its items. Make a new one, with "
            "np.where, np.stack or np.concatenate."
        )

    def _in_place(self, other: Any) -> NoReturn:
        raise TracedValueError(f"an expression never changes ({here()}). Write x = x + y, which makes a new one.")

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = __imatmul__ = _in_place


KINDS[:] = Expression, ArrayExpression


def _program(roots: list[Expression], symbols: tuple[Expression, ...]) -> Program:
    layout = Layout(roots, symbols)
    window = (0, layout.size, 0, 0)
    tape = Tape(layout.graph, window, layout.inputs, layout.outputs, "primal", len(roots) == 1)
    tape._arguments = tuple(str(symbol.name) for symbol in symbols)
    return Program([tape])


def _zeros(shape: tuple[int, ...]) -> Any:
    return np.zeros(shape) if shape else 0.0


def _shown_names(symbols: tuple[Expression, ...]) -> list[str]:
    """The names of symbols; different ones of one name are counted."""
    names: list[str] = []
    for symbol in symbols:
        name, k = str(symbol.name), 2
        while name in names:
            name, k = f"{symbol.name}'{k}", k + 1
        names.append(name)
    return names


def symbols(names: str, shape: int | tuple[int, ...] = ()) -> Any:
    """Symbols, from which expressions are made.

    Parameters
    ----------
    names : str
        One name, or several separated by spaces or commas.
    shape : int or tuple of int, optional
        The shape of each symbol; () for floats. The dtype is float64.

    Returns
    -------
    Expression or tuple of Expression
        A tuple for several names, and for one name followed by a comma. Each call makes new symbols, even for the same
        names. Symbols of different calls and threads can be combined in one expression.

    Raises
    ------
    ArgumentError
        If `names` is not a string, contains no name, a name that is not an identifier, or a name twice.
    ShapeError
        If `shape` is not a shape.

    Notes
    -----
    Cost: a microsecond per symbol. An operation takes some tens of microseconds, its replay nanoseconds.

    Branches: an expression has no value, so ``if x > 0`` raises: choose with ``np.where``. Everything else of NumPy
    that hoad supports works on expressions: functions, methods, indexing, ``np.stack`` and object arrays.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> x, y = hoad.symbols("x y")
    >>> e = np.where(x > 0, x * y, 0.0)
    >>> e.gradient({x: 2, y: 3}) == {x: 3.0, y: 2.0}
    True
    >>> A = hoad.symbols("A", shape=(2, 2))
    >>> np.linalg.det(A).derivative(A).evaluate({A: np.array([[1.0, 2.0], [3.0, 4.0]])})
    array([[ 4., -3.],
           [-2.,  1.]])
    """
    if not isinstance(names, str):
        raise ArgumentError(f"symbols takes names in one string, such as 'x y', not {type(names).__name__}.")
    found = names.replace(",", " ").split()
    wrong = [name for name in found if not name.isidentifier()]
    if wrong or not found:
        problem = f"{wrong[0]!r} is not an identifier" if wrong else "there is no name in the string"
        raise ArgumentError(f"symbols takes names such as 'x y', but {problem}.")
    if len(set(found)) < len(found):
        raise ArgumentError(f"symbols was given a name twice: {names!r}. Name each once.")
    dimensions = (shape,) if isinstance(shape, (int, np.integer)) else shape
    try:
        checked = tuple(operator.index(n) for n in dimensions)
    except TypeError:
        raise ShapeError(f"symbols takes a shape as an int or a tuple of ints, not {shape!r}.") from None
    if any(n < 0 for n in checked):
        raise ShapeError(f"symbols was given a shape with a negative dimension: {shape!r}.")
    aval = intern_aval(FLOAT64, checked)
    made = tuple(make(None, (), name, aval) for name in found)
    return made if len(made) > 1 or "," in names else made[0]
