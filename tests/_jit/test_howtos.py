"""The examples of the how-tos give the same with every driver in `hoad.jit`, at the recording and at a replay."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from quality.project import ROOT

import hoad
from hoad._core.trace.context import running

FOLDER = ROOT / "docs" / "howto"
CELL = re.compile(r"^```\{code-cell\}\n(---\n.*?---\n|:tags: [^\n]*\n)?(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if CELL.search(path.read_text()))
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\bnan\b|[-+]?\binf\b")
# Drivers that give functions.
DRIVERS = """biharmonic derivative derivative_tensor derivatives directional_derivative grad hessian hessian_diagonal
    hvp jacobian laplacian partials value_and_grad vhp vmap""".split()
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

    def __init__(self, f: Callable[..., Any], replays: list[Any]) -> None:
        self.plain, self.jitted, self.replays = f, hoad.jit(f), replays

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if running() is not None:
            return self.plain(*args, **kwargs)
        self.jitted(*args, **kwargs)
        with contextlib.redirect_stdout(io.StringIO()):  # it prints once
            found = self.jitted(*args, **kwargs)
        self.replays += [signature for signature in self.jitted.signatures if signature.recorded]
        return found


@pytest.fixture
def drivers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[list[Any] | None], None]]:
    """Sets the drivers of `hoad`: jitted, with a list of what is replayed, or as they are."""
    before = {name: getattr(hoad, name) for name in DRIVERS}

    def jitting(driver: Callable[..., Any], replays: list[Any]) -> Callable[..., Any]:
        def made(*args: Any, **kwargs: Any) -> Any:
            found = driver(*args, **kwargs)
            return Twice(found, replays) if callable(found) else found

        return made

    def put(replays: list[Any] | None) -> None:
        for name, driver in before.items():
            monkeypatch.setattr(hoad, name, driver if replays is None else jitting(driver, replays))

    monkeypatch.setenv("MPLBACKEND", "Agg")
    page: Any = types.ModuleType("page")
    page.begin, page.draw, page.TONE = (lambda: None), (lambda *_, **__: None), "k"
    monkeypatch.setitem(sys.modules, "page", page)
    yield put
    put(None)


def outputs(name: str, put: Callable[[list[Any] | None], None], replays: list[Any] | None) -> list[str]:
    """What the cells of a page print and show; the class of what one raises that is to raise."""
    module = types.ModuleType(f"howto_{name}")
    sys.modules[module.__name__] = module  # where dataclasses and pickles look, also after the test
    found = []
    for head, code in CELL.findall((FOLDER / f"{name}.md").read_text()):
        put(None if any(text in code for text in EXCEPTIONS) else replays)
        told = io.StringIO()
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(told), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(compile(tree, f"{name}.py", "exec"), vars(module))
                if isinstance(last, ast.Expr):
                    value = eval(compile(ast.Expression(last.value), f"{name}.py", "eval"), vars(module))
                    print("" if value is None else repr(value))
            except Exception as error:
                if "raises-exception" not in head:
                    raise
                print(type(error).__name__)
        found.append("" if any(text in code for text in EXCEPTIONS) else told.getvalue())
    return found


def words(text: str) -> tuple[list[str], list[float]]:
    """What a text says besides numbers, and these."""
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    text = re.sub(r"np\.float64\((.*?)\)", r"\1", text)
    return NUMBER.sub("#", text).split(), list(map(float, NUMBER.findall(text)))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_with_jitted_drivers(name: str, drivers: Callable[[list[Any] | None], None]) -> None:
    if "matplotlib" in (FOLDER / f"{name}.md").read_text():
        pytest.importorskip("matplotlib")
    replays: list[Any] = []
    wanted = outputs(name, drivers, None)
    for x, y in zip(outputs(name, drivers, replays), wanted, strict=True):
        (said, numbers), (others, expected) = words(x), words(y)
        assert said == others
        np.testing.assert_allclose(numbers, expected, rtol=1e-6, atol=1e-12)
    assert replays or name in ("check", "dense", "low-level", "see-the-tape")


def test_every_exception_is_on_a_page() -> None:
    pages = "".join(path.read_text() for path in FOLDER.glob("*.md"))
    assert all(text in pages for text in EXCEPTIONS)
