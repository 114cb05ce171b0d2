"""Derivatives of spectral functions of a matrix, by divided differences, without Python."""

from collections.abc import Sequence
from typing import Literal, final

from hoad._core.kernels.scalar.native_call import Native
from hoad._core.graph.primitive import Primitive
from hoad._core.graph.tape import Aval

HIDDEN: int

@final
class Spectral(Native):
    """A derivative of V f(w) Vᴴ along directions, or the weights of c in its product with a matrix."""

def spectral(
    matmul: Primitive,
    what: Literal["derivative", "weights", "product"],
    singular: bool,
    known: bool,
    strong: bool,
    one: bool,
    avals: Sequence[Aval],
) -> Native: ...
