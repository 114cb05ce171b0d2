"""`hoad explore`: the page that it writes and opens."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path

import pytest

from hoad._cli import main as cli


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The addresses that the browser was asked to open."""
    found: list[str] = []
    monkeypatch.setattr(webbrowser, "open", found.append)
    monkeypatch.chdir(tmp_path)
    return found


def test_it_opens_a_page(opened: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explore", "numpy:tanh", "--at", "0.3", "--order", "2"]) == 0
    (address,) = opened
    file = Path(address.removeprefix("file://"))
    assert capsys.readouterr().err == f"wrote {file}\n"
    assert "<title>tanh</title>" in file.read_text(encoding="utf-8")


def test_it_writes_a_file(opened: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["explore", "numpy:tanh", "--at=0.3", "--no-simplify", "--html", "tape.html", "--no-open"]
    assert cli.main(arguments) == 0
    assert opened == [] and [path.name for path in tmp_path.iterdir()] == ["tape.html"]
    assert capsys.readouterr().err == "wrote tape.html\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["numpy:tanh", "--at", "0.3", "--no-open"], "Give the file: --html FILE"),
        (["numpy:tanh", "--at", "0.3", "--order", "-1"], "--order -1 is not a number of derivatives"),
        (
            ["numpy:tanh", "--at", "0.3", "--html", "no/such/folder.html"],
            "hoad explore: .* was not written: No such file",
        ),
        (["numpy:thanh", "--at", "0.3"], "Did you mean 'tanh'"),
    ],
)
def test_what_cannot_be_done(
    arguments: list[str], said: str, opened: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["explore", *arguments])
    assert end.value.code == 2 and opened == []
    assert re.search(said, capsys.readouterr().err)
