from typing import Any, final

from hoad._core.taylor.series import Series

@final
class EventSearch:
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
