"""Functions that SciPy calls with plain numbers, and that may use traced values around them.

Each is recorded once for each branch that it takes. Its programs run with the numbers at hand: while a recording is
made, and again when that is replayed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hoad._core.base.frame_globals import Adopting, Apart, adopts
from hoad._core.graph.inspect import depends_on_inputs
from hoad._core.record.recording import differentiating
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.traced import is_traced, plain_value
from hoad._program.program import Program
from hoad._pytree.arguments import packed
from hoad._pytree.containers import Parts, Structure, flatten, parts_where
from hoad._transform.composite import captured_program
from hoad.errors import GuardError

Function = Callable[..., Any]


class Surroundings:
    """The traced values that a call depends on: those among its arguments, and those that functions use."""

    def __init__(self, args: Any) -> None:
        self.args, found = args_with_holes(args)
        self.values = found
        self.known = [plain_value(x) for x in found]
        self.count = len(found)  # of those among the arguments
        self.adopts = adopts()

    def add(self, values: list[Any]) -> range:
        """Where further values are among all."""
        start = len(self.values)
        self.values += values
        self.known += [plain_value(x) for x in values]
        return range(start, len(self.values))

    def arguments(self, numbers: Sequence[Any]) -> Any:
        """The arguments, with these in the place of the traced ones."""
        return self.args.filled(list(numbers[: self.count]))

    def forget(self) -> None:
        """Keep no traced value."""
        self.values, self.known = [], []


def args_with_holes(args: Any) -> tuple[Parts, list[Any]]:
    """Where traced values are among arguments, and which."""
    parts, found = parts_where(args, lambda x: is_traced(x) or (isinstance(x, np.ndarray) and holds_traced(x)))
    return parts, [packed(x) for x in found]


class Branch:
    """What a function did at some numbers: a program of these and of values around it, and the form of its result."""

    def __init__(self, program: Program, places: range, structure: Structure) -> None:
        self.program = program
        self.places = places
        self.structure = structure

    def __call__(self, numbers: Sequence[Any], *xs: Any) -> Any:
        """The result, for plain numbers or for traced ones."""
        found = self.program(*xs, *[numbers[k] for k in self.places])
        return self.structure.unflatten(list(found) if isinstance(found, tuple) else [found])


class Branches:
    """A function, as SciPy may call it."""

    def __init__(self, f: Function, around: Surroundings) -> None:
        self.f = f
        self.around = around
        self.found: list[Branch] = []
        self.depends = False  # on values around it

    def forget(self) -> None:
        """Keep the programs alone; of what depends on nothing around it, the function."""
        if self.depends:
            self.f = _forgotten

    def bound(self, numbers: Sequence[Any]) -> Function:
        """The function of plain numbers, for these values around it."""
        return functools.partial(self._value, numbers)

    def at(self, numbers: Sequence[Any], *xs: Any) -> Branch | None:
        """The branch that is taken at some plain numbers; None in a replay that comes to another one."""
        xs = tuple(map(as_input, xs))
        avals = [(np.shape(x), np.asarray(x).dtype) for x in xs]
        for branch in self.found:
            if [(x.shape, x.dtype) for x in branch.program.input_types[: len(xs)]] == avals:
                try:
                    branch.program.evaluate(*xs, *[numbers[k] for k in branch.places])
                except GuardError:
                    continue
                return branch
        return self._recorded(xs) if numbers is self.around.known else None

    def _value(self, numbers: Sequence[Any], *xs: Any) -> Any:
        xs = tuple(map(as_input, xs))
        for latest in self.found[:1]:
            try:
                found = latest.program.evaluate(*xs, *[numbers[k] for k in latest.places])
                return latest.structure.unflatten(found if isinstance(found, tuple) else (found,))
            except (GuardError, ValueError, TypeError):
                pass  # or of another shape
        if numbers is self.around.known and not self.depends:
            found, is_branched = self._outright(xs)
            if not is_branched and not any(map(is_leaf_traced, flatten(found)[0])):
                return found
            self.depends = True
        if not self.depends:
            return self.called(*xs)
        branch = self.at(numbers, *xs)
        if branch is None:
            return _forgotten()
        return branch(numbers, *xs)

    def _outright(self, xs: tuple[Any, ...]) -> tuple[Any, bool]:
        """The result, of which nothing is kept in the running recording; whether a branch is by values around it."""
        with differentiating(apart=True, repeated=True) as d:
            before = len(d.guarded())
            return self.called(*xs), len(d.guarded()) > before

    def called(self, *xs: Any) -> Any:
        """The function, called where the user's code is."""
        with Adopting() if self.around.adopts else Apart():
            return self.f(*[x.copy() if isinstance(x, np.ndarray) else x for x in xs])

    def _recorded(self, xs: tuple[Any, ...]) -> Branch:
        form: list[Structure] = []

        def flat(*traced: Any) -> list[Any]:
            leaves, structure = flatten(self.called(*traced))
            form[:] = [structure]
            return [packed(x) if holds_traced(x) else as_input(x) for x in leaves]

        program, captured = captured_program(flat, list(xs))
        branch = Branch(program, self.around.add(captured), form[0])
        self.found.insert(0, branch)
        return branch


def _forgotten(*_: Any) -> Any:
    raise GuardError(
        "a function that is given to SciPy takes a branch that it did not take when it was recorded. Record the "
        "program again at these inputs."
    )


def is_leaf_traced(x: Any) -> bool:
    return is_traced(x) or (isinstance(x, np.ndarray) and holds_traced(x))


def are_constants(values: list[Any]) -> bool:
    """Whether traced values depend on no input, as the arrays do not that adopted code makes."""
    if not values:
        return True
    with differentiating(apart=True) as d:
        return not any(depends_on_inputs(d.graph, d.operand(x)) for x in values)


def as_input(x: Any) -> Any:
    """A plain number or array as a program takes it."""
    if type(x) is float or is_traced(x):
        return x
    found = np.asarray(x)
    if found.ndim:
        return found.astype(float) if found.dtype.kind in "biu" else found
    return complex(x) if found.dtype.kind == "c" else float(x)
