"""Fourier transforms of real arrays, against their definitions in mpmath."""

from __future__ import annotations

import pytest
from rules.arrays import check_contractions, check_hessians, check_jacobians, check_values
from rules.cases import Structured, cases_of

each_case = pytest.mark.parametrize("case", cases_of("fft"), ids=lambda case: case.name)


@each_case
def test_values(case: Structured) -> None:
    check_values(case)


@each_case
def test_contractions(case: Structured) -> None:
    check_contractions(case)


@each_case
def test_jacobians(case: Structured) -> None:
    check_jacobians(case)


@each_case
def test_hessians(case: Structured) -> None:
    check_hessians(case)
