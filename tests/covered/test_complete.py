"""All names of NumPy that could be given a traced value are in a table, so that a new release adds names loudly."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from covered.names import AREAS, COVERED, TABLES, resolved
from covered.points import POSITIVE, B

import hoad
from hoad.errors import HoadError

# Names that no table has yet.
FUNCTIONS = """
from_dlpack fromfile
"""
MEMBERS = """
__array_finalize__ __array_interface__ __array_struct__ __array_wrap__ __class_getitem__ __contains__ __delitem__
__dlpack__ __dlpack_device__ __ilshift__ __irshift__ __lshift__ __rlshift__ __rrshift__ __rshift__ __setstate__
"""
METHODS = {
    "at": "bitwise_count gcd lcm left_shift right_shift",
    "outer": "gcd lcm",
    "at reduce": "ldexp",
}
NOT_YET = {
    *(f"numpy.{name}" for name in FUNCTIONS.split()),
    *(f"numpy.ndarray.{name}" for name in MEMBERS.split()),
    *(f"numpy.{name}.{m}" for methods, names in METHODS.items() for m in methods.split() for name in names.split()),
}


@pytest.mark.parametrize("area", AREAS)
def test_every_name_is_in_a_table(area: str) -> None:
    missing = AREAS[area] - COVERED.keys() - NOT_YET
    assert not missing, f"no row in tests/covered/table_*.py for {sorted(missing)}"


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.3.0", reason="older releases have fewer names")
def test_every_row_is_of_a_name_that_numpy_has() -> None:
    gone = {row.name for rows in TABLES.values() for row in rows if resolved(row.name) is None}
    assert not gone, f"NumPy has no {sorted(gone)}"


def test_what_is_not_yet_covered_is_in_no_table() -> None:
    assert not NOT_YET & COVERED.keys(), "take these names from NOT_YET"


def calls(name: str) -> Iterator[Any]:
    """Calls that a function of this name may take, each of a traced array."""
    if name.startswith("numpy.ndarray."):
        member = name.removeprefix("numpy.ndarray.")
        if callable(getattr(np.ndarray, member)):
            yield from (lambda x, a=args: getattr(x, member)(*a) for args in ((), (0,), (0.5,), (float,)))
        else:
            yield lambda x: getattr(x, member)
    elif name.rpartition(".")[2] in ("reduce", "accumulate"):
        yield resolved(name)
    elif name.endswith(".reduceat"):
        yield lambda x: resolved(name)(x, [0, 1])
    else:
        f = resolved(name)
        yield from (f, lambda x: f(x, x), lambda x: f(x, 1), lambda x: f([x, x]), lambda x: f(3, like=x))


def is_taken(call: Any, x: Any) -> bool:
    try:
        call(x.copy())  # which some of the calls change
    except Exception:
        return False
    return True


@pytest.mark.parametrize("name", sorted(NOT_YET))
@pytest.mark.filterwarnings("ignore")
def test_what_is_not_yet_covered_does_not_run(name: str) -> None:
    for call, x in itertools.product(calls(name), (POSITIVE, B)):
        if is_taken(call, x):
            with pytest.raises((HoadError, AttributeError, TypeError, ValueError, RuntimeError)):
                hoad.jvp(lambda x, call=call: (call(x), x)[1], (x,), (x,))
