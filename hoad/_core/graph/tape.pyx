"""Graphs and abstract values: the storage under every tape."""

import math
from pickle import UnpicklingError

import numpy as np

cimport cython
from cpython.list cimport PyList_GET_ITEM
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF, Py_XINCREF
from libc.math cimport NAN
from libc.string cimport memcmp, memcpy, memset

cimport numpy as cnp

from hoad._core.base.blocks cimport HOAD_CHECKED, HUGE, give, reserve as reserve_rows, resized
from hoad._core.base.where cimport line_of, user_code, user_position

cnp.import_array()

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept nogil


# ---- abstract values ------------------------------------------------------------------------------------------------

@cython.no_gc
cdef class AbstractValue:
    """What is known of a value before it is computed: dtype and shape."""

    def __repr__(self):
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"

    def __reduce__(self):
        return checked_aval, aval_key(self)


cdef int MOST_AXES = 64              # of NumPy's arrays
cdef object MOST_BYTES = 1 << 47        # that a machine can address

# How many abstract values are made until those that nothing uses are given back. A checked build gives them back soon,
# and their numbers to no other, so that a number that is used without being held is found.
cdef enum:
    SPARE_AVALS = 4096
    SPARE_AVALS_CHECKED = 16
    MOST_DTYPES = 64        # whose tables stay when they are empty

cdef list AVALS = []                # by number
cdef list FREE_NUMBERS = []
cdef dict TABLES = {}               # dtype -> {shape: AbstractValue}
cdef int32_t n_avals = 0
cdef int32_t sweep_at = SPARE_AVALS_CHECKED if HOAD_CHECKED else SPARE_AVALS
cdef int64_t n_sweeps = 0
cdef AbstractValue GONE = AbstractValue.__new__(AbstractValue)     # what stands under a number that was given back
GONE.number = -1
cdef type ndarray = np.ndarray
cdef object FLOAT64 = np.dtype(np.float64)


cpdef AbstractValue intern_aval(object dtype, tuple shape):
    """The one `AbstractValue` of this dtype and shape."""
    if dtype not in TABLES:
        dtype = np.dtype(dtype)
    cdef dict table = TABLES.setdefault(dtype, {})
    cdef AbstractValue aval = table.get(shape)
    if aval is not None:
        aval.used = n_sweeps
    else:
        aval = AbstractValue.__new__(AbstractValue)
        aval.dtype = dtype
        aval.shape = shape
        aval.ndim = len(shape)
        aval.itemsize = aval.dtype.itemsize
        aval.size = 1
        for n in shape:
            aval.size *= n
        aval.inexact = aval.dtype.kind in "fc"
        aval.is_float64 = aval.dtype == np.float64
        aval.is_complex = aval.dtype.kind == "c"
        aval.used = n_sweeps
        add_aval(aval)
    return aval


cdef int add_aval(AbstractValue aval) except -1:
    """Number a new abstract value, and give back those that are out of use when there are many."""
    global n_avals
    if FREE_NUMBERS:
        aval.number = FREE_NUMBERS.pop()
        AVALS[aval.number] = aval
    else:
        aval.number = len(AVALS)
        AVALS.append(aval)
    TABLES.setdefault(aval.dtype, {})[aval.shape] = aval
    n_avals += 1
    if n_avals >= sweep_at:
        sweep_avals()
    return 0


