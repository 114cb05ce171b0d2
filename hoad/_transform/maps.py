"""Linear sweeps for many seeds at once: one node, a loop that carries nothing, over the sweep for one of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np

from hoad._core.graph.inspect import const_value, node_row, operand_avals
from hoad._core.graph.subgraph import varying_part
from hoad._core.graph.tape import AbstractValue, Graph, intern_aval
from hoad._core.kernels.ufuncs import mask, strong_multiply
from hoad._core.record.recording import Recording, differentiating, inline, lowered
from hoad._core.trace.traced import traced_node
from hoad._ops import primitives as prim
from hoad._program.program import Program
from hoad._program.tape import Tape
from hoad._transform.jacobian_pattern import Pattern, pattern_of
from hoad._transform.loops import Loop
from hoad._transform.programs import recorded

# What a node may have around it one by one: its adjoint has a result for each, and a node has at most 64 results.
MOST_HELD = 40

# Numbers of unit vectors that are kept as an array; more are made where they are needed.
MOST_UNITS = 1 << 14


class Map:
    """A linear sweep for the sum of the unit vectors with label k, times `unit`, as its seed; emitted once, for any k.

    What does not depend on k is to be computed outside the map, once, and differentiated there.
    """

    def __init__(
        self, recording: Recording, like: int, labels: Any, count: int, unit: complex, sweep: Callable[[int], list[int]]
    ) -> None:
        self._recording = recording
        self._labels, self._count = labels, count
        aval = recording.aval(like)
        self._is_unit = count == aval.size and unit == 1.0
        self._units = np.full(aval.shape, unit, aval.dtype if aval.inexact else np.float64)
        with differentiating(apart=True, repeated=True) as apart:
            seed = recording.unit_at(like, apart.operand(apart.input(0.0)), labels, unit)
            outputs = sweep(seed)
            recording.forget()  # what it emitted is about to be rewound
            self._whole = apart.cut([*outputs, seed], whole=True)

    @property
    def is_of_numbers(self) -> bool:
        """Whether most of the sweep are operations on numbers."""
        avals = operand_avals(self._whole.graph, list(range(len(self._whole.inputs), self._whole.window[1])))
        return 2 * sum(aval.ndim == 0 for aval in avals) > len(avals)

    def pattern(self) -> Pattern | None:
        """Which items of what the sweep gives may depend on which of the seed."""
        *outputs, seed = self._whole.outputs
        return pattern_of(self._whole.graph, seed, outputs)

    def rows(self) -> list[Any]:
        """For each operand that the sweep gives an array with a row for each k < count, the result of one node.

        They are traced, unless they owe nothing to a derivative around this one.
        """
        graph, (place, *held) = self._whole.graph, self._whole.inputs
        *outputs, seed = self._whole.outputs
        products = _products(graph, seed, self._whole.window[1]) if self._is_unit else {}
        diagonal = _diagonal(graph, seed, outputs, products)
        scaled = _scaled(graph, seed, outputs, list(products))
        part = varying_part(graph, [place, *products, *diagonal, *scaled], held, outputs)
        program = Program([Tape(part.graph, part.window, part.inputs, part.outputs, "primal", False)])
        given = [np.arange(float(self._count))]
        matrices = self._values_around([matrix for matrix, _ in products.values()])
        for x, (_, by_column), aval in zip(matrices, products.values(), program.input_types[1:], strict=False):
            given.append(np.reshape(np.transpose(x) if by_column else x, (self._count, *aval.shape)))
        around = self._values_around(part.outer)
        if diagonal or scaled:
            origins = list(products)
            multiplied = [1 + origins.index(origin) for origin in scaled.values()]
            units = self._unit_rows(program.input_types[len(given) : len(given) + len(diagonal)])
            program = self._multiplied(program, len(given), len(diagonal), multiplied, units)
            given += units
            ones = {origin: _ones(node_row(graph, origin)[3]) for origin in set(scaled.values())}
            factors = self._values_around(list(scaled), ones)
            around = [*self._values_around(diagonal, {seed: self._units}), *factors, *around]
        if len(around) > MOST_HELD:
            program, around = _packed(program, around, len(given))
        loop = Loop(program, "x" * len(given) + "k" * len(around), "y" * len(outputs), self._count)
        rows = loop(*given, *around)
        return self._recording.results([self._recording.operand(x) for x in rows])

    def _unit_rows(self, factors: Sequence[AbstractValue]) -> list[Any]:
        """An array with the unit vector for each k, in a list, where there are such factors of it and it is small."""
        labels = np.asarray(self._labels).reshape(-1)
        if not factors or labels.size * self._count > MOST_UNITS or any(not aval.is_float64 for aval in factors):
            return []
        found = (np.arange(self._count)[:, None] == labels).astype(float)
        return [found.reshape((self._count, *self._units.shape))]

    def _multiplied(self, program: Program, first: int, count: int, rows: list[int], units: list[Any]) -> Program:
        """The program whose inputs from `first` on are factors of what stood there, behind the unit vector if `units`.

        The first `count` of them are factors of the unit vector for k, the others of the inputs `rows`.
        """
        labels = np.asarray(self._labels, np.float64).reshape(self._units.shape)
        start = first + len(units)
        middle, end = start + count, start + count + len(rows)

        def multiplied(*inputs: Any) -> Sequence[Any]:
            if units:
                products = [strong_multiply(inputs[first], x) for x in inputs[start:middle]]
            else:
                is_seeded = inputs[0] == labels if count else None
                products = [mask(is_seeded, x) for x in inputs[start:middle]]
            for row, x in zip(rows, inputs[middle:end], strict=True):
                products.append(strong_multiply(np.reshape(inputs[row], np.shape(x)), x))
            values = [*inputs[:first], *products, *inputs[end:]]
            return inline(program._last._graph, list(program._last._outputs), program._input_nodes(), values)

        avals = list(program.input_types)
        of_units = [intern_aval(np.dtype(np.float64), self._units.shape)] * len(units)
        return recorded(multiplied, [*avals[:first], *of_units, *avals[first:]])

    def _values_around(self, operands: list[int], given: dict[int, Any] | None = None) -> list[Any]:
        """What does not depend on k, or not but by the nodes that are given values, recorded where the map will be."""
        graph, outer = self._whole.graph, self._whole.outer
        nodes = [k for k in operands if k >= 0]
        seeded, seeds = list(given or ()), list((given or {}).values())
        if not outer:
            found = iter(lowered(graph, nodes, seeded, 0).run(seeds))
        else:
            self._recording.results(outer, traced=True)  # emitted only so far, they have values now
            around = [traced_node(self._recording.graph, k) for k in outer]
            found = iter(inline(graph, nodes, [*self._whole.inputs[1:], *seeded], [*around, *seeds]))
        return [next(found) if k >= 0 else const_value(graph, k) for k in operands]


def _products(graph: Graph, seed: int, end: int) -> dict[int, tuple[int, bool]]:
    """The nodes that are a matrix times the unit vector `seed`: (a matrix, whether its columns are picked or its rows).

    So nothing is multiplied.
    """
    found: dict[int, tuple[int, bool]] = {}
    depends, units = {seed}, {seed}  # the latter with the shape of a column or a row
    for node in range(seed + 1, end):
        primitive, operands, _, aval, *_ = node_row(graph, node)
        if depends.isdisjoint(operands):
            continue
        depends.add(node)
        if primitive is prim.RESHAPE and operands[0] in units:
            units.add(node)
        elif primitive is prim.MATMUL and aval.ndim in (1, 2):  # no stack of matrices, which is not transposed so
            left, right = operands
            if right in units and left not in depends and _is_vector(graph, right, 0):
                found[node] = _turned(graph, left)
            elif left in units and right not in depends and _is_vector(graph, left, -1):
                found[node] = right, False
    return found


def _turned(graph: Graph, matrix: int) -> tuple[int, bool]:
    """A matrix whose columns are picked: what it is the transpose of, whose rows are; or itself, to be transposed."""
    if matrix >= 0:
        primitive, operands, *_ = node_row(graph, matrix)
        if primitive is prim.TRANSPOSE:
            return operands[0], False
    return matrix, True


def _diagonal(graph: Graph, seed: int, outputs: list[int], products: Container[int]) -> list[int]:
    """The nodes behind `outputs` that are the unit vector `seed` times a vector that does not depend on it.

    Each of its numbers is linear in the same number of the seed. Where one is made of another, the last is given.
    """
    shape = node_row(graph, seed)[3].shape
    found = _multiples(graph, seed, [seed], outputs)
    return _read([node for node in found if node_row(graph, node)[3].shape == shape], graph, seed, outputs, products)


def _scaled(graph: Graph, seed: int, outputs: list[int], products: list[int]) -> dict[int, int]:
    """The nodes behind `outputs` that are one of the `products` times a vector that does not depend on the seed.

    Of each, that product. Only where one multiplication takes the place of more operations.
    """
    found = _multiples(graph, seed, products, outputs)
    scaled: dict[int, int] = {}
    for origin in products:
        steps = [node for node, of in found.items() if of == origin and node_row(graph, node)[0] is not prim.RESHAPE]
        last = _read(steps, graph, seed, outputs, [other for other in products if other != origin])
        if len(last) < len(steps):
            scaled.update(dict.fromkeys(last, origin))
    return dict(sorted(scaled.items()))


def _multiples(graph: Graph, seed: int, origins: list[int], outputs: list[int]) -> dict[int, int]:
    """The nodes that are one of the `origins`, number by number, times what does not depend on the seed: which one."""
    depends = {seed}
    found: dict[int, int] = {origin: origin for origin in origins}
    for node in range(seed + 1, max([seed, *outputs]) + 1):
        primitive, operands, _, aval, *_ = node_row(graph, node)
        if depends.isdisjoint(operands):
            continue
        depends.add(node)
        origin = found.get(operands[0])
        if node in found or origin is None or aval.size != node_row(graph, origin)[3].size:
            continue
        is_sum = primitive in (prim.ADD, prim.SUBTRACT, prim.NEGATIVE) and {found.get(k) for k in operands} == {origin}
        is_product = primitive in _PRODUCTS and operands[1] not in depends
        if is_sum or is_product or primitive is prim.RESHAPE:
            found[node] = origin
    return {node: origin for node, origin in found.items() if node != origin}


_PRODUCTS = (prim.STRONG_MULTIPLY, prim.STRONG_MULTIPLY_BOTH, prim.STRONG_DIVIDE)


def _read(nodes: list[int], graph: Graph, seed: int, outputs: list[int], known: Container[int]) -> list[int]:
    """Those of the nodes that others behind `outputs` read, or that are outputs; what lies behind `known` aside."""
    found, needed, among = [], set(outputs), set(nodes)
    for node in range(max([seed, *outputs]), seed, -1):
        if node in needed and node in among:
            found.append(node)
        elif node in needed and node not in known:
            needed.update(node_row(graph, node)[1])
    return found[::-1]


def _ones(aval: AbstractValue) -> Any:
    return np.ones(aval.shape, aval.dtype)


def _is_vector(graph: Graph, node: int, axis: int) -> bool:
    """Whether a node is a vector, or a matrix of one column (along axis 0) or one row (along axis -1)."""
    shape = node_row(graph, node)[3].shape
    return len(shape) == 1 or (len(shape) == 2 and shape[-1 - axis] == 1)


def _packed(program: Program, held: list[Any], rows: int) -> tuple[Program, list[Any]]:
    """The program with what it holds of each inexact dtype side by side in one vector; what it holds.

    The first inputs take `rows`.
    """
    given, avals = list(program.input_types[:rows]), program.input_types[rows:]
    members: dict[Any, list[int]] = {}
    for k, aval in enumerate(avals):
        if aval.inexact:
            members.setdefault(aval.dtype, []).append(k)
    others = [k for k, aval in enumerate(avals) if not aval.inexact]
    vectors = [np.concatenate([np.reshape(held[k], (-1,)) for k in of_dtype]) for of_dtype in members.values()]
    sizes = [(dtype, sum(avals[k].size for k in of_dtype)) for dtype, of_dtype in members.items()]

    def unpacked(*inputs: Any) -> Sequence[Any]:
        first = rows + len(vectors)
        values: dict[int, Any] = dict(zip(others, inputs[first:], strict=True))
        for vector, of_dtype in zip(inputs[rows:first], members.values(), strict=True):
            bounds = itertools.accumulate((avals[k].size for k in of_dtype), initial=0)
            for k, (low, high) in zip(of_dtype, itertools.pairwise(bounds), strict=True):
                values[k] = np.reshape(vector[low:high], avals[k].shape)
        last = program._last
        ordered = [*inputs[:rows], *[values[k] for k in range(len(avals))]]
        return inline(last._graph, list(last._outputs), program._input_nodes(), ordered)

    types = [*given, *[intern_aval(dtype, (size,)) for dtype, size in sizes], *[avals[k] for k in others]]
    return recorded(unpacked, types), [*vectors, *[held[k] for k in others]]
