"""What a user is told where a function cannot be replayed: what to change, where, and why."""

from __future__ import annotations

import dis
import os
import re
import sys
import types
import warnings
from collections.abc import Iterable, Iterator

from hoad._core.base.where import is_library
from hoad.errors import JitWarning

# How a reason begins, and what to do about it.
ADVICE = (
    (r"it draws", "Draw the random numbers outside of it, and pass them as an argument"),
    (r"it calls .* at \S+:\d+", "Call that outside of it, and pass the result as an argument"),
    (r"it calls (eval|exec|compile|open|input|globals|__import__|breakpoint)", "Call that outside of it"),
    (r"it may call", "Call that outside of it, and pass the result as an argument"),
    (r"it calls", "Let it find that function by a name, or pass it as an argument"),
    (r"it may (read|ask)", "Pass what it needs of that as an argument, or name the argument in static_argnames"),
    (r"it changes the argument", ""),
    (r"it changes", "Pass that as an argument, and return the new value"),
    (r"it stores", ""),
    (r"it returns", "Return numbers, arrays, text, None, or containers of them"),
    (r"it refers to an arithmetic error", "Test the numbers by `np.where` in place of handling the error"),
    (
        r"it was recorded \d+ times.*the branch at",
        "Use `np.where` in place of the branch, and make text of values outside of it",
    ),
    (r"it was recorded \d+ times", "Pass what changes as an argument"),
    (r"it was recorded for", "Pass that as a float or an array"),
    (r"an operation in it raises", "Test the numbers before the operation, by `np.where`"),
)


def warn_caller(text: str) -> None:
    """A warning in the line that called hoad."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and is_library(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, JitWarning, stacklevel=level)


def message(name: str, reason: str, codes: Iterable[types.CodeType]) -> str:
    """The warning for a function of this name; `codes` are what it ran."""
    advice = next((text for pattern, text in ADVICE if re.match(pattern, reason)), "")
    where = "" if re.search(r"\S+:\d+", reason) else _line(reason, codes)
    first = f"{advice}{where}. " if advice else ""
    return f"{first}{name} runs without compilation: {reason}. The result is right, but not fast."


def located(code: types.CodeType) -> Iterator[tuple[dis.Instruction, int]]:
    """Each instruction of a piece of code, and its line."""
    line = code.co_firstlineno
    starts = {start: number for start, _, number in code.co_lines() if number is not None}
    for step in dis.get_instructions(code):
        line = starts.get(step.offset, line)
        yield step, line


def place(code: types.CodeType, line: int) -> str:
    """A line, as a message tells it: ' (file:line)'."""
    return f" ({os.path.basename(code.co_filename)}:{line})"


def _line(reason: str, codes: Iterable[types.CodeType]) -> str:
    """' (file:line)' where code names what a reason speaks of, if it does."""
    words = re.findall(r"[A-Za-z_]\w*", reason)
    for code in codes:
        names = {*code.co_names, *code.co_freevars}
        wanted = next((word for word in words if word in names), None)
        for step, line in located(code) if wanted is not None else ():
            if step.argval == wanted:
                return place(code, line)
    return ""
