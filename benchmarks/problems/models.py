"""Models of statistics and learning: a perceptron, a logistic regression, a mixture of Gaussians.

n counts the samples; parameters are one vector, as an optimiser has them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from problems.problem import Function, Point, Problem

# -------------------------------------------------------------------------------- a perceptron with three layers

LAYERS = (32, 64, 64, 1)
SIZES = [size for a, b in pairwise(LAYERS) for size in (a * b, b)]
PARAMETERS = sum(SIZES)


def batch(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.normal(size=(n, LAYERS[0])), rng.normal(size=(n, 1))


def layers(p: Any) -> list[tuple[Any, Any]]:
    """Weights and biases, cut from the vector of all."""
    parts, at = [], 0
    for a, b in pairwise(LAYERS):
        parts.append((p[at : at + a * b].reshape((a, b)), p[at + a * b : at + a * b + b]))
        at += a * b + b
    return parts


def perceptron(activation: Callable[[Any, Any], Any], loss: Callable[[Any, Any], Any]) -> Callable[[int], Function]:
    def of_batch(n: int) -> Function:
        inputs, targets = batch(n)

        def f(m: Any, p: Any) -> Any:
            *hidden, (w, b) = layers(p)
            y = m.asarray(inputs)
            for weights, bias in hidden:
                y = activation(m, y @ weights + bias)
            return m.sum(loss(m, y @ w + b - m.asarray(targets))) / n

        return f

    return of_batch


def perceptron_by_hand(n: int) -> Function:
    """Backpropagation for tanh and squares."""
    inputs, targets = batch(n)

    def gradient(p: np.ndarray) -> np.ndarray:
        (w1, b1), (w2, b2), (w3, b3) = layers(p)
        y1 = np.tanh(inputs @ w1 + b1)
        y2 = np.tanh(y1 @ w2 + b2)
        r = 2 / n * (y2 @ w3 + b3 - targets)
        s2 = (r @ w3.T) * (1 - y2 * y2)
        s1 = (s2 @ w2.T) * (1 - y1 * y1)
        pairs = ((inputs, s1), (y1, s2), (y2, r))
        return np.concatenate([part for y, s in pairs for part in ((y.T @ s).ravel(), s.sum(axis=0))])

    return gradient


def small_parameters(rng: np.random.Generator, n: int) -> tuple[np.ndarray]:
    return (0.2 * rng.normal(size=PARAMETERS),)


def parameters_and_direction(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return *small_parameters(rng, n), rng.normal(size=PARAMETERS)


TANH = perceptron(lambda m, z: m.tanh(z), lambda m, r: r * r)
SINE = perceptron(lambda m, z: m.sin(z), lambda m, r: m.sqrt(1 + r * r))

# --------------------------------------------------------------------------------------------------- regressions

FEATURES = 50


def samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(9)
    return rng.normal(size=(n, FEATURES)) / 5, rng.choice([-1.0, 1.0], size=n)


def logistic(n: int) -> Function:
    x, y = samples(n)

    def f(m: Any, w: Any) -> Any:
        return m.sum(m.log1p(m.exp(-m.asarray(y) * (m.asarray(x) @ w)))) / n

    return f


def logistic_gradient(n: int) -> Function:
    x, y = samples(n)
    return lambda w: -(y / (1 + np.exp(y * (x @ w)))) @ x / n


def logistic_hessian(n: int) -> Function:
    x, y = samples(n)

    def hessian(w: np.ndarray) -> np.ndarray:
        p = 1 / (1 + np.exp(-y * (x @ w)))
        return (x.T * (p * (1 - p))) @ x / n

    return hessian


def poisson(n: int) -> Function:
    """Counts instead of two classes: the perturbed sibling."""
    x, y = samples(n)

    def f(m: Any, w: Any) -> Any:
        z = m.asarray(x) @ w
        return m.sum(m.exp(z) - m.asarray(y + 1) * z) / n + 0.1 * m.sum(w * w)

    return f


def poisson_gradient(n: int) -> Function:
    x, y = samples(n)
    return lambda w: (np.exp(x @ w) - (y + 1)) @ x / n + 0.2 * w


def poisson_hessian(n: int) -> Function:
    x, _ = samples(n)
    return lambda w: (x.T * np.exp(x @ w)) @ x / n + 0.2 * np.eye(FEATURES)


def weights(rng: np.random.Generator, n: int) -> tuple[np.ndarray]:
    return (rng.normal(size=FEATURES),)


# ---------------------------------------------------------------------------------------- a mixture of Gaussians

DIMENSION, COMPONENTS = 10, 25
TRIANGLE = DIMENSION * (DIMENSION - 1) // 2
ROWS, COLUMNS = np.tril_indices(DIMENSION, -1)
SCATTER = np.zeros((TRIANGLE, DIMENSION * DIMENSION))
SCATTER[np.arange(TRIANGLE), ROWS * DIMENSION + COLUMNS] = 1.0
SPREAD = np.zeros((DIMENSION, DIMENSION * DIMENSION))
SPREAD[np.arange(DIMENSION), np.arange(DIMENSION) * (DIMENSION + 1)] = 1.0
MIXTURE = COMPONENTS * (1 + 2 * DIMENSION + TRIANGLE)


def mixture(tail: Callable[[Any, Any], Any]) -> Callable[[int], Function]:
    """The negative logarithm of the likelihood: weights, means, and factors of the inverse covariances.

    `tail` is the logarithm of a density as a function of the squared distance.
    """

    def of_samples(n: int) -> Function:
        x = np.random.default_rng(13).normal(size=(n, DIMENSION))
        k, d = COMPONENTS, DIMENSION

        def f(m: Any, p: Any) -> Any:
            alpha, means = p[:k], p[k : k + k * d].reshape((k, d))
            logs = p[k + k * d : k + 2 * k * d].reshape((k, d))
            below = p[k + 2 * k * d :].reshape((k, TRIANGLE))
            factors = (m.exp(logs) @ m.asarray(SPREAD) + below @ m.asarray(SCATTER)).reshape((k, d, d))
            apart = m.asarray(x)[:, None, :] - means
            distances = m.sum(m.einsum("kij,nkj->nki", factors, apart) ** 2, axis=2)
            terms = alpha + m.sum(logs, axis=1) + tail(m, distances)
            prior = 0.5 * m.sum(factors**2) - m.sum(logs)
            return n * logsumexp(m, alpha, 0) - m.sum(logsumexp(m, terms, 1)) + prior

        return f

    return of_samples


def logsumexp(m: Any, a: Any, axis: int) -> Any:
    top = m.max(a, axis=axis, keepdims=True)
    return m.sum(m.log(m.sum(m.exp(a - top), axis=axis, keepdims=True)) + top, axis=axis)


def mixture_parameters(rng: np.random.Generator, n: int) -> tuple[np.ndarray]:
    return (0.3 * rng.normal(size=MIXTURE),)


def gaussian(m: Any, square: Any) -> Any:
    return -0.5 * square


def student(m: Any, square: Any) -> Any:
    """Heavier tails, four degrees of freedom: the perturbed sibling."""
    return -(4 + DIMENSION) / 2 * m.log1p(square / 4)


# ------------------------------------------------------------------------------------------------------ the table


def problems(
    asked: str, point: Point, texts: tuple[Callable[[int], Function], ...], by_hand: tuple[Any, ...] = (None, None)
) -> tuple[Problem, Problem]:
    """A problem and its perturbed sibling."""
    first, second = (Problem(asked, f, point, hand, rtol=1e-8) for f, hand in zip(texts, by_hand, strict=True))
    return first, second


PAIRS = {
    "perceptron gradient": problems("gradient", small_parameters, (TANH, SINE), (perceptron_by_hand, None)),
    "perceptron product": problems("hvp", parameters_and_direction, (TANH, SINE)),
    "logistic gradient": problems("gradient", weights, (logistic, poisson), (logistic_gradient, poisson_gradient)),
    "logistic Hessian": problems("hessian", weights, (logistic, poisson), (logistic_hessian, poisson_hessian)),
    "mixture gradient": problems("gradient", mixture_parameters, (mixture(gaussian), mixture(student))),
}
PROBLEMS = {
    name + suffix: problem
    for name, pair in PAIRS.items()
    for suffix, problem in zip(("", ", perturbed"), pair, strict=True)
}
