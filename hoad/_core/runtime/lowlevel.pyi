from typing import Any, Final, final

from typing_extensions import Self

from hoad._core.runtime.engine import Lowered

CALL_ADDRESS: Final[int]
ODE_ADDRESS: Final[int]

@final
class EntryPoint:
    error: BaseException | None
    n_inputs: int
    n_outputs: int
    def __new__(cls, program: Lowered, spaces: int) -> Self: ...
    @property
    def program_address(self) -> int: ...
    def scipy_parts(self, signature: str) -> tuple[Any, Any]: ...
