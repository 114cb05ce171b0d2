"""The sides of the tables: hoad, its peers, and derivatives by hand.

A side is a function `build(problem, n, **options) -> Built` in a module of this folder that imports the peer, and
nothing else does: each side runs in a process of its own (`child.py`).
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sides.built import Built


@dataclass(frozen=True)
class Side:
    """Where a side lives, and what it needs.

    `module` holds its `build`; `peer` is what has to be installed, and `found` says whether what pip cannot install is
    there. `slow` builds for a minute or so: the quick tables leave it out.
    """

    module: str
    peer: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    found: Callable[[], bool] = lambda: True
    slow: bool = False

    def build(self) -> Callable[..., Built]:
        """Import the peer."""
        build: Callable[..., Built] = importlib.import_module(f"sides.{self.module}").build
        return build

    def installed(self) -> bool:
        return self.peer is None or importlib.util.find_spec(self.peer) is not None


def compiler() -> bool:
    return shutil.which("cc") is not None


def adolc(sparse: bool = False) -> bool:
    from sides.native import has_adolc

    return has_adolc(sparse)


SIDES = {
    "hoad": Side("of_hoad"),
    "hoad, out=": Side("of_hoad", options={"out": True}),
    "NumPy by hand": Side("by_hand"),
    "C by hand": Side("native", found=compiler),
    "CasADi SX": Side("of_casadi", "casadi", {"symbol": "SX"}),
    "CasADi MX": Side("of_casadi", "casadi", {"symbol": "MX"}),
    "CasADi with C": Side("of_casadi", "casadi", {"symbol": "SX", "compile": True}, compiler),
    "JAX": Side("of_jax", "jax"),
    "JAX by hand": Side("of_jax", "jax", {"by_hand": True}),
    "asdex": Side("of_asdex", "asdex"),
    "sparsejac": Side("of_sparsejac", "sparsejac"),
    "autograd": Side("of_autograd", "autograd"),
    "pytensor": Side("of_pytensor", "pytensor"),
    "torch": Side("of_torch", "torch", slow=True),
    "heyoka": Side("of_heyoka", "heyoka"),
    "heyoka, unrolled": Side("of_heyoka", "heyoka", slow=True),
    "ADOL-C": Side("native", options={"adolc": True}, found=adolc),
    "ADOL-C with ColPack": Side("native", options={"adolc": True}, found=partial(adolc, sparse=True)),
}
