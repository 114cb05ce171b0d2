"""The tables a tape is made of.

A `Graph` is one growing set of tables; a tape is a sealed window ``[start, end)`` of it. Node numbers and constant
numbers run through the whole graph, so a node of a later tape names a node of an earlier one by number alone.

Operands
    ``>= 0``  a node
    ``< 0``   the constant ``~operand``
    ``ZERO``  the symbolic zero of a sweep (never stored in a node)
"""

from cpython.object cimport PyObject
cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    ZERO = -2147483647 - 1

# What every layer of the core knows by number. The rest of the operations are numbered as they are declared.
cdef enum Op:
    OP_INPUT = 0      # value supplied at every evaluation
    OP_IDENTITY       # where a nested derivative enters
    OP_RESULT         # one more result of a node with several: its operands are (node), and behind them which
    OP_ITEM           # a = float64 array, b = flat offset
    OP_ASSEMBLE       # zeros of one shape, with contributions added at places
    OP_STOP           # identity with zero derivative
    OP_ADD
    OP_SUBTRACT
    OP_MULTIPLY
    OP_DIVIDE
    OP_NEGATIVE
    OP_POWER
    OP_STRONG_MULTIPLY           # 0 where the first factor is 0, else the product
    OP_STRONG_MULTIPLY_BOTH          # 0 where a factor is 0, else the product
    OP_STRONG_DIVIDE           # 0 where the numerator is 0, else the quotient
    OP_MASK           # (c, x): x where c, else a strong zero
    OP_SELECT         # (c, x, y): x where c, else y
    OP_SQUARE
    OP_SQRT
    OP_ABSOLUTE
    OP_FLOOR
    OP_CEIL
    OP_TRUNC
    OP_FLOOR_DIVIDE
    OP_REMAINDER
    OP_FLOAT_POWER
    OP_LESS
    OP_LESS_EQUAL
    OP_GREATER
    OP_GREATER_EQUAL
    OP_EQUAL
    OP_NOT_EQUAL
    OP_LOGICAL_AND
    OP_LOGICAL_OR
    OP_LOGICAL_XOR
    OP_LOGICAL_NOT
    OP_REAL
    OP_IMAG
    OP_COMPLEX
    OP_CONJUGATE
    OP_SLOPE          # the derivative of an absolute value
    OP_SMOOTH         # (x, y): the value of x, with the derivatives of y
    OP_ASTYPE
    OP_BROADCAST_TO
    OP_RESHAPE
    OP_TRANSPOSE
    OP_GETITEM
    OP_GATHER
    OP_PUT
    OP_CONCATENATE
    OP_SUM
    OP_MATMUL
    OP_SOLVE
    OP_INV
    OP_SPECTRAL
    OP_SINGULAR
    OP_EIGH
    OP_SVD
    OP_FULL_SVD
    OP_FIRST_FREE

cdef enum Flag:
    F_WIDE = 1         # a = row of the extension table, b = abstract value
    F_BOOL = 2        # the slot holds a boolean as 0.0 or 1.0
    F_VALUED = 4      # the slot holds a value
    F_STRONG = 8      # zeros in it are strong: they absorb an infinite or undefined factor
    F_OBJ = 16        # the slot holds an ndarray; without F_VALUED, one that is computed again where it is needed
    F_SLOPED = 32     # a product with a slope of |x|, or a sum with such a product: see `sweep.slopes`
    F_SPARE = 64      # no rule reads its array so far, and it can be computed again

cdef struct Node:
    uint16_t op
    uint16_t flags
    int32_t a
    int32_t b

cdef union Slot:
    double d
    PyObject* o

cdef struct Const:
    Slot value
    int32_t aval

cdef struct WideNode:
    PyObject* sig     # Signature: operation, parameters, abstract operands and results
    PyObject* code    # the user's code object, or NULL
    int32_t first     # operands are pool[first : first + count]
    int32_t count
    int32_t at        # where in the code it is, in bytes
    int32_t aval      # as the node says, which may have moved

cdef struct Guard:
    int32_t node
    int32_t line
    Slot expected     # as in the slot of the node
    PyObject* code
    bint is_object

