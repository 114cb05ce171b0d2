"""Truncated series and their arithmetic: operators, functions of NumPy and SciPy, and compositions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from hoad._core.base.where import here, name_of
from hoad._core.trace.traced import graph_of, is_traced
from hoad._pytree.arguments import packed
from hoad._series import recurrences
from hoad._series.domain import checked, pole
from hoad._series.functions import ENTRYWISE, OF_VALUES, check_polyval, coefficients_by_rules, refusal
from hoad._series.shapes import is_one_point, lifted, stacked, unified
from hoad.errors import ArgumentError, NoRuleError, ShapeError, TracedValueError

if TYPE_CHECKING:
    from typing_extensions import Self

S = TypeVar("S", bound="Arithmetic")

WEAK = (int, float, complex)  # whose type leaves the dtype of what they meet


class Arithmetic:
    """The coefficients of a series (n+1, S), each an array by itself, the point that it is about, and operators."""

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

    @classmethod
    def _made(cls, coefficients: tuple[Any, ...], point: Any) -> Self:
        """A series of what is known to fit, or is not a number at all, such as None in the place of a derivative."""
        made = cls.__new__(cls)
        made._coefficients, made._moves, made.point = coefficients, may_move(point), point
        return made

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
        given = [self._coefficients, *(x._coefficients if isinstance(x, Arithmetic) else (x,) for x in others)]
        return self._with_unified(checked(what, made, given))

    # ---- what is asked of those that meet

    def _is_about_that_of(self, other: Arithmetic) -> bool:
        """Whether each entry meets one about the same point."""
        if len(self.shape) == len(other.shape) and np.ndim(self.point) == np.ndim(other.point):
            return is_one_point(self.point, other.point)  # as they are: what is traced is compared as a node
        return is_one_point(lifted(self.point, len(self.shape)), lifted(other.point, len(other.shape)))

    def _check_point(self, other: Arithmetic) -> None:
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

    # ---- operators

    def __add__(self, other: Any) -> Any:
        return self._with_other(other, recurrences.added)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with_other(other, recurrences.subtracted)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        return self._times(other, operator.mul)

    __rmul__ = __mul__

    def __matmul__(self, other: Any) -> Any:
        return self._times(other, operator.matmul)

    def __rmatmul__(self, other: Any) -> Any:
        return self._times(other, lambda x, y: y @ x, is_left=False)

    def __truediv__(self, other: Any) -> Any:
        other = self._of(other)
        if isinstance(other, Arithmetic):
            start = _zeros(other._coefficients)
            if start:
                return self._divided_from(start, other)
            return self._with_other(other, recurrences.quotient)
        if not is_constant(other):
            return NotImplemented
        return self._checked("a quotient", lambda: [c / other for c in self._coefficients], other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._constant(other) / self if is_constant(other) else NotImplemented

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, Arithmetic):
            self._check_point(exponent)
            u, v = self._coefficients, exponent._coefficients
            return self._checked("s ** u", lambda: recurrences.power_of_series(u, v), exponent)
        if not is_constant(exponent):
            return NotImplemented
        if (
            not is_traced(exponent)
            and np.ndim(exponent) == 0
            and np.isfinite(exponent)
            and exponent == np.rint(np.real(exponent))
        ):
            return self._to_the(int(np.real(exponent)))
        u = self._coefficients
        return self._checked(
            f"s ** {shown(exponent)}", lambda: recurrences.power(u, exponent, u[0] ** exponent), exponent
        )

    def __rpow__(self, base: Any) -> Any:
        if not is_constant(base):
            return NotImplemented
        start, u = self._constant(base)[0], self._coefficients
        return self._checked(f"{shown(base)} ** s", lambda: recurrences.power_of_number(start, u), base)

    def __neg__(self) -> Self:
        return self._each(operator.neg)

    def __pos__(self: S) -> S:
        return self

    def __abs__(self) -> Self:
        if self.dtype.kind == "c":
            raise NoRuleError("abs of a complex series is not analytic. For |s|² on the real line, s * np.conj(s).")
        sign = np.sign(self[0])
        return self._each(lambda c: sign * c)

    def _refuse_order(self, other: object) -> NoReturn:
        raise _without_truth("<, <=, > or >=")

    __lt__ = __le__ = __gt__ = __ge__ = _refuse_order

    def _with_other(
        self, other: Any, operation: Callable[[Any, Any], list[Any]], checked_as: str = "a quotient"
    ) -> Any:
        other = self._of(other)
        if isinstance(other, Arithmetic):
            self._check_point(other)
        elif is_constant(other):
            other = self._constant(other)
        else:
            return NotImplemented
        u, v = self._coefficients, other._coefficients
        if operation in (recurrences.added, recurrences.subtracted):
            return self._with(operation(u, v))
        return self._checked(checked_as, lambda: operation(u, v), other)

    def _times(self, other: Any, times: Callable[[Any, Any], Any], is_left: bool = True) -> Any:
        other = self._of(other)
        if times is not operator.mul and is_constant(other) | isinstance(other, Arithmetic):
            self._check_not_mixed(is_left)
            if isinstance(other, Arithmetic):
                other._check_not_mixed(not is_left)
        if isinstance(other, Arithmetic):
            self._check_point(other)
            return self._with(recurrences.product(self._coefficients, other._coefficients, times))
        return self._each(lambda c: times(c, other)) if is_constant(other) else NotImplemented

    def _check_not_mixed(self, is_left: bool) -> None:
        """Raise for a factor of a matrix product that sums over entries about different points."""
        summed = len(self.shape) - (1 if is_left or len(self.shape) == 1 else 2)
        if np.ndim(self.point) > summed:
            raise ArgumentError(
                f"a product of matrices sums over entries, but these are about different points, {shown(self.point)}, "
                f"so that t is another variable in each ({here()}). Take a series about one point."
            )

    def _divided_from(self, start: int, other: Arithmetic) -> Self:
        """The quotient by a series that starts with the power tᵐ, of a degree lower by m."""
        first = min(len(self), len(other))
        above, below = self._coefficients[start:first], other._coefficients[start:first]
        skipped = (*self._coefficients[:start], *other._coefficients[:start])
        if any(map(is_traced, skipped)):
            raise ArgumentError(
                f"a quotient of series has one only where powers of t cancel, but the dividend starts with "
                f"{shown(self[0])}, a traced 0, which may not stay one, and the divisor with {shown(other[0])}. Take "
                "out powers of t first: TaylorSeries(s[1:], s.point) is s/t for a series that starts with 0."
            )
        zero = all(np.all(c == 0) for c in skipped)
        if not (zero and below and (is_traced(below[0]) or np.all(below[0] != 0))):
            raise pole(self[0], other[0])
        self._check_point(other)
        return self._checked("a quotient", lambda: recurrences.quotient(above, below), other)

    def _to_the(self, exponent: int) -> Self:
        if exponent == 0:
            return self._constant(np.ones(self.shape, self.dtype))
        if exponent < 0:
            found: Self = self._to_the(-exponent).__rtruediv__(1)
            return found
        return self._with(recurrences.whole_power(self._coefficients, exponent))

    # ---- functions of NumPy and SciPy

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            how = name_of(ufunc) + (f".{method}" if method != "__call__" else f"(..., {', '.join(kwargs)}=)")
            raise NoRuleError(f"{how} does not take a TaylorSeries. Its coefficients are an array: s.coefficients.")
        inputs = tuple(_unlisted(x) for x in inputs)
        if ufunc in BINARY:
            left, right = inputs
            if isinstance(left, Arithmetic):
                return getattr(left, f"__{BINARY[ufunc]}__")(right)
            return getattr(right, f"__r{BINARY[ufunc]}__")(left)
        if ufunc in UNARY:
            return UNARY[ufunc](self)
        if ufunc in recurrences.ELEMENTARY:
            return self._checked(f"{name_of(ufunc)}(s)", lambda: recurrences.ELEMENTARY[ufunc](self._coefficients))
        if ufunc in recurrences.ELEMENTARY_OF_TWO:
            u, v = _aligned(*inputs)
            return u._with_other(v, recurrences.ELEMENTARY_OF_TWO[ufunc], f"{name_of(ufunc)}(s, u)")
        if all(types.endswith("?") for types in ufunc.types):
            raise _without_truth(name_of(ufunc))
        return self._by_rules(name_of(ufunc), ufunc, inputs, {})

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        name = name_of(function)
        if function is np.where and len(args) == 3 and not isinstance(args[0], Arithmetic):
            u, v = _aligned(*args[1:])
            return u._with_other(v, lambda u, v: [np.where(args[0], x, y) for x, y in zip(u, v, strict=False)])
        if function not in OF_VALUES:
            raise refusal(name, args, kwargs, Arithmetic)
        if function is np.polyval:
            check_polyval(args, kwargs, Arithmetic)
        return self._by_rules(name, function, args, kwargs)

    def _by_rules(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Arithmetic:
        """The series of a function of the values of series, which has a rule."""
        among = [x for x in _leaves([args, list(kwargs.values())]) if isinstance(x, Arithmetic)]
        for other in among:
            among[0]._check_point(other)
        degree = min(s.degree for s in among)
        entrywise = function in ENTRYWISE or (isinstance(function, np.ufunc) and function.signature is None)
        if np.ndim(self.point) and not entrywise:
            raise NoRuleError(
                f"{name} mixes the entries of a series, but these are about different points, {shown(self.point)}, so "
                f"that t is another variable in each ({here()}). Take a series about one point."
            )

        def at(t: Any) -> Any:
            return function(*_evaluated(args, t), **{key: _evaluated(x, t) for key, x in kwargs.items()})

        given = [s._coefficients for s in among]
        found: Any = checked(f"{name} of a series", lambda: coefficients_by_rules(name, at, degree), given)
        if any(s.dtype.itemsize < (16 if s.dtype.kind == "c" else 8) for s in among):
            found = [c.astype(at(0).dtype) for c in found]  # t is float64
        return among[0]._with(found)

    # ---- values and compositions

    def __call__(self, t: Any) -> Any:
        """f(point + t) for the displacement t, which broadcasts against S, or is a series that starts with 0."""
        if isinstance(t, Arithmetic):
            first = t[0]
            if is_traced(first) or np.any(first != 0):
                raise ArgumentError(
                    f"s(u) puts the series u in the place of t, so its constant term must be the number 0, but is "
                    f"{shown(first)}: the series of s knows f only near its point. For f(g), take s about g[0], and "
                    "s.at(g)."
                )
            return self._after(t)
        if isinstance(t, (list, tuple)):
            t = np.asarray(t)
        check_broadcast("s(t)", "displacement", np.shape(t), self.shape)
        value = self._coefficients[-1]
        for c in self._coefficients[-2::-1]:
            value = value * t + c
        return value

    def _after(self, inner: S) -> S:
        """f of what an inner series adds to the point."""
        return inner._with(recurrences.composed(self._coefficients, inner._coefficients))


def is_constant(x: Any) -> bool:
    return is_traced(x) or isinstance(x, (*WEAK, np.ndarray, np.generic))


def shown(x: Any) -> str:
    """A number or an array as one writes it."""
    return repr(x) if is_traced(x) or x is None or np.ndim(x) else repr(np.asarray(x).item())


def may_move(point: Any) -> bool:
    return is_traced(point) or isinstance(point, np.ndarray)


def _aligned(x: Any, y: Any) -> tuple[Arithmetic, Any]:
    """The operands of a function of two, the first as a series."""
    return (x, y) if isinstance(x, Arithmetic) else (y._constant(x), y)


def check_broadcast(call: str, what: str, given: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Raise where places of this shape do not broadcast against coefficients of another."""
    try:
        np.broadcast_shapes(given, shape)
    except ValueError:
        indexed = f"[{', '.join([':', *['None'] * len(shape)])}])"
        raise ShapeError(
            f"{call} takes a {what} that broadcasts against the shape of s, {shape}, but was given shape {given}. For "
            f"the values of s at each of several, give them axes in front: {call[:-1]}{indexed}."
        ) from None


