"""Colorings in one order after the other, of which that with the fewest colors is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Colors = NDArray[np.int32]

ORDERS = ("natural", "largest_first", "smallest_last", "incidence_degree", "dynamic_largest_first")
# What is tried where the order is left open. The dynamic one with the largest first has not won yet.
_TRIED = ORDERS[:4]
_ROUNDS = 3  # without a gain, after which the classes of colors are left as they are
_WORK = 100_000_000  # neighbors of neighbors that are looked at, beyond the first colorings
_FIRST = 4  # colorings that are tried whatever they take


def count_of(colors: Colors) -> int:
    return int(colors.max(initial=-1)) + 1


class Search(NamedTuple):
    """How a graph is colored, and when the colors are few enough."""

    turn_of: Callable[[str], Colors]  # the vertices in an order
    colored: Callable[[Colors], Colors]  # their colors, in turn
    least: int  # no coloring has fewer colors
    work: int  # of a coloring: the neighbors of neighbors
    grids: Callable[[int], Iterator[Colors]] = lambda below: iter(())  # with fewer colors, of grids
    enough: int = 0  # colors of a grid after which nothing else is tried
    count: Callable[[Colors], int] = count_of

    def fewest(self, order: str) -> tuple[Colors, str]:
        """The fewest colors that are found in an order, or in several, and how they were."""
        if order != "auto":
            return self.colored(self.turn_of(order)), order
        tries = max(_FIRST, _WORK // max(self.work, 1))
        best, by, fewest, tried = np.empty(0, dtype=np.int32), "", -1, 0
        for found, name in islice(self.one_by_one(), tries):
            tried += 1
            count = self.count(found)
            if fewest < 0 or count < fewest:
                best, by, fewest = found, name, count
            if fewest <= (self.enough if by == "grid" else self.least):
                return best, by
        return self.improved(best, by, fewest, tries - tried)

    def one_by_one(self) -> Iterator[tuple[Colors, str]]:
        """Colorings in several orders, each then color by color in reverse."""
        for name in _TRIED:
            found = self.colored(self.turn_of(name))
            yield found, name
            if name == _TRIED[0]:
                yield from ((colors, "grid") for colors in self.grids(self.count(found)))
            yield self.colored(_by_classes(found, 0)), f"{name}, then by colors"

    def improved(self, best: Colors, by: str, fewest: int, tries: int) -> tuple[Colors, str]:
        """The colors after their classes were colored one after the other, in other orders, while that takes fewer.

        For columns or rows it never takes more, as each class fits in one color (J. C. Culberson and F. Luo,
        "Exploring the k-colorable landscape with iterated greedy", DIMACS Series 26, 1996).
        """
        last, rounds, gained = best, 0, 0
        while fewest > self.least and rounds < min(tries, gained + _ROUNDS):
            last = self.colored(_by_classes(last, rounds))
            rounds += 1
            count = self.count(last)
            if count < fewest:
                best, fewest, gained = last, count, rounds
            elif count > fewest:
                last = best
        return best, by if not gained or by.endswith("by colors") else f"{by}, then by colors"


def _by_classes(colors: Colors, rounds: int) -> Colors:
    """The vertices color by color: the last color first, then the most frequent one, then in an order at random."""
    n = count_of(colors)
    if rounds % 3 == 0:
        rank = -np.arange(n)
    elif rounds % 3 == 1:
        rank = np.argsort(np.argsort(-np.bincount(colors[colors >= 0], minlength=n), kind="stable"))
    else:
        rank = np.random.default_rng(rounds).permutation(n)
    return np.argsort(np.append(rank, n)[colors], kind="stable").astype(np.int32)
