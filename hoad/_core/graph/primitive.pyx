"""Primitives and signatures.

The table of primitives is filled while modules are imported and when a user declares one.
"""

import gc
import os
import sys
from array import array
from importlib import import_module

from cpython.object cimport PyObject
from libc.stdint cimport uint32_t
from libc.string cimport memset

from hoad._core.kernels.scalar cimport scalar1, scalar2
from hoad._core.graph.tape cimport (
    ARITY, AVAL_FLOAT, F_BOOL, F_SLOPED, F_STRONG, F_WIDE, OP_ABSOLUTE, OP_ADD, OP_ASSEMBLE, OP_ASTYPE,
    OP_BROADCAST_TO, OP_CEIL, OP_COMPLEX, OP_CONCATENATE, OP_CONJUGATE, OP_DIVIDE, OP_EIGH, OP_EQUAL, OP_FIRST_FREE,
    OP_FLOAT_POWER, OP_FLOOR, OP_FLOOR_DIVIDE, OP_FULL_SVD, OP_GATHER, OP_GETITEM, OP_GREATER, OP_GREATER_EQUAL,
    OP_IDENTITY, OP_IMAG, OP_INPUT, OP_INV, OP_ITEM, OP_LESS, OP_LESS_EQUAL, OP_LOGICAL_AND, OP_LOGICAL_NOT,
    OP_LOGICAL_OR, OP_LOGICAL_XOR, OP_MASK, OP_MATMUL, OP_MULTIPLY, OP_NEGATIVE, OP_NOT_EQUAL, OP_POWER, OP_PUT,
    OP_REAL, OP_REMAINDER, OP_RESHAPE, OP_RESULT, OP_SELECT, OP_SINGULAR, OP_SLOPE, OP_SMOOTH, OP_SOLVE,
    OP_SPECTRAL, OP_SQRT, OP_SQUARE, OP_STOP, OP_STRONG_DIVIDE, OP_STRONG_MULTIPLY, OP_STRONG_MULTIPLY_BOTH,
    OP_SUBTRACT, OP_SUM, OP_SVD, OP_TRANSPOSE, OP_TRUNC, Node, absorbs, aval_of, node_operands, operand_aval,
)
from hoad._core.kernels.vector cimport arithmetic, is_faster, vector1, vector2

from hoad.errors import NoRuleError

# Operations that the core knows by number.
NUMBERS = {
    "input": OP_INPUT, "identity": OP_IDENTITY, "result": OP_RESULT, "item": OP_ITEM, "assemble": OP_ASSEMBLE,
    "stop_gradient": OP_STOP, "add": OP_ADD, "subtract": OP_SUBTRACT, "multiply": OP_MULTIPLY, "divide": OP_DIVIDE,
    "negative": OP_NEGATIVE, "power": OP_POWER, "strong_multiply": OP_STRONG_MULTIPLY,
    "strong_multiply_both": OP_STRONG_MULTIPLY_BOTH, "strong_divide": OP_STRONG_DIVIDE, "mask": OP_MASK,
    "select": OP_SELECT, "square": OP_SQUARE, "sqrt": OP_SQRT, "absolute": OP_ABSOLUTE, "floor": OP_FLOOR,
    "ceil": OP_CEIL, "trunc": OP_TRUNC, "floor_divide": OP_FLOOR_DIVIDE, "remainder": OP_REMAINDER,
    "float_power": OP_FLOAT_POWER, "less": OP_LESS, "less_equal": OP_LESS_EQUAL, "greater": OP_GREATER,
    "greater_equal": OP_GREATER_EQUAL, "equal": OP_EQUAL, "not_equal": OP_NOT_EQUAL, "logical_and": OP_LOGICAL_AND,
    "logical_or": OP_LOGICAL_OR, "logical_xor": OP_LOGICAL_XOR, "logical_not": OP_LOGICAL_NOT, "real": OP_REAL,
    "imag": OP_IMAG, "complex": OP_COMPLEX, "conjugate": OP_CONJUGATE, "slope": OP_SLOPE, "smooth": OP_SMOOTH,
    "astype": OP_ASTYPE, "broadcast_to": OP_BROADCAST_TO, "reshape": OP_RESHAPE, "transpose": OP_TRANSPOSE,
    "getitem": OP_GETITEM, "gather": OP_GATHER, "put": OP_PUT, "concatenate": OP_CONCATENATE, "sum": OP_SUM,
    "matmul": OP_MATMUL, "solve": OP_SOLVE, "inv": OP_INV, "spectral": OP_SPECTRAL, "singular": OP_SINGULAR,
    "eigh": OP_EIGH, "svd": OP_SVD, "full_svd": OP_FULL_SVD,
}

