# The functions of functions have their types here, so that what they return takes the arguments of f. In the source
# they are written for any function. A test compares the two.

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, Generic, Literal, ParamSpec, TypeVar, overload

import numpy as np

from hoad import check as check
from hoad import errors as errors
from hoad import implicit as implicit
from hoad import interop as interop
from hoad import ode as ode
from hoad import rules as rules
from hoad import scipy as scipy
from hoad._public import (
    Address as Address,
    ArgumentError as ArgumentError,
    CheckError as CheckError,
    Constant as Constant,
    DTypeError as DTypeError,
    DensePlan as DensePlan,
    DomainError as DomainError,
    ExecutorError as ExecutorError,
    Expression as Expression,
    GuardError as GuardError,
    HoadError as HoadError,
    JitWarning as JitWarning,
    NanError as NanError,
    NoMethodError as NoMethodError,
    NoRuleError as NoRuleError,
    OtherStructureError as OtherStructureError,
    Program as Program,
    RuleError as RuleError,
    ShapeError as ShapeError,
    SparseDerivative as SparseDerivative,
    SparsePlan as SparsePlan,
    SparseTensor as SparseTensor,
    Tape as Tape,
    TapeNode as TapeNode,
    TaylorSeries as TaylorSeries,
    TracedValueError as TracedValueError,
    Triplets as Triplets,
    adopting as adopting,
    checkpoint_schedule as checkpoint_schedule,
    custom_vjp as custom_vjp,
    debug_nans as debug_nans,
    defvjp as defvjp,
    dense_plan as dense_plan,
    explain as explain,
    get_include as get_include,
    gradient as gradient,
    hessian_pattern as hessian_pattern,
    hvp as hvp,
    jacobian_pattern as jacobian_pattern,
    lagrangian_hessian as lagrangian_hessian,
    minimize as minimize,
    primitive as primitive,
    ravel as ravel,
    record as record,
    register_container as register_container,
    sparse_derivative_tensor as sparse_derivative_tensor,
    sparse_hessian as sparse_hessian,
    sparse_hessian_derivative as sparse_hessian_derivative,
    sparse_jacobian as sparse_jacobian,
    symbols as symbols,
    tangent as tangent,
    taylor as taylor,
    unpack_tensor as unpack_tensor,
    vhp as vhp,
)
from hoad._public import __all__ as __all__
from hoad._pytree.arguments import Argnames, Argnums

__version__: str

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A")
T = TypeVar("T")

class _Jitted(Generic[P, R]):
    __wrapped__: Callable[P, R]
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, *args: Any, out: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Callable[..., R]: ...
    def program(self, *args: Any, **kwargs: Any) -> Any: ...
    def report(self, *args: Any, **kwargs: Any) -> Any: ...
    def bound(self, *args: Any, out: Any = None) -> Callable[[], Any]: ...

