"""Which public names may still change, and why: the reference makes a page of it, and tests hold it to what there is.

A name that is not here is stable. That of a module stands for all in it, and that of a class for its attributes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

CODE_OF_OTHERS = "it follows what other packages do inside, which changes with their versions"
SOLVERS = "what is returned and which options are passed on may follow other solvers, once there are more"
PLANS = "attributes tell how hoad computes, which may become another way"
TAPES = "attributes show how a recording is kept, which may change with the core"
REPORTS = "what is printed, and the attributes behind it, may grow and be named otherwise"
TABLES = "they are hoad's own rules, where they stand today"
NATIVE = "the C interface of `hoad.h` and `hoad.lowlevel` may change, and what is built against it is then built again"

PROVISIONAL = {
    "hoad.Address": NATIVE,
    "hoad.Constant": TAPES,
    "hoad.DensePlan": PLANS,
    "hoad.SparsePlan": PLANS,
    "hoad.SparseTensor": PLANS,
    "hoad.Tape": TAPES,
    "hoad.TapeNode": TAPES,
    "hoad.Triplets": PLANS,
    "hoad.adopt": CODE_OF_OTHERS,
    "hoad.adopting": CODE_OF_OTHERS,
    "hoad.check.AgreementReport": REPORTS,
    "hoad.check.DerivativeReport": REPORTS,
    "hoad.check.RuleReport": REPORTS,
    "hoad.check.TaylorReport": REPORTS,
    "hoad.checkpoint_schedule": PLANS,
    "hoad.dense_plan": PLANS,
    "hoad.explain": REPORTS,
    "hoad.get_include": NATIVE,
    "hoad.interop": SOLVERS,
    "hoad.minimize": SOLVERS,
    "hoad.rules.decompositions": TABLES,
    "hoad.rules.elementwise": TABLES,
    "hoad.rules.fft": TABLES,
    "hoad.rules.linalg": TABLES,
    "hoad.rules.reduction": TABLES,
    "hoad.rules.shaping": TABLES,
    "hoad.scipy": CODE_OF_OTHERS,
    "hoad.sparse_derivative_tensor": PLANS,
}


def public_names(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """(name, value) of everything in `__all__`, and in the modules that are in it."""
    for name in module.__all__:
        value = getattr(module, name)
        yield f"{module.__name__}.{name}", value
        if inspect.ismodule(value) and hasattr(value, "__all__"):
            yield from public_names(value)


def reason(name: str) -> str | None:
    """Why a public name is provisional, by itself or by what it is in; None for one that is stable."""
    return next((why for key, why in PROVISIONAL.items() if f"{name}.".startswith(f"{key}.")), None)
