"""Complex numbers and their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad._core.base.where import here
from hoad._core.trace.calls import apply_primitive
from hoad._core.trace.traced import is_traced, representing_as
from hoad._core.trace.views import part
from hoad._numpy.registry import FLOAT64, as_array, as_traced, implements, read_only_zeros
from hoad._ops import primitives as prim
from hoad.errors import NoRuleError


def is_complex(x: Any) -> bool:
    """Whether x has a complex dtype."""
    return bool(x.dtype.kind == "c")


def complexed(x: Any) -> Any:
    """x as complex numbers."""
    if x.dtype is FLOAT64:
        return apply_primitive(prim.COMPOSE, None, x, 0.0)
    return x.astype(np.result_type(x.dtype, np.complex64))


def refuse_complex(name: str, x: Any) -> None:
    """Raise where x is complex."""
    if is_complex(x):
        full = name if "." in name else f"np.{name}"
        raise NoRuleError(
            f"{full} of complex numbers has no derivative rule ({here()}). Take their parts, np.real and np.imag, "
            "or np.abs."
        )


@implements(np.real, method="real")
def real(x: Any) -> Any:
    x = as_array(x)
    return _as_whole(x, part(x, "real")) if is_complex(x) else x


@implements(np.imag)
def imag(x: Any) -> Any:
    x = as_array(x)
    if is_complex(x):
        return _as_whole(x, part(x, "imag"))
    return read_only_zeros(tuple(x.shape), x.dtype)[()]  # as NumPy's


def _as_whole(x: Any, of_x: Any) -> Any:
    """A part of x, a number where x is one."""
    return of_x if isinstance(x, np.ndarray) else representing_as(of_x, x)


def conjugate(x: Any) -> Any:
    """x̄, which is x itself where x is real."""
    return np.conjugate(x) if is_complex(x) else x


def squared_size(x: Any) -> Any:
    """|x|², also of a constant."""
    if not is_traced(x):
        return np.abs(x) ** 2
    return np.square(np.real(x)) + np.square(np.imag(x)) if is_complex(x) else x * x


@implements(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    z = as_traced(z)
    found = np.arctan2(np.imag(z), np.real(z))
    return found * (180 / np.pi) if deg else found


@implements(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    return is_complex(as_traced(x))


@implements(np.isrealobj)
def isrealobj(x: Any) -> bool:
    return not is_complex(as_traced(x))


@implements(np.iscomplex)
def iscomplex(x: Any) -> Any:
    return np.not_equal(np.imag(x), 0)


@implements(np.isreal)
def isreal(x: Any) -> Any:
    return np.equal(np.imag(x), 0)


@implements(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    """Whether all imaginary parts are small is guarded."""
    a = as_array(a)
    if not is_complex(a):
        return a
    limit = tol * np.finfo(a.dtype).eps if tol > 1 else tol
    return real(a) if np.all(np.less(np.abs(imag(a)), limit)) else a
