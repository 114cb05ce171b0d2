"""All names of NumPy that could be given a traced value are in a table, so that a new release adds names loudly."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.fft  # registers its functions below
import pytest
from covered.test_rows import ROWS
from numpy.testing import overrides

import hoad
from hoad.errors import HoadError

ROWS_BY_NAME = {row.name: row for row in ROWS}

# Names that no table has yet.
FUNCTIONS = """
allclose apply_along_axis apply_over_axes argwhere array2string array_equal array_equiv array_repr array_str
asfortranarray astype bincount bitwise_count bitwise_left_shift bitwise_right_shift busday_count busday_offset
can_cast common_type corrcoef count_nonzero datetime_as_string diag_indices_from digitize einsum_path emath.arccos
emath.arcsin emath.arctanh emath.log emath.log10 emath.log2 emath.logn emath.power emath.sqrt fix flatnonzero
from_dlpack frombuffer fromfile fromfunction fromiter fromstring gcd genfromtxt geomspace histogram histogram2d
histogram_bin_edges histogramdd i0 insert intersect1d is_busday isclose isin isnat isneginf isposinf ix_ lcm
left_shift lexsort lib.stride_tricks.sliding_window_view linalg.eig linalg.eigvals linalg.matrix_rank linalg.tensorinv
linalg.tensorsolve linspace loadtxt logspace may_share_memory min_scalar_type nanargmax nanargmin nanmedian
nanpercentile nanquantile nonzero packbits piecewise poly polyadd polyder polydiv polyfit polyint polymul polysub
ravel_multi_index real_if_close require result_type right_shift roots save savetxt savez savez_compressed setdiff1d
setxor1d shares_memory sort_complex tril_indices_from trim_zeros triu_indices_from union1d unique unique_all
unique_counts unique_inverse unique_values unpackbits unravel_index unwrap
"""
OF_RECORDS = """
append_fields apply_along_fields assign_fields_by_name drop_fields find_duplicates join_by merge_arrays
rec_append_fields rec_drop_fields rec_join recursive_fill_fields rename_fields repack_fields require_fields
stack_arrays structured_to_unstructured unstructured_to_structured
"""
MEMBERS = """
__array__ __array_finalize__ __array_interface__ __array_namespace__ __array_struct__ __array_wrap__ __class_getitem__
__complex__ __contains__ __delitem__ __dlpack__ __dlpack_device__ __float__ __ilshift__ __int__ __irshift__ __lshift__
__rlshift__ __rrshift__ __rshift__ __setstate__ base byteswap choose ctypes data device dump dumps flags getfield
nonzero partition resize setfield setflags strides to_device tobytes tofile tolist view
"""
METHODS = {
    "accumulate reduceat": "add logical_and logical_or maximum minimum multiply",
    "accumulate reduce reduceat": (
        "arctan2 bitwise_and bitwise_or bitwise_xor copysign divide float_power floor_divide fmax fmin "
        "fmod heaviside hypot logaddexp logaddexp2 logical_xor nextafter power remainder subtract"
    ),
    "at": "bitwise_count",
    "accumulate at outer reduce reduceat": "gcd lcm left_shift right_shift",
    "at reduce": "ldexp",
}
NOT_YET = {
    *(f"numpy.{name}" for name in FUNCTIONS.split()),
    *(f"numpy.lib.recfunctions.{name}" for name in OF_RECORDS.split()),
    *(f"numpy.ndarray.{name}" for name in MEMBERS.split()),
    *(f"numpy.{name}.{m}" for methods, names in METHODS.items() for m in methods.split() for name in names.split()),
}

# The names of the array API standard (2024.12) that NumPy has.
ARRAY_API = """
abs acos acosh add all any arange argmax argmin argsort asarray asin asinh astype atan atan2 atanh bitwise_and
bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor broadcast_arrays broadcast_to can_cast ceil
clip concat conj copysign cos cosh count_nonzero cumulative_prod cumulative_sum diff divide empty empty_like equal exp
expand_dims expm1 eye finfo flip floor floor_divide from_dlpack full full_like greater greater_equal hypot iinfo imag
isdtype isfinite isinf isnan less less_equal linspace log log10 log1p log2 logaddexp logical_and logical_not logical_or
logical_xor matmul matrix_transpose max maximum mean meshgrid min minimum moveaxis multiply negative nextafter nonzero
not_equal ones ones_like permute_dims positive pow prod real reciprocal remainder repeat reshape result_type roll round
searchsorted sign signbit sin sinh sort sqrt square squeeze stack std subtract sum take take_along_axis tan tanh
tensordot tile tril triu trunc unique_all unique_counts unique_inverse unique_values unstack var vecdot where zeros
zeros_like
fft.fft fft.fftfreq fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifftn fft.ifftshift fft.ihfft fft.irfft fft.irfftn
fft.rfft fft.rfftfreq fft.rfftn
linalg.cholesky linalg.cross linalg.det linalg.diagonal linalg.eigh linalg.eigvalsh linalg.inv linalg.matmul
linalg.matrix_norm linalg.matrix_power linalg.matrix_rank linalg.matrix_transpose linalg.outer linalg.pinv linalg.qr
linalg.slogdet linalg.solve linalg.svd linalg.svdvals linalg.tensordot linalg.trace linalg.vecdot linalg.vector_norm
"""

X = np.array([[0.5, 0.25], [0.75, 1.5]])
V = np.array([0.5, 0.75, 1.5])


def resolved(name: str) -> Any:
    """What a full name stands for, or None where this release of NumPy has no such name."""
    found: Any = np
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def functions() -> set[str]:
    names = {f"{f.__module__}.{f.__name__}" for f in overrides.get_overridable_numpy_array_functions()}
    return {name.replace("numpy.lib.scimath", "numpy.emath") for name in names}


def ufuncs() -> set[str]:
    """Those that have a name in numpy; the others take text, or are called by functions that are overridable."""
    return {
        f"numpy.{ufunc.__name__}"
        for ufunc in overrides.get_overridable_numpy_ufuncs()
        if getattr(np, ufunc.__name__, None) is ufunc
    }


def is_allowed(ufunc: np.ufunc, method: str, x: Any) -> bool:
    others = [x] * (ufunc.nin - 1)
    arguments = {"reduceat": [x, [0, 1]], "outer": [x, *others], "at": [x.copy(), [0, 1, 2], *others]}
    with np.errstate(all="ignore"):
        try:
            getattr(ufunc, method)(*arguments.get(method, [x]))
        except (TypeError, ValueError, RuntimeError):
            return False
    return True


def ufunc_methods() -> set[str]:
    """Those that NumPy calls for floats; for booleans where there are none; or for integers."""
    found = set()
    for name in ufuncs():
        ufunc = resolved(name)
        for x in (V, V > 1, V.astype(int)):
            allowed = {m for m in ("reduce", "accumulate", "reduceat", "outer", "at") if is_allowed(ufunc, m, x)}
            if allowed:
                found |= {f"{name}.{method}" for method in allowed}
                break
    return found


def members() -> set[str]:
    """Of arrays: all but those of any object of Python, other than comparisons, and the rank among array types."""
    comparisons = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
    left_out = {*dir(object), "__array_priority__"} - comparisons
    return {f"numpy.ndarray.{name}" for name in dir(np.ndarray) if name not in left_out}


def of_modules() -> set[str]:
    return {
        f"numpy.{module}.{name}"
        for module in ("linalg", "fft", "emath")
        for name in getattr(np, module).__all__
        if not isinstance(getattr(getattr(np, module), name), type)
    }


def of_the_standard() -> set[str]:
    names = {f"numpy.{name}" for name in ARRAY_API.split()}
    return {name for name in names if resolved(name) is not None}


AREAS = {
    "functions": functions(),
    "ufuncs": ufuncs(),
    "methods of ufuncs": ufunc_methods(),
    "members of arrays": members(),
    "linalg, fft, emath": of_modules(),
    "array API": of_the_standard(),
}


def in_tables() -> set[str]:
    """The names of all rows, and other names of the same objects."""
    objects = {id(f): f for f in map(resolved, ROWS_BY_NAME)}  # which are kept, so that no other gets their ids
    wanted = {name for names in AREAS.values() for name in names}
    return {*ROWS_BY_NAME, *(name for name in wanted if id(resolved(name)) in objects)}


@pytest.mark.parametrize("area", AREAS)
def test_every_name_is_in_a_table(area: str) -> None:
    missing = AREAS[area] - in_tables() - NOT_YET
    assert not missing, f"no row in tests/covered/table_*.py for {sorted(missing)}"


def test_every_row_is_of_a_name_that_numpy_has() -> None:
    """Or had, or will have: names differ between releases, but not most of them."""
    gone = {name for name in ROWS_BY_NAME if resolved(name) is None}
    assert len(gone) < 12, sorted(gone)


def test_what_is_not_yet_covered_is_in_no_table() -> None:
    assert not NOT_YET & in_tables(), "take these names from NOT_YET"


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
        call(x)
    except Exception:
        return False
    return True


@pytest.mark.parametrize("name", sorted(NOT_YET))
@pytest.mark.filterwarnings("ignore")
def test_what_is_not_yet_covered_does_not_run(name: str) -> None:
    for call, x in itertools.product(calls(name), (V, X)):
        if is_taken(call, x):
            with pytest.raises((HoadError, AttributeError, TypeError, ValueError, RuntimeError)):
                hoad.jvp(lambda x, call=call: (call(x), x)[1], (x,), (x,))