RESULTS_LIMIT = <int>MOST_RESULTS

# How the Taylor coefficients of an operation are found from those of its operands, where its rule is not asked.
SERIES = frozenset([
    "constant",             # 0 from order 1 on, but for jumps
    "copy",                 # those of its one operand, of real numbers
    "scale",                # these times its `factor`
    "each",                 # by the operation itself, on each coefficient
    "add", "subtract", "negative", "square", "select", "mask",
    "multiply", "strong_multiply", "strong_multiply_both", "matmul",
    "divide", "strong_divide", "reciprocal", "power",
    "solve", "invert",      # of linear equations
    "extreme",              # the largest or smallest item
    "item", "rate", "start",
])

STRUCTURE = K_STRUCTURE
UFUNC = K_UFUNC
GUFUNC = K_GUFUNC
REDUCE = K_REDUCE
STRIDED = K_STRIDED
GATHER = K_GATHER
PUT = K_PUT
CONCATENATE = K_CONCATENATE
PYTHON = K_PYTHON

# By number. A primitive of the user's is not kept here: it lasts as long as something else refers to it, and then its
# number is given to another. Where its number stands, in a node, there is its signature too, which refers to it.
cdef PyObject* PRIMITIVES[65536]
cdef int N_PRIMITIVES = 0
cdef int N_DECLARED = 0          # of those that do not last
cdef list LASTING = []
cdef list GIVEN_BACK = []        # numbers
cdef dict BY_NAME = {}           # of those that last
UFUNCS = {}                      # ufunc -> Primitive
TABLES = {}                      # package -> the module with the rules of its ufuncs, imported when one is met


