"""Appending nodes to a graph, simplified."""

from typing import final

from hoad._core.sweep.hash_consing import Appender

@final
class Builder(Appender):
    """Appends operations to a graph, simplified."""
