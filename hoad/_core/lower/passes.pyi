"""Schedules: the steps of a program rewritten, as fused loops, gather copies and bytecode."""

from typing import final

@final
class Scheduler:
    """The steps of a program rewritten."""
