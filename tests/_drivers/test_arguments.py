"""How drivers are called: argnums, auxiliary output, keywords, shapes, and what they say when called wrongly."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import hoad

X = np.array([1.0, 2.0, 3.0])
WITH_ARGNUMS = [hoad.grad, hoad.value_and_grad, hoad.jacobian, hoad.hessian]
ids = [d.__name__ for d in WITH_ARGNUMS]


def product(x: Any, y: Any, z: Any) -> Any:
    return x * y * z * z


def test_argnums() -> None:
    args = (2.0, 3.0, 5.0)
    partials = (75.0, 50.0, 60.0)
    for k in range(3):
        assert hoad.grad(product, argnums=k)(*args) == partials[k]
        assert hoad.grad(product, argnums=k - 3)(*args) == partials[k]
        assert hoad.grad(product, argnums=(k,))(*args) == (partials[k],)
        assert hoad.jacobian(product, argnums=k)(*args) == partials[k]
        assert hoad.grad(product, np.int64(k))(*args) == partials[k]
    assert hoad.grad(product, argnums=(0, 1, 2))(*args) == partials
    assert hoad.grad(product, argnums=(2, 0))(*args) == (60.0, 75.0)
    assert hoad.grad(product, argnums=(-1, 0))(*args) == (60.0, 75.0)
    assert hoad.grad(product, argnums=())(*args) == ()
    assert hoad.value_and_grad(product, argnums=())(*args) == (150.0, ())


def test_argnums_of_hessians() -> None:
    args = (2.0, 3.0, 5.0)
    blocks = hoad.hessian(product, argnums=(0, 2))(*args)
    assert [[float(b) for b in row] for row in blocks] == [[0.0, 30.0], [30.0, 12.0]]
    assert hoad.hessian(product, argnums=2)(*args) == 12.0
    assert hoad.hessian(product, argnums=(2,))(*args)[0][0] == 12.0
    assert hoad.hvp(product, argnums=(0, 2))(*args, (1.0, 2.0)) == (60.0, 54.0)
    assert hoad.vhp(product, argnums=(0, 2))(*args, (1.0, 2.0)) == (60.0, 54.0)
    assert hoad.hvp(product, argnums=-1)(*args, 2.0) == 24.0


def test_blocks_of_arguments_of_different_shapes() -> None:
    a, b = np.arange(1.0, 7.0).reshape(2, 3), 2.0
    f = lambda a, b, c: np.sum(a**2 * b) * c  # noqa: E731
    blocks = hoad.hessian(f, argnums=(0, 1, 2))(a, b, np.ones(()))
    shapes = [[np.shape(block) for block in row] for row in blocks]
    assert shapes == [[(2, 3, 2, 3), (2, 3), (2, 3)], [(2, 3), (), ()], [(2, 3), (), ()]]
    np.testing.assert_array_equal(blocks[0][0].reshape(6, 6), 4 * np.eye(6))
    np.testing.assert_array_equal(blocks[0][1], 2 * a)
    assert blocks[1][1] == 0.0 and blocks[1][2] == np.sum(a**2)
    jacobians = hoad.jacobian(lambda a, b: a * b, argnums=(0, 1))(a, b)
    assert [np.shape(j) for j in jacobians] == [(2, 3, 2, 3), (2, 3)]


@pytest.mark.parametrize("driver", WITH_ARGNUMS, ids=ids)
@pytest.mark.parametrize("argnums", [3, -4, (0, 3), (-4,)])
def test_argnums_out_of_range(driver: Callable[..., Any], argnums: Any) -> None:
    with pytest.raises(hoad.ArgumentError, match=r"argnums=.* but the function was called with 3 arguments"):
        driver(product, argnums=argnums)(1.0, 2.0, 3.0)


@pytest.mark.parametrize("driver", WITH_ARGNUMS, ids=ids)
@pytest.mark.parametrize("argnums", [(0, 0), (1, -2), (0, 1, 0)])
def test_argnums_that_name_an_argument_twice(driver: Callable[..., Any], argnums: Any) -> None:
    with pytest.raises(ValueError, match="twice"):
        driver(product, argnums=argnums)(1.0, 2.0, 3.0)


@pytest.mark.parametrize("driver", WITH_ARGNUMS, ids=ids)
@pytest.mark.parametrize("argnums", [range(2), [0, "x"], "x", 1.0, True, (0, "x"), (0.0,), (None,)])
def test_argnums_of_another_kind(driver: Callable[..., Any], argnums: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="argnums"):
        driver(product, argnums=argnums)(1.0, 2.0, 3.0)


@pytest.mark.parametrize("driver", WITH_ARGNUMS, ids=ids)
def test_lists_choose_as_tuples_do(driver: Callable[..., Any]) -> None:
    chosen, names = [0, 2], ["x", "z"]
    by_list, by_names = driver(product, argnums=chosen), driver(product, argnames=names)
    chosen[0], names[0] = 1, "y"  # of no consequence
    assert by_list(1.0, 2.0, 3.0) == driver(product, argnums=(0, 2))(1.0, 2.0, 3.0)
    assert by_names(1.0, 2.0, 3.0) == driver(product, argnames=("x", "z"))(1.0, 2.0, 3.0)


def test_arguments_that_are_not_differentiated_may_be_anything() -> None:
    def f(x: Any, power: int, options: dict[str, Any], *rest: str, scale: float = 1.0) -> Any:
        assert (options, rest) == ({"a": [1]}, ("b", "c"))
        return np.sum(x**power) * scale

    np.testing.assert_array_equal(hoad.grad(f)(X, 2, {"a": [1]}, "b", "c", scale=3.0), 6 * X)
    np.testing.assert_array_equal(hoad.jacobian(f)(X, 2, {"a": [1]}, "b", "c", scale=3.0), 6 * X)
    np.testing.assert_array_equal(hoad.hessian(f)(X, 2, {"a": [1]}, "b", "c", scale=3.0), 6 * np.eye(3))


def test_keywords_are_handed_through_and_not_differentiated() -> None:
    f = lambda x, *, a, b=2.0: np.sum(x) * a * b  # noqa: E731
    assert hoad.grad(f)(1.0, a=3.0) == 6.0
    assert hoad.value_and_grad(f)(1.0, a=3.0, b=1.0) == (3.0, 3.0)
    assert hoad.derivative(lambda x, n, *, a: a * x**n, 2)(2.0, 3, a=5.0) == 60.0
    with pytest.raises(hoad.ArgumentError, match="was called with 0 arguments"):
        hoad.grad(lambda x: x)(x=1.0)
    with pytest.raises(TypeError, match="unexpected keyword"):
        hoad.grad(lambda x: x)(1.0, y=2.0)
    with pytest.raises(TypeError, match="missing"):
        hoad.grad(lambda x, y: x)(1.0)


def test_calls_without_arguments() -> None:
    for driver in (hoad.grad, hoad.value_and_grad, hoad.jacobian, hoad.hessian):
        with pytest.raises(hoad.ArgumentError, match="was called with 0 arguments"):
            driver(lambda: 1.0)()
    with pytest.raises(hoad.ArgumentError, match="needs the arguments of f"):
        hoad.vjp(lambda: 1.0)
    with pytest.raises(hoad.ArgumentError, match="needs the arguments of f"):
        hoad.linearize(lambda: 1.0)
    with pytest.raises(TypeError):
        hoad.derivative(np.sin)()


# ---- auxiliary output -----------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    first: Any
    second: Any


AUX: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "number": (lambda x: x * 2, 4.0),
    "string": (lambda x: "a", "a"),
    "none": (lambda x: None, None),
    "boolean": (lambda x: x > 1, True),
    "tuple": (lambda x: (x, 1, "a"), (2.0, 1, "a")),
    "nested": (lambda x: {"a": [x, (x + 1,)], "b": {}}, {"a": [2.0, (3.0,)], "b": {}}),
    "named tuple": (lambda x: Pair(x, [x]), Pair(2.0, [2.0])),
    "list": (lambda x: [], []),
    "set": (lambda x: {1, 2}, {1, 2}),
}


@pytest.mark.parametrize("name", AUX)
def test_auxiliary_output_is_plain(name: str) -> None:
    make, wanted = AUX[name]
    f = lambda x: (x * x, make(x))  # noqa: E731
    found = [
        hoad.grad(f, has_aux=True)(2.0)[1],
        hoad.value_and_grad(f, has_aux=True)(2.0)[0][1],
        hoad.jacobian(f, has_aux=True)(2.0)[1],
        hoad.hessian(f, has_aux=True)(2.0)[1],
        hoad.jvp(f, (2.0,), (1.0,), has_aux=True)[2],
        hoad.vjp(f, 2.0, has_aux=True)[2],
        hoad.linearize(f, 2.0, has_aux=True)[2],
    ]
    for aux in found:
        assert aux == wanted and type(aux) is type(wanted)
    assert hoad.grad(f, has_aux=True)(2.0)[0] == 4.0
    assert hoad.value_and_grad(f, has_aux=True)(2.0)[0][0] == 4.0
    assert hoad.hessian(f, has_aux=True)(2.0)[0] == 2.0


def test_auxiliary_arrays_are_plain() -> None:
    def f(x: Any) -> Any:
        return np.sum(x), (x * 2, np.array([x[0], x[1]]), np.array([]), np.array([None, x[2]], dtype=object), x > 1)

    _, (doubled, objects, empty, mixed, truths) = hoad.grad(f, has_aux=True)(X)
    assert type(doubled) is np.ndarray and doubled.dtype == float
    np.testing.assert_array_equal(doubled, 2 * X)
    np.testing.assert_array_equal(np.asarray(objects, dtype=float), X[:2])
    assert empty.shape == (0,)
    assert mixed[0] is None and mixed[1] == 3.0 and type(mixed[1]) is float
    np.testing.assert_array_equal(truths, X > 1)


def test_auxiliary_output_inside_a_derivative_stays_traced() -> None:
    def f(x: Any) -> Any:
        slope, aux = hoad.grad(lambda y: (x * y * y, y * 3), has_aux=True)(x)
        return slope * aux

    assert hoad.grad(f)(2.0) == 3 * 2 * 3 * 4.0  # 2x² · 3x = 6x³


@pytest.mark.parametrize("returned", [1.0, (1.0,), (1.0, 2.0, 3.0), [1.0, 2.0]])
def test_has_aux_needs_a_pair(returned: Any) -> None:
    with pytest.raises(hoad.ShapeError, match=r"has_aux=True needs a function that returns \(value, aux\)"):
        hoad.grad(lambda x: returned, has_aux=True)(1.0)
    with pytest.raises(hoad.ShapeError, match=r"has_aux=True needs a function that returns \(value, aux\)"):
        hoad.jvp(lambda x: returned, (1.0,), (1.0,), has_aux=True)


# ---- what f returns -------------------------------------------------------------------------------------------------

NO_RESULT: dict[str, tuple[Callable[[Any], Any], str]] = {
    "None": (lambda x: None, "f returned NoneType. Return the value"),
    "string": (lambda x: "a", "f returned str"),
    "function": (lambda x: lambda: x, "f returned function"),
    "generator": (lambda x: (v for v in [x]), "f returned generator"),
}

ALL: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "grad": lambda f: hoad.grad(f)(1.0),
    "value_and_grad": lambda f: hoad.value_and_grad(f)(1.0),
    "jacobian": lambda f: hoad.jacobian(f)(1.0),
    "hessian": lambda f: hoad.hessian(f)(1.0),
    "hvp": lambda f: hoad.hvp(f)(1.0, 1.0),
    "vhp": lambda f: hoad.vhp(f)(1.0, 1.0),
    "jvp": lambda f: hoad.jvp(f, (1.0,), (1.0,)),
    "vjp": lambda f: hoad.vjp(f, 1.0),
    "linearize": lambda f: hoad.linearize(f, 1.0),
    "derivative": lambda f: hoad.derivative(f)(1.0),
}


@pytest.mark.parametrize("driver", ALL)
@pytest.mark.parametrize("kind", NO_RESULT)
def test_results_that_are_no_arrays(driver: str, kind: str) -> None:
    f, message = NO_RESULT[kind]
    with pytest.raises(hoad.ShapeError, match=message) as caught:
        ALL[driver](f)
    assert str(caught.value).startswith(f"{driver} needs a function that returns a number or an array")


OF_NUMBERS = ["grad", "value_and_grad", "hessian", "hvp", "vhp"]
CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda x: [x, x],
    "tuple": lambda x: (x, x),
    "dict": lambda x: {"a": x},
}


@pytest.mark.parametrize("driver", OF_NUMBERS)
@pytest.mark.parametrize("kind", CONTAINERS)
def test_results_that_are_containers(driver: str, kind: str) -> None:
    with pytest.raises(hoad.ShapeError, match=f"f returned {kind}. Return the number .* or use jacobian") as caught:
        ALL[driver](CONTAINERS[kind])
    assert str(caught.value).startswith(f"{driver} needs a function that returns a number or an array")
    assert ("is for has_aux=True" in str(caught.value)) == (kind == "tuple")


@pytest.mark.parametrize("driver", OF_NUMBERS)
@pytest.mark.parametrize("shape", [(3,), (1,), (1, 1), (0,), (2, 0)])
def test_results_that_are_no_numbers(driver: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(hoad.ShapeError) as caught:
        ALL[driver](lambda x: x * np.ones(shape))
    assert str(caught.value) == (
        f"{driver} needs a scalar function, but f(x) has shape {shape}. "
        + (
            f"Return its one item, f(x)[{', '.join('0' * len(shape))}], or np.sum(f(x)). SciPy's minimize, for one, "
            "calls f with x of shape (1,) where x0 is a number."
            if np.prod(shape) == 1
            else "Use jacobian(f), or vjp with a cotangent."
        )
    )
    assert isinstance(caught.value, ValueError)


# ---- directions and seeds -------------------------------------------------------------------------------------------


def test_tangents_that_do_not_fit() -> None:
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: hoad.jvp(np.sum, X, X), "takes primals and tangents as tuples"),
        (lambda: hoad.jvp(np.sum, (X,), (X, X)), "1 primal and 2 tangents"),
        (lambda: hoad.jvp(np.sum, (X,), (1.0,)), r"tangent 0 must have shape \(3,\), but has shape \(\)"),
        (lambda: hoad.jvp(np.sum, (X,), (X[:2],)), r"tangent 0 must have shape \(3,\), but has shape \(2,\)"),
        (lambda: hoad.jvp(np.sum, (X,), (X[None],)), r"tangent 0 must have shape \(3,\), but has shape \(1, 3\)"),
        (lambda: hoad.jvp(np.dot, (X, X), (X, 1.0)), r"tangent 1 must have shape \(3,\)"),
        (lambda: hoad.jvp(np.sum, (X,), (X * 1j,)), "complex128"),
        (lambda: hoad.vjp(np.sin, X)[1](1.0), r"cotangent must have shape \(3,\), but has shape \(\)"),
        (lambda: hoad.vjp(np.sum, X)[1](X), r"cotangent must have shape \(\), but has shape \(3,\)"),
        (lambda: hoad.vjp(np.sum, X)[1](1j), "complex128"),
        (lambda: hoad.linearize(np.sum, X)[1](1.0), r"tangent must have shape \(3,\), but has shape \(\)"),
        (lambda: hoad.linearize(np.sum, X)[1](X, X), "takes 1 argument, but 2 were given"),
        (lambda: hoad.linearize(np.sum, X)[1](), "takes 1 argument, but 0 were given"),
        (lambda: hoad.linearize(np.dot, X, X)[1](X, 1.0), r"tangent of argument 1 must have shape \(3,\)"),
        (lambda: hoad.hvp(np.sum)(X, 1.0), r"direction must have shape \(3,\), but has shape \(\)"),
        (lambda: hoad.vhp(np.sum)(X, X[:2]), r"direction must have shape \(3,\), but has shape \(2,\)"),
        (lambda: hoad.hvp(np.sum)(X), r"hvp\(f\)\(x, v\)"),
        (lambda: hoad.hvp(np.dot, argnums=(0, 1))(X, X, (X,)), "2 directions"),
        (lambda: hoad.vhp(np.dot, argnums=(0, 1))(X, X, (X, X, X)), "2 directions"),
        (lambda: hoad.hvp(np.sum, argnums=(0,))(X, X), "1 direction,"),
    ]
    for call, message in cases:
        with pytest.raises((ValueError, TypeError), match=message):
            call()


def test_tangents_of_other_kinds_that_fit() -> None:
    for one in (1, True, np.float32(1), np.int64(1), np.array(1), np.array(1, dtype=np.int8)):
        assert hoad.jvp(np.sin, (0.0,), (one,))[1] == 1.0
        assert hoad.vjp(np.sin, 0.0)[1](one) == (1.0,)
        assert hoad.linearize(np.sin, 0.0)[1](one) == 1.0
        assert hoad.hvp(np.square)(0.0, one) == 2.0
    np.testing.assert_array_equal(hoad.jvp(np.square, (X,), ([1, 0, 0],))[1], [2.0, 0.0, 0.0])
    np.testing.assert_array_equal(hoad.vjp(np.square, X)[1]([1, 0, 0])[0], [2.0, 0.0, 0.0])
    np.testing.assert_array_equal(hoad.linearize(np.square, X)[1](np.array([1, 0, 0])), [2.0, 0.0, 0.0])
    np.testing.assert_array_equal(hoad.hvp(lambda x: np.sum(x**3))(X, [1, 0, 0]), [6.0, 0.0, 0.0])
    assert hoad.jvp(np.sin, (np.float32(0),), (1.0,))[1].dtype == np.float32


def test_jvp_of_a_function_without_arguments() -> None:
    assert hoad.jvp(lambda: 3.0, (), ()) == (3.0, 0.0)


# ---- the functions that drivers give --------------------------------------------------------------------------------


def test_wrapped_functions_keep_name_and_documentation() -> None:
    def named(x: Any) -> Any:
        """Docs."""
        return np.sum(x)

    for driver in (hoad.grad, hoad.value_and_grad, hoad.jacobian, hoad.hessian, hoad.hvp, hoad.vhp, hoad.derivative):
        made = driver(named)
        assert made.__name__ == "named" and made.__doc__ == "Docs."


class Model:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, x: Any) -> Any:
        return self.scale * np.sum(x**2)

    def method(self, x: Any) -> Any:
        return self(x)


def test_anything_that_can_be_called() -> None:
    model = Model(3.0)
    callables: list[Callable[[Any], Any]] = [
        model,
        model.method,
        functools.partial(lambda s, x: s * np.sum(x**2), 3.0),
        functools.partial(lambda x, s: s * np.sum(x**2), s=3.0),
    ]
    for f in callables:
        np.testing.assert_array_equal(hoad.grad(f)(X), 6 * X)
        np.testing.assert_array_equal(hoad.hessian(f)(X), 6 * np.eye(3))
        np.testing.assert_array_equal(hoad.hvp(f)(X, X), 6 * X)
    assert hoad.grad(np.sin)(0.0) == 1.0
    assert hoad.grad(np.add, argnums=1)(1.0, 2.0) == 1.0
    np.testing.assert_array_equal(hoad.jacobian(np.multiply, argnums=1)(X, X), np.diag(X))


NAMES = [*ALL, "record"]
VALUE = r"was given a float(64)? \(0\.5\)\. Give it the function"


@pytest.mark.parametrize("driver", NAMES)
@pytest.mark.parametrize(
    ("f", "message"),
    [
        (0.5, VALUE),
        (np.float64(0.5), VALUE),
        (X, r"was given an ndarray of shape \(3,\)\. Give it the function"),
        (None, "was given a NoneType. Give it one that takes floats"),
        ("sin", "was given a str. Give it one that takes floats"),
        ([1.0], "was given a list. Give it one that takes floats"),
    ],
    ids=str,
)
def test_what_cannot_be_called(driver: str, f: Any, message: str) -> None:
    """The error comes where the mistake is, not when the result is called."""
    args = ((1.0,), (1.0,)) if driver == "jvp" else (1.0,) if driver in ("vjp", "linearize", "record") else ()
    with pytest.raises(hoad.ArgumentError, match=f"^{driver} takes a function, but {message}") as caught:
        getattr(hoad, driver)(f, *args)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hoad.taylor(0.1, np.exp, 3), r"function \(exp\) first, .*hoad\.taylor\(f, x, n\)"),
        (lambda: hoad.taylor(3, 0.1, np.exp), r"function \(exp\) first"),
        (lambda: hoad.taylor(np.exp, 3, 0.1), r"order .* not 0\.1 .*hoad\.taylor\(f, x, n\)"),
        (lambda: hoad.derivative(0.1, 2), r"function first, .*hoad\.derivative\(f, n\)\(x\)"),
        (lambda: hoad.derivative(2, np.exp), r"function \(exp\) first"),
        (lambda: hoad.derivatives(2, np.exp), r"function \(exp\) first, .*hoad\.derivatives\(f, n\)\(x\)"),
        (lambda: hoad.derivative_tensor(X, np.sum), r"function \(sum\) first, .*hoad\.derivative_tensor\(f, n\)\(x\)"),
        (lambda: hoad.derivative_tensor(np.sum, X), r"as in hoad\.derivative_tensor\(f, n\)\(x\)"),
        (lambda: hoad.partials([(1, 0)], np.sum), r"function \(sum\) first, .*hoad\.partials\(f, \["),
        (lambda: hoad.partials(np.sum, (1, 0)), r"given one of them, .*hoad\.partials\(f, \[\(1, 0\)\]\)\(x\)"),
        (lambda: hoad.directional_derivative(X, np.sum), r"function \(sum\) first, .*\(f, v\)\(x\)"),
        (lambda: hoad.laplacian(X), r"function first, .*hoad\.laplacian\(f\)\(x\)"),
    ],
)
def test_the_function_comes_first(call: Any, message: str) -> None:
    with pytest.raises(hoad.ArgumentError, match=message):
        call()


def test_a_traced_value_is_no_function() -> None:
    with pytest.raises(hoad.ArgumentError, match=r"not grad\(np\.sin\(1\.0\)\)"):
        hoad.grad(lambda x: hoad.grad(np.sin(x)))(1.0)


def test_gradient_takes_a_program() -> None:
    for f in (np.sin, hoad.grad(np.sin), 3.0, hoad.record(np.sin, 1.0)[0]):
        with pytest.raises(hoad.ArgumentError, match=r"takes a Program.*hoad\.record\(f, x\).*hoad\.grad\(f\)\(x\)"):
            hoad.gradient(f)  # type: ignore[arg-type]


def test_arguments_in_the_place_of_argnums() -> None:
    for argnums in (1.0, X):
        with pytest.raises(hoad.ArgumentError, match=r"not .*grad\(f\)\(x\)\."):
            hoad.grad(np.sin, argnums)(1.0)  # type: ignore[arg-type]
    with pytest.raises(hoad.ArgumentError, match=r"an order of 0 or more, an int, not 1\.0 \(float\)\. Write 2"):
        hoad.derivative(np.sin, 1.0)  # type: ignore[arg-type]


def test_directions_and_seeds_that_are_no_numbers() -> None:
    program = hoad.record(np.sum, X)
    cases: list[tuple[Callable[[], Any], str]] = [
        (
            lambda: hoad.jvp(np.sin, (1.0,), (None,)),
            "^tangent 0 must be .* but is NoneType",
        ),
        (lambda: hoad.jvp(np.sum, (X,), (np.array(["a"] * 3),)), "^tangent 0 must be .* but is an array of <U1"),
        (lambda: hoad.hvp(np.sum)(X, "abc"), "^the direction must be a float or an array of floats, but is str"),
        (lambda: hoad.gradient(program, {}), "^the seed of output 0 must be .* but is dict"),
        (lambda: hoad.gradient(program, 1j), "^the seed of output 0 must be .* but is complex"),
        (lambda: hoad.vjp(np.sin, X)[1](np.array([None] * 3)), "input 0 of this program has dtype float64, but object"),
        (lambda: program.evaluate(X * 1j), "input 0 of this program has dtype float64, but complex128"),
        (lambda: program.evaluate("abc"), "input 0 of this program has dtype float64, but <U3"),
    ]
    for call, message in cases:
        with pytest.raises(hoad.DTypeError, match=message):
            call()


def test_choices_there_are_not() -> None:
    calls: list[Callable[[], Any]] = [
        lambda: hoad.jacobian(np.sin, mode="fwd"),
        lambda: hoad.derivative(np.sin, -1),
        lambda: hoad.gradient(hoad.record(np.sin, 1.0), "symbol"),
    ]
    for call in calls:
        with pytest.raises(hoad.ArgumentError, match="not ") as caught:
            call()
        assert isinstance(caught.value, ValueError)


def test_programs_on_traced_values() -> None:
    for x, f in ((2.0, np.sin), (X, np.sum)):
        program = hoad.record(f, x)
        with pytest.raises(hoad.TracedValueError, match=r"\(test_arguments\.py:\d+\).*Call the program itself"):
            hoad.grad(lambda x: program.evaluate(x))(x)
        np.testing.assert_array_equal(hoad.grad(lambda x: program(x))(x), hoad.grad(f)(x))
    with pytest.raises(hoad.ShapeError, match="has no tapes"):
        hoad.gradient(hoad.Program())


def test_direction_in_the_place_of_argnums() -> None:
    with pytest.raises(hoad.ArgumentError, match=r"hvp\(f\) gives a function"):
        hoad.hvp(np.sum, X, X)  # type: ignore[arg-type]


def test_keywords_are_constants_of_programs() -> None:
    program = hoad.record(lambda x, *, a, b=2.0: x * x * a * b, 3.0, a=5.0)
    assert program.evaluate(2.0) == 40.0 and len(program.inputs) == 1
    assert hoad.gradient(program).evaluate(2.0) == 40.0
    with pytest.raises(hoad.TracedValueError, match="arguments must be plain"):
        hoad.grad(lambda x: hoad.record(lambda y, a: y * a, 1.0, a=x).evaluate(1.0))(2.0)


@pytest.mark.parametrize("driver", [hoad.hvp, hoad.vhp])
def test_keywords_and_auxiliary_output_of_products(driver: Callable[..., Any]) -> None:
    f = lambda x, scale=1.0: (np.sum(x**3) * scale, {"first": x[0]})  # noqa: E731
    product, aux = driver(f, has_aux=True)(X, np.ones(3), scale=2.0)
    np.testing.assert_array_equal(product, 12 * X)
    assert aux == {"first": 1.0} and type(aux["first"]) is float
    np.testing.assert_array_equal(driver(lambda x, scale: f(x, scale)[0])(X, np.ones(3), scale=2.0), 12 * X)
    blocks, aux = driver(lambda x, y: (x * x * y, y), argnums=(0, 1), has_aux=True)(2.0, 3.0, (1.0, 0.0))
    assert blocks == (6.0, 4.0) and aux == 3.0
    with pytest.raises(hoad.ShapeError, match=r"needs a function that returns \(value, aux\), but f returned"):
        driver(lambda x: np.sum(x), has_aux=True)(X, X)


def test_derivative_orders() -> None:
    assert hoad.derivative(np.sin, 0)(0.5) == np.sin(0.5)
    assert hoad.derivative(np.sin, np.int64(2))(0.5) == -np.sin(0.5)
    assert hoad.derivative(np.sin)(0.5) == np.cos(0.5)
    x, y = hoad.symbols("x y")
    takers: list[tuple[str, int, str, str, Callable[[Any], Any]]] = [
        ("derivative", 0, "of 0 or more", "(f, n)(x)", lambda n: hoad.derivative(np.sin, n)),
        ("derivatives", 0, "of 0 or more", "(f, n)(x)", lambda n: hoad.derivatives(np.sin, n)),
        ("taylor", 0, "of 0 or more", "(f, x, n)", lambda n: hoad.taylor(np.sin, 0.5, n)),
        ("derivative_tensor", 1, "from 1 to 170", "(f, n)(x)", lambda n: hoad.derivative_tensor(np.sin, n)),
        ("unpack_tensor", 1, "of 1 or more", "", lambda n: hoad.unpack_tensor(np.ones(1), 1, n)),
        ("derivative", 0, "of 0 or more", "", lambda n: (x * y).derivative(x, n)),
    ]
    for driver, least, orders, call, take in takers:
        as_in = f", as in hoad.{driver}{call}" if call else ""
        for order in (2, np.int64(2), np.uint8(2), np.array(2)):
            take(order)
        wrong = [(1.5, "1.5 (float)"), ("2", "'2' (str)"), (None, "None (NoneType)"), (True, "True (bool)")]
        wrong += [(np.float64(2.0), "np.float64(2.0) (float64)"), (least - 1, f"{least - 1} (int)")]
        for order, shown in wrong:
            message = (
                f"{driver} takes an order {orders}, an int, not {shown}. Write 2 for the second derivative{as_in}."
            )
            with pytest.raises(hoad.ArgumentError, match=f"^{re.escape(message)}$"):
                take(order)
        with pytest.raises(hoad.ArgumentError, match=r"not .*True"):
            take(np.True_)


@pytest.mark.parametrize("mode", ["Forward", "fwd", "", None, 1])
def test_modes_of_jacobians(mode: Any) -> None:
    with pytest.raises(ValueError, match="takes mode 'auto', 'forward' or 'reverse'"):
        hoad.jacobian(np.sin, mode=mode)
