"""Common subexpressions are computed once."""

from typing import final

@final
class EqualSteps:
    """The state of one pass over the steps of a program."""
