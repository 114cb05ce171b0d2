"""Complex numbers and their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad import primitive as prim
from hoad._core.aliases import shadow, view_of
from hoad._core.calls import apply_primitive
from hoad._core.traced import Array
from hoad._core.where import here
from hoad.errors import NoRuleError
from hoad.numpy_protocol.door import as_traced, implements

SEALED = "parts of a complex traced array cannot be written to: it would not see what is written"


def is_complex(x: Any) -> bool:
    """Whether x has a complex dtype."""
    return bool(x.dtype.kind == "c")


def refuse_complex(name: str, x: Any) -> None:
    """Raise where x is complex."""
    if is_complex(x):
        raise NoRuleError(
            f"np.{name} of complex numbers has no derivative rule ({here()}). Take their parts, np.real and np.imag, "
            "or np.abs."
        )


def _part(part: Any, x: Any) -> Any:
    """The real or imaginary part, which nobody may write to: NumPy's is a view of x, and this is none."""
    made = apply_primitive(part, None, x)
    return view_of(made, shadow(made), made, SEALED) if isinstance(made, Array) else made


@implements(np.real, method="real")
def real(x: Any) -> Any:
    x = as_traced(x)
    return _part(prim.REAL, x) if is_complex(x) else x


@implements(np.imag)
def imag(x: Any) -> Any:
    x = as_traced(x)
    return _part(prim.IMAG, x) if is_complex(x) else np.zeros(x.shape, x.dtype)


def conjugate(x: Any) -> Any:
    """x̄, which is x itself where x is real."""
    return np.conjugate(x) if is_complex(x) else x


def squared_size(x: Any) -> Any:
    """|x|²."""
    return np.square(real(x)) + np.square(imag(x)) if is_complex(x) else x * x


@implements(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    z = as_traced(z)
    found = np.arctan2(imag(z), real(z))
    return found * (180 / np.pi) if deg else found


@implements(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    return is_complex(as_traced(x))


@implements(np.isrealobj)
def isrealobj(x: Any) -> bool:
    return not is_complex(as_traced(x))


@implements(np.iscomplex)
def iscomplex(x: Any) -> Any:
    return np.not_equal(imag(x), 0)


@implements(np.isreal)
def isreal(x: Any) -> Any:
    return np.equal(imag(x), 0)
