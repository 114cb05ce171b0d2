"""Nodes that run a program, done without Python."""

from typing import Any

class NativeCall:
    """What computes the results of one signature from its operands, without Python."""

def run(native: NativeCall, operands: list[Any], results: list[Any]) -> None: ...
