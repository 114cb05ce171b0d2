"""`hoad check` and `hoad info`: what they print, and the status that scripts go by."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hoad
from hoad._cli import check as command
from hoad._cli import info
from hoad._cli import main as cli
from hoad._core.kernels import vector

MODEL = """\
import numpy as np

def loss(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

def loss_gradient(x):
    g = np.zeros_like(x)
    g[:-1] = -400 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2 * (1 - x[:-1])
    g[1:] += 200 * (x[1:] - x[:-1] ** 2)
    return g

def wrong_gradient(x):
    return loss_gradient(x) * np.array([1.01, 1.0])

def loss_hessian(x):
    return np.array([[1200 * x[0] ** 2 - 400 * x[1] + 2, -400 * x[0]], [-400 * x[0], 200.0]])

def responses(x):
    return np.stack([x[0] * x[1], np.sin(x[0])])

def jacobian(x):
    return np.array([[x[1], x[0]], [np.cos(x[0]), 0.0]])

def product(x, y):
    return x * np.sin(y)

def product_gradient(x, y):
    return np.sin(y), x * np.cos(y)

def broken(x):
    raise KeyError("temperature")

def failing(x):
    raise RuntimeError("no licence")

def ending(x):
    raise SystemExit(4)

def root(x):
    return np.sqrt(x)

def pole(x):
    return 1 / x

def pair(x):
    return loss(x), loss_gradient(x)

def nothing():
    return 1.0

class Model:
    def fit(self, x):
        return np.sum(x**2)

model = Model()
constant = 3.0
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a module in it, which is current."""
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "needy.py").write_text("import no_such_package\n")
    (tmp_path / "faulty.py").write_text("1 / 0\n")
    (tmp_path / "unfinished.py").write_text("def f(x:\n")
    (tmp_path / "ending.py").write_text("raise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("model", "needy", "faulty", "unfinished", "ending"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def status(*arguments: str) -> int:
    """What `hoad` with these arguments ends with."""
    try:
        return cli.main(list(arguments))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["numpy:tanh", "--at", "0.3", "--order", "4"],
        ["numpy:linalg.det", "--at", "[[1, 2], [3, 5]]"],
        ["model:loss", "--at", "-1.0,2.0"],
        ["model:loss", "--at=-1.0,2.0", "--along", "-1,1"],
        ["model:loss", "--at", "1.0,2.0", "--gradient", "model:loss_gradient", "--hessian", "model:loss_hessian"],
        ["model:responses", "--at", "1.0,2.0", "--gradient", "model:jacobian"],
        ["model:product", "--at", "1", "--at", ".5", "--order", "3"],
        ["model:product", "--at", "1", "--at", ".5", "--gradient", "model:product_gradient"],
        ["model:model.fit", "--at", "1,2"],
    ],
)
def test_passed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert status("check", *arguments) == 0
    printed = capsys.readouterr()
    assert "passed" in printed.out and "FAILED" not in printed.out and printed.err == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["model:loss", "--at", "1.0,2.0", "--gradient", "model:wrong_gradient"], "it is off by 1.0%"),
        (["model:loss", "--at", "1.0,2.0", "--hessian", "model:loss_gradient"], "must have shape (2, 2)"),
        (["model:loss", "--at", "1.0,2.0", "--gradient", "model:pair"], "It looks like (value, gradient)"),
        (["numpy:abs", "--at", "0."], "f has a kink at x"),
        (["numpy:floor", "--at", "2."], "f jumps at x, by -1 on the side of"),
    ],
)
def test_failed(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("check", *arguments) == 1
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["modle:loss", "--at", "1"], "there is no module 'modle' in"),
        (["modle:loss", "--at", "1"], "Did you mean 'model'?"),
        (["model.py:loss", "--at", "1"], "write its module, from the directory it is in: model:loss"),
        (["./model.py:loss", "--at", "1"], "write its module, from the directory it is in: model:loss"),
        (["unfinished:f", "--at", "1"], "SyntaxError: '(' was never closed (unfinished.py, line 1)"),
        (["ending:f", "--at", "1"], "cannot be imported: SystemExit: 3 (ending.py:1)"),
        (["model:model.f", "--at", "1"], "model has no function 'f'. Did you mean 'fit'?"),
        (["model:missing.f", "--at", "1"], "has no function 'missing'"),
        (["needy:f", "--at", "1"], "module 'needy' needs 'no_such_package', which is not installed"),
        (
            ["faulty:f", "--at", "1"],
            "module 'faulty' cannot be imported: ZeroDivisionError: division by zero (faulty.py:1)",
        ),
        (["model:los", "--at", "1"], "has no function 'los'. Did you mean 'loss'?"),
        (["model:constant", "--at", "1"], "model:constant is float, not a function"),
        (["model", "--at", "1"], "Write MODULE:FUNCTION"),
        (["model:loss", "--at", "one"], "'one' is not a point"),
        (["model:loss", "--at", "1,2", "--along", "1,1", "--along", "1,1"], "1 point but 2 directions"),
        (["model:loss", "--at", "1,2", "--along", "1,2,3"], "must have shape (2,)"),
        (["model:broken", "--at", "1"], "KeyError: 'temperature' (model.py:31)"),
        (["model:failing", "--at", "1"], "RuntimeError: no licence (model.py:34)"),
        (["model:ending", "--at", "1"], "SystemExit: 4 (model.py:37)"),
        (["model:pole", "--at", "0"], "at 0 it raises ZeroDivisionError: float division by zero (model.py:43)"),
        (["model:loss", "--at", "1"], "'float' object is not subscriptable (model.py:4). For an array of one number"),
        (["model:loss", "--at", "nan,1"], "Write a finite number"),
        (["model:loss", "--at", "1e400"], "Write a finite number"),
        (["model:loss", "--at", "1,2", "--along", "0,0"], "v is zero"),
        (["model:loss", "--at", "1,2", "--grad", "model:loss_gradient"], "Did you mean '--gradient'? See hoad check"),
        (["model:responses", "--at", "1,2", "--hessian", "model:jacobian"], "needs a scalar function"),
        (["model:loss", "--at", "1,2", "--gradient", "model:los_gradient"], "Did you mean 'loss_gradient'?"),
        (["model:product", "--at", "1", "--at", "2", "--hessian", "model:loss"], "give one --at"),
        (
            ["model:loss"],
            "0 points were given. Give --at once for each argument, in their order: hoad check model:loss --at X.",
        ),
        (["model:product", "--at", "1"], "takes 2 arguments (x, y), but 1 point was given"),
        (["model:product", "--at", "1"], "hoad check model:product --at X --at Y."),
        (["model:loss", "--at", "1,2", "--at", "3"], "takes 1 argument (x), but 2 points were given"),
        (["model:nothing", "--at", "1"], "takes no argument, so there is no point to give"),
        (["numpy:hypot"], "--at"),
        (
            ["model:loss", "--at", "1", "2"],
            "there is no 2. Write the numbers of an array with commas, as in --at 1.0,2.0.",
        ),
        (["model:loss", "--at", "1", "--order", "two"], "invalid int value"),
        (["model:loss", "--at", "1,2", "--order", "99"], "order from 0 to 20"),
        (["model:loss", "--at", "1,2", "--modes", "--order", "-1"], "check.modes takes an order from 0 to 20"),
        (["model:loss", "--at", "1,2", "--modes", "--along", "1,1"], "Leave out the others"),
        (["model:loss", "--at", "1,2", "--modes", "--gradient", "model:loss_gradient"], "Leave out the others"),
    ],
)
def test_what_cannot_be_understood(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("check", *arguments) == 2
    printed = capsys.readouterr()
    assert message in printed.err and "hoad check" in printed.err and "Traceback" not in printed.err


def test_all_modes(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("check", "model:loss", "--at", "1,2", "--modes") == 0
    assert "derivatives of loss at [1, 2], orders 0 to 4: passed" in capsys.readouterr().out
    assert status("check", "model:product", "--at", "1", "--at", "2", "--modes", "--order", "2") == 0
    assert "derivatives of product at (1, 2), orders 0 to 2: passed" in capsys.readouterr().out
    assert status("check", "model:root", "--at", "0", "--modes") == 1
    assert "undecided" in capsys.readouterr().out


def test_picture(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    assert status("check", "model:loss", "--at", "1,2", "--plot", "x.svg") == 0
    assert "<svg" in (place / "x.svg").read_text()
    assert status("check", "model:loss", "--at", "1,2", "--plot", "x.nothing") == 2
    assert status("check", "model:loss", "--at", "1,2", "--plot", "nowhere/x.svg") == 2
    assert "no picture was drawn" in capsys.readouterr().err


def test_picture_without_matplotlib(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert status("check", "model:loss", "--at", "1,2", "--plot", "x.svg") == 2
    assert 'pip install "hoad[plot]"' in capsys.readouterr().err


def test_unknown_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("chek", "model:loss") == 2
    assert "there is no command 'chek'. Did you mean 'check'?" in capsys.readouterr().err
    assert status("--versoin") == 2
    assert "Did you mean '--version'?" in capsys.readouterr().err


def test_points() -> None:
    assert command.read_point("1.5") == 1.5 and isinstance(command.read_point("2"), float)
    assert command.read_point("1.0,").tolist() == [1.0]
    assert command.read_point("-1, 2").tolist() == [-1.0, 2.0]
    assert command.read_point("[[1,2],[3,4]]").shape == (2, 2)
    for text in ("", "1;2", "[[1,2],[3]]", "x", "'1'", "__import__('os')"):
        with pytest.raises(command.UsageError, match="is not a point"):
            command.read_point(text)


def test_as_a_process(place: Path) -> None:
    """From the current directory, with an encoding that has no ±."""
    line = [sys.executable, "-m", "hoad", "check", "model:loss", "--at", "-1,2", "--gradient", "model:wrong_gradient"]
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(Path(hoad.__file__).parents[1])}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1 and done.stderr == "" and "+- error" in done.stdout


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("check", "--help") == 0
    printed = capsys.readouterr().out
    assert "exit status:" in printed and "examples:" in printed and "--gradient" in printed
    assert status("--help") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("check", "demo", "info"))


def test_info(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("info") == 0
    printed = capsys.readouterr().out
    assert f"{hoad.__version__} from" in printed and np.__version__ in printed
    assert all(title in printed.splitlines() for title in ("versions", "processor", "threads", "optional"))
    assert status("info", "--json") == 0
    assert json.loads(capsys.readouterr().out) == info.collected()
    assert info.collected()["threads"]["usable"] >= 1
    assert info.collected()["processor"]["kernels"] in vector.targets()
