"""Arguments of NumPy's functions by their names."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import hoad
from hoad._core.trace.traced import FUNCTIONS

M = np.array([[1.5, -0.25, 2.0], [0.5, 3.0, -1.0]])

CALLS: dict[str, Any] = {
    "sum": lambda x: np.sum(a=x, axis=0),
    "moveaxis": lambda x: np.moveaxis(a=x, source=0, destination=1),
    "swapaxes": lambda x: np.swapaxes(a=x, axis1=0, axis2=1),
    "diagonal": lambda x: np.diagonal(a=x, offset=1),
    "broadcast_to": lambda x: np.broadcast_to(array=x, shape=(2, 2, 3)),
    "ravel": lambda x: np.ravel(a=x, order="F"),
    "squeeze": lambda x: np.squeeze(a=x[None], axis=0),
    "expand_dims": lambda x: np.expand_dims(a=x, axis=1),
    "clip": lambda x: np.clip(a=x, a_min=0.0, a_max=1.75),
    "full_like": lambda x: np.full_like(a=x, fill_value=x[0, 1], device="cpu"),
    "where": lambda x: np.where(x > 0, x, 0.0),
    "take": lambda x: np.take(a=x, indices=[2, 0], axis=1),
}


@pytest.mark.parametrize("name", CALLS)
def test_first_argument_by_its_name(name: str) -> None:
    f = CALLS[name]
    v = np.cos(1.0 + np.arange(6.0)).reshape(2, 3)
    value, slope = hoad.jvp(f, (M,), (v,))
    np.testing.assert_array_equal(value, f(M))
    np.testing.assert_allclose(slope, (f(M + 1e-3 * v) - f(M - 1e-3 * v)) / 2e-3, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(hoad.jit(f)(M), f(M))


def test_every_name_is_known() -> None:
    """The first argument is given by position; a name that hoad does not know would be a TypeError."""
    hoad.grad(np.sum)(M)
    for function, implementation in FUNCTIONS.items():
        if isinstance(function, np.ufunc):
            continue
        known = inspect.signature(implementation).parameters.values()
        if any(p.kind is p.VAR_KEYWORD for p in known):
            continue
        by_name = {p.name for p in known if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        try:
            asked = list(inspect.signature(function).parameters.values())[1:]
        except ValueError:  # of a function in C that does not say, before NumPy 2.4
            continue
        missing = {p.name for p in asked if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)} - by_name
        assert not missing, f"{function.__module__}.{function.__name__}: {missing}"


def test_no_first_argument() -> None:
    with pytest.raises(TypeError, match=r"argument .b."):
        hoad.grad(lambda x: np.sum(b=x, axis=0))(M)