cdef struct Scope:    # a running derivative: what to rewind to, and the traced values alive beyond its start
    int32_t start, n_consts, n_wide_nodes, n_pool, n_guards
    int64_t live
    int32_t repeated    # of a body that runs again and again, that it is or is in: its start, plus one; else 0
    int64_t apart       # of what is recorded apart, that it is or is in: which of all entries that was; else 0

# Abstract values: 0 is a float64 scalar, 1 a boolean; the rest are interned (dtype, shape) pairs. The number of one
# that is out of use is given to another, so what remembers a number holds it: `hold_aval`, `release_aval`.
cdef enum:
    AVAL_FLOAT = 0
    AVAL_BOOL = 1

cdef class AbstractValue:
    cdef readonly int32_t number
    cdef readonly object dtype
    cdef readonly tuple shape
    cdef readonly int64_t size
    cdef readonly int64_t itemsize
    cdef readonly int ndim
    cdef readonly bint inexact
    cdef readonly bint is_float64
    cdef readonly bint is_complex
    cdef int64_t used           # after how many sweeps it was asked for or let go last

cdef AbstractValue aval_of(int32_t number)
cdef void hold_aval(int32_t number) noexcept
cdef void release_aval(int32_t number) noexcept
cpdef AbstractValue intern_aval(object dtype, tuple shape)
cdef int32_t aval_number(object array) except -1
cdef bint is_plain_float64(cnp.ndarray array) noexcept
cdef object in_native_order(object array)
cdef object plain_copy(cnp.ndarray array)
cdef bint same_bytes(object array, object copy)

cdef class Graph:
    cdef Node* nodes
    cdef Slot* slots
    cdef int32_t size, capacity
    cdef Const* consts
    cdef int32_t n_consts, cap_consts
    cdef WideNode* wide_nodes
    cdef int32_t n_wide_nodes, cap_wide_nodes
    cdef int32_t* pool
    cdef int32_t n_pool, cap_pool
    cdef Guard* guards
    cdef int32_t n_guards, cap_guards
    cdef int32_t* notes          # 3 per emitted node: swept node, derivative of, contribution; NULL when not kept
    cdef int32_t notes_start, cap_notes
    cdef list positions          # of a watched recording: the user's (code, line) of every node, else None
    cdef object sweeps           # of a watched one: [(first node, end, mode of the sweep)]; later {node: (swept, mode)}
    cdef int32_t withheld        # rows that are there beyond `capacity`, so that every node asks for its own
    cdef int32_t const_cache[64]
    cdef list captured_order     # its keys, in the order of their constants
    cdef dict captured           # id(array) -> (array, constant): one copy of a captured array while it is unchanged
    cdef unsigned long thread    # owner while recording, 0 once closed
    cdef readonly bint valued
    cdef public bint drops           # large arrays that no rule reads are forgotten with the traced values of theirs
    cdef public bint is_guarded      # what leaves it as a plain number is guarded, as it is replayed by itself
    cdef public bint has_raised      # an operation raised, which a replay elsewhere would not
    cdef readonly bint has_factors   # some node is a factorisation, of which functions are looked for
    cdef bint is_extended        # a new tape is growing on it
    cdef bint has_objects        # some slot holds an ndarray
    cdef bint has_truths         # some constant is a boolean
    cdef Scope* scopes
    cdef int n_scopes, cap_scopes
    cdef int64_t entries         # how many derivatives have begun
    cdef Scope scope             # the innermost running derivative; the ones around it are in frames
    # Bodies of loops and maps that ended while traced values of theirs were alive: (first node, bytes that say of each
    # node from there on whether it depends on what differs from step to step, where they ran). None if there are none.
    cdef list bodies
    cdef str origin              # whose function's traced values have outlived it, for errors
    cdef object __weakref__

    cdef int32_t push(self, uint16_t op, uint16_t flags, int32_t a, int32_t b, double value) except -1
    cdef int reserve(self, int32_t more) except -1
    cdef void trim(self) noexcept
    cdef void release_const(self, int32_t i) noexcept
    cdef int32_t push_wide(self, uint16_t op, uint16_t flags, object sig, const int32_t* operands, int32_t count,
                           int32_t aval) except -1
    cdef int set_object(self, int32_t node, object value) except -1
    cdef int32_t const_float(self, double value) except? -1
    cdef int32_t const_bool(self, bint value) except? -1
    cdef int32_t const_object(self, object array) except? -1
    cdef int32_t capture(self, object array) except? -1
    cdef int add_guard(self, int32_t node, Slot expected, bint is_object) except -1
    cdef int enter(self) except -1
    cdef int leave(self) except -1
    cdef int rewind(self, Scope to) except -1
    cdef object copy_of(self, object array)
    cdef int forget_captured(self, int32_t n_consts) except -1
    cdef void held(self, int32_t operand) noexcept
    cdef void released(self, int32_t operand) noexcept
    cdef object value_of(self, int32_t operand)
    cdef int note(self, int32_t node, int32_t swept, int32_t target, int32_t part) except -1
    cdef bint is_noted(self, int32_t node) noexcept
    cpdef object where(self, int32_t node)
    cdef Graph fork(self, int32_t size, int32_t n_guards)
    cdef void close(self) noexcept
    cdef int set_position(self, int32_t node) except -1
    cdef int watch(self) except -1
    cdef int32_t push_const(self, int32_t aval) except -1
    cdef void drop_notes(self) noexcept

