"""The Taylor coefficients of a program as a program: along one curve, for arrays of any dtype.

Rows of series are float64. Numbers of other dtypes, complex ones above all, go through the same arithmetic in traced
operations; so does whatever they meet on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hoad._core.taylor.series import NotClosedError
from hoad._core.taylor.taylor_schedule import is_multilinear
from hoad._core.trace.calls import apply_primitive
from hoad._program.program import Program
from hoad._transform.coefficients import Coefficients
from hoad._transform.monomials import Coefficient, Curve
from hoad._transform.programs import recorded
from hoad._transform.taylor_arithmetic import Arithmetic
from hoad._transform.taylor_of_loops import given_aval


def _series_along(program: Program, arithmetic: Arithmetic, series: Sequence[Any]) -> list[Any]:
    """The coefficients that the results of a program have by its arithmetic, for those that are given of its inputs."""
    given, degree = list(arithmetic.given.values()), arithmetic.degree
    values = [x[0] if n > 1 else x for x, n in zip(series, given, strict=True)]
    along = {
        node: [x[k] for k in range(1, min(n, degree + 1))]
        for node, x, n in zip(arithmetic.closure.inputs, series, given, strict=True)
    }
    found = _Along(arithmetic, Curve(degree), values, along).results()
    return [np.stack([_cast(c, aval.dtype) for c in y]) for y, aval in zip(found, program.output_types, strict=True)]


def program_along(program: Program, arithmetic: Arithmetic) -> Program:
    """The same as a program."""
    avals = [given_aval(aval, n) for aval, n in zip(program.input_types, arithmetic.given.values(), strict=True)]
    return recorded(lambda *series: _series_along(program, arithmetic, series), avals)


def _cast(x: Any, dtype: np.dtype) -> Any:
    """Constants of the arithmetic are float64, and what meets them may be so too."""
    x = x if hasattr(x, "dtype") else np.asarray(x)
    return x if x.dtype == dtype else x.astype(dtype)


class _Along(Coefficients):
    """The coefficients along one curve: also of what takes several arrays, or gives them."""

    def __init__(
        self, arithmetic: Arithmetic, curve: Curve, values: Sequence[Any], along: dict[int, list[Coefficient]]
    ) -> None:
        self.several: dict[int, tuple[Any, ...]] = {}  # the values of a node that has more than one
        super().__init__(arithmetic, curve, values, along)

    def _value(self, i: int) -> Any:
        name, primitive, operands, params, _ = self.arithmetic.row(i)
        if name == "result":
            return self.several[operands[0]][params[0]]
        if name == "rate":
            return self._whole(operands[0], 1)
        if primitive.nout > 1:
            self.several[i] = apply_primitive(primitive, params, *[self.value(k) for k in operands])
            return self.several[i][0]
        return super()._value(i)

    def _coefficient(self, i: int, k: int) -> Coefficient:
        """p[k] = p'[k - 1] / k for what is an integral; p[k] = (k + 1) x[k + 1] for a rate x'."""
        name, _, operands, _, _ = self.arithmetic.row(i)
        if name == "rate":
            return self.lines.scale(self.at(operands[0], k + 1), k + 1, k)
        if i in self.arithmetic.integrands:
            rate = self.arithmetic.integrands[i]
            return self.lines.divide(self.value(rate) if k == 1 else self.at(rate, k - 1), k, k)
        if name == "conjugate":
            return None if self.at(operands[0], k) is None else np.conjugate(self.at(operands[0], k))
        return self._other(i, k) if name == "matmul" else super()._coefficient(i, k)

    def _whole(self, operand: int, k: int) -> Any:
        return self.value(operand) if k == 0 else super()._whole(operand, k)

    # ---- what is multilinear, and what solves

    def _other(self, i: int, k: int) -> Coefficient:
        name, primitive, operands, params, _ = self.arithmetic.row(i)
        if name == "solve":
            return self._solution(i, k, operands)
        if name == "inv":
            return self._inverse(i, k, operands)
        if not is_multilinear(primitive, [self.arithmetic.top(x) for x in operands]):
            raise NotClosedError(f"{primitive.name} along a curve")
        if len(operands) == 1:
            return apply_primitive(primitive, params, self._whole(operands[0], k))
        x, y = operands
        return self._sum_of([apply_primitive(primitive, params, a, b) for a, b in self._pairs(x, y, k)])

    def _pairs(self, x: int, y: int, k: int, first: int = 0) -> Iterator[tuple[Any, Any]]:
        """The coefficients x[j] and y[k - j] for j from `first` on, where neither is zero."""
        for j in range(first, k + 1):
            if (j == 0 or self.at(x, j) is not None) and (j == k or self.at(y, k - j) is not None):
                yield self._whole(x, j), self._whole(y, k - j)

    def _sum_of(self, terms: list[Any]) -> Any:
        return self.lines.total(terms, self.lines.degree)

    def _solution(self, i: int, k: int, operands: list[int]) -> Any:
        """p[k] = x[0]⁻¹ (y[k] - Σ x[j] p[k - j])."""
        x, y = operands
        rest = [np.negative(np.matmul(a, p)) for a, p in self._pairs(x, i, k, 1)]
        right = self._sum_of([*([] if self.at(y, k) is None else [self._whole(y, k)]), *rest])
        return None if right is None else np.linalg.solve(self.value(x), right)

    def _inverse(self, i: int, k: int, operands: list[int]) -> Any:
        """p[k] = -p[0] Σ x[j] p[k - j]."""
        found = self._sum_of([np.matmul(x, p) for x, p in self._pairs(operands[0], i, k, 1)])
        return None if found is None else np.negative(np.matmul(self.value(i), found))