cdef class Primitive:
    """An operation hoad can record; derivatives come from its one rule.

    What is true of an operation, whoever asks, is a field; a module that needs such a fact has no list of names.
    `commutative` promises the same bits, so that sweeps exchange operands; `symmetric` is without that promise.
    """

    def __init__(self, str name, *, object function=None, int kind=K_PYTHON, int nin=1, int nout=1,
                 bint commutative=False, bint is_bool=False, bint costly=False, bint linear=False,
                 bint multilinear=False, object infer=None, object describe=None, tuple linear_in=(),
                 object param_names=None, bint lasting=True, str symbol=None, bint symmetric=False,
                 bint zero_derivative=False, bint analytic=False, bint conjugates=False, bint may_round=False,
                 str series=None, double factor=1.0):
        global N_PRIMITIVES, N_DECLARED
        cdef bint has_kernels = lasting and name not in BY_NAME     # else it only shares a name with one of ours
        if not 1 <= nout <= MOST_RESULTS:
            raise ValueError(f"a primitive can have 1 to {RESULTS_LIMIT} results, and {name} would have {nout}")
        if series is not None and series not in SERIES:
            raise ValueError(f"{name} would have the series {series!r}, which is none of {sorted(SERIES)}")
        cdef int op = NUMBERS.get(name, OP_FIRST_FREE) if has_kernels else <int>OP_FIRST_FREE
        if not lasting:
            N_DECLARED += 1
            if N_DECLARED % MOST_PASSING == 0:
                forget_passing()
        if op >= OP_FIRST_FREE:
            if N_PRIMITIVES > 65535 and not GIVEN_BACK:
                forget_passing()
                gc.collect()
            op = GIVEN_BACK.pop() if GIVEN_BACK else max(N_PRIMITIVES, <int>OP_FIRST_FREE)
        if op > 65535:
            raise OverflowError(
                "hoad can number 65 536 primitives that are in use at once, and all numbers are taken. Declare a "
                "primitive once, outside of loops, and give it what differs as a parameter."
            )
        self.name = name
        self.op = op
        self.function = function
        self.kind = kind
        self.elementwise = kind == K_UFUNC
        self.nin = nin
        self.nout = nout
        self.infer = infer
        self.describe = describe
        self.linear_in = linear_in
        self.param_names = param_names
        self.symbol = symbol
        self.symmetric = symmetric or commutative
        self.zero_derivative = zero_derivative or is_bool
        self.analytic = analytic
        self.conjugates = conjugates
        self.may_round = may_round
        self.series = series
        self.factor = factor
        PRIMITIVES[op] = <PyObject*>self
        N_PRIMITIVES = max(N_PRIMITIVES, op + 1)
        self.is_passing = not lasting
        self.derived = {}
        if lasting:
            LASTING.append(self)
            BY_NAME.setdefault(name, self)
        ARITY[op] = <uint8_t>nin if 0 <= nin <= 2 else 0
        cdef Info* info = &INFO[op]
        info.kind = <uint8_t>kind
        info.commutative = commutative
        info.is_bool = is_bool
        info.costly = costly
        info.linear = linear
        info.multilinear = multilinear
        info.nout = <uint8_t>nout
        info.flags = (F_BOOL if is_bool else F_STRONG if absorbs(op) or op == OP_MASK
                      else F_SLOPED if op == OP_SLOPE else 0)
        info.f1 = scalar1(name) if nin == 1 and has_kernels else NULL
        info.f2 = scalar2(name) if nin == 2 and has_kernels else NULL
        info.v1 = vector1(name) if info.f1 != NULL else NULL
        info.v2 = vector2(name) if info.f2 != NULL else NULL
        info.forms = arithmetic(name) if info.f2 != NULL else NULL
        if kind == K_UFUNC:
            UFUNCS[function] = self

    def __dealloc__(self):
        if self.is_passing and GIVEN_BACK is not None:
            PRIMITIVES[self.op] = NULL
            GIVEN_BACK.append(self.op)

    def __repr__(self):
        return f"Primitive({self.name})"

    @property
    def lasts(self):
        """Whether it is kept for good, as ours are."""
        return not self.is_passing

    def has_kernel(self, bint for_arrays):
        """Whether rows of doubles have a kernel of ours, for arrays one that takes the place of NumPy's loop."""
        cdef Info* info = &INFO[self.op]
        if info.forms != NULL or self.op == OP_NEGATIVE or self.op == OP_SQUARE or self.op == OP_SELECT or info.is_bool:
            return True
        return (info.v1 != NULL or info.v2 != NULL) and (not for_arrays or is_faster(self.name))

    @property
    def has_one_rule(self):
        """Whether the derivative of an elementwise operation is that of one rule, the same at all points."""
        if self.kind != K_UFUNC or self.rule is None or self.expansion is not None or self.kernel is not None:
            return False
        return self.nout == 1 and not self.per_call and not self.of_programs

    def keywords(self, params):
        """The parameters as a rule receives them."""
        if params is None:
            return {}
        return dict(params) if self.param_names is None else dict(zip(self.param_names, params))

    def require_rule(self, where=None):
        """The rule, or `NoRuleError` naming the user's line."""
        if self.rule is None:
            at = f" (recorded at {os.path.basename(where)})" if where else ""
            raise NoRuleError(
                f"{self.name} has no derivative rule{at}. Declare one with @hoad.defvjp({self.name}), or "
                "hoad.stop_gradient its argument if it is constant."
            )
        return self.rule


cdef Primitive primitive_of(int op):
    return <Primitive>PRIMITIVES[op]


EPOCH = 0


def rules_epoch():
    """How many rules have been given so far, to any primitive."""
    return EPOCH


def next_epoch():
    """A rule is given: what was derived from rules by way of programs is out of date."""
    global EPOCH
    EPOCH += 1


cdef object params_of(Graph graph, int32_t i):
    """The parameters of what node `i` is; None if it has none."""
    cdef Node* node = &graph.nodes[i]
    if node.op == OP_ITEM:
        return (node.b,)
    if node.op == OP_RESULT:
        return (graph.pool[graph.wide_nodes[node.a].first + 1],)
    if node.flags & F_WIDE and <object>graph.wide_nodes[node.a].sig is not None:
        return (<Signature>graph.wide_nodes[node.a].sig).params
    return None


cdef Signature node_signature(Graph graph, int32_t i):
    """The signature of what node i is."""
    cdef int32_t avals[2]       # without an extension row, there are no more operands
    cdef int32_t k, n
    cdef const int32_t* operands = node_operands(graph, i, &n)
    if graph.nodes[i].flags & F_WIDE:
        return <Signature>graph.wide_nodes[graph.nodes[i].a].sig
    for k in range(n):
        avals[k] = operand_aval(graph, operands[k])
    return signature(primitive_of(graph.nodes[i].op), None, avals, n)


