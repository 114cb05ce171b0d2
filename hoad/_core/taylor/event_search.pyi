from typing import Any, final

from hoad._core.taylor.series import Series

ENDED: int
EVENT_BRANCHED: int
EVENT_NOT_FINITE: int

@final
class EventSearch:
    @property
    def t(self) -> float: ...
    @property
    def value(self) -> float: ...
    @property
    def ended(self) -> float: ...
    @property
    def times(self) -> list[Any]: ...
    def __init__(
        self,
        series: Series,
        n: int,
        offsets: list[int],
        sizes: list[int],
        directions: list[int],
        lefts: list[int],
    ) -> None: ...
