"""Appending nodes to a graph, each only once: equal operations on equal operands are one node (hash-consing)."""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree

from hoad._core.base.blocks cimport required
from hoad._core.sweep.flags cimport scalar_flags, wide_flags
from hoad._core.graph.primitive cimport INFO
from hoad._core.graph.tape cimport F_STRONG, OP_ASSEMBLE, OP_RESULT, OP_STOP, AbstractValue, WideNode, push_node

cdef enum:
    SMALL_TABLE = 256
    SMALL_BITS = 8
    MOST_LEARNED = 2048
    MOST_FULL = 8192       # rows from which newer nodes push out older ones


cdef inline uint64_t mix(uint64_t h) noexcept nogil:
    h ^= h >> 32
    h *= <uint64_t>0x9E3779B97F4A7C15
    return h ^ (h >> 29)


cdef uint64_t hash_wide(size_t sig, const int32_t* operands, int32_t count) noexcept nogil:
    cdef uint64_t h = mix(<uint64_t>sig)
    cdef int32_t i
    for i in range(count):
        h = mix(h * 31 + <uint64_t><uint32_t>operands[i])
    return h


cdef class Appender:
    """Appends nodes to one graph, each only once, for the length of one sweep.

    Nodes are found by the hash of what they compute. `emit` and `emit_wide`, which simplify first, are those of a
    `Builder`; what simplifies knows this class alone.
    """

    def __cinit__(self, Graph graph, bint simplify=True, bint thorough=False, bint complete=False):
        self.thorough, self.complete = thorough, complete
        self.graph = graph
        self.simplify = simplify
        self.rows = SMALL_TABLE
        self.shift = 64 - SMALL_BITS
        self.table = <TableEntry*>required(PyMem_RawCalloc(self.rows, sizeof(TableEntry)))

    def __dealloc__(self):
        PyMem_RawFree(self.table)

    cdef int32_t emit(self, uint16_t op, int32_t a, int32_t b) except? -1:
        """Append ``op(a, b)`` on scalars, simplified (b is 0 for one operand); returns an operand, or ZERO."""
        raise NotImplementedError

    cdef int32_t emit_wide(self, Primitive primitive, object params, const int32_t* operands, int32_t count,
                           int32_t aval) except? -1:
        """Append a node of any primitive, whose (first) result is `aval`; returns an operand, or ZERO."""
        raise NotImplementedError

    # ---- appending

    cdef int32_t push(self, uint16_t op, int32_t a, int32_t b) except? -1:
        """Append a scalar node, or find an equal one, without simplification."""
        if not self.simplify:
            return push_node(self.graph, op, scalar_flags(self.graph, op, a, b), a, b)
        if INFO[op].commutative and a > b:
            a, b = b, a
        return found_or_pushed(self, op, scalar_flags(self.graph, op, a, b), a, b)

    cdef int32_t push_wide(self, Signature sig, const int32_t* operands, int32_t count) except? -1:
        """Append a node with an extension row and its further results, or find an equal one, without simplification."""
        cdef int32_t node, i
        cdef uint64_t h = 0
        cdef uint16_t flags = 0
        cdef int32_t result[2]
        cdef object strong = None       # of a call: which of its results have strong zeros
        if self.simplify:
            h = hash_wide(<size_t><void*>sig, operands, count)
            node = find_wide(self, h, sig, operands, count)
            if node >= 0:
                return node
        flags = wide_flags(self.graph, sig.primitive, operands, count)
        if sig.primitive.of_programs and sig.params[0]._linear:
            strong = sig.params[0]._strong_results()
            flags = F_STRONG if strong[0] else 0
        node = self.graph.push_wide(sig.primitive.op, flags, sig, operands, count,
                                    (<AbstractValue>sig.results[0]).number)
        if self.simplify:
            remember(self, h, node)
        for i in range(1, sig.primitive.nout):
            result[0] = node
            result[1] = i
            flags = flags if strong is None else F_STRONG if strong[i] else 0
            self.graph.push_wide(OP_RESULT, flags, None, result, 2, (<AbstractValue>sig.results[i]).number)
            self.graph.wide_nodes[self.graph.n_wide_nodes - 1].count = 1
        return node

    cdef int learn(self, int32_t start, int32_t stop) except -1:
        """Make the nodes of ``[start, stop)`` known, so that a rule that asks for them finds them.

        The costly ones; all of a small tape if the builder is thorough. What it appended itself it knows.
        """
        cdef int32_t i
        cdef Node* node
        cdef bint all_of_it = self.thorough and stop - start <= MOST_LEARNED
        start = max(start, stop - 2 * MOST_FULL)    # the newest stay
        if not self.simplify or self.learned:
            return 0
        self.learned = True
        while not self.lossy and self.rows < stop - start:
            widen(self)
        for i in range(start, stop):
            node = &self.graph.nodes[i]
            if node.op <= OP_RESULT or node.op == OP_ASSEMBLE or node.op == OP_STOP:
                continue
            if all_of_it or INFO[node.op].costly:
                remember(self, hash_of(self.graph, i), i)
        return 0


