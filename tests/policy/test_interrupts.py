"""Interrupts: what a signal's handler raises comes out as it is, wherever it comes, and hoad goes on as before."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from quality.project import CORE, TESTS

import hoad

BUILTINS = {"bool", "int", "float", "complex", "str", "bytes", "list", "tuple", "dict", "Scalar", "Array"}

STORM = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from campaigns.storms import interrupt_storm
for k in range(int(sys.argv[2])):
    wrong = interrupt_storm(np.random.default_rng([14, k]))
    assert wrong is None, f"trial {k}: {wrong}"
"""


class Interrupt(KeyboardInterrupt):
    pass


class Interrupting:
    """Something that is interrupted when it is asked what it is."""

    @property
    def __class__(self) -> Any:
        raise Interrupt


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * Interrupting(),
        lambda x: Interrupting() + x,
        lambda x: (x > 0) & Interrupting(),
        lambda x: np.stack([x, x]) ** Interrupting(),
    ],
)
def test_an_interrupt_while_an_operand_is_looked_at(f: Callable[[Any], Any]) -> None:
    with pytest.raises(Interrupt):
        hoad.grad(f)(1.0)
    assert hoad.grad(lambda x: x**2)(1.0) == 2.0


def test_cython_checks_every_isinstance() -> None:
    """Of a display of classes, Cython asks each by itself, and takes an exception for a yes."""
    paths = list(CORE.rglob("*.pyx"))
    assert len(paths) > 50
    for path in paths:
        for display in re.findall(r"isinstance\(.*?, \(([^()]*)\)\)", path.read_text()):
            assert {name.strip() for name in display.split(",")} <= BUILTINS, f"{path.name}: ({display}) needs a name"


def test_a_storm_of_signals() -> None:
    """Timed signals over recordings, sweeps, first calls, replays, maps, pickles and composites."""
    ran = subprocess.run(
        [sys.executable, "-c", STORM, str(TESTS), "80"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=Path(__file__).parent,  # not beside the sources of hoad, which need not be built
    )
    assert ran.returncode == 0, ran.stderr[-3000:]


def test_threads_share_all_they_can() -> None:
    from campaigns.storms import thread_storm

    for k in range(20):
        assert thread_storm(np.random.default_rng([14, k])) is None


def test_a_long_integration_is_interrupted() -> None:
    def handler(number: int, frame: Any) -> None:
        raise Interrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        began = time.perf_counter()
        with pytest.raises(Interrupt):
            hoad.ode.taylor_integrate(
                lambda t, y: np.stack([y[1], -y[0]]), np.array([1.0, 0.0]), [0.0, 1e7], max_steps=10**8
            )
        assert time.perf_counter() - began < 5.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("error", [Interrupt, ValueError])
def test_what_python_raises_in_a_step_of_an_integration(error: type[BaseException]) -> None:
    """No shorter step is tried, as where a matrix is singular."""
    calls = 0

    def coefficients(x: Any, degree: int) -> Any:
        nonlocal calls
        calls += 1
        if calls > 5:
            raise error
        found = [np.exp(x)]
        for k in range(degree):
            found.append(found[k] / (k + 1))
        return found

    grown = hoad.primitive(elementwise=True, series=coefficients)(np.exp)
    with pytest.raises(error):
        hoad.ode.taylor_integrate(lambda t, y: -grown(y) - y, 0.5, np.linspace(0.0, 1000.0, 5))
