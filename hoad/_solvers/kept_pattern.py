"""The entries of a sparse matrix in a pattern that a solver keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoad.errors import DomainError, GuardError


class Entries:
    """Values at the entries that may be nonzero at the first point; also of its lower triangle alone."""

    def __init__(self, driver: Any, point: tuple[Any, ...], lower: bool = False) -> None:
        self.driver, self.lower = driver, lower
        self.plan = driver.plan(*point)
        self.kept = np.asarray(self.plan.rows) >= self.plan.columns if lower else slice(None)
        self.rows, self.columns = np.asarray(self.plan.rows)[self.kept], np.asarray(self.plan.columns)[self.kept]

    def values(self, *point: Any) -> Any:
        """The values in the order of `rows` and `columns`."""
        try:
            return self.plan.values(*point)[self.kept]
        except GuardError:  # f takes another branch here than at the first point
            return self._of_another_branch(self.driver.plan(*point), point)

    def _of_another_branch(self, plan: Any, point: tuple[Any, ...]) -> Any:
        n = plan.shape[1]
        kept = np.asarray(plan.rows) >= plan.columns if self.lower else slice(None)
        here = (np.asarray(plan.rows) * n + plan.columns)[kept]
        keys = self.rows * n + self.columns  # ascending, since the entries come row by row
        places = np.searchsorted(keys, here)
        if not np.array_equal(keys[np.minimum(places, keys.size - 1)], here):
            raise DomainError(
                "A derivative has entries here that it had not where the solver started, since the function takes "
                "another branch. Start in a point of this branch, or use np.where in the function."
            )
        found = np.zeros(keys.size)
        found[places] = plan.values(*point)[kept]
        return found