cdef int sweep_avals() except -1:
    """Give back the abstract values that nothing holds and nobody asked for or let go since the last sweep.

    What keeps a number beyond the call that found it holds the abstract value: `hold_aval`. So a number that is only
    passed on stays for thousands of others.
    """
    global n_avals, n_sweeps, sweep_at
    cdef PyObject* found
    cdef int32_t i
    memset(SHAPES, 0, sizeof(SHAPES))
    for i in range(AVAL_BOOL + 1, <int32_t>len(AVALS)):
        found = PyList_GET_ITEM(AVALS, i)
        if found == <PyObject*>GONE or found.ob_refcnt > 2 or (<AbstractValue>found).used >= n_sweeps:
            continue        # the list and the table are two
        TABLES[(<AbstractValue>found).dtype].pop((<AbstractValue>found).shape)
        AVALS[i] = GONE
        n_avals -= 1
        if not HOAD_CHECKED:
            FREE_NUMBERS.append(i)
    if len(TABLES) > MOST_DTYPES:
        for dtype in list(TABLES):
            if not TABLES[dtype]:
                TABLES.pop(dtype)
    n_sweeps += 1
    sweep_at = n_avals + max(SPARE_AVALS_CHECKED if HOAD_CHECKED else SPARE_AVALS, n_avals // 2)
    return 0


cdef void hold_aval(int32_t number) noexcept:
    """Keep an abstract value until `release_aval`, for who remembers its number."""
    if number > AVAL_BOOL:
        Py_INCREF(<object>PyList_GET_ITEM(AVALS, number))


cdef void release_aval(int32_t number) noexcept:
    cdef PyObject* found
    if number > AVAL_BOOL:
        found = PyList_GET_ITEM(AVALS, number)
        (<AbstractValue>found).used = n_sweeps
        Py_DECREF(<object>found)


def aval_count():
    """How many abstract values there are."""
    return n_avals


def aval_key(AbstractValue aval not None):
    """What `checked_aval` makes it of, elsewhere too."""
    return aval.dtype.newbyteorder("<").str, tuple([int(n) for n in aval.shape])


def checked_aval(dtype, shape):
    """The `AbstractValue` of a dtype, in the byte order of this machine, and a shape, both out of a pickle."""
    if type(dtype) is not str or type(shape) is not tuple or not all([type(n) is int and n >= 0 for n in shape]):
        raise UnpicklingError(f"{dtype!r} and {shape!r} in this pickle are not a dtype and a shape")
    kind = np.dtype(dtype).newbyteorder("=")
    if kind.kind not in "biufc" or kind.itemsize > 16 or len(shape) > MOST_AXES or (
            math.prod([max(n, 1) for n in shape]) > MOST_BYTES // kind.itemsize):
        raise UnpicklingError(f"no array of numbers has the dtype {dtype!r} and the shape {shape!r} in this pickle")
    return intern_aval(kind, shape)


assert intern_aval(np.dtype(np.float64), ()).number == AVAL_FLOAT
assert intern_aval(np.dtype(np.bool_), ()).number == AVAL_BOOL


cdef AbstractValue aval_of(int32_t number):
    if HOAD_CHECKED and AVALS[number] is GONE:
        raise AssertionError(f"the abstract value {number} was given back while it was in use")
    return <AbstractValue>AVALS[number]


cdef bint is_plain_float64(cnp.ndarray array) noexcept:
    """Whether an array holds float64 in the byte order of the machine."""
    return cnp.PyArray_TYPE(array) == cnp.NPY_DOUBLE and cnp.PyArray_ISNOTSWAPPED(array)


# Shapes of float64 arrays that were asked for lately.
cdef struct KnownShape:
    int32_t number          # of the abstract value, or 0
    int ndim
    cnp.npy_intp[3] dims

cdef enum:
    MOST_SHAPES = 64

cdef KnownShape SHAPES[MOST_SHAPES]


cdef int32_t aval_number(object array) except -1:
    """The number of an array's abstract value; float64 arrays are found by shape alone."""
    cdef AbstractValue found
    cdef KnownShape* known = NULL
    cdef uint64_t h = 0
    cdef int ndim, d
    if type(array) is not ndarray or not is_plain_float64(<cnp.ndarray>array):
        return intern_aval(array.dtype, array.shape).number
    cdef const cnp.npy_intp* dims = cnp.PyArray_DIMS(<cnp.ndarray>array)
    ndim = cnp.PyArray_NDIM(<cnp.ndarray>array)
    if 0 < ndim <= 3:
        for d in range(ndim):
            h = h * 31 + <uint64_t>dims[d]
        known = &SHAPES[(h * <uint64_t>0x9E3779B97F4A7C15) >> 58]
        if known.number and known.ndim == ndim and memcmp(known.dims, dims, ndim * sizeof(cnp.npy_intp)) == 0:
            (<AbstractValue>PyList_GET_ITEM(AVALS, known.number)).used = n_sweeps
            return known.number
    found = intern_aval(FLOAT64, array.shape)
    if known != NULL:
        known.number, known.ndim = found.number, ndim
        memcpy(known.dims, dims, ndim * sizeof(cnp.npy_intp))
    return found.number


cdef enum:
    ONE = 1 << 8        # traced values of an array, counted in the flags of its node where arrays are forgotten
    MANY = 255 << 8     # so many that they are not counted any more

cdef int64_t DROPPED = 1 if HOAD_CHECKED else 1 << 14   # bytes of an array from which on it is worth to be forgotten
cdef Restore restore_array = NULL       # what `hoad._core.ops.eager` puts in


# ---- graphs ---------------------------------------------------------------------------------------------------------

cdef void shrink(void** table, int32_t* capacity, int32_t wanted, size_t itemsize) noexcept:
    """Give back what lies beyond `wanted` rows of a long table, if that is much."""
    if capacity[0] * itemsize <= HUGE or capacity[0] - wanted < capacity[0] // 4:
        return
    wanted = max(wanted, 64)
    cdef void* moved = resized(table[0], capacity[0] * itemsize, wanted * itemsize)
    if moved != NULL:
        table[0] = moved
        capacity[0] = wanted


cdef inline void copy(void* to, const void* origin, size_t nbytes) noexcept:
    """memcpy, which may not be given the NULL of an empty table."""
    if nbytes:
        memcpy(to, origin, nbytes)


cdef class Graph:
    """Nodes, operands, constants and values of one recording and of all that was derived from it."""

    def __cinit__(self, bint valued=True):
        self.valued = valued
        self.thread = PyThread_get_thread_ident()
        memset(self.const_cache, 0, sizeof(self.const_cache))

    def __dealloc__(self):
        release_tables(self)

    cdef void close(self) noexcept:
        """End the recording: traced values of it raise from now on, and the tables are given back."""
        self.thread = 0
        release_tables(self)

    cdef void release_const(self, int32_t i) noexcept:
        if self.consts[i].aval > AVAL_BOOL:
            Py_XDECREF(self.consts[i].value.o)
            release_aval(self.consts[i].aval)

    cdef void trim(self) noexcept:
        """Give back the room of long tables; the next tape on this graph asks for it again."""
        cdef int32_t slots_capacity, nodes_capacity
        restore(self)
        slots_capacity = nodes_capacity = self.capacity
        shrink(<void**>&self.slots, &slots_capacity, self.size, sizeof(Slot))
        shrink(<void**>&self.nodes, &nodes_capacity, self.size, sizeof(Node))
        self.capacity = min(slots_capacity, nodes_capacity)
        shrink(<void**>&self.consts, &self.cap_consts, self.n_consts, sizeof(Const))

    # ---- appending

    cdef int reserve(self, int32_t more) except -1:
        """Make room for more nodes."""
        restore(self)
        cdef int32_t slots_capacity = self.capacity
        reserve_rows(<void**>&self.slots, &slots_capacity, <int64_t>self.size + more, sizeof(Slot))
        reserve_rows(<void**>&self.nodes, &self.capacity, <int64_t>self.size + more, sizeof(Node))
        if self.positions is not None and self.thread:
            watch_next(self)
        return 0

    # ---- watched recordings: every node keeps the user's line. Appending is not slowed down for it elsewhere, since a
    # watched graph has room for one node only, so that the next one comes through `reserve`

    cdef int watch(self) except -1:
        """Keep the user's line of every node from now on, and whose derivative it is."""
        self.positions = []
        self.sweeps = []
        withhold(self)
        return 0

    cdef int32_t push(self, uint16_t op, uint16_t flags, int32_t a, int32_t b, double value) except -1:
        """Append a node; the table grows if it is full."""
        if self.size == self.capacity:
            self.reserve(1)
        return push_valued(self, op, flags, a, b, value)

    cdef int32_t push_wide(self, uint16_t op, uint16_t flags, object sig, const int32_t* operands, int32_t count,
                           int32_t aval) except -1:
        """Append a node with an extension row; array nodes of a valued recording keep the user's line."""
        cdef int32_t row = self.n_wide_nodes
        reserve_rows(<void**>&self.wide_nodes, &self.cap_wide_nodes, <int64_t>row + 1, sizeof(WideNode))
        reserve_rows(<void**>&self.pool, &self.cap_pool, <int64_t>self.n_pool + count + 1, sizeof(int32_t))
        cdef WideNode* wide = &self.wide_nodes[row]
        wide.first = self.n_pool
        wide.count = count
        if count:
            memcpy(self.pool + self.n_pool, operands, count * sizeof(int32_t))
        self.n_pool += count
        Py_INCREF(sig)
        wide.sig = <PyObject*>sig
        wide.code = NULL
        wide.at = 0
        wide.aval = aval
        hold_aval(aval)
        self.n_wide_nodes = row + 1
        if op == OP_EIGH or op == OP_SVD or op == OP_FULL_SVD:
            self.has_factors = True
        if aval == AVAL_BOOL:
            flags |= F_BOOL
        return self.push(op, flags | F_WIDE, row, aval, NAN)

    cdef int set_position(self, int32_t node) except -1:
        cdef WideNode* wide = &self.wide_nodes[self.nodes[node].a]
        wide.code = user_code(&wide.at)
        return 0

    cdef int set_object(self, int32_t node, object value) except -1:
        """Give `node` its value: a float or boolean for scalars, else an ndarray."""
        cdef Node* row = &self.nodes[node]
        if operand_aval(self, node) > AVAL_BOOL:
            Py_INCREF(value)
            if row.flags & F_OBJ:
                Py_XDECREF(self.slots[node].o)
            self.slots[node].o = <PyObject*>value
            row.flags |= F_OBJ | F_VALUED
            self.has_objects = True
        else:
            self.slots[node].d = <double>value
            row.flags |= F_VALUED
        return 0

    cdef int32_t push_const(self, int32_t aval) except -1:
        cdef int32_t i = self.n_consts
        reserve_rows(<void**>&self.consts, &self.cap_consts, <int64_t>i + 1, sizeof(Const))
        self.consts[i].aval = aval
        hold_aval(aval)
        self.has_truths |= aval == AVAL_BOOL
        self.n_consts = i + 1
        return i

    cdef int32_t const_float(self, double value) except? -1:
        """The constant operand of this value; the last few are found again, by their bits (so -0.0 and nan too)."""
        cdef uint64_t bits
        memcpy(&bits, &value, sizeof(bits))
        cdef int slot = <int>((bits * <uint64_t>0x9E3779B97F4A7C15) >> 58)
        cdef int32_t i = self.const_cache[slot] - 1
        if 0 <= i < self.n_consts and self.consts[i].aval == AVAL_FLOAT:
            if memcmp(&self.consts[i].value.d, &bits, sizeof(bits)) == 0:
                return ~i
        i = self.push_const(AVAL_FLOAT)
        self.consts[i].value.d = value
        self.const_cache[slot] = i + 1
        return ~i

    cdef int32_t const_bool(self, bint value) except? -1:
        cdef int32_t i = self.push_const(AVAL_BOOL)
        self.consts[i].value.d = 1.0 if value else 0.0
        return ~i

    cdef int32_t const_object(self, object array) except? -1:
        """The constant operand of this ndarray, which must not change any more."""
        cdef int32_t aval = aval_number(array)
        cdef int32_t i
        cdef int slot = -1
        if aval == AVAL_FLOAT:
            return self.const_float(<double>array[()])
        if aval == AVAL_BOOL:
            return self.const_bool(<bint>array[()])
        if cnp.PyArray_NDIM(<cnp.ndarray>array) == 0:
            i = known_number(self, array, aval, &slot)
            if i >= 0:
                return ~i
        i = self.push_const(aval)
        Py_INCREF(array)
        self.consts[i].value.o = <PyObject*>array
        if slot >= 0:
            self.const_cache[slot] = i + 1
        return ~i

    cdef object copy_of(self, object array):
        """The constant that holds a captured array as it was, or None."""
        cdef tuple known = None if self.captured is None else self.captured.get(id(array))
        if known is None or <int32_t>known[1] < ~(self.n_consts - 1):
            return None
        return <object>self.consts[~<int32_t>known[1]].value.o

    cdef int32_t capture(self, object array) except? -1:
        """The constant operand for an array of the user's, as it is now."""
        cdef object key = id(array)
        if cnp.PyArray_NDIM(<cnp.ndarray>array) == 0:
            return self.const_object(in_native_order(np.array(array)))
        if self.captured is None:
            self.captured = {}
            self.captured_order = []
        cdef object copy = self.copy_of(array)
        if copy is not None and same_bytes(array, copy):
            return <int32_t>self.captured[key][1]
        cdef int32_t operand = self.const_object(plain_copy(<cnp.ndarray>array))
        self.captured[key] = (array, operand)
        self.captured_order.append(key)
        return operand

    cdef int add_guard(self, int32_t node, Slot expected, bint is_object) except -1:
        cdef tuple position = user_position()
        reserve_rows(<void**>&self.guards, &self.cap_guards, <int64_t>self.n_guards + 1, sizeof(Guard))
        cdef Guard* guard = &self.guards[self.n_guards]
        guard.node = node
        guard.expected = expected
        guard.is_object = is_object
        if is_object:
            Py_INCREF(<object>expected.o)
        guard.code = NULL
        guard.line = position[1]
        if position[0] is not None:
            Py_INCREF(position[0])
            guard.code = <PyObject*>position[0]
        self.n_guards += 1
        return 0

    # ---- running derivatives

    cdef int enter(self) except -1:
        """Begin a nested derivative here."""
        cdef int32_t capacity = self.cap_scopes
        reserve_rows(<void**>&self.scopes, &capacity, <int64_t>self.n_scopes + 1, sizeof(Scope))
        self.cap_scopes = capacity
        self.scopes[self.n_scopes] = self.scope
        self.n_scopes += 1
        self.entries += 1
        self.scope.start = self.size
        self.scope.n_consts = self.n_consts
        self.scope.n_wide_nodes = self.n_wide_nodes
        self.scope.n_pool = self.n_pool
        self.scope.n_guards = self.n_guards
        self.scope.live = 0
        return 0

    cdef int leave(self) except -1:
        """End the innermost derivative; what it left alive counts for the one around it."""
        cdef int64_t live = self.scope.live
        self.n_scopes -= 1
        self.scope = self.scopes[self.n_scopes]
        self.scope.live += live
        return 0

    cdef int rewind(self, Scope to) except -1:
        """Forget all rows beyond `to`. The caller has made sure that nothing refers to them."""
        cdef int64_t k = 3 * <int64_t>(to.start - self.notes_start)
        drop_beyond(self, to)
        while self.bodies is not None and <int32_t>self.bodies[-1][0] >= to.start:
            self.bodies.pop()
            self.bodies = self.bodies or None
        if self.positions is not None and self.thread:
            withhold(self)
            while self.sweeps and <int32_t>self.sweeps[-1][0] >= to.start:
                self.sweeps.pop()
            if self.cap_notes > k:
                memset(self.notes + k, 0xFF, (self.cap_notes - k) * sizeof(int32_t))
        return self.forget_captured(to.n_consts)

    cdef int forget_captured(self, int32_t n_consts) except -1:
        """Forget captured arrays whose constants lie beyond: an entry would name another one later."""
        cdef tuple known
        while self.captured_order:
            known = self.captured.get(self.captured_order[-1])
            if known is not None and ~<int32_t>known[1] < n_consts:
                break
            self.captured.pop(self.captured_order.pop(), None)
        return 0

    cdef void held(self, int32_t operand) noexcept:
        """A traced value of `operand` has been made."""
        if self.drops and operand >= 0 and self.nodes[operand].flags & F_OBJ:
            if self.nodes[operand].flags < MANY:
                self.nodes[operand].flags += ONE
        count_alive(self, operand, 1)

    cdef void released(self, int32_t operand) noexcept:
        """A traced value of `operand` has died."""
        if self.drops and 0 <= operand < self.size and self.nodes[operand].flags & F_OBJ:
            let_go(self, operand)
        if operand >= self.scope.start:
            self.scope.live -= 1
        else:
            count_alive(self, operand, -1)

    # ---- reading

    cdef object value_of(self, int32_t operand):
        """The value of an operand as Python sees it: float, bool or ndarray; None when it has none."""
        cdef Slot slot
        cdef int32_t aval = operand_aval(self, operand)
        if operand < 0:
            slot = self.consts[~operand].value
        else:
            if is_missing(self, operand):
                restore_array(self, operand)
            if not self.nodes[operand].flags & F_VALUED:
                return None
            slot = self.slots[operand]
        if aval == AVAL_FLOAT:
            return slot.d
        if aval == AVAL_BOOL:
            return slot.d != 0.0
        return <object>slot.o

    cdef void drop_notes(self) noexcept:
        """Forget whose adjoints or tangents the nodes are."""
        give(self.notes, self.cap_notes * sizeof(int32_t))
        self.notes = NULL
        self.cap_notes = 0

    cdef int note(self, int32_t node, int32_t swept, int32_t target, int32_t part) except -1:
        """Remember which swept node emitted `node`, whose adjoint or tangent it is, and which contribution to it."""
        cdef int64_t k = 3 * <int64_t>(node - self.notes_start)
        cdef int32_t known = self.cap_notes
        reserve_rows(<void**>&self.notes, &self.cap_notes, k + 3, sizeof(int32_t))
        memset(self.notes + known, 0xFF, (self.cap_notes - known) * sizeof(int32_t))
        self.notes[k] = swept
        self.notes[k + 1] = target
        self.notes[k + 2] = part
        return 0

    cdef bint is_noted(self, int32_t node) noexcept:
        """Whether it is remembered whose adjoint or tangent `node` is."""
        cdef int32_t k = 3 * (node - self.notes_start) + 1
        return 0 < k < self.cap_notes and self.notes[k] >= 0

    cpdef object where(self, int32_t node):
        """'file:line' of the user's code that recorded an array node, or any node of a watched recording; or None."""
        if self.positions is not None and 0 <= node < len(self.positions):
            code, line = self.positions[node]
            return None if code is None else f"{code.co_filename}:{line}"
        if node < 0 or not self.nodes[node].flags & F_WIDE:
            return None
        cdef WideNode* wide = &self.wide_nodes[self.nodes[node].a]
        if wide.code == NULL:
            return None
        return f"{(<object>wide.code).co_filename}:{line_of(wide.code, wide.at)}"

    cdef Graph fork(self, int32_t size, int32_t n_guards):
        """A graph with the first nodes and guards of this one, for a second tape on the same beginning."""
        cdef Graph other = Graph(self.valued)
        cdef int32_t i
        other.thread = 0
        other.reserve(2 * size + size // 2)     # another tape is to follow
        reserve_rows(<void**>&other.consts, &other.cap_consts, self.n_consts, sizeof(Const))
        reserve_rows(<void**>&other.wide_nodes, &other.cap_wide_nodes, self.n_wide_nodes, sizeof(WideNode))
        reserve_rows(<void**>&other.pool, &other.cap_pool, self.n_pool, sizeof(int32_t))
        reserve_rows(<void**>&other.guards, &other.cap_guards, self.n_guards, sizeof(Guard))
        copy(other.nodes, self.nodes, size * sizeof(Node))
        copy(other.slots, self.slots, size * sizeof(Slot))
        copy(other.consts, self.consts, self.n_consts * sizeof(Const))
        copy(other.wide_nodes, self.wide_nodes, self.n_wide_nodes * sizeof(WideNode))
        copy(other.pool, self.pool, self.n_pool * sizeof(int32_t))
        copy(other.guards, self.guards, n_guards * sizeof(Guard))
        other.n_guards = n_guards
        other.size = size
        other.n_consts = self.n_consts
        other.n_wide_nodes = self.n_wide_nodes
        other.n_pool = self.n_pool
        other.has_objects = self.has_objects
        other.has_truths = self.has_truths
        other.has_factors = self.has_factors
        other.positions = None if self.positions is None else self.positions[:size]
        other.sweeps = self.sweeps if isinstance(self.sweeps, dict) else None
        for i in range(size if other.has_objects else 0):
            if other.nodes[i].flags & F_OBJ:
                Py_XINCREF(other.slots[i].o)
        for i in range(other.n_wide_nodes):
            Py_XINCREF(other.wide_nodes[i].sig)
            Py_XINCREF(other.wide_nodes[i].code)
            hold_aval(other.wide_nodes[i].aval)
        for i in range(other.n_consts):
            if other.consts[i].aval > AVAL_BOOL:
                Py_XINCREF(other.consts[i].value.o)
                hold_aval(other.consts[i].aval)
        for i in range(other.n_guards):
            if other.guards[i].is_object:
                Py_XINCREF(other.guards[i].expected.o)
            Py_XINCREF(other.guards[i].code)
        return other


cdef void let_go(Graph graph, int32_t i) noexcept:
    """Forget a large array that no rule reads, if this was the last traced value of the node."""
    cdef Node* node = &graph.nodes[i]
    if ONE <= node.flags < MANY:
        node.flags -= ONE
    if node.flags >= ONE or not may_drop(graph) or not node.flags & F_SPARE or not node.flags & F_VALUED:
        return
    if cnp.PyArray_NBYTES(<cnp.ndarray>graph.slots[i].o) >= DROPPED:
        node.flags &= ~F_VALUED
        Py_XDECREF(graph.slots[i].o)
        graph.slots[i].o = NULL


cdef void connect_values(Restore restored) noexcept:
    """Say how an array is computed again."""
    global restore_array
    restore_array = restored


cdef void release_tables(Graph graph) noexcept:
    cdef Scope nothing
    graph.drops = False
    memset(&nothing, 0, sizeof(nothing))
    drop_beyond(graph, nothing)
    restore(graph)
    give(graph.nodes, graph.capacity * sizeof(Node))
    give(graph.slots, graph.capacity * sizeof(Slot))
    give(graph.consts, graph.cap_consts * sizeof(Const))
    give(graph.wide_nodes, graph.cap_wide_nodes * sizeof(WideNode))
    give(graph.pool, graph.cap_pool * sizeof(int32_t))
    give(graph.guards, graph.cap_guards * sizeof(Guard))
    give(graph.notes, graph.cap_notes * sizeof(int32_t))
    give(graph.scopes, graph.cap_scopes * sizeof(Scope))
    graph.nodes = NULL
    graph.slots = NULL
    graph.consts = NULL
    graph.wide_nodes = NULL
    graph.pool = NULL
    graph.guards = NULL
    graph.notes = NULL
    graph.scopes = NULL
    graph.capacity = graph.cap_consts = graph.cap_wide_nodes = graph.cap_pool = graph.cap_guards = 0
    graph.cap_notes = 0
    graph.n_scopes = graph.cap_scopes = 0
    graph.captured = None
    graph.positions = graph.sweeps = graph.bodies = None


cdef void drop_beyond(Graph graph, Scope to) noexcept:
    """Release what rows beyond `to` hold, and forget them."""
    cdef int32_t i
    for i in range(to.start, graph.size if graph.has_objects else 0):
        if graph.nodes[i].flags & F_OBJ:
            Py_XDECREF(graph.slots[i].o)
    for i in range(to.n_wide_nodes, graph.n_wide_nodes):
        Py_XDECREF(graph.wide_nodes[i].sig)
        Py_XDECREF(graph.wide_nodes[i].code)
        release_aval(graph.wide_nodes[i].aval)
    for i in range(to.n_consts, graph.n_consts):
        graph.release_const(i)
    for i in range(to.n_guards, graph.n_guards):
        if graph.guards[i].is_object:
            Py_XDECREF(graph.guards[i].expected.o)
        Py_XDECREF(graph.guards[i].code)
    graph.size = to.start
    graph.n_wide_nodes = to.n_wide_nodes
    graph.n_pool = to.n_pool
    graph.n_consts = to.n_consts
    graph.n_guards = to.n_guards


cdef int watch_next(Graph graph) except -1:
    """Keep the user's line of the node that is about to be appended."""
    cdef tuple position = user_position()
    del graph.positions[graph.size:]
    graph.positions += [position] * (graph.size + 1 - len(graph.positions))
    graph.withheld = graph.capacity - graph.size - 1
    graph.capacity = graph.size + 1
    return 0


cdef void withhold(Graph graph) noexcept:
    graph.withheld += graph.capacity - graph.size
    graph.capacity = graph.size


cdef void restore(Graph graph) noexcept:
    graph.capacity += graph.withheld
    graph.withheld = 0


cdef int32_t known_number(Graph graph, object array, int32_t aval, int* slot) except? -2:
    """The constant of this number of another dtype than float64, or -1, and where to keep it if it fits there."""
    cdef uint64_t words[2]
    cdef size_t n = array.itemsize
    if n > sizeof(words):
        return -1
    words[0] = words[1] = 0
    memcpy(words, cnp.PyArray_DATA(<cnp.ndarray>array), n)
    slot[0] = <int>(((words[0] * 31 + words[1]) * <uint64_t>0x9E3779B97F4A7C15) >> 58)
    cdef int32_t i = graph.const_cache[slot[0]] - 1
    if (0 <= i < graph.n_consts and graph.consts[i].aval == aval
            and memcmp(cnp.PyArray_DATA(<cnp.ndarray>graph.consts[i].value.o), words, n) == 0):
        return i
    return -1


cdef void count_alive(Graph graph, int32_t operand, int change) noexcept:
    """Count a traced value for the derivative that its node or constant belongs to."""
    cdef bint constant = operand < 0
    cdef int32_t row = ~operand if constant else operand
    cdef int k
    if operand == ZERO:
        return
    if row >= (graph.scope.n_consts if constant else graph.scope.start):
        graph.scope.live += change
        return
    for k in range(graph.n_scopes - 1, -1, -1):
        if row >= (graph.scopes[k].n_consts if constant else graph.scopes[k].start):
            graph.scopes[k].live += change
            return


cdef object in_native_order(object array):
    """The array in the byte order of the machine, which the kernels read."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


cdef object plain_copy(cnp.ndarray array):
    """A contiguous array of NumPy's own class, in the byte order of the machine, with what an array holds now."""
    cdef object made
    if type(array) is ndarray and is_plain_float64(array) and cnp.PyArray_IS_C_CONTIGUOUS(array):
        made = cnp.PyArray_SimpleNew(cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array), cnp.NPY_DOUBLE)
        memcpy(cnp.PyArray_DATA(<cnp.ndarray>made), cnp.PyArray_DATA(array), cnp.PyArray_NBYTES(array))
        return made
    made = cnp.PyArray_NewCopy(array, cnp.NPY_CORDER)
    if type(made) is not ndarray or not cnp.PyArray_ISNOTSWAPPED(<cnp.ndarray>made):
        made = np.array(in_native_order(made), subok=False)
    return made


cdef bint same_bytes(object array, object copy):
    """Whether `array` still holds the bytes of `copy`."""
    cdef cnp.ndarray a = <cnp.ndarray>array
    cdef cnp.ndarray b = <cnp.ndarray>copy
    cdef int d
    if cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(b) or cnp.PyArray_NDIM(a) != cnp.PyArray_NDIM(b):
        return False
    if not cnp.PyArray_ISNOTSWAPPED(a):
        return False
    for d in range(cnp.PyArray_NDIM(a)):
        if cnp.PyArray_DIM(a, d) != cnp.PyArray_DIM(b, d):
            return False
    if not cnp.PyArray_IS_C_CONTIGUOUS(a):
        a = <cnp.ndarray>cnp.PyArray_NewCopy(a, cnp.NPY_CORDER)
    return memcmp(cnp.PyArray_DATA(a), cnp.PyArray_DATA(b), cnp.PyArray_NBYTES(b)) == 0
