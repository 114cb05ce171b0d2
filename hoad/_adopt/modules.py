"""Modules as adopted code finds them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hoad._core.base.frame_globals import AdoptedModule, found_for, stand_in


def replace(original: ModuleType, others: list[tuple[Any, Any]]) -> None:
    """Let adopted code find the second of each pair in the place of the first, in a module and wherever else.

    The module itself stays as it is: found in its place is one that asks it for each name.
    """
    for value, other in others:
        stand_in(value, other)
    if found_for(original) is original:
        stand_in(original, AdoptedModule(original))
