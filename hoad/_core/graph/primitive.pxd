"""Primitives and signatures: what an operation is, and what it is at given abstract operands."""

from hoad._core.graph.tape cimport AbstractValue, Graph, int32_t, uint8_t, uint16_t, uint64_t

from hoad._core.kernels.vector cimport Forms2, Kernel1, Kernel2

ctypedef double (*Scalar1)(double) noexcept nogil
ctypedef double (*Scalar2)(double, double) noexcept nogil

# How an operation is evaluated on arrays.
cdef enum PrimitiveKind:
    K_STRUCTURE = 0   # known to the sweep itself: input, identity, result, item, assemble, stop
    K_UFUNC           # a NumPy ufunc, element by element with broadcasting
    K_GUFUNC          # a NumPy generalised ufunc
    K_REDUCE          # ufunc.reduce; parameters: (axes, shape of the result)
    K_STRIDED         # a copy through strides; parameters: name-specific
    K_GATHER          # (x, flat): x.ravel()[flat]
    K_PUT             # (x, v, flat): x with v[i] put at x.ravel()[flat[i]], in turn
    K_CONCATENATE     # parameters: (axis,)
    K_PYTHON          # a Python function of the values
    K_NATIVE          # as K_PYTHON, by what its primitive offers instead; of plans only

cdef enum:
    MOST_RESULTS = 64

cdef struct Info:
    Scalar1 f1
    Scalar2 f2
    Kernel1 v1              # on contiguous float64: lanes, arrays
    Kernel2 v2
    const Forms2* forms    # of arithmetic
    uint8_t kind
    uint8_t commutative
    uint8_t is_bool         # its result is a boolean
    uint8_t costly          # worth finding again on the whole tape
    uint8_t linear          # linear in all its operands together (sum, concatenate), or alone if it has one
    uint8_t multilinear     # linear in each operand (multiply, matmul)
    uint8_t nout
    uint8_t flags           # of its result, where no operand has strong zeros or slopes

cdef Info INFO[65536]

cdef class Primitive:
    cdef readonly str name
    cdef readonly int op
    cdef readonly object function       # the ufunc, or the Python function that computes values
    cdef readonly int kind
    cdef readonly int nin               # -1: any number
    cdef readonly int nout
    cdef public object rule             # vjp(g, p, *operands)
    cdef public str rule_name
    cdef public object jvp              # jvp(dots, p, *operands), where its author wrote one
    cdef public object batch            # (params, *operands) for all lanes at once, lanes first
    cdef public object native           # (params, *avals) -> NativeCall in place of its function, or None
    cdef public object join             # see `declare_family`; None for what is never joined
    cdef public bint elementwise        # acts element by element: sums over broadcast axes are the sweep's business
    cdef public bint per_call
    cdef public bint of_programs        # its first parameter is a program
    cdef public int version             # counts the rules it has had
    cdef public object infer            # (params, *avals) -> tuple of AbstractValue
    cdef public object describe         # params -> str, for tables
    cdef public object qualified        # (module, qualified name) of a user's; None for ours
    cdef public object expansion        # the same function of traced operands, whose rules close where its own do not
    cdef public object kernel           # (*operands, degree, **parameters) -> coefficients of it at the last operand
    cdef readonly tuple linear_in       # operands in which it is linear while the others are constant
    cdef readonly str symbol            # between its two operands, or before its one: "+"
    cdef readonly bint symmetric        # in its two operands, in exact arithmetic
    cdef readonly bint zero_derivative  # wherever it has one
    cdef public bint analytic           # one analytic function of its operands, wherever it has a derivative
    cdef readonly bint conjugates       # its complex result is not holomorphic
    cdef readonly bint may_round        # its result may lie on a grid: it rounds, or runs a program
    cdef readonly str series            # how its Taylor coefficients are found by hand: see `SERIES`
    cdef readonly double factor         # of a series that is "scale"
    cdef readonly object param_names    # of the tuple of parameters; None: pairs of name and value
    cdef public object form             # (family, function that gives its plain data), where no name finds it
    cdef public dict derived            # operations that belong to it, by what they are
    cdef bint is_passing                # gives its number back: see `PRIMITIVES`
    cdef object __weakref__

cdef class Signature:
    cdef readonly Primitive primitive
    cdef readonly object params
    cdef readonly tuple avals           # of the operands
    cdef readonly tuple results         # AbstractValue of each result
    cdef uint64_t hash
    cdef public object plan             # how the engine evaluates it
    cdef dict templates                 # active operands of a vjp, (mode, active operands) of others -> RuleTemplate
    cdef int version

cdef Primitive primitive_of(int op)
cdef int primitive_count() noexcept
cdef int forget_templates() except -1
cdef Signature signature(Primitive primitive, object params, const int32_t* avals, int32_t count)
cdef Signature node_signature(Graph graph, int32_t i)
cdef Signature assembly(AbstractValue aval, object offsets, tuple parts, tuple avals)
cdef object params_of(Graph graph, int32_t i)
cdef int rules_version(Primitive primitive) noexcept
cdef dict UFUNCS
cdef list TEMPLATED
cdef int EPOCH      # how many rules have been given so far