# ---- the table

cdef int remember(Appender builder, uint64_t h, int32_t node) except -1:
    if not builder.lossy and 2 * builder.used >= builder.rows:
        widen(builder)
    cdef int32_t row = <int32_t>(h >> builder.shift)
    if not builder.lossy:
        while builder.table[row].node:
            row = (row + 1) & (builder.rows - 1)
        builder.used += 1
    builder.table[row].tag = tag_of(h)
    builder.table[row].node = node + 1
    return 0


cdef int widen(Appender builder) except -1:
    """Enlarge the table while it is small, or to be complete; else newer nodes push out older ones from then on."""
    cdef TableEntry* old = builder.table
    cdef int32_t rows = builder.rows
    cdef int32_t i
    cdef int bits = 1 if rows >= MOST_FULL // 2 else 2      # each time, all that is in the table is entered again
    builder.rows = rows << bits
    builder.shift -= bits
    builder.table = <TableEntry*>PyMem_RawCalloc(builder.rows, sizeof(TableEntry))
    if builder.table == NULL:
        builder.table = old
        builder.rows = rows
        builder.shift += bits
        raise MemoryError
    builder.lossy = builder.rows >= MOST_FULL and not builder.complete
    cdef int32_t known = builder.used
    builder.used = 0
    for i in range(rows if known else 0):
        if old[i].node:
            remember(builder, hash_of(builder.graph, old[i].node - 1), old[i].node - 1)
    PyMem_RawFree(old)
    return 0


cdef uint64_t hash_of(Graph graph, int32_t node) noexcept:
    cdef Node* row = &graph.nodes[node]
    cdef WideNode* wide
    if row.flags & F_WIDE:
        wide = &graph.wide_nodes[row.a]
        return hash_wide(<size_t>wide.sig, graph.pool + wide.first, wide.count)
    return hash_node(row.op, row.a, row.b)


cdef int32_t find_wide(Appender builder, uint64_t h, Signature sig, const int32_t* operands, int32_t count) noexcept:
    cdef int32_t row = <int32_t>(h >> builder.shift)
    cdef int32_t i
    cdef Node* node
    cdef WideNode* wide
    while builder.table[row].node:
        node = &builder.graph.nodes[builder.table[row].node - 1]
        if builder.table[row].tag == tag_of(h) and node.flags & F_WIDE:
            wide = &builder.graph.wide_nodes[node.a]
            if <void*>wide.sig == <void*>sig and wide.count == count:
                for i in range(count):
                    if builder.graph.pool[wide.first + i] != operands[i]:
                        break
                else:
                    return builder.table[row].node - 1
        if builder.lossy:
            break
        row = (row + 1) & (builder.rows - 1)
    return -1
