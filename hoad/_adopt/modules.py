"""Modules as adopted code finds them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hoad._core.base.frame_globals import stand_in


def replace(original: ModuleType, others: list[tuple[Any, Any]], kind: type[ModuleType] = ModuleType) -> ModuleType:
    """Let adopted code find the second of each pair in the place of the first, in a module and wherever else.

    The module itself stays as it is: found in its place is a copy.
    """
    found = {id(value): other for value, other in others}
    module = kind(original.__name__, original.__doc__)
    module.__dict__.update({name: found.get(id(value), value) for name, value in vars(original).items()})
    for value, other in others:
        stand_in(value, other)
    stand_in(original, module)
    return module
