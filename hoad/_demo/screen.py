"""What a terminal can show: its width, its characters, its colours."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TextIO

__all__ = ["WIDEST", "Progress", "Screen", "Text"]

WIDEST = 100
NARROWEST = 44

STYLES = {
    "title": "1;36", "strong": "1", "accent": "36", "dim": "2", "good": "32", "warn": "33", "bad": "1;31",
}  # fmt: skip

# What takes the place of a character where the encoding has none for it.
PLAIN = str.maketrans(
    {
        "╭": "+", "╮": "+", "╰": "+", "╯": "+", "─": "-", "│": "|", "┬": "+", "┴": "+",
        "━": "=", "·": "-", "×": "x", "✓": "=", "✗": "!", "µ": "u", "≥": ">=", "…": "~",
        "ᵀ": "'", "⁻": "^-", "¹": "1", "²": "^2", "—": "-", "█": "#", "░": ".",
    }
)  # fmt: skip
SPECIMEN = "╭─│×✓µᵀ⁻²━█░⣿▁"


@dataclass(frozen=True)
class Text:
    """Characters with styles: a sequence of (characters, name of a style or "")."""

    parts: tuple[tuple[str, str], ...] = ()

    def __len__(self) -> int:
        return sum(len(characters) for characters, _ in self.parts)

    def __add__(self, other: Text) -> Text:
        return Text(self.parts + other.parts)

    def left(self, width: int) -> Text:
        """Return it with blanks after it, or cut, to this width."""
        if len(self) <= width:
            return self + Text(((" " * (width - len(self)), ""),))
        kept: list[tuple[str, str]] = []
        for characters, style in self.parts:
            kept.append((characters[:width], style))
            width -= len(kept[-1][0])
        return Text(tuple(kept))

    def right(self, width: int) -> Text:
        """Return it with blanks before it, or cut, to this width."""
        return (Text(((" " * (width - len(self)), ""),)) + self).left(width)


class Screen:
    """A stream to print on.

    Parameters
    ----------
    stream : file object
    width : int, optional
        Columns; by default what COLUMNS says in the environment, else those of the terminal, else `WIDEST`.

    Attributes
    ----------
    width : int
    is_terminal, has_unicode, has_colour : bool
    """

    def __init__(self, stream: TextIO, width: int | None = None) -> None:
        self.stream = stream
        self.is_terminal = stream.isatty()
        self.has_unicode = _can_encode(stream)
        self.has_colour = self.is_terminal and _wants_colour()
        if width is None:
            width = _columns(self.is_terminal)
        self.width = max(NARROWEST, min(width, WIDEST))

    def text(self, characters: str, style: str = "") -> Text:
        """Return a text in the characters that this screen has."""
        return Text(((characters if self.has_unicode else characters.translate(PLAIN), style),))

    def wrapped(self, characters: str, style: str = "", width: int | None = None) -> list[Text]:
        """Return a paragraph in lines that fit."""
        translated = "".join(part for part, _ in self.text(characters).parts)
        return [Text(((line, style),)) for line in textwrap.wrap(translated, width or self.width)]

    def rendered(self, text: Text) -> str:
        """Return a text as what is sent to the stream."""
        if not self.has_colour:
            return "".join(characters for characters, _ in text.parts)
        return "".join(
            f"\x1b[{STYLES[style]}m{characters}\x1b[0m" if style and characters else characters
            for characters, style in text.parts
        )

    def print(self, lines: Iterable[Text] = (Text(),)) -> None:
        """Write lines, at once seen."""
        for line in lines:
            self.stream.write(self.rendered(line).rstrip() + "\n")
        self.stream.flush()


class Progress:
    """A line that says how far the work is, rewritten in place; nothing where the stream is not a terminal.

    Parameters
    ----------
    stream : file object
    total : int
        The number of steps that will be reported.
    """

    def __init__(self, stream: TextIO, total: int) -> None:
        self.screen = Screen(stream)
        self.total = total
        self.done = 0

    def step(self, label: str) -> None:
        """Say what is being done now."""
        if self.screen.is_terminal:
            length = 24
            filled = length * self.done // max(self.total, 1)
            bar = self.screen.text("█" * filled, "accent") + self.screen.text("░" * (length - filled), "dim")
            line = self.screen.text(" ") + bar + self.screen.text(f" {self.done}/{self.total}  {label}")
            self._rewrite(self.screen.rendered(line.left(self.screen.width - 1)))
        self.done += 1

    def clear(self) -> None:
        """Take the line away, for other output or for good."""
        if self.screen.is_terminal:
            self._rewrite(" " * (self.screen.width - 1) + "\r")

    def _rewrite(self, line: str) -> None:
        self.screen.stream.write("\r" + line)
        self.screen.stream.flush()


def _columns(is_terminal: bool) -> int:
    """Return what COLUMNS says, else the width of the terminal, if it is one."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    return shutil.get_terminal_size((WIDEST, 24)).columns if is_terminal else WIDEST


def _can_encode(stream: TextIO) -> bool:
    try:
        SPECIMEN.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _wants_colour() -> bool:
    """Return whether colour is welcome: see https://no-color.org."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    # Older consoles of Windows would print the codes.
    return sys.platform != "win32" or "WT_SESSION" in os.environ or "TERM" in os.environ
