"""Truncated Taylor series that one can calculate with."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from hoad._core.traced import graph_of, is_traced
from hoad._core.where import here, name_of
from hoad.arguments import packed
from hoad.containers import register_container
from hoad.errors import ArgumentError, DomainError, DTypeError, NoRuleError, ShapeError, TracedValueError
from hoad.expansion import recurrences
from hoad.expansion.domain import checked, is_finite, pole
from hoad.expansion.functions import (
    ENTRYWISE,
    OF_VALUES,
    check_not_in_library,
    check_polyval,
    coefficients_by_rules,
    refusal,
)
from hoad.expansion.pade import PadeApproximant, approximant
from hoad.expansion.radius import radius_of
from hoad.expansion.shapes import (
    checked_point,
    coefficients_of,
    displacement,
    is_one_point,
    lifted,
    stacked,
    unified,
)
from hoad.expansion.text import Latex, about, lines, series

if TYPE_CHECKING:
    from numpy.polynomial import Polynomial

WEAK = (int, float, complex)  # whose type leaves the dtype of what they meet
FLOAT_BITS = 1000  # of whole numbers that are floats
ROUNDING = 8.0  # units in the last place by which an inner function may miss the point of the outer one


class TaylorSeries:
    """A truncated Taylor series f(point + t) = c₀ + c₁ t + ... + cₙ tⁿ + O(tⁿ⁺¹), with cₖ = f⁽ᵏ⁾(point)/k!.

    ``s(t)`` is its value at the displacement t, ``s.at(x)`` that at x = point + t. Given another series, they compose:
    ``s(u)`` puts u, which starts with 0, in the place of t, and ``s.at(g)`` is f(g), where g starts with the point.

    Operators and functions of NumPy give the series of what they compute, to the lower degree where degrees differ.
    Numbers and arrays are constants, a Polynomial of NumPy is a function of x. Two series that meet are about the same
    point. A series never changes.

    Parameters
    ----------
    coefficients : array (n+1, S)
        The coefficients, the order first and then the axes of S; or a sequence of n+1 numbers or arrays (S). They may
        be traced: derivatives pass through whatever is computed. Integers become float64; float32 and complex numbers
        stay what they are.
    point : float or array (P), optional
        Where the series is taken; P is S, or its first axes.

    Attributes
    ----------
    point : float or array (P)
        Where t is 0.

    Raises
    ------
    ShapeError
        If there is no coefficient, or the point has another shape.
    DTypeError
        If the coefficients or the point are no numbers.
    ArgumentError
        If they are series.

    Notes
    -----
    Units: those of cₖ are those of f over the k-th power of those of x.

    Cost: sums n operations on arrays (S); products, quotients, real powers and elementary functions n² of them;
    compositions and inverse functions n³.

    Singular points: a result that has a coefficient which is inf or nan, where its operands have none, raises a
    DomainError: np.log and np.sqrt of a series that starts with 0, quotients by one unless powers of t cancel. Where
    coefficients are traced, those that do not exist are inf or nan, as in every derivative here. abs at 0 is 0;
    conj, real and imag are those of the coefficients, for real t.

    Functions of NumPy and SciPy that have a rule are taken of the value: np.where, np.dot, np.polyval(p, s),
    scipy.special.erf. Those that could as well mean the coefficients, such as np.sum, raise.

    Lists: NumPy asks each series in a list for an array, so np.array([s, u]) are the coefficients of both, and what
    NumPy computes in C of a list, np.add([s, u], 1.0), is computed of them: it cannot be told from np.asarray(s).
    Where it can be, as in np.sum([s, u]), that raises. Write sum([s, u]), or np.stack([s, u]) for a series of vectors.

    It is a container, which drivers take apart. Its parts are the coefficients, and the point if that is traced or an
    array; a point that is a plain number stays what it is, as part of the structure.

    References
    ----------
    Griewank and Walther (2008), Evaluating Derivatives, section 13.2. Knuth (1997), The Art of Computer Programming 2,
    section 4.7.

    Examples
    --------
    >>> import numpy as np
    >>> from hoad.expansion import TaylorSeries
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

    __slots__ = ("_coefficients", "_moves", "point")

    _coefficients: tuple[Any, ...]
    _moves: bool  # whether the point is a part of the container, which may be traced or hold many numbers
    point: Any

    def __init__(self, coefficients: Any, point: Any = 0) -> None:
        _check_no_series(coefficients, point)
        self._coefficients = coefficients_of(coefficients)
        self.point = checked_point(point, self.shape)
        self._moves = _may_move(self.point)

    @classmethod
    def variable(cls, degree: int, point: Any = 0.0) -> TaylorSeries:
        """The series of x itself, point + t, of which functions are made.

        Parameters
        ----------
        degree : int
            The degree, 0 or more.
        point : float or array (S), optional
            Where.

        Returns
        -------
        TaylorSeries
            point + t + O(tⁿ⁺¹).

        Raises
        ------
        ArgumentError
            If the degree is no whole number, or negative.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad.expansion import TaylorSeries
        >>> print(1 / (1 - TaylorSeries.variable(3)))
        1 + t + t² + t³ + O(t⁴)
        """
        n = _whole("variable", "degree", degree, 0)
        start = point if is_traced(point) else np.asarray(point)[()]
        start = start if start.dtype.kind in "fc" else start.astype(np.float64)
        one = np.ones(np.shape(start), start.dtype)[()]
        return cls([start, one, *[0 * one] * (n - 1)][: n + 1], point)

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

    def derivatives(self) -> Any:
        """The derivatives f⁽ᵏ⁾(point) = k! cₖ of all orders.

        Returns
        -------
        array (n+1, S)
            The derivatives, the order first.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad.expansion import TaylorSeries
        >>> np.log1p(TaylorSeries.variable(4)).derivatives()
        array([ 0.,  1., -1.,  2., -6.])
        """
        return stacked([_times_factorial(c, k) for k, c in enumerate(self._coefficients)])

    def truncate(self, degree: int) -> TaylorSeries:
        """The series to a lower degree.

        Parameters
        ----------
        degree : int
            At most that of the series, which knows nothing of what comes after.

        Returns
        -------
        TaylorSeries
            c₀ + ... + O(tᵐ⁺¹) for the degree m.

        Raises
        ------
        ArgumentError
            If the degree is higher than that of the series, negative, or no whole number.

        Examples
        --------
        >>> from hoad.expansion import TaylorSeries
        >>> print(TaylorSeries([1.0, 2.0, 3.0]).truncate(1))
        1 + 2 t + O(t²)
        """
        m = _whole("truncate", "degree", degree, 0)
        if m > self.degree:
            raise ArgumentError(
                f"truncate takes a degree of at most that of the series, {self.degree}, not {m}: of what comes after "
                "O(...) nothing is known. Take the series to a higher degree."
            )
        return self._with(self._coefficients[: m + 1])

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

    def _refuse_order(self, other: object) -> NoReturn:
        raise _without_truth("<, <=, > or >=")

    __lt__ = __le__ = __gt__ = __ge__ = _refuse_order

    __hash__ = None  # type: ignore[assignment]  # as of other things that are compared by their numbers

    # ---- what it gives

    def __call__(self, t: Any) -> Any:
        """f(point + t) for the displacement t, which broadcasts against S, or is a series that starts with 0."""
        if isinstance(t, TaylorSeries):
            first = t[0]
            if is_traced(first) or np.any(first != 0):
                raise ArgumentError(
                    f"s(u) puts the series u in the place of t, so its constant term must be the number 0, but is "
                    f"{_shown(first)}: the series of s knows f only near its point. For f(g), take s about g[0], and "
                    "s.at(g)."
                )
            return self._after(t)
        if isinstance(t, (list, tuple)):
            t = np.asarray(t)
        _check_broadcast("s(t)", "displacement", np.shape(t), self.shape)
        value = self._coefficients[-1]
        for c in self._coefficients[-2::-1]:
            value = value * t + c
        return value

    def at(self, x: Any) -> Any:
        """The value at x = point + t; of a series g that starts with the point, the series f(g).

        Parameters
        ----------
        x : float, array or TaylorSeries
            A number or an array, which broadcasts against S; or the series of an inner function g, where g[0] is the
            point of this one: to rounding for plain numbers, and the same value for traced ones.

        Returns
        -------
        array or TaylorSeries
            The value, or the series of f(g) about the point of g, to the lower degree.

        Raises
        ------
        ArgumentError
            If g starts elsewhere.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad.expansion import TaylorSeries
        >>> g = np.cos(TaylorSeries.variable(4))
        >>> print(np.log(TaylorSeries.variable(4, point=1.0)).at(g))
        -t²/2 - t⁴/12 + O(t⁵)
        """
        if not isinstance(x, TaylorSeries):
            _check_broadcast("s.at(x)", "point", np.shape(x), self.shape)
            return self(displacement(x, self.point, len(self.shape)))
        eps = ROUNDING * float(np.finfo(self.dtype).eps)
        if not is_one_point(x[0], lifted(self.point, len(self.shape)), eps):
            raise ArgumentError(
                f"s.at(g) is f(g), for which s must be about g[0], but s is about {_shown(self.point)}, and g[0] is "
                f"{_shown(x[0])}. Take the series of f there: hoad.taylor(f, g[0], n).at(g)."
            )
        return self._after(x)

    def radius(self) -> Any:
        """An estimate of the radius of convergence, from the last coefficients.

        Returns
        -------
        float or ndarray (S)
            The distance of the nearest singularity in the complex plane; inf where the function looks entire, nan
            where too few coefficients are known to tell.

        Raises
        ------
        TracedValueError
            If the coefficients are traced: an estimate has no derivative.

        Notes
        -----
        Near its singularities f obeys q f′ = p f with polynomials of low degree. These are fitted to the last
        coefficients, and the roots of q are the singularities: one of them, as in the ratio test extrapolated by Domb
        and Sykes; or two, as in the test of Mercer and Roberts for complex pairs. Where nothing fits, it is the root
        test, by the line over all (k, log|cₖ|). Below degree 6, or 10 where every other coefficient is 0, only a fit
        that is exact counts, as of a geometric series or exp; else it is nan. A dozen coefficients often give two
        digits, thirty of them six. It is an estimate: a singularity farther than others, or one that a few coefficients
        do not feel yet, is not seen, and a function such as exp(exp(x)) looks as if it had one.

        Cost: half a millisecond for each entry of S.

        References
        ----------
        Domb and Sykes (1957), Proc. R. Soc. A 240, 214. Guttmann and Joyce (1972), J. Phys. A 5, L81. Mercer and
        Roberts (1990), SIAM J. Appl. Math. 50, 1547. Chang and Corliss (1980), J. Inst. Maths Applics 25, 349.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad.expansion import TaylorSeries
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
            Relative size of what counts as noise in the coefficients, 50 units in the last place unless given. Degrees
            are lowered where the rest is noise.

        Returns
        -------
        PadeApproximant
            A function of t; with numerator, denominator and poles.

        Raises
        ------
        ArgumentError
            If m or n is no degree, or their sum higher than that of the series.
        TracedValueError
            If the coefficients are traced: degrees that are lowered have no derivative.

        Notes
        -----
        The coefficients are scaled to one size first, so that noise is what is small beside the neighbours of a
        coefficient, as rounding is.

        Cost: a singular value decomposition (n, n+1) for each entry of S.

        References
        ----------
        Gonnet, Güttel and Trefethen (2013), Robust Padé approximation via SVD, SIAM Rev. 55, 101.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad.expansion import TaylorSeries
        >>> x = TaylorSeries.variable(8)
        >>> (np.log1p(x) / x).pade(1, 1)
        (1 + t/6)/(1 + 2 t/3)
        >>> ((1 + x) / (1 - x)).pade(4, 4)
        (1 + t)/(1 - t)
        """
        m, n = _whole("pade", "m", m, 0), _whole("pade", "n", n, 0)
        if m + n > self.degree:
            raise ArgumentError(
                f"pade({m}, {n}) needs the coefficients up to degree {m + n}, but the series is known to {self.degree}."
            )
        self._check_plain("pade")
        if not all(map(is_finite, self._coefficients[: m + n + 1])):
            order = next(k for k, c in enumerate(self._coefficients) if not is_finite(c))
            raise DomainError(
                f"pade({m}, {n}) needs finite coefficients up to degree {m + n}, but that of order {order} is "
                f"{_shown(self[order])}."
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
        """The polynomial p(x) as one of NumPy's, of x rather than t.

        Returns
        -------
        numpy.polynomial.Polynomial
            Its coefficients are those of the series; domain and window shift x to t, so that p(x) is ``s.at(x)``.

        Raises
        ------
        ShapeError
            If the series is one of arrays.
        TracedValueError
            If the coefficients are traced.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad.expansion import TaylorSeries
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
        """The series of the derivative f⁽ᵐ⁾, of a degree lower by m.

        Parameters
        ----------
        order : int, optional
            The order m, at most the degree.

        Returns
        -------
        TaylorSeries
            About the same point.

        Raises
        ------
        ArgumentError
            If the order is negative, no whole number, or higher than the degree.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad.expansion import TaylorSeries
        >>> print(np.sin(TaylorSeries.variable(5)).derivative())
        1 - t²/2 + t⁴/24 + O(t⁵)
        """
        m = _whole("derivative", "order", order, 0)
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
        """The series of the integral from the point on, of a degree higher by one.

        Parameters
        ----------
        constant : float or array, optional
            Its value at the point.

        Returns
        -------
        TaylorSeries
            constant + c₀ t + c₁ t²/2 + ...

        Raises
        ------
        DTypeError
            If the constant is no number.

        Examples
        --------
        >>> from hoad.expansion import TaylorSeries
        >>> x = TaylorSeries.variable(4)
        >>> print((1 / (1 + x**2)).integral())
        t - t³/3 + t⁵/5 + O(t⁶)
        """
        if not _is_constant(packed(constant)):
            raise DTypeError(f"integral takes its value at the point, a number or an array of them, not {constant!r}.")
        return self._with(recurrences.integral(self._coefficients, self._constant(constant)[0]))

    def reversion(self) -> TaylorSeries:
        """The series of the inverse function x(y), about y = f(point).

        Returns
        -------
        TaylorSeries
            About c₀, of the same degree; its constant term is `point`. So ``r.at(s)`` and ``s.at(r)`` are the
            identity, x + O(tⁿ⁺¹).

        Raises
        ------
        ArgumentError
            If the degree is 0, or c₁ is 0 in an entry: there f has no inverse, or one without derivative.

        Notes
        -----
        Lagrange's formula. Cost: n³ operations on arrays (S).

        References
        ----------
        Knuth (1997), The Art of Computer Programming 2, section 4.7.

        Examples
        --------
        >>> import numpy as np
        >>> from hoad.expansion import TaylorSeries
        >>> x = TaylorSeries.variable(5)
        >>> print((x * np.exp(x)).reversion())
        t - t² + 3 t³/2 - 8 t⁴/3 + 125 t⁵/24 + O(t⁶)
        """
        if self.degree == 0:
            raise ArgumentError("reversion needs the slope of the function, but a series of degree 0 knows none.")
        slope = self[1]
        if not is_traced(slope) and np.any(slope == 0):
            raise ArgumentError(
                f"reversion needs a function that is not stationary, but its slope c₁ is {_shown(slope)}: the inverse "
                "has no Taylor series here."
            )
        found = recurrences.reverted(self._coefficients)
        point = self.point if is_traced(self.point) else np.asarray(self.point)[()]
        found[0] = found[0] + lifted(point, len(self.shape))
        return _made(unified(found), self[0])

    # ---- arithmetic

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
        if isinstance(other, TaylorSeries):
            start = _zeros(other._coefficients)
            if start:
                return self._divided_from(start, other)
            return self._with_other(other, recurrences.quotient)
        if not _is_constant(other):
            return NotImplemented
        return self._checked("a quotient", lambda: [c / other for c in self._coefficients], other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._constant(other) / self if _is_constant(other) else NotImplemented

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, TaylorSeries):
            self._check_point(exponent)
            u, v = self._coefficients, exponent._coefficients
            return self._checked("s ** u", lambda: recurrences.power_of_series(u, v), exponent)
        if not _is_constant(exponent):
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
            f"s ** {_shown(exponent)}", lambda: recurrences.power(u, exponent, u[0] ** exponent), exponent
        )

    def __rpow__(self, base: Any) -> Any:
        if not _is_constant(base):
            return NotImplemented
        start, u = self._constant(base)[0], self._coefficients
        return self._checked(f"{_shown(base)} ** s", lambda: recurrences.power_of_number(start, u), base)

    def __neg__(self) -> TaylorSeries:
        return self._each(operator.neg)

    def __pos__(self) -> TaylorSeries:
        return self

    def __abs__(self) -> TaylorSeries:
        if self.dtype.kind == "c":
            raise NoRuleError("abs of a complex series is not analytic. For |s|² on the real line, s * np.conj(s).")
        sign = np.sign(self[0])
        return self._each(lambda c: sign * c)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            how = name_of(ufunc) + (f".{method}" if method != "__call__" else f"(..., {', '.join(kwargs)}=)")
            raise NoRuleError(f"{how} does not take a TaylorSeries. Its coefficients are an array: s.coefficients.")
        inputs = tuple(_unlisted(x) for x in inputs)
        if ufunc in BINARY:
            left, right = inputs
            if isinstance(left, TaylorSeries):
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
        if function is np.where and len(args) == 3 and not isinstance(args[0], TaylorSeries):
            u, v = _aligned(*args[1:])
            return u._with_other(v, lambda u, v: [np.where(args[0], x, y) for x, y in zip(u, v, strict=False)])
        if function not in OF_VALUES:
            raise refusal(name, args, kwargs, TaylorSeries)
        if function is np.polyval:
            check_polyval(args, kwargs, TaylorSeries)
        return self._by_rules(name, function, args, kwargs)

    # ---- how it is shown

    def __repr__(self) -> str:
        if self._has_numbers():
            shown = np.array2string(self.coefficients, separator=", ", prefix="TaylorSeries(")
        else:
            shown = f"[{', '.join(map(repr, self._coefficients))}]"
        return f"TaylorSeries({shown}{'' if _is_zero(self.point) else f', point={_shown(self.point)}'})"

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

    def _has_numbers(self) -> bool:
        """Whether the coefficients are plain, not traced, nor what stands for a derivative in a container."""
        return all(isinstance(c, (np.generic, np.ndarray)) for c in self._coefficients)

    # ---- how others are made of it

    def _with(self, coefficients: Any) -> TaylorSeries:
        """Another series about the same point."""
        return self._with_unified(unified(coefficients))

    def _with_unified(self, found: tuple[Any, ...]) -> TaylorSeries:
        point = self.point
        shape = np.shape(found[0])
        if np.ndim(point) and shape != self.shape and len(shape) >= len(self.shape):  # shorter by what a product sums
            point = np.broadcast_to(lifted(point, len(self.shape)), shape)
        return _made(found, point)

    def _each(self, function: Callable[[Any], Any]) -> TaylorSeries:
        return self._with(function(c) for c in self._coefficients)

    def _starting(self, constant: Any) -> TaylorSeries:
        """With another constant term."""
        return self._with([constant, *self._coefficients[1:]])

    def _constant(self, x: Any) -> TaylorSeries:
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

    def _checked(self, what: str, made: Callable[[], Any], *others: Any) -> TaylorSeries:
        """Another series about the same point, of which no coefficient may be undefined unless one is already."""
        given = [self._coefficients, *(x._coefficients if isinstance(x, TaylorSeries) else (x,) for x in others)]
        return self._with_unified(checked(what, made, given))

    def _by_rules(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> TaylorSeries:
        """The series of a function of the values of series, which has a rule."""
        among = [x for x in _leaves([args, list(kwargs.values())]) if isinstance(x, TaylorSeries)]
        for other in among:
            among[0]._check_point(other)
        degree = min(s.degree for s in among)
        entrywise = function in ENTRYWISE or (isinstance(function, np.ufunc) and function.signature is None)
        if np.ndim(self.point) and not entrywise:
            raise NoRuleError(
                f"{name} mixes the entries of a series, but these are about different points, {_shown(self.point)}, so "
                f"that t is another variable in each ({here()}). Take a series about one point."
            )

        def at(t: Any) -> Any:
            return function(*_evaluated(args, t), **{key: _evaluated(x, t) for key, x in kwargs.items()})

        given = [s._coefficients for s in among]
        found: Any = checked(f"{name} of a series", lambda: coefficients_by_rules(name, at, degree), given)
        if any(s.dtype.itemsize < (16 if s.dtype.kind == "c" else 8) for s in among):
            found = [c.astype(at(0).dtype) for c in found]  # t is float64
        return among[0]._with(found)

    def _with_other(
        self, other: Any, operation: Callable[[Any, Any], list[Any]], checked_as: str = "a quotient"
    ) -> Any:
        other = self._of(other)
        if isinstance(other, TaylorSeries):
            self._check_point(other)
        elif _is_constant(other):
            other = self._constant(other)
        else:
            return NotImplemented
        u, v = self._coefficients, other._coefficients
        if operation in (recurrences.added, recurrences.subtracted):
            return self._with(operation(u, v))
        return self._checked(checked_as, lambda: operation(u, v), other)

    def _times(self, other: Any, times: Callable[[Any, Any], Any], is_left: bool = True) -> Any:
        other = self._of(other)
        if times is not operator.mul and _is_constant(other) | isinstance(other, TaylorSeries):
            self._check_not_mixed(is_left)
            if isinstance(other, TaylorSeries):
                other._check_not_mixed(not is_left)
        if isinstance(other, TaylorSeries):
            self._check_point(other)
            return self._with(recurrences.product(self._coefficients, other._coefficients, times))
        return self._each(lambda c: times(c, other)) if _is_constant(other) else NotImplemented

    def _check_not_mixed(self, is_left: bool) -> None:
        """Raise for a factor of a matrix product that sums over entries about different points."""
        summed = len(self.shape) - (1 if is_left or len(self.shape) == 1 else 2)
        if np.ndim(self.point) > summed:
            raise ArgumentError(
                f"a product of matrices sums over entries, but these are about different points, {_shown(self.point)}, "
                f"so that t is another variable in each ({here()}). Take a series about one point."
            )

    def _divided_from(self, start: int, other: TaylorSeries) -> TaylorSeries:
        """The quotient by a series that starts with the power tᵐ, of a degree lower by m."""
        first = min(len(self), len(other))
        above, below = self._coefficients[start:first], other._coefficients[start:first]
        skipped = (*self._coefficients[:start], *other._coefficients[:start])
        if any(map(is_traced, skipped)):
            raise ArgumentError(
                f"a quotient of series has one only where powers of t cancel, but the dividend starts with "
                f"{_shown(self[0])}, a traced 0, which may not stay one, and the divisor with {_shown(other[0])}. Take "
                "out powers of t first: TaylorSeries(s[1:], s.point) is s/t for a series that starts with 0."
            )
        zero = all(np.all(c == 0) for c in skipped)
        if not (zero and below and (is_traced(below[0]) or np.all(below[0] != 0))):
            raise pole(self[0], other[0])
        self._check_point(other)
        return self._checked("a quotient", lambda: recurrences.quotient(above, below), other)

    def _to_the(self, exponent: int) -> TaylorSeries:
        if exponent == 0:
            return self._constant(np.ones(self.shape, self.dtype))
        if exponent < 0:
            found: TaylorSeries = 1 / self._to_the(-exponent)
            return found
        return self._with(recurrences.whole_power(self._coefficients, exponent))

    def _after(self, inner: TaylorSeries) -> TaylorSeries:
        """f of what an inner series adds to the point."""
        return inner._with(recurrences.composed(self._coefficients, inner._coefficients))

    def _is_about_that_of(self, other: TaylorSeries) -> bool:
        """Whether each entry meets one about the same point."""
        if len(self.shape) == len(other.shape) and np.ndim(self.point) == np.ndim(other.point):
            return is_one_point(self.point, other.point)  # as they are: what is traced is compared as a node
        return is_one_point(lifted(self.point, len(self.shape)), lifted(other.point, len(other.shape)))

    def _check_point(self, other: TaylorSeries) -> None:
        if not self._is_about_that_of(other):
            raise ArgumentError(
                f"series about {_shown(self.point)} and {_shown(other.point)} do not meet in one operation, since t "
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


def _made(coefficients: tuple[Any, ...], point: Any) -> TaylorSeries:
    """A series of what is known to fit, or is no number at all, such as None in the place of a derivative."""
    made = TaylorSeries.__new__(TaylorSeries)
    made._coefficients, made._moves, made.point = coefficients, _may_move(point), point
    return made


def _may_move(point: Any) -> bool:
    return is_traced(point) or isinstance(point, np.ndarray)


def _parts(s: TaylorSeries) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """A series taken apart; a point that is a plain number is kept beside, for it says which variable t is."""
    return ((*s._coefficients, s.point), ()) if s._moves else (s._coefficients, (s.point,))


def _joined(kept: tuple[Any, ...], parts: tuple[Any, ...]) -> TaylorSeries:
    *coefficients, point = (*parts, *kept)
    made = _made(tuple(np.asarray(c)[()] if type(c) in WEAK else c for c in coefficients), point)
    made._moves = not kept  # whatever stands there now
    return made


register_container(TaylorSeries, _parts, _joined)


def _aligned(x: Any, y: Any) -> tuple[TaylorSeries, Any]:
    """The operands of a function of two, the first as a series."""
    return (x, y) if isinstance(x, TaylorSeries) else (y._constant(x), y)


def _check_broadcast(call: str, what: str, given: tuple[int, ...], shape: tuple[int, ...]) -> None:
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
        f"{asked} of a TaylorSeries has no series, since it gives truth values ({here()}). Ask it of the value at the "
        "point, s[0], as in np.where(s[0] > 0, s, 0), or of the coefficients, s.coefficients."
    )


def _check_no_series(coefficients: Any, point: Any) -> None:
    """Raise for series in the place of coefficients, which are arrays to NumPy."""
    if isinstance(coefficients, TaylorSeries):
        if not is_one_point(coefficients.point, point):
            raise ArgumentError(
                f"TaylorSeries takes coefficients, but was given a series about {_shown(coefficients.point)} for the "
                f"point {_shown(point)}. A series never changes and needs no copy; with the same coefficients about "
                "another point it is TaylorSeries(s.coefficients, point)."
            )
    elif isinstance(coefficients, (list, tuple)) and any(isinstance(x, TaylorSeries) for x in coefficients):
        raise ArgumentError(
            "TaylorSeries takes coefficients, but was given a list with series in it. np.stack([s, u]) is a series of "
            "vectors."
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
    if isinstance(x, TaylorSeries):
        return x(t)
    if isinstance(x, (list, tuple)) and any(isinstance(leaf, TaylorSeries) for leaf in _leaves(x)):
        return type(x)([_evaluated(item, t) for item in x])
    return x


def _unlisted(x: Any) -> Any:
    """A list as an array, or as a series of vectors where it holds series."""
    if not isinstance(x, (list, tuple)):
        return x
    if any(isinstance(leaf, TaylorSeries) for leaf in _leaves(x)):
        return np.stack([_unlisted(item) for item in x])
    return np.asarray(x)


def _is_constant(x: Any) -> bool:
    return is_traced(x) or isinstance(x, (*WEAK, np.ndarray, np.generic))


def _is_zero(point: Any) -> bool:
    return not is_traced(point) and np.ndim(point) == 0 and point == 0


def _shown(x: Any) -> str:
    """A number or an array as one writes it."""
    return repr(x) if is_traced(x) or x is None or np.ndim(x) else repr(np.asarray(x).item())


def _zeros(coefficients: tuple[Any, ...]) -> int:
    """How many of the first coefficients are numbers with a zero among them."""
    for k, c in enumerate(coefficients):
        if is_traced(c) or np.all(c != 0):
            return k
    return len(coefficients)


def _times_factorial(c: Any, k: int) -> Any:
    """k! c, also where k! is beyond the largest float: by powers of two, which are exact."""
    factor = math.factorial(k)
    beyond = max(factor.bit_length() - FLOAT_BITS, 0)
    found = c * float(factor >> beyond)
    for bits in range(beyond, 0, -FLOAT_BITS):
        found = found * math.ldexp(1.0, min(bits, FLOAT_BITS))
    return found


def _whole(method: str, name: str, value: Any, least: int) -> int:
    if not isinstance(value, (int, np.integer)) or value < least:
        raise ArgumentError(f"{method} takes the {name} as a whole number from {least} on, not {value!r}.")
    return operator.index(value)


BINARY = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.divide: "truediv",
    np.matmul: "matmul",
    np.power: "pow",
    np.float_power: "pow",
}
UNARY: dict[np.ufunc, Callable[[TaylorSeries], TaylorSeries]] = {
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: operator.abs,
    np.fabs: operator.abs,
    np.reciprocal: lambda s: 1 / s,
}
