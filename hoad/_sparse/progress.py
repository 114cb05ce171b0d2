"""A progress bar for plans that take long, if `tqdm` is installed."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

LONG = 2.0  # seconds


def shown(items: Sequence[T], description: str) -> Iterator[T]:
    """The items, one after the other, with a bar from the time on when they take long; on a terminal only."""
    start, bar = time.monotonic(), None
    try:
        for k, item in enumerate(items):
            if time.monotonic() - start > LONG:
                bar = _bar(len(items), description) if bar is None else bar
                bar.update(k - bar.n)
            yield item
    finally:
        if bar is not None:
            bar.close()


def _bar(total: int, description: str) -> Any:
    try:
        tqdm = importlib.import_module("tqdm").tqdm
    except ModuleNotFoundError:
        return _NoBar()
    return tqdm(total=total, desc=description, unit="op", leave=False, disable=None)


class _NoBar:
    """What is called in the place of a bar."""

    n = 0

    def update(self, count: int) -> None:
        pass

    def close(self) -> None:
        pass
