"""hoad in one sitting: a NumPy function becomes a tape, the tape a derivative, and the derivative another one.

This is a model of what the compiled core does, for float64 numbers and arrays, some operations, and no branches. The
tapes that hoad makes with `simplify=False` are tested to be those made here, node by node, and all values bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

# ---- 1. Tapes
#
# A program is a list of tapes. The nodes of all its tapes are numbered in one sequence. An operand is the number of an
# earlier node, or a constant. So a tape can refer to the tapes before it, as a derivative refers to the values that it
# needs, and nodes can be computed from first to last. Nothing that has been recorded is ever changed.


class Constant:
    def __init__(self, value: Any) -> None:
        self.value = value


class Node(NamedTuple):
    operation: str
    operands: Sequence[Any]
    parameters: dict[str, Any]
    shape: tuple[int, ...]  # of the result


class Tape(NamedTuple):
    nodes: list[Node]
    inputs: list[int]
    outputs: list[Any]


class Graph:
    """The nodes of a program, and behind them those of a new tape."""

    def __init__(self, program: Iterable[Tape] = (), simplify: bool = False) -> None:
        self.nodes = [node for tape in program for node in tape.nodes]
        self.start = len(self.nodes)  # of the new tape
        self.simplify = simplify
        self.owned: set[int] = set()  # nodes of the new tape that are the adjoint or tangent of a node

    def shape(self, x: Any) -> tuple[int, ...]:
        return np.shape(x.value) if isinstance(x, Constant) else self.nodes[x].shape

    def emit(self, operation: str, *operands: Any, **parameters: Any) -> Any:
        """Append a node; its number."""
        shape = parameters["shape"] if parameters else np.broadcast_shapes(*map(self.shape, operands))
        if self.simplify:
            operation, operands = simplified(self, operation, list(operands), shape)
            if operation == "identity":
                return operands[0]
        self.nodes.append(Node(operation, operands, parameters, shape))
        return len(self.nodes) - 1

    def seal(self, outputs: list[Any]) -> Tape:
        inputs = [i for i in range(self.start, len(self.nodes)) if self.nodes[i].operation == "input"]
        return Tape(self.nodes[self.start :], inputs, outputs)

    def depending(self, inputs: Iterable[int]) -> set[Any]:
        """These nodes, and those that depend on them."""
        found = set(inputs)
        for i, node in enumerate(self.nodes):
            found.update(() if found.isdisjoint(node.operands) else (i,))
        return found

    def needed(self, outputs: Iterable[Any]) -> set[Any]:
        """These operands, and those that they depend on."""
        found = set(outputs)
        for i in reversed(range(len(self.nodes))):
            found.update(self.nodes[i].operands if i in found else ())
        return found


# ---- 2. Recording
#
# The function runs once, on objects that stand for nodes, in place of numbers and arrays. NumPy hands each operation on
# such an object to `__array_ufunc__`. This appends a node and returns an object that stands for it.


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    def __init__(self, graph: Graph, node: int) -> None:
        self.graph, self.node, self.shape = graph, node, graph.shape(node)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any) -> Traced:
        operands = [x.node if isinstance(x, Traced) else Constant(x) for x in inputs]
        return Traced(self.graph, self.graph.emit(ufunc.__name__, *operands))

    def to(self, shape: tuple[int, ...], operation: str, **parameters: Any) -> Traced:
        """The result of an operation that changes the shape."""
        return Traced(self.graph, self.graph.emit(operation, self.node, **parameters, shape=shape))

    def sum(self, axis: Any = None, out: None = None, keepdims: bool = False) -> Traced:
        axes = tuple(range(len(self.shape))) if axis is None else (axis,)
        return self.to(np.empty(self.shape).sum(axes, keepdims=keepdims).shape, "sum", axes=axes)


def record(f: Callable[..., Any], *xs: Any) -> list[Tape]:
    """The tape of f, for inputs of the shapes of `xs`."""
    graph = Graph()
    ys = f(*[Traced(graph, graph.emit("input", shape=np.shape(x))) for x in xs])
    outputs = [y.node if isinstance(y, Traced) else Constant(y) for y in (ys if isinstance(ys, tuple) else (ys,))]
    return [graph.seal(outputs)]


# ---- 3. Rules
#
# A rule takes the adjoint g of a result p, and the operands x, y. It returns the adjoint of each operand. It is written
# in traced operations, so what it records can be differentiated as any function can. It is linear in g.


def broadcast(x: Traced, axes: tuple[int, ...], shape: tuple[int, ...]) -> Traced:
    """x, the result of a sum over `axes`, at the shape that was summed."""
    kept = tuple(1 if d in axes else n for d, n in enumerate(shape)) if x.shape else ()
    x = x if x.shape == kept else x.to(kept, "reshape")
    return x if x.shape == shape else x.to(shape, "broadcast_to")


def sum_to(x: Traced, shape: tuple[int, ...]) -> Traced:
    """The sum over those axes that broadcasting from `shape` has added or stretched."""
    lead = len(x.shape) - len(shape)
    axes = tuple(d for d, n in enumerate(x.shape) if d < lead or n != shape[d - lead])
    return x.to(shape, "sum", axes=axes) if axes else x


RULES: dict[str, Callable[..., tuple[Any, ...]]] = {
    "identity": lambda g, p, x: (g,),
    "negative": lambda g, p, x: (-g,),
    "add": lambda g, p, x, y: (g, g),
    "subtract": lambda g, p, x, y: (g, -g),
    "multiply": lambda g, p, x, y: (g * y, g * x),
    "divide": lambda g, p, x, y: (q := g / y, -(q * p)),
    "square": lambda g, p, x: (g * (2.0 * x),),
    "sqrt": lambda g, p, x: (g / (2.0 * p),),
    "exp": lambda g, p, x: (g * p,),
    "log": lambda g, p, x: (g / x,),
    "sin": lambda g, p, x: (g * np.cos(x),),
    "cos": lambda g, p, x: (-(g * np.sin(x)),),
    "sum": lambda g, p, x, axes, shape: (broadcast(g, axes, x.shape),),
    "reshape": lambda g, p, x, shape: (g.to(x.shape, "reshape"),),
    "broadcast_to": lambda g, p, x, shape: (sum_to(g, x.shape),),
}


def rule_template(graph: Graph, i: int, active: Sequence[bool]) -> Tape:
    """The rule of node i as a tape: from g, p, operands, and tangents for section 5, to adjoints; None means zero."""
    node, template = graph.nodes[i], Graph()
    shapes = [graph.shape(x) for x in node.operands]
    inputs = [Traced(template, template.emit("input", shape=s)) for s in (node.shape, node.shape, *shapes, *shapes)]
    adjoints = RULES[node.operation](*inputs[: 2 + len(shapes)], **node.parameters)
    return template.seal([sum_to(x, s).node if on else None for x, s, on in zip(adjoints, shapes, active, strict=True)])


def splice(graph: Graph, template: Tape, *inputs: Any) -> list[Any]:
    """Emit what the outputs of a template need, with these operands for its inputs; the operands for its outputs."""
    place = {None: None, **dict(zip(template.inputs, inputs, strict=False))}
    needed = Graph([template]).needed(template.outputs)
    for i, node in enumerate(template.nodes):
        if i in needed and i not in place:
            place[i] = graph.emit(node.operation, *[place.get(x, x) for x in node.operands], **node.parameters)
    return [place[x] for x in template.outputs]


# ---- 4. The reverse sweep
#
# From the last node to the first, a node that has an adjoint passes it on to its operands, by its rule. Contributions
# are added in this order (Griewank and Walther 2008, section 3.2). The sweep computes nothing: it emits nodes. (The
# tests of all of hoad's rules give it another `pull_back`.)


def own(graph: Graph, x: Any) -> Any:
    """A node that is the adjoint or tangent of one node only: x, or a copy if x is older or is one already."""
    if isinstance(x, Constant) or x < graph.start or x in graph.owned:
        x = graph.emit("identity", x)
    graph.owned.add(x)
    return x


def pull_back(graph: Graph, i: int, bar: dict[int, Any], depends: set[Any]) -> Iterable[tuple[Any, Any]]:
    """The operands of node i, each with what node i adds to its adjoint."""
    operands = graph.nodes[i].operands
    template = rule_template(graph, i, [x in depends for x in operands])
    return zip(operands, splice(graph, template, bar[i], i, *operands), strict=True)


def adjoint_sweep(graph: Graph, outputs: Any, seeds: Any, inputs: Any, pull_back: Any = pull_back) -> list[Any]:
    """The adjoints of the inputs, where those of the outputs are the seeds."""
    depends = graph.depending(inputs)
    bar: dict[Any, Any] = {}

    def add(x: Any, contribution: Any) -> None:
        if contribution is not None and x in depends:
            contribution = own(graph, contribution)
            bar[x] = own(graph, graph.emit("add", bar[x], contribution)) if x in bar else contribution

    for x, seed in zip(outputs, seeds, strict=True):
        add(x, seed)
    for i in reversed(range(len(graph.nodes))):
        if i in bar and i not in inputs:
            for x, contribution in pull_back(graph, i, bar, depends):
                add(x, contribution)
    return [bar.get(x) for x in inputs]


# ---- 5. The forward sweep
#
# A rule is linear in g: it multiplies g by the transposed Jacobian of its operation. A reverse sweep through the rule,
# with respect to g, multiplies by the Jacobian. So nobody has to write the rules of the forward sweep (Griewank and
# Walther 2008, section 3.1). That no g is left in them proves that the rule is linear.


def transposed(template: Tape) -> Tape:
    """From the same inputs to the tangent of the result."""
    graph = Graph([template], simplify=True)
    g, dots = template.inputs[0], template.inputs[-len(template.outputs) :]
    tangents = adjoint_sweep(graph, template.outputs, dots, [g])
    assert g not in graph.needed(tangents), "the rule is not linear in g"
    return Tape(graph.nodes, template.inputs, tangents)


def simplified(graph: Graph, operation: str, operands: list[int], shape: Any) -> tuple[str, list[int]]:
    """The same, bit by bit, as hoad writes it in transposed rules: in order, and signs and broadcasts moved outward."""
    for k, x in enumerate(operands):
        if graph.nodes[x].operation == "broadcast_to" and shape in map(graph.shape, operands[:k] + operands[k + 1 :]):
            operands[k] = graph.nodes[x].operands[0]  # the operation broadcasts by itself
    minus = {x: graph.nodes[x].operands[0] for x in operands if graph.nodes[x].operation == "negative"}
    if operation == "negative" and minus:
        return "identity", [minus[operands[0]]]
    if operation == "add" and operands[1] in minus:
        return "subtract", [operands[0], minus[operands[1]]]
    if operation in ("multiply", "divide") and minus and shape == ():  # for numbers only
        product = graph.emit(operation, *[minus.get(x, x) for x in operands])
        return "negative" if sum(x in minus for x in operands) == 1 else "identity", [product]
    return operation, sorted(operands) if operation in ("add", "multiply") else operands


def push_forward(graph: Graph, i: int, dot: dict[Any, Any]) -> Any:
    """The tangent of node i, from those of its operands."""
    operands = graph.nodes[i].operands
    dots = [dot.get(x) for x in operands]
    template = transposed(rule_template(graph, i, [x is not None for x in dots]))
    return splice(graph, template, None, i, *operands, *dots)[0]


def tangent_sweep(graph: Graph, inputs: Any, seeds: Any, outputs: Any, push_forward: Any = push_forward) -> list[Any]:
    """The tangents of the outputs, where those of the inputs are the seeds."""
    dot: dict[Any, Any] = dict(zip(inputs, seeds, strict=True))
    needed = graph.needed(outputs)
    for i, node in enumerate(list(graph.nodes)):
        if i in needed and i not in inputs and any(dot.get(x) is not None for x in node.operands):
            dot[i] = push_forward(graph, i, dot)
        if dot.get(i) is not None:
            dot[i] = own(graph, dot[i])
    return [dot.get(x) for x in outputs]


# ---- 6. Programs
#
# A sweep begins with seeds: values, None among them for zero, or "symbolic" for new inputs, which take any values.


def gradient(program: list[Tape], seed: Any) -> list[Tape]:
    """The program, and a tape of the adjoints of its function's inputs."""
    return grown(program, adjoint_sweep, program[-1].outputs, seed, program[0].inputs)


