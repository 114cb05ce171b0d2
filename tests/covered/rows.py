"""What hoad covers of a library: rows of a name, the kind of function that it is, and calls that show it.

From the tables come the tests, the page of the documentation, and the lists of names that have to be complete.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Kind(Enum):
    """What a function is for derivatives."""

    DIFFERENTIABLE = "differentiable"
    CONSTANT = "constant almost everywhere"  # its derivative is zero; a branch that depends on it is guarded
    STRUCTURAL = "structural"  # it depends on shapes and dtypes only
    IMPOSSIBLE = "impossible"  # it raises, and says why
    NOT_YET = "not yet"  # it has a derivative, and raises


@dataclass(frozen=True)
class Row:
    """A call of one function by one argument, which is traced."""

    name: str  # in full: "numpy.linalg.eig", "numpy.ndarray.sort", "numpy.add.reduceat"
    kind: Kind
    f: Callable[[Any], Any]
    x: Any
    argument: str = ""  # the one that is traced, where it is not the first
    note: str = ""  # a sentence for the page; of what is impossible, the reason
    analytic: bool = True  # a complex step through f itself is an oracle; else differences
    exact: bool = True  # its value is that of a plain call to the bit, not to some roundings
    second: Any = None  # another point; by default, the numbers of x in another order

    def label(self) -> str:
        return f"{self.name}({self.argument})" if self.argument else self.name
