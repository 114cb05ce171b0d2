"""Which public names are stable: the list that tests look through, as a page of the reference."""

import inspect
import sys
from pathlib import Path

import hoad

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "docs" / "reference" / "generated"  # whose file reference/stability.md includes


def page():
    """The provisional names with the reasons, and the stable ones by module."""
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        from quality.stability import PROVISIONAL, public_names, reason
    finally:
        sys.path.remove(str(ROOT / "tests"))
    whys = {}
    for name, why in PROVISIONAL.items():
        whys.setdefault(why, []).append(name)
    rows = [f"| {', '.join(f'`{name}`' for name in names)} | {why} |" for why, names in whys.items()]
    modules = {}
    for name, value in public_names(hoad):
        if reason(name) is None and not inspect.ismodule(value):
            modules.setdefault(name.rpartition(".")[0], []).append(f"{{py:obj}}`{name.rpartition('.')[2]} <{name}>`")
    stable = [f"**{module}**: {', '.join(sorted(names, key=str.lower))}" for module, names in modules.items()]
    table = "\n".join(["| names | what may change |", "| --- | --- |", *rows])
    return f"## Provisional\n\n{table}\n\n## Stable\n\n" + "\n\n".join(stable) + "\n"


def write_page(app, config):
    GENERATED.mkdir(exist_ok=True)
    path, text = GENERATED / "stability.txt", page()
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def setup(app):
    app.connect("config-inited", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
