"""CasADi: a Function of SX or MX symbols called through its buffers, interpreted or as generated C."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import casadi
import numpy as np
from problems.problem import Problem

from sides.built import Arguments, Built, in_a_row

COMPILED = {"jit": True, "compiler": "shell", "jit_options": {"compiler": "cc", "flags": ["-O3", "-march=native"]}}
MODULE = SimpleNamespace(
    sum=casadi.sum1,
    asarray=casadi.DM,
    **{name: getattr(casadi, name) for name in ("exp", "log", "log1p", "sqrt", "sin", "cos", "tanh")},
)


class _Scalars(list[Any]):
    """The entries of a vector, for functions that take it apart; `casadi.SX` is slow at that, and has no length."""


def build(problem: Problem, n: int, symbol: str, compile: bool = False) -> Built:
    (example, *_) = problem.point(np.random.default_rng(0), n)
    f = problem.form("CasADi", n)
    x = getattr(casadi, symbol).sym("x", example.shape[-1] if example.ndim else 1)
    derivative = _derivative(problem.asked, _value(f, x), x)
    function = casadi.Function("derivative", [x], [derivative], COMPILED if compile else {})
    if problem.asked in ("entries", "gradients"):
        return _over_points(function.map(len(example)), len(example), derivative.numel())
    if problem.asked == "sparse hessian":  # of a symmetric matrix: columns are rows
        return _through_buffers(function, (derivative.nnz(), 1), in_a_row((example,)))
    return _through_buffers(function, derivative.shape, in_a_row((example,)))


def _value(f: Callable[..., Any], x: Any) -> Any:
    """Vectorised functions take the symbol, loops its entries."""
    try:
        return f(MODULE, x)
    except TypeError:  # SX has no len
        return f(MODULE, _Scalars(casadi.vertsplit(x)))


def _derivative(asked: str, value: Any, x: Any) -> Any:
    if asked == "value":
        return value
    if asked in ("gradient", "gradients"):
        return casadi.gradient(value, x)
    if asked.startswith("derivatives"):
        found = [value]
        for _ in range(int(asked.split()[1])):
            found.append(casadi.jacobian(found[-1], x))
        return casadi.vertcat(*found)
    matrix = casadi.hessian(value, x)[0]
    if asked == "hessian":
        return casadi.densify(matrix)
    if asked == "sparse hessian":
        return matrix
    rows, columns = np.triu_indices(x.numel())
    return casadi.vertcat(*(matrix[int(i), int(j)] for i, j in zip(rows, columns, strict=True)))


def _through_buffers(function: Any, shape: tuple[int, int], number: int) -> Built:
    """A buffer for each of the calls in a row, with its own arguments; all write into one array."""
    out = np.zeros(shape[::-1])  # column-major
    buffers = []
    for _ in range(number):
        buffer, call = function.buffer()
        own = np.zeros(function.numel_in(0))
        buffer.set_arg(0, memoryview(own))
        buffer.set_res(0, memoryview(out))
        buffers.append((own, call, buffer))
    turn = itertools.cycle(buffers)

    def prepare(arguments: Arguments) -> Callable[[], Any]:
        own, call, _ = next(turn)
        own[...] = arguments[0]
        return call

    return Built(prepare, lambda _: out.T if shape[1] > 1 else out.ravel())


def _over_points(function: Any, points: int, entries: int) -> Built:
    buffer, call = function.buffer()
    own, out = np.zeros(function.numel_in(0)), np.zeros((points, entries))
    buffer.set_arg(0, memoryview(own))
    buffer.set_res(0, memoryview(out))

    def prepare(arguments: Arguments) -> Callable[[], Any]:
        own[...] = arguments[0].ravel()  # a column a point
        return call

    return Built(prepare, lambda _, kept=(buffer,): out)
