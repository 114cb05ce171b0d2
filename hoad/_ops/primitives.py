"""What hoad can record: the table of primitives, with shapes and dtypes of their results."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from hoad._core.base.where import here, name_of
from hoad._core.graph.primitive import (
    CONCATENATE,
    GATHER,
    GUFUNC,
    PUT,
    PYTHON,
    REDUCE,
    STRIDED,
    STRUCTURE,
    UFUNC,
    Primitive,
    ufunc_primitive,
)
from hoad._core.graph.tape import AbstractValue, intern_aval
from hoad._core.kernels import ufuncs
from hoad._core.kernels.native_call import NativeCall, run
from hoad._core.ops.cast import cast
from hoad._core.ops.cumsum import running_sum
from hoad._core.ops.gufunc_call import (
    cholesky_factor,
    eigenvectors,
    fourier_transform,
    least_squares,
    pseudoinverse,
    singular_factors,
    symmetric_doubles,
    symmetric_factors,
    triangular_factors,
)
from hoad._core.ops.plan import broadcast_shapes, broadcast_strides, contiguous_strides
from hoad._core.ops.searchsorted import sorted_places
from hoad._core.runtime.elimination import det_gradient
from hoad._core.runtime.spectral import spectral
from hoad._ops.adjugates import conjugate_transposed, mixed_adjugate, transposed
from hoad.errors import GuardError, NoRuleError, ShapeError, count

Params = Any
Avals = tuple[AbstractValue, ...]

BOOL = np.dtype(np.bool_)


@functools.lru_cache(maxsize=32)
def real_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype of the parts of a complex number; any other is its own."""
    return np.empty(0, dtype).real.dtype


# ---- structure: what the sweeps know by themselves ------------------------------------------------------------------


def _same(params: Params, x: AbstractValue, *rest: AbstractValue) -> Avals:
    return (x,)


INPUT = Primitive("input", kind=STRUCTURE, nin=0)
IDENTITY = Primitive("identity", kind=STRUCTURE, linear=True, infer=_same, series="copy")
RESULT = Primitive("result", kind=STRUCTURE)
ITEM = Primitive("item", kind=STRUCTURE, series="item")
ASSEMBLE = Primitive("assemble", kind=STRUCTURE, nin=-1, linear=True, series="each")


def _declare_python(
    name: str, function: Callable[..., Any], infer: Callable[..., Avals], *params: str, **facts: Any
) -> Primitive:
    """A primitive that is computed in Python, with the names of its parameters."""
    return Primitive(name, function=function, kind=PYTHON, infer=infer, param_names=params or None, **facts)


def over_lanes(function: Callable[..., Any]) -> Callable[..., Any]:
    """The `batch` of a function (params, *operands) that broadcasts its operands: their lanes, and their last axes."""

    def batch(params: Params, *operands: Any) -> Any:
        ndim = max([x.ndim for x in operands])
        return function(
            params,
            *[x if x.ndim == ndim else x.reshape(len(x), *(1,) * (ndim - x.ndim), *x.shape[1:]) for x in operands],
        )

    return batch


# ---- ufuncs ---------------------------------------------------------------------------------------------------------


def _ufunc_infer(ufunc: np.ufunc) -> Callable[..., Avals]:
    def infer(params: Params, *operands: AbstractValue) -> Avals:
        dtypes = ufunc.resolve_dtypes((*[x.dtype for x in operands], *[None] * ufunc.nout))
        try:
            shape = operands[0].shape
            if any(x.shape != shape for x in operands):
                shape = broadcast_shapes(*[x.shape for x in operands])
        except ValueError:
            shapes = " and ".join(str(x.shape) for x in operands)
            raise ShapeError(
                f"{name_of(ufunc)} cannot broadcast the shapes {shapes} together ({here()}). Make them equal, or 1, "
                "from the last axis backwards."
            ) from None
        return tuple(intern_aval(dtype, shape) for dtype in dtypes[ufunc.nin :])

    return infer


def declare_ufunc(ufunc: np.ufunc, name: str = "", **flags: Any) -> Primitive:
    """The primitive of a NumPy ufunc; one of another library goes by a name that says which."""
    name = name or ("conjugate" if ufunc is np.conjugate else ufunc.__name__)
    return Primitive(
        name, function=ufunc, kind=UFUNC, nin=ufunc.nin, nout=ufunc.nout, infer=_ufunc_infer(ufunc), **flags
    )


DEGREE, RADIAN = 180.0 / math.pi, math.pi / 180.0

# Arithmetic
ADD = declare_ufunc(np.add, symbol="+", commutative=True, linear=True, analytic=True, series="add")
SUBTRACT = declare_ufunc(np.subtract, symbol="-", linear=True, analytic=True, series="subtract")
MULTIPLY = declare_ufunc(np.multiply, symbol="*", commutative=True, multilinear=True, analytic=True, series="multiply")
DIVIDE = declare_ufunc(np.divide, symbol="/", linear_in=(0,), analytic=True, series="divide")
POWER = declare_ufunc(np.power, symbol="**", costly=True, analytic=True, series="power")
declare_ufunc(np.float_power, costly=True, analytic=True, series="power")
NEGATIVE = declare_ufunc(np.negative, symbol="-", linear=True, analytic=True, series="negative")
declare_ufunc(np.positive, symbol="+", linear=True, analytic=True, series="copy")
SQUARE = declare_ufunc(np.square, analytic=True, series="square")
declare_ufunc(np.reciprocal, analytic=True, series="reciprocal")
CONJUGATE = declare_ufunc(np.conjugate, linear=True, conjugates=True, series="copy")
declare_ufunc(np.floor_divide, symbol="//", zero_derivative=True, may_round=True, series="constant")
declare_ufunc(np.remainder, symbol="%", may_round=True)

# Of one number
_ufunc: np.ufunc
for _ufunc in (np.degrees, np.rad2deg):
    declare_ufunc(_ufunc, linear=True, analytic=True, series="scale", factor=DEGREE)
for _ufunc in (np.radians, np.deg2rad):
    declare_ufunc(_ufunc, linear=True, analytic=True, series="scale", factor=RADIAN)
for _ufunc in (np.sqrt, np.cbrt, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p):
    declare_ufunc(_ufunc, costly=True, analytic=True)
for _ufunc in (np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan):
    declare_ufunc(_ufunc, costly=True, analytic=True)
