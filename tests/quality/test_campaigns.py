"""The command that runs the campaigns counts what is wrong, what raises and what crashes, and repeats a trial."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from campaigns.__main__ import Campaign, Tally, campaigns
from quality.project import ROOT

BROKEN = """
import os
def trial(rng):
    k = rng.bit_generator.seed_seq.entropy[1]
    if k == 3:
        os.abort()
    if k == 5:
        raise ValueError("five")
    return "seven is wrong" if k == 7 else None
"""


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.campaigns", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_all_kinds_of_wrong_are_counted(tmp_path: Path) -> None:
    (tmp_path / "campaigns").mkdir()  # a part of the same namespace package
    (tmp_path / "campaigns" / "broken.py").write_text(BROKEN)
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))  # nothing would be this folder
    tally = Tally(Campaign("broken", "broken", {"PYTHONPATH": path}))
    while tally.trials <= 7:
        tally.run(seed=1, seconds=1.0)
    assert sorted(k for k, _ in tally.wrong) == [3, 5, 7]
    report = tally.report(1)
    assert report.startswith(f"broken: 3 wrong of {tally.trials}\n")
    assert "ended within this trial" in report and "ValueError: five" in report and "seven is wrong" in report
    assert "--only broken --seed 1 --trial 7" in report


@pytest.mark.slow
@pytest.mark.parametrize("name", [campaign.name for campaign in campaigns()])
def test_each_campaign(name: str) -> None:
    done = command("--only", name, "--minutes", "0.03", "--jobs", "1", "--seed", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{name}: 0 wrong of " in done.stdout
    assert f"{name}: 0 wrong of 0" not in done.stdout


def test_one_trial_repeated() -> None:
    done = command("--only", "scalars", "--seed", "1", "--trial", "2")
    assert (done.returncode, done.stdout) == (0, "right\n")
