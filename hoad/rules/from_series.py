"""Rules from Taylor coefficients: for a function whose derivatives of every order one kernel gives."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.graph.primitive import Primitive
from hoad.errors import RuleError

Wrapper = Callable[..., Any]


@functools.lru_cache(64)
def monomials(count: int, degree: int) -> dict[tuple[int, ...], int]:
    """The exponents of `count` variables with a sum of at most the degree, each with its place among them."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(count):
        found = [(*exponents, k) for exponents in found for k in range(degree - sum(exponents) + 1)]
    return {exponents: place for place, exponents in enumerate(found)}


class KernelOfAll:
    """A kernel that gives Taylor coefficients in all operands, not in the last one alone.

    ``of_all(*operands, degree, moving, **parameters)`` gives those of ``φ(x + u)`` in the operands at the places
    `moving`, for the exponents of `monomials`, in turn.
    """

    def __init__(self, of_all: Callable[..., list[Any]]) -> None:
        self.of_all = of_all

    def __call__(self, *arguments: Any, **parameters: Any) -> list[Any]:
        return self.of_all(*arguments, (len(arguments) - 2,), **parameters)


class Derivatives:
    """The derivatives of an elementwise function of one operand, by order: operations, created on demand.

    ``φ⁽ᵏ⁾(x) = k! cₖ`` for the coefficients c of ``φ(x + t) = Σ cₖ tᵏ``; the rule of each is the next one.
    """

    def __init__(self, primitive: Primitive, series: Callable[..., Any], declare: Callable[..., Wrapper]) -> None:
        self._primitive, self._series, self._declare = primitive, series, declare
        self._made: dict[int, Wrapper] = {}
        primitive.kernel = self.kernel(0)

    def rule(self, order: int) -> Callable[..., tuple[Any]]:
        """The rule of the derivative of an order."""

        def from_series(g: Any, p: Any, x: Any, /, **parameters: Any) -> tuple[Any]:
            return (g * self[order + 1](x, **parameters),)

        return from_series

    def kernel(self, order: int) -> Callable[..., list[Any]]:
        """The Taylor coefficients of the derivative of an order, ``(j + k)! / j! cⱼ₊ₖ``."""

        def coefficients(x: Any, degree: int, **parameters: Any) -> list[Any]:
            found = self._coefficients(x, degree + order, parameters)
            return [math.perm(j + order, order) * found[j + order] for j in range(degree + 1)]

        return coefficients

    def __getitem__(self, order: int) -> Wrapper:
        if order not in self._made:
            module, name = self._primitive.qualified or ("", self._primitive.name)

            def derivative(x: Any, **parameters: Any) -> Any:
                return math.factorial(order) * self._coefficients(x, order, parameters)[order]

            derivative.__module__, derivative.__qualname__ = module, f"{name}.derivatives.order{order}"
            derivative.__name__ = f"{self._primitive.name}.derivatives[{order}]"
            made: Any = self._declare(derivative, vjp=self.rule(order), elementwise=True)
            made.__hoad_primitive__.kernel = self.kernel(order)
            self._made[order] = made
        return self._made[order]

    def __getattr__(self, name: str) -> Wrapper:
        """``order3`` for the third, by which another process finds it."""
        if name.startswith("order") and name[5:].isdecimal():
            return self[int(name[5:])]
        raise AttributeError(name)

    def _coefficients(self, x: Any, degree: int, parameters: dict[str, Any]) -> Any:
        found = self._series(x, degree, **parameters)
        shapes = {np.shape(c) for c in found}
        if len(found) != degree + 1 or shapes != {np.shape(x)}:
            raise RuleError(
                f"series of {self._primitive.name} gave {len(found)} coefficients of shapes {sorted(shapes)} for x "
                f"of shape {np.shape(x)} and degree {degree}. It gives {degree + 1} of them, each with the shape of x: "
                "those of 1, t, t², ..."
            )
        return found