for _ufunc in (np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh):
    declare_ufunc(_ufunc, costly=True, analytic=True)
ABSOLUTE = declare_ufunc(np.absolute)
for _ufunc in (np.fabs, np.frexp):
    declare_ufunc(_ufunc)
for _ufunc in (np.floor, np.ceil, np.trunc, np.rint):
    declare_ufunc(_ufunc, zero_derivative=True, may_round=True, series="constant")
declare_ufunc(np.modf, may_round=True)
declare_ufunc(np.sign, zero_derivative=True, conjugates=True, series="constant")  # of complex numbers it has one
declare_ufunc(np.spacing, zero_derivative=True, series="constant")

# Of two
for _ufunc in (np.maximum, np.minimum, np.fmax, np.fmin):  # which zero, and which nan, depends on the order
    declare_ufunc(_ufunc, symmetric=True)
for _ufunc in (np.logaddexp, np.logaddexp2):
    declare_ufunc(_ufunc, symmetric=True, costly=True, analytic=True)
declare_ufunc(np.hypot, symmetric=True, costly=True)
declare_ufunc(np.arctan2, costly=True)
for _ufunc in (np.copysign, np.heaviside, np.nextafter):
    declare_ufunc(_ufunc)
declare_ufunc(np.fmod, may_round=True)
declare_ufunc(np.ldexp, linear_in=(0,))

# Booleans
for _ufunc in (np.isnan, np.isinf, np.isfinite, np.signbit, np.logical_not):
    declare_ufunc(_ufunc, is_bool=True)
for _ufunc in (np.logical_and, np.logical_or, np.logical_xor):
    declare_ufunc(_ufunc, is_bool=True, commutative=True)
declare_ufunc(np.less, symbol="<", is_bool=True)
declare_ufunc(np.less_equal, symbol="<=", is_bool=True)
declare_ufunc(np.greater, symbol=">", is_bool=True)
declare_ufunc(np.greater_equal, symbol=">=", is_bool=True)
declare_ufunc(np.equal, symbol="==", is_bool=True, symmetric=True)
declare_ufunc(np.not_equal, symbol="!=", is_bool=True, symmetric=True)

# Ours, where NumPy has none: see hoad._core.kernels.ufuncs. A zero on the left is strong, or one on either side.
STRONG_MULTIPLY = declare_ufunc(
    ufuncs.strong_multiply, symbol="·", multilinear=True, analytic=True, series="strong_multiply"
)
STRONG_MULTIPLY_BOTH = declare_ufunc(
    ufuncs.strong_multiply_both,
    symbol="×",
    commutative=True,
    multilinear=True,
    analytic=True,
    series="strong_multiply_both",
)
STRONG_DIVIDE = declare_ufunc(ufuncs.strong_divide, symbol="÷", linear_in=(0,), analytic=True, series="strong_divide")
MASK = declare_ufunc(ufuncs.mask, linear_in=(1,), series="mask")
# Costly, so that sweeps find it again.
SLOPE = declare_ufunc(ufuncs.slope, costly=True, zero_derivative=True, series="constant")
SMOOTH = declare_ufunc(ufuncs.smooth)
SELECT = declare_ufunc(ufuncs.select, series="select")
SECH_SQUARED = declare_ufunc(ufuncs.sech_squared, costly=True, analytic=True)
SQRT_ONE_MINUS_SQUARE = declare_ufunc(ufuncs.sqrt_one_minus_square, costly=True, analytic=True)
X_OVER_HYPOT = declare_ufunc(ufuncs.x_over_hypot, costly=True)
POWLOG1 = declare_ufunc(ufuncs.powlog1, costly=True, analytic=True)
POWLOG2 = declare_ufunc(ufuncs.powlog2, costly=True, analytic=True)
POWLOG3 = declare_ufunc(ufuncs.powlog3, costly=True, analytic=True)
LOGISTIC = declare_ufunc(ufuncs.logistic, costly=True, analytic=True)

# Parts of complex numbers: real-linear, as the conjugate is.
REAL = declare_ufunc(ufuncs.real, linear=True, series="each")
IMAG = declare_ufunc(ufuncs.imag, linear=True, series="each")
COMPOSE = declare_ufunc(ufuncs.compose, "complex", linear=True, series="each")


# ---- reductions; parameters: (axes, shape of the result) ------------------------------------------------------------


def _declare_reduction(name: str, ufunc: np.ufunc, **facts: Any) -> Primitive:
    def infer(params: Params, x: AbstractValue) -> Avals:
        return (intern_aval(x.dtype, params[1]),)

    return Primitive(name, function=ufunc, kind=REDUCE, infer=infer, param_names=("axes", "shape"), **facts)


SUM = _declare_reduction("sum", np.add, linear=True, series="each")
MAX = _declare_reduction("max", np.maximum, series="extreme")
MIN = _declare_reduction("min", np.minimum, series="extreme")


# ---- copies through strides -----------------------------------------------------------------------------------------


def _bytes(
    x: AbstractValue, shape: Sequence[int], strides: Sequence[int], offset: int = 0
) -> tuple[Any, list[int], int]:
    return shape, [s * x.itemsize for s in strides], offset * x.itemsize


def _declare_strided(
    name: str,
    view: Callable[[Params, AbstractValue], tuple[Any, list[int], int]],
    shape: Callable[[Params, AbstractValue], tuple[int, ...]],
    *params: str,
    **facts: Any,
) -> Primitive:
    def infer(params: Params, x: AbstractValue) -> Avals:
        return (intern_aval(x.dtype, shape(params, x)),)

    facts = {"series": "each"} | facts
    return Primitive(name, function=view, kind=STRIDED, infer=infer, linear=True, param_names=params, **facts)


def _whole_view(params: Params, x: AbstractValue) -> tuple[Any, list[int], int]:
    return x.shape, contiguous_strides(x.shape, x.itemsize), 0


def _broadcast_view(params: Params, x: AbstractValue) -> tuple[Any, list[int], int]:
    return params[0], broadcast_strides(x, params[0]), 0