@overload
def grad(
    f: np.ufunc, argnums: Argnums = None, has_aux: bool = False, holomorphic: bool = False, *, argnames: Argnames = None
) -> Callable[..., Any]: ...
@overload
def grad(
    f: Callable[P, R],
    argnums: Argnums = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: Argnames = None,
) -> Callable[P, Any]: ...
@overload
def value_and_grad(
    f: np.ufunc, argnums: Argnums = None, has_aux: bool = False, holomorphic: bool = False, *, argnames: Argnames = None
) -> Callable[..., tuple[Any, Any]]: ...
@overload
def value_and_grad(
    f: Callable[P, R],
    argnums: Argnums = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: Argnames = None,
) -> Callable[P, tuple[R, Any]]: ...
@overload
def jacobian(
    f: np.ufunc,
    argnums: Argnums = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    mode: str = "auto",
    *,
    argnames: Argnames = None,
    chunk: int | None = None,
) -> Callable[..., Any]: ...
@overload
def jacobian(
    f: Callable[P, R],
    argnums: Argnums = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    mode: str = "auto",
    *,
    argnames: Argnames = None,
    chunk: int | None = None,
) -> Callable[P, Any]: ...
@overload
def hessian(
    f: np.ufunc,
    argnums: Argnums = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: Argnames = None,
    chunk: int | None = None,
) -> Callable[..., Any]: ...
@overload
def hessian(
    f: Callable[P, R],
    argnums: Argnums = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: Argnames = None,
    chunk: int | None = None,
) -> Callable[P, Any]: ...
@overload
def derivative(f: np.ufunc, n: int = 1, holomorphic: bool = False, *, argnums: int = 0) -> Callable[..., Any]: ...
@overload
def derivative(f: Callable[P, R], n: int = 1, holomorphic: bool = False, *, argnums: int = 0) -> Callable[P, Any]: ...
@overload
def derivatives(f: np.ufunc, n: int, *, argnums: int = 0) -> Callable[..., Any]: ...
@overload
def derivatives(f: Callable[P, R], n: int, *, argnums: int = 0) -> Callable[P, Any]: ...
@overload
def laplacian(f: np.ufunc) -> Callable[..., Any]: ...
@overload
def laplacian(f: Callable[P, R]) -> Callable[P, Any]: ...
@overload
def biharmonic(f: np.ufunc) -> Callable[..., Any]: ...
@overload
def biharmonic(f: Callable[P, R]) -> Callable[P, Any]: ...
@overload
def hessian_diagonal(f: np.ufunc) -> Callable[..., Any]: ...
@overload
def hessian_diagonal(f: Callable[P, R]) -> Callable[P, Any]: ...
@overload
def directional_derivative(f: np.ufunc, *directions: Any) -> Callable[..., Any]: ...
@overload
def directional_derivative(f: Callable[P, R], *directions: Any) -> Callable[P, Any]: ...
@overload
def derivative_tensor(f: np.ufunc, k: int, *, packed: bool = False) -> Callable[..., Any]: ...
@overload
def derivative_tensor(f: Callable[P, R], k: int, *, packed: bool = False) -> Callable[P, Any]: ...
@overload
def partials(f: np.ufunc, multi_indices: Sequence[Sequence[int]]) -> Callable[..., Any]: ...
@overload
def partials(f: Callable[P, R], multi_indices: Sequence[Sequence[int]]) -> Callable[P, Any]: ...
@overload
def checkpoint(f: np.ufunc) -> Callable[..., Any]: ...
@overload
def checkpoint(f: Callable[P, R]) -> Callable[P, R]: ...
@overload
def jit(
    f: np.ufunc,
    static_argnums: int | tuple[int, ...] | list[int] | None = None,
    static_argnames: str | tuple[str, ...] | list[str] | None = None,
    *,
    threads: int | None = None,
    keep_zeros: bool = False,
    guard: bool | int = True,
) -> _Jitted[..., Any]: ...
@overload
def jit(
    f: Callable[P, R],
    static_argnums: int | tuple[int, ...] | list[int] | None = None,
    static_argnames: str | tuple[str, ...] | list[str] | None = None,
    *,
    threads: int | None = None,
    keep_zeros: bool = False,
    guard: bool | int = True,
) -> _Jitted[P, R]: ...
def adopt(f: Callable[P, R]) -> Callable[P, R]: ...
def vmap(
    f: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    *,
    axis_size: int | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> Callable[..., Any]: ...
@overload
def jvp(
    f: Callable[..., tuple[R, A]], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[True]
) -> tuple[R, R, A]: ...
@overload
def jvp(
    f: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[False] = False
) -> tuple[R, R]: ...
@overload
def vjp(
    f: Callable[..., tuple[R, A]], *primals: Any, has_aux: Literal[True]
) -> tuple[R, Callable[[Any], tuple[Any, ...]], A]: ...
@overload
def vjp(
    f: Callable[..., R], *primals: Any, has_aux: Literal[False] = False
) -> tuple[R, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def linearize(
    f: Callable[..., tuple[R, A]], *primals: Any, has_aux: Literal[True]
) -> tuple[R, Callable[..., R], A]: ...
@overload
def linearize(f: Callable[..., R], *primals: Any, has_aux: Literal[False] = False) -> tuple[R, Callable[..., R]]: ...
def stop_gradient(x: T) -> T: ...
def value(x: T) -> T: ...
def scan(
    f: Callable[[T, Any], tuple[T, Any]], init: T, xs: Any = None, length: int | None = None, reverse: bool = False
) -> tuple[T, Any]: ...
def fori_loop(lower: int, upper: int, body_fun: Callable[[Any, T], T], init_val: T) -> T: ...
def while_loop(
    cond_fun: Callable[[T], Any], body_fun: Callable[[T], T], init_val: T, max_steps: int | None = None
) -> T: ...
def checkpointed_loop(step: Callable[..., T], steps: int, state: T, *args: Any, slots: int | None = None) -> T: ...
