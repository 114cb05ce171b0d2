"""NIST's regression functions, as a user would write them, in plain NumPy: responses to x for parameters b.

NIST counts its parameters from one: its b1 is ``b[0]`` here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Any, not an array type: while it is being differentiated, a model is run on traced values.
Model = Callable[[Any, Any], Any]


def cubic_over_cubic(b: Any, x: Any) -> Any:
    return (b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3) / (1 + b[4] * x + b[5] * x**2 + b[6] * x**3)


def gauss1(b: Any, x: Any) -> Any:
    peaks = b[2] * np.exp(-((x - b[3]) ** 2) / b[4] ** 2) + b[5] * np.exp(-((x - b[6]) ** 2) / b[7] ** 2)
    return b[0] * np.exp(-b[1] * x) + peaks


def enso(b: Any, x: Any) -> Any:
    annual = b[1] * np.cos(2 * np.pi * x / 12) + b[2] * np.sin(2 * np.pi * x / 12)
    el_nino = b[4] * np.cos(2 * np.pi * x / b[3]) + b[5] * np.sin(2 * np.pi * x / b[3])
    southern_oscillation = b[7] * np.cos(2 * np.pi * x / b[6]) + b[8] * np.sin(2 * np.pi * x / b[6])
    return b[0] + annual + el_nino + southern_oscillation


MODELS: dict[str, Model] = {
    "Misra1a": lambda b, x: b[0] * (1 - np.exp(-b[1] * x)),
    "Chwirut2": lambda b, x: np.exp(-b[0] * x) / (b[1] + b[2] * x),
    "DanWood": lambda b, x: b[0] * x ** b[1],
    "Gauss1": gauss1,
    "Lanczos3": lambda b, x: b[0] * np.exp(-b[1] * x) + b[2] * np.exp(-b[3] * x) + b[4] * np.exp(-b[5] * x),
    "Kirby2": lambda b, x: (b[0] + b[1] * x + b[2] * x**2) / (1 + b[3] * x + b[4] * x**2),
    "Hahn1": cubic_over_cubic,
    "ENSO": enso,
    "MGH09": lambda b, x: b[0] * (x**2 + x * b[1]) / (x**2 + x * b[2] + b[3]),
    "Thurber": cubic_over_cubic,
    "BoxBOD": lambda b, x: b[0] * (1 - np.exp(-b[1] * x)),
    "Rat42": lambda b, x: b[0] / (1 + np.exp(b[1] - b[2] * x)),
    "Eckerle4": lambda b, x: b[0] / b[1] * np.exp(-0.5 * ((x - b[2]) / b[1]) ** 2),
}
