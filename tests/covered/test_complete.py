"""All names of NumPy that could be given a traced value are in a table, so that a new release adds names loudly."""

from __future__ import annotations

import numpy as np
import pytest
from covered.names import AREAS, COVERED, TABLES, resolved


@pytest.mark.parametrize("area", AREAS)
def test_every_name_is_in_a_table(area: str) -> None:
    missing = AREAS[area] - COVERED.keys()
    assert not missing, f"no row in tests/covered/table_*.py for {sorted(missing)}"


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.3.0", reason="older releases have fewer names")
def test_every_row_is_of_a_name_that_numpy_has() -> None:
    gone = {row.name for rows in TABLES.values() for row in rows if resolved(row.name) is None}
    assert not gone, f"NumPy has no {sorted(gone)}"