cdef int rules_version(Primitive primitive) noexcept:
    """What changes when a template of `primitive` is out of date; a program can hold any primitive."""
    return EPOCH if primitive.of_programs else primitive.version


cdef int primitive_count() noexcept:
    return N_PRIMITIVES


def primitives():
    """All primitives, in the order of their numbers."""
    return [<Primitive>PRIMITIVES[op] for op in range(N_PRIMITIVES) if PRIMITIVES[op] != NULL]


def load_tables():
    """Import the tables of the packages that are in use."""
    for package, table in TABLES.items():
        if package in sys.modules:
            import_module(table)


def ufunc_primitive(ufunc):
    """The primitive of a ufunc, or None; an unknown one is looked for in the tables of the packages that are in use."""
    if ufunc not in UFUNCS:
        load_tables()
    return UFUNCS.get(ufunc)


def primitive_named(str name):
    """The primitive of this name, or None; one of another package by its name there."""
    if name not in BY_NAME and (package := name.rpartition(".")[0]) in TABLES:
        import_module(TABLES[package])
    return BY_NAME.get(name)


# ---- signatures -----------------------------------------------------------------------------------------------------

cdef class Signature:
    """A primitive at given parameters and abstract operands: its results, its plan, its templates."""

    def __repr__(self):
        operands = ", ".join(map(repr, self.avals))
        results = ", ".join(map(repr, self.results))
        return f"{self.primitive.name}({operands}) -> {results}"


cdef enum:
    MOST_SIGNATURES = 4096
    MOST_ASSEMBLED = 16     # operands of an assemble node that is looked for
    MOST_PASSING = 256      # primitives of the user's, declared one after another

# (operation, parameters, operands) -> Signature. Nodes hold their own signature, so the table may be emptied. An entry
# holds its primitive, so that its number is no other's.
cdef dict SIGNATURES = {}

# Entries of the table that were asked for lately, found without a key. They refer to what the table holds.
cdef struct Asked:
    PyObject* sig
    PyObject* params        # the very object that the signature has
    int32_t op, count
    int32_t[3] avals

cdef enum:
    MOST_ASKED = 256

cdef Asked ASKED[MOST_ASKED]

# All signatures that have templates, in the table or no longer. A template holds the signatures of its nodes, its own
# perhaps, and the garbage collector does not look into tapes: so templates are forgotten here, or stay for good.
cdef list TEMPLATED = []


cdef Signature signature(Primitive primitive, object params, const int32_t* avals, int32_t count):
    """The signature of `primitive` at these operands; infers the results when it is new."""
    cdef int32_t i
    cdef object key
    cdef Asked* asked = place_asked(primitive.op, <PyObject*>params, avals, count)
    if is_asked(asked, primitive.op, <PyObject*>params, avals, count):
        return <Signature>asked.sig
    if primitive.of_programs:       # a table that outlives a program would keep it alive
        return new_signature(primitive, params, tuple([aval_of(avals[i]) for i in range(count)]), None)
    apart = told_apart_by(params) if primitive.kind == K_PYTHON else None
    if apart is not None:
        key = (primitive.op, params, apart, *[avals[i] for i in range(count)])
    elif count == 1:
        key = (primitive.op, params, avals[0])
    elif count == 2:
        key = (primitive.op, params, avals[0], avals[1])
    else:
        key = (primitive.op, params, *[avals[i] for i in range(count)])
    cdef Signature sig = <Signature>SIGNATURES.get(key)
    if sig is None:
        return new_signature(primitive, params, tuple([aval_of(avals[i]) for i in range(count)]), key)
    if count <= 3 and sig.params is params:
        asked.sig, asked.params = <PyObject*>sig, <PyObject*>params
        asked.op, asked.count = primitive.op, count
        for i in range(count):
            asked.avals[i] = avals[i]
    return sig


cdef object told_apart_by(object params):
    """What tells apart parameters that compare equal, as 0.0 and -0.0 do, and 1 and True; None where nothing need."""
    cdef bint with_truths = False
    if params is None:
        return None
    if type(params) is not tuple:
        return repr(params)
    for x in <tuple>params:
        if type(x) is bool:
            with_truths = True
        elif not (type(x) is int or type(x) is str or x is None):
            return repr(params)
    return tuple([type(x) for x in <tuple>params]) if with_truths else None


