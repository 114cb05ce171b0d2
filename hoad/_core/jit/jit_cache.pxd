"""Calling recorded functions again."""

from cpython.object cimport PyObject

cimport numpy as cnp

from hoad._core.runtime.executable cimport Executable, Workspace
from hoad._core.graph.tape cimport int32_t, int64_t
from hoad._core.jit.draws cimport Draws
from hoad._core.jit.effects cimport Effects
from hoad._core.jit.environment cimport Environment

cdef enum PlaceKind:
    NUMBER          # a float
    ARRAY           # an array, of one shape and dtype
    FIXED           # anything else, by identity, or numbers and text by value
    STATIC          # what was said to be static, by value

cdef enum:
    MOST_AXES = 64

cdef struct ArgumentPlace:              # what a signature takes in one place, or an output gives
    int kind
    int ndim
    int type_number
    int64_t nbytes
    void* cls                   # of what has no axes: code may ask for it
    int first                   # the first place at which the same array stands: code may ask if one is the other
    cnp.npy_intp dims[MOST_AXES]
    signed char axes[MOST_AXES]     # of an array, those of large steps first: views of it depend on that
    bint spread                     # an axis of it takes no steps, or those of another axis

cdef class Zeros:               # what tells whether an array holds the zeros of a recording
    cdef int32_t others         # calls that were not replays
    cdef object writer          # the recording that was the last to write, and where
    cdef size_t at

    cdef bint are_in(self, object recorded, object out) except -1

cdef class CompiledTrace(Executable):
    cdef readonly object program
    cdef readonly Environment environment
    cdef readonly list live         # arrays that it captured and reads as they are: the last inputs of the program
    cdef object into                # writes what the function gives to arrays, or says why it cannot be written there
    cdef bint has_constants         # numbers that no run computes are among what it gives
    cdef int epoch                  # of the rules that it was recorded with
    cdef ArgumentPlace* targets             # of each output
    cdef int32_t threads            # that a run may use; 0 for as many as may be
    cdef bint may_stop              # a run may end before its results are there
    cdef int32_t blank              # the register of zeros that may be in `out` already, or -1
    cdef Zeros zeros                # whether they are, or None
    cdef readonly Effects effects   # what the function does besides computing, or None
    cdef readonly Draws draws       # random numbers that are drawn at each run, its last inputs, or None

    cdef bint is_plain(self) noexcept
    cdef int place_draws(self, Workspace workspace) except -1
    cdef object finish(self, Workspace workspace, object out, list made, bint is_there, bint only_computes)
    cdef int run(self, Workspace workspace, bint is_over) except -1
    cdef int end_early(self, int code, Workspace workspace) except -1
    cdef bint run_into(self, Workspace workspace, object out) except -1
    cdef bint fits(self, object out) except -1
    cdef object write(self, Workspace workspace, object out)

cdef class CallSignature:
    cdef ArgumentPlace* places
    cdef readonly int size
    cdef readonly tuple fixed       # what is expected in every place, None where a number or an array is
    cdef list classes               # of the arguments, which places name
    cdef list firsts                # where the same array stands first, of each place
    cdef readonly object form       # what is compared besides: None for arguments by position, without containers
    cdef tuple names                # of those by keyword
    cdef list patterns              # of each argument: None, or the container that it is
    cdef public list recorded       # those of them used last come first
    cdef readonly object refusal    # why nothing more is recorded, or None
    cdef Environment standing       # what that rests on, or None where it is for good
    cdef int asked                  # how often it was refused
    cdef public int every           # replays for one look at what was read: 1, or 0 for no look at all
    cdef int unchecked              # replays since the last
    cdef public object live         # captured arrays that have changed, to be read live; or why they cannot be
    cdef public list reasons        # why it was recorded again
    cdef public list draws          # the random draws that the next recording is expected to make

    cdef public CompiledTrace latest     # the one used last

    cdef bint fits(self, PyObject** args, Py_ssize_t n) except -1
    cdef bint fits_form(self, PyObject** args, Py_ssize_t n, PyObject* names, Py_ssize_t out_at,
                        list leaves) except -1
    cdef bint take(self, object pattern, PyObject* x, list leaves) except -1
    cdef bint fits_at(self, int k, PyObject** leaves) except -1
    cdef bint fits_one(self, int k, PyObject* x) except -1
    cdef int place(self, CompiledTrace recorded, Workspace workspace, PyObject** args) except -1
    cdef bint is_refused(self) except -1
    cdef inline bint has_changed(self, Environment environment) except -1
    cdef bint breaks_promise(self, Environment environment) except -1
    cdef object replay(self, PyObject** args, object out, bint only_computes)
    cdef object replay_latest(self, CompiledTrace recorded, Workspace workspace, PyObject** args, Py_ssize_t n, out)
    cdef object attempt(self, CompiledTrace recorded, PyObject** args, object out, bint only_computes)

cdef class Jitted:
    cdef void* vectorcall
    cdef dict __dict__
    cdef public list signatures     # those called last come first
    cdef readonly object driver
    cdef bint takes_out             # arrays to write to, by the keyword `out`

    cdef CallSignature signature_of(self, PyObject** args, Py_ssize_t n, PyObject* names, Py_ssize_t out_at,
                                    list leaves)

cdef int let_vectorcall(type cls, Py_ssize_t offset) except -1
