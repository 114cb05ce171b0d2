"""All public names of SciPy's parts are in a table or in a list of what is left, so that a release adds loudly."""

from __future__ import annotations

from collections import Counter

import pytest

scipy = pytest.importorskip("scipy")

from covered.rows import Kind  # noqa: E402
from covered.scipy_calls import Call  # noqa: E402
from covered.scipy_names import COVERED, LEFT, NAMES, ROWS, resolved  # noqa: E402

import hoad  # noqa: E402
from hoad.scipy import special  # noqa: E402

LATEST = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17)


@pytest.mark.parametrize("part", NAMES)
def test_every_name_is_in_a_table_or_is_left(part: str) -> None:
    left = {name for names in LEFT[part].values() for name in names}
    missing = NAMES[part] - COVERED.keys() - left
    assert not missing, f"no row in tests/covered/table_scipy_{part}.py, and not in its LEFT: {sorted(missing)}"


@pytest.mark.parametrize("part", NAMES)
def test_what_is_left_has_no_row(part: str) -> None:
    left = [name for names in LEFT[part].values() for name in names]
    assert not [name for name, n in Counter(left).items() if n > 1]
    assert not set(left) & COVERED.keys(), "take these names from LEFT"


@pytest.mark.skipif(not LATEST, reason="older releases have fewer names")
def test_every_row_is_of_a_name_that_scipy_has() -> None:
    public = set().union(*NAMES.values())
    assert not {row.name for row in ROWS if resolved(row.name) is None or row.name not in public}


def test_labels_tell_the_rows_apart() -> None:
    assert not [label for label, n in Counter(map(Call.label, ROWS)).items() if n > 1]


def test_kinds_of_ufuncs_are_those_of_their_rules() -> None:
    """Which the table reads: so this is of a few that are known."""
    kinds = {(row.name, row.argument): row.kind for row in ROWS if row.name.startswith("scipy.special.")}
    assert kinds["scipy.special.jv", "v"] is Kind.DIFFERENTIABLE
    assert kinds["scipy.special.jv", "z"] is Kind.DIFFERENTIABLE
    assert kinds["scipy.special.betainc", "a"] is Kind.DIFFERENTIABLE
    assert kinds["scipy.special.gammasgn", "x"] is Kind.CONSTANT
    assert kinds["scipy.special.wright_bessel", "a"] is Kind.NOT_YET
    with pytest.raises(hoad.NoRuleError):
        hoad.grad(lambda a: special.wright_bessel(a, 1.0, 0.5))(1.5)
