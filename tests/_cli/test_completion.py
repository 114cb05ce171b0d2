"""`hoad completion`: what the shells make of its scripts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from quality.project import ROOT

from hoad._cli import main as cli
from hoad._cli.completion import commands_of

# A command line, and some of the words that complete it.
LINES = [
    ("hoad ", {"check", "tape", "info", "completion", "bench", "demo"}),
    ("hoad ta", {"tape"}),
    ("hoad check --gr", {"--gradient"}),
    ("hoad tape --", {"--order", "--no-simplify", "--html"}),
    ("hoad tape --format ", {"plain", "markdown", "html"}),
    ("hoad tape --format m", {"markdown"}),
    ("hoad completion ", {"bash", "zsh", "fish"}),
]
FILES = "hoad check --plot conv"  # which a shell completes by itself


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["completion", shell]) == 0
    return capsys.readouterr().out


def run(shell: str, *words: str, where: Path) -> list[str]:
    done = subprocess.run([shell, *words], capture_output=True, text=True, cwd=where, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.split("\n")


def test_every_command_and_option_is_offered_and_documented(capsys: pytest.CaptureFixture[str]) -> None:
    parser = cli._parser()
    page = (ROOT / "docs/reference/command-line.md").read_text()
    for text in (*(script(shell, capsys) for shell in ("bash", "zsh", "fish")), page):
        for name, command in commands_of(parser).items():
            options = [option.lstrip("-") for action in command._actions for option in action.option_strings]
            assert [word for word in (name, *options) if word not in text] == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_bash(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That of zsh is the same function, after two lines that make zsh read it."""
    text = script(shell, capsys)
    text = text[text.index("_hoad()") :]
    for line, expected in [*LINES, (FILES, set())]:
        words = line.split(" ")
        typed = " ".join(f"'{word}'" for word in words)
        ask = f'COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _hoad; printf "%s\\n" "${{COMPREPLY[@]}}"'
        found = set(run("bash", "-c", text + ask, where=tmp_path)) - {""}
        assert expected <= found and all(word.startswith(words[-1]) for word in found)
        assert bool(found) == bool(expected)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_zsh_reads_its_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "_hoad" in run("zsh", "-fc", script("zsh", capsys) + "print -r -- $_comps[hoad]", where=tmp_path)[0]


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_fish(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "convergence.png").touch()
    text = script("fish", capsys)
    for line, expected in [*LINES, (FILES, {"convergence.png"})]:
        lines = run("fish", "--no-config", "-c", f"{text}\ncomplete -C '{line}'", where=tmp_path)
        assert expected <= {found.split("\t")[0] for found in lines}
