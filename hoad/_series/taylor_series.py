"""Truncated Taylor series with arithmetic."""

from __future__ import annotations

import math
import operator
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from hoad._core.trace.traced import is_traced
from hoad._pytree.arguments import packed
from hoad._pytree.containers import register_container
from hoad._series import recurrences
from hoad._series.arithmetic import WEAK, Arithmetic, check_broadcast, is_constant, may_move, shown
from hoad._series.domain import is_finite
from hoad._series.functions import check_not_in_library
from hoad._series.pade import PadeApproximant, approximant
from hoad._series.radius import radius_of
from hoad._series.shapes import checked_point, coefficients_of, displacement, is_one_point, lifted, stacked, unified
from hoad._series.text import Latex, about, lines, series
from hoad.errors import ArgumentError, DomainError, DTypeError, ShapeError

if TYPE_CHECKING:
    from numpy.polynomial import Polynomial

FLOAT_BITS = 1000  # of whole numbers that are floats
ROUNDING = 8.0  # units in the last place by which an inner function may miss the point of the outer one


class TaylorSeries(Arithmetic):
    """A truncated Taylor series f(point + t) = c₀ + c₁ t + ... + cₙ tⁿ + O(tⁿ⁺¹), with cₖ = f⁽ᵏ⁾(point)/k!.

    ``s(t)`` is its value at the displacement t, ``s.at(x)`` its value at x = point + t. With another series as
    argument, they compose: ``s(u)`` replaces t by u, whose constant term is 0, and ``s.at(g)`` is f(g), where the
    constant term of g is the point.

    Operators and NumPy functions return the series of their result, to the lower degree if degrees differ. Numbers and
    arrays are constants, a NumPy Polynomial is a function of x. Two series in one operation must be about the same
    point. A series never changes.

    Parameters
    ----------
    coefficients : array (n+1, S)
        The coefficients, with the order along the first axis; or a sequence of n+1 numbers or arrays (S). They may be
        traced: derivatives pass through all operations. Integers become float64; float32 and complex numbers keep their
        dtype.
    point : float or array (P), optional
        The expansion point; P is S, or its first axes.

    Attributes
    ----------
    coefficients : array (n+1, S)
        The coefficients as one array, traced if one of them is.
    degree : int
        The degree n up to which the series is known.
    shape : tuple of int
        The shape S of its value, and of each coefficient.
    dtype : dtype
        The dtype of the coefficients.
    point : float or array (P)
        The expansion point, where t is 0.

    Raises
    ------
    ShapeError
        If there is no coefficient, or the point has the wrong shape.
    DTypeError
        If the coefficients or the point are not numbers.
    ArgumentError
        If the coefficients are series.

    Notes
    -----
    Units: those of cₖ are those of f over the k-th power of those of x.

    Cost: sums take n operations on arrays (S); products, quotients, real powers and elementary functions n²;
    compositions and inverse functions n³.

    Singular points: if a result has a coefficient that is inf or nan and its operands have none, a DomainError is
    raised: for np.log and np.sqrt of a series whose constant term is 0, and for quotients by one, unless powers of t
    cancel. If coefficients are traced, those that do not exist are inf or nan, as in every derivative here. abs at 0 is
    0; conj, real and imag are those of the coefficients, for real t.

    NumPy and SciPy functions with a rule apply to the value: np.where, np.dot, np.polyval(p, s), scipy.special.erf.
    Functions that could also refer to the coefficients, such as np.sum, raise.

    Lists: NumPy converts each series in a list to an array, so np.array([s, u]) contains the coefficients of both, and
    so does a list that NumPy reads in C, as in np.add([s, u], 1.0): hoad cannot distinguish this from np.asarray(s).
    Where it can, as in np.sum([s, u]), it raises. Write sum([s, u]), or np.stack([s, u]) for a series of vectors.

    A series is a container. Its parts are the coefficients, and the point if that is traced or an array; a point that
    is a plain number is part of the structure.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 13.2. Knuth (1997), The Art of Computer Programming 2,
    section 4.7.

    Examples
    --------
    >>> import numpy as np
    >>> from hoad._series import TaylorSeries
    >>> x = TaylorSeries.variable(5)
    >>> print(np.exp(x))
    1 + t + t²/2 + t³/6 + t⁴/24 + t⁵/120 + O(t⁶)
    >>> print(np.sin(x) / x)
    1 - t²/6 + t⁴/120 + O(t⁵)
    >>> s = np.sin(TaylorSeries.variable(5, point=0.3))
    >>> print(s.truncate(2))
    0.29552 + 0.955336 t - 0.14776 t² + O(t³), t = x - 0.3
    >>> print(f"{s(0.01):.12f} {s.at(0.31):.12f} {np.sin(0.31):.12f}")
    0.305058636443 0.305058636443 0.305058636443
    """

    __slots__ = ()

    def __init__(self, coefficients: Any, point: Any = 0) -> None:
        _check_no_series(coefficients, point)
        self._coefficients = coefficients_of(coefficients)
        self.point = checked_point(point, self.shape)
        self._moves = may_move(self.point)

    @classmethod
    def variable(cls, degree: int, point: Any = 0.0) -> TaylorSeries:
        """The series of the variable x = point + t, from which functions are computed.

        Parameters
        ----------
        degree : int
            The degree, 0 or more.
        point : float or array (S), optional
            The expansion point.

        Returns
        -------
        TaylorSeries
            The series point + t + O(tⁿ⁺¹).

        Raises
        ------
        ArgumentError
            If the degree is not an integer, or negative.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad._series import TaylorSeries
        >>> print(1 / (1 - TaylorSeries.variable(3)))
        1 + t + t² + t³ + O(t⁴)
        """
        n = _whole("variable", "degree", degree)
        start = point if is_traced(point) else np.asarray(point)[()]
        start = start if start.dtype.kind in "fc" else start.astype(np.float64)
        one = np.ones(np.shape(start), start.dtype)[()]
        return cls([start, one, *[0 * one] * (n - 1)][: n + 1], point)

    # ---- what it is

    def derivatives(self) -> Any:
        """The derivatives f⁽ᵏ⁾(point) = k! cₖ of all orders.

        Returns
        -------
        array (n+1, S)
            The derivatives, the order first.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad._series import TaylorSeries
        >>> np.log1p(TaylorSeries.variable(4)).derivatives()
        array([ 0.,  1., -1.,  2., -6.])
        """
        return stacked([_times_factorial(c, k) for k, c in enumerate(self._coefficients)])

    def truncate(self, degree: int) -> TaylorSeries:
        """The series to a lower degree.

        Parameters
        ----------
        degree : int
            The new degree, at most that of the series.

        Returns
        -------
        TaylorSeries
            The series c₀ + ... + O(tᵐ⁺¹) of degree m.

        Raises
        ------
        ArgumentError
            If the degree is higher than that of the series, negative, or not an integer.

        Examples
        --------
        >>> from hoad._series import TaylorSeries
        >>> print(TaylorSeries([1.0, 2.0, 3.0]).truncate(1))
        1 + 2 t + O(t²)
        """
        m = _whole("truncate", "degree", degree)
        if m > self.degree:
            raise ArgumentError(
                f"truncate takes a degree of at most that of the series, {self.degree}, not {m}: of what comes after "
                "O(...) nothing is known. Take the series to a higher degree."
            )
        return self._with(self._coefficients[: m + 1])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the coefficients of a series become an array by a copy")
        asking = sys._getframe(1)
        if asking.f_globals.get("__name__") == "numpy.polynomial.polyutils":
            raise ArgumentError(  # Polynomial then leaves the operation to the series
                "a Polynomial of NumPy is one of x, and a TaylorSeries s one of t = x - point. As a Polynomial it is "
                "s.to_polynomial(); p(s) is sum(c * s**k for k, c in enumerate(p.convert().coef))."
            )
        check_not_in_library(asking)
        return np.asarray(self.coefficients, dtype)

    def __eq__(self, other: object) -> Any:
        """Whether degree, point and all coefficients are the same."""
        if not isinstance(other, TaylorSeries):
            return NotImplemented
        if len(self) != len(other) or self.shape != other.shape or not self._is_about_that_of(other):
            return False
        return all(bool(np.all(a == b)) for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as of other things that are compared by their numbers

    # ---- what it gives

    def at(self, x: Any) -> Any:
        """The value at x = point + t; for a series g whose constant term is the point, the series f(g).

        Parameters
        ----------
        x : float, array or TaylorSeries
            A number or an array, which broadcasts against S; or the series of an inner function g, where g[0] is the
            point of this series: up to rounding for plain numbers, the same value for traced ones.

        Returns
        -------
        array or TaylorSeries
            The value, or the series of f(g) about the point of g, to the lower degree.

        Raises
        ------
        ArgumentError
            If g[0] is not the point.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad._series import TaylorSeries
        >>> g = np.cos(TaylorSeries.variable(4))
        >>> print(np.log(TaylorSeries.variable(4, point=1.0)).at(g))
        -t²/2 - t⁴/12 + O(t⁵)
        """
        if not isinstance(x, TaylorSeries):
            check_broadcast("s.at(x)", "point", np.shape(x), self.shape)
            return self(displacement(x, self.point, len(self.shape)))
        eps = ROUNDING * float(np.finfo(self.dtype).eps)
        if not is_one_point(x[0], lifted(self.point, len(self.shape)), eps):
            raise ArgumentError(
                f"s.at(g) is f(g), for which s must be about g[0], but s is about {shown(self.point)}, and g[0] is "
                f"{shown(x[0])}. Take the series of f there: hoad.taylor(f, g[0], n).at(g)."
            )
        return self._after(x)

    def radius(self) -> Any:
        """An estimate of the radius of convergence, from the last coefficients.

        Returns
        -------
        float or ndarray (S)
            The distance to the nearest singularity in the complex plane; inf if the function seems to be entire, nan
            if the coefficients do not determine it.

        Raises
        ------
        TracedValueError
            If the coefficients are traced: an estimate has no derivative.

        Notes
        -----
        Near its singularities f satisfies q f′ = p f with polynomials p and q of low degree. These are fitted to the
        last coefficients, and the roots of q are the singularities: one root, as in the ratio test extrapolated by Domb
        and Sykes; or two, as in the test of Mercer and Roberts for complex pairs. A root counts if the fit is exact, or
        if fits to other windows of coefficients give the same radius within 3 %, with an exponent that agrees with the
        root test. This is safer than a small residual: a few coefficients of an entire function often fit, but their
        root changes with the window. The radius is inf if a fit has no root, or if log|cₖ| is concave throughout;
        otherwise nan, which is frequent below degree 20, and above if many coefficients are 0.

        A dozen coefficients often give two digits, thirty of them six. It is an estimate: it misses a singularity that
        is farther away than others or does not affect these coefficients yet; near an essential singularity it may be
        10 % too small; and if the coefficients are mostly rounding errors, so is the radius.

        Cost: a millisecond for each entry of S.

        References
        ----------
        Domb and Sykes (1957), Proc. R. Soc. A 240, 214. Guttmann and Joyce (1972), J. Phys. A 5, L81. Mercer and
        Roberts (1990), SIAM J. Appl. Math. 50, 1547. Chang and Corliss (1980), J. Inst. Maths Applics 25, 349.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad._series import TaylorSeries
        >>> x = TaylorSeries.variable(20, point=1.0)
        >>> print(f"{(1 / (1 + x**2)).radius():.6f} {np.tan(x).radius():.6f} {np.exp(x).radius()}")
        1.414214 0.570796 inf
        """
        self._check_plain("radius")
        c = self.coefficients
        found = [radius_of(c[(slice(None), *index)]) for index in np.ndindex(self.shape)]
        return np.reshape(found, self.shape) if self.shape else found[0]

    def pade(self, m: int, n: int, tolerance: float | None = None) -> PadeApproximant:
        """The Padé approximant [m/n], a rational function that agrees with the series up to tᵐ⁺ⁿ.

        Parameters
        ----------
        m, n : int
            The degrees of numerator and denominator; m + n is at most that of the series.
        tolerance : float, optional
            The relative size of noise in the coefficients, by default 50 units in the last place. Degrees are lowered
            if the remaining coefficients are noise.

        Returns
        -------
        PadeApproximant
            A function of t, with numerator, denominator and poles.

        Raises
        ------
        ArgumentError
            If m or n is not a degree, or their sum exceeds that of the series.
        TracedValueError
            If the coefficients are traced: the reduction of degrees has no derivative.

        Notes
        -----
        The coefficients are first scaled to equal size, so that noise is small relative to neighbouring coefficients,
        as rounding errors are.

        Cost: a singular value decomposition (n, n+1) for each entry of S.

        References
        ----------
        Gonnet, Güttel and Trefethen (2013), Robust Padé approximation via SVD, SIAM Rev. 55, 101.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad._series import TaylorSeries
        >>> x = TaylorSeries.variable(8)
        >>> (np.log1p(x) / x).pade(1, 1)
        (1 + t/6)/(1 + 2 t/3)
        >>> ((1 + x) / (1 - x)).pade(4, 4)
        (1 + t)/(1 - t)
        """
        m, n = _whole("pade", "m", m), _whole("pade", "n", n)
        if m + n > self.degree:
            raise ArgumentError(
                f"pade({m}, {n}) needs the coefficients up to degree {m + n}, but the series is known to {self.degree}."
            )
        self._check_plain("pade")
        if not all(map(is_finite, self._coefficients[: m + n + 1])):
            order = next(k for k, c in enumerate(self._coefficients) if not is_finite(c))
            raise DomainError(
                f"pade({m}, {n}) needs finite coefficients up to degree {m + n}, but that of order {order} is "
                f"{shown(self[order])}."
            )
        noise = 50 * float(np.finfo(self.dtype).eps) if tolerance is None else tolerance
        c = self.coefficients
        numerator = np.zeros((m + 1, *self.shape), self.dtype)
        denominator = np.zeros((n + 1, *self.shape), self.dtype)
        for index in np.ndindex(self.shape):
            entry = (slice(None), *index)
            numerator[entry], denominator[entry] = approximant(c[entry], m, n, noise)
        return PadeApproximant(numerator, denominator, self.point)

    def to_polynomial(self) -> Polynomial:
        """The polynomial p(x) as a NumPy Polynomial, in x rather than t.

        Returns
        -------
        numpy.polynomial.Polynomial
            Its coefficients are those of the series; domain and window shift x to t, so that p(x) is ``s.at(x)``.

        Raises
        ------
        ShapeError
            If the coefficients are arrays.
        TracedValueError
            If the coefficients are traced.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad._series import TaylorSeries
        >>> p = (TaylorSeries.variable(2, point=1.0) ** 2).to_polynomial()
        >>> p.coef, p(3.0)
        (array([1., 2., 1.]), np.float64(9.0))
        """
        from numpy.polynomial import Polynomial  # only here: it takes as long to import as all of this

        self._check_plain("to_polynomial")
        if self.shape:
            at = ", ".join("0" for _ in self.shape)
            where = f"[{', '.join('0' for _ in np.shape(self.point))}]" if np.ndim(self.point) else ""
            raise ShapeError(
                f"the coefficients of a Polynomial of NumPy are numbers, but here they have shape {self.shape}. "
                f"Convert the series entry by entry: hoad.TaylorSeries(s[:, {at}], s.point{where}).to_polynomial()."
            )
        half = abs(self.point) or 1.0  # of such an interval the shift is exact
        return Polynomial(self.coefficients, domain=[self.point - half, self.point + half], window=[-half, half])

    # ---- calculus

    def derivative(self, order: int = 1) -> TaylorSeries:
        """The series of the derivative f⁽ᵐ⁾, with the degree lowered by m.

        Parameters
        ----------
        order : int, optional
            The order m, at most the degree.

        Returns
        -------
        TaylorSeries
            The series about the same point.

        Raises
        ------
        ArgumentError
            If the order is negative, not an integer, or higher than the degree.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad._series import TaylorSeries
        >>> print(np.sin(TaylorSeries.variable(5)).derivative())
        1 - t²/2 + t⁴/24 + O(t⁵)
        """
        m = _whole("derivative", "order", order)
        if m > self.degree:
            raise ArgumentError(
                f"derivative of order {m} of a series of degree {self.degree}: nothing of it is known. Take the series "
                "to a higher degree."
            )
        found = self._coefficients
        for _ in range(m):
            found = tuple(recurrences.derivative(found))
        return self._with(found)

    def integral(self, constant: Any = 0.0) -> TaylorSeries:
        """The series of the integral from the point on, with the degree raised by one.

        Parameters
        ----------
        constant : float or array, optional
            The value of the integral at the point.

        Returns
        -------
        TaylorSeries
            The series constant + c₀ t + c₁ t²/2 + ...

        Raises
        ------
        DTypeError
            If the constant is not a number.

        Examples
        --------
        >>> from hoad._series import TaylorSeries
        >>> x = TaylorSeries.variable(4)
        >>> print((1 / (1 + x**2)).integral())
        t - t³/3 + t⁵/5 + O(t⁶)
        """
        if not is_constant(packed(constant)):
            raise DTypeError(f"integral takes its value at the point, a number or an array of them, not {constant!r}.")
        return self._with(recurrences.integral(self._coefficients, self._constant(constant)[0]))

    def reversion(self) -> TaylorSeries:
        """The series of the inverse function x(y), about y = f(point).

        Returns
        -------
        TaylorSeries
            The series r about c₀, of the same degree, with constant term `point`: ``r.at(s)`` and ``s.at(r)`` are the
            identity, x + O(tⁿ⁺¹).

        Raises
        ------
        ArgumentError
            If the degree is 0, or c₁ is 0 in an entry: there f has no differentiable inverse.

        Notes
        -----
        Lagrange's formula. Cost: n³ operations on arrays (S).

        References
        ----------
        Knuth (1997), The Art of Computer Programming 2, section 4.7.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad._series import TaylorSeries
        >>> x = TaylorSeries.variable(5)
        >>> print((x * np.exp(x)).reversion())
        t - t² + 3 t³/2 - 8 t⁴/3 + 125 t⁵/24 + O(t⁶)
        """
        if self.degree == 0:
            raise ArgumentError("reversion needs the slope of the function, but a series of degree 0 knows none.")
        slope = self[1]
        if not is_traced(slope) and np.any(slope == 0):
            raise ArgumentError(
                f"reversion needs a function that is not stationary, but its slope c₁ is {shown(slope)}: the inverse "
                "has no Taylor series here."
            )
        found = recurrences.reverted(self._coefficients)
        point = self.point if is_traced(self.point) else np.asarray(self.point)[()]
        found[0] = found[0] + lifted(point, len(self.shape))
        return self._made(unified(found), self[0])

    # ---- how it is shown

    def __repr__(self) -> str:
        if self._has_numbers():
            text = np.array2string(self.coefficients, separator=", ", prefix="TaylorSeries(")
        else:
            text = f"[{', '.join(map(repr, self._coefficients))}]"
        return f"TaylorSeries({text}{'' if _is_zero(self.point) else f', point={shown(self.point)}'})"

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        """The series as mathematics, its numbers by a format such as ``.3f``."""
        if not self._has_numbers():
            return repr(self)
        where = "" if is_traced(self.point) else about(self.point)
        if self.shape:
            return "\n".join(lines(self.coefficients, spec)) + where
        return series(self._coefficients, spec=spec) + where

    def _repr_latex_(self) -> str | None:
        if not self._has_numbers() or self.shape or is_traced(self.point):
            return None
        return f"${series(self._coefficients, Latex)}{about(self.point, Latex)}$"


def _parts(s: TaylorSeries) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """A series taken apart; a point that is a plain number is kept beside, for it says which variable t is."""
    return ((*s._coefficients, s.point), ()) if s._moves else (s._coefficients, (s.point,))


def _joined(kept: tuple[Any, ...], parts: tuple[Any, ...]) -> TaylorSeries:
    *coefficients, point = (*parts, *kept)
    made = TaylorSeries._made(tuple(np.asarray(c)[()] if type(c) in WEAK else c for c in coefficients), point)
    made._moves = not kept  # whatever stands there now
    return made


register_container(TaylorSeries, _parts, _joined)


def _check_no_series(coefficients: Any, point: Any) -> None:
    """Raise for series in the place of coefficients, which are arrays to NumPy."""
    if isinstance(coefficients, TaylorSeries):
        if not is_one_point(coefficients.point, point):
            raise ArgumentError(
                f"TaylorSeries takes coefficients, but was given a series about {shown(coefficients.point)} for the "
                f"point {shown(point)}. A series never changes and needs no copy; with the same coefficients about "
                "another point it is TaylorSeries(s.coefficients, point)."
            )
    elif isinstance(coefficients, (list, tuple)) and any(isinstance(x, TaylorSeries) for x in coefficients):
        raise ArgumentError(
            "TaylorSeries takes coefficients, but was given a list with series in it. np.stack([s, u]) is a series of "
            "vectors."
        )


def _is_zero(point: Any) -> bool:
    return not is_traced(point) and np.ndim(point) == 0 and point == 0


def _times_factorial(c: Any, k: int) -> Any:
    """k! c, also where k! is beyond the largest float: by powers of two, which are exact."""
    factor = math.factorial(k)
    beyond = max(factor.bit_length() - FLOAT_BITS, 0)
    found = c * float(factor >> beyond)
    for bits in range(beyond, 0, -FLOAT_BITS):
        found = found * math.ldexp(1.0, min(bits, FLOAT_BITS))
    return found


def _whole(method: str, name: str, value: Any) -> int:
    if not isinstance(value, (int, np.integer)) or value < 0:
        raise ArgumentError(f"{method} takes the {name} as an integer of 0 or more, not {value!r}.")
    return operator.index(value)
