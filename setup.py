"""The compiled core, hoad/_core. All else about the package stands in pyproject.toml.

HOAD_CHECKED=1 in the environment builds it for tests: bounds and initialisation are checked, tables move whenever they
grow, so that a pointer held for too long is noticed, and Cython's warnings are errors (of a negative index under
wraparound=False, say, which is undefined).
"""

import gc
import os
import sys
from pathlib import Path

import Cython
import numpy
from Cython.Build import cythonize
from Cython.Build.Dependencies import create_dependency_tree
from Cython.Compiler import Options
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# The .pyx files of hoad/_core, from the ground up; tests/quality compares this list with the folders.
EXTENSIONS = [
    "base.blocks",
    "base.where",
    "base.threads",
    "base.call_watch",
    "base.frame_globals",
    "kernels.scalar",
    "kernels.vector",
    "kernels.native_call",
    "kernels.ufuncs",
    "kernels.hypergeometric",
    "graph.tape",
    "graph.primitive",
    "graph.reach",
    "graph.roots",
    "graph.inspect",
    "graph.dce",
    "graph.subgraph",
    "graph.norms",
    "graph.pattern",
    "graph.serialize",
    "sparse.coloring",
    "sparse.recovery",
    "ops.cast",
    "ops.cumsum",
    "ops.plan",
    "ops.gufunc_call",
    "ops.searchsorted",
    "ops.eager",
    "trace.axes",
    "trace.context",
    "trace.errors",
    "trace.writes",
    "trace.traced",
    "trace.memory_order",
    "trace.coerce",
    "trace.calls",
    "trace.views",
    "trace.generator_calls",
    "runtime.access_pattern",
    "runtime.machine_kernels",
    "runtime.fused_loop",
    "runtime.gather_copy",
    "runtime.scalar_bytecode",
    "runtime.engine",
    "runtime.spectral",
    "runtime.elimination",
    "runtime.workspace",
    "runtime.executable",
    "runtime.lanes",
    "runtime.loops",
    "runtime.lowlevel",
    "lower.rewrite",
    "lower.cse",
    "lower.transpose_elimination",
    "lower.matmul_rewrite",
    "lower.slp",
    "lower.fusion",
    "lower.loop_codegen",
    "lower.vectorize",
    "lower.passes",
    "lower.lower",
    "sweep.flags",
    "sweep.hash_consing",
    "sweep.derived",
    "sweep.slopes",
    "sweep.support",
    "sweep.simplification",
    "sweep.builder",
    "sweep.rule_template",
    "sweep.adjoint",
    "sweep.tangent",
    "sweep.entries",
    "record.guard_calibration",
    "record.recording",
    "taylor.derivative_closure",
    "taylor.taylor_schedule",
    "taylor.series",
    "taylor.taylor_simd",
    "taylor.taylor_codegen",
    "taylor.event_search",
    "taylor.taylor_stepper",
    "jit.code_names",
    "jit.capture_analysis",
    "jit.environment",
    "jit.effects",
    "jit.draws",
    "jit.jit_cache",
    "jit.bound_call",
]

# What Cython would write into each module that has functions or typed memoryviews: a fourth of the compiled code.
SHARED = "hoad._core.base.cython_shared"

# A first call runs most of the core once, and takes the longer the larger that is. So what computes with numbers is
# compiled for speed (-O3), what runs once for a function for size (-Os), and all else in between.
REPLAY = [
    "base.blocks",
    "base.threads",
    "kernels.scalar",
    "kernels.vector",
    "ops.cast",
    "ops.cumsum",
    "ops.eager",
    "ops.gufunc_call",
    "ops.plan",
    "ops.searchsorted",
    "runtime.engine",
    "runtime.executable",
    "runtime.fused_loop",
    "runtime.gather_copy",
    "runtime.lanes",
    "runtime.loops",
    "runtime.scalar_bytecode",
    "runtime.spectral",
    "runtime.workspace",
    "lower.cse",
    "lower.passes",
    "lower.rewrite",
    "taylor.series",
]
ONCE = [
    "base.call_watch",
    "base.frame_globals",
    "graph.inspect",
    "graph.norms",
    "graph.pattern",
    "graph.serialize",
    "graph.subgraph",
    "sparse.coloring",
    "sparse.recovery",
    "trace.errors",
    "trace.generator_calls",
    "trace.memory_order",
    "lower.fusion",
    "lower.loop_codegen",
    "lower.matmul_rewrite",
    "lower.slp",
    "lower.transpose_elimination",
    "lower.vectorize",
    "record.guard_calibration",
    "record.recording",
    "sweep.entries",
    "taylor.derivative_closure",
    "taylor.taylor_codegen",
    "taylor.taylor_schedule",
    "taylor.taylor_simd",
    "jit.code_names",
    "jit.capture_analysis",
    "jit.draws",
    "runtime.access_pattern",
]

