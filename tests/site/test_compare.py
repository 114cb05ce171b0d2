"""The tables that compare libraries: every entry leads to a page that is there, and what can be run is run."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import warnings

import pytest
from quality.project import ROOT

DOCS = ROOT / "docs"
PAGE = DOCS / "compare.md"
LIBRARIES = ["hoad", "autograd", "jax", "torch", "casadi"]
LINK = re.compile(r"\[(.+?)\]\((\S+?)\)")
PLACES = (
    *("https://github.com/HIPS/autograd", "https://github.com/jax-ml/jax/", "https://docs.jax.dev/en/latest/"),
    *("https://docs.pytorch.org/docs/", "https://web.casadi.org/docs/"),
)


def table() -> dict[tuple[str, str], tuple[str, str]]:
    """(what it says, where it leads) for each row and library."""
    entries = {}
    for line in PAGE.read_text().splitlines():
        if line.startswith("| ") and "hoad | autograd" not in line:
            row, *cells = (cell.strip() for cell in line.strip("|").split(" | "))
            assert len(cells) == len(LIBRARIES), line
            for library, cell in zip(LIBRARIES, cells, strict=True):
                found = LINK.fullmatch(cell.rstrip(" |"))
                assert found, f"{row}, {library}: {cell!r} is no link"
                entries[row, library] = (found[1], found[2])
    return entries


TABLE = table()

# What imports each library, before a claim.
BEFORE = {
    "autograd": "import autograd, autograd.numpy as np, numpy",
    "jax": "import jax, jax.numpy as np, numpy",
    "torch": "import torch, numpy",
    "casadi": "import casadi, numpy\nx = casadi.SX.sym('x', 2)",
}
ASSIGNS = """
def f(x):
    y = {0}
    y[0] = x[0]
    return {1}(y)
{2}
"""
BRANCHES = "\ndef f(x): return x * x if x > 0 else -x\n"
TORCH_RULE = """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(x): return x * x
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g): return 2 * g * ctx.saved_tensors[0]
{}
"""
DECAY = "def decay(y, t, r): return -r * y"

# Code that runs where the table says yes, experimental or in part, and fails where it says no; of entries without any,
# the page that they lead to is the source.
CLAIMS: dict[str, dict[str, str]] = {
    "Code with `import numpy as np`": {
        "autograd": "autograd.grad(lambda x: numpy.sum(numpy.sin(x)))(numpy.ones(2))",
        "jax": "jax.grad(lambda x: numpy.sum(numpy.sin(x)))(numpy.ones(2))",
        "torch": "torch.func.grad(lambda x: numpy.sum(numpy.sin(x)))(torch.ones(2))",
        "casadi": "casadi.gradient(numpy.sum(numpy.sin(x)), x)",
    },
    "Assignment, `y[i] = v`": {
        "autograd": ASSIGNS.format("np.zeros(2)", "np.sum", "autograd.grad(f)(np.ones(2))"),
        "jax": ASSIGNS.format("np.zeros(2)", "np.sum", "jax.grad(f)(np.ones(2))"),
        "torch": ASSIGNS.format("torch.zeros(2)", "torch.sum", "torch.func.grad(f)(torch.ones(2))"),
        "casadi": ASSIGNS.format("casadi.SX.zeros(2)", "casadi.sum1", "casadi.gradient(f(x), x)"),
    },
    "`if` on a value, compiled": {
        "autograd": "autograd.jit",
        "jax": BRANCHES + "jax.jit(jax.grad(f))(2.0)",
        "torch": BRANCHES + "assert torch.compile(f, backend='eager')(torch.tensor(-2.0)) == 2",
        "casadi": BRANCHES + "f(casadi.SX.sym('x'))",
    },
    "Taylor mode for high orders": {
        "autograd": "autograd.jet",
        "jax": "from jax.experimental.jet import jet\nassert len(jet(np.sin, (0.1,), ((1.0, 0.0, 0.0),))[1]) == 3",
        "torch": "torch.func.jet",
        "casadi": "casadi.jet",
    },
    "Sparse Hessians, pattern found": {
        "autograd": "autograd.sparse_hessian",
        "jax": "jax.experimental.sparse.hessian",
        "torch": "torch.func.sparse_hessian",
        "casadi": "assert casadi.hessian(x[0] ** 2 + casadi.sin(x[1]), x)[0].nnz() == 2",
    },
    "Forward and reverse mode": {
        "autograd": "autograd.make_jvp(np.sin)(1.0)(1.0), autograd.make_vjp(np.sin)(1.0)",
        "jax": "jax.jvp(np.sin, (1.0,), (1.0,)), jax.vjp(np.sin, 1.0)",
        "torch": "one = torch.ones(()); torch.func.jvp(torch.sin, (one,), (one,)), torch.func.vjp(torch.sin, one)",
        "casadi": "casadi.jtimes(casadi.sin(x), x, x), casadi.jtimes(casadi.sin(x), x, x, True)",
    },
    "`if` on a value, not compiled": {
        "autograd": BRANCHES + "assert autograd.grad(f)(2.0) == 4",
        "jax": BRANCHES + "assert jax.grad(f)(2.0) == 4",
        "torch": BRANCHES + "assert torch.func.grad(f)(torch.tensor(2.0)) == 4",
        "casadi": BRANCHES + "f(casadi.SX.sym('x'))",
    },
    "Compiled code for repeated calls": {
        "autograd": "autograd.jit",
        "jax": "assert jax.jit(jax.grad(np.sin))(0.0) == 1",
        "torch": "torch.compile",
        "casadi": "assert casadi.Function('f', [x], [casadi.cos(x)])([0.0, 0.0])[0] == 1",
    },
    "`float64` without a setting": {
        "autograd": "assert autograd.grad(np.sin)(1.0).dtype == 'float64'",
        "jax": "assert np.array([1.0]).dtype == 'float64'",
        "torch": "assert torch.tensor([1.0]).dtype == torch.float64",
        "casadi": "assert float(casadi.DM(0.1)) == 0.1",
    },
    "Complex numbers": {
        "autograd": "assert abs(autograd.grad(lambda z: np.abs(z) ** 2)(1 + 2j) - (2 - 4j)) < 1e-6",
        "jax": "assert abs(jax.grad(lambda z: np.abs(z) ** 2)(1 + 2j) - (2 - 4j)) < 1e-6",
        "torch": "z = torch.tensor(1 + 2j)\n"
        "assert abs(torch.func.grad(lambda z: torch.abs(z) ** 2)(z) - (2 + 4j)) < 1e-6",
        "casadi": "x * 1j",
    },
    "Dicts and lists as arguments": {
        "autograd": "assert autograd.grad(lambda p: p['a'] ** 2)({'a': 2.0})['a'] == 4",
        "jax": "assert jax.grad(lambda p: p['a'] ** 2)({'a': 2.0})['a'] == 4",
        "torch": "assert torch.func.grad(lambda p: p['a'] ** 2)({'a': torch.tensor(2.0)})['a'] == 4",
        "casadi": "casadi.Function('f', [x], [x])({'a': 2.0})",
    },
    "Many inputs at once": {
        "autograd": "autograd.vmap",
        "jax": "assert jax.vmap(jax.grad(np.sin))(np.ones(2)).shape == (2,)",
        "torch": "assert torch.func.vmap(torch.func.grad(torch.sin))(torch.ones(2)).shape == (2,)",
        "casadi": "assert casadi.Function('f', [x], [x * x]).map(3)(numpy.ones((2, 3))).shape == (2, 3)",
    },
    "One rule for both modes, every order": {
        "autograd": "from autograd.extend import primitive, defvjp\nf = primitive(lambda x: x * x)\n"
        "defvjp(f, lambda p, x: lambda g: 2 * g * x)\nautograd.make_jvp(f)(2.0)(1.0)",
        "jax": "f = jax.custom_jvp(lambda x: x**3)\n"
        "f.defjvp(lambda p, t: (f(*p), 3 * p[0] ** 2 * t[0]))\n"
        "assert jax.grad(jax.grad(jax.grad(f)))(2.0) == 6 == jax.jvp(f, (1.0,), (2.0,))[1]",
        "torch": TORCH_RULE.format("one = torch.ones(())\ntorch.func.jvp(Square.apply, (one,), (one,))"),
    },
    "Derivative of the result of a solver": {
        "autograd": "from autograd.misc.fixed_points import fixed_point\n"
        "root = lambda a: fixed_point(lambda a: lambda x: 0.5 * (x + a / x), a, 1.0, lambda x, y: abs(x - y), 1e-12)\n"
        "assert abs(autograd.grad(root)(4.0) - 0.25) < 1e-6",
        "jax": "solve = lambda g, x: jax.lax.fori_loop(0, 50, lambda i, x: x - g(x) / (3 * x * x), x)\n"
        "cube = lambda a: jax.lax.custom_root(lambda x: x**3 - a, 1.0, solve, lambda g, y: y / g(1.0))\n"
        "assert abs(jax.grad(cube)(8.0) - 1 / 12) < 1e-6",
        "casadi": "x, a, b = casadi.SX.sym('x'), casadi.SX.sym('a'), casadi.MX.sym('b')\n"
        "cube = casadi.rootfinder('cube', 'newton', {'x': x, 'p': a, 'g': x**3 - a})(x0=1.5, p=b)['x']\n"
        "assert abs(float(casadi.Function('d', [b], [casadi.jacobian(cube, b)])(8.0)) - 1 / 12) < 1e-9",
    },
    "Solutions of ODEs": {
        "autograd": DECAY + "\nfrom autograd.scipy.integrate import odeint\nfrom autograd.builtins import tuple\n"
        "end = lambda r: np.sum(odeint(decay, np.array([1.0]), np.array([0.0, 1.0]), tuple((r,)))[-1])\n"
        "assert abs(autograd.grad(end)(np.array(0.5)) + numpy.exp(-0.5)) < 1e-4",
        "jax": DECAY + "\nfrom jax.experimental.ode import odeint\n"
        "end = lambda r: odeint(decay, np.ones(1), np.array([0.0, 1.0]), r)[-1, 0]\n"
        "assert abs(jax.grad(end)(0.5) + numpy.exp(-0.5)) < 1e-4",
        "casadi": "y, r, s = casadi.SX.sym('y'), casadi.SX.sym('r'), casadi.MX.sym('s')\n"
        "end = casadi.integrator('end', 'cvodes', {'x': y, 'p': r, 'ode': -r * y}, 0, 1)(x0=1.0, p=s)['xf']\n"
        "assert abs(float(casadi.Function('d', [s], [casadi.jacobian(end, s)])(0.5)) + numpy.exp(-0.5)) < 1e-4",
    },
    "Formulas whose derivative is a formula": {
        "casadi": "assert str(casadi.gradient(casadi.sin(x[0]), x[0])) == 'cos(x_0)'",
    },
    "The recording can be read": {
        "jax": "assert 'cos' in str(jax.make_jaxpr(jax.grad(np.sin))(0.1))",
        "torch": "from torch.fx.experimental.proxy_tensor import make_fx\n"
        "assert 'cos' in make_fx(torch.func.grad(torch.sin))(torch.tensor(0.1)).code",
        "casadi": "assert 'sin' in str(casadi.Function('f', [x], [casadi.sin(x)]).expand().instruction_id(1)) "
        "or 'sin' in str(casadi.sin(x))",
    },
    "Calls from C without Python": {
        "jax": "import jax.export\nassert jax.export.export(jax.jit(np.sin))(1.0).mlir_module()",
        "torch": "import torch._inductor\ntorch._inductor.aoti_compile_and_package",
        "casadi": "casadi.Function('f', [x], [casadi.sin(x)]).generate",
    },
    "Tests of derivatives": {
        "autograd": "from autograd.test_util import check_grads\ncheck_grads(np.sin, order=2)(0.3)",
        "jax": "from jax.test_util import check_grads\ncheck_grads(np.sin, (0.3,), order=2)",
        "torch": "assert torch.autograd.gradcheck(torch.sin, torch.tensor(0.3, dtype=float, requires_grad=True))",
        "casadi": "casadi.check_grads",
    },
}
# What does not run where the table says "in part".
LIMITS = {
    "autograd": "autograd.grad(lambda x: numpy.linalg.solve(numpy.eye(2), x)[0])(numpy.ones(2))",
    "casadi": "numpy.sort(x)",
}


def test_every_entry_leads_to_a_page_that_is_there() -> None:
    assert len(TABLE) >= 100
    for (row, library), (_, target) in TABLE.items():
        if library == "hoad":
            page, _, heading = target.partition("#")
            titles = re.findall(r"^#+ (.*)", (DOCS / page).read_text(), re.MULTILINE)
            assert not heading or heading in [title.lower().replace(" ", "-") for title in titles], f"{row}: {target}"
        else:
            assert target.startswith(PLACES), f"{row}, {library}: {target} is not in the documentation of {library}"


def test_claims_are_those_of_the_table() -> None:
    assert set(CLAIMS) < {row for row, _ in TABLE}


RUN = [(row, library) for row, claims in CLAIMS.items() for library in claims]


def attempt(library: str, code: str) -> BaseException | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what other libraries warn of is theirs
            exec(f"{BEFORE[library]}\n{code}", {"__name__": "page"})
    except Exception as error:
        return error
    return None


@pytest.mark.slow  # what changes with releases of the others, not with hoad; what stands in the tabs runs always
@pytest.mark.parametrize(("row", "library"), RUN, ids=[f"{library}-{row}" for row, library in RUN])
def test_claim(row: str, library: str) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    says, code = TABLE[row, library][0], CLAIMS[row][library]
    if "without a setting" in row:  # settings hold for a process
        command = [sys.executable, "-c", f"{BEFORE[library]}\n{code}"]
        failed: object = subprocess.run(command, capture_output=True, check=False).returncode
    else:
        failed = attempt(library, code)
    assert bool(failed) == says.startswith("no"), f"the table says {says!r}, and running it gives {failed!r}"
    if says == "in part":
        assert attempt(library, LIMITS[library])