def tangent(program: list[Tape], seed: Any) -> list[Tape]:
    """The program, and a tape of the tangents of its last outputs."""
    return grown(program, tangent_sweep, program[0].inputs, seed, program[-1].outputs)


def grown(program: list[Tape], sweep: Any, seeded: list[Any], seed: Any, wanted: list[Any]) -> list[Tape]:
    graph = Graph(program)
    symbolic = [graph.emit("input", shape=graph.shape(x)) for x in seeded if isinstance(seed, str)]
    found = sweep(graph, seeded, symbolic or [None if x is None else Constant(x) for x in seed], wanted)
    outputs = [Constant(np.zeros(graph.shape(x))) if y is None else y for x, y in zip(wanted, found, strict=True)]
    return [*program, graph.seal(outputs)]


COMPUTE: dict[str, Any] = {name: getattr(np, name, None) for name in RULES} | {
    "identity": lambda x: x,
    "sum": lambda x, axes, shape: np.sum(x, axis=axes).reshape(shape),
    "reshape": lambda x, shape: np.reshape(x, shape),
}


def evaluate(program: list[Tape], *inputs: Any, compute: dict[str, Any] = COMPUTE) -> list[Any]:
    """The outputs of the last tape at other inputs: of the function, then of each tape. The function does not run."""
    given = iter(inputs)
    compute = compute | {"input": lambda shape: next(given)}
    values: dict[Any, Any] = {}
    for i, node in enumerate(Graph(program).nodes):
        operands = [x.value if isinstance(x, Constant) else values[x] for x in node.operands]
        values[i] = compute[node.operation](*operands, **node.parameters)
    return [x.value if isinstance(x, Constant) else values[x] for x in program[-1].outputs]
