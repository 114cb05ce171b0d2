"""Where in the user's code two calls of a function take different ways."""

from __future__ import annotations

import gc
import linecache
import os
import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Any

from hoad._comparison.type_tests import type_tests
from hoad._core.base.where import is_library

MOST_STEPS = 200_000  # that are looked at


class _Steps:
    """The instructions of the user's code that a call runs, in turn."""

    def __init__(self) -> None:
        self.steps: list[tuple[CodeType, int, int]] = []

    def run(self, call: Callable[[], Any]) -> None:
        before, collects = sys.gettrace(), gc.isenabled()
        gc.disable()  # what it enters belongs to no call
        sys.settrace(self.entered)
        try:
            call()
        except Exception:  # as far as it goes
            pass
        finally:
            sys.settrace(before)
            if collects:
                gc.enable()

    def entered(self, frame: FrameType, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if is_library(name) or name.endswith(".pyx"):
            return None
        frame.f_trace_opcodes = True
        return self.went

    def went(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "opcode" and len(self.steps) < MOST_STEPS:
            self.steps.append((frame.f_code, frame.f_lasti, frame.f_lineno or 0))
        return self.went


def where_they_part(one: Callable[[], Any], other: Callable[[], Any], codes: Iterable[CodeType]) -> str:
    """Where two calls part, or else where such code tests types, with the user's text: a sentence, or ""."""
    plain, traced = _Steps(), _Steps()
    plain.run(one)
    traced.run(other)
    last: tuple[CodeType, int, int] | None = None
    for a, b in zip(plain.steps, traced.steps, strict=False):
        if a != b:
            if last is not None:
                return f" The two part {_at(last[0], last[2])}."
            break  # not by what they do
        last = a
    ran = dict.fromkeys((*[code for code, _, _ in plain.steps], *codes))
    found = dict.fromkeys((code, line) for code in ran for line, _ in type_tests(code))
    tests = ", ".join(_at(code, line) for code, line in list(found)[:3])
    return f" Types are tested, or text is made, {tests}." if tests else ""


def _at(code: CodeType, line: int) -> str:
    """``at file.py:3, `if type(x) is float:```."""
    text = linecache.getline(code.co_filename, line).strip()
    whats = ", ".join(dict.fromkeys(what for n, what in type_tests(code) if n == line))
    return f"at {os.path.basename(code.co_filename)}:{line}" + (
        f", `{text}`" if text else f", which tests {whats}" if whats else ""
    )