CHECKED = os.environ.get("HOAD_CHECKED", "0") not in ("", "0")

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "initializedcheck": CHECKED,
    "wraparound": True,
    "cdivision": True,
    "autotestdict": False,
    # What travels has its own __reduce__. For all other classes Cython would write one, or an error that Python raises
    # by itself: a fourteenth of the compiled code.
    "auto_pickle": False,
    # The lines of the .pyx beside the C made from them: 16 MB, for those who read it.
    "emit_code_comments": CHECKED,
}
# Never -ffast-math: results follow IEEE 754. These leave out errno and trap flags only, which nothing reads.
ARITHMETIC = ["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
# No table of how to unwind C frames at any instruction, a sixteenth of the wheel: nothing here throws.
NO_TABLES = ["-fno-asynchronous-unwind-tables"]
COMPILE_MSVC = ["/O2", "/fp:precise", "/std:c11"]  # without the last it does not know `restrict`
LINK = ["-s"] if sys.platform == "linux" and not CHECKED else []
MACROS = ["NPY_NO_DEPRECATED_API", "NPY_TARGET_VERSION"]

CORE = Path("hoad", "_core")
KERNELS = CORE / "kernels"
HEADERS = Path("hoad", "include")
TRANSLATED = Path("build", "cython")


class BuildInParallel(build_ext):
    """Translate and compile on all cores what has changed, and everything after a change of options or tools.

    Translation waits until here, and its C goes under build/: an extension still names its .pyx when the
    sdist asks for its sources. An sdist with .c in their place makes a wheel without compiled modules.
    """

    def finalize_options(self):
        super().finalize_options()
        affinity = getattr(os, "sched_getaffinity", None)
        self.parallel = self.parallel or (len(affinity(0)) if affinity else os.cpu_count()) or 1

    def build_extensions(self):
        msvc = self.compiler.compiler_type == "msvc"
        tools = [Cython.__version__, numpy.__version__, os.environ.get("CC"), os.environ.get("CFLAGS")]
        options = repr([DIRECTIVES, *map(compile_options, EXTENSIONS), LINK, MACROS, *tools])
        stamp = Path(self.build_temp, "options.txt")
        self.force = self.force or not stamp.exists() or stamp.read_text() != options

        Options.warning_errors = CHECKED
        gc.set_threshold(100_000, 20, 100)  # Python's own takes a third of Cython's time, inherited by its processes
        stale = [extension for extension in self.extensions if self.force or is_stale(extension)]
        cythonize(
            [Extension(extension.name, extension.sources) for extension in stale],
            nthreads=self.parallel,
            force=True,
            build_dir=str(TRANSLATED),
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=SHARED,
        )
        for header in KERNELS.glob("*.h"):  # Cython copies those that it meets, and looks at them no more
            copied = TRANSLATED / header
            if copied.exists() and copied.stat().st_mtime < header.stat().st_mtime:
                copied.write_bytes(header.read_bytes())
        for extension in self.extensions:
            extension.sources = [str(translated(extension))]
            extension.extra_compile_args = COMPILE_MSVC if msvc else compile_options(extension.name)
            extension.extra_link_args = [] if msvc else LINK
        super().build_extensions()
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(options)


def compile_options(name):
    name = name.removeprefix("hoad._core.")
    if CHECKED:
        return ["-Og", "-g1", *ARITHMETIC]
    return ["-O3" if name in REPLAY else "-Os" if name in ONCE else "-O2", "-g0", *ARITHMETIC, *NO_TABLES]


def translated(extension):
    return TRANSLATED.joinpath(*extension.name.split(".")).with_suffix(".c")


def is_stale(extension):
    """Whether a file of ours is newer than the C made from it. (Files of the tools have their versions.)"""
    if not translated(extension).exists():
        return True
    if extension.name == SHARED:
        return False
    sources = map(Path, create_dependency_tree().all_dependencies(extension.sources[0]))
    newest = max(source.stat().st_mtime for source in sources if CORE in source.parents)
    return newest > translated(extension).stat().st_mtime


def extension(name):
    return Extension(
        name,
        [] if name == SHARED else [str(Path(*name.split(".")).with_suffix(".pyx"))],
        depends=[str(header) for folder in (KERNELS, HEADERS) for header in sorted(folder.glob("*.h"))],
        include_dirs=[numpy.get_include(), str(KERNELS), str(HEADERS)],
        define_macros=[(macro, "NPY_2_0_API_VERSION") for macro in MACROS] + [("HOAD_CHECKED", str(int(CHECKED)))],
    )


if __name__ == "__main__":  # worker processes of the translation may import this file
    names = [SHARED, *(f"hoad._core.{name}" for name in EXTENSIONS)]
    setup(ext_modules=[extension(name) for name in names], cmdclass={"build_ext": BuildInParallel})
