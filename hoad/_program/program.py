"""Programs: lists of sealed tapes that are evaluated, differentiated and shown."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NoReturn, Protocol, SupportsIndex, cast, overload

import numpy as np

from hoad._core.base.threads import check_threads
from hoad._core.base.where import here
from hoad._core.graph.inspect import callees, const_value, node_row, operand_avals
from hoad._core.graph.tape import AbstractValue
from hoad._core.kernels.native_call import NativeCall
from hoad._core.record.recording import compute_values, lowered, revalued
from hoad._core.runtime.engine import Lowered
from hoad._core.runtime.executable import Executable
from hoad._core.runtime.workspace import Call, offered
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.context import WATCHERS
from hoad._program.address import Address
from hoad._program.callee import Callee, Strong, called
from hoad._program.dependence_of_programs import Between, dependence
from hoad._program.pickling import dump, load, refusal, restoring, whole_number
from hoad._program.tape import Constant, Tape
from hoad._program.trace import recorder_among
from hoad._pytree.containers import spread
from hoad.errors import ArgumentError, DTypeError, ShapeError, TracedValueError, count


class Page(Protocol):
    """A page that notebooks show, and its HTML."""

    text: str

    def _repr_html_(self) -> str: ...


class Display(Protocol):
    """How programs are shown, by `hoad._display.formats`."""

    def table(self, program: Program, format: str, rows: int | None, ascii: bool) -> str: ...
    def records(self, program: Program, lines: bool) -> list[dict[str, Any]]: ...
    def to_dot(self, program: Program, values: bool, pairs: bool, direction: str) -> str: ...
    def explore(
        self, program: Program, file: Any, open: bool, limit: int, lines: bool, title: str | None
    ) -> Page | None: ...
    def html(self, program: Program) -> str: ...
    def svg(self, program: Program) -> str | None: ...


class Program(list[Tape], Callee):
    """A primal tape and the tapes derived from it; the last one has the outputs that `evaluate` returns.

    A list that cannot be changed. A slice is a program, and so is ``Program(tapes)``. `inputs` and `outputs` are
    numbers of nodes, as for a tape.

    Examples
    --------
    >>> import numpy as np
    >>> import hoad
    >>> program = hoad.record(lambda x: x * np.sin(x), 1.0)
    >>> program = hoad.gradient(program)
    >>> program.evaluate(0.0)
    0.0
    >>> len(program)
    2
    """

    # As a callee. The adjoint programs are those made so far.
    _described = "the adjoint of a program"
    _origin: tuple[Program, bool] | None = None  # of an adjoint: of what, and whether by the inputs it is linear in
    _omitted: frozenset[int] = frozenset()  # inputs that no output needs
    _strong: Strong = ()  # what is known of the seeds of an adjoint, if anything is

    def __init__(self, tapes: Iterable[Tape] = ()) -> None:
        super().__init__(tapes)
        self._adjoints: dict[tuple[bool, Strong, int], Program] = {}
        self._known_inputs: tuple[frozenset[int], list[int], tuple[AbstractValue, ...]] | None = None
        self._known_outputs: tuple[AbstractValue, ...] | None = None
        self._known_strong: dict[Any, Strong] = {}  # of derivatives of it, which may be forgotten since
        self._known_series: dict[Any, Any] = {}  # its Taylor arithmetic
        self._known_dependence: tuple[()] | tuple[Between | None] = ()  # once it was asked for
        self._executable: Executable | None = None  # the program made ready to be called
        self._takes_containers = False  # whether its arguments are taken apart, once it is ready

    _find_sensitivities: ClassVar[Callable[[Program, list[int] | None, Any, Any], list[Any]]]
    _derived: ClassVar[Any]
    _with_strong: ClassVar[Any]
    _strong_seeds: ClassVar[Any]
    _strong_results: ClassVar[Any]

    @property
    def inputs(self) -> tuple[int, ...]:
        """The numbers of all inputs: those of the function, then the symbolic seeds in order."""
        return tuple(k + 1 for k in self._input_nodes())

    @property
    def outputs(self) -> tuple[int | Constant, ...]:
        """The numbers of the outputs of the last tape; an output that depends on nothing is a constant."""
        return self._last.outputs

    @property
    def input_types(self) -> tuple[AbstractValue, ...]:
        """Shape and dtype of every input, in the order of `inputs`."""
        return self._inputs_of()[2]

    @property
    def output_types(self) -> tuple[AbstractValue, ...]:
        """Shape and dtype of every output, in the order of `outputs`."""
        if self._known_outputs is None:
            self._known_outputs = tuple(operand_avals(self._last._graph, list(self._last._outputs)))
        return self._known_outputs

    @property
    def _first(self) -> Tape:
        return self._tape(0)

    @property
    def _last(self) -> Tape:
        return list.__getitem__(self, -1) if self else self._tape(-1)

    def _tape(self, index: int) -> Tape:
        if not self:
            raise ShapeError("this program has no tapes. Record a function first: hoad.record(f, *args).")
        return list.__getitem__(self, index)

    def _input_nodes(self) -> list[int]:
        return self._inputs_of()[1]

    def _inputs_of(self) -> tuple[frozenset[int], list[int], tuple[AbstractValue, ...]]:
        """The inputs that are omitted, the nodes of the others, and their types: found once, and asked for often."""
        if self._known_inputs is None or self._known_inputs[0] is not self._omitted:
            nodes = [i for tape in self for i in tape._inputs if i not in self._omitted]
            types = tuple(operand_avals(self._last._graph, nodes)) if self else ()
            self._known_inputs = self._omitted, nodes, types
        return self._known_inputs

    def _dependence(self) -> Between | None:
        """Of each output and input, which items of the one depend on which of the other; None if that is too large."""
        if not self._known_dependence:
            last = self._last
            found = dependence(last._graph, last._end, self._input_nodes(), list(last._outputs))
            self._known_dependence = (found,)
        return self._known_dependence[0]

    def _check_chain(self, whole: bool = True) -> None:
        """Raise unless every tape is one that the last came of, in their order, and none with inputs is missing."""
        tape: Tape | None = self._last
        for own in reversed(self):
            if own is not tape:
                break
            tape = tape._parent
        else:
            if tape is None:
                return  # all of them, as they were derived
        tapes: list[Tape] = []
        tape = self._last
        while tape is not None:
            tapes.append(tape)
            tape = tape._parent
        ancestry = iter(reversed(tapes))
        for k, own in enumerate(self):
            if not any(tape is own for tape in ancestry):
                raise ShapeError(
                    f"tape {k + 1} of this program is not one that its last tape was derived from, or is in the "
                    "wrong place. A program is a result of record or gradient, or a slice of one, in order."
                )
        kept = set(map(id, self))
        for k, tape in enumerate(reversed(tapes)):
            if whole and id(tape) not in kept and set(tape._inputs) - self._omitted:
                raise ShapeError(
                    f"this program lacks tape {k + 1}, from which its last tape was derived and whose inputs it needs. "
                    "Keep it in the list; a slice without it can only be printed."
                )

    def _lowered(self, varying: list[bool] | None = None) -> Lowered:
        """The program made ready to run, with lanes for the inputs that vary over them."""
        tape = self._last
        found = tape._lowered
        asked = self._input_nodes(), varying
        if found is None or found[0] != asked:
            self._check_chain()
            found = (asked, lowered(tape._graph, list(tape._outputs), asked[0], tape._guards, varying))
            tape._lowered = found
        return found[1]

    def evaluate(self, *args: Any, threads: int | None = None) -> Any:
        """The outputs of the last tape at new inputs, replayed by compiled code.

        Parameters
        ----------
        *args : float, array or container of these
            The arguments of the function, then the symbolic seeds in their order (one for each number or array), with
            the recorded shapes and structures.
        threads : int, optional
            The largest number of threads for operations on large arrays: see `hoad.jit`. The results do not depend on
            it.

        Returns
        -------
        float, ndarray, container or tuple of these
            The outputs of the last tape: the value of the function, or derivatives, one for each argument.

        Raises
        ------
        ShapeError
            If the number or the shapes of the inputs are not as recorded.
        DTypeError
            If an input does not consist of real numbers.
        GuardError
            If the function would take another branch at these inputs.
        TracedValueError
            If an input is traced: call the program instead.
        ArgumentError
            If `threads` is not a number of threads.

        Notes
        -----
        Cost: some nanoseconds per node, and 0.3 microseconds for the call if the inputs are floats and arrays of the
        recorded dtypes. Programs of some thousand numbers or more run without the GIL, in many threads at once.

        Examples
        --------
        >>> import hoad
        >>> hoad.record(lambda x, y: x * y, 1.0, 1.0).evaluate(2.0, 3.0)
        6.0
        """
        if threads is not None:
            check_threads("evaluate", threads)
        executable = self._executable or self._prepared()
        if self._takes_containers:
            args = self._leaves(args)
        watchers = WATCHERS.get()
        try:
            if not watchers:
                return executable.call(args, threads)
            values = executable.run(args, threads)
        except (TracedValueError, DTypeError):
            self._refuse_traced(args)
            raise
        watchers[-1].replayed(self, args, values)
        return self._last._arranged(values)

    def address(self, *, threads: int | None = None, python: bool = False) -> Address:
        """The addresses of a C function that runs the program, and of its data.

        Parameters
        ----------
        threads : int, optional
            The largest number of simultaneous calls, each with a workspace of its own; others wait. The default is the
            number of cores.
        python : bool, optional
            True to accept a program that calls Python: one with primitives written in Python, or with loops that call
            these or run for seconds. Its calls wait for the GIL, which their thread may already hold.

        Returns
        -------
        Address
            Keep it alive as long as C code calls the program.

        Raises
        ------
        ArgumentError
            If the program calls Python and `python` is not set, or `threads` is not a number of threads.
        DTypeError
            If an input or an output is neither float64 nor complex128 nor a single boolean.
        ShapeError
            If the tapes do not belong together.

        Notes
        -----
        Cost: a workspace for each thread. A call adds some tens of nanoseconds to the operations of the program. It
        allocates no memory and, unless the program calls Python, does not take the GIL.

        Examples
        --------
        >>> import hoad
        >>> hoad.record(lambda x, y: x * y, 1.0, 1.0).address()
        <Address: 2 numbers in, 1 number out>
        """
        return Address(self._lowered(), threads, python)

    def _leaves(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arguments, and seeds behind them, with containers taken apart as recorded."""
        takes = self._last._takes
        if takes is None:
            return args
        if len(args) < len(takes):
            given = f"{len(args)} {'was' if len(args) == 1 else 'were'} given"
            raise ShapeError(f"this program takes {count(len(takes), 'argument')}, but {given}.")
        leaves, names = spread(args[: len(takes)], takes, [f"argument {k}" for k in range(len(takes))])
        for leaf, name, aval in zip(leaves, names, self.input_types, strict=False):
            if np.shape(leaf) != aval.shape:
                raise ShapeError(
                    f"{name} must have shape {aval.shape}, as recorded, but has shape {np.shape(leaf)}. Record the "
                    "function at that shape."
                )
        return (*leaves, *args[len(takes) :])

    def _entered(self, values: tuple[Any, ...]) -> tuple[Program, tuple[Any, ...]]:
        return self, values

    def _native(self, *avals: AbstractValue) -> NativeCall | None:
        lowered = self._lowered()
        return offered(lowered, Call(lowered)) if avals == self.input_types else None

    def _run(self, args: tuple[Any, ...], threads: int | None = None) -> list[Any]:
        """The outputs of the last tape, one for each number or array, from as many inputs."""
        try:
            return (self._executable or self._prepared()).run(args, threads)
        except (TracedValueError, DTypeError):
            self._refuse_traced(args)
            raise

    def _prepared(self) -> Executable:
        """The program made ready to be called."""
        tape = self._last
        arrange: Any = tape._arranged
        if tape._gives is None:
            arrange = None if tape._single else tuple
        self._takes_containers = tape._takes is not None
        self._executable = Executable(self._lowered(), arrange)
        return self._executable

    def _refuse_traced(self, args: tuple[Any, ...]) -> None:
        """Raise if one of these inputs is traced."""
        if holds_traced(args):
            raise TracedValueError(
                f"evaluate was given traced values ({here()}), but computes plain numbers. Call the program itself on "
                "them, program(x), which records the call."
            ) from None

    def sensitivity(self, node: int, seed: Any = None, at: Any = None) -> Any:
        """The adjoint of one node: the derivative of the outputs of the last tape with respect to its value.

        Parameters
        ----------
        node : int
            The number of a node, of any of the tapes.
        seed : None, float, array or tuple of them, optional
            The weight of each output, of its shape. The default is 1 for a single number.
        at : tuple, optional
            Inputs other than the recorded ones, as for `evaluate`. A single one needs no tuple.

        Returns
        -------
        float or array
            The derivative of Σ seed · output with respect to the value of the node, of its shape; 0 for a boolean or an
            integer.

        Raises
        ------
        ArgumentError
            If there is no such node, or the program was recorded without values and `at` is left out.
        ShapeError, DTypeError
            If a seed or an input has the wrong shape or dtype, or the outputs are several numbers without a seed.
        GuardError
            If the function would take another branch at these inputs.

        Notes
        -----
        Cost: a copy of the tapes, a reverse sweep down to the node, and a replay. The program does not change, so calls
        with different seeds are independent, also in many threads.

        Examples
        --------
        >>> import hoad
        >>> program = hoad.record(lambda x, y: (x * y) * (x * y), 2.0, 3.0)  # @1 and @2 are x and y, @3 and @4 x * y
        >>> program.sensitivity(3), program.sensitivity(1), program.sensitivity(3, seed=10.0, at=(1.0, 1.0))
        (6.0, 36.0, 10.0)
        """
        end = self._last._end
        if type(node) is bool or not hasattr(node, "__index__") or not 1 <= node <= end:
            raise ArgumentError(f"sensitivity takes the number of a node, 1 to {end}, not {node!r}.")
        return Program._find_sensitivities(self, [int(node) - 1], seed, at)[0]

    def sensitivities(self, seed: Any = None, at: Any = None) -> dict[int, Any]:
        """The adjoints of all nodes, by number: the derivatives of the outputs with respect to their values.

        Parameters
        ----------
        seed : None, float, array or tuple of them, optional
            The weight of each output, of its shape. The default is 1 for a single number.
        at : tuple, optional
            Inputs other than the recorded ones, as for `evaluate`. A single one needs no tuple.

        Returns
        -------
        dict
            For every node of the tapes, the result of `sensitivity`.

        Raises
        ------
        ArgumentError, ShapeError, DTypeError, GuardError
            As for `sensitivity`.

        Notes
        -----
        Cost: a copy of the tapes, one reverse sweep for all nodes together, and a replay. The program does not change.

        References
        ----------
        Griewank and Walther (2008), Evaluating Derivatives, section 3.2.

        Examples
        --------
        >>> import hoad
        >>> hoad.record(lambda x, y: x * y + x, 2.0, 3.0).sensitivities()
        {1: 4.0, 2: 2.0, 3: 1.0, 4: 1.0}
        """
        return dict(enumerate(Program._find_sensitivities(self, None, seed, at), 1))

    # ---- to be read

    @property
    def _display(self) -> Display:
        """A layer above this one, imported when a program is first shown."""
        return cast(Display, importlib.import_module("hoad._display.formats"))

    def inner(self, node: int) -> Program:
        """The program that a `call` node runs, with the values at the operands of that call.

        Parameters
        ----------
        node : int
            The number of the node, in any of the tapes.

        Returns
        -------
        Program
            The program, to be printed, explored and evaluated like any other. Inputs that its outputs do not need are
            left out of the call and have no value.

        Raises
        ------
        ArgumentError
            If there is no such node, or it is not a `call`.

        Notes
        -----
        Cost: a copy of the tables of its tapes; values are computed when they are first read.

        Examples
        --------
        >>> import hoad
        >>> square = hoad.record(lambda x: x * x, 1.0)
        >>> program = hoad.record(lambda x: square(x) + x, 3.0)
        >>> print(program)
        Tape 1 (primal): 3 nodes, input @1, output @3
          node                             value
          @1 = x                           3      input
          @2 = call(@1, program=<1 tape>)  9
          @3 = @2 + @1                     12     output
        <BLANKLINE>
        call(..., program=<n tapes>): runs a program of its own; program.inner(k) is that of @k
        >>> print(program.inner(2))
        Tape 1 (primal): 2 nodes, input @1, output @2
          node          value
          @1 = x        3      input
          @2 = @1 * @1  9      output
        """
        end = self._last._end
        if type(node) is bool or not hasattr(node, "__index__") or not 1 <= node <= end:
            raise ArgumentError(f"inner takes the number of a call node, 1 to {end}, not {node!r}.")
        compute_values(self._last._graph, 0, int(node))
        found = called_program(self._last, int(node) - 1)
        if found is None:
            operation = node_row(self._last._graph, int(node) - 1)[0].name
            raise ArgumentError(f"inner takes the number of a call node, but @{node} is {operation}.")
        return found[1]

    def _shown(self) -> Program:
        """The program itself, once it is known that its tapes belong together."""
        if self:
            self._check_chain(whole=False)
        return self

    def table(self, format: str = "plain", rows: int | None = 200, *, ascii: bool = False) -> str:
        """The tapes as tables, a row per node.

        A row shows the number of the node, its operation on numbered operands or the name of an input, its value at
        the point of recording (``?`` if there is none), whether it is an input or an output, and its recorded truth
        value if the function branched on it (``guard: was True``). In an adjoint tape it also shows the node whose
        sweep emitted it, and which adjoint it is.

        Parameters
        ----------
        format : {"plain", "markdown", "html"}, optional
            The format; ``print(program)`` prints plain text.
        rows : int or None, optional
            The largest number of rows to show of a tape, its first and last ones; None for all.
        ascii : bool, optional
            If True, write ``^1@2`` for ``∇¹@2``, ``.`` and ``:`` for ``·`` and ``÷``, and escapes for other characters
            outside ASCII. ``print(program)`` raises `UnicodeEncodeError` if the encoding of the output lacks these
            characters; ``print(program.table(ascii=True))`` never does.

        Returns
        -------
        str
            The text, without a newline at the end; for HTML, a fragment without scripts.

        Raises
        ------
        ArgumentError
            If the format is unknown, or `rows` is negative.
        ShapeError
            If the tapes do not belong together.

        Notes
        -----
        Cost: some tens of microseconds per row; the values of a tape are computed when it is first read.

        Examples
        --------
        >>> import hoad
        >>> program = hoad.record(lambda x, y: 4 * x * y, 2.0, 3.0)
        >>> print(program.table("markdown"))
        **Tape 1 (primal): 4 nodes, inputs @1, @2, output @4**
        <BLANKLINE>
        | node | value | |
        |:--|:--|:--|
        | `@1 = x` | `2` | input |
        | `@2 = y` | `3` | input |
        | `@3 = 4 * @1` | `8` | |
        | `@4 = @3 * @2` | `24` | output |
        """
        return self._display.table(self._shown(), format, rows, ascii)

    def records(self, lines: bool = False) -> list[dict[str, Any]]:
        """The nodes of all tapes as dictionaries, for pandas, JSON or your own code.

        Parameters
        ----------
        lines : bool, optional
            If True, find the user's line of scalar operations too, by running the recorded function once more. The
            lines of array operations are always known.

        Returns
        -------
        list of dict
            A dictionary for each node, in order, with the keys ``tape`` (counted from 1), ``kind``, ``node`` (its
            number), ``operation``, ``expression`` (as in the table), ``operands`` (numbers of nodes, and constants as
            `Constant`), ``parents`` (the numbers among these), ``parameters``, ``value`` (None if it has none),
            ``shape``, ``dtype``, ``input`` (its number as an input, counted from 1, or None), ``name`` (its name as an
            input, or None), ``outputs`` and ``output_names`` (tuples of its numbers and names as an output),
            ``adjoint`` (its name as an adjoint, or None), ``swept``, ``adjoint_of``, ``part`` (as in `TapeNode`),
            ``tangent`` and ``tangent_of`` (the same for a tangent tape), ``where`` (``"file:line"`` or None; for an
            adjoint node, the line of the node whose sweep emitted it) and ``guards`` (pairs: the value on which the
            function branched here, and its line).

        Raises
        ------
        ShapeError
            If the tapes do not belong together.

        Notes
        -----
        Cost: some tens of microseconds per node. With `lines`, the recorded function runs once, line by line as in a
        debugger. An unpickled program does not have its function.

        Examples
        --------
        >>> import hoad
        >>> program = hoad.gradient(hoad.record(lambda x, y: 4 * x * y, 2.0, 3.0), simplify=False)
        >>> rows = program.records()
        >>> rows[2]["expression"], rows[2]["parents"], rows[2]["value"]
        ('4 * @1', (1,), 8.0)
        >>> [row["adjoint"] for row in rows if row["kind"] == "adjoint"]
        ['∇@4', '∇@3', '∇@2', '∇@1']
        """
        return self._display.records(self._shown(), lines)

    def to_dot(self, *, values: bool = False, pairs: bool = True, direction: str = "TB") -> str:
        r"""The graph of the program in DOT, the language of Graphviz.

        Tapes are clusters, nodes are operations. An edge leads from an operand to the operation that uses it, with the
        position of the operand if their order matters.

        Parameters
        ----------
        values : bool, optional
            If True, show the value of every node at the point of recording.
        pairs : bool, optional
            If True, connect every adjoint to its node by a dotted edge.
        direction : {"TB", "LR", "BT", "RL"}, optional
            The direction of edges: top to bottom, left to right, or the reverse.

        Returns
        -------
        str
            The graph, for ``dot -Tsvg``, `graphviz.Source`, or any program that reads DOT.

        Raises
        ------
        ArgumentError
            If the direction is unknown.
        ShapeError
            If the tapes do not belong together.

        Notes
        -----
        Cost: some tens of microseconds per node. Graphviz itself takes seconds from about a thousand nodes on;
        `explore` can show more.

        Examples
        --------
        >>> import hoad
        >>> program = hoad.record(lambda x, y: x - y, 2.0, 3.0)
        >>> print(program.to_dot())
        digraph program {
          rankdir=TB;
          node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif", fontsize=11];
          edge [color="#66788a", arrowsize=0.7, fontname="sans-serif", fontsize=9];
          subgraph cluster_1 {
            label="Tape 1 (primal)"; labeljust=l; fontname="sans-serif"; style=rounded; color="#8aa0b4";
            n1 [label="@1 = x\ninput", fillcolor="#dcebfa"];
            n2 [label="@2 = y\ninput", fillcolor="#dcebfa"];
            n3 [label="@3 = @1 - @2\noutput", fillcolor="#fbe6cf"];
          }
          n1 -> n3 [headlabel="1"];
          n2 -> n3 [headlabel="2"];
        }
        """
        return self._display.to_dot(self._shown(), values, pairs, direction)

    def explore(
        self,
        file: str | os.PathLike[str] | None = None,
        *,
        open: bool = False,
        limit: int = 5000,
        lines: bool = True,
        title: str | None = None,
    ) -> Page | None:
        """An HTML page to explore the tapes, shown by a notebook or written to a file.

        All tapes are shown side by side, as tables and as a graph. Selecting a node shows its operands, its uses, its
        adjoint and every contribution to that, its tangent, its value and the user's line. The program that a `call`
        node runs opens from that node, with the values of that call. The page is a single file that needs no network
        and no library.

        Parameters
        ----------
        file : str or path, optional
            The file to write, such as ``"tape.html"``. An existing file is overwritten.
        open : bool, optional
            If True, open the page in the browser; without `file`, from a temporary file.
        limit : int, optional
            The largest number of nodes to show one by one. The tapes of a larger program are folded: a row for each of
            the user's lines if these are known, otherwise for each of some hundred parts of a tape. The page says so,
            and can open such rows. It contains 250 000 nodes, or `limit` if that is more; for larger programs, the
            first ones of each row.
        lines : bool, optional
            If True, find the user's line of scalar operations too, by running the recorded function once more.
        title : str, optional
            The title of the page; the name of the function by default.

        Returns
        -------
        Page or None
            Without `file`, an object that a notebook shows inline; its attribute `text` is the HTML. With `file`, None.

        Raises
        ------
        ArgumentError
            If `limit` is not positive.
        ShapeError
            If the tapes do not belong together.
        OSError
            If the file cannot be written.

        Notes
        -----
        Cost: some 20 microseconds and 30 bytes of the page per node. With `lines`, the recorded function runs once,
        line by line as in a debugger.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import hoad
        >>> program = hoad.gradient(hoad.record(lambda x, y: 4 * x * y, 2.0, 3.0), simplify=False)
        >>> page = pathlib.Path(tempfile.mkdtemp(), "tape.html")
        >>> program.explore(page)
        >>> page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
        True
        """
        return self._display.explore(self._shown(), file, open, limit, lines, title)

    def _repr_html_(self) -> str:
        """What a notebook shows: the tables, and the graph where Graphviz is at hand and the program is small."""
        return self._display.html(self._shown())

    def _repr_svg_(self) -> str | None:
        """The graph, where Graphviz is at hand and the program is small."""
        return self._display.svg(self._shown())

    # ---- as part of other programs, and as a list

    def __call__(self, *args: Any) -> Any:
        """As `evaluate`; on traced values, one `call` node, differentiated by the program's own adjoint."""
        executable = self._executable or self._prepared()
        leaves = self._leaves(args) if self._takes_containers else args
        if executable.takes(leaves):
            return self.evaluate(*args)
        if not holds_traced(leaves):
            record = recorder_among(leaves)
            return self.evaluate(*args) if record is None else record(self.__call__, args, {})
        return self._last._arranged(self._applied(leaves))

    def _applied(self, args: tuple[Any, ...]) -> list[Any]:
        """The outputs of the last tape, one for each number or array, as results of a `call` node."""
        for k, (value, aval) in enumerate(zip(args, self.input_types, strict=False)):
            if np.shape(value) != aval.shape:
                raise ShapeError(f"input {k} of this program has shape {aval.shape}, but {np.shape(value)} was given.")
        return list(called(self, args))

    @property
    def _is_odd(self) -> bool:
        last = self._last
        if last._odd is None:
            last._odd = all(callee._is_odd for callee in callees(last._graph, last._end))
        return last._odd

    def _forget(self) -> None:
        """Drop what was made of the program and can be made again."""
        self._adjoints = {}
        self._known_series = {}
        self._executable = None
        self._last._lowered = None

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Tape: ...
    @overload
    def __getitem__(self, index: slice, /) -> Program: ...
    def __getitem__(self, index: Any, /) -> Any:
        found = super().__getitem__(index)
        return Program(found) if isinstance(index, slice) else found

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Not available: a program never changes, since nodes of other programs run it and threads share it."""
        raise ArgumentError("a program never changes. Cut it, program[:1], or join tapes, hoad.Program([*a, tape]).")

    append = extend = insert = pop = remove = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse

    def copy(self) -> Program:
        """A list of the same tapes."""
        made = Program(self)
        made._fixed, made._linear, made._omitted = self._fixed, self._linear, self._omitted
        made._origin = self._origin
        return made

    def __reduce__(self) -> Any:
        if self:
            self._check_chain()
        extra = (self._fixed, self._linear, self._omitted, self._origin)
        return _restored, (dump(list(self)) if self else None, extra)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Program:
        return self.copy()  # tapes never change

    def _moved(self, inputs: dict[int, Any]) -> Program:
        """A program of the same operations with these values at its inputs, and all others computed from them."""
        last = self._last
        known = {i: value for i, value in inputs.items() if value is not None}
        graph = revalued(last._graph, last._end, last._guards, known)
        tapes: list[Tape] = []
        for tape in self:
            window = tape._start, tape._end, tape._first_guard, tape._guards
            parent = tapes[-1] if tapes else None
            moved = Tape(graph, window, list(tape._inputs), list(tape._outputs), tape.kind, tape._single, parent)
            moved._notes, moved._find_notes, moved._source = tape._notes, tape._find_notes, tape._source
            moved._names, moved._wrt = tape._named(), tape._wrt
            tapes.append(moved)
        made = Program(tapes)
        made._linear, made._omitted = self._linear, self._omitted
        return made

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"Program([{', '.join(map(repr, self))}])"


def called_program(tape: Tape, i: int) -> tuple[Program, Program] | None:
    """The program that node i runs, as it is and with its values there, as far as known; None if it runs none."""
    graph = tape._graph
    primitive, operands, params, *_ = node_row(graph, i)
    if not primitive.of_programs:
        return None
    values = tuple(node_row(graph, k)[4] if k >= 0 else const_value(graph, k) for k in operands)
    found = params[0]._entered(values)
    if found is None:
        return None
    program, values = found
    return program, program._moved(dict(zip(program._input_nodes(), values, strict=True)))


@restoring
def _restored(data: Any, extra: tuple[Any, ...]) -> Program:
    """A program out of a pickle."""
    tapes: list[Tape] = []
    if data is not None:
        graph, windows, (arguments, wrt) = load(data)
        for window, inputs, outputs, kind, single, *forms in windows:
            parent = tapes[-1] if tapes else None
            tapes.append(Tape(graph, window, list(inputs), list(outputs), kind, single, parent, *forms))
            tapes[-1]._wrt = wrt[len(tapes) - 1]
        tapes[0]._arguments = arguments
    program = Program(tapes)
    fixed, linear, omitted, origin = extra
    nodes = {i for tape in program for i in tape._inputs}
    if type(omitted) is not frozenset or not omitted <= nodes:
        raise refusal(f"it leaves out {omitted!r} of its inputs")
    if origin is not None and not (isinstance(origin[0], Program) and type(origin[1]) is bool):
        raise refusal(f"it is the adjoint of {origin!r}")
    size = len(nodes) - len(omitted)
    program._fixed = whole_number(fixed, 0, size, "the number of its fixed inputs")
    program._linear = whole_number(linear, 0, size - fixed, "the number of inputs that it is linear in")
    program._omitted, program._origin = omitted, origin
    return program
