"""Where a node comes from: the user's line, and which derivative it is of."""

from __future__ import annotations

from typing import Any, NamedTuple

from hoad._core.graph.inspect import swept_by
from hoad._core.graph.tape import Graph
from hoad._display.lines import find_lines
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad._pytree.arguments import Key, called
from hoad._pytree.containers import Forms, leaf_names

MODES = {"adjoint": "reverse", "tangent": "forward"}


class Origin(NamedTuple):
    """Of a node: its line, the order of the derivative it belongs to, the sweep, and the node whose rule emitted it."""

    where: str | None
    order: int
    mode: str | None
    swept: int | None


class Recorded:
    """The nodes of a running recording, and how messages call it."""

    def __init__(self, graph: Graph, asked: Any, inputs: list[int]) -> None:
        self._graph = graph
        driver, f, keys, forms = asked or ("this derivative", None, (), None)
        self.title = driver if f is None else f"{driver} of {name_of(f)}"
        self._names = dict(zip(inputs, input_names(f, keys, forms), strict=False))

    def swept(self, i: int) -> tuple[int, str] | None:
        """(the node whose sweep emitted node i, or -1; the mode of the sweep), None if it was recorded."""
        return swept_by(self._graph, i)

    def order(self, i: int) -> int:
        """The order of the derivative that a node of an unknown origin belongs to."""
        return 1

    def transposes(self, i: int) -> bool:
        """Whether node i is of a sweep that transposed a derivative, which makes it one in forward mode."""
        return False

    def where(self, i: int) -> str | None:
        """The user's line of a node that was recorded."""
        return self._graph.where(i)

    def name(self, i: int) -> str | None:
        """What the user calls an input; None for a seed."""
        return self._names.get(i)


class Taped:
    """The nodes of the tapes of a program, and how messages call it."""

    def __init__(self, program: Program, title: str, notes: Any = (), transposed: tuple[bool, ...] = ()) -> None:
        self._beyond = [int(note[0]) for note in notes]  # the node whose sweep emitted each node behind the tapes
        self._tapes: list[Tape] = []
        tape: Tape | None = program._last
        while tape is not None:
            self._tapes.insert(0, tape)
            tape = tape._parent
        self._transposed = [False] * (len(self._tapes) - len(transposed)) + list(transposed)  # of each tape
        first = self._tapes[0]
        f = first._source[0] if first._source is not None else None
        self.title = title if f is None else f"{title} of {name_of(f)}"
        keys = tuple(range(len(first._takes or first._inputs)))
        self._names = dict(zip(first._inputs, input_names(f, keys, first._takes), strict=False))
        self._lines: list[str | None] | None = None

    def swept(self, i: int) -> tuple[int, str] | None:
        depth = self.depth(i)
        if depth == len(self._tapes):
            return self._beyond[i - self._tapes[-1]._end], "reverse"
        tape = self._tapes[depth]
        if depth == 0:
            return swept_by(tape._graph, i)
        notes = (tape._note(k)[0] for k in range(i, tape._end))
        found = next((k for k in notes if k >= 0), -1)
        return found if found < i else -1, MODES[tape.kind]

    def depth(self, i: int) -> int:
        """Which tape node i belongs to, counted from 0; of nodes beyond the tapes, one more."""
        return next((k for k, tape in enumerate(self._tapes) if i < tape._end), len(self._tapes))

    def order(self, i: int) -> int:
        depth = self.depth(i)
        return depth - sum(self._transposed[: depth + 1])

    def transposes(self, i: int) -> bool:
        depth = self.depth(i)
        return depth < len(self._tapes) and self._transposed[depth]

    def where(self, i: int) -> str | None:
        first = self._tapes[0]
        found: str | None = first._graph.where(i)
        if found is None and i < first._end:
            if self._lines is None:
                self._lines = find_lines(Program([first]), again=True)[0]
            found = self._lines[i - first._start]
        return found

    def name(self, i: int) -> str | None:
        return self._names.get(i)


Story = Recorded | Taped


def origin(story: Story, i: int) -> Origin:
    """Where node i comes from: the line is that of the recorded node at the end of the chain of sweeps."""
    order, turned = 0, False
    mode: str | None = None
    swept: int | None = None
    k = i
    while (found := story.swept(k)) is not None:
        if found[0] < 0:
            mode = mode or ("forward" if turned else found[1])
            order += max(1, story.order(k))
            break
        if story.transposes(k):
            turned = True
        else:
            order += 1
            if order == 1:
                mode, swept = "forward" if turned else found[1], found[0]
        k = found[0]
    return Origin(story.where(k), order, mode, swept)


def name_of(f: Any) -> str:
    """What messages call a function."""
    name = getattr(f, "__name__", type(f).__name__)
    return "f" if name == "<lambda>" else name


def input_names(f: Any, keys: tuple[Key, ...], forms: Forms | None) -> list[str]:
    """What the user calls the inputs, leaf by leaf."""
    return leaf_names([called(f, key) for key in keys], forms)
