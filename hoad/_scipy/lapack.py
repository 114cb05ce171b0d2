"""Routines of LAPACK that SciPy's Python code asks for by name."""

from __future__ import annotations

from typing import Any

import scipy.linalg

from hoad._core.trace.coerce import holds_traced
from hoad._numpy.registry import as_traced
from hoad._scipy.registry import IMPLEMENTED
from hoad._scipy.systems import banded_solution


def get_lapack_funcs(names: Any, arrays: Any = (), *args: Any, **kwargs: Any) -> Any:
    """SciPy's, or of traced arrays what solves a banded system in the place of LAPACK's."""
    if names == ("gbsv",) and holds_traced(list(arrays)):
        return [_gbsv]
    return scipy.linalg.get_lapack_funcs(names, arrays, *args, **kwargs)


def _gbsv(below: int, above: int, ab: Any, b: Any, **_: Any) -> tuple[Any, Any, Any, int]:
    return None, None, banded_solution(as_traced(ab)[below:], as_traced(b), below, above), 0


IMPLEMENTED[scipy.linalg.get_lapack_funcs] = get_lapack_funcs
