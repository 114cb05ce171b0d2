"""The reference: a page for every public name, listed by topic, all from docstrings."""

import inspect
from pathlib import Path

import hoad
import hoad.scipy

PLACE = Path(__file__).parents[1] / "reference" / "generated"
PAGE = """{title}
{line}

.. {directive}:: {name}
"""
TOPIC = """{title}
{line}

{about}

.. autosummary::
   :nosignatures:

{names}

.. toctree::
   :hidden:

{names}
"""

# The topics in their order: file, title, what is in it, the pages that show it in use, and the modules that hold it. A
# name is in the topic of its module, or of the longest beginning of it that is listed.
TOPICS = [
    (
        "derivatives",
        "Gradients, Jacobians and Hessians",
        "First and second derivatives, whole or as products with a vector, forward and reverse.",
        ["tutorial", "howto/dense", "howto/nested"],
        "hoad._drivers.gradient hoad._drivers.jacobian hoad._drivers.hessian hoad._drivers.products "
        "hoad._drivers.dense hoad._drivers.values",
    ),
    (
        "series",
        "Higher derivatives and Taylor series",
        "Derivatives of any order in one or many variables, Laplacians, and series to calculate with.",
        ["howto/any-order"],
        "hoad._drivers.derivative hoad._drivers.taylor hoad._drivers.tensors hoad._drivers.laplacian hoad._series",
    ),
    (
        "tapes",
        "Tapes and programs",
        "A function recorded as a list of tapes: to print, explore, differentiate again, replay, and call from C.",
        ["howto/see-the-tape", "howto/low-level"],
        "hoad._program hoad._transform.adjoint hoad._transform.tangent",
    ),
    (
        "compile",
        "Compile with jit, map with vmap",
        "A function recorded once and replayed by compiled code, for one input or for many at once.",
        ["howto/jit", "howto/vmap"],
        "hoad._jit hoad._drivers.vmap",
    ),
    (
        "loops",
        "Loops and memory",
        "Loops recorded once for any number of steps, and checkpoints that trade time for memory.",
        ["howto/loops"],
        "hoad._drivers.scan hoad._drivers.checkpoint hoad._transform.checkpoint_schedule",
    ),
    (
        "check",
        "Check derivatives, find a nan",
        "Taylor tests, checks of gradients written by hand and of rules; where a nan begins, what depends on what.",
        ["howto/check", "howto/nan"],
        "hoad.check hoad._inspect",
    ),
    (
        "ode",
        "Differential equations (ODE)",
        "Solutions of ordinary differential equations, differentiated by parameters, initial values and times.",
        ["howto/ode"],
        "hoad.ode",
    ),
    (
        "implicit",
        "Implicit functions: roots, fixed points, minima",
        "The derivative of what any solver finds, by the implicit function theorem.",
        ["howto/implicit"],
        "hoad.implicit",
    ),
    (
        "sparse",
        "Sparse Jacobians and Hessians",
        "Derivatives of functions of many variables as sparse matrices, without a pattern given by hand.",
        ["howto/sparse"],
        "hoad._sparse",
    ),
    (
        "optimise",
        "Optimise and fit: minimize, curve_fit, IPOPT",
        "Solvers of SciPy and IPOPT given exact gradients, Jacobians and Hessians.",
        ["howto/optimise", "howto/ipopt", "howto/other-solvers"],
        "hoad._solvers hoad.interop",
    ),
    (
        "linear-algebra",
        "Linear algebra of SciPy: hoad.scipy.linalg",
        "Factors, systems, matrix functions and matrix equations, with SciPy's names and signatures.",
        ["reference/coverage-scipy"],
        "hoad._scipy numpy.linalg",
    ),
    (
        "containers",
        "Containers of parameters (pytrees)",
        "Dicts, lists, dataclasses and classes of your own as arguments, and as one vector for optimisers.",
        ["howto/containers"],
        "hoad._pytree",
    ),
    (
        "formulas",
        "Symbolic formulas",
        "Symbols, expressions of them, and derivatives that are formulas again.",
        ["tutorial"],
        "hoad._symbolic",
    ),
    (
        "extending",
        "Extend hoad: rules, primitives, code of others",
        "A derivative rule for any function, composites with rules of their own, packages that know only NumPy.",
        ["howto/rule", "howto/composite", "howto/adopt"],
        "hoad.rules hoad._drivers.custom hoad._adopt",
    ),
    (
        "errors",
        "Errors and warnings",
        "What hoad raises, each with an example and its remedy.",
        ["sharp-edges", "reference/what-hoad-sees"],
        "hoad.errors",
    ),
]


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


def place_of(module):
    """The file of the topic that a module belongs to, and its place there."""
    found = [
        (len(beginning), file, k)
        for file, *_, modules in TOPICS
        for k, beginning in enumerate(modules.split())
        if f"{module}.".startswith(f"{beginning}.")
    ]
    if not found:
        raise ValueError(f"no topic of the reference has the module {module}: add it to TOPICS in {__file__}")
    return max(found)[1:]


def write(name, text):
    path = PLACE / name
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return path


def write_pages(app, config):
    """Write the pages that are new or have changed, and remove those of names that are gone."""
    PLACE.mkdir(exist_ok=True)
    listed = {file: [] for file, *_ in TOPICS}  # functions before the classes that they return
    of_scipy = [(name, x) for name, x in public_names(hoad.scipy) if not x.__module__.startswith("scipy")]
    written = set()
    for name, value in [*public_names(hoad), *of_scipy]:
        file, place = place_of(getattr(value, "__module__", hoad.__name__))
        listed[file].append((inspect.isclass(value), place, name))
        text = PAGE.format(title=name, line="=" * len(name), directive=directive(value), name=name)
        written.add(write(f"{name}.rst", text))
    rows = ["| topic | what is in it |", "|---|---|"]
    for file, title, about, shown, _ in TOPICS:
        links = ", ".join(f":doc:`/{page}`" for page in shown)
        page = {
            "title": title,
            "line": "=" * len(title),
            "about": f"{about} Examples: {links}.",
            "names": "\n".join(f"   {name}" for *_, name in sorted(listed[file])),
        }
        written.add(write(f"topic-{file}.rst", TOPIC.format(**page)))
        rows.append(f"| [{title}](generated/topic-{file}.rst) | {about} |")
    write("topics.txt", "\n".join(rows) + "\n")
    for path in set(PLACE.glob("*.rst")) - written:
        path.unlink()


def setup(app):
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
