from collections.abc import Callable
from typing import Any

from hoad._core.trace.traced import METHODS as METHODS

GENERATOR_METHODS: dict[str, Callable[..., Any]]

class DrawListener: ...