ctypedef int (*Restore)(Graph graph, int32_t node) except -1

cdef void connect_values(Restore restored) noexcept

cdef inline bint is_missing(Graph graph, int32_t operand) noexcept:
    """Whether the array of an operand has been forgotten, or was never computed."""
    return operand >= 0 and graph.nodes[operand].flags & (F_OBJ | F_VALUED) == F_OBJ

cdef inline bint may_drop(Graph graph) noexcept:
    return graph.drops and graph.n_scopes == 1

cdef inline int32_t operand_aval(Graph graph, int32_t operand) noexcept:
    if operand < 0:
        return graph.consts[~operand].aval
    cdef Node* node = &graph.nodes[operand]
    if node.flags & F_WIDE:
        return node.b
    return AVAL_BOOL if node.flags & F_BOOL else AVAL_FLOAT

cdef inline const int32_t* node_operands(Graph graph, int32_t node, int32_t* count) noexcept:
    """The operands of `node`, as a pointer that is valid until the graph grows."""
    cdef Node* row = &graph.nodes[node]
    cdef WideNode* wide
    if row.flags & F_WIDE:
        wide = &graph.wide_nodes[row.a]
        count[0] = wide.count
        return graph.pool + wide.first
    count[0] = ARITY[row.op]
    return &row.a

cdef inline int32_t past_results(Graph graph, int32_t end) noexcept:
    """`end`, moved past the further results of a node that lies just before it."""
    while end < graph.size and graph.nodes[end].op == OP_RESULT:
        end += 1
    return end


cdef inline int32_t push_node(Graph graph, uint16_t op, uint16_t flags, int32_t a, int32_t b) except -1:
    """Append a node without a value."""
    cdef int32_t i = graph.size
    if i == graph.capacity:
        return graph.push(op, flags, a, b, 0.0)
    cdef Node* node = &graph.nodes[i]
    node.op = op
    node.flags = flags
    node.a = a
    node.b = b
    graph.size = i + 1
    return i


cdef inline int32_t push_valued(Graph graph, uint16_t op, uint16_t flags, int32_t a, int32_t b, double value) except -1:
    """Append a node with its value."""
    cdef int32_t i = graph.size
    if i == graph.capacity:
        return graph.push(op, flags, a, b, value)
    graph.slots[i].d = value
    return push_node(graph, op, flags, a, b)


cdef uint8_t ARITY[65536]        # operands of a node without an extension row, by operation


cdef inline bint absorbs(int op) noexcept nogil:
    """Whether a strong zero among the operands makes the result one."""
    return op == OP_STRONG_MULTIPLY or op == OP_STRONG_MULTIPLY_BOTH or op == OP_STRONG_DIVIDE
