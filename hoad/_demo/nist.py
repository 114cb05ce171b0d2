"""NIST's data sets as a fit may see them, and what NIST certifies of them, to be read once the fits are done."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike

from hoad._demo.models import MODELS, Array, Model


@dataclass(frozen=True)
class Dataset:
    """Observations, the model that is fitted to them, and starting values: 1 is far from the solution, 2 is near."""

    name: str
    title: str
    difficulty: str
    formula: str
    model: Model
    x: Array
    y: Array
    starts: dict[int, Array]


@dataclass(frozen=True)
class Certified:
    """What NIST certifies of a set, to eleven digits."""

    parameters: Array
    standard_errors: Array
    residual_sum_of_squares: float


def names() -> list[str]:
    """Return the names of all sets, in NIST's order of difficulty."""
    return [row["name"] for row in _rows("sets")]


def load(name: str) -> Dataset:
    """Return the set of this name, without what NIST certifies of it."""
    (about,) = _rows("sets", name, "name")
    starts, observed = _rows("starts", name, "set"), _rows(name)
    return Dataset(
        name, about["title"], about["difficulty"], about["formula"], MODELS[name],
        _column(observed, "x"), _column(observed, "y"), {k: _column(starts, f"start_{k}") for k in (1, 2)},
    )  # fmt: skip


def certified(name: str) -> Certified:
    """Return what NIST certifies of the set of this name."""
    rows = _rows("certified_parameters", name, "set")
    (of_residuals,) = _rows("certified_residuals", name, "set")
    squares = float(of_residuals["residual_sum_of_squares"])
    return Certified(_column(rows, "value"), _column(rows, "standard_deviation"), squares)


def agreeing_digits(value: ArrayLike, reference: ArrayLike, most: float = 11) -> Array:
    """Return the log relative error: how many digits agree, from 0, or nan, to `most` (McCullough, Am. Stat. 52)."""
    relative = np.abs(np.asarray(value) - np.asarray(reference)) / np.abs(reference)
    return np.asarray(-np.log10(np.clip(np.nan_to_num(relative, nan=1.0), 10.0**-most, 1.0)) + 0.0)


def _rows(file: str, name: str = "", column: str = "") -> list[dict[str, str]]:
    """Return the rows of ``data/<file>.csv``: all, or those with `name` in a column."""
    text = files("hoad._demo").joinpath("data", f"{file}.csv").read_text(encoding="utf-8")
    return [row for row in csv.DictReader(text.splitlines()) if not column or row[column] == name]


def _column(rows: list[dict[str, str]], name: str) -> Array:
    return np.array([float(row[name]) for row in rows])
