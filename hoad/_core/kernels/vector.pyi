from typing import Any

import numpy as np

FASTER: dict[str, tuple[str, ...]]

def targets() -> list[str]: ...
def target() -> str: ...
def names() -> tuple[list[str], list[str]]: ...
def evaluate(
    name: str,
    x: np.ndarray[Any, Any],
    y: np.ndarray[Any, Any] | None = None,
    *,
    out: np.ndarray[Any, Any] | None = None,
    of: str | None = None,
) -> np.ndarray[Any, Any]: ...
def library(
    name: str,
    x: np.ndarray[Any, Any],
    y: np.ndarray[Any, Any] | None = None,
    *,
    out: np.ndarray[Any, Any] | None = None,
) -> np.ndarray[Any, Any]: ...
