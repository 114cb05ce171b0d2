"""What is adopted while a function runs, and what is not: names, threads, packages, generators; nothing is changed."""

from __future__ import annotations

import builtins
import contextlib
import gc
import importlib
import math
import struct
import subprocess
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hoad

X = np.array([0.3, 0.7, 1.6])


def helper(x: Any) -> Any:
    return math.sin(x)


def is_adopted() -> bool:
    return type(math.sin) is types.FunctionType


def closed_over() -> Any:
    import math

    return lambda x: math.sin(x)


CLOSED = closed_over()


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_nothing_is_changed() -> None:
    close(0.0, 0.0)  # NumPy loads a part of it when it is asked for
    modules = (math, np, np.linalg, sys.modules[__name__])
    before = [dict(vars(module)) for module in modules]
    function = helper.__code__, helper.__globals__, CLOSED.__closure__
    for f in (helper, CLOSED):
        close(hoad.grad(hoad.adopt(f))(0.4), math.cos(0.4))
        with pytest.raises(hoad.TracedValueError):
            hoad.grad(f)(0.4)
    assert function == (helper.__code__, helper.__globals__, CLOSED.__closure__)
    for module, names in zip(modules, before, strict=True):
        assert names.keys() == vars(module).keys()
        assert all(names[name] is value for name, value in vars(module).items())


def test_only_this_call_is_adopted() -> None:
    assert not is_adopted()
    assert hoad.adopt(is_adopted)()
    assert not is_adopted()
    with pytest.raises(ZeroDivisionError):
        hoad.adopt(lambda: 1 / 0)()
    assert not is_adopted()
    assert hoad.adopt(lambda: hoad.adopt(is_adopted)() and is_adopted())()


def test_other_threads_see_nothing() -> None:
    seen: list[bool] = []
    inside, done = threading.Event(), threading.Event()

    def look() -> None:
        inside.wait()
        seen.append(is_adopted())
        done.set()

    thread = threading.Thread(target=look)
    thread.start()
    hoad.adopt(lambda: (inside.set(), done.wait()))()
    thread.join()
    assert seen == [False]


