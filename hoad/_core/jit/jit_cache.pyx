"""Calling recorded functions again: what was given is matched, what was read is checked, and the program is run.

A `Jitted` function has signatures (which arguments are numbers, arrays of which shape, and which objects), each with
what was recorded for it: programs, and the environment that the function read. A call takes the first recording whose
environment is as it was and whose guards hold. Only if there is none is Python asked.
"""

from types import MethodType

import numpy as np

cimport cython

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.object cimport PyObject
from libc.string cimport memmove, memset

cimport numpy as cnp

from hoad._core.runtime.engine cimport GUARD_FAILED, Lowered, Output
from hoad._core.runtime.executable cimport Executable, Workspace, is_ready, place_ready
from hoad._core.ops.plan cimport FAILED_WITHIN
from hoad._core.graph.primitive cimport EPOCH
from hoad._core.graph.tape cimport AVAL_BOOL, AVAL_FLOAT, AbstractValue, aval_of
from hoad._core.jit.draws cimport Draws, go_back, is_recorded
from hoad._core.jit.effects cimport Effects
from hoad._core.jit.environment cimport Environment, same
from hoad._core.trace.context cimport Watchers
from hoad._core.trace.memory_order cimport is_spread

from hoad._core.trace.context import WATCHERS

from hoad.errors import GuardError, ShapeError

cnp.import_array()

cdef extern from "Python.h":
    ctypedef object (*vectorcallfunc)(PyObject*, PyObject**, size_t, PyObject*)
    ctypedef struct PyTypeObject:
        Py_ssize_t tp_vectorcall_offset
        unsigned long tp_flags
        void* tp_call
    enum:
        Py_TPFLAGS_HAVE_VECTORCALL
    Py_ssize_t PyVectorcall_NARGS(size_t) noexcept
    void* PyVectorcall_Call
    ctypedef struct PyTupleObject:
        PyObject** ob_item
    ctypedef struct PyListObject:
        PyObject** ob_item
    int PyDict_Next(PyObject*, Py_ssize_t*, PyObject**, PyObject**) noexcept
    Py_ssize_t PyList_GET_SIZE(PyObject*) noexcept
    Py_ssize_t PyObject_Size(PyObject*) except -1
    object PyObject_Vectorcall(object, PyObject**, size_t, PyObject*)
    PyObject* PyTuple_GET_ITEM(PyObject*, Py_ssize_t) noexcept
    Py_ssize_t PyTuple_GET_SIZE(PyObject*) noexcept
    PyTypeObject* Py_TYPE(PyObject*) noexcept
    PyObject* PyList_GET_ITEM(PyObject*, Py_ssize_t) noexcept

cdef enum RunResult:
    DONE = 0
    OTHER_BRANCH = 1
    RAISED = 2

cdef enum:
    DEEPEST = 32        # containers in one another, which are taken apart by calls in calls
    MOST_ASKED = 8      # refusals of one signature, of which the last is for good
    MOST_STANDING = 200     # comparisons of what a refusal rests on, which is else for good

cdef type ndarray = np.ndarray
cdef Watchers watchers = WATCHERS
cdef object NEXT = object()     # nothing recorded fits
cdef object FAILED = object()   # what was recorded raises
cdef object UNKNOWN = object()  # a container that is taken apart by Python


# ---- what was recorded ----------------------------------------------------------------------------------------------

@cython.final
cdef class Zeros:
    """Whether an array that is given to write to holds the zeros that a recording leaves as they are.

    The caller says so; but what one recording wrote there is no zero of another.
    """

    def other(self):
        """Note a call that was not a replay."""
        self.others += 1
        self.writer = None

    cdef bint are_in(self, object recorded, object out) except -1:
        """Whether a recording may leave its zeros in an array; notes that it writes there."""
        cdef size_t at = <size_t>cnp.PyArray_DATA(<cnp.ndarray>out) if type(out) is ndarray else 0
        cdef bint found = self.others <= 1 or (self.writer is recorded and self.at == at and at != 0)
        self.writer, self.at = recorded, at
        return found


