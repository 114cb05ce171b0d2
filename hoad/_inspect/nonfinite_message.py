"""What the user is told of a nonfinite value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.graph.primitive import UFUNC, Primitive
from hoad._display.values import constant_text
from hoad._inspect.debug_nans import Mask, Test
from hoad._inspect.first_nonfinite import FirstNonfinite, Inner, Operation, operation_of, within_loop
from hoad._inspect.origin import Origin, Story, Taped, origin
from hoad._ops.primitives import ASTYPE, IDENTITY, INPUT
from hoad._transform.loops import Loop
from hoad.errors import NanError

ORDINALS = ("value", "first derivative", "second derivative", "third derivative")
OF_STRONG = {"·": "*", "×": "*", "÷": "/"}  # what a reader of NumPy knows in place of the symbols of strong products

POLE = "Choose what holds there with np.where, which is safe in derivatives too."
OVERFLOW = "It overflows: scale the numbers, or work with their logarithms."
DIVIDE = "Write np.where(y != 0, x / y, value), which is safe in derivatives too."
LOG = (
    "Write np.where(x > 0, np.log(x), value), which is safe in derivatives too; or np.log1p for 1 + x, np.logaddexp "
    "for sums of exponentials."
)
EXP = "Subtract the largest exponent first, or use np.logaddexp, np.expm1 or np.tanh."
DOMAIN = "Keep its argument within the domain, with np.clip."

# What helps where the value of an operation is not finite, and where a derivative of it is not: advice, which is this
# file's alone, by the names of NumPy.
OF_BOTH = {
    "divide": DIVIDE,
    **dict.fromkeys(("log", "log2", "log10", "log1p"), LOG),
    **dict.fromkeys(("exp", "exp2", "expm1", "cosh", "sinh"), EXP),
    **dict.fromkeys(("arcsin", "arccos", "arctanh", "arccosh"), DOMAIN),
}
OF_VALUES = OF_BOTH | {
    "sqrt": "Keep its argument from falling below 0: np.sqrt(np.maximum(x, 0.0)).",
    "power": "Take only integer powers of a negative base, and only powers >= 0 of 0; choose with np.where.",
    **dict.fromkeys(("multiply", "add", "subtract", "square", "sum", "matmul"), OVERFLOW),
}
OF_DERIVATIVES = OF_BOTH | {
    "sqrt": (
        "Its slope at 0 is infinite: np.hypot and np.linalg.norm have the subgradient 0 there; or write "
        "np.where(x > 0, np.sqrt(x), 0.0), which is safe in derivatives too."
    ),
    "power": (
        "At 0 a power has derivatives up to its exponent only, unless that is whole: write "
        "np.where(x > 0, x**y, 0.0), which is safe in derivatives too."
    ),
}


def nan_error(story: Story, nonfinite: FirstNonfinite, gave: str) -> NanError:
    """The error that tells of a nonfinite value; `gave` says what the computation gave."""
    if nonfinite.inner is None:
        return _told(story, nonfinite, gave, Origin(None, 0, None, None), [])
    return _inner_error(nonfinite, nonfinite.inner, gave, origin(story, nonfinite.node))


def loop_error(loop: Loop, values: Sequence[Any], which: int, items: Mask, test: Test, gave: str) -> NanError:
    """The error that tells of the nonfinite value within a loop on plain numbers, at items of one of its results."""
    passed, inner = within_loop(loop, values, which, items, test)
    if inner is not None:
        return _inner_error(None, inner, gave, Origin(here(), 0, None, None))
    if passed:
        return NanError(f"{gave}, but one of its inputs ({here()}) is already nan or infinite.")
    over = "inputs" if loop.is_parallel else "steps"
    return NanError(f"{gave}: a sum over its {over} overflows ({here()}). {OVERFLOW}")


def constant_error(gave: str) -> NanError:
    """The error that tells of a result that no operation computed."""
    return NanError(f"{gave}, a constant that depends on no argument. Compute it from finite numbers.")


def _inner_error(nonfinite: FirstNonfinite | None, inner: Inner, gave: str, outer: Origin) -> NanError:
    """Of a nonfinite value within a program, which may be within another."""
    within: list[str] = []
    while True:
        within += [inner.place] if inner.place else []
        story = Taped(inner.program, "a program", (), inner.transposed)
        # Of a call that a rule makes, the order is more than that of the program. A loop of values within a sweep is
        # none of those: it computes again what the loop has carried.
        is_call = nonfinite is not None and operation_of(nonfinite.graph, nonfinite.node).primitive.name == "call"
        order = max(0, outer.order - story.order(inner.program._last._end - 1)) if is_call else 0
        nonfinite, around = inner.nonfinite, Origin(outer.where, order, outer.mode if order else None, None)
        if nonfinite.inner is None:
            return _told(story, nonfinite, gave, around, within)
        found = origin(story, nonfinite.node)
        outer = Origin(found.where or outer.where, found.order + order, found.mode or around.mode, None)
        inner = nonfinite.inner


def _told(story: Story, nonfinite: FirstNonfinite, gave: str, outer: Origin, within: list[str]) -> NanError:
    x, found = operation_of(nonfinite.graph, nonfinite.node), origin(story, nonfinite.node)
    found = Origin(found.where or outer.where, found.order + outer.order, found.mode or outer.mode, found.swept)
    place = "".join(f", in {place}" for place in within)
    if nonfinite.operand is not None and found.mode is not None and x.primitive is not IDENTITY:
        error = _of_rule(nonfinite, x, found, gave, place)
    elif nonfinite.operand is not None or x.primitive is INPUT:
        error = _of_given(story, nonfinite, x, found, gave, place)
    else:
        error = _of_operation(nonfinite, x, found, gave, place)
    error.where, error.order, error.mode = found.where, found.order, found.mode
    return error


def _of_given(story: Story, nonfinite: FirstNonfinite, x: Operation, found: Origin, gave: str, place: str) -> NanError:
    """Of an input, or a constant, that was not finite before."""
    of_input = nonfinite.operand is None or x.primitive is IDENTITY
    value = x.value if nonfinite.operand is None else x.values[nonfinite.operand]
    index, number = _first(nonfinite.items, value)
    if of_input and place:
        told = f"an input{place} is already {_kind(number)}. Give finite ones"
    elif of_input:
        name = story.name(nonfinite.node)
        called = "a seed" if name is None else f"the argument {name}"
        told = f"{called}{_index(index) if index else ''} is already {_kind(number)}. Give a finite one"
    else:
        what = "a constant" if not np.shape(value) else f"item {_index(index)} of an array of shape {np.shape(value)}"
        told = f"{what} that {x.primitive.name} takes{_at(found)}{place} is already {_kind(number)}. Give a finite one"
    error = NanError(f"{gave}, but {told}.")
    error.operation, error.operands, error.result, error.index = "input", (), number, index
    return error


def _of_operation(nonfinite: FirstNonfinite, x: Operation, found: Origin, gave: str, place: str) -> NanError:
    index, number = _first(nonfinite.items, x.value)
    operands, primitive = _operands(x, index), x.primitive
    told = f"{_text(primitive, operands)} = {number!r}"
    if not _is_pointwise(x) and np.shape(x.value):
        told = f"item {_index(index)} of {_text(primitive, operands)} is {number!r}"
    elif index:
        others = int(nonfinite.items.sum()) - 1
        told += f", item {_index(index)} of shape {np.shape(x.value)}" + (f" and {others} more" if others else "")
    error = NanError(f"{gave}. {_appears(nonfinite, x, found, index, place)}: {told}. {_advice(nonfinite, x, found)}")
    error.operation, error.operands, error.result, error.index = primitive.name, operands, number, index
    return error


def _of_rule(nonfinite: FirstNonfinite, x: Operation, found: Origin, gave: str, place: str) -> NanError:
    """Of a constant that a rule, or a seed, puts into a derivative."""
    index, number = _first(nonfinite.items, x.values[nonfinite.operand or 0])
    told = f"a constant of the rule, or of the seed, is {_kind(number)} there"
    error = NanError(f"{gave}. {_appears(nonfinite, x, found, index, place)}: {told}. {POLE}")
    error.operation, error.operands, error.result, error.index = x.primitive.name, (number,), number, index
    return error


def _appears(nonfinite: FirstNonfinite, x: Operation, found: Origin, index: tuple[int, ...], place: str) -> str:
    """Of which derivative, on which line, in which sweep."""
    order = ORDINALS[found.order] if found.order < len(ORDINALS) else f"{found.order}th derivative"
    sweep = "" if found.mode is None else f", in the {found.mode} sweep"
    if found.swept is not None:
        rule = operation_of(nonfinite.graph, found.swept)
        sweep += f" through {_text(rule.primitive, _operands(rule, index))}"
    return f"It first appears in the {order}{_at(found)}{place}{sweep}"


def _advice(nonfinite: FirstNonfinite, x: Operation, found: Origin) -> str:
    of_value = OF_VALUES.get(x.primitive.name, POLE)
    if found.swept is None:
        return of_value
    return OF_DERIVATIVES.get(operation_of(nonfinite.graph, found.swept).primitive.name, of_value)


def _first(items: Mask, value: Any) -> tuple[tuple[int, ...], Any]:
    """The index of the first item that counts, and the item."""
    k = int(np.argmax(items))
    index = tuple(int(i) for i in np.unravel_index(k, np.shape(value)))
    return index, np.ravel(value)[k].item()


def _operands(x: Operation, index: tuple[int, ...]) -> tuple[Any, ...]:
    """The operands; of an operation that works item by item, their items."""
    if not _is_pointwise(x):
        return tuple(x.values)
    shape = x.result.shape
    if len(index) != len(shape) or any(i >= n for i, n in zip(index, shape, strict=True)):
        return tuple(x.values)
    return tuple(None if value is None else np.broadcast_to(value, shape)[index].item() for value in x.values)


def _is_pointwise(x: Operation) -> bool:
    return bool(x.primitive.kind == UFUNC or x.primitive.elementwise or x.primitive is ASTYPE)


def _text(primitive: Primitive, operands: tuple[Any, ...]) -> str:
    """The operation on values, as a reader of NumPy knows it."""
    shown = [repr(x) if isinstance(x, (int, float, complex)) else constant_text(x) for x in operands]
    symbol = primitive.symbol
    if symbol is not None and len(shown) == 2:
        left, right = (f"({x})" if x.startswith("-") else x for x in shown)
        return f"{left} {OF_STRONG.get(symbol, symbol)} {right}"
    return f"{primitive.name if symbol is None else symbol}({', '.join(shown)})"


def _kind(x: Any) -> str:
    return "nan" if x != x else "-inf" if isinstance(x, float) and x < 0 else "inf"


def _index(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]"


def _at(found: Origin) -> str:
    return "" if found.where is None else f" at {found.where}"


def given(title: str, value: Any, items: Mask, placed: bool = True) -> str:
    """What a computation gave: ``"grad of f gave nan at [3]"``."""
    index, number = _first(items, value)
    return f"{title} gave {_kind(number)}{' at ' + _index(index) if index and placed else ''}"
