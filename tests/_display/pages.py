"""Reading pages back: their elements, and their data, without the code that wrote them or that shows them."""

from __future__ import annotations

import base64
import json
import zlib
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path
from typing import Any

from hoad._program.program import Program


class Page(HTMLParser):
    """A page: its elements, its texts by element, and the data in it."""

    def __init__(self, text: str, packed: bool = True) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        if packed:
            self.data = json.loads(zlib.decompress(base64.b64decode(self.texts["script"][0])))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.elements[-1][0] if self.elements else "", []).append(data)

    def nodes(self, program: int = 0) -> list[dict[str, Any]]:
        """The nodes that the page carries of one of its programs, with absolute references; -1 and below are folds."""
        data = self.data["programs"][program]
        size = len(data["t"])
        ends = list(accumulate(data["c"], initial=0))
        numbers = []
        for tape, end in zip(data["tapes"], accumulate(tape["size"] for tape in data["tapes"]), strict=True):
            numbers += accumulate(data["n"][end - tape["size"] : end])

        def place(k: int, by: int) -> int:
            return k - by if k - by < size else size - 1 - (k - by)

        return [
            {
                "number": numbers[k],
                **{key: data[key][k] for key in "tev"},
                "w": data["w"][k] or data["v"][k],
                "operation": data["operations"][data["q"][k]],
                "names": data["names"].get(str(k), []),
                **{key: data[key].get(str(k), "") for key in "dmg"},
                **{key: k in data[key] for key in "ixo"},
                "p": [place(k, by) for by in data["p"][ends[k] : ends[k + 1]]],
                "of": place(k, data["of"][k]) if data["of"][k] else None,
                "k": data["k"][k] if data["k"][k] >= 0 else None,
                "s": place(k, data["s"][k]) if data["s"][k] else None,
                "l": self.data["places"][data["l"][k]] if data["l"][k] >= 0 else None,
                "f": data["f"][k] if data["f"] else None,
            }
            for k in range(size)
        ]


def explored(program: Program, folder: Path, **options: Any) -> Page:
    """The page of a program."""
    file = folder / "tape.html"
    program.explore(file, **options)
    text = file.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and text.rstrip().endswith("</html>")
    return Page(text)
