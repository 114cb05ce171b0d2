"""Random programs, and what hoad and the model make differently of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from model import essay

import hoad

Shape = tuple[int, ...]

# Shapes that fit together: numbers, arrays, arrays without items.
NUMBERS: list[Shape] = [()]
ARRAYS: list[Shape] = [(), (1,), (3,), (1, 1), (1, 3), (2, 1), (2, 3), (4, 1, 3), (4, 2, 1)]
EMPTY: list[Shape] = [(), (1,), (3,), (1, 3), (0, 1), (0, 3)]

# hoad records even functions of a root, its square and its cosine, without the root. The model does not, and so a
# function has only either of them.
ROOTS: tuple[np.ufunc, ...] = (np.sqrt, np.negative, np.exp, np.log, np.sin, np.add, np.subtract, np.divide)
EVENS: tuple[np.ufunc, ...] = (*ROOTS[1:], np.cos, np.square, np.multiply, np.multiply)

# Where it simplifies, hoad joins whole factors: 2 (3 x) = 6 x. Those here are powers of two, so that no bit changes.
CONSTANTS = (0.5, -1.0, 1.0, 2.0, -0.75, 1.3, 0.0, -2.0)


class Step(NamedTuple):
    """An operation on values so far, given by their numbers, and on constants."""

    name: str
    function: Callable[..., Any]
    operands: tuple[Any, ...]


class RandomFunction:
    """A function of one to three inputs, numbers or arrays; `str` shows it."""

    def __init__(self, rng: np.random.Generator) -> None:
        family = (NUMBERS, ARRAYS, EMPTY)[rng.choice(3, p=(0.4, 0.5, 0.1))]
        self.shapes = [family[rng.integers(len(family))] for _ in range(rng.integers(1, 4))]
        self.steps: list[Step] = []
        ufuncs = ROOTS if rng.random() < 0.3 else EVENS
        shapes = list(self.shapes)
        for _ in range(rng.integers(1, 9)):
            step = _drawn_step(rng, ufuncs, shapes, family)
            ones = [np.ones(shapes[x]) if isinstance(x, int) else x for x in step.operands]
            shapes.append(np.shape(step.function(*ones)))
            self.steps.append(step)
        others = [int(rng.integers(len(shapes))) for _ in range(rng.integers(3))]
        self.outputs: list[Any] = [len(shapes) - 1, *(x if rng.random() < 0.9 else 0.5 for x in others)]

    def __call__(self, *xs: Any) -> tuple[Any, ...]:
        values = list(xs)
        for step in self.steps:
            values.append(step.function(*[values[x] if isinstance(x, int) else x for x in step.operands]))
        return tuple(values[x] if isinstance(x, int) else x for x in self.outputs)

    def __str__(self) -> str:
        rows = [f"v{k}: {shape}" for k, shape in enumerate(self.shapes)]
        for k, step in enumerate(self.steps, start=len(self.shapes)):
            rows.append(f"v{k} = {step.name}({_shown(step.operands)})")
        return "\n".join([*rows, f"return {_shown(self.outputs)}"])


def _drawn_step(
    rng: np.random.Generator, ufuncs: Sequence[np.ufunc], shapes: Sequence[Shape], family: Sequence[Shape]
) -> Step:
    """Operands are late values more often than early ones, so that programs are deep as well as wide."""
    a, b = (int(max(rng.integers(len(shapes), size=2))) for _ in range(2))
    if shapes[a] and rng.random() < 0.2:
        axis = None if rng.random() < 0.3 else int(rng.integers(len(shapes[a])))
        keepdims = bool(rng.random() < 0.5)
        if np.ones(shapes[a]).sum(axis=axis, keepdims=keepdims).shape in family:
            return Step(f"sum[{axis}, {keepdims}]", lambda x: np.sum(x, axis=axis, keepdims=keepdims), (a,))
    ufunc = ufuncs[rng.integers(len(ufuncs))]
    operands: list[Any] = [a, b][: ufunc.nin]
    if ufunc.nin == 2 and rng.random() < 0.3:
        is_array = shapes[b] and rng.random() < 0.5
        operands[rng.integers(2)] = rng.choice(CONSTANTS, shapes[b]) if is_array else float(rng.choice(CONSTANTS))
    return Step(ufunc.__name__, ufunc, tuple(operands))


def _shown(operands: Sequence[Any]) -> str:
    return ", ".join(f"v{x}" if isinstance(x, int) else repr(x) for x in operands)


def drawn(rng: np.random.Generator, shape: Shape) -> Any:
    x = rng.choice([-1.0, 1.0, 1.0], shape) * rng.uniform(0.2, 2.0, shape)
    return x if shape else float(x)


def drawn_seed(rng: np.random.Generator, shapes: Sequence[Shape]) -> Any:
    if rng.random() < 0.5:
        return "symbolic"
    return tuple(None if rng.random() < 0.15 else drawn(rng, shape) for shape in shapes)


# ---- the comparison -------------------------------------------------------------------------------------------------


@np.errstate(all="ignore")
def difference(rng: np.random.Generator) -> str | None:
    """What is different for a random function and derivatives of it to order 3, of both kinds; None if nothing is."""
    f = RandomFunction(rng)
    xs = [drawn(rng, shape) for shape in f.shapes]
    program, model = hoad.record(f, *xs), essay.record(f, *xs)
    done = f"{f}\nrecorded at {xs}"
    wrong = different_tapes(program, model) or different_values(rng, xs, program, program, model)
    for transform in rng.choice(["gradient", "tangent"], 3):
        if wrong is not None:
            return f"{done}\n{program}\n{wrong}"
        ends = model[-1].outputs if transform == "gradient" else model[0].inputs
        seed = drawn_seed(rng, [essay.Graph(model).shape(x) for x in ends])
        done += f"\n{transform}, seed {seed}"
        simplified = getattr(hoad, transform)(program, seed)
        program = getattr(hoad, transform)(program, seed, simplify=False)
        model = getattr(essay, transform)(model, seed)
        wrong = different_tapes(program, model) or different_values(rng, xs, program, simplified, model)
    return wrong and f"{done}\n{program}\n{wrong}"


def different_tapes(program: hoad.Program, model: list[essay.Tape]) -> str | None:
    """Where the nodes, inputs or outputs differ."""
    number = 0
    for tape, other in zip(program, model, strict=True):
        found: list[Any] = [(n.number, n.operation, _plain(n.operands), n.parameters, n.shape) for n in tape.nodes]
        wanted: list[Any] = []
        for node in other.nodes:
            number += 1
            parameters = {} if node.operation == "input" else node.parameters
            wanted.append((number, node.operation, _plain(node.operands, 1), parameters, node.shape))
        found.append((_plain(tape.inputs), _plain(tape.outputs)))
        wanted.append((_plain(other.inputs, 1), _plain(other.outputs, 1)))
        for one, two in itertools.zip_longest(found, wanted):
            if one != two:
                return f"hoad has {one}, the model {two}"
    return None


def _plain(operands: Sequence[Any], first: int = 0) -> list[Any]:
    """Nodes by their numbers, which hoad counts from 1; constants by their shapes and bits."""
    values = [x if isinstance(x, int) else np.asarray(x.value, np.float64) for x in operands]
    return [x + first if isinstance(x, int) else (x.shape, x.tobytes()) for x in values]


def _recorded(ufunc: np.ufunc) -> Callable[[Any], Any]:
    """A function as hoad computes it while it records: some kernels are its own, and with them the last bits."""
    return lambda x: hoad.record(ufunc, x)[0].nodes[-1].result


def _replayed(ufunc: np.ufunc) -> Callable[[Any], Any]:
    """A function as hoad computes it later: by its own kernels even where NumPy's loops are faster here."""
    return lambda x: hoad.record(ufunc, x).evaluate(x)


