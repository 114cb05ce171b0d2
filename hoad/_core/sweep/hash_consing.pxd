from hoad._core.graph.primitive cimport Primitive, Signature
from hoad._core.graph.tape cimport F_WIDE, Graph, Node, int32_t, uint16_t, uint32_t, uint64_t

cdef enum:
    NOTHING = -2147483646       # no operand, not even a symbolic zero; no constant has this number

cdef struct TableEntry:
    uint32_t tag        # bits of the hash, so that another node is seldom looked at in vain
    int32_t node        # 0 is empty, else node + 1


cdef class Appender:
    cdef readonly Graph graph
    cdef bint simplify
    cdef TableEntry* table      # nodes by the hash of what they compute
    cdef int32_t rows, used     # rows: a power of two
    cdef int shift              # 64 - log2(rows): rows are found by the high bits of a hash
    cdef bint thorough          # a tape is being emitted that may be swept again and again
    cdef bint complete          # of all it appends, equal nodes are one, however many there are
    cdef bint learned           # the nodes that it found in the graph are in the table
    cdef bint lossy             # newer nodes push out older ones

    cdef int32_t emit(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef int32_t emit_wide(self, Primitive primitive, object params, const int32_t* operands, int32_t count,
                           int32_t aval) except? -1
    cdef int32_t push(self, uint16_t op, int32_t a, int32_t b) except? -1
    cdef int32_t push_wide(self, Signature sig, const int32_t* operands, int32_t count) except? -1
    cdef int learn(self, int32_t start, int32_t stop) except -1

cdef int widen(Appender builder) except -1


cdef inline uint64_t hash_node(uint16_t op, int32_t a, int32_t b) noexcept nogil:
    return ((<uint64_t><uint32_t>a << 32 | <uint64_t><uint32_t>b) * <uint64_t>0x9E3779B97F4A7C15
            + <uint64_t>op * <uint64_t>0xD6E8FEB86659FD93) * <uint64_t>0xC2B2AE3D27D4EB4F


cdef inline uint32_t tag_of(uint64_t h) noexcept nogil:
    """The middle bits: the low ones of a product owe nothing to the high ones of its factors."""
    return <uint32_t>(h >> 20)


# What most nodes of a sweep go through: the builder and the sweeps have it in their own code.
cdef inline int32_t found_or_pushed(Appender builder, uint16_t op, uint16_t flags, int32_t a, int32_t b) except? -1:
    """The node ``op(a, b)``: one of the table, or a new one."""
    cdef uint64_t h = hash_node(op, a, b)
    cdef uint32_t tag = tag_of(h)
    cdef int32_t row = <int32_t>(h >> builder.shift)
    cdef TableEntry* entry = &builder.table[row]
    cdef int32_t i
    cdef Node* node
    while entry.node:
        if entry.tag == tag:
            node = &builder.graph.nodes[entry.node - 1]
            if node.a == a and node.b == b and node.op == op and not node.flags & F_WIDE:
                return entry.node - 1
        if builder.lossy:
            break
        row = (row + 1) & (builder.rows - 1)
        entry = &builder.table[row]
    i = builder.graph.size
    if i == builder.graph.capacity:
        builder.graph.reserve(1)
    node = &builder.graph.nodes[i]
    node.op = op
    node.flags = flags
    node.a = a
    node.b = b
    builder.graph.size = i + 1
    entry.tag = tag
    entry.node = i + 1
    if not builder.lossy:
        builder.used += 1
        if 2 * builder.used >= builder.rows:
            widen(builder)
    return i
