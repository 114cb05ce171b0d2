"""How much code of others is replayed, as it is: SciPy's test functions for global optimisation.

Each class of `benchmarks/benchmarks/go_benchmark_functions` in SciPy's repository has a method `fun` that counts its
calls. It is jitted, called beside a twin that is not, and must give the same values and counts. The folder is the
argument:

    python benchmarks/real_code.py scipy/benchmarks/benchmarks/go_benchmark_functions

Bar: of those that draw no random numbers, 95 % are replayed.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
import types
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import hoad

CALLS = 6


def load(folder: Path) -> list[type]:
    """The classes of test functions; what they import from the benchmark suite around them is left out."""
    around = types.ModuleType("scipy_benchmarks")
    around.__path__ = [str(folder.parent)]
    common: Any = types.ModuleType("scipy_benchmarks.common")
    common.safe_import = lambda: contextlib.suppress(ImportError)
    sys.modules["scipy_benchmarks"], sys.modules["scipy_benchmarks.common"] = around, common
    module = importlib.import_module(f"scipy_benchmarks.{folder.name}")
    base = module.Benchmark
    classes = [x for _, x in inspect.getmembers(module, inspect.isclass) if issubclass(x, base) and x is not base]
    return sorted(set(classes), key=lambda cls: cls.__name__)


def outcome(cls: type) -> str:
    """What becomes of one: "replayed", or why not."""
    model, twin = cls(), cls()
    rng, state = np.random.default_rng(0), np.random.get_state()  # noqa: NPY002 - which the functions draw from
    points = [np.array([rng.uniform(low, high) for low, high in model.bounds]) for _ in range(CALLS)]
    fast = hoad.jit(model.fun)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = [fast(x) for x in points]
        except hoad.HoadError as failure:
            return f"cannot be traced: {failure}"
        np.random.set_state(state)  # noqa: NPY002
        wanted = [twin.fun(x) for x in points]
    refusals = [str(x.message) for x in told if issubclass(x.category, hoad.JitWarning)]
    if refusals:
        return refusals[0]
    if not np.allclose(found, wanted, rtol=1e-10, equal_nan=True) or model.nfev != twin.nfev:
        raise AssertionError(f"{cls.__name__} gives {found} and counts {model.nfev}, not {wanted} and {twin.nfev}")
    return "replayed" if fast.signatures and fast.signatures[0].recorded else "is recorded again at each call"


def main(folder: str) -> None:
    groups: dict[str, list[str]] = defaultdict(list)
    classes = load(Path(folder))
    for cls in classes:
        groups[outcome(cls).replace(f"{cls.__name__}.fun", "fun")].append(cls.__name__)
    for what, names in sorted(groups.items(), key=lambda group: -len(group[1])):
        print(f"{len(names):4d} {what}" + ("" if what == "replayed" else f"\n     {', '.join(names)}"))
    share = len(groups["replayed"]) / len(classes)
    print(f"{share:.1%} of {len(classes)} are replayed (bar: 95 % of those that draw no random numbers)")


if __name__ == "__main__":
    main(*sys.argv[1:])