@cython.final
cdef class CompiledTrace(Executable):
    """A program that was recorded for a signature, and the environment that its function read."""

    def __init__(self, program, Lowered lowered not None, Environment environment not None, list live not None,
                 arrange, into, bint has_constants=False, int32_t threads=0, Zeros zeros=None, Effects effects=None,
                 int32_t n_results=-1, Draws draws=None):
        """`live` are the arrays that are the last inputs of the program but for what it draws."""
        cdef int32_t k
        Executable.__init__(self, lowered, arrange)
        self.most_kept = lowered.workspace_size(1)
        self.program = program
        self.environment = environment
        self.live = live
        self.into = into
        self.has_constants = has_constants
        self.threads = threads
        self.epoch = EPOCH
        self.targets = <ArgumentPlace*>PyMem_RawMalloc(max(1, lowered.n_outputs) * sizeof(ArgumentPlace))
        if self.targets == NULL:
            raise MemoryError
        for k in range(lowered.n_outputs):
            describe(&self.targets[k], aval_of(lowered.outputs[k].aval))
        self.may_stop = lowered.may_fail()
        self.zeros = zeros
        self.effects = effects
        self.draws = draws
        if n_results >= 0:
            self.n_results = n_results
        self.blank = -1
        if zeros is not None and self.n_results == 1:
            self.blank = lowered.blank_below(lowered.outputs[0].register)

    def __dealloc__(self):
        PyMem_RawFree(self.targets)

    cdef int run(self, Workspace workspace, bint is_over) except -1:
        """Run the program on what the workspace holds; `is_over` if the result is made where its zeros are already."""
        cdef int code
        if is_over and self.blank >= 0:
            workspace.work.uniform[self.blank].o = workspace.work.uniform[self.lowered.outputs[0].register].o
        code = self.interpret(workspace)
        return self.end_early(code, workspace) if code else DONE

    cdef int end_early(self, int code, Workspace workspace) except -1:
        """What became of a run that ended by a code, whose error is not the caller's."""
        if code == GUARD_FAILED or code == FAILED_WITHIN:
            return OTHER_BRANCH
        try:
            self.lowered.raise_failure(code, &workspace.work)
        except GuardError:
            return OTHER_BRANCH
        except Exception:
            pass
        return RAISED

    cdef bint run_into(self, Workspace workspace, object out) except -1:
        """Let the one result be made where it is asked for, if a run cannot end early and reads nothing there."""
        cdef int32_t k, register
        if self.may_stop or not self.is_long or self.targets[0].kind != ARRAY or not self.fits(out):
            return False
        if type(out) is tuple or not is_ready(<cnp.ndarray>out):
            return False
        register = self.lowered.outputs[0].register
        if self.lowered.uniform[register] <= 0:
            return False
        for k in range(self.lowered.n_inputs):
            if self.lowered.inputs[k].aval > AVAL_BOOL and overlap(
                    <char*>workspace.work.uniform[self.lowered.inputs[k].register].o,
                    aval_of(self.lowered.inputs[k].aval), <cnp.ndarray>out):
                return False
        workspace.work.uniform[register].o = <PyObject*>cnp.PyArray_DATA(<cnp.ndarray>out)
        return True

    cdef bint fits(self, object out) except -1:
        """Whether what a run computes is all that is given, and can be written to the result without conversion."""
        cdef int32_t k
        cdef int32_t n = self.n_results
        if self.has_constants:
            return False
        if type(out) is not tuple:
            return n == 1 and can_be_written(&self.targets[0], <PyObject*>out)
        if PyTuple_GET_SIZE(<PyObject*>out) != n:
            return False
        for k in range(n):
            if not can_be_written(&self.targets[k], PyTuple_GET_ITEM(<PyObject*>out, k)):
                return False
        return True

    cdef bint is_plain(self) noexcept:
        """Whether a run is short, and all it does is to give one result."""
        return (self.effects is None and not self.is_long and self.zeros is None and self.n_results == 1
                and not self.live and self.draws is None and self.lowered.n_outputs == 1)

    cdef int place_draws(self, Workspace workspace) except -1:
        """Let the last inputs be random numbers that are drawn now."""
        cdef int32_t k
        cdef int32_t first = self.lowered.n_inputs - <int32_t>self.draws.size
        for k in range(self.draws.size):
            made = self.draws.draw(k)
            workspace.held.append(made)
            self.place(workspace, first + k, <PyObject*>made)
        return 0

    cdef object finish(self, Workspace workspace, object out, list made, bint is_there, bint only_computes):
        """What a run gives, in `out` if it `is_there`; and do what else the function does."""
        cdef object found
        if self.effects is not None and self.effects.needs_values:
            made = self.all_values(workspace, made)     # before `out`, which may be an argument, is written to
        if out is not None:
            found = out if is_there else self.write(workspace, out)
        else:
            found = self.result(workspace, made)
        if self.effects is not None and not only_computes:
            self.effects.apply(made)
        return found

    cdef object write(self, Workspace workspace, object out):
        """Write what the function gives to arrays."""
        cdef int32_t k
        if not self.fits(out):
            return self.into(out, self.result(workspace, None))
        if type(out) is not tuple:
            copy_out(self, workspace, 0, <cnp.ndarray>out)
            return out
        given = {}          # what lies in an argument, which an output before it may be written over
        for k in range(self.n_results):
            if self.lowered.outputs[k].aval > AVAL_BOOL and (
                    self.lowered.uniform[self.lowered.outputs[k].register] == 0):
                given[k] = self.lowered.result(&self.lowered.outputs[k], &workspace.work)
        for k in range(self.n_results):
            if k in given:
                (<object>PyTuple_GET_ITEM(<PyObject*>out, k))[...] = given[k]
            else:
                copy_out(self, workspace, k, <cnp.ndarray>PyTuple_GET_ITEM(<PyObject*>out, k))
        return out


