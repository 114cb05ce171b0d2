"""Power flow and optimal power flow in published networks, as plain NumPy code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from _sparse.networks import (
    BRANCHES_14,
    BRANCHES_30,
    BUSES_14,
    BUSES_30,
    GENERATORS_14,
    GENERATORS_30,
)

BASE = 100.0  # MVA


def _table(text: str) -> np.ndarray:
    return np.array([[float(word) for word in line.split()] for line in text.strip().splitlines()])


@dataclass
class Network:
    """Columns of the tables, in megawatts and the like where a number has a unit.

    buses : demand P, Q, shunt G, B, voltage and angle (degrees) published, or 0
    generators : bus, Q greatest, least, voltage, P greatest, cost of P², of P
    branches : from, to, resistance, reactance, charging, limit (0: none), ratio of the transformer (0: none)
    """

    buses: np.ndarray
    generators: np.ndarray
    branches: np.ndarray
    highest: np.ndarray  # voltage
    lowest: float
    references: tuple[int, ...] = (0,)  # buses whose angle is zero

    def repeated(self, count: int) -> Network:
        """So many of it, beside each other."""
        n = self.size

        def numbered(table: np.ndarray, columns: list[int]) -> np.ndarray:
            tables = np.tile(table, (count, 1, 1))
            tables[:, :, columns] += n * np.arange(count)[:, None, None]
            return tables.reshape(-1, table.shape[1])

        return Network(
            np.tile(self.buses, (count, 1)),
            numbered(self.generators, [0]),
            numbered(self.branches, [0, 1]),
            np.tile(self.highest, count),
            self.lowest,
            tuple(range(0, count * n, n)),
        )

    @property
    def size(self) -> int:
        return len(self.buses)

    def where(self, buses: np.ndarray) -> Any:
        """The sparse matrix that adds up what is at each of these buses."""
        count = len(buses)
        return sp.csr_array((np.ones(count), (buses.astype(int) - 1, np.arange(count))), shape=(self.size, count))

    def flows(self, angle: Any, voltage: Any) -> tuple[Any, Any, Any, Any]:
        """Active and reactive power into each branch at its start and at its end."""
        start, end = (self.branches[:, k].astype(int) - 1 for k in (0, 1))
        _, _, resistance, reactance, charging, _, ratio = self.branches.T
        y, t = 1 / (resistance + 1j * reactance), np.where(ratio == 0, 1.0, ratio)
        own, between = y + 0.5j * charging, -y / t
        a, b, d = voltage[start], voltage[end], angle[start] - angle[end]
        c, s = a * b * np.cos(d), a * b * np.sin(d)
        return (
            own.real / t**2 * a**2 + between.real * c + between.imag * s,
            -own.imag / t**2 * a**2 + between.real * s - between.imag * c,
            own.real * b**2 + between.real * c - between.imag * s,
            -own.imag * b**2 - between.real * s - between.imag * c,
        )

    def demand(self, angle: Any, voltage: Any) -> tuple[Any, Any]:
        """Active and reactive power that each bus takes: from generators at it, for a solution."""
        p, q, g, b, *_ = self.buses.T / BASE
        start, end = self.where(self.branches[:, 0]), self.where(self.branches[:, 1])
        p0, q0, p1, q1 = self.flows(angle, voltage)
        active = p + g * voltage**2 + start @ p0 + end @ p1
        return active, q - b * voltage**2 + start @ q0 + end @ q1

    # -------------------------------------------------------------------------------------------- power flow

    def mismatch(self, x: Any, active: np.ndarray) -> Any:
        """What is missing at each bus, of the angles of all but the first and the voltages where nothing generates."""
        rests = np.setdiff1d(np.arange(self.size), self.generators[:, 0].astype(int) - 1)
        angle = np.concatenate([np.zeros(1), x[: self.size - 1]])
        given = np.ones(self.size)
        given[self.generators[:, 0].astype(int) - 1] = self.generators[:, 3]
        given[rests] = 0
        onto = sp.csr_array((np.ones(len(rests)), (rests, np.arange(len(rests)))), shape=(self.size, len(rests)))
        p, q = self.demand(angle, given + onto @ x[self.size - 1 :])
        return np.concatenate([(p - active)[1:], q[rests]])

    # -------------------------------------------------------------------------------------------- optimal power flow

    def parts(self, x: Any) -> Iterable[Any]:
        """Angles, voltages, active and reactive powers of the generators."""
        n, m = self.size, len(self.generators)
        return x[:n], x[n : 2 * n], x[2 * n : 2 * n + m], x[2 * n + m :]

    def cost(self, x: Any) -> Any:
        """Dollars an hour."""
        _, _, p, _ = self.parts(x)
        return np.sum(self.generators[:, 5] * (BASE * p) ** 2 + self.generators[:, 6] * BASE * p)

    def balances(self, x: Any) -> Any:
        """Zero at each bus; then the squares of the power in branches that have a limit."""
        angle, voltage, p, q = self.parts(x)
        generated = self.where(self.generators[:, 0])
        active, reactive = self.demand(angle, voltage)
        limited = self.branches[:, 5] > 0
        p0, q0, p1, q1 = self.flows(angle, voltage)
        squares = [(p0**2 + q0**2)[limited], (p1**2 + q1**2)[limited]]
        return np.concatenate([generated @ p - active, generated @ q - reactive, *squares])

    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        rated = self.branches[:, 5][self.branches[:, 5] > 0] / BASE
        none = np.zeros(2 * self.size)
        return np.concatenate([none, np.full(2 * len(rated), -np.inf)]), np.concatenate([none, rated**2, rated**2])

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        free = np.full(self.size, np.inf)
        free[list(self.references)] = 0
        _, q1, q0, _, p1, _, _ = self.generators.T / BASE
        low = np.concatenate([-free, np.full(self.size, self.lowest), 0 * p1, q0])
        return low, np.concatenate([free, self.highest, p1, q1])

    def start(self) -> np.ndarray:
        """The middle between bounds."""
        low, high = self.bounds()
        low, high = (np.where(np.isinf(end), 0.0, end) for end in (low, high))
        return (low + high) / 2


# Voltages in the second: up to 1.1 at generators, but the first, and to 1.05 elsewhere.
HIGHEST_30 = np.full(30, 1.05)
HIGHEST_30[[1, 12, 21, 22, 26]] = 1.1
CASE_14 = Network(_table(BUSES_14), _table(GENERATORS_14), _table(BRANCHES_14), np.full(14, 1.06), 0.94)
CASE_30 = Network(_table(BUSES_30), _table(GENERATORS_30), _table(BRANCHES_30), HIGHEST_30, 0.95)

# What MATPOWER's solvers find, dollars an hour, as printed by its runopf.
COSTS = {"case14": (CASE_14, 8081.53), "case30": (CASE_30, 576.89)}

# Active power, in units of BASE, that the published flow of case14 generates, but for the first bus.
ACTIVE_14 = np.where(np.arange(14) == 1, 40 / BASE, 0.0)
