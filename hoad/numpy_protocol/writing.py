"""Functions that write into their argument: each refuses, and says what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoad._core.refusals import writes_into
from hoad._core.traced import FUNCTIONS


def _refused(function: Callable[..., Any]) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise writes_into(f"np.{function.__name__}")

    return refuse


for _function in (np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis):
    FUNCTIONS[_function] = _refused(_function)
