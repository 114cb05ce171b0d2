"""Calls of a program from Python: arguments go in, a workspace is used, results are made.

Workspaces are kept from one call to the next. All callers hold the GIL when they take one or leave it.
"""

import numpy as np

from cpython.object cimport PyObject

cimport numpy as cnp

from hoad._core.base.blocks cimport give, take
from hoad._core.graph.tape cimport AVAL_BOOL, AVAL_FLOAT, AbstractValue, aval_of
from hoad._core.runtime.engine cimport Input

cnp.import_array()

cdef extern from "Python.h":
    PyObject* PyTuple_GET_ITEM(PyObject*, Py_ssize_t) noexcept
    Py_ssize_t PyTuple_GET_SIZE(PyObject*) noexcept
    Py_ssize_t PyList_GET_SIZE(PyObject*) noexcept
    long long PyLong_AsLongLong(PyObject*) noexcept

cdef enum:
    LONG = 4000         # numbers from which on a run is worth letting other threads in
    SMALL = 1 << 15     # bytes of a workspace that is kept

FLOAT64 = <PyTypeObject*>np.float64


cdef class Workspace:
    """The memory of one run, which holds the GIL and so needs no lock, as a `Space` does."""

    def __dealloc__(self):
        give(self.memory, self.size)


cdef class Executable:
    """A program that is called: `arrange` makes a result of the list of values, or is None where there is one value."""

    def __init__(self, Lowered lowered not None, arrange):
        self.lowered = lowered
        self.arrange = arrange
        self.n_results = lowered.n_outputs
        self.most_kept = SMALL
        self.workspaces = []
        self.is_long = lowered.numbers() > LONG or lowered.worth > 1

    def run(self, tuple args not None, threads=None):
        """The values of all outputs, for these inputs."""
        return self.run_on(args, threads or 0, False)

    def call(self, tuple args not None, threads=None):
        """What the program gives for these inputs."""
        return self.run_on(args, threads or 0, True)

    def takes(self, tuple args not None):
        """Whether these are floats and arrays as recorded, which need no conversion."""
        cdef int32_t k
        if PyTuple_GET_SIZE(<PyObject*>args) != self.lowered.n_inputs:
            return False
        for k in range(self.lowered.n_inputs):
            if not is_taken(aval_of(self.lowered.inputs[k].aval), PyTuple_GET_ITEM(<PyObject*>args, k)):
                return False
        return True

    cdef object run_on(self, tuple args, int32_t threads, bint is_arranged):
        cdef Workspace workspace
        cdef list made = None
        cdef int32_t k
        cdef int code
        self.lowered.check_count(PyTuple_GET_SIZE(<PyObject*>args))
        workspace = self.enter(threads)
        try:
            for k in range(self.lowered.n_inputs):
                self.place(workspace, k, PyTuple_GET_ITEM(<PyObject*>args, k))
            if self.is_long:
                made = self.lowered.place_outputs(&workspace.work)
            code = self.interpret(workspace)
            if code:
                self.lowered.raise_failure(code, &workspace.work)
            return self.result(workspace, made) if is_arranged else self.all_values(workspace, made)
        finally:
            self.leave(workspace, made is not None)

    cdef Workspace enter(self, int32_t threads):
        """A workspace that nobody uses, for a run in so many threads at most."""
        cdef Workspace workspace = self.free_workspace
        if workspace is not None:
            self.free_workspace = None
        elif self.workspaces:
            workspace = <Workspace>self.workspaces.pop()
        else:
            workspace = self.new_workspace()
        if self.lowered.worth > 1:
            workspace.work.threads = self.lowered.threads(threads)
        return workspace

    cdef Workspace new_workspace(self):
        """Memory for one run."""
        cdef Workspace workspace = Workspace.__new__(Workspace)
        cdef int64_t size = self.lowered.workspace_size(1)
        workspace.memory = <char*>take(size)
        if workspace.memory == NULL:
            raise MemoryError(f"no memory for a workspace of {size} bytes")
        workspace.size = size
        workspace.held = []
        self.lay_out(workspace)
        return workspace

    cdef int lay_out(self, Workspace workspace) except -1:
        """Give every register its place, and what is in it before a run."""
        self.lowered.lay_out(workspace.memory, 1, &workspace.work)
        self.lowered.place_presets(&workspace.work)
        return 0

    cdef int leave(self, Workspace workspace, bint is_moved) except -1:
        """Keep a workspace for the next run; `is_moved` where registers point to memory elsewhere."""
        if workspace.size > self.most_kept:
            return 0
        if is_moved:
            self.lay_out(workspace)
        if PyList_GET_SIZE(<PyObject*>workspace.held):
            workspace.held = []
        if self.free_workspace is None:
            self.free_workspace = workspace
        else:
            self.workspaces.append(workspace)
        return 0

    cdef int place(self, Workspace workspace, int32_t k, PyObject* x) except -1:
        """Let input k be a number or an array."""
        cdef Input* place = &self.lowered.inputs[k]
        cdef cnp.ndarray array
        if type(<object>x) is not cnp.ndarray or fits_aval(aval_of(place.aval), <cnp.ndarray>x):
            if place_ready(self.lowered, &workspace.work, k, x):
                return 0
        array = self.lowered.as_input(k, <object>x, 1)
        if place.aval <= AVAL_BOOL:
            workspace.work.uniform[place.register].d = (<double*>cnp.PyArray_DATA(array))[0]
        else:
            workspace.work.uniform[place.register].o = <PyObject*>cnp.PyArray_DATA(array)
            workspace.held.append(array)
        return 0

    cdef int interpret(self, Workspace workspace) noexcept:
        """Run the program on what the workspace holds."""
        if not self.is_long:
            return self.lowered.interpret(&workspace.work)
        with nogil:
            return self.lowered.interpret(&workspace.work)

    cdef list all_values(self, Workspace workspace, list made):
        """The values of all outputs, of the arrays that were made for them if there are any."""
        cdef int32_t k
        if made is None:
            made = [None] * self.lowered.n_outputs
        for k in range(self.lowered.n_outputs):
            if made[k] is None:
                made[k] = self.lowered.result(&self.lowered.outputs[k], &workspace.work)
        return made

    cdef object result(self, Workspace workspace, list made):
        """What the program gives."""
        if made is None and self.arrange is None:
            return self.lowered.result(&self.lowered.outputs[0], &workspace.work)
        made = self.all_values(workspace, made)
        if self.arrange is None:
            return made[0]
        if self.n_results < len(made):
            made = made[:self.n_results]
        return tuple(made) if self.arrange is tuple else self.arrange(made)


cdef bint is_taken(AbstractValue aval, PyObject* x):
    """Whether an input may be this without conversion."""
    if type(<object>x) is cnp.ndarray:
        return fits_aval(aval, <cnp.ndarray>x)
    return aval.number == AVAL_FLOAT and is_float(x)


cdef bint fits_aval(AbstractValue aval, cnp.ndarray array):
    """Whether an array has this shape and dtype."""
    cdef int d
    if cnp.PyArray_NDIM(array) != aval.ndim or cnp.PyArray_TYPE(array) != (<cnp.dtype>aval.dtype).type_num:
        return False
    for d in range(aval.ndim):
        if cnp.PyArray_DIM(array, d) != PyLong_AsLongLong(PyTuple_GET_ITEM(<PyObject*>aval.shape, d)):
            return False
    return True
