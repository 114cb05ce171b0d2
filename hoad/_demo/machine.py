"""The same report for machines: everything, at full precision, as JSON."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

import hoad
from hoad._demo.study import Agreement, Study

__all__ = ["SCHEMA", "as_json"]

SCHEMA = 1  # counts up when a name changes or goes


def as_json(studies: Sequence[Study]) -> dict[str, Any]:
    """Return the report as dictionaries, lists, strings, finite numbers and None (which stands for nan)."""
    report = {
        "schema": SCHEMA,
        "versions": {
            "hoad": hoad.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
        },
        "succeeded": all(study.succeeded for study in studies),
        "sets": [_of_set(study) for study in studies],
    }
    plain: dict[str, Any] = _plain(report)
    return plain


def _of_set(study: Study) -> dict[str, Any]:
    data, reference = study.dataset, study.certified
    return {
        "name": data.name,
        "title": data.title,
        "difficulty": data.difficulty,
        "formula": data.formula,
        "reference": data.reference,
        "observations": len(data.y),
        "certified": asdict(reference),
        "fits": [_of_fit(data.starts[agreement.start], agreement) for agreement in study.agreements],
        "hessian": asdict(study.hessian),
        "succeeded": study.succeeded,
    }


def _of_fit(begun: np.ndarray[Any, Any], agreement: Agreement) -> dict[str, Any]:
    return {
        "start": agreement.start,
        "start_values": begun,
        "succeeded": agreement.succeeded,
        **asdict(agreement.fit),
        "parameter_digits": agreement.parameter_digits,
        "standard_error_digits": agreement.standard_error_digits,
        "residual_digits": agreement.residual_digits,
        "rounding_digits": agreement.rounding_digits,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