cdef inline bint can_be_written(ArgumentPlace* target, PyObject* out) noexcept:
    """Whether an output can be written to an array."""
    return type(<object>out) is ndarray and fits_array(target, <cnp.ndarray>out) and (
        cnp.PyArray_ISWRITEABLE(<cnp.ndarray>out))


cdef int copy_out(CompiledTrace recorded, Workspace workspace, int32_t k, cnp.ndarray out) except -1:
    """Copy an output to an array that fits."""
    cdef Output* output = &recorded.lowered.outputs[k]
    if output.aval == AVAL_FLOAT and is_ready(out):
        (<double*>cnp.PyArray_DATA(out))[0] = workspace.work.uniform[output.register].d
    elif output.aval == AVAL_BOOL or not is_ready(out):
        (<object>out)[...] = recorded.lowered.result(output, &workspace.work)
    else:
        memmove(cnp.PyArray_DATA(out), <char*>workspace.work.uniform[output.register].o,
                recorded.targets[k].nbytes)
    return 0


# ---- what it was recorded for ---------------------------------------------------------------------------------------

@cython.final
cdef class CallSignature:
    """Which arguments were given: numbers, arrays of which shapes and dtypes, and which other objects."""

    def __cinit__(self, list kinds not None, tuple fixed not None, list static not None, form, list leaves not None,
                  list firsts not None):
        """`kinds` has an `AbstractValue` for a number or an array, else None; what is `static` is compared by ==.

        The `leaves` are the arguments, of which numbers and arrays of no dimensions count by their classes; `firsts`
        says of each where the same array stands first.
        """
        cdef int k
        self.size = len(kinds)
        self.fixed = fixed
        self.form = form
        if form is not None:
            self.names, structures = form
            self.patterns = [None if structure is None else pattern_of(structure) for structure in structures]
        self.recorded = []
        self.reasons = []
        self.draws = []
        self.live = []
        self.every = 1
        self.classes = [type(leaf) for leaf in leaves]
        self.places = <ArgumentPlace*>PyMem_RawMalloc(max(1, self.size) * sizeof(ArgumentPlace))
        if self.places == NULL:
            raise MemoryError
        memset(self.places, 0, max(1, self.size) * sizeof(ArgumentPlace))
        self.firsts = firsts
        for k in range(self.size):
            self.places[k].first = firsts[k]
            if kinds[k] is None:
                self.places[k].kind = STATIC if static[k] else FIXED
                continue
            describe(&self.places[k], kinds[k])
            self.places[k].cls = <void*>Py_TYPE(PyList_GET_ITEM(<PyObject*>leaves, k))
            if type(leaves[k]) is ndarray:
                note_order(&self.places[k], <cnp.ndarray>leaves[k])

    def __dealloc__(self):
        PyMem_RawFree(self.places)

    def given(self, list leaves, form, list firsts):
        """Whether these leaves, in this form, are what it is for."""
        return len(leaves) == self.size and self.form == form and self.firsts == firsts and (
            all(map(self.given_at, range(self.size), leaves)))

    def given_at(self, int k, leaf):
        """Whether leaf k is what it is for."""
        return bool(self.fits_one(k, <PyObject*>leaf))

    cdef bint fits(self, PyObject** args, Py_ssize_t n) except -1:
        """Whether these arguments by position, without containers, are what it is for."""
        cdef int k
        if n != self.size or self.form is not None:
            return False
        for k in range(self.size):
            if not self.fits_at(k, args):
                return False
        return True

    cdef bint fits_form(self, PyObject** args, Py_ssize_t n, PyObject* names, Py_ssize_t out_at,
                        list leaves) except -1:
        """Whether arguments are what it is for that are given by name, `out` apart, or hold containers.

        Their leaves are put into a list, which keeps them alive: another thread may empty the containers.
        """
        cdef Py_ssize_t n_names = 0 if names == NULL else PyTuple_GET_SIZE(names)
        cdef Py_ssize_t given = n + n_names - (out_at >= 0)
        cdef Py_ssize_t at = n
        cdef Py_ssize_t k
        if self.form is None or given != len(self.patterns) or given - n != len(self.names):
            return False
        if PyList_GET_SIZE(<PyObject*>leaves):
            leaves.clear()
        for k in range(n):
            if not self.take(self.patterns[k], args[k], leaves):
                return False
        for k in range(n_names):
            if k == out_at:
                continue
            if not is_key(PyTuple_GET_ITEM(names, k), PyTuple_GET_ITEM(<PyObject*>self.names, at - n)):
                return False
            if not self.take(self.patterns[at], args[n + k], leaves):
                return False
            at += 1
        return True

    cdef bint take(self, object pattern, PyObject* x, list leaves) except -1:
        """Add the leaves of an argument, if it has this pattern and they are what is expected."""
        cdef Py_ssize_t k = PyList_GET_SIZE(<PyObject*>leaves)
        cdef Py_ssize_t at = 0
        cdef PyObject* key
        cdef PyObject* value
        cdef tuple keys
        cdef list parts
        if pattern is None:
            leaves.append(<object>x)
            return self.fits_at(k, (<PyListObject*>leaves).ob_item)
        if pattern is UNKNOWN:
            return False
        cls, keys, parts = <tuple>pattern
        if type(<object>x) is not cls or PyObject_Size(x) != len(keys):
            return False
        for k in range(len(keys)):
            if cls is tuple:
                value = PyTuple_GET_ITEM(x, k)
            elif cls is list:
                value = PyList_GET_ITEM(x, k)
            else:
                PyDict_Next(x, &at, &key, &value)
                if not is_key(key, PyTuple_GET_ITEM(<PyObject*>keys, k)):
                    return False
            if not self.take(parts[k], value, leaves):
                return False
        return True

    cdef inline bint fits_at(self, int k, PyObject** leaves) except -1:
        """Whether leaf k is what its place takes, and no array that stands elsewhere before."""
        if not self.fits_one(k, leaves[k]):
            return False
        return self.places[k].kind >= FIXED or type(<object>leaves[k]) is not ndarray or (
            self.places[k].first == first_of(leaves, k))

    cdef inline bint fits_one(self, int k, PyObject* x) except -1:
        """Whether an argument is what its place takes."""
        cdef ArgumentPlace* place = &self.places[k]
        if place.kind == NUMBER or place.kind == ARRAY:
            if type(<object>x) is ndarray:
                return (place.ndim > 0 or place.cls == <void*>ndarray) and fits_array(place, <cnp.ndarray>x) and (
                    place.ndim < 2 or is_in_order(place, <cnp.ndarray>x))
            # numbers go by their class; arrays of other classes, of any shape, are looked at where they are recorded
            return place.ndim == 0 and <void*>Py_TYPE(x) == place.cls and not isinstance(<object>x, ndarray)
        if same(<object>x, <object>PyTuple_GET_ITEM(<PyObject*>self.fixed, k)):
            return True
        return place.kind == STATIC and is_equal(<object>x, <object>PyTuple_GET_ITEM(<PyObject*>self.fixed, k))

    cdef int place(self, CompiledTrace recorded, Workspace workspace, PyObject** args) except -1:
        """Let the inputs of a program be these arguments."""
        cdef int k
        cdef int at = 0
        for k in range(self.size):
            if self.places[k].kind < FIXED:
                if not place_ready(recorded.lowered, &workspace.work, at, args[k]):
                    recorded.place(workspace, at, args[k])
                at += 1
        for k in range(len(recorded.live)):
            recorded.place(workspace, at + k, <PyObject*>recorded.live[k])
        return 0

    def refuse(self, str why not None, Environment standing):
        """Record nothing more, until something has changed on which that rests."""
        self.refusal = why
        self.recorded = []
        self.latest = None
        self.asked += 1
        self.standing = standing if self.asked < MOST_ASKED and standing is not None and (
            standing.weight() <= MOST_STANDING) else None

    def accept(self):
        """Record again."""
        self.refusal = None

    def may_be_asked(self):
        """Whether something has changed on which a refusal rests."""
        return not self.is_refused()

    cdef bint is_refused(self) except -1:
        return self.refusal is not None and (self.standing is None or self.standing.first_change() < 0)

    cdef object replay(self, PyObject** args, object out, bint only_computes):
        """What the first recording that still holds gives; `NEXT` if none does, `FAILED` if it raises.

        If it `only_computes`, there are no effects, and generators are where they were.
        """
        cdef CompiledTrace recorded
        cdef list recordings = self.recorded        # a run lets other threads in, which may put others there
        cdef Environment checked = None
        cdef bint changed = True
        cdef object found
        cdef Py_ssize_t k
        for k in range(len(recordings)):
            recorded = <CompiledTrace>recordings[k]
            if recorded.environment is not checked:
                checked = recorded.environment
                changed = self.has_changed(checked)
            if changed or recorded.epoch != EPOCH:
                continue
            if recorded.effects is not None and not recorded.effects.are_possible():
                continue
            found = self.attempt(recorded, args, out, only_computes)
            if found is not NEXT:
                if k and self.latest is recorded and recordings is self.recorded:   # twice: it is tried first now
                    self.recorded = [recorded, *[other for other in recordings if other is not recorded]]
                self.latest = recorded
                return found
        return NEXT

    cdef object replay_latest(self, CompiledTrace recorded, Workspace workspace, PyObject** args, Py_ssize_t n, out):
        """What a plain recording that was the latest writes to an array; None where it does not hold any more.

        Such a run keeps the GIL, so that nobody else has the `workspace`.
        """
        cdef int code
        if is_watched() or recorded is not self.latest or recorded.epoch != EPOCH or not self.fits(args, n):
            return None
        if not can_be_written(&recorded.targets[0], <PyObject*>out):
            return None
        if self.has_changed(recorded.environment):
            return None
        self.place(recorded, workspace, args)
        code = recorded.lowered.interpret(&workspace.work)
        if code:        # another branch, or an error: the call is made once more
            recorded.end_early(code, workspace)
            out = None
        else:
            copy_out(recorded, workspace, 0, <cnp.ndarray>out)
        if PyList_GET_SIZE(<PyObject*>workspace.held):
            workspace.held.clear()
        return out

    cdef inline bint has_changed(self, Environment environment) except -1:
        """Whether something is not as it was when it was read; looked at as often as is asked for."""
        return environment.first_change() >= 0 if self.every == 1 else self.breaks_promise(environment)

    cdef bint breaks_promise(self, Environment environment) except -1:
        """False, or an error where it is time to look and something has changed."""
        self.unchecked += 1
        if self.every == 0 or self.unchecked < self.every:
            return False
        self.unchecked = 0
        changed = environment.change()
        if changed is not None:
            raise GuardError(
                f"jit was promised, by guard={self.every}, that nothing that the function reads changes, but "
                f"{changed} is not what it was when it was recorded. Pass it as an argument, or leave out guard."
            )
        return False

    cdef object attempt(self, CompiledTrace recorded, PyObject** args, object out, bint only_computes):
        """What a recording gives; `NEXT` if the function would take another branch, `FAILED` if it raises."""
        cdef Workspace workspace = recorded.enter(recorded.threads)
        cdef list made = None
        cdef bint is_there = False
        cdef bint is_over = False
        cdef int code = OTHER_BRANCH
        cdef list states = None         # of generators, where it may be that nothing is to be drawn
        try:
            self.place(recorded, workspace, args)
            if recorded.draws is not None:
                if recorded.may_stop or only_computes:
                    states = recorded.draws.states()
                recorded.place_draws(workspace)
            if recorded.is_long and out is None:
                made = recorded.lowered.place_outputs(&workspace.work)
            elif out is not None:
                is_there = recorded.run_into(workspace, out)
            if out is not None and recorded.zeros is not None:
                is_over = recorded.zeros.are_in(recorded, out) and is_there
            code = recorded.run(workspace, is_over)
            if code == DONE:
                return recorded.finish(workspace, out, made, is_there, only_computes)
            return NEXT if code == OTHER_BRANCH else FAILED
        finally:
            if states is not None and (code != DONE or only_computes):
                go_back(states)
            recorded.leave(workspace, made is not None or is_there)


