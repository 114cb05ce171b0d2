"""Running sums without Python."""

from typing import final

from hoad._core.kernels.scalar.native_call import Native
from hoad._core.graph.tape import Aval

@final
class RunningSum(Native):
    """Sums of the first numbers along an axis."""

def running_sum(x: Aval, axis: int) -> Native | None: ...
