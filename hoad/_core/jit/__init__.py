"""Calling recorded functions again: what was given, what was read, and what changed."""
