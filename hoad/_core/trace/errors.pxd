from hoad._core.graph.tape cimport Graph, int32_t

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept nogil

cdef bint is_for_jit(Graph graph)
cdef bint is_alone(Graph graph)
cdef object no_rule(str name, Graph graph, str method=*)
cdef bint is_numbas()
cdef object cut_off(str what, str advice, Graph graph=*)
cdef int check_branch(Graph graph) except -1
cdef int check_kept(Graph graph) except -1
cpdef bint keeps_zero(Graph graph, bint trims=*) except -1
cpdef int check_degree(Graph graph) except -1
cdef int check_shape(Graph graph) except -1
cdef int check_swap() except -1
cpdef object writes_into(str what)
cpdef object not_writable()
cpdef int note_origin(Graph graph, str driver, function, str place=*) except -1
cdef object made_by_hand()
cdef object unhashable()
cdef object unpicklable(Graph graph)
cdef int refuse_use(Graph graph) except -1
cdef int refuse_mixture(Graph graph, Graph other) except -1
cdef bint has_leaked(Graph graph, int32_t node) noexcept
cdef int refuse_leaked(Graph graph, int32_t node) except -1

cdef inline int check_usable(Graph graph) except -1:
    """Raise unless `graph` is being recorded by this thread."""
    if graph.thread == PyThread_get_thread_ident():
        return 0
    return refuse_use(graph)

cdef inline int check_same(Graph graph, Graph other) except -1:
    """Raise unless both are one graph."""
    if graph is other:
        return 0
    return refuse_mixture(graph, other)

cdef inline int check_alive(Graph graph, int32_t node) except -1:
    """Raise for a value that was made by the body of a loop or a map, which has ended."""
    if graph.bodies is None:
        return 0
    return refuse_leaked(graph, node)
