"""Reading the CSV files that travel with the package."""

from __future__ import annotations

import csv
from importlib.resources import files

__all__ = ["read_rows"]


def read_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of ``data/<name>.csv``, each a dictionary from column to text."""
    text = files("hoad._demo").joinpath("data", f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