cdef object pattern_of(structure):
    """What a container is without its leaves, None for one of these, as nested (class, keys, patterns)."""
    cdef list found = []
    cdef list depths = []
    for node in structure._nodes:
        start = len(found) - (0 if node is None else len(node.keys))
        depth = max(depths[start:], default=0) + 1
        known = node is None or ((node.cls is tuple or node.cls is list or node.cls is dict) and depth < DEEPEST)
        found[start:] = [UNKNOWN if not known else None if node is None else (node.cls, node.keys, found[start:])]
        depths[start:] = [depth]
    return found[0]


cdef inline bint is_key(PyObject* x, PyObject* y) except -1:
    """Whether two keys are one, or equal text: no code of the user's is run to find out."""
    return x == y or (type(<object>x) is str and type(<object>y) is str and <str>x == <str>y)


cdef inline int first_of(PyObject** args, int k) noexcept:
    """Where the same object as argument k stands first."""
    cdef int j
    for j in range(k):
        if args[j] == args[k]:
            return j
    return k


cdef bint overlap(char* x, AbstractValue aval, cnp.ndarray out):
    """Whether an input at this address shares memory with a contiguous array."""
    cdef char* y = <char*>cnp.PyArray_DATA(out)
    return x < y + cnp.PyArray_NBYTES(out) and y < x + aval.size * aval.itemsize


