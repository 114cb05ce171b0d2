"""Nodes and weights of quadrature rules, which depend on plain numbers and are kept by those that ask for them."""

from __future__ import annotations

import functools
from typing import Any

import scipy.special

from hoad._core.base.frame_globals import Apart
from hoad._scipy.registry import IMPLEMENTED, Function


def _apart(original: Function) -> Function:
    @functools.wraps(original)
    def roots(*args: Any, **kwargs: Any) -> Any:
        with Apart():
            return original(*args, **kwargs)

    return roots


for _name in scipy.special.__all__:
    if _name.startswith("roots_"):
        IMPLEMENTED[getattr(scipy.special, _name)] = _apart(getattr(scipy.special, _name))
