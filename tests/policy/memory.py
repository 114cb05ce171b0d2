"""What calls leave in memory, and how much they take at their peak: the measures that all tests of memory use."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


class MallInfo(ctypes.Structure):
    """What glibc's mallinfo2 tells of the heap."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    )


def find_mallinfo() -> Any:
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        return None
    mallinfo.restype = MallInfo
    return mallinfo


MALLINFO = find_mallinfo()
OBJECT = 64  # bytes of a small object of Python's, about
LEAST_LEAK = 60_000  # bytes; less is an arena that an allocator takes
LEAST_OBJECTS = 50

counts_bytes = pytest.mark.skipif(MALLINFO is None, reason="needs glibc to count what is allocated")


def objects_held() -> int:
    """Objects of Python's that are allocated, but for those in cycles that a collection frees."""
    gc.collect()
    return sys.getallocatedblocks()


def bytes_held() -> int:
    """Bytes that are allocated and not freed: from the heap, and as small objects of Python's."""
    objects = objects_held()
    heap = MALLINFO()
    return heap.uordblks + heap.hblkhd + OBJECT * objects


def growth(
    call: Callable[[], Any], times: int, measure: Callable[[], int] = bytes_held, least: int = LEAST_LEAK, warm: int = 0
) -> int:
    """What `times` calls add to a measure: the least of three rounds, after `warm` calls (or `times`) fill caches.

    An allocator takes an arena now and then, and a cache fills; a leak grows in each round. The first round that adds
    less than `least` is the last.
    """
    for _ in range(warm or times):
        call()
    found = []
    before = measure()
    while not found or (len(found) < 3 and found[-1] >= least):
        for _ in range(times):
            call()
        now = measure()
        found.append(now - before)
        before = now
    return min(found)


def traced(call: Callable[[], Any], times: int = 1, warm: int = 0) -> tuple[int, int]:
    """(bytes left, bytes at the peak) of `times` calls after `warm` ones, by Python's and NumPy's own counts."""
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(warm):
            call()
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in range(times):
            call()
        left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return left - before, peak - before


PEAK = r"""
def peak():
    import re
    return int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1])
"""


def peak_of_process(code: str, *arguments: str) -> int:
    """Bytes that a process prints, which takes them from `peak()`: all that it has ever held, in whatever way."""
    if not Path("/proc/self/status").exists():
        pytest.skip("nothing tells the peak of memory of a process")
    with tempfile.TemporaryDirectory() as place:  # not where the sources are, which have no compiled modules
        run = subprocess.run(
            [sys.executable, "-c", PEAK + code, *arguments],
            cwd=place,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
    return int(run.stdout)
