"""Runs the examples of the how-tos, with the drivers as they are and with each in `hoad.jit`; prints JSON.

In a process of its own, as the pages declare rules.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import sys
import traceback
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hoad
from hoad._core.trace.context import running

CELL = re.compile(r"^```\{code-cell\}\n(---\n.*?---\n|:tags: [^\n]*\n)?(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
# Drivers that give functions.
DRIVERS = """biharmonic derivative derivative_tensor derivatives directional_derivative grad hessian hessian_diagonal
    hvp jacobian laplacian partials value_and_grad vhp vmap""".split()
PLAIN = {name: getattr(hoad, name) for name in DRIVERS}
# Cells with this text run with the drivers as they are.
EXCEPTIONS = {
    "hoad.dense_plan(": "the plan of a jitted function is that of a call within a recording",
    "told(": "the text names the outermost driver",
    "mistake()": "so does this",
    "tracemalloc.start()": "it measures times and memory of single calls",
    "assert peaks[": "so does what it has measured",
}


class Twice:
    """A function that a driver gave, jitted: each call is made twice, so that the second may be a replay."""

    replays = 0

    def __init__(self, f: Callable[..., Any]) -> None:
        self.plain, self.jitted = f, hoad.jit(f)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if running() is not None:
            return self.plain(*args, **kwargs)
        self.jitted(*args, **kwargs)
        with contextlib.redirect_stdout(io.StringIO()):  # it prints once
            found = self.jitted(*args, **kwargs)
        Twice.replays += any(signature.recorded for signature in self.jitted.signatures)
        return found


def jitting(driver: Callable[..., Any]) -> Callable[..., Any]:
    """The driver, which gives jitted functions."""

    def made(*args: Any, **kwargs: Any) -> Any:
        found = driver(*args, **kwargs)
        return Twice(found) if callable(found) else found

    return made


def outputs(page: Path, is_jitted: bool) -> list[str]:
    """What the cells of a page print and show; the class of what one raises that is to raise."""
    module = types.ModuleType(f"howto_{page.stem}")
    sys.modules[module.__name__] = module  # where dataclasses look
    found = []
    for head, code in CELL.findall(page.read_text()):
        is_exception = any(text in code for text in EXCEPTIONS)
        for name, driver in PLAIN.items():
            setattr(hoad, name, jitting(driver) if is_jitted and not is_exception else driver)
        told = io.StringIO()
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(told):
            try:
                exec(compile(tree, f"{page.stem}.py", "exec"), vars(module))
                if isinstance(last, ast.Expr):
                    value = eval(compile(ast.Expression(last.value), f"{page.stem}.py", "eval"), vars(module))
                    print("" if value is None else repr(value))
            except Exception as error:
                if "raises-exception" not in head:
                    raise
                print(type(error).__name__)
        found.append("" if is_exception else told.getvalue())
    return found


def main() -> None:
    page: Any = types.ModuleType("page")
    page.begin, page.draw, page.TONE = (lambda: None), (lambda *_, **__: None), "k"
    sys.modules["page"] = page
    os.environ["MPLBACKEND"] = "Agg"
    warnings.simplefilter("ignore")
    results: dict[str, Any] = {}
    for path in map(Path, sys.argv[1:]):
        before = Twice.replays
        try:
            plain, jitted = outputs(path, False), outputs(path, True)
            results[path.stem] = plain, jitted, Twice.replays - before
        except Exception:
            results[path.stem] = traceback.format_exc()
    print(json.dumps(results))


if __name__ == "__main__":
    main()