cdef int describe(ArgumentPlace* place, AbstractValue aval) except -1:
    """Let a place take what has this shape and dtype."""
    cdef int d
    place.kind = NUMBER if aval.number == AVAL_FLOAT else ARRAY
    place.ndim = aval.ndim
    place.type_number = (<cnp.dtype>aval.dtype).type_num
    place.nbytes = aval.size * aval.itemsize
    if aval.ndim > MOST_AXES:
        raise ShapeError(f"jit takes arrays of up to {<int>MOST_AXES} axes, but one of them has {aval.ndim}.")
    for d in range(aval.ndim):
        place.dims[d] = aval.shape[d]
    return 0


cdef bint is_equal(object x, object y) except -1:
    """Whether two static arguments count as one: of one class, and equal by their own account."""
    return type(x) is type(y) and not isinstance(x, (bool, int, float, complex, str, bytes, tuple)) and bool(x == y)


cdef inline bint fits_array(ArgumentPlace* place, cnp.ndarray array) noexcept:
    """Whether an array has the shape and dtype of its place."""
    cdef int d
    if cnp.PyArray_TYPE(array) != place.type_number or cnp.PyArray_NDIM(array) != place.ndim:
        return False
    for d in range(place.ndim):
        if cnp.PyArray_DIM(array, d) != place.dims[d]:
            return False
    return True


