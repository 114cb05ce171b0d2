"""Random programs over assignment, views and arithmetic, that run on any kind of array.

A program is a list of (operation, seed). What an operation acts on is chosen by its seed among the arrays there are, by
their shapes alone, so that it is the same for arrays of NumPy, for traced ones and for object arrays of traced numbers:
on the last it is NumPy itself that assigns, and that says which array sees what.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Program = list[tuple[str, int]]
Rng = np.random.Generator
SHAPES = [(4,), (6,), (2, 3), (3, 2), (3, 3), (1, 4), (2, 1, 3), ()]
MOST = 12  # arrays


def kind_of(x: Any) -> str:
    return "" if type(x) is not np.ndarray else "object" if x.dtype == object else "plain"


def zeros(x: Any, shape: tuple[int, ...]) -> Any:
    """A new array of the kind of x."""
    if kind_of(x) == "object":
        made = np.empty(shape, dtype=object)
        made[...] = 0.0
        return made
    return np.zeros(shape, like=x) if kind_of(x) != "plain" else np.zeros(shape)


class State:
    """The arrays of a running program."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.arrays: list[Any] = [x * 1.0, zeros(x, (3, 3)), zeros(x, (6,))]

    def one(self, rng: Rng) -> Any:
        return self.arrays[rng.integers(len(self.arrays))]

    def add(self, made: Any) -> None:
        if is_array(made) or np.ndim(made) or not isinstance(made, float):
            if len(self.arrays) < MOST and hasattr(made, "shape") and (np.ndim(made) or is_array(made)):
                self.arrays.append(made)


def is_array(x: Any) -> bool:
    """Whether x is an array of no dimensions, and not a number."""
    return type(x).__name__ in ("ndarray", "Array")


