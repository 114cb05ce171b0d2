"""A call of a jitted function with the same objects each time: arrays that are filled in place."""

cimport numpy as cnp
from cpython.object cimport PyObject

from hoad._core.graph.primitive cimport EPOCH
from hoad._core.jit.jit_cache cimport CallSignature, CompiledTrace, Jitted, copy_out, is_watched, let_vectorcall
from hoad._core.runtime.executable cimport Workspace

cnp.import_array()

cdef extern from "Python.h":
    ctypedef struct PyTupleObject:
        PyObject** ob_item
    Py_ssize_t PyVectorcall_NARGS(size_t) noexcept


cdef class BoundCall:
    """``jitted(*args, out=out)`` at each call; it keeps a workspace of its own, in which the arguments are placed."""

    cdef void* vectorcall
    cdef Jitted jitted
    cdef tuple args
    cdef object out
    cdef CallSignature signature
    cdef CompiledTrace recorded     # that was replayed last, where it can be replayed here
    cdef Workspace workspace

    def __cinit__(self, *_):
        self.vectorcall = <void*>call

    def __init__(self, Jitted jitted not None, tuple args not None, out):
        self.jitted, self.args, self.out = jitted, args, out

    cdef object run(self):
        """A replay of what was replayed last; None where it does not hold any more."""
        cdef CompiledTrace recorded = self.recorded
        if is_watched() or recorded is not self.signature.latest or recorded.epoch != EPOCH:
            return None
        if not self.signature.fits((<PyTupleObject*>self.args).ob_item, len(self.args)):
            return None
        if self.signature.has_changed(recorded.environment) or not recorded.fits(self.out):
            return None
        recorded.lowered.place_inputs(self.workspace.held, &self.workspace.work)
        if recorded.lowered.interpret(&self.workspace.work):
            return None
        copy_out(recorded.lowered, self.workspace, 0, <cnp.ndarray>self.out)
        return self.out

    cdef object call_all(self):
        """The call as any other; after it, what was replayed is kept, if it is of one result and short."""
        cdef CompiledTrace recorded
        cdef Workspace workspace
        found = self.jitted(*self.args) if self.out is None else self.jitted(*self.args, out=self.out)
        self.recorded = None
        self.signature = self.jitted.signature_of((<PyTupleObject*>self.args).ob_item, len(self.args))
        if self.signature is None or self.signature.latest is None or self.out is None:
            return found
        recorded = self.signature.latest
        if not recorded.is_plain() or not recorded.fits(self.out) or type(self.out) is tuple:
            return found
        workspace = recorded.enter(1)
        self.signature.place(recorded, workspace, (<PyTupleObject*>self.args).ob_item)
        for held, x in zip(workspace.held, self.inputs()):
            if held is not x and isinstance(x, cnp.ndarray):
                return found        # it is copied at each call
        self.recorded, self.workspace = recorded, workspace
        return found

    cdef list inputs(self):
        """The arguments that are inputs."""
        return [x for k, x in enumerate(self.args) if self.signature.is_input(k)]

    def __repr__(self):
        return f"<call of {self.jitted!r}>"


cdef object call(PyObject* this, PyObject** _, size_t nargsf, PyObject* names):
    cdef BoundCall bound = <BoundCall>this
    if PyVectorcall_NARGS(nargsf) or names != NULL:
        raise TypeError("a bound call takes no arguments: fill the arrays that it was made with")
    if bound.recorded is not None:
        found = bound.run()
        if found is not None:
            return found
    return bound.call_all()


def _install():
    """Let bound calls be called by the protocol that makes no tuple of arguments."""
    cdef BoundCall some = BoundCall.__new__(BoundCall)
    let_vectorcall(BoundCall, <char*>&some.vectorcall - <char*><PyObject*>some)


_install()
