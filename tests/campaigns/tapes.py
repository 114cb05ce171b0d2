"""Random programs beside the model of `tests/model`: tapes node by node, values bit by bit, derivatives to order 3."""

from __future__ import annotations

import numpy as np
from model.comparison import difference


def trial(rng: np.random.Generator) -> str | None:
    """One random program."""
    return difference(rng)
