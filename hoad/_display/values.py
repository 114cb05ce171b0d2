"""Numbers and arrays as short text."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

INLINE = 6  # arrays up to this many entries are written in full
FIRST = 3  # entries shown of a larger one

# Entries of these kinds show their dtype by themselves.
PLAIN = ("float64", "complex128", "bool")


def number_text(x: Any) -> str:
    """A number to six significant digits."""
    if type(x) is float:
        return f"{x:.6g}"
    if isinstance(x, (bool, np.bool_)):
        return str(bool(x))
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    if isinstance(x, (complex, np.complexfloating)):
        return f"({complex(x):.6g})"
    if isinstance(x, (float, np.floating)):
        return f"{float(x):.6g}"
    return repr(x)


def constant_text(value: Any) -> str:
    """A constant among operands: in full while it is small, else ``array(5, 2)``, its shape."""
    if type(value) is float:
        return number_text(value)
    if np.ndim(value) == 0:
        return number_text(np.asarray(value)[()])
    array = np.asarray(value)
    return _nested(array) if array.size <= INLINE else f"array({shape_text(array.shape)})"


def value_text(value: Any) -> str:
    """A value in a column: small arrays in full, large ones as their shape and first entries, `?` for none."""
    if type(value) is float:
        return number_text(value)
    if value is None:
        return "?"
    array = np.asarray(value)
    kind = "" if array.dtype.name in PLAIN else f" {array.dtype.name}"
    if array.ndim == 0:
        return number_text(array[()]) + kind
    if 0 < array.size <= INLINE:
        return _nested(array) + kind
    entries = [number_text(x) for x in islice(array.flat, FIRST)]
    return f"({shape_text(array.shape)}){kind}" + (f": {', '.join(entries)}, ..." if entries else "")


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape without its parentheses: ``5,`` or ``3, 4``."""
    return f"{shape[0]}," if len(shape) == 1 else ", ".join(map(str, shape))


def _nested(array: Any) -> str:
    if np.ndim(array) == 0:
        return number_text(array)
    return f"[{', '.join(_nested(row) for row in array)}]"