OWN_KERNELS = (np.exp, np.log, np.sin, np.cos)
RECORDED = essay.COMPUTE | {ufunc.__name__: _recorded(ufunc) for ufunc in OWN_KERNELS}
REPLAYED = essay.COMPUTE | {ufunc.__name__: _replayed(ufunc) for ufunc in OWN_KERNELS}


def different_values(
    rng: np.random.Generator, xs: list[Any], program: hoad.Program, simplified: hoad.Program, model: list[essay.Tape]
) -> str | None:
    """Where values differ: of all nodes at the point of recording, and of outputs replayed at another point."""
    seeds = [drawn(rng, aval.shape) for aval in program.input_types[len(xs) :]]
    nodes = [node for tape in program for node in tape.nodes]
    every_node = essay.Tape([], [], list(range(len(nodes))))
    at = [drawn(rng, aval.shape) for aval in program.input_types]
    values = essay.evaluate([*model, every_node], *xs, *seeds, compute=RECORDED)
    outputs = essay.evaluate(model, *at, compute=REPLAYED)
    for node, value in zip(nodes, values, strict=True):
        if node.result is not None and not _same(node.result, value, signs=True):
            return f"node {node.number} is {node.result!r}, not {value!r}"
    for replayed, signs in ((program, True), (simplified, False)):
        found = replayed.evaluate(*at)
        for k, value in enumerate(found if isinstance(found, tuple) else (found,)):
            if not _same(value, outputs[k], signs):
                return f"output {k} of\n{replayed}\nat {at} is {value!r}, not {outputs[k]!r}"
    return None


def _same(one: Any, other: Any, signs: bool) -> bool:
    """Equal, nan to nan. In a simplified tape a zero may have another sign, where terms of one sign cancel."""
    one, other = np.asarray(one), np.asarray(other)
    numbers = ~np.isnan(other)
    same = one.shape == other.shape and np.array_equal(one, other, equal_nan=True)
    return same and (not signs or np.array_equal(np.signbit(one[numbers]), np.signbit(other[numbers])))
