"""`import hoad` loads next to nothing beside NumPy; what it puts off is there whichever way it is come to."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from quality.stability import PROVISIONAL, public_names, reason

import hoad


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    where = Path(hoad.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_loads_next_to_nothing_beside_numpy() -> None:
    """Of Python's library nothing either, so that the time is that of NumPy."""
    code = "import sys, numpy; before = set(sys.modules); import hoad; print(*sorted(set(sys.modules) - before))"
    found = {name for name in run(code).split() if not name.startswith(("_cython", "cython_", "importlib"))}
    base = {"hoad._core.base", "hoad._core.base.blocks", "hoad._core.base.cython_shared"}
    assert found == {"hoad", "hoad._core"} | base


def test_private_names_load_nothing() -> None:
    """As tools look for them in every module there is."""
    code = "import hoad; print(hasattr(hoad, '__wrapped__'), hasattr(hoad, '_repr_html_'), 'grad' in vars(hoad))"
    assert run(code) == "False False False"


def test_all_names_come_with_the_first() -> None:
    """A function that is recorded, or jitted, finds the module as it stays."""
    code = "import hoad; hoad.value; print(*set(hoad.__all__) - set(vars(hoad)))"
    assert set(run(code).split()) == {"check", "implicit", "interop", "ode", *hoad._LATER}


@pytest.mark.parametrize("name", ["*", ", ".join(hoad.__all__)])
def test_names_can_be_imported(name: str) -> None:
    assert run(f"from hoad import {name}; print(grad.__module__, ode.__name__)") == "hoad._drivers.gradient hoad.ode"


def test_names_are_listed_before_they_are_loaded() -> None:
    listed = run("import hoad; print(*dir(hoad))").split()
    assert set(hoad.__all__) <= set(listed)
    assert all(name.startswith("__") and name.endswith("__") for name in set(listed) - set(hoad.__all__))


def test_what_is_not_there() -> None:
    with pytest.raises(AttributeError, match=r"^module 'hoad' has no attribute 'gard'$"):
        _ = hoad.gard
    with pytest.raises(ImportError, match=r"^cannot import name 'gard' from 'hoad'"):
        from hoad import gard  # noqa: F401


def test_many_threads_ask_first() -> None:
    code = """
import threading, hoad
names = ["grad", "jit", "vmap", "symbols", "ShapeError", "ode", "errors", "taylor", "check", "explain"]
start, found = threading.Barrier(len(names)), []
def ask(name):
    start.wait()
    found.append(getattr(hoad, name).__name__)
threads = [threading.Thread(target=ask, args=(name,)) for name in names]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("all" if sorted(name.removeprefix("hoad.") for name in found) == sorted(names) else found)
"""
    assert run(code) == "all"


def of_each(x: np.ndarray) -> float:
    return np.sum(np.arctan(x))  # whose rule no test replaces, which a program would tell


@pytest.mark.parametrize(
    ("what", "use"),
    [
        (hoad.grad, "x(lambda a: np.sum(np.tanh(a)))(np.ones(2))"),
        (hoad.record, "x(lambda a: np.sum(np.tanh(a)), np.ones(2)).sensitivities()"),
        (hoad.explain, "x(lambda a: np.sum(np.tanh(a)), np.ones(2))"),
        (hoad.gradient(hoad.record(of_each, np.ones(2))), "x.table() + str(x.evaluate(np.ones(2)))"),
        (hoad.taylor(lambda a: np.exp(a), 0.5, 4), "np.sin(x) / x"),
    ],
    ids=["grad", "record", "explain", "program", "series"],
)
def test_pickles_come_before_any_name(what: object, use: str) -> None:
    """Another process may read one and import nothing of hoad by itself."""
    read = f"import pickle, numpy as np; x = pickle.loads({pickle.dumps(what)!r}); "
    assert run(f"{read} print({use})") == run(f"import hoad; hoad.grad; {read} print({use})")


def test_jit_finds_what_a_function_reads_of_hoad() -> None:
    """In a process where the function travels to, and asks hoad for its first name, too."""
    code = """
import pickle, hoad
def doubled(x):
    return hoad.value(2.0) * x
jitted = pickle.loads({pickled!r})(doubled)
jitted(1.0)
print(jitted.report(1.0))
"""
    assert "hoad.value" in run(code.format(pickled=pickle.dumps(hoad.jit)))


def test_reloaded_names_are_new() -> None:
    code = "import importlib, hoad; importlib.reload(importlib.import_module(hoad.grad.__module__)); old = hoad.grad; "
    assert run(f"{code} importlib.reload(hoad); print(hoad.grad is old)") == "False"


def test_provisional_names_exist() -> None:
    names = {name for name, _ in public_names(hoad)} | {"hoad.scipy"}
    assert PROVISIONAL.keys() <= names
    assert reason("hoad.grad") is None and reason("hoad.gradient") is None  # a prefix is not enough
    assert reason("hoad.interop.scipy.root") == PROVISIONAL["hoad.interop"]