def basic_index(rng: Rng, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Integers, slices of any step, new axes, an ellipsis."""
    index: list[Any] = []
    for n in shape[: rng.integers(len(shape) + 1)]:
        if n and rng.random() < 0.35:
            index.append(int(rng.integers(-n, n)))
        else:
            step = int(rng.choice([1, 1, 1, 2, -1, -2]))
            ends = [None if rng.random() < 0.5 else int(rng.integers(-n - 1, n + 2)) for _ in range(2)]
            index.append(slice(*ends, step))
    if rng.random() < 0.2:
        index.insert(int(rng.integers(len(index) + 1)), None)
    if rng.random() < 0.3:
        index.append(...)
    return tuple(index)


def advanced_index(rng: Rng, shape: tuple[int, ...]) -> Any:
    """Arrays of integers, masks, mixtures with slices."""
    if not shape or 0 in shape:
        return ...
    if rng.random() < 0.3:
        return rng.random(shape) < 0.5
    if rng.random() < 0.3:
        return np.ix_(*[rng.integers(-n, n, size=rng.integers(1, 3)) for n in shape])
    index: list[Any] = [slice(None)] * len(shape)
    for d in rng.permutation(len(shape))[: rng.integers(1, len(shape) + 1)]:
        index[d] = rng.integers(-shape[d], shape[d], size=3)
    return tuple(index)


def fitting(state: State, rng: Rng, shape: tuple[int, ...]) -> Any:
    """A value that can be broadcast to a shape: a number, an item, an array that is there, or one of constants.

    None is an array of no dimensions, which an object array would take as one of its items.
    """
    choice = rng.integers(5)
    if choice == 0:
        return float(rng.choice([0.5, -0.0, 0.0, 2.0]))
    if choice == 1:
        return state.x[int(rng.integers(state.x.shape[0]))]
    if choice == 2:
        values = rng.choice([-1.0, -0.0, 0.5, 1.0], size=shape[rng.integers(len(shape) + 1) :])
        return values if values.ndim else float(values)
    for k in rng.permutation(len(state.arrays)):
        if fits(state.arrays[k].shape, shape):
            return state.arrays[k] if state.arrays[k].ndim else state.arrays[k][()]
    return np.sin(state.x[0])


def fits(own: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    if len(own) > len(shape):
        return False
    return all(m in (1, n) for m, n in zip(own[::-1], shape[::-1], strict=False))


def apart(value: Any) -> Any:
    """What is put at a mask or at fancy places: where it overlaps with them, NumPy reads some of it after writing."""
    return value.copy() if np.ndim(value) else value


def view(state: State, rng: Rng) -> None:
    a = state.one(rng)
    state.add(a[basic_index(rng, a.shape)])


def taken(state: State, rng: Rng) -> None:
    """What an index has copied out, beside another look at the same places."""
    a = state.one(rng)
    index = advanced_index(rng, a.shape)
    if rng.random() < 0.5:
        a[index] = apart(fitting(state, rng, np.empty(a.shape)[index].shape))
    found = a[index]  # whose order in memory NumPy takes from a
    state.add(found.copy("C") if np.ndim(found) else found)
    if len(state.arrays) < MOST and state.arrays[-1].ndim:
        state.arrays[-1] *= 0.5


def turned(state: State, rng: Rng) -> None:
    a = state.one(rng)
    axes = tuple(int(d) for d in rng.permutation(a.ndim))
    looks: list[Callable[[], Any]] = [
        lambda: a.T,
        lambda: np.transpose(a, axes),
        lambda: np.flip(a),
        lambda: np.expand_dims(a, 0),
        lambda: np.squeeze(a),
        lambda: np.atleast_2d(a),
        lambda: a.reshape((-1,) if a.size else (0,)),
        lambda: np.ravel(a),
        lambda: a.reshape((*a.shape[::-1],)),
        lambda: a.reshape(a.shape[::-1], order="F"),
        lambda: np.array_split(a, 2)[0] if a.ndim else a,
        lambda: a.swapaxes(0, -1) if a.ndim else a,
    ]
    state.add(looks[rng.integers(len(looks))]())


def assign(state: State, rng: Rng) -> None:
    a = state.one(rng)
    index = basic_index(rng, a.shape)
    a[index] = fitting(state, rng, np.empty(a.shape)[(*index, ...) if ... not in index else index].shape)


def assign_items(state: State, rng: Rng) -> None:
    a = state.one(rng)
    index = advanced_index(rng, a.shape)
    a[index] = apart(fitting(state, rng, np.empty(a.shape)[index].shape))


def in_place(state: State, rng: Rng) -> None:
    a = state.one(rng)
    value = fitting(state, rng, a.shape)
    how = rng.integers(4)
    if how == 0:
        a += value
    elif how == 1:
        a -= value
    elif how == 2:
        a *= value
    else:
        a /= 2.0


def in_place_items(state: State, rng: Rng) -> None:
    a = state.one(rng)
    index = advanced_index(rng, a.shape) if rng.random() < 0.5 else basic_index(rng, a.shape)
    a[index] += 0.5 * state.x[1]
    a[index] *= 0.5


def arithmetic(state: State, rng: Rng) -> None:
    a = state.one(rng)
    value = fitting(state, rng, a.shape)
    state.add(0.5 * a * a if rng.random() < 0.3 else a * value + 0.5)


def copied(state: State, rng: Rng) -> None:
    a = state.one(rng)
    state.add([lambda: a.copy(), lambda: np.copy(a), lambda: a.flatten(), lambda: +a][rng.integers(4)]())


def fresh(state: State, rng: Rng) -> None:
    state.add(zeros(state.x, SHAPES[rng.integers(len(SHAPES))]))


def functions(state: State, rng: Rng) -> None:
    a = state.one(rng)
    if not a.size:
        return
    item = state.x[2]
    square = next((b for b in state.arrays if b.ndim == 2 and b.size), state.arrays[1])
    calls: list[Callable[[], Any]] = [
        lambda: a.fill(0.5),
        lambda: np.fill_diagonal(square, 0.25),
        lambda: np.put(a, rng.integers(0, a.size, size=3), np.array([1.0, 0.5])),
        lambda: np.putmask(a, rng.random(a.shape) < 0.5, np.array([0.5, 2.0])),
        lambda: np.place(a, rng.random(a.shape) < 0.5, np.array([0.5, 2.0])),
        lambda: np.copyto(a, 0.5, where=rng.random(a.shape) < 0.5),
        lambda: a.flat.__setitem__(slice(0, None, 2), item),
        lambda: np.multiply.at(a, tuple(rng.integers(0, n, size=4) for n in a.shape), 0.5),
        lambda: np.add.at(a, tuple(rng.integers(0, n, size=4) for n in a.shape), 0.5),
        lambda: np.multiply(a, 0.5, out=a),
        lambda: np.add(a, 0.25, out=a, where=rng.random(a.shape) < 0.5),
        lambda: a.__setitem__(..., a[::-1] if a.ndim else a),
        lambda: np.put_along_axis(a, rng.integers(0, a.shape[0], size=(1, *a.shape[1:])), 0.5, 0) if a.ndim else None,
    ]
    calls[rng.integers(len(calls))]()


OPERATIONS: dict[str, Callable[[State, Rng], None]] = {
    f.__name__: f
    for f in (
        *(view, taken, turned, assign, assign_items, in_place, in_place_items),
        *(arithmetic, copied, fresh, functions),
    )
}


def run(program: Program, x: Any) -> list[Any]:
    """All arrays that are there when the program has run."""
    state = State(x)
    for name, seed in program:
        OPERATIONS[name](state, np.random.default_rng(seed))
    return state.arrays


def flattened(arrays: list[Any]) -> list[Any]:
    """Their items, one after the other."""
    items: list[Any] = []
    for a in arrays:
        items.extend(a.reshape(-1)[k] for k in range(a.size))
    return items
