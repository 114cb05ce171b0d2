"""Checks of derivatives: Taylor remainders, all modes, gradients written by hand, rules of primitives."""

from hoad.check.agreement import modes
from hoad.check.agreement_report import AgreementReport
from hoad.check.by_hand import gradient, hessian, jacobian
from hoad.check.derivative_report import DerivativeReport
from hoad.check.primitives import rule
from hoad.check.rule_report import RuleReport
from hoad.check.taylor_remainder import taylor_test
from hoad.check.taylor_report import TaylorReport

__all__ = [
    "AgreementReport",
    "DerivativeReport",
    "RuleReport",
    "TaylorReport",
    "gradient",
    "hessian",
    "jacobian",
    "modes",
    "rule",
    "taylor_test",
]
