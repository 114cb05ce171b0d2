"""A call of a jitted function with the same objects each time: arrays that are filled in place."""

cimport cython
from cpython.object cimport PyObject

from hoad._core.jit.draws cimport is_recorded
from hoad._core.jit.jit_cache cimport CallSignature, CompiledTrace, Jitted, let_vectorcall
from hoad._core.runtime.executable cimport Workspace

cdef extern from "Python.h":
    ctypedef struct PyTupleObject:
        PyObject** ob_item
    Py_ssize_t PyTuple_GET_SIZE(PyObject*) noexcept
    Py_ssize_t PyVectorcall_NARGS(size_t) noexcept


@cython.final
cdef class BoundCall:
    """``jitted(*args, out=out)`` at each call; what was replayed last is tried first, without a search."""

    cdef void* vectorcall
    cdef readonly Jitted jitted
    cdef readonly tuple args
    cdef readonly object out
    cdef CallSignature signature
    cdef CompiledTrace recorded     # that was replayed last, where it can be replayed here
    cdef Workspace workspace        # for it

    def __cinit__(self, *_):
        self.vectorcall = <void*>call

    def __init__(self, Jitted jitted not None, tuple args not None, out):
        self.jitted, self.args, self.out = jitted, args, out

    def __call__(self, *args, **kwargs):
        return self(*args, **kwargs)    # by what `let_vectorcall` puts here: others look whether there is one

    cdef object call_all(self):
        """The call as any other; after it, what was replayed is kept, if it is of one result and short."""
        cdef CompiledTrace recorded
        found = self.jitted(*self.args) if self.out is None else self.jitted(*self.args, out=self.out)
        self.recorded = None
        self.signature = self.jitted.signature_of((<PyTupleObject*>self.args).ob_item, len(self.args), NULL, -1, None)
        if self.signature is None or self.signature.latest is None or self.out is None:
            return found
        recorded = self.signature.latest
        if recorded.is_plain() and recorded.fits(self.out) and type(self.out) is not tuple:
            self.recorded, self.workspace = recorded, recorded.new_workspace()
        return found

    def __repr__(self):
        return f"<call of {self.jitted!r}>"


cdef object call(PyObject* this, PyObject** _, size_t nargsf, PyObject* names):
    cdef BoundCall bound = <BoundCall>this
    if PyVectorcall_NARGS(nargsf) or names != NULL:
        raise TypeError("a bound call takes no arguments: fill the arrays that it was made with")
    if bound.recorded is not None and not is_recorded():
        found = bound.signature.replay_latest(
            bound.recorded, bound.workspace, (<PyTupleObject*>bound.args).ob_item,
            PyTuple_GET_SIZE(<PyObject*>bound.args), bound.out)
        if found is not None:
            return found
    return bound.call_all()


def _install():
    """Let bound calls be called by the protocol that makes no tuple of arguments."""
    cdef BoundCall some = BoundCall.__new__(BoundCall)
    let_vectorcall(BoundCall, <char*>&some.vectorcall - <char*><PyObject*>some)


_install()