cdef int note_order(ArgumentPlace* place, cnp.ndarray array) except -1:
    """Note how the axes of an array lie in memory: NumPy's views, and copies where there is no view, follow them."""
    cdef int d
    place.spread = is_spread(array)
    for d in range(place.ndim):
        place.axes[d] = d
    if not is_in_order(place, array):
        steps = [abs(cnp.PyArray_STRIDE(array, d)) for d in range(place.ndim)]
        for d, axis in enumerate(np.argsort(np.negative(steps), kind="stable")):
            place.axes[d] = axis
    return 0


cdef inline bint is_in_order(ArgumentPlace* place, cnp.ndarray array) noexcept:
    """Whether the axes of an array lie in memory as they did when it was recorded."""
    cdef int d, axis
    cdef cnp.npy_intp step
    cdef cnp.npy_intp last = 0
    for d in range(place.ndim):
        axis = place.axes[d]
        step = abs(cnp.PyArray_STRIDE(array, axis))
        if cnp.PyArray_DIM(array, axis) == 1 or step == 0:
            continue
        if last and step > last:
            return False
        last = step
    return is_spread(array) == place.spread


# ---- calls ----------------------------------------------------------------------------------------------------------

@cython.final
cdef class Jitted:
    """A function that is recorded at its first call for each signature, and replayed at the others: see `hoad.jit`."""

    def __cinit__(self, *_):
        self.vectorcall = <void*>call
        self.signatures = []

    def __init__(self, f, driver):
        """Of the function, and of what is asked where nothing recorded fits a call."""
        self.__wrapped__ = f
        self.driver = driver
        self.takes_out = driver.takes_out

    def __call__(self, *args, **kwargs):
        return self(*args, **kwargs)    # by what `let_vectorcall` puts here: others look whether there is one

    def __get__(self, instance, owner):
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self):
        return self.driver.reduced(self)

    def __repr__(self):
        return f"<hoad.jit of {self.__wrapped__!r}>"

    def report(self, *args, **kwargs):
        """What was recorded for a call with these arguments, and what that rests on; it is recorded if it was not.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the function.

        Returns
        -------
        JitReport
            Shown as text. Its fields are `name`; `recordings`, each with `operations` (how many), `branches`, `reads`,
            `writes` and `draws` (texts, with the line); `refusal`, why the function is called as it is, or None; and
            `again`, which says of each reason how often the function was recorded again for it.

        Notes
        -----
        Cost: that of a call, and some microseconds for each thing that was read.

        Examples
        --------
        >>> import hoad
        >>> rate = 2.0
        >>> print(hoad.jit(lambda x: rate * x**2 if x > 0 else -x).report(1.5))
        <lambda>: 1 recorded for these arguments
        recording 0: ... operations
        ...
            the global rate (...
        """
        return self.driver.report(self, args, kwargs)

    def bound(self, *args, out=None):
        """A function of nothing that makes this call: ``bound(x, out=y)()`` is ``f(x, out=y)``.

        Parameters
        ----------
        *args
            The arguments of the function: arrays that are filled in place before each call, and whatever is the same.
        out : array or tuple of arrays, optional
            Where the result is written.

        Returns
        -------
        callable
            It takes no arguments, and returns what the jitted function returns.

        Notes
        -----
        Units are those of the function. Cost: with one result into `out`, what was replayed last is not searched for,
        so that a call of a few operations takes about 0.1 microseconds.

        Examples
        --------
        >>> import numpy as np
        >>> import hoad
        >>> x, slope = np.zeros(2), np.empty(2)
        >>> call = hoad.jit(hoad.grad(lambda x: np.sum(x**3))).bound(x, out=slope)
        >>> x[:] = 1.0, 2.0
        >>> call()
        array([ 3., 12.])
        """
        return self.driver.bound(self, args, out)

    def program(self, *args, **kwargs):
        """The program that a call with these arguments runs; it is recorded if there is none yet.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the function.

        Returns
        -------
        Program
            One tape, whose inputs are the floats and arrays among the arguments.
        """
        return self.driver.program(self, args, kwargs)

    cdef CallSignature signature_of(self, PyObject** args, Py_ssize_t n, PyObject* names, Py_ssize_t out_at,
                                    list leaves):
        """The signature that arguments fit, or None; `leaves` for those in containers or by name, or None."""
        cdef CallSignature signature
        cdef list signatures = self.signatures
        cdef bint is_plain = names == NULL or PyTuple_GET_SIZE(names) == (out_at >= 0)
        cdef Py_ssize_t k
        for k in range(len(signatures)):
            signature = <CallSignature>signatures[k]
            if (is_plain and signature.fits(args, n)) or (
                    leaves is not None and signature.fits_form(args, n, names, out_at, leaves)):
                if k:
                    self.signatures = [signature, *[other for other in signatures if other is not signature]]
                return signature
        return None

    def replayed(self, CallSignature signature not None, list leaves not None, out, bint only_computes=False):
        """(what became of the replay: "done", "other" or "raised"; what the function gives) for these leaves."""
        cdef tuple given = tuple(leaves)
        found = signature.replay(&(<PyTupleObject*>given).ob_item[0], out, only_computes)
        if found is NEXT or found is FAILED:
            return "other" if found is NEXT else "raised", None
        return "done", found


