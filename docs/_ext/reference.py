"""The reference: a page for every public name, grouped by the module it is written in, all from docstrings."""

import importlib
import inspect
import re
from pathlib import Path

import hoad
import hoad.scipy

PLACE = Path(__file__).parents[1] / "reference" / "generated"
PAGE = """{title}
{line}

.. {directive}:: {name}
"""
GROUP = """{title}
{line}

{about}

.. autosummary::
   :nosignatures:

{names}

.. toctree::
   :hidden:

{pages}
"""


def public_names(module):
    """(name, value) of everything in `__all__`, and in the modules that are in it."""
    for name in module.__all__:
        value = getattr(module, name)
        if not inspect.ismodule(value):
            yield f"{module.__name__}.{name}", value
        elif hasattr(value, "__all__"):
            yield from public_names(value)


def directive(value):
    if inspect.isclass(value):
        return "autoclass"
    return "autofunction" if callable(value) else "autodata"


def write(name, text):
    path = PLACE / f"{name}.rst"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return path


def write_pages(app, config):
    """Write the pages that are new or have changed, and remove those of names that are gone."""
    PLACE.mkdir(exist_ok=True)
    groups = {}
    of_scipy = [(name, x) for name, x in public_names(hoad.scipy) if not x.__module__.startswith("scipy")]
    for name, value in [*public_names(hoad), *of_scipy]:
        groups.setdefault(getattr(value, "__module__", hoad.__name__), []).append((name, value))
    written = set()
    for module, members in sorted(groups.items()):
        for name, value in members:
            written.add(
                write(name, PAGE.format(title=name, line="=" * len(name), directive=directive(value), name=name))
            )
        about = inspect.getdoc(importlib.import_module(module))
        title = re.split(r"[:.](?:\s|$)", " ".join(about.split()))[0]
        listed = {
            "title": title,
            "line": "=" * len(title),
            "about": about,
            "names": "\n".join(f"   {name}" for name, _ in members),
            "pages": "\n".join(f"   {name}" for name, _ in members),
        }
        written.add(write(f"in-{module}", GROUP.format(**listed)))
    for path in set(PLACE.glob("*.rst")) - written:
        path.unlink()


def setup(app):
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
