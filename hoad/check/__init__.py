"""Checks of derivatives: Taylor remainders, gradients written by hand, rules of primitives."""

from hoad.check.derivative_report import DerivativeReport
from hoad.check.derivatives import gradient, hessian, jacobian
from hoad.check.primitives import rule
from hoad.check.rule_report import RuleReport
from hoad.check.taylor import taylor_test
from hoad.check.taylor_report import TaylorReport

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
