"""The public names of hoad, which `hoad.__getattr__` imports when the first is asked for."""

from typing import TYPE_CHECKING

from hoad import rules
from hoad._adopt.adopt import adopt, adopting
from hoad._drivers.checkpoint import checkpoint, checkpointed_loop
from hoad._drivers.custom import custom_vjp
from hoad._drivers.dense import DensePlan, dense_plan
from hoad._drivers.derivative import derivative, derivatives
from hoad._drivers.gradient import grad, value_and_grad
from hoad._drivers.hessian import hessian
from hoad._drivers.jacobian import jacobian
from hoad._drivers.laplacian import biharmonic, directional_derivative, hessian_diagonal, laplacian
from hoad._drivers.products import hvp, jvp, linearize, vhp, vjp
from hoad._drivers.scan import fori_loop, scan, while_loop
from hoad._drivers.taylor import taylor
from hoad._drivers.tensors import derivative_tensor, partials, unpack_tensor
from hoad._drivers.values import stop_gradient, value
from hoad._drivers.vmap import vmap
from hoad._inspect import debug_nans
from hoad._jit.jit import jit
from hoad._program.address import Address, get_include
from hoad._program.program import Program
from hoad._program.record import record
from hoad._program.tape import Constant, Tape, TapeNode
from hoad._pytree.containers import register_container
from hoad._pytree.ravel import ravel
from hoad._series import TaylorSeries
from hoad._solvers.minimize import minimize
from hoad._symbolic.expression import Expression, symbols
from hoad._transform.adjoint import gradient
from hoad._transform.checkpoint_schedule import checkpoint_schedule
from hoad._transform.tangent import tangent
from hoad.errors import (
    ArgumentError,
    CheckError,
    DomainError,
    DTypeError,
    ExecutorError,
    GuardError,
    HoadError,
    JitWarning,
    NanError,
    NoMethodError,
    NoRuleError,
    OtherStructureError,
    RuleError,
    ShapeError,
    TracedValueError,
)
from hoad.rules.registry import defvjp, primitive

if TYPE_CHECKING:  # `hoad.__getattr__` imports each when it is asked for
    from hoad import check, implicit, interop, ode
    from hoad._inspect.explain import explain
    from hoad._sparse.drivers import (
        lagrangian_hessian,
        sparse_hessian,
        sparse_hessian_derivative,
        sparse_jacobian,
    )
    from hoad._sparse.patterns import hessian_pattern, jacobian_pattern
    from hoad._sparse.sparse_plan import SparseDerivative, SparsePlan, Triplets
    from hoad._sparse.sparse_tensors import SparseTensor, sparse_derivative_tensor

__all__ = [
    "Address",
    "ArgumentError",
    "CheckError",
    "Constant",
    "DTypeError",
    "DensePlan",
    "DomainError",
    "ExecutorError",
    "Expression",
    "GuardError",
    "HoadError",
    "JitWarning",
    "NanError",
    "NoMethodError",
    "NoRuleError",
    "OtherStructureError",
    "Program",
    "RuleError",
    "ShapeError",
    "SparseDerivative",
    "SparsePlan",
    "SparseTensor",
    "Tape",
    "TapeNode",
    "TaylorSeries",
    "TracedValueError",
    "Triplets",
    "adopt",
    "adopting",
    "biharmonic",
    "check",
    "checkpoint",
    "checkpoint_schedule",
    "checkpointed_loop",
    "custom_vjp",
    "debug_nans",
    "defvjp",
    "dense_plan",
    "derivative",
    "derivative_tensor",
    "derivatives",
    "directional_derivative",
    "explain",
    "fori_loop",
    "get_include",
    "grad",
    "gradient",
    "hessian",
    "hessian_diagonal",
    "hessian_pattern",
    "hvp",
    "implicit",
    "interop",
    "jacobian",
    "jacobian_pattern",
    "jit",
    "jvp",
    "lagrangian_hessian",
    "laplacian",
    "linearize",
    "minimize",
    "ode",
    "partials",
    "primitive",
    "ravel",
    "record",
    "register_container",
    "rules",
    "scan",
    "sparse_derivative_tensor",
    "sparse_hessian",
    "sparse_hessian_derivative",
    "sparse_jacobian",
    "stop_gradient",
    "symbols",
    "tangent",
    "taylor",
    "unpack_tensor",
    "value",
    "value_and_grad",
    "vhp",
    "vjp",
    "vmap",
    "while_loop",
]
