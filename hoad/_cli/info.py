"""`hoad info`: what a report of a bug should say of the machine."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TextIO

import numpy as np

import hoad
from hoad._comparison.plain_calls import VARIABLE
from hoad._core.base.threads import most_threads
from hoad._core.kernels import vector

OPTIONAL = ("scipy", "matplotlib", "graphviz", "tqdm", "dask")
THREAD_VARIABLES = ("HOAD_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# Levels of x86-64 by a feature of NumPy's naming that none below has.
LEVELS = (("X86_V4", "x86-64-v4"), ("AVX512_SKX", "x86-64-v4"), ("X86_V3", "x86-64-v3"), ("AVX2", "x86-64-v3"))


def collected() -> dict[str, dict[str, Any]]:
    """Versions, the processor and threads, as names and values in sections.

    Examples
    --------
    >>> from hoad._cli.info import collected
    >>> sorted(collected())
    ['optional', 'processor', 'settings', 'threads', 'versions']
    """
    config: Any = np.show_config(mode="dicts")
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return {
        "versions": {
            "hoad": f"{hoad.__version__} from {os.path.dirname(hoad.__file__)}",
            "numpy": np.__version__,
            "python": f"{platform.python_version()} ({platform.python_implementation()})",
            "platform": platform.platform(),
            "blas": " ".join(str(blas[key]) for key in ("name", "version") if blas.get(key)) or "unknown",
        },
        "processor": _processor(config),
        "threads": _threads(),
        "settings": {VARIABLE: os.environ.get(VARIABLE)},
        "optional": {name: _version(name) for name in OPTIONAL},
    }


def run(options: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Write it, as text or JSON; returns the exit status 0."""
    found = collected()
    if options.json:
        out.write(json.dumps(found, indent=2) + "\n")
        return 0
    width = max(len(name) for section in found.values() for name in section)
    for title, section in found.items():
        out.write(f"{title}\n")
        for name, value in section.items():
            text = " ".join(value) if isinstance(value, list) else "not set" if value is None else str(value)
            out.write(f"  {name:<{width}}  {text}\n")
    return 0


def _processor(config: Any) -> dict[str, Any]:
    """The processor, those of its features that NumPy knows of, and which vector kernels of ours run."""
    simd = config.get("SIMD Extensions", {})
    features = [*simd.get("baseline", []), *simd.get("found", [])]
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    level = next((level for feature, level in LEVELS if feature in features), "x86-64") if x86 else platform.machine()
    return {"name": _processor_name(), "level": level, "kernels": vector.target(), "features": features}


def _processor_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"


def _threads() -> dict[str, Any]:
    affinity = getattr(os, "sched_getaffinity", None)
    usable = len(affinity(0)) if affinity is not None else os.cpu_count()
    gil = getattr(sys, "_is_gil_enabled", None)
    settings = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    return {
        "processors": os.cpu_count(),
        "usable": usable,
        "used": most_threads(),
        "gil": "off" if gil is not None and not gil() else "on",
    } | settings


def _version(name: str) -> str:
    if importlib.util.find_spec(name) is None:
        return "not installed"
    try:
        return version(name)
    except PackageNotFoundError:
        return "installed"