cdef inline Asked* place_asked(int32_t op, PyObject* params, const int32_t* avals, int32_t count) noexcept:
    """Where a signature stands that was asked for lately."""
    cdef uint64_t h = <uint64_t><uint32_t>op ^ <uint64_t><size_t>params >> 4
    cdef int32_t i
    for i in range(min(count, 3)):
        h = h * 31 + <uint32_t>avals[i]
    return &ASKED[(h * <uint64_t>0x9E3779B97F4A7C15) >> 56]


cdef inline bint is_asked(const Asked* asked, int32_t op, PyObject* params, const int32_t* avals,
                          int32_t count) noexcept:
    cdef int32_t i
    if asked.op != op or asked.params != params or asked.count != count or asked.sig == NULL:
        return False
    for i in range(count):
        if asked.avals[i] != avals[i]:
            return False
    return True


cdef void forget_asked() noexcept:
    """Entries of the table are about to go."""
    memset(ASKED, 0, sizeof(ASKED))


cdef Signature new_signature(Primitive primitive, object params, tuple avals, object key):
    results = avals[:1] if is_of_numbers(primitive, avals) else tuple(primitive.infer(params, *avals))
    cdef Signature sig = make_signature(primitive, params, avals, results)
    return sig if key is None else kept_signature(key, sig)


cdef Signature kept_signature(object key, Signature sig):
    """The signature that the table holds from now on."""
    if len(SIGNATURES) >= MOST_SIGNATURES:
        forget_templates()
        known = tuple(SIGNATURES.values())  # which keeps them until no entry refers to them
        SIGNATURES.clear()
        forget_asked()
        del known
    # Another thread may have made it meanwhile; what the table holds is not replaced, for `ASKED` refers to it.
    return <Signature>SIGNATURES.setdefault(key, sig)


cdef Signature assembly(AbstractValue aval, object offsets, tuple parts, tuple avals):
    """The signature of an assemble node, whose places are parameters; of a few operands, the table holds it."""
    cdef object key
    if len(avals) > MOST_ASSEMBLED:
        return make_signature(primitive_of(OP_ASSEMBLE), (offsets, parts), avals, (aval,))
    key = (<int>OP_ASSEMBLE, aval.number, offsets.tobytes(), parts, *[(<AbstractValue>x).number for x in avals])
    known = SIGNATURES.get(key)
    if known is not None:
        return <Signature>known
    return kept_signature(key, make_signature(primitive_of(OP_ASSEMBLE), (offsets, parts), avals, (aval,)))


cdef int forget_templates() except -1:
    """Forget all templates; those in use are made again."""
    cdef list signatures = TEMPLATED[:]
    TEMPLATED.clear()
    for sig in signatures:
        (<Signature>sig).templates.clear()
    return 0


cdef int forget_passing() except -1:
    """Forget the signatures of primitives that give their numbers back, which are made again where one is in use."""
    cdef tuple known = tuple(SIGNATURES.items())    # which keeps them until no entry refers to them
    forget_templates()
    for key, sig in known:
        if (<Signature>sig).primitive.is_passing:
            SIGNATURES.pop(key, None)
    forget_asked()
    return 0


cdef bint is_of_numbers(Primitive primitive, tuple avals) noexcept:
    """Whether an operation gives one float for floats, as those with kernels do: NumPy takes long to say so."""
    cdef Info* info = &INFO[primitive.op]
    if primitive.kind != K_UFUNC or info.is_bool or primitive.nout != 1 or (info.f1 == NULL and info.f2 == NULL):
        return False
    for aval in avals:
        if (<AbstractValue>aval).number != AVAL_FLOAT:
            return False
    return len(avals) == primitive.nin


def signature_at(Primitive primitive not None, object params, avals):
    """The signature of a primitive for these operands."""
    cdef int32_t[::1] numbers = array("i", [aval.number for aval in avals] or [0])
    return signature(primitive, params, &numbers[0], len(avals))


cpdef Signature make_signature(Primitive primitive, object params, tuple avals, tuple results):
    """A signature outside the table, as of a node whose parameters are its own (the places of an assemble node)."""
    cdef Signature sig = Signature.__new__(Signature)
    sig.primitive = primitive
    sig.params = params
    sig.avals = avals
    sig.results = results
    sig.templates = {}
    return sig
