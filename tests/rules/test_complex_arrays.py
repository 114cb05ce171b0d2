"""Operations on arrays of complex numbers, as functions of real and imaginary parts, against mpmath."""

from __future__ import annotations

import pytest
from rules.arrays import check_contractions, check_hessians, check_jacobians, check_values
from rules.cases import Structured, cases_of

each_case = pytest.mark.parametrize("case", cases_of("complex"), ids=lambda case: case.name)


@each_case
def test_value(case: Structured) -> None:
    check_values(case)


@each_case
def test_directional_derivatives(case: Structured) -> None:
    check_contractions(case)


@each_case
def test_jacobian(case: Structured) -> None:
    check_jacobians(case)


@each_case
def test_hessian(case: Structured) -> None:
    check_hessians(case)
