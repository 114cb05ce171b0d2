from typing import Any, Final, final

from hoad._core.taylor.event_search import EventSearch
from hoad._core.taylor.series import Series

DONE: int
NOT_FINITE: int
TOO_SHORT: int
TOO_MANY: int
FAILED: int
NO_VALUE: int
ENDED: int

@final
class Stepper:
    order: Final[int]
    @property
    def t(self) -> float: ...
    @property
    def rest(self) -> float: ...
    @property
    def began(self) -> float: ...
    @property
    def began_rest(self) -> float: ...
    @property
    def h(self) -> float: ...
    @property
    def taken(self) -> int: ...
    @property
    def runs(self) -> int: ...
    @property
    def state(self) -> Any: ...
    @property
    def coefficients(self) -> Any: ...
    @property
    def steps(self) -> tuple[Any, Any, Any, Any]: ...
    def __init__(
        self,
        series: Series,
        sizes: list[int],
        y: list[Any],
        t: float,
        factor: float,
        floor: float,
        tolerance: float,
        shortest: float,
        longest: float,
    ) -> None: ...
    def step(self, end: float) -> int: ...
    def run(self, times: Any, found: Any, most: int, keep: bool, search: EventSearch | None = None) -> int: ...

def value_at(coefficients: Any, h: float) -> Any: ...