RESHAPE = _declare_strided("reshape", _whole_view, lambda params, x: params[0], "shape")
TRANSPOSE = _declare_strided(
    "transpose",
    lambda params, x: _bytes(x, [x.shape[a] for a in params[0]], [contiguous_strides(x.shape)[a] for a in params[0]]),
    lambda params, x: tuple(x.shape[a] for a in params[0]),
    "axes",
)
BROADCAST_TO = _declare_strided("broadcast_to", _broadcast_view, lambda params, x: params[0], "shape")
# Basic indexing; strides and offset in items of the contiguous operand.
GETITEM = _declare_strided(
    "getitem", lambda params, x: _bytes(x, *params), lambda params, x: params[0], "shape", "strides", "offset"
)
STOP_GRADIENT = _declare_strided(
    "stop_gradient", _whole_view, lambda params, x: x.shape, series="constant", zero_derivative=True
)


# ---- gathering and joining ------------------------------------------------------------------------------------------


def _concatenate_infer(params: Params, *operands: AbstractValue) -> Avals:
    axis = params[0]
    shape = list(operands[0].shape)
    shape[axis] = sum(x.shape[axis] for x in operands)
    return (intern_aval(operands[0].dtype, tuple(shape)),)


# gather(x, flat): x.ravel()[flat]
GATHER_ITEMS = Primitive(
    "gather",
    kind=GATHER,
    nin=2,
    infer=lambda params, x, flat: (intern_aval(x.dtype, flat.shape),),
    linear_in=(0,),
    series="each",
)
# put(x, v, flat): x with v at flat places; where one comes twice, the last holds
PUT_ITEMS = Primitive("put", kind=PUT, nin=3, infer=lambda params, x, v, flat: (x,), linear_in=(0, 1), series="each")
JOIN = Primitive(
    "concatenate", kind=CONCATENATE, nin=-1, infer=_concatenate_infer, linear=True, param_names=("axis",), series="each"
)


def index_of(params: Params, *indices: Any) -> tuple[Any, ...]:
    """The index that the parameters of `FLAT_INDEX` stand for: `None` in it is the next of `indices`."""
    rest = iter(indices)
    return tuple(
        np.asarray(next(rest)) if k is None else (None if k == "newaxis" else slice(*k) if isinstance(k, tuple) else k)
        for k in params[1]
    )


