"""A function recorded apart: a program behind one node, with the values it had."""

from __future__ import annotations

import collections
import contextlib
import weakref
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from hoad._comparison.plain_calls import compared
from hoad._core.graph.inspect import guard_rows
from hoad._core.graph.norms import replace_even_functions
from hoad._core.graph.primitive import rules_epoch
from hoad._core.graph.subgraph import Subgraph
from hoad._core.graph.tape import AbstractValue
from hoad._core.kernels.native_call import NativeCall
from hoad._core.record.recording import Recording, differentiating, inline
from hoad._core.trace.calls import record_known
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import Scalar, guard_value, is_traced, traced_node
from hoad._program.callee import Callee, Strong, declare_call_of
from hoad._program.pickling import refusal, restoring, strong_zeros, truths
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad._program.trace import telling_of_objects
from hoad._pytree.containers import Parts, flatten, leaves_of
from hoad._transform.adjoint import adjoint_of, strong_results
from hoad.errors import count


class Apart:
    """What a function recorded when it was called apart from what runs around it, with these values as inputs."""

    def __init__(
        self,
        f: Callable[..., Any],
        values: Sequence[Any] = (),
        pick: Callable[[Recording, Any], int | None] | None = None,
        expanded: bool = False,
    ) -> None:
        pick = _new_operand if pick is None else pick
        with differentiating(apart=True) as d:
            self.operands = [d.operand(x) for x in values]  # of the values that became inputs
            with telling_of_objects:
                given = [d.input(x) for x in values]
                leaves, structure = flatten(compared(f, given, {}, "checkpoint"))
            del given
            leaves = [leaf if _is_new(d, leaf) else leaf.copy() for leaf in leaves]  # what it returns is new
            picked = [pick(d, leaf) for leaf in leaves]
            places = [k for k, operand in enumerate(picked) if operand is not None]
            self.parts = Parts(structure, leaves, places)  # what the function returned, without its results
            del leaves
            kept = [operand for operand in picked if operand is not None]
            found = replace_even_functions(d.graph, d.start, kept, expanded)
            self.segment = d.cut(found)  # what it recorded, cut out of the running graph
            self.values = [d.value(k) for k in found]  # as they were; None in a rule, where nothing has a value
            self.constants = [d.value(k) for k in self.segment.constants]  # the arrays that it captured
        self.graph = d.graph
        self.operand = d.operand  # of a plain value, in the running graph
        self.aval = d.aval

    def record(self, callee: Callee, operands: list[int]) -> Any:
        """One node for all of it; what the function returned, made of the results of the node."""
        primitive = declare_call_of(len(self.values))
        return self.parts.filled(record_known(self.graph, primitive, (callee,), operands, self.values))


def _is_new(d: Recording, leaf: Any) -> bool:
    """Whether a leaf is not a traced array of the recording around it."""
    return not is_traced(leaf) or not leaf.ndim or d.operand(leaf) >= d.start


def apart_from(args: Any, result: Any) -> Any:
    """A result of which no array shares memory with the arguments, as none does where it is recorded."""
    given = [x for x in leaves_of(args) if isinstance(x, np.ndarray) and not is_traced(x)]
    leaves, structure = flatten(result)
    found = [
        x.copy()
        if not is_traced(x) and isinstance(x, np.ndarray) and any(np.may_share_memory(x, a) for a in given)
        else x
        for x in leaves
    ]
    return result if all(a is b for a, b in zip(leaves, found, strict=True)) else structure.unflatten(found)


def _new_operand(d: Recording, leaf: Any) -> int | None:
    """The operand of something that was returned, if it is a value that the function computed, traced."""
    if is_traced(leaf) or (isinstance(leaf, np.ndarray) and holds_traced(leaf)):
        operand = d.operand(leaf)
        return operand if operand >= d.start else None
    return None


def captured_program(f: Callable[..., Any], values: Sequence[Any]) -> tuple[Program, list[Any]]:
    """The program of ``f(*values)``, a list of outputs, and the traced values around it that are its further inputs.

    What f gives must not be kept elsewhere, or nothing of the running recording is rewound.
    """
    with differentiating(apart=True, repeated=True) as d:
        traced = [d.input(x) for x in values]
        with telling_of_objects:
            made = f(*traced)
        outputs = replace_even_functions(d.graph, d.start, [d.operand(x) for x in made])
        del traced, made
        segment = d.cut(outputs, whole=True)
        graph = d.graph
    program = Program([Tape(segment.graph, segment.window, segment.inputs, segment.outputs, "primal", False)])
    return program, [traced_node(graph, k) for k in segment.outer]


Path = tuple[tuple[bool, Strong], ...]


def derived_avals(
    inputs: tuple[AbstractValue, ...], results: tuple[AbstractValue, ...], fixed: int, path: Path
) -> tuple[tuple[AbstractValue, ...], tuple[AbstractValue, ...], int]:
    """(inputs, results, inputs that it is linear in) of the adjoint of the adjoint ... of a program.

    The `path` says of each adjoint whether it is by the inputs that what it is of is linear in, or by the others; and
    what is known of its seeds.
    """
    linear = 0
    for by_linear, _ in path:
        seeds = tuple(aval for aval in results if aval.inexact)
        first = len(inputs) - linear
        chosen = inputs[first:] if by_linear else inputs[fixed:first]
        results = tuple(aval for aval in chosen if aval.inexact)
        inputs = (inputs[:first] if by_linear else inputs) + seeds
        linear = len(seeds)
    return inputs, results, linear


