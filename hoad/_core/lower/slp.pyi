"""Superword-level parallelism: which steps on single numbers are done together."""

from typing import final

@final
class IsomorphicGroups:
    """The steps of a program, group by group."""

@final
class Grouping:
    """The isomorphic groups in the making."""
