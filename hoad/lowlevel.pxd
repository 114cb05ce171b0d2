"""Programs called from Cython without Python: ``from hoad.lowlevel cimport hoad_call, hoad_program``.

    hoad_program(address)                   the handle of what `Program.address` gave, which must be kept alive
    hoad_call(program, inputs, outputs)     all numbers of the inputs one after another, and those of the outputs
    hoad_ode(t, y, ydot, program)           of a program of (t, y): ydot = f(t, y)

The last two return HOAD_OK, or HOAD_BRANCH, HOAD_SINGULAR or HOAD_PYTHON and leave the outputs as they are.
"""

from hoad._core.runtime.lowlevel cimport (
    HOAD_BRANCH, HOAD_OK, HOAD_PYTHON, HOAD_SINGULAR, hoad_call, hoad_ode, hoad_program,
)