cdef object call(PyObject* this, PyObject** args, size_t nargsf, PyObject* names):
    """A call is matched here with those before; where none fits, it goes to Python."""
    cdef Jitted jitted = <Jitted>this
    cdef Py_ssize_t n = PyVectorcall_NARGS(nargsf)
    cdef Py_ssize_t n_names = 0 if names == NULL else PyTuple_GET_SIZE(names)
    cdef Py_ssize_t out_at = -1         # among the names
    cdef Py_ssize_t k
    cdef CallSignature signature = None
    cdef object out = None
    cdef object found = None
    cdef list leaves = None
    for k in range(n_names if jitted.takes_out else 0):
        if <object>PyTuple_GET_ITEM(names, k) == "out":
            out_at, out = k, <object>args[n + k]
    if not is_watched() and not is_recorded():
        if n_names > (out_at >= 0) or holds_container(args, n):
            leaves = []
        signature = jitted.signature_of(args, n, names, out_at, leaves)
        if signature is not None:
            if out_at < 0 and not signature.recorded and signature.is_refused():
                return PyObject_Vectorcall(jitted.__wrapped__, args, n, names)
            found = signature.replay(
                args if signature.form is None else (<PyListObject*>leaves).ob_item, out, False)
            if found is not NEXT and found is not FAILED:
                return found
    kwargs = {<object>PyTuple_GET_ITEM(names, k): <object>args[n + k] for k in range(n_names) if k != out_at}
    return jitted.driver.call(jitted, tuple([<object>args[k] for k in range(n)]), kwargs, out, signature,
                              found is FAILED)


cdef inline bint holds_container(PyObject** args, Py_ssize_t n) noexcept:
    """Whether a tuple, a list or a dict is among arguments."""
    cdef Py_ssize_t k
    for k in range(n):
        if type(<object>args[k]) is tuple or type(<object>args[k]) is list or type(<object>args[k]) is dict:
            return True
    return False


cdef bint is_watched() except -1:
    """Whether something looks at results in this context."""
    return watchers.is_used and len(watchers.get()) > 0


cdef int let_vectorcall(type cls, Py_ssize_t offset) except -1:
    """Let objects of a class be called by the protocol that makes no tuple of arguments, by what lies at an offset."""
    cdef PyTypeObject* kind = <PyTypeObject*>cls
    kind.tp_vectorcall_offset = offset
    kind.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL
    kind.tp_call = PyVectorcall_Call
    return 0


def _install():
    """Let jitted functions be called so."""
    cdef Jitted some = Jitted.__new__(Jitted)
    let_vectorcall(Jitted, <char*>&some.vectorcall - <char*><PyObject*>some)


_install()
