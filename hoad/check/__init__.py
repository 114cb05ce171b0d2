"""Checks of derivatives: Taylor remainders, gradients written by hand, rules of primitives."""

from hoad.check.derivatives import DerivativeReport, gradient, hessian, jacobian
from hoad.check.primitives import RuleReport, rule
from hoad.check.taylor import TaylorReport, taylor_test

__all__ = [
    "DerivativeReport",
    "RuleReport",
    "TaylorReport",
    "gradient",
    "hessian",
    "jacobian",
    "rule",
    "taylor_test",
]
