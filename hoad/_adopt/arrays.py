"""What adopted code finds in the place of the module `numpy`: functions that make arrays of traced values, too."""

from __future__ import annotations

import functools
import itertools
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._adopt.conversions import NARROW
from hoad._adopt.modules import replace
from hoad._core.base.frame_globals import call_instead, writes_items
from hoad._core.base.where import here
from hoad._core.trace.coerce import holds_traced
from hoad._core.trace.context import running
from hoad._core.trace.traced import BOXING, FUNCTIONS, MAKERS, Scalar, is_traced, leaves_product, representing_as
from hoad._core.trace.views import as_written_to
from hoad._numpy.creation import started
from hoad._numpy.registry import as_traced
from hoad.errors import TracedValueError

# Of what they are given.
OF_ITEMS = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.require, np.fromiter)
# Arrays that may be filled with traced values; and others, which are if the code that asks for one assigns to items.
TO_BE_FILLED = (np.zeros, np.empty, np.zeros_like, np.empty_like)
TO_BE_CHANGED = (np.ones, np.full, np.eye, np.identity, np.ones_like, np.full_like)
# Functions of several arrays, whose lists are no arrays.
OF_SEVERAL = frozenset(
    """block broadcast_arrays choose column_stack concatenate dstack einsum einsum_path hstack lexsort meshgrid
    piecewise select stack vstack""".split()
)
CLASSES = (np.float64, np.float32, np.complex128, np.int64, np.int32, np.bool_)


def _of_items(function: Any) -> Callable[..., Any]:
    """A function like `np.asarray`, of nested lists of numbers and traced values, too."""
    maker = MAKERS[function]

    @functools.wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        if function is np.fromiter and args:  # a generator gives its items once
            count = kwargs.get("count", args[2] if len(args) > 2 else -1)
            args = (list(itertools.islice(args[0], count if count >= 0 else None)), *args[1:])
        x = args[0] if args else next(iter(kwargs.values()), None)
        of_objects = kwargs.get("dtype", args[1] if len(args) > 1 else None) in (object, "O")
        if kwargs.get("like") is None and not of_objects and holds_traced(x):
            if leaves_product(sys._getframe(1), x.ndim if is_traced(x) else 1):
                return _left_to(x)
            kwargs.pop("like", None)
            return maker(running(), *args, **kwargs)
        made = function(*args, **kwargs)
        return _written_to(made, sys._getframe(1)) if function is np.array else made

    return make


def _left_to(x: Any) -> Any:
    """What a sparse matrix is to take x for, so that Python asks it for their product."""
    if not is_traced(x):
        raise TracedValueError(
            f"a sparse matrix is multiplied by a {type(x).__name__} of traced numbers ({here()}). Write "
            "np.array(x) before."
        )
    return np.empty((), object)


@functools.wraps(np.arange)
def _arange(*args: Any, **kwargs: Any) -> Any:
    if kwargs.get("like") is not None or not holds_traced((*args, *kwargs.values())):
        return np.arange(*args, **kwargs)
    kwargs.pop("like", None)
    return MAKERS[np.arange](running(), *args, **kwargs)


def _to_be_filled(function: Any, always: bool) -> Callable[..., Any]:
    """A function like `np.zeros`, whose array traced values may be written to while a recording is made."""

    @functools.wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        fill_value = kwargs.get("fill_value", args[1] if len(args) > 1 else None)
        if function is np.full and holds_traced(fill_value):
            kwargs.pop("like", None)
            return MAKERS[np.full](running(), *args, **kwargs)
        if function is np.full_like and holds_traced(fill_value):
            return FUNCTIONS[np.full_like](*args, **kwargs)
        made = function(*args, **kwargs)
        return _written_to(made, None if always else sys._getframe(1))

    return make


def _written_to(made: Any, frame: types.FrameType | None) -> Any:
    """A plain array as one that traced values can be written to, if it is of floats, and code of the frame writes."""
    graph = running()
    plain = type(made) is np.ndarray and made.dtype.kind in "fc"
    if graph is None or not plain or not (frame is None or writes_items(frame)):
        return made
    return started(graph, made)


def _of_arrays(function: Any) -> Callable[..., Any]:
    """A function of arrays, which may be nested lists of numbers and traced values."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        made = function(*[_as_array(x) if type(x) in (list, tuple) else x for x in args], **kwargs)
        return as_written_to(made) if type(made) is Scalar and function in BOXING else made

    return call


def _as_array(x: Any) -> Any:
    """Nested lists with traced values in them as an array; others as they are."""
    return as_traced(x) if holds_traced(x) else x


def _beside(function: Any) -> Callable[..., Any]:
    """A comparison that an equal plain value does not pass, beside which it is not equal.

    It is one that code keeps from an earlier call, with what it computed then: a constant, with derivative zero.
    """

    @functools.wraps(function)
    def compare(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
        found = function(a, b, *args, **kwargs)
        if is_traced(a) == is_traced(b):
            return found
        margins = dict(zip(("rtol", "atol"), args, strict=False)) | kwargs
        is_narrow = margins.get("rtol", 1e-5) < NARROW and margins.get("atol", 0.0) < NARROW
        if (is_narrow or function is np.array_equal) and np.all(found):
            return np.zeros(np.shape(found), bool)[()] if function is np.isclose else False
        return found

    return compare


class Concatenator:
    """`np.r_` or `np.c_`, of traced values, too."""

    def __init__(self, plain: Any, joined: Callable[..., Any]) -> None:
        self.plain = plain
        self.joined = joined

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if not holds_traced(parts):
            return self.plain[key]
        return self.joined([self.plain[k] if isinstance(k, slice) else k for k in parts])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)


def _rows(parts: list[Any]) -> Any:
    return np.concatenate([_with_axes(x) for x in parts])


def _with_axes(x: Any) -> Any:
    return np.atleast_1d(_as_array(x))


def _columns(parts: list[Any]) -> Any:
    columns = [_with_axes(x) for x in parts]
    return np.concatenate([x[:, None] if x.ndim == 1 else x for x in columns], axis=-1)


def _numbers(cls: type[np.generic]) -> Callable[..., Any]:
    """What code calls that calls a class of numbers: of an array, NumPy makes an array of such numbers."""

    def convert(x: Any = 0.0, *args: Any) -> Any:
        if not is_traced(x):
            return cls(x, *args)
        made = x.astype(cls)
        if made.dtype.kind in "iu":
            return cls(np.asarray(made))
        return representing_as(made, cls(0)) if made.ndim == 0 else made

    return convert


def declare() -> None:
    others: list[tuple[Any, Any]] = [(function, _of_items(function)) for function in OF_ITEMS]
    others += [(function, _to_be_filled(function, True)) for function in TO_BE_FILLED]
    others += [(function, _to_be_filled(function, False)) for function in TO_BE_CHANGED]
    others.append((np.arange, _arange))
    others += [(function, _beside(function)) for function in (np.allclose, np.array_equal, np.isclose)]
    taken = {id(function) for function, _ in others}
    others += [
        (function, _of_arrays(function))
        for function in vars(np).values()
        if type(function) is type(np.sum) and function.__name__ not in OF_SEVERAL and id(function) not in taken
    ]
    others += [(np.r_, Concatenator(np.r_, _rows)), (np.c_, Concatenator(np.c_, _columns))]
    for part in (np.linalg, np.fft):
        functions = [x for x in vars(part).values() if callable(x) and not isinstance(x, type)]
        replace(part, [(x, _of_arrays(x)) for x in functions])
    for cls in CLASSES:
        call_instead(cls, _numbers(cls))
    replace(np, others)
