"""How the tables of SciPy's parts say their rows: one call of a function, and what it is by each of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import scipy.fft
from covered.rows import Kind, Row

import hoad
import hoad.scipy

KINDS = {
    "D": Kind.DIFFERENTIABLE,
    "C": Kind.CONSTANT,
    "S": Kind.STRUCTURAL,
    "I": Kind.IMPOSSIBLE,
    "N": Kind.NOT_YET,
}


# Where SciPy 1.18 has NumPy's functions in place of compiled ones.
NEWLY_D, NEWLY_C = ("D", "C") if np.lib.NumpyVersion(scipy.__version__) >= "1.18.0" else ("N", "N")


@dataclass(frozen=True)
class Call(Row):
    """A row, with how far differences of SciPy's values are right."""

    rtol: float = 1e-8
    slow: bool = False


def function(name: str) -> Any:
    """What adopted code finds under a name of SciPy, which begins with that of the part."""
    if name.startswith("fft."):
        return hoad.adopt(getattr(scipy.fft, name.removeprefix("fft.")))
    found: Any = hoad.scipy
    for part in name.split("."):
        found = getattr(found, part)
    return found


def of(
    name: str,
    given: dict[str, Any],
    *,
    call: Callable[..., Any] | None = None,
    tag: str = "",
    note: str = "",
    rtol: float = 1e-8,
    slow: bool = False,
    more: dict[str, Any] | None = None,
    **kinds: str,
) -> Iterator[Call]:
    """The rows of one call.

    Parameters
    ----------
    name : str
        Without `scipy.`.
    given : dict
        Arguments in the order of the signature, each a number or an array where a row is of it.
    call : callable, optional
        ``call(function, *arguments)``; by default it is called with them, and with `more` by name.
    tag : str, optional
        What is said of the call beside the argument, as a choice of method.
    **kinds : str
        ``D="x y"``: it is differentiable by its arguments x and y. The letters are those of `KINDS`.
    """

    def at(argument: str, x: Any) -> Any:
        arguments = [x if key == argument else value for key, value in given.items()]
        f = function(name)
        return f(*arguments, **(more or {})) if call is None else call(f, *arguments)

    for letter, arguments in kinds.items():
        for argument in arguments.split():
            yield Call(
                f"scipy.{name}",
                KINDS[letter],
                lambda x, argument=argument: at(argument, x),
                np.array(given[argument]) if np.ndim(given[argument]) else float(given[argument]),
                f"{argument}, {tag}" if tag else argument,
                note=note,
                rtol=rtol,
                slow=slow,
            )
