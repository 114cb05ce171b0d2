"""Rows, rules and primitives are the same set: a rule that nothing tests cannot exist."""

from __future__ import annotations

import numpy as np
import pytest
from reference import primal
from rules.arrays import examples
from rules.cases import BUILT_IN, CASES, WITHOUT_DERIVATIVE, Elementwise, Structured

from hoad._core.graph.primitive import Primitive, primitives


def _declared_later(primitive: Primitive) -> bool:
    """Those of users (and of tests), those that run programs and those of spectra, which have tests of their own."""
    if primitive.name.startswith(("spectral", "singular")):
        return True  # tests/core/test_spectral.py
    return primitive.of_programs or getattr(primitive.function, "__module__", None) == "hoad.rules.registry"


PRIMITIVES = {p.name: p for p in primitives() if not _declared_later(p)}
TESTED = {name for case in CASES for name in case.primitives}


def test_every_primitive_has_a_row() -> None:
    assert TESTED | WITHOUT_DERIVATIVE | BUILT_IN == set(PRIMITIVES)


def test_every_primitive_with_a_row_has_a_rule_and_no_other() -> None:
    ruled = {name for name, primitive in PRIMITIVES.items() if primitive.rule is not None}
    assert ruled == set(PRIMITIVES) - WITHOUT_DERIVATIVE - BUILT_IN
    assert ruled <= TESTED


def test_rows_have_names_of_their_own() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_row_uses_the_primitives_it_names(case: Elementwise | Structured) -> None:
    if isinstance(case, Elementwise):
        xs = case.sample(np.random.default_rng(1), 4)
        listing = primal(lambda *args: case.f(*args, *xs[len(case.wrt) :]), *xs[: len(case.wrt)])
    else:
        listing = primal(case.f, *next(examples(case)))
    recorded = {row.primitive.name for row in listing.rows if row.primitive is not None}
    assert set(case.primitives) <= recorded