def _without_truth(asked: str) -> ArgumentError:
    """The error for what compares numbers."""
    return ArgumentError(
        f"{asked} of a TaylorSeries has no series, since it gives booleans ({here()}). Ask it of the value at the "
        "point, s[0], as in np.where(s[0] > 0, s, 0), or of the coefficients, s.coefficients."
    )


def _leaves(x: Any) -> Iterator[Any]:
    """What lists and tuples hold, however deep."""
    if isinstance(x, (list, tuple)):
        for item in x:
            yield from _leaves(item)
    else:
        yield x


def _evaluated(x: Any, t: Any) -> Any:
    """x with the values at t in the place of series."""
    if isinstance(x, Arithmetic):
        return x(t)
    if isinstance(x, (list, tuple)) and any(isinstance(leaf, Arithmetic) for leaf in _leaves(x)):
        return type(x)([_evaluated(item, t) for item in x])
    return x


def _unlisted(x: Any) -> Any:
    """A list as an array, or as a series of vectors where it holds series."""
    if not isinstance(x, (list, tuple)):
        return x
    if any(isinstance(leaf, Arithmetic) for leaf in _leaves(x)):
        return np.stack([_unlisted(item) for item in x])
    return np.asarray(x)


def _zeros(coefficients: tuple[Any, ...]) -> int:
    """How many of the first coefficients are numbers with a zero among them."""
    for k, c in enumerate(coefficients):
        if is_traced(c) or np.all(c != 0):
            return k
    return len(coefficients)


BINARY = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.divide: "truediv",
    np.matmul: "matmul",
    np.power: "pow",
    np.float_power: "pow",
}
UNARY: dict[np.ufunc, Callable[[Any], Any]] = {
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: operator.abs,
    np.fabs: operator.abs,
    np.reciprocal: lambda s: 1 / s,
}
