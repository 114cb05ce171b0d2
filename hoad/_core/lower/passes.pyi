"""Schedules: the steps of a program rewritten, as chains, packs and serial code."""

from typing import final

@final
class Scheduler:
    """The steps of a program rewritten."""
