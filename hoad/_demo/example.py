"""What `hoad demo` shows and runs: a fit with exact derivatives of plain NumPy functions."""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
import numpy as np
from scipy.optimize import least_squares

import hoad
from hoad._demo import nist

data = nist.load("Thurber")
x, y, start = data.x, data.y, data.starts[1]


# What is shown begins here.
def model(b, x):  # electron mobility in semiconductors: NIST's data set Thurber
    top = b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3
    return top / (1 + b[4] * x + b[5] * x**2 + b[6] * x**3)


def residuals(b):
    return model(b, x) - y


def cost(b):
    return np.sum(residuals(b) ** 2) / 2


jacobian = hoad.jit(hoad.jacobian(residuals))
gradient, hessian = hoad.jit(hoad.grad(cost)), hoad.jit(hoad.hessian(cost))
third = hoad.jit(hoad.derivative_tensor(cost, 3))


def fit(b):
    b = least_squares(residuals, b, jacobian, x_scale="jac").x
    for _ in range(4):  # Newton's method, for the last digits
        b = b - np.linalg.solve(hessian(b), gradient(b))
    return b
