"""Kernels of fused loops, instructions that are arithmetic, made into machine code."""

from typing import final

@final
class MachineKernels:
    """The kernels of a fused loop."""

@final
class KernelBuilder:
    """Finds kernels, then their values and operations, from the last to the first."""

def codes_made() -> int:
    """How many kernels are machine code in this process, or were."""
