"""The floats of a container as one vector, and back."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from _pytree.kinds import CASES, GRADIENT, HESSIAN, X, Y, constants_of, loss

import hoad
from hoad._pytree.containers import flatten

equal, close = np.testing.assert_array_equal, np.testing.assert_allclose


@pytest.mark.parametrize("kind", CASES)
def test_every_kind(kind: str) -> None:
    case = CASES[kind]
    point = case.make(X, Y)
    x, unravel = hoad.ravel(point)
    first = next(leaf for leaf in flatten(point)[0] if leaf is X or leaf is Y)
    equal(x, [*X, Y] if first is X else [Y, *X])
    made = unravel(x + 1.0)
    assert type(made) is type(point) and flatten(made)[1] == flatten(point)[1]
    equal(case.parts(made)[0], X + 1.0)
    assert case.parts(made)[1] == Y + 1.0 and type(case.parts(made)[1]) is float
    assert constants_of(case, made) == case.constants
    order = slice(None) if first is X else [3, 0, 1, 2]
    f = lambda x: loss(*case.parts(unravel(x)))  # noqa: E731
    close(hoad.grad(f)(x), np.array([*GRADIENT[0], GRADIENT[1]])[order], rtol=1e-14)
    hessian = np.block([[HESSIAN[0][0], HESSIAN[0][1][:, None]], [HESSIAN[1][0], np.array([HESSIAN[1][1]])]])
    close(hoad.hessian(f)(x), hessian[order][:, order], rtol=1e-14)
    # and the other way: the derivative of the vector by what the container holds
    gradient = hoad.grad(lambda p: np.sum(hoad.ravel(p)[0] ** 2))(point)
    equal(case.parts(gradient)[0], 2 * X)
    assert case.parts(gradient)[1] == 2 * Y


def test_shapes_and_dtypes() -> None:
    tree = {
        "matrix": np.arange(6.0, dtype=np.float32).reshape(2, 3),
        "number": 1.5,
        "single": np.float32(2.5),
        "double": np.float64(3.5),
        "0-d": np.array(4.5),
        "empty": np.ones((0, 2)),
        "n": 3,
    }
    x, unravel = hoad.ravel(tree)
    assert x.dtype == np.float64 and x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 1.5, 2.5, 3.5, 4.5]
    made = unravel(x)
    for key, leaf in tree.items():
        assert np.shape(made[key]) == np.shape(leaf) and type(made[key]) is type(leaf)
        assert np.asarray(made[key]).dtype == np.asarray(leaf).dtype
        equal(made[key], leaf)
    assert hoad.ravel([np.float32(1.0), np.ones(2, np.float32)])[0].dtype == np.float32
    assert hoad.grad(lambda x: np.sum(unravel(x)["matrix"]))(x).dtype == np.float64


def test_a_single_value() -> None:
    x, unravel = hoad.ravel(np.ones((2, 2)))
    equal(x, np.ones(4))
    equal(unravel([1.0, 2.0, 3.0, 4.0]), [[1.0, 2.0], [3.0, 4.0]])
    x, unravel = hoad.ravel(2.0)
    assert x.tolist() == [2.0] and unravel(x) == 2.0


def test_the_container_gets_copies() -> None:
    tree = [np.ones(2)]
    x, unravel = hoad.ravel(tree)
    x[0] = 7.0
    made = unravel(x)
    x[1] = 8.0
    equal(tree[0], [1.0, 1.0])
    equal(made[0], [7.0, 1.0])


def test_traced_leaves_beside_plain_ones() -> None:
    f = lambda s: np.sum(hoad.ravel({"a": s, "b": X, "c": [s * X]})[0] ** 2)  # noqa: E731
    assert hoad.grad(f)(2.0) == pytest.approx(4.0 + 4.0 * X @ X, rel=1e-14)
    g = lambda s: hoad.ravel([np.array([s, 2 * s])])[1](np.array([s**2, s**3]))[0]  # noqa: E731
    equal(hoad.jacobian(lambda s: g(s))(2.0), [4.0, 12.0])


def test_pickles() -> None:
    x, unravel = hoad.ravel({"a": X, "n": 3})
    assert repr(unravel) == "<unravel: (3,) to {'a': *, 'n': *}>"
    equal(pickle.loads(pickle.dumps(unravel))(2 * x)["a"], 2 * X)


@pytest.mark.parametrize("vector", [np.ones(3), np.ones((4, 1)), 1.0, []])
def test_vectors_that_do_not_fit(vector: Any) -> None:
    _, unravel = hoad.ravel((X, Y))
    with pytest.raises(hoad.ShapeError, match=r"takes a vector of shape \(4,\), as ravel gave it, but was given"):
        unravel(vector)
    with pytest.raises(hoad.ShapeError, match="takes a vector of shape"):
        hoad.grad(lambda v: np.sum(unravel(v)[0]))(np.ones(3))


def test_what_cannot_be_ravelled() -> None:
    for tree, message in [
        ({}, "is empty"),
        ([1], r"tree\[0\] is int"),
        ("a", "argument 0 is str. Pass a number"),
        (3, "is int .* Write 3.0"),
    ]:
        with pytest.raises(hoad.DTypeError, match=message):
            hoad.ravel(tree)


def test_a_fit_with_scipy() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    t = np.linspace(0.0, 2.0, 15)
    truth = {"rate": 1.3, "levels": np.array([0.5, 2.0])}
    model = lambda p: p["levels"][0] + p["levels"][1] * np.exp(-p["rate"] * t)  # noqa: E731
    observed = model(truth)
    x, unravel = hoad.ravel({"rate": 1.0, "levels": np.ones(2)})
    objective = lambda x: np.sum((model(unravel(x)) - observed) ** 2)  # noqa: E731
    found = optimize.minimize(hoad.value_and_grad(objective), x, jac=True, tol=1e-14)
    fitted = unravel(found.x)
    assert fitted["rate"] == pytest.approx(1.3, abs=1e-5)
    close(fitted["levels"], truth["levels"], atol=1e-5)