# Whether functions behind a checkpoint are recorded as if it were not there, by who asks for their structure.
UNFOLDED = ContextVar("hoad_unfolded", default=False)


class Stretch(Callee):
    """A program behind a `call` node, or a derivative of one, which is made whenever it is evaluated."""

    _described = "the adjoint of a call"

    def __init__(self, program: Program, path: Path = ()) -> None:
        self._program = program
        self._path = path
        self._strong = path[-1][1] if path else ()  # what is known of its seeds
        self._fixed = program._fixed
        self.input_types, self.output_types, self._linear = derived_avals(
            program.input_types, program.output_types, program._fixed, path
        )

    @property
    def _identity(self) -> Any:
        return id(self._program), self._path

    @property
    def _is_odd(self) -> bool:
        return self._program._is_odd

    def _derived(self, linear: bool) -> Stretch:
        return Stretch(self._program, (*self._path, (linear, ())))

    def _with_strong(self, strong: Strong) -> Stretch:
        return Stretch(self._program, (*self._path[:-1], (self._path[-1][0], strong)))

    def _strong_seeds(self) -> Strong:
        return self._strong or super()._strong_seeds()

    def _strong_results(self) -> Strong:
        if self._strong and all(self._strong):
            return (True,) * len(self.output_types)
        known, key = self._program._known_strong, (self._path, rules_epoch())
        if key not in known:
            known[key] = strong_results(self._made())
        return known[key]

    def _entered(self, values: tuple[Any, ...]) -> tuple[Program, tuple[Any, ...]]:
        return self._made(), values

    def _native(self, *avals: AbstractValue) -> NativeCall | None:
        return None if self._path else self._program._native(*avals)  # derivatives are not kept with what runs them

    def __reduce__(self) -> Any:
        return _restored, (self._program, self._path)

    def _made(self) -> Program:
        """The program itself."""
        _keep(self._program)
        return adjoint_along(self._path, self._program)

    def __repr__(self) -> str:
        return f"<{'adjoint of ' * len(self._path)}{count(self._program._last.size, 'node')}>"


def adjoint_along(path: Path, program: Program) -> Program:
    """The adjoint of the adjoint ... of a program."""
    for k, (linear, strong) in enumerate(path):
        program = adjoint_of(program, linear, k == 0, strong)
    return program


def checked_path(path: Any) -> Path:
    """A path out of a pickle."""
    if type(path) is not tuple:
        raise refusal(f"a derivative of a call is {path!r}")
    for by_linear, strong in path:
        truths((by_linear,), 1, "the kind of an adjoint")
        strong_zeros(strong, "the seeds of an adjoint")
    return path


@restoring
def _restored(program: Program, path: Any) -> Stretch:
    if not isinstance(program, Program):
        raise refusal(f"a call runs {program!r}")
    return Stretch(program, checked_path(path))


def hold_guards(program: Program, values: Sequence[Any]) -> None:
    """Let what is recorded hold only where a program of these values branches as it did."""
    last = program._last
    if not last._guards or not holds_traced(values):
        return
    guarded = [node for node, *_ in guard_rows(last._graph)[: last._guards]]
    for x in inline(last._graph, guarded, program._input_nodes(), list(values)):
        if not is_traced(x):
            continue
        if isinstance(x, Scalar):
            bool(x)
        else:
            guard_value(x)


# ---- programs in use ------------------------------------------------------------------------------------------------

# Programs by content, as long as something refers to them: segments that compute the same are one program. Entries of
# those that are gone go with the next one that is made. What notes them is not a Python, which the garbage collector
# would run wherever it does: an interrupt that came there would be lost.
_programs: dict[Any, weakref.KeyedRef[Any, Program]] = {}
_gone: collections.deque[Any] = collections.deque()

# Those evaluated last. The others forget what was derived from them, which costs more memory than they do.
_latest: collections.deque[weakref.ref[Program]] = collections.deque()
MOST_DERIVED = 8


def program_of(segment: Subgraph) -> Program:
    """The program of what was recorded."""
    content = segment.content()
    known = _programs.get(content)
    program = None if known is None else known()
    if program is None:
        single = len(segment.outputs) == 1
        program = Program([Tape(segment.graph, segment.window, segment.inputs, segment.outputs, "primal", single)])
        program._fixed = len(segment.constants)
        _leave_out_gone()
        _programs[content] = weakref.KeyedRef(program, _gone.append, content)
    return program


def _leave_out_gone() -> None:
    """Drop the entries of programs that nothing refers to."""
    while _gone:
        with contextlib.suppress(IndexError):  # another thread was faster
            gone = _gone.popleft()
            content = gone.key
            if _programs.get(content) is gone:
                _programs.pop(content, None)


def _keep(program: Program) -> None:
    """Let a program keep what is derived from it, and one that was not evaluated of late forget it."""
    this = weakref.ref(program)
    if any(known is this for known in tuple(_latest)):  # a copy: other threads may change it meanwhile
        return
    _latest.append(this)
    while len(_latest) > MOST_DERIVED:
        with contextlib.suppress(IndexError):  # another thread was faster
            former = _latest.popleft()()
            if former is not None:
                former._forget()
