"""Nodes that run a program, done without Python."""

class Native:
    """What computes the results of one signature from its operands, without Python."""