def test_threads_adopt_side_by_side() -> None:
    seen: list[Any] = []
    threads = [
        threading.Thread(target=lambda x=x: seen.append(hoad.grad(hoad.adopt(helper))(x) - math.cos(x)))
        for x in np.linspace(0.0, 1.0, 16).tolist()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    close(1.0 + np.array(seen), np.ones(16))
    assert not is_adopted()


def test_packages() -> None:
    def of_this(x: Any) -> Any:
        with hoad.adopting(__name__):
            return helper(x)

    def of_others(x: Any) -> Any:
        with hoad.adopting("packaging", "nothing.of_this"):
            return helper(x)

    def of_all(x: Any) -> Any:
        with hoad.adopting():
            return helper(x)

    close(hoad.grad(of_this)(0.4), math.cos(0.4))
    close(hoad.grad(of_all)(0.4), math.cos(0.4))
    with pytest.raises(hoad.TracedValueError, match="float"):
        hoad.grad(of_others)(0.4)


def test_arguments() -> None:
    with pytest.raises(hoad.ArgumentError, match="names of packages, not module"):
        hoad.adopting(math)  # type: ignore[arg-type]
    with pytest.raises(hoad.ArgumentError):
        hoad.adopt(3)  # type: ignore[arg-type]


COUNT = 0


def counting(x: Any) -> Any:
    global COUNT, LOADED
    import math as LOADED

    COUNT = COUNT + 1
    return LOADED.sin(x) * count()


def count() -> int:
    return globals()["COUNT"] if "COUNT" in globals() else -1


def failing(x: Any) -> Any:
    global COUNT
    COUNT = 77
    raise ZeroDivisionError


def test_globals_are_written() -> None:
    global COUNT
    COUNT = 0
    close(hoad.adopt(counting)(0.4), math.sin(0.4))
    assert COUNT == 1
    assert globals()["LOADED"] is math
    close(hoad.grad(hoad.adopt(counting))(0.4), 2 * math.cos(0.4))
    with pytest.raises(ZeroDivisionError):
        hoad.adopt(failing)(0.4)
    assert COUNT == 77


def test_what_a_generator_does_later() -> None:
    """Its frame is adopted, and what that calls is not."""

    def each(x: Any) -> Iterator[Any]:
        yield math.sin(x)
        yield is_adopted()

    assert list(hoad.adopt(each)(0.4)) == [math.sin(0.4), False]


def test_drivers_and_loops() -> None:
    close(hoad.vmap(hoad.adopt(helper))(X), np.sin(X))
    close(hoad.adopt(hoad.grad(helper))(0.4), math.cos(0.4))
    close(hoad.adopt(hoad.jit(hoad.grad(helper)))(0.4), math.cos(0.4))
    step = hoad.adopt(lambda carry, x: (math.sin(carry) + x, carry))
    same = lambda carry, x: (np.sin(carry) + x, carry)  # noqa: E731
    close(*[hoad.grad(lambda x, f=f: hoad.scan(f, x, X)[0])(0.4) for f in (step, same)])
    close(hoad.derivatives(hoad.adopt(helper), 4)(0.4), hoad.derivatives(np.sin, 4)(0.4))


def test_compiled_code_raises() -> None:
    with pytest.raises((hoad.TracedValueError, struct.error)):
        hoad.grad(hoad.adopt(lambda x: struct.unpack("d", struct.pack("d", x))[0]))(0.4)
    with pytest.raises(hoad.TracedValueError, match=r"^Write np\.asarray.*a @ x.*test_frames\.py:\d+"):
        hoad.grad(hoad.adopt(lambda x: np.linspace(0.0, 1.0, 3).dot(x)))(X)
    ndimage = pytest.importorskip("scipy.ndimage")
    with pytest.raises(hoad.TracedValueError, match=r"^Compiled code of scipy takes plain.*a rule.*_filters\.py:\d+"):
        hoad.jacobian(hoad.adopt(lambda x: ndimage.gaussian_filter(x, 1.0)))(X)


class Cache:
    last: Any = None

    def of(self, x: Any) -> Any:
        if self.last is None or not np.allclose(x, self.last, rtol=1e-14):
            self.last, self.found = x, math.exp(x)
        return self.found


def test_an_object_that_keeps_a_traced_value_raises() -> None:
    cache = Cache()
    close(hoad.grad(hoad.adopt(cache.of))(0.4), math.exp(0.4))
    for f in (cache.of, hoad.grad(hoad.adopt(cache.of))):
        with pytest.raises(hoad.TracedValueError, match="after the function it belongs to had returned"):
            f(0.4)


def test_a_cache_of_a_number_is_not_taken_for_a_constant() -> None:
    cache = Cache()
    cache.of(0.4)
    close(hoad.grad(hoad.adopt(cache.of))(0.4), math.exp(0.4))
    cache = Cache()
    cache.of(X[0])
    close(hoad.grad(hoad.adopt(lambda x: cache.of(x[0])))(X), [math.exp(X[0]), 0.0, 0.0])


class Equal(Cache):
    def of(self, x: Any) -> Any:
        if x == self.last:
            return self.found
        self.last, self.found = x, math.exp(x)
        return self.found


def test_an_equal_number_that_is_kept_raises() -> None:
    cache = Equal()
    assert cache.of(0.4) == math.exp(0.4)
    f = hoad.adopt(lambda x: 1.0 * cache.of(x))
    for derivative in (hoad.grad(f), hoad.jit(hoad.grad(f)), hoad.derivative(f, 2)):
        with pytest.raises(hoad.TracedValueError, match=r"code keeps \(test_frames\.py:\d+\): if that is a cache"):
            derivative(0.4)
    assert hoad.jit(f)(0.4) == f(0.4)
    close(hoad.grad(f)(0.5), math.exp(0.5))


KEPT: dict[str, Callable[[Any, Any], Any]] = {
    "!=": lambda x, last: not x[0] != last[0],
    "in": lambda x, last: x[0] in list(last),
    "all ==": lambda x, last: np.all(x == last),
    "on the left": lambda x, last: (last == x).all() and not last[0] != x[0],
    "any !=": lambda x, last: not (x != last).any(),
    "lists": lambda x, last: list(x) == list(last),
}
BESIDE: dict[str, Callable[[Any, Any], Any]] = {
    "math.isclose": lambda x, last: math.isclose(x[0], last[0], rel_tol=1e-15),
    "np.isclose": lambda x, last: np.isclose(x, last, rtol=1e-15, atol=0.0).all(),
    "np.array_equal": lambda x, last: np.array_equal(x, last),
}


@pytest.mark.parametrize("name", [*KEPT, *BESIDE])
def test_an_equal_array_that_is_kept(name: str) -> None:
    is_kept = KEPT.get(name) or BESIDE[name]
    kept, found = X.copy(), np.sum(np.exp(X))
    f = lambda x: 1.0 * found if is_kept(x, kept) else np.sum(np.exp(x))  # noqa: E731
    assert hoad.adopt(f)(X) == found
    derivative = hoad.grad(hoad.adopt(f))
    if name in KEPT:
        with pytest.raises(hoad.TracedValueError, match="code keeps"):
            derivative(X)
    else:
        close(derivative(X), np.exp(X))
    close(derivative(X + 0.1), np.exp(X + 0.1))


def test_an_equal_number_in_the_code_is_a_branch() -> None:
    close(hoad.grad(hoad.adopt(lambda x: 3.0 * x if x == 0.0 else math.sin(x) / x))(0.0), 3.0)
    close(hoad.grad(hoad.adopt(lambda x: 3.0 * x if x == 0.5 else x))(0.5), 3.0)
    close(hoad.grad(hoad.adopt(lambda x: x if np.allclose(x, 0.5) else x**2))(0.5), 1.0)


def test_errors_of_packages_name_adopt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site-packages" / "somebodys"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("import math\n\ndef f(x):\n    return math.exp(x)\n")
    monkeypatch.syspath_prepend(str(folder.parent))
    somebodys = importlib.import_module("somebodys")
    with pytest.raises(hoad.TracedValueError, match=r"^Take the code of somebodys along: .*__init__\.py:4\)"):
        hoad.grad(somebodys.f)(0.4)
    close(hoad.grad(hoad.adopt(somebodys.f))(0.4), math.exp(0.4))


# ---- what is left as it is ------------------------------------------------------------------------------------------


def pow(x: Any, y: Any) -> Any:
    """A name of Python's that this module gives another meaning."""
    return x - y


def test_modules_are_asked_for_each_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is put in the place of a function is found; what adopted code puts there is put there."""
    f = hoad.adopt(lambda x: math.sin(x) + np.zeros(1)[0])
    jitted = hoad.jit(hoad.value_and_grad(f))
    assert f(0.4) == jitted(0.4)[0] == math.sin(0.4)
    monkeypatch.setattr(math, "sin", lambda x: x * x)
    assert f(0.4) == 0.4 * 0.4
    close(jitted(0.4), (0.4 * 0.4, 0.8))
    monkeypatch.setattr(np, "zeros", np.ones)
    assert f(0.4) == 0.4 * 0.4 + 1.0

    def changing() -> None:
        math.sin = math.cos  # type: ignore[assignment]

    cos = math.cos
    hoad.adopt(changing)()
    assert math.sin is cos


def test_builtin_names_are_those_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    f = hoad.adopt(lambda: max(1, 2))
    assert f() == 2
    monkeypatch.setattr(builtins, "max", min)
    assert f() == 1


def test_builtin_names_of_a_namespace_are_its_own() -> None:
    space: dict[str, Any] = {"__builtins__": {"pow": pow}}
    exec("def f(): return pow(2.0, 3.0)\ndef g(): return open", space)
    assert hoad.adopt(space["f"])() == -1.0
    with pytest.raises(NameError, match="open"):
        hoad.adopt(space["g"])()


def test_text_is_evaluated_with_the_names_of_the_module() -> None:
    assert hoad.adopt(lambda: eval("pow(2.0, 3.0)"))() == -1.0
    assert hoad.adopt(lambda: eval("pow(2.0, 3.0)", sys._getframe().f_globals))() == -1.0
    assert hoad.adopt(lambda: globals())() is globals()
    close(hoad.grad(hoad.adopt(lambda x: eval("helper(x)", globals(), {"x": x})))(0.4), math.cos(0.4))


def of_variables() -> tuple[Any, Any, Any]:
    function = math.sin

    def change() -> None:
        nonlocal function
        function = math.cos

    def change_inside() -> None:
        def inner() -> None:
            nonlocal function
            function = math.tan

        inner()

    return change, change_inside, lambda x: function(x)


def test_free_variables_are_assigned_to() -> None:
    change, change_inside, call = of_variables()
    hoad.adopt(change)()
    assert call(0.4) == math.cos(0.4)
    hoad.adopt(change_inside)()
    assert call(0.4) == math.tan(0.4)


def test_what_is_kept_is_plain_after_the_call() -> None:
    kept, module = hoad.adopt(lambda: (lambda: is_adopted() or type(math.sin) is types.FunctionType, math))()
    assert not kept()
    assert module.sin is math.sin
    assert module == math


def warning() -> None:
    for _ in range(3):
        warnings.warn("once", stacklevel=1)


def test_a_warning_is_shown_once() -> None:
    for f in (warning, hoad.adopt(warning)):
        globals().pop("__warningregistry__", None)
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("default")
            f()
        assert len(shown) == 1


def test_a_class_that_type_makes_is_of_the_module() -> None:
    assert hoad.adopt(lambda: type("Made", (), {}))().__module__ == __name__


class Watched:
    def __call__(self, x: Any) -> Any:
        return x


def test_a_namespace_is_let_go() -> None:
    watched = Watched()
    alive = weakref.ref(watched)
    space: dict[str, Any] = {"watched": watched, "math": math}
    exec("def f(x):\n    global count\n    count = 1\n    return (lambda: watched(math.sin(x)))()", space)
    close(hoad.grad(hoad.adopt(space["f"]))(0.4), math.cos(0.4))
    assert space["count"] == 1
    del space, watched
    gc.collect()
    assert alive() is None


def test_a_block_is_entered_again() -> None:
    block = hoad.adopting(__name__)
    with block:
        with block:
            assert is_adopted()
        with hoad.adopting("nothing"):
            assert not is_adopted()
        assert is_adopted()
    assert not is_adopted()


def test_a_thread_may_end_within_a_block(tmp_path: Path) -> None:
    """In a process of its own, whose frames all go by hoad from then on."""
    code = (
        "import math, threading, hoad\n"
        "def enter():\n    hoad.adopting(''.join(['left', ' open'])).__enter__()\n    math.sin(0.4)\n"
        "thread = threading.Thread(target=enter)\n"
        "thread.start()\nthread.join()\n"
        "print(hoad.grad(hoad.adopt(lambda x: math.sin(x)))(0.0), type(math.sin).__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == ["1.0", "builtin_function_or_method"]


def deep(n: int) -> int:
    return deep(n + 1)


def test_recursion_ends(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RecursionError):
        hoad.adopt(deep)(0)
    assert not "".join(capfd.readouterr())
    assert not is_adopted()


def test_a_generator_ends_its_block() -> None:
    def each() -> Iterator[bool]:
        with hoad.adopting():
            yield is_adopted()
        yield is_adopted()

    assert list(each()) == [True, False]
    assert not is_adopted()
    each_one = each()
    next(each_one)
    del each_one
    assert not is_adopted()


def test_a_block_is_entered_by_a_function() -> None:
    def entering() -> None:
        stack.enter_context(hoad.adopting())

    for enter in (entering, hoad.adopt(entering)):
        with contextlib.ExitStack() as stack:
            enter()
            assert is_adopted()
        assert not is_adopted()


def test_a_function_of_many_names() -> None:
    names = [f"name_{k}" for k in range(300)]
    text = f"def f(x):\n    {', '.join(names)}\n    return float(x) * np.float64(x) * (type(0.5) is float)"
    space: dict[str, Any] = {"np": np, **dict.fromkeys(names)}
    exec(text, space)
    close(hoad.grad(hoad.adopt(space["f"]))(0.4), 0.8)
