"""The ways to a derivative of order n: a letter a step, ``f`` for a forward sweep and ``r`` for a reverse one."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import hoad

Function = Callable[..., Any]


def words(order: int) -> list[str]:
    """The modes of an order: pure forward, pure reverse, and both ways to alternate."""
    alternating = itertools.islice(itertools.cycle("fr"), order), itertools.islice(itertools.cycle("rf"), order)
    return sorted({"f" * order, "r" * order, *map("".join, alternating)})


def some_words(order: int, key: str) -> list[str]:
    """The modes of an order to 2; above, pure forward and another one, in turn: which, a key tells, as a name."""
    forward, *others = words(order)
    return [forward, *others] if order <= 2 else [forward, others[zlib.crc32(key.encode()) % len(others)]]


def pointwise(f: Function, word: str, operands: Sequence[int]) -> Function:
    """f, which acts element by element, differentiated by an operand for each letter."""
    for letter, k in zip(word, operands, strict=True):
        f = _forward_ones(f, k) if letter == "f" else _reverse_ones(f, k)
    return f


def _forward_ones(f: Function, k: int) -> Function:
    def tangent(*xs: Any) -> Any:
        ones = np.ones(np.shape(xs[k]), xs[k].dtype) if np.ndim(xs[k]) else _one_like(xs[k])
        return hoad.jvp(lambda x: f(*xs[:k], x, *xs[k + 1 :]), (xs[k],), (ones,))[1]

    return tangent


def _one_like(x: Any) -> Any:
    return 1.0 if isinstance(x, float) else np.ones((), x.dtype)


def _reverse_ones(f: Function, k: int) -> Function:
    return lambda *xs: hoad.grad(lambda *args: np.sum(f(*args)), argnums=k)(*xs)


def along(f: Function, word: str, directions: Sequence[Sequence[Any]]) -> Function:
    """The scalar function f differentiated along directions of all its arguments, one for each letter."""
    for letter, direction in zip(word, directions, strict=True):
        f = _forward(f, tuple(direction)) if letter == "f" else _reverse(f, tuple(direction))
    return f


def _forward(f: Function, direction: tuple[Any, ...]) -> Function:
    return lambda *xs: hoad.jvp(f, xs, direction)[1]


def _reverse(f: Function, direction: tuple[Any, ...]) -> Function:
    def contracted(*xs: Any) -> Any:
        gradients = hoad.grad(f, argnums=tuple(range(len(xs))))(*xs)
        return sum(np.sum(g * v) for g, v in zip(gradients, direction, strict=True))

    return contracted


def multi_indices(operands: int, order: int) -> Iterator[tuple[int, ...]]:
    """The operands to differentiate by, in order, for every partial derivative of an order."""
    return itertools.combinations_with_replacement(range(operands), order)
