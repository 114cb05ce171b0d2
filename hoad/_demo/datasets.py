"""The data sets as the fit may see them: observations and starting values, no certified results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hoad._demo.models import MODELS, Model
from hoad._demo.tables import read_rows
from hoad.errors import ArgumentError

__all__ = ["Dataset", "load", "names"]


@dataclass(frozen=True)
class Dataset:
    """One of NIST's problems: what was observed, the model, and where to start.

    Attributes
    ----------
    name, title, difficulty, formula, reference : str
        What NIST says of it; the formula is in NIST's notation, with parameters b1, b2 and so on.
    model : callable
        The formula as a NumPy function of (b, x).
    x, y : ndarray
        Predictor and response, one entry per observation.
    starts : dict of ndarray
        NIST's starting values: 1 is far from the solution, 2 is near.
    """

    name: str
    title: str
    difficulty: str
    formula: str
    reference: str
    model: Model
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    starts: dict[int, NDArray[np.float64]]


def names() -> list[str]:
    """Return the names of all sets, in NIST's order of difficulty."""
    return [row["name"] for row in read_rows("sets")]


def load(name: str) -> Dataset:
    """Return the set of this name.

    Raises
    ------
    ArgumentError
        If there is none; the message has the names.
    """
    about = next((row for row in read_rows("sets") if row["name"] == name), None)
    if about is None:
        raise ArgumentError(f"load takes the name of a data set, not {name!r}. There are {', '.join(names())}.")
    observations = read_rows(name)
    starts = [row for row in read_rows("starts") if row["set"] == name]
    return Dataset(
        name=name,
        title=about["title"],
        difficulty=about["difficulty"],
        formula=about["formula"],
        reference=about["reference"],
        model=MODELS[name],
        x=np.array([float(row["x"]) for row in observations]),
        y=np.array([float(row["y"]) for row in observations]),
        starts={k: np.array([float(row[f"start_{k}"]) for row in starts]) for k in (1, 2)},
    )
