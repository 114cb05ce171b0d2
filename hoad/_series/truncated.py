"""Coefficients about a point: what a truncated series is, and how others are made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.traced import graph_of, is_traced
from hoad._pytree.arguments import packed
from hoad._series.domain import checked
from hoad._series.shapes import is_one_point, lifted, stacked, unified
from hoad.errors import ArgumentError, TracedValueError

if TYPE_CHECKING:
    from typing_extensions import Self

WEAK = (int, float, complex)  # whose type leaves the dtype of what they meet


class Truncated:
    """The coefficients of a series (n+1, S), each an array by itself, and the point that it is about."""

    __slots__ = ("_coefficients", "_moves", "point")

    _coefficients: tuple[Any, ...]
    _moves: bool  # whether the point is a part of the container, which may be traced or hold many numbers
    point: Any

    # ---- what it is

    @property
    def coefficients(self) -> Any:
        """The coefficients as one array (n+1, S), traced where one of them is."""
        return stacked(self._coefficients)

    @property
    def degree(self) -> int:
        """The degree n, up to which the series is known."""
        return len(self._coefficients) - 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape S of its value, and of each coefficient."""
        return np.shape(self._coefficients[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of its coefficients."""
        found: np.dtype[Any] = self._coefficients[0].dtype
        return found

    def __len__(self) -> int:
        return len(self._coefficients)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._coefficients)

    def __getitem__(self, index: Any) -> Any:
        """Coefficient k, and what else an array (n+1, *S) of them gives."""
        if isinstance(index, (int, np.integer)):
            if not -len(self) <= index < len(self):
                raise IndexError(f"a series of degree {self.degree} knows no coefficient {index}")
            return self._coefficients[index]
        return self.coefficients[index]

    def _has_numbers(self) -> bool:
        """Whether the coefficients are plain, not traced, nor what stands for a derivative in a container."""
        return all(isinstance(c, (np.generic, np.ndarray)) and not is_traced(c) for c in self._coefficients)

    # ---- how others are made of it

    def _made(self, coefficients: tuple[Any, ...], point: Any) -> Self:
        """A series of what is known to fit."""
        raise NotImplementedError

    def _with(self, coefficients: Any) -> Self:
        """Another series about the same point."""
        return self._with_unified(unified(coefficients))

    def _with_unified(self, found: tuple[Any, ...]) -> Self:
        point = self.point
        shape = np.shape(found[0])
        if np.ndim(point) and shape != self.shape and len(shape) >= len(self.shape):  # shorter by what a product sums
            point = np.broadcast_to(lifted(point, len(self.shape)), shape)
        return self._made(found, point)

    def _each(self, function: Callable[[Any], Any]) -> Self:
        return self._with(function(c) for c in self._coefficients)

    def _constant(self, x: Any) -> Self:
        """A number or an array as a series, broadcast against S."""
        x = packed(x)
        x = x if is_traced(x) else np.array(x, np.result_type(self.dtype, x) if type(x) in WEAK else None)
        x = np.broadcast_to(x, np.broadcast_shapes(np.shape(x), self.shape))
        zero = np.zeros(np.shape(x), x.dtype)
        return self._with([x, *[zero] * self.degree])

    def _of(self, function: Any) -> Any:
        """The series of a Polynomial of NumPy, which is a function of x; anything else as it is."""
        if not any(cls.__module__.startswith("numpy.polynomial.") for cls in type(function).__mro__):
            return function
        point = np.broadcast_to(lifted(self.point, len(self.shape)), self.shape)
        return self._with(function.deriv(k)(point) / math.factorial(k) for k in range(len(self)))

    def _checked(self, what: str, made: Callable[[], Any], *others: Any) -> Self:
        """Another series about the same point, of which no coefficient may be undefined unless one is already."""
        given = [self._coefficients, *(x._coefficients if isinstance(x, Truncated) else (x,) for x in others)]
        return self._with_unified(checked(what, made, given))

    # ---- what is asked of those that meet

    def _is_about_that_of(self, other: Truncated) -> bool:
        """Whether each entry meets one about the same point."""
        if len(self.shape) == len(other.shape) and np.ndim(self.point) == np.ndim(other.point):
            return is_one_point(self.point, other.point)  # as they are: what is traced is compared as a node
        return is_one_point(lifted(self.point, len(self.shape)), lifted(other.point, len(other.shape)))

    def _check_point(self, other: Truncated) -> None:
        if not self._is_about_that_of(other):
            raise ArgumentError(
                f"series about {shown(self.point)} and {shown(other.point)} do not meet in one operation, since t "
                "is another variable in each. Take both about one point."
            )

    def _check_plain(self, method: str) -> None:
        found = next((c for c in self._coefficients if is_traced(c)), None)
        if found is None:
            return
        who, where = ("jit", "jit") if graph_of(found).is_guarded else ("a derivative", "what is differentiated")
        raise TracedValueError(
            f"TaylorSeries.{method} looks at the numbers behind the coefficients, but these are traced ({here()}), and "
            f"{who} would not see what is made of their numbers. Call it outside of {where}, or on hoad.value(s) where "
            "the result may be a constant."
        )


def is_constant(x: Any) -> bool:
    return is_traced(x) or isinstance(x, (*WEAK, np.ndarray, np.generic))


def shown(x: Any) -> str:
    """A number or an array as one writes it."""
    return repr(x) if is_traced(x) or x is None or np.ndim(x) else repr(np.asarray(x).item())
