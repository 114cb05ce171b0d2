"""Traced values: what they record, what they refuse, how they are written to."""
