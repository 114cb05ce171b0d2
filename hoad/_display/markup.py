"""The tables of programs in Markdown and in HTML."""

from __future__ import annotations

import html
import re

from hoad._display.table import EMPTY, Section, make_sections
from hoad._program.program import Program

TAG = re.compile(r"<[A-Za-z/!?]|&[A-Za-z#]")  # where HTML begins a tag, a comment or an entity


def markdown_table(program: Program, rows: int | None, ascii: bool = False) -> str:
    """The tables in Markdown, as GitHub and most others read it; operations stand in code, where nothing is markup."""
    sections, meanings = make_sections(program, rows, ascii)
    if not sections:
        return EMPTY
    text = "\n\n".join(map(_markdown, sections))
    legend = [f"- {_code(sign)}:{meaning}" for sign, _, meaning in (line.partition(":") for line in meanings)]
    return "\n".join([text, "", *legend]) if legend else text


def _markdown(section: Section) -> str:
    heading = _plain(section.heading)
    if not section.table:
        return f"**{heading}**"
    kept = section.columns
    lines = [_line(section.titles), f"|{':--|' * (len(kept) + 1)}"]
    for number, operation, *rest in section.table:
        cells = [_code(f"{number} = {operation}")]
        cells += [_plain(rest[k - 2]) if k == 5 else _code(rest[k - 2]) for k in kept]
        lines.append(_line(cells))
    if section.note:
        lines.insert(
            section.cut + 2,
            _line([section.note.replace("program.table(rows=None)", "`program.table(rows=None)`"), *[""] * len(kept)]),
        )
    return "\n".join([f"**{heading}**", "", *lines])


def _line(cells: list[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def _plain(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"([\\`*_<>\[\]|&])", r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    """A code span: fenced by more backticks than it holds; bars escaped, which cut cells even in code.

    What may be read as a tag of HTML is written in entities, for not all that shows Markdown leaves code as it is.
    """
    if not text:
        return ""
    if TAG.search(text):
        held = " ".join(text.split())
        return f"<code>{re.sub(r'[^A-Za-z0-9 @=.,]', lambda found: f'&#{ord(found[0])};', held)}</code>"
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    space = " " if "`" in text else ""
    return f"{fence}{space}{' '.join(text.split())}{space}{fence}".replace("|", "\\|")


# Colours follow the page around the table, light or dark.
STYLE = (
    ".hoad-program{font-size:.9em;line-height:1.35;overflow-x:auto}"
    ".hoad-program table{border-collapse:collapse;margin:.3em 0 1em}"
    ".hoad-program caption{caption-side:top;text-align:left;font-weight:600;padding:.2em 0;color:inherit}"
    ".hoad-program th,.hoad-program td{text-align:left;padding:.1em .9em .1em 0;vertical-align:top;"
    "border:0;background:none;color:inherit}"
    ".hoad-program thead th{border-bottom:1px solid color-mix(in srgb,currentColor 35%,transparent)}"
    ".hoad-program code{background:none;color:inherit;padding:0;white-space:pre-wrap}"
    ".hoad-program .mark,.hoad-program .note,.hoad-program ul{opacity:.75}"
    ".hoad-program ul{list-style:none;padding:0;margin:0}"
)


def html_table(program: Program, rows: int | None, ascii: bool = False) -> str:
    """The tables as a fragment of HTML, in which everything that comes from the program is escaped."""
    sections, meanings = make_sections(program, rows, ascii)
    text = "\n".join(map(_html, sections)) if sections else f"<p>{EMPTY}</p>"
    legend = "".join(f"<li>{html.escape(meaning)}</li>" for meaning in meanings)
    parts = [
        f'<div class="hoad-program"><style>{STYLE}</style>',
        text,
        f"<ul>{legend}</ul>" if legend else "",
        "</div>",
    ]
    return "\n".join(filter(None, parts))


def _html(section: Section) -> str:
    caption = f"<caption>{html.escape(section.heading)}</caption>"
    if not section.table:
        return f"<table>{caption}<tbody></tbody></table>"
    kept = section.columns
    titles = "".join(f'<th scope="col">{title}</th>' for title in section.titles)
    lines = []
    for number, operation, *rest in section.table:
        cells = (
            f'<th scope="row" style="font-weight:inherit"><code>{html.escape(f"{number} = {operation}")}</code></th>'
        )
        for k in kept:
            text = html.escape(rest[k - 2])
            cells += (
                f'<td class="mark">{text}</td>' if k == 5 else f"<td><code>{text}</code></td>" if text else "<td></td>"
            )
        lines.append(f"<tr>{cells}</tr>")
    if section.note:
        lines.insert(
            section.cut, f'<tr><td class="note" colspan="{len(kept) + 1}">{html.escape(section.note)}</td></tr>'
        )
    body = "\n".join(lines)
    return f"<table>{caption}<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
