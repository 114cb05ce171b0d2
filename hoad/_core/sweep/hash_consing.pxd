"""Appending nodes to a graph, each only once."""

from hoad._core.graph.primitive cimport Primitive, Signature
from hoad._core.graph.tape cimport Graph, int32_t, uint16_t, uint32_t, uint64_t

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
    cdef int32_t found_or_pushed(self, uint16_t op, uint16_t flags, int32_t a, int32_t b) except? -1
    cdef int32_t push_wide(self, Signature sig, const int32_t* operands, int32_t count) except? -1
    cdef int learn(self, int32_t start, int32_t stop) except -1
