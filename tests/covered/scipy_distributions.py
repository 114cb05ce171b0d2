"""Distributions of scipy.stats: one line each, with what its methods are by x, the shapes, location and scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.stats
from covered.rows import Kind, Row
from covered.scipy_calls import KINDS

OF_X = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
MOMENTS = ("mean", "var", "std", "median", "entropy")
LOC, SCALE, SHARE = 0.25, 1.25, 0.4


def _among(methods: dict[str, str], method: str) -> list[str]:
    """The arguments that are said with a method."""
    return [name for names, arguments in methods.items() if method in names.split() for name in arguments.split()]


@dataclass(frozen=True)
class Distribution:
    """A distribution of one variable: its shapes, and of what is not differentiable the kind, method by method."""

    name: str
    shapes: tuple[Any, ...]
    others: dict[str, dict[str, str]] = field(default_factory=dict)  # {"N": {"ppf isf": "q a"}}
    rtol: float = 2e-6  # of differences of SciPy's values
    slow: bool = False  # whether a test of it takes seconds

    @cached_property
    def of(self) -> Any:
        return getattr(scipy.stats, self.name)

    @property
    def is_discrete(self) -> bool:
        return isinstance(self.of, scipy.stats.rv_discrete)

    def methods(self) -> list[str]:
        names = [name.replace("pdf", "pmf") for name in OF_X] if self.is_discrete else list(OF_X)
        return [*names, *MOMENTS]

    @cached_property
    def middle(self) -> Any:
        """Where SHARE of it is below."""
        return self.of.ppf(SHARE, *self.shapes)

    def arguments(self, method: str) -> dict[str, Any]:
        """The numbers of a call, in order."""
        named = [name.strip() for name in self.of.shapes.split(",")] if self.of.shapes else []
        shapes = dict(zip(named, self.shapes, strict=True))
        place = {} if self.is_discrete else {"loc": LOC, "scale": SCALE}
        if method in MOMENTS:
            return {**shapes, **place}
        if method in ("ppf", "isf"):
            return {"q": SHARE, **shapes, **place}
        if self.is_discrete:
            return {"k": self.middle, **shapes}
        return {"x": LOC + SCALE * self.middle, **shapes, **place}

    def kinds(self, method: str) -> dict[str, Kind]:
        """Of each argument that is no count; what is not said to be another kind is differentiable."""
        found = {}
        for name, number in self.arguments(method).items():
            if name == "k" or (self.is_discrete and isinstance(number, int)):
                continue
            said = [kind for kind, methods in self.others.items() if name in _among(methods, method)]
            if said != ["-"]:  # SciPy has no derivative there itself, or takes too long
                found[name] = KINDS[said[0]] if said else Kind.DIFFERENTIABLE
        return found

    def rows(self) -> Iterator[Row]:
        """For the page: of each kind, a row of the methods that are of it by the same arguments."""
        for kind in Kind:
            grouped: dict[tuple[str, ...], list[str]] = {}
            for method in self.methods():
                here = tuple(name for name, found in self.kinds(method).items() if found is kind)
                grouped.setdefault(here, []).append(method)
            for arguments, methods in grouped.items():
                if arguments:
                    text = f"{'/'.join(methods)} by {'/'.join(arguments)}"
                    yield Row(f"scipy.stats.{self.name}", kind, abs, np.float64(0.0), text)

    def call(self, method: str, moved: list[str], t: Any) -> Any:
        """Its value where the arguments of these names are moved by t, each by another amount."""
        f = getattr(self.of, method)
        given = self.arguments(method)
        return f(*[x + t * (0.5 + 0.25 * k) if name in moved else x for k, (name, x) in enumerate(given.items())])
