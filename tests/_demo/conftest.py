"""A study that several tests look at, and streams that say what they are."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from hoad._demo.study import Study, study


class Stream(io.TextIOWrapper):
    """A stream in memory that is a terminal, or not, with the encoding asked for."""

    def __init__(self, encoding: str = "utf-8", is_terminal: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, newline="")
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal

    def written(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)


@pytest.fixture
def stream() -> Callable[..., Stream]:
    return Stream


@pytest.fixture(scope="session")
def small_study() -> Study:
    return study("Thurber")