def flat_places(shape: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The flat place of every item of an array of this shape."""
    return np.arange(math.prod(shape), dtype=np.int64).reshape(shape)


def _flat_index(params: Params, *indices: Any) -> Any:
    """Flat places of ``x[index]`` for x of a shape."""
    if params[1] == (None,):
        return flat_places(params[0])[np.asarray(indices[0])]
    return flat_places(params[0])[index_of(params, *indices)]


def _flat_index_infer(params: Params, *indices: AbstractValue) -> Avals:
    zeros = [np.zeros(i.shape, i.dtype) for i in indices]
    return (intern_aval(np.dtype(np.int64), _flat_index(params, *zeros).shape),)


FLAT_INDEX = _declare_python(
    "flat_index", _flat_index, _flat_index_infer, "shape", "index", nin=-1, zero_derivative=True
)


def _flat_index_batch(params: Params, *indices: Any) -> Any:
    if params[1] == (None,):  # lanes come first here too
        return _flat_index(params, *indices)
    return np.stack([_flat_index(params, *[index[lane] for index in indices]) for lane in range(len(indices[0]))])


FLAT_INDEX.batch = _flat_index_batch

ASTYPE = _declare_python(
    "astype",
    lambda params, x: np.asarray(x).astype(params[0]),
    lambda params, x: (intern_aval(np.dtype(params[0]), x.shape),),
    "dtype",
    linear=True,
    series="each",
)
ASTYPE.native = lambda params, x: cast(x, params[0])
ASTYPE.batch = ASTYPE.function


# ---- linear algebra -------------------------------------------------------------------------------------------------


def _matmul_infer(params: Params, a: AbstractValue, b: AbstractValue) -> Avals:
    if not a.ndim or not b.ndim:
        raise ShapeError(
            f"matmul needs at least one dimension on each side, but found {a.shape} and {b.shape} ({here()}). Use *."
        )
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise ShapeError(
            f"matmul of shapes {a.shape} and {b.shape} ({here()}): {count(a.shape[-1], 'column')} on the left must "
            f"meet as many rows on the right, but there {'is' if inner == 1 else 'are'} {inner}."
        )
    outer = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = outer + (a.shape[-2:-1] if a.ndim > 1 else ()) + (b.shape[-1:] if b.ndim > 1 else ())
    return (intern_aval(np.result_type(a.dtype, b.dtype), shape),)


def _check_matrix(name: str, a: AbstractValue) -> None:
    if a.ndim < 2:
        raise ShapeError(f"np.linalg.{name} needs matrices, but found shape {a.shape}.")


def _check_square(name: str, a: AbstractValue) -> None:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ShapeError(f"np.linalg.{name} needs square matrices, but found shape {a.shape} ({here()}).")


def _of_matrix(
    name: str, results: Callable[[AbstractValue], Avals], check: Callable[[str, AbstractValue], None] = _check_matrix
) -> Callable[..., Avals]:
    """What is inferred of a function of matrices."""

    def infer(params: Params, a: AbstractValue) -> Avals:
        check(name, a)
        return results(a)

    return infer


_of_square = partial(_of_matrix, check=_check_square)


def _solve_infer(params: Params, a: AbstractValue, b: AbstractValue) -> Avals:
    _check_square("solve", a)
    if b.shape[-2] != a.shape[-1]:
        raise ShapeError(
            f"np.linalg.solve: {a.shape} and {b.shape} do not fit ({here()}); the right side needs "
            f"{count(a.shape[-1], 'row')}."
        )
    outer = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return (intern_aval(b.dtype, outer + b.shape[-2:]),)


# NumPy's linear algebra is made of gufuncs, which run without the GIL. Zeros of a product of strong zeros stay strong.
_lapack = np.linalg._umath_linalg


def _declare_gufunc(name: str, function: Any, infer: Callable[..., Avals], **facts: Any) -> Primitive:
    return Primitive(name, function=function, kind=GUFUNC, infer=infer, costly=True, **facts)


MATMUL = _declare_gufunc("matmul", np.matmul, _matmul_infer, nin=2, multilinear=True, linear_in=(0, 1), series="matmul")
SOLVE = _declare_gufunc("solve", _lapack.solve, _solve_infer, nin=2, linear_in=(1,), series="solve")
INV = _declare_gufunc("inv", _lapack.inv, _of_square("inv", lambda a: (a,)), series="invert")
DET = _declare_gufunc("det", _lapack.det, _of_square("det", lambda a: (intern_aval(a.dtype, a.shape[:-2]),)))
SLOGDET = _declare_gufunc(
    "slogdet",
    _lapack.slogdet,
    _of_square("slogdet", lambda a: tuple(intern_aval(d, a.shape[:-2]) for d in (a.dtype, real_dtype(a.dtype)))),
    nout=2,
)


def _of_matrices(
    name: str, native: Callable[..., NativeCall], infer: Callable[..., Any], linear_in: Any, *params: str
) -> Primitive:
    def compute(params: Params, *operands: Any) -> Any:
        values = [np.ascontiguousarray(x) for x in operands]
        avals = [intern_aval(x.dtype, x.shape) for x in values]
        results = [np.empty(x.shape, x.dtype) for x in infer(params, *avals)]
        run(native(params, *avals), values, results)
        return results[0]

    made = _declare_python(name, compute, infer, *params, nin=-1, costly=True, linear_in=tuple(linear_in))
    made.native = native
    return made


def _cofactors(params: Params, x: Any, u: Any, s: Any, vh: Any, *directions: Any) -> Any:
    """The gradient of det at x = u diag(s) vh, or its derivative along directions, in each of which it is linear."""
    return transposed(mixed_adjugate(u, s, vh, directions))


def _cofactors_of_lanes(params: Params, x: Any, u: Any, s: Any, vh: Any, *directions: Any) -> Any:
    """What is the same in all lanes, repeated by strides, is worked on once.

    Lanes that differ have one block size, that of the most demanding: `_apart` in hoad/_ops/adjugates.py.
    """
    u, s, vh = (a[:1] if a.strides[0] == 0 else a for a in (u, s, vh))
    return np.broadcast_to(transposed(mixed_adjugate(u, s, vh, directions)), x.shape)


# Each derivative taken is one direction more. No value has 252 of them: k directions are a sum of 2ᵏ products.
COFACTORS = _declare_python("cofactors", _cofactors, _same, nin=-1, costly=True, linear_in=tuple(range(4, 256)))
COFACTORS.batch = _cofactors_of_lanes


def _det_svd(params: Params, a: Any) -> Any:
    """u, s, vᴴ of each matrix; of one that is not finite, identities about singular values of nan.

    LAPACK does not return from an infinity, and a nan would fail all of the stack.
    """
    if np.isfinite(a).all():
        return np.linalg.svd(a)
    known = np.isfinite(a).all(axis=(-2, -1))[..., None]
    u, s, vh = np.linalg.svd(np.where(known[..., None], a, np.eye(a.shape[-1], dtype=a.dtype)))
    return u, np.where(known, s, s.dtype.type(np.nan)), vh


DET_SVD = _declare_python(
    "det_svd", _det_svd, lambda params, a: (a, intern_aval(real_dtype(a.dtype), a.shape[:-1]), a), nout=3, costly=True
)
DET_SVD.batch = _det_svd
# The cofactors, of up to `MOST_ROWS` rows without singular values.
DET_GRADIENT = _of_matrices("det_gradient", lambda params, x: det_gradient(x), _same, ())


# ---- factors of matrices; NumPy computes them, with its signs -------------------------------------------------------


def _svd_factors(a: AbstractValue) -> Avals:
    *outer, m, n = a.shape
    k = min(m, n)
    kinds = a.dtype, real_dtype(a.dtype), a.dtype
    return tuple(intern_aval(d, (*outer, *core)) for d, core in zip(kinds, ((m, k), (k,), (k, n)), strict=True))


def _lstsq_infer(params: Params, a: AbstractValue, b: AbstractValue) -> Avals:
    if a.ndim != 2 or b.ndim != 2 or a.shape[0] != b.shape[0]:
        raise ShapeError(
            f"np.linalg.lstsq: {a.shape} and {b.shape} do not fit; it takes one matrix, and a right side of as many "
            "rows."
        )
    return (intern_aval(a.dtype, (a.shape[1], b.shape[1])),)


def is_symmetric(a: Any, conjugated: bool = True) -> bool:
    """Whether both triangles are the same (or the conjugates) but for rounding.

    Entry by entry, so that a large one, or a large matrix of a stack, does not hide a triangle of small ones.
    """
    known = symmetric_doubles(a, conjugated)
    if known is not None:
        return known
    other = a.swapaxes(-1, -2)
    if conjugated and a.dtype.kind == "c":
        other = np.conjugate(other)
    if (a == other).all():
        return True
    eps = np.finfo(a.dtype).eps
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.maximum(abs(a), abs(other))
        rows = np.sqrt(np.max(size, axis=-1, initial=0.0))
        allowed = np.maximum(eps**0.5 * size, eps**0.75 * (rows[..., :, None] * rows[..., None, :]))
        return not np.any(abs(a - other) > allowed)


def as_recorded(a: Any, conjugated: bool = True) -> Any:
    """a, which was symmetric (or Hermitian) where it was recorded; raises where it is not.

    One that is not is recorded as the matrix of the triangle that is read: `hoad._numpy.triangles`.
    """
    if is_symmetric(a, conjugated):
        return a
    raise GuardError(
        "Give both triangles, as np.tril(a) + np.tril(a, -1).T, with .conj().T of a complex one, or record it with a "
        "matrix like this one: this program was recorded with a matrix that is symmetric (or Hermitian), and here it "
        "is not. cholesky, eigh and the like read one of its triangles."
    )


CHOLESKY = _declare_python(
    "cholesky",
    lambda params, a: np.linalg.cholesky(as_recorded(a)),
    _of_square("cholesky", lambda a: (a,)),
    costly=True,
)
CHOLESKY.batch = CHOLESKY.function
CHOLESKY.native = lambda params, a: cholesky_factor(_lapack, a)


@functools.lru_cache(maxsize=16)
def _eigensolver(name: str) -> Callable[[Any], Any]:
    """NumPy's, by the triangle that it reads; or the function of a module that has this full name."""
    if name in ("L", "U"):
        return partial(np.linalg.eigh, UPLO=name)
    module, _, function = name.rpartition(".")
    found: Callable[[Any], Any] = getattr(importlib.import_module(module), function)
    return found


# Solvers differ in the signs of vectors, and in their last digits.
EIGH = _declare_python(
    "eigh",
    lambda params, a: _eigensolver(*params)(as_recorded(a)),
    _of_square("eigh", lambda a: (intern_aval(real_dtype(a.dtype), a.shape[:-1]), a)),
    "solver",
    nout=2,
    costly=True,
)


def _eigh_of_lanes(params: Params, a: Any) -> Any:
    """NumPy's solvers take stacks; of others this is not known."""
    if params[0] in ("L", "U"):
        return EIGH.function(params, a)
    return [np.stack(found) for found in zip(*[EIGH.function(params, x) for x in a], strict=True)]


EIGH.batch = _eigh_of_lanes
EIGH.native = lambda params, a: symmetric_factors(_lapack, a, params[0]) if params[0] in ("L", "U") else None


def _eig(params: Params, a: Any) -> tuple[Any, Any]:
    """Eigenvalues and vectors of a real matrix that is given as complex, or of a complex one.

    Where they are asked for alone, the values are those that NumPy finds alone, and the vectors are put in their order.
    """
    is_real, values_alone = params
    a = np.ascontiguousarray(a.real) if is_real else a
    w, v = np.linalg.eig(a)
    if values_alone and a.shape[-1]:
        alone = np.linalg.eigvals(a)
        order = np.argmin(np.abs(alone[..., :, None] - w[..., None, :]), axis=-1)
        own = np.arange(w.shape[-1])
        order = np.where(np.all(np.sort(order, axis=-1) == own, axis=-1, keepdims=True), order, own)
        w, v = alone, np.take_along_axis(v, order[..., None, :], axis=-1)
    dtype = np.result_type(w.dtype, np.complex64)
    return w.astype(dtype), v.astype(dtype)


EIG = _declare_python(
    "eig",
    _eig,
    _of_square("eig", lambda a: (intern_aval(a.dtype, a.shape[:-1]), a)),
    "is_real",
    "values_alone",
    nout=2,
    costly=True,
)
SVD = _declare_python(
    "svd", lambda params, a: np.linalg.svd(a, full_matrices=False), _of_matrix("svd", _svd_factors), nout=3, costly=True
)


def _full_svd(params: Params, a: Any) -> tuple[Any, ...]:
    """u, s, vᴴ as without the further vectors, and these: columns behind u, or rows below vᴴ."""
    u, s, vh = np.linalg.svd(a)
    k = s.shape[-1]
    further = vh[..., k:, :] if a.shape[-1] > k else u[..., :, k:]
    return tuple(np.ascontiguousarray(x) for x in (u[..., :, :k], s, vh[..., :k, :], further))


def _full_svd_factors(a: AbstractValue) -> Avals:
    *outer, m, n = a.shape
    further = (m, m - n) if m > n else (n - m, n)
    return *_svd_factors(a), intern_aval(a.dtype, (*outer, *further))


FULL_SVD = _declare_python("full_svd", _full_svd, _of_matrix("svd", _full_svd_factors), nout=4, costly=True)
SVDS = (SVD, FULL_SVD)
EIG.batch, SVD.batch, FULL_SVD.batch = EIG.function, SVD.function, FULL_SVD.function
EIG.native = lambda params, a: None if params[1] else eigenvectors(_lapack, a, params[0])
SVD.native = lambda params, a: singular_factors(_lapack, a)


# What a matrix does not determine of its factors, and how the message names it.
PHASES_OF_VECTORS, PHASES_OF_PAIRS, FURTHER_VECTORS = range(3)
_UNDETERMINED = (
    "a function that depends on the phases of the vectors of eigh has no derivative ({}): a complex matrix does not "
    "determine them. Take what phases do not change, as np.abs(v) or v @ v.conj().T, all of it from one call of eigh, "
    "or fix them first: v = v * np.exp(-1j * np.angle(v[0])).",
    "a function that depends on the phases of the vectors of svd has no derivative ({}): a complex matrix determines "
    "each pair of vectors but for one phase. Take what it does not change, as np.abs(u) or u @ vh, all of it from one "
    "call of svd, or fix it first: p = np.exp(1j * np.angle(vh[:, 0])), u = u * p, vh = vh / p[:, None].",
    "a function that depends on the further vectors of svd(full_matrices=True) one by one has no derivative ({}): the "
    "matrix determines only the space that they span. Take the projection on it, u2 @ u2.conj().T, both from one call "
    "of svd, or full_matrices=False.",
)


def _determined(params: Params, by: Any, vectors: Any) -> Any:
    """Zeros; raises where a function with the adjoint `by` depends on what a matrix does not determine of its vectors.

    If vᴴ v̄ has an imaginary part, it depends on the phase of v. If that of further vectors is not Hermitian, it depends
    on their rotation: tried along one vector (Freivalds 1977), for the product itself would cost more than the rule.
    """
    (what,) = params
    with np.errstate(all="ignore"):
        if what == FURTHER_VECTORS:
            probe = 1.0 + 0.5 * np.sin(np.arange(1.0, by.shape[-1] + 1.0) ** 2)[:, None].astype(real_dtype(by.dtype))
            part = conjugate_transposed(vectors) @ (by @ probe) - conjugate_transposed(by) @ (vectors @ probe)
        else:
            part = np.sum(np.conjugate(vectors) * by, axis=-2).imag
        size = np.max(abs(by), axis=(-2, -1), initial=0.0)
        part = np.max(abs(part), axis=tuple(range(size.ndim, part.ndim)), initial=0.0)
        if np.any(part > np.finfo(by.dtype).eps ** 0.5 * size):
            raise NoRuleError(_UNDETERMINED[what].format(here()))
    return np.zeros((*by.shape[:-2], 1, 1), by.dtype)


# Linear, as all that adjoints go through: it is 0 wherever it has a value.
DETERMINED = _declare_python(
    "determined",
    _determined,
    lambda params, by, vectors: (intern_aval(by.dtype, (*by.shape[:-2], 1, 1)),),
    "what",
    nin=2,
    linear_in=(0,),
    zero_derivative=True,
)
DETERMINED.batch = _determined


# What is known of f, by the array c of a spectral function: the numbers that it takes; Taylor coefficients; these, of
# the same f that the reference is of, where eigenvalues move in the reference and are held in c.
NUMBERS, SERIES, ITSELF = 0, 1, 2


def _weights_infer(params: Params, x: AbstractValue, reference: AbstractValue, *rest: AbstractValue) -> Avals:
    n = min(x.shape[-2:])
    rows = reference.shape[-2] if params[0] else 1
    return (intern_aval(real_dtype(x.dtype), (*x.shape[:-2], rows, n)),)


# Of functions of eigenvalues or singular values, by what their derivatives are made of: V f(w) Vᴴ and the sum of f(w),
# from the values of f; the sum of what c gives for these, which is linear in it; and the weights of c in that.
PRODUCT_OF: dict[Primitive, Primitive] = {}
SUM_OF: dict[Primitive, Primitive] = {}
LINEAR_SUM_OF: dict[Primitive, Primitive] = {}
SUM_WEIGHTS_OF: dict[Primitive, Primitive] = {}


def _sum_infer(params: Params, x: AbstractValue, values: AbstractValue, *rest: AbstractValue) -> Avals:
    return (intern_aval(values.dtype, x.shape[:-2]),)


def _sum_weights(params: Params, x: Any, reference: Any, by: Any, *rest: Any) -> Any:
    found = np.zeros(reference.shape, reference.dtype)
    found[..., 0, :] = np.asarray(by)[..., None]
    return found


def _of_sums(name: str, function: Callable[..., Any], infer: Callable[..., Any], linear_in: Any = ()) -> Primitive:
    made = _declare_python(name, function, infer, "one", nin=-1, linear_in=linear_in)
    made.batch = function
    return made


def _declare_spectral(name: str, singular: bool) -> tuple[Primitive, Primitive]:
    """What the derivatives of functions of eigenvalues, or of singular values, are made of: _core/runtime/spectral.pyx.

    The operands are the matrix, a reference for the array c of f, c itself, the factors and the directions; of the
    weights, the same with another direction in place of c. Parameters: what is known of f; of numbers (`strong`),
    whether the reference is 0 where f does not depend on an eigenvalue, which it is made to be when such a node is
    emitted and this is known; and whether f is `one` formula for all eigenvalues.
    """

    def native(what: Any) -> Callable[..., NativeCall]:
        def made(params: Params, *avals: AbstractValue) -> NativeCall:
            known = params[0] if what != "product" else NUMBERS
            return spectral(MATMUL, what, singular, bool(known), what == "derivative" and params[1], params[-1], avals)

        return made

    count = 3 if singular else 2
    whole = _of_matrices(name, native("derivative"), _same, (2, *range(3 + count, 256)), "known", "strong", "one")
    parts = _of_matrices(f"{name}_weights", native("weights"), _weights_infer, range(2 + count, 256), "known", "one")
    PRODUCT_OF[whole] = _of_matrices(f"{name}_product", native("product"), _same, (), "one")
    SUM_OF[whole] = _of_sums(f"{name}_sum", lambda params, x, values, *rest: np.sum(values, axis=-1), _sum_infer)
    LINEAR_SUM_OF[whole] = _of_sums(
        f"{name}_linear_sum", lambda params, x, reference, c, *rest: np.sum(c[..., 0, :], axis=-1), _sum_infer, (2,)
    )
    SUM_WEIGHTS_OF[whole] = _of_sums(
        f"{name}_sum_weights", _sum_weights, lambda params, x, reference, *rest: (reference,), (2,)
    )
    return whole, parts


SPECTRAL, SPECTRAL_WEIGHTS = _declare_spectral("spectral", singular=False)
SINGULAR, SINGULAR_WEIGHTS = _declare_spectral("singular", singular=True)
# For at least as many rows as columns.
QR = _declare_python(
    "qr",
    lambda params, a: np.linalg.qr(a),
    _of_matrix("qr", lambda a: (a, intern_aval(a.dtype, (*a.shape[:-2], a.shape[-1], a.shape[-1])))),
    nout=2,
    costly=True,
)
PINV = _declare_python(
    "pinv",
    lambda params, a: np.linalg.pinv(a, *params),
    _of_matrix("pinv", lambda a: (intern_aval(a.dtype, (*a.shape[:-2], a.shape[-1], a.shape[-2])),)),
    "rcond",
    costly=True,
)
QR.batch, PINV.batch = QR.function, PINV.function
PINV.native = lambda params, a: pseudoinverse(_lapack, a, *params)
QR.native = lambda params, a: triangular_factors(_lapack, a)
LSTSQ = _declare_python(
    "lstsq",
    lambda params, a, b: np.linalg.lstsq(a, b, *params)[0],
    _lstsq_infer,
    "rcond",
    nin=2,
    costly=True,
    linear_in=(1,),
)
LSTSQ.native = lambda params, a, b: least_squares(_lapack, a, b, *params)


# ---- Fourier transforms; padding and cropping are done before ------------------------------------------------------


_pocketfft = importlib.import_module("numpy.fft._pocketfft_umath")


def _declare_transform(name: str, function: Callable[..., Any], infer: Callable[..., Any], *params: str) -> Primitive:
    made = _declare_python(name, function, infer, *params, costly=True, linear=True, linear_in=(0,))
    place = params.index("axis" if "axis" in params else "axes")
    made.batch = _along(made, place)

    def native(params: Params, x: AbstractValue) -> NativeCall | None:
        axes = params[place]
        axes = axes if isinstance(axes, tuple) else (axes,)
        return fourier_transform(_pocketfft, name, x, infer(params, x)[0], axes, params[-1])

    made.native = native
    return made


def _along(primitive: Primitive, place: int) -> Callable[..., Any]:
    """The function of a primitive with lanes in front: the axes that it works along, a parameter, are one further."""

    def batch(params: Params, x: Any) -> Any:
        axis = params[place]
        further = tuple([d + 1 for d in axis]) if isinstance(axis, tuple) else axis + 1
        return primitive.function((*params[:place], further, *params[place + 1 :]), x)

    return batch


def _half_infer(params: Params, x: AbstractValue) -> Avals:
    axis = params[0]
    shape = (*x.shape[:axis], x.shape[axis] // 2 + 1, *x.shape[axis + 1 :])
    return (intern_aval(np.result_type(x.dtype, np.complex64), shape),)


def _whole_infer(params: Params, x: AbstractValue) -> Avals:
    n, axis, _ = params
    return (intern_aval(real_dtype(x.dtype), (*x.shape[:axis], n, *x.shape[axis + 1 :])),)


def _transform(one: Callable[..., Any], several: Callable[..., Any]) -> Callable[..., Any]:
    """Over the axes of the parameters; over one, as NumPy does with several, but in half the time."""
    return lambda p, x: one(x, None, p[0][0], p[1]) if len(p[0]) == 1 else several(x, None, *p)


FFT = _declare_transform("fft", _transform(np.fft.fft, np.fft.fftn), _same, "axes", "norm")
IFFT = _declare_transform("ifft", _transform(np.fft.ifft, np.fft.ifftn), _same, "axes", "norm")
RFFT = _declare_transform("rfft", lambda params, x: np.fft.rfft(x, None, *params), _half_infer, "axis", "norm")
IRFFT = _declare_transform("irfft", lambda params, x: np.fft.irfft(x, *params), _whole_infer, "n", "axis", "norm")


# ---- along an axis --------------------------------------------------------------------------------------------------

CUMSUM = _declare_python(
    "cumsum", lambda params, x: np.cumsum(x, *params), _same, "axis", linear=True, linear_in=(0,), series="each"
)
CUMSUM.native = lambda params, x: running_sum(x, params[0])


# Where the second operand, which is not the longer, lies within the first. NumPy conjugates it; here it stays as it is.
CORRELATE = _declare_python(
    "correlate",
    lambda params, a, b: np.correlate(a, np.conjugate(b) if b.dtype.kind == "c" else b),
    lambda params, a, b: (intern_aval(a.dtype, (a.shape[0] - b.shape[0] + 1,)),),
    nin=2,
    multilinear=True,
    costly=True,
    linear_in=(0, 1),
)


def _declare_places(
    name: str, function: Callable[..., Any], shape: Callable[..., tuple[int, ...]], *params: str, **facts: Any
) -> Primitive:
    """Places in an array, of which the result has a shape."""

    def infer(params: Params, *operands: AbstractValue) -> Avals:
        return (intern_aval(np.dtype(np.intp), shape(params, *operands)),)

    return _declare_python(name, function, infer, *params, zero_derivative=True, **facts)


def _argpartition(params: Params, x: Any) -> Any:
    """NumPy's order of the values; equal items keep theirs."""
    axis, kth = params
    places = np.argpartition(x, kth, axis)
    values = np.take_along_axis(x, places, axis)
    np.put_along_axis(places, np.argsort(values, axis, kind="stable"), np.argsort(x, axis, kind="stable"), axis)
    return places


def _place_shape(params: Params, x: AbstractValue) -> tuple[int, ...]:
    axis, keepdims = params
    kept = (1,) if keepdims else ()
    return kept * x.ndim if axis is None else (*x.shape[:axis], *kept, *x.shape[axis + 1 :])


def _declare_place(name: str) -> Primitive:
    """Where along an axis, or in the flat array, something is first met."""
    function = getattr(np.ndarray, name)  # the method, which NumPy does not dispatch

    def batch(params: Params, x: Any) -> Any:
        if params[0] is not None:
            return function(x, axis=params[0] + 1, keepdims=params[1])
        kept = (1,) * (x.ndim - 1) if params[1] else ()
        return np.reshape(function(np.reshape(x, (len(x), -1)), axis=1), (len(x), *kept))

    made = _declare_places(
        name, lambda params, x: function(np.asarray(x), params[0], keepdims=params[1]), _place_shape, "axis", "keepdims"
    )
    made.batch = batch
    return made


# Equal items keep their order.
ARGSORT = _declare_places(
    "argsort", lambda params, x: x.argsort(params[0], kind="stable"), lambda params, x: x.shape, "axis"
)
ARGPARTITION = _declare_places("argpartition", _argpartition, lambda params, x: x.shape, "axis", "kth")
ARGSORT.batch, ARGPARTITION.batch = _along(ARGSORT, 0), _along(ARGPARTITION, 0)
ARGMAX = _declare_place("argmax")
ARGMIN = _declare_place("argmin")
SEARCHSORTED = _declare_places(
    "searchsorted",
    lambda params, a, v: np.asarray(a.searchsorted(v, *params)),
    lambda params, a, v: v.shape,
    "side",
    nin=2,
)
SEARCHSORTED.native = lambda params, a, v: sorted_places(a, v, *params)


def _searchsorted_batch(params: Params, a: Any, v: Any) -> Any:
    if a.strides[0] == 0:  # the same for all lanes
        return np.searchsorted(a[0], v, side=params[0])
    return np.stack([np.searchsorted(*lane, side=params[0]) for lane in zip(a, v, strict=True)])


SEARCHSORTED.batch = _searchsorted_batch


# ---- integers and booleans that NumPy's own function finds again at each replay -------------------------------------


def _declare_found(name: str, function: Callable[..., Any], *params: str, nin: int = 1) -> Primitive:
    """Integers or booleans whose shape and dtype are those that zeros in place of the operands give."""

    def compute(params: Params, *operands: Any) -> Any:
        return np.asarray(function(params, *operands))

    def infer(params: Params, *operands: AbstractValue) -> Avals:
        found = compute(params, *[np.zeros(x.shape, x.dtype) for x in operands])
        return (intern_aval(found.dtype, found.shape),)

    return _declare_python(name, compute, infer, *params, nin=nin, zero_derivative=True)


def _unique_places(params: Params, x: Any) -> Any:
    """Where the items that ``np.unique`` gives stand first: in its order, and of the zeros that with its sign.

    There are as many as in the recording, also where a guard will find that these are others.
    """
    count, wanted, options = params
    order = x.argsort(kind="stable")
    ordered = x[order]
    is_sorted = ("sorted", False) not in options
    if is_sorted and x.dtype.kind in "fiu" and np.count_nonzero(x) == x.size and ordered[-1] == ordered[-1]:
        first = np.empty(x.size, bool)  # without nan and zeros, which have signs, it is the order of the values alone
        first[0], first[1:] = True, ordered[1:] != ordered[:-1]
        places = order[first]
        return places if places.size == count else np.resize(places, count)
    items = np.unique(x, False, *wanted, **dict(options))
    items = items[0] if any(wanted) else items
    places = order[np.minimum(np.searchsorted(ordered, items), x.size - 1)]
    if x.dtype.kind == "f":
        for k in np.flatnonzero(items == 0):
            places[k] = np.flatnonzero((x == 0) & (np.signbit(x) == np.signbit(items[k])))[0]
    return np.resize(places, count)


def _new_items(params: Params, x: Any) -> Any:
    """Which items, in order, are another than the one before them."""
    ordered = np.sort(x)
    first = np.empty(x.size, bool)
    first[0], first[1:] = True, ordered[1:] != ordered[:-1]
    if params[0] and x.dtype.kind in "fc":
        first[1:] &= ordered[:-1] == ordered[:-1]  # nan comes last
    return first


def _bin_counts(params: Params, a: Any, edges: Any) -> Any:
    """How many items lie in each bin, from its left edge on; the last one has its right edge, too."""
    counts = np.bincount(edges.searchsorted(a, "right"), minlength=edges.size + 1)[1:-1]
    counts[-1] += np.count_nonzero(a == edges[-1])
    return counts


def _bin_count(params: Params, x: Any, *ends: Any) -> Any:
    return len(np.histogram_bin_edges(x, params[0], *ends)) - 1


def _matrix_rank(params: Params, a: Any, *tolerance: Any) -> Any:
    hermitian, name = params
    return np.linalg.matrix_rank(a, hermitian=hermitian, **dict(zip((name,), tolerance, strict=False)))


LEXSORT = _declare_found("lexsort", lambda params, *keys: np.lexsort(keys, *params), "axis", nin=-1)
# The order of rows, by their items in turn.
ROW_ORDER = _declare_found("row_order", lambda params, rows: np.lexsort(rows.T[::-1]))
ISIN = _declare_found(
    "isin",
    lambda params, x, among: np.isin(x, among, params[0], params[1], kind=params[2]),
    "assume_unique",
    "invert",
    "kind",
    nin=2,
)
NEW_ITEMS = _declare_found("new_items", _new_items, "equal_nan")
UNIQUE_PLACES = _declare_places(
    "unique_places", _unique_places, lambda params, x: (params[0],), "count", "wanted", "options"
)
BIN_COUNTS = _declare_places("bin_counts", _bin_counts, lambda params, a, edges: (edges.shape[0] - 1,), nin=2)
BIN_COUNT = _declare_found("bin_count", _bin_count, "estimator", nin=-1)
MATRIX_RANK = _declare_found("matrix_rank", _matrix_rank, "hermitian", "tolerance", nin=-1)
RAVEL_MULTI_INDEX = _declare_found(
    "ravel_multi_index",
    lambda params, *places: np.ravel_multi_index(places, *params),
    "dims",
    "mode",
    "order",
    nin=-1,
)
UNRAVEL_INDEX = _declare_found(
    "unravel_index", lambda params, places: np.stack(np.unravel_index(places, *params)), "shape", "order"
)
PACKBITS = _declare_found("packbits", lambda params, x: np.packbits(x, *params), "axis", "bitorder")
UNPACKBITS = _declare_found("unpackbits", lambda params, x: np.unpackbits(x, *params), "axis", "count", "bitorder")
# Of integers alone; of booleans these are logical operations.
OF_INTEGERS: dict[np.ufunc, Primitive] = {
    ufunc: _declare_found(ufunc.__name__, lambda params, *x, f=ufunc: f(*x), nin=ufunc.nin)
    for ufunc in (
        *(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.bitwise_count),
        *(np.left_shift, np.right_shift, np.gcd, np.lcm),
    )
}
for _primitive in OF_INTEGERS.values():
    _primitive.batch = over_lanes(_primitive.function)


def _bessel_i0(params: Params, x: Any) -> Any:
    """NumPy's I₀, or its derivative of an order: ∫ cosᵏ θ exp(x cos θ) dθ / π over half a period.

    By the trapezoidal rule, which converges geometrically (Trefethen and Weideman, 2014); the quarters of the period
    are put together, so that nothing cancels.
    """
    (order,) = params
    x = np.asarray(x)
    if not order:
        return np.i0(x)
    flat = x.reshape(-1, 1).astype(np.float64)
    function = np.sinh if order % 2 else np.cosh
    with np.errstate(over="ignore", invalid="ignore"):
        found = [
            np.sum(I0_WEIGHTS * I0_NODES**order * function(flat[k : k + I0_BLOCK] * I0_NODES), axis=-1)
            for k in range(0, max(1, flat.shape[0]), I0_BLOCK)
        ]
    return np.concatenate(found).reshape(x.shape).astype(x.dtype)


I0_NODES = np.cos(np.pi * (np.arange(80) + 0.5) / 160)  # enough for all x whose I₀ is finite
I0_WEIGHTS, I0_BLOCK = 1.0 / 80, 512
BESSEL_I0 = _declare_python("i0", _bessel_i0, _same, "order", costly=True)
BESSEL_I0.batch, BESSEL_I0.elementwise = _bessel_i0, True

# ---- calls of programs ----------------------------------------------------------------------------------------------

_calls: dict[int, Primitive] = {}
on_new_call: list[Callable[[Primitive], None]] = []


def declare_call(nout: int, evaluate: Callable[..., Any], native: Callable[..., Any]) -> Primitive:
    """The primitive ``call(*inputs, program=...)`` for programs of `nout` outputs.

    `native` gives what computes it without Python, or None.
    """
    if not nout:
        raise ShapeError("a program without outputs cannot be called on traced values.")
    if nout not in _calls:

        def infer(params: Params, *operands: AbstractValue) -> Avals:
            results: Avals = params[0].output_types
            return results

        made = _declare_python("call", evaluate, infer, "program", nin=-1, nout=nout, may_round=True)
        made.of_programs = True
        made.native = native
        for give_rule in on_new_call:
            give_rule(made)
        _calls[nout] = made
    return _calls[nout]


# ---- functions that are primitives ----------------------------------------------------------------------------------

# Functions whose calls with traced values NumPy hands to hoad.
DISPATCHED: Any = type(np.sum)

# NumPy functions that are primitives of ours under another object than a ufunc.
FUNCTION_PRIMITIVES: dict[Any, Primitive] = {}


def within(function: Any) -> Any:
    """The ufunc that a function of SciPy's is around, where SCIPY_ARRAY_API is set; any other function as it is."""
    found = getattr(function, "__wrapped__", None)
    return found if isinstance(found, np.ufunc) and not hasattr(function, "__hoad_primitive__") else function


def known_primitive(function: Any) -> Primitive | None:
    """The primitive that a function is already: one of NumPy's, or a wrapped user function."""
    if isinstance(function, Primitive):
        return function
    if isinstance(function, np.ufunc) and (known := ufunc_primitive(function)) is not None:
        return known
    made: Primitive | None = getattr(function, "__hoad_primitive__", None)
    return FUNCTION_PRIMITIVES.get(function, made)
