"""From what coefficients are made of to a `Series`: rows of nodes, and a step for each."""

import math

import numpy as np

from hoad._core.taylor.derivative_closure cimport Closure
from hoad._core.taylor.taylor_simd cimport group
from hoad._core.taylor.taylor_schedule cimport Ordering, is_multilinear, unsigned
from hoad._core.graph.primitive cimport (
    K_CONCATENATE, K_GATHER, K_PUT, K_REDUCE, K_STRIDED, K_UFUNC, Primitive, Signature, node_signature, primitive_of,
)
from hoad._core.taylor.series cimport Series
from hoad._core.graph.tape cimport OP_BROADCAST_TO, OP_MATMUL, AbstractValue, int32_t, int64_t, intern_aval

from hoad._core.graph.primitive import signature_at

DOUBLE = np.dtype(np.float64)
TRUTH = np.dtype(np.bool_)
MOVING = (K_CONCATENATE, K_GATHER, K_PUT, K_REDUCE, K_STRIDED)     # kinds that do with booleans as with floats
FURTHER = ("copy", "integral")      # rules of a node beyond those of its own


def build_series(Ordering ordering not None, int64_t lanes, have_lanes, bint is_flow, int32_t first):
    """The steps for so many lanes.

    In a flow the inputs from `first` on are the integrals of the outputs, and given in place of them.
    """
    cdef Codegen builder = Codegen.__new__(Codegen)
    builder.ordering, builder.closure = ordering, ordering.closure
    builder.rows, builder.steps, builder.spread, builder.derived = {}, {}, {}, {}
    builder.build(lanes, have_lanes, is_flow, first)
    return builder.series


cdef class Codegen:
    """The steps of nodes, in an order in which each finds what it needs."""

    cdef Ordering ordering
    cdef Closure closure
    cdef Series series
    cdef tuple shape        # of all arrays, where their items are lanes; else None
    cdef dict rows          # operand: row
    cdef dict steps         # node: step
    cdef dict spread        # (operand, shape, lag): the row of an operand that is broadcast
    cdef dict derived       # (row, lag): the row of t x'

    cdef int build(self, int64_t lanes, have_lanes, bint is_flow, int32_t first) except -1:
        cdef list order = self.ordering.order()
        cdef list part
        cdef int32_t row
        self.shape = None if is_flow or lanes > 1 or any(have_lanes) else self.common_shape(order)
        if self.shape is not None:
            lanes = math.prod(self.shape)
            have_lanes = [self.closure.aval(node).shape == self.shape for node in self.closure.inputs]
        self.series = Series(self.ordering.degree, lanes)
        self.take_inputs(have_lanes, first if is_flow else len(self.closure.inputs))
        parts = [order] if is_flow or lanes == 1 else self.ordering.parts(order)    # a flow depends on itself
        for part in parts:
            for node in part:
                self.make_rows(node)
        for part in parts:
            for node in part:
                self.make_steps(node)
            self.series.end_part()
        for node, terms in self.ordering.slopes.items():
            if node in self.steps and self.ordering.tops[node]:
                self.series.slopes(self.steps[node], [self.term(node, h, x) for h, x in terms])
        for k, operand in enumerate(self.ordering.outputs):
            row = self.row_of(operand)
            if is_flow:
                integral = self.rows[self.closure.inputs[first + k]]
                self.series.integrate(integral, row)
                row = integral
            self.series.output(row)
        for operand, expected in self.ordering.guards:
            self.series.check(self.row_of(operand), expected)
        group(self.series)
        return 0

    cdef int take_inputs(self, have_lanes, int32_t first) except -1:
        """The rows of the inputs, of which those from `first` on are integrals of the outputs."""
        for k, node in enumerate(self.closure.inputs):
            aval = self.aval(node)
            if first <= k < first + len(self.ordering.outputs):
                self.rows[node] = self.series.integral(aval)
            else:
                self.rows[node] = self.series.input(aval, self.ordering.given[node], bool(have_lanes and have_lanes[k]))
        return 0

    cdef tuple common_shape(self, list order):
        """The one shape of all arrays, if all that is done is done item by item; else None."""
        shapes = {(<AbstractValue>self.closure.aval(k)).shape for k in self.ordering.outputs}
        if len(shapes) != 1 or math.prod(*shapes) < 2 or self.ordering.guards:
            return None
        operands = {k for i in order for k in (i, *self.ordering.row(i)[2])}
        avals = [self.closure.aval(k) for k in operands.union(self.closure.inputs, self.ordering.outputs)]
        if any([aval.shape not in ((), *shapes) or aval.dtype not in (DOUBLE, TRUTH) for aval in avals]):
            return None
        return shapes.pop() if all([self.is_by_item(i) for i in order]) else None

    cdef bint is_by_item(self, int32_t i) except -1:
        name, primitive, operands, _, _ = self.ordering.row(i)
        if name == "broadcast_to":
            return not (<AbstractValue>self.closure.aval(operands[0])).ndim
        series = (<Primitive>primitive).series
        return ((<Primitive>primitive).kind == K_UFUNC and bool(name)) or series == "copy" or series == "start"

    # ---- rows

    cdef AbstractValue aval(self, int32_t operand):
        """Shape and dtype of an operand in one lane."""
        cdef AbstractValue aval = self.closure.aval(operand)
        if self.shape is None or aval.shape != self.shape:
            return aval
        return intern_aval(aval.dtype, ())

    cdef int32_t row_of(self, int32_t operand) except -1:
        """The row of an operand."""
        if operand < 0 and operand not in self.rows:
            has_lanes = (<AbstractValue>self.closure.aval(operand)).shape == self.shape
            self.rows[operand] = self.series.constant(self.aval(operand), self.closure.value(operand), has_lanes)
        return self.rows[operand]

    cdef int32_t row_at(self, int32_t operand, int32_t i) except -1:
        """The row of an operand at the shape of a node, for a step of that."""
        cdef AbstractValue own = self.aval(i)
        cdef AbstractValue aval = self.aval(operand)
        cdef int32_t row = self.row_of(operand)
        if aval is own or aval.shape == own.shape or aval.size == own.size:
            return row
        key = operand, own.shape, self.ordering.lags[i]
        if key not in self.spread:
            aval = held(aval)
            found = self.series.row(intern_aval(aval.dtype, own.shape), self.series.top(row))
            broadcast = signature_at(primitive_of(OP_BROADCAST_TO), (own.shape,), (aval,))
            self.series.step(found, None, "each", [row], broadcast, lag=self.ordering.lags[i])
            self.spread[key] = found
        return self.spread[key]

    cdef int make_rows(self, int32_t i) except -1:
        """The rows of a node with all its results."""
        cdef int32_t k
        name, primitive, _, _, _ = self.ordering.row(i)
        if name != "result":
            for k in range(i, i + (<Primitive>primitive).nout):
                self.rows[k] = self.series.row(self.aval(k), self.ordering.tops[k])
        return 0

    # ---- slopes

    cdef tuple term(self, int32_t i, int32_t h, int32_t x):
        """A term of the slopes of a node: rows of h, x and t x', the sign, whether zeros of h are strong."""
        inner, sign = unsigned(self.closure, h)
        row = self.row_at(x, i)
        derived = self.derived[row, self.ordering.lags[i]]
        return self.row_at(inner, i), row, derived, sign, self.closure.is_strong(inner)

    cdef int derive(self, int32_t i, int32_t x) except -1:
        """Have the row of t x' beside that of x, for a step of node i."""
        row, lag = self.row_at(x, i), self.ordering.lags[i]
        if (row, lag) not in self.derived:
            found = self.derived[row, lag] = self.series.row(self.aval(i), self.series.top(row))
            self.series.step(found, "given", "derive", [row], lag=lag)
        return 0

    # ---- steps

    cdef int make_steps(self, int32_t i) except -1:
        cdef Ordering ordering = self.ordering
        name, primitive, operands, params, _ = ordering.row(i)
        if name != "result":
            self.make_step(i, name, primitive, operands, params)
        if not ordering.tops[i]:
            return 0
        for beyond, rule in zip((ordering.instead, ordering.integrands), FURTHER):
            if i in beyond:
                self.series.step(self.rows[i], "given", rule, [self.row_of(beyond[i])], lag=ordering.lags[i])
        if i in ordering.powers:
            rows = [self.row_at(ordering.powers[i], i), self.row_at(operands[1], i)]
            self.series.step(self.rows[i], "given", "power", rows, lag=ordering.lags[i])
        return 0

    cdef int make_step(self, int32_t i, str name, Primitive primitive, list operands, params) except -1:
        """The step of the operation that a node is."""
        cdef int32_t row = self.rows[i]
        cdef int32_t k, first
        cdef bint is_held = primitive.kind in MOVING or name == "astype"
        cdef Signature signature = None
        value, rule, operands, more = self.how(i, name, primitive, operands)
        cdef int32_t n = len(operands)
        first = 0 if primitive.kind == K_UFUNC else 1 if rule == "solve" else n     # of those that are broadcast
        rows = [self.row_at(operands[k], i) if k >= first else self.row_of(operands[k]) for k in range(n)]
        if value is None:
            signature = self.signature(i, primitive, operands, params, first, is_held)
        for _, x in self.ordering.slopes.get(i, ()):
            self.derive(i, x)
        if name == "item":
            more = {"offset": params[0]}
        self.steps[i] = self.series.step(row, value, rule, rows, signature, lag=self.ordering.lags[i], **more)
        return 0

    cdef Signature signature(self, int32_t i, Primitive primitive, list operands, params, int32_t first, bint is_held):
        """That of a node for operands in one lane, broadcast from the `first` on, and booleans as floats."""
        cdef Signature found = node_signature(self.closure.graph, i)
        cdef list avals = []
        cdef AbstractValue aval
        cdef int32_t k
        for k in range(len(operands)):
            aval = self.aval(operands[k])
            aval = intern_aval(aval.dtype, self.aval(i).shape) if k >= first else aval
            avals.append(held(aval) if is_held else aval)
        return found if tuple(avals) == found.avals else signature_at(primitive, params, avals)

    cdef tuple how(self, int32_t i, str name, Primitive primitive, list operands):
        """(value, rule, operands, what else it takes) of the step of a node; of an item, also its offset."""
        cdef Ordering ordering = self.ordering
        cdef AbstractValue aval = self.aval(i)
        cdef bint constant = ordering.tops[i] == 0
        cdef str series = primitive.series
        if aval.dtype != DOUBLE and aval.dtype != TRUTH:    # which are held as they are
            return None, None, operands, {}
        cdef list tops = [ordering.top(k) for k in operands]
        if series == "item":
            return "copy", "item", operands, {}
        if series == "rate":
            return "given", "rate", operands, {}
        if series == "start":
            return "copy", None, operands, {}
        if series == "copy" or self.is_copy(name, i):
            return "copy", None if constant else "copy", operands, {}
        if series == "select":
            return series, None if constant else series, [operands[1], operands[2], operands[0]], {}
        if series in ("add", "subtract", "negative", "square", "mask"):
            return series, None if constant else series, operands, {}
        if series == "multiply":
            operands = operands[::-1] if tops[1] > tops[0] else operands    # the shorter series comes last
            return series, None if constant else "scale" if min(tops) == 0 else series, operands, {}
        if series == "divide":
            return series, None if constant else "shrink" if tops[1] == 0 else series, operands, {}
        if constant:
            return None, None, operands, {}
        if series == "scale":
            return "multiply", "scale", [operands[0], self.closure.constant(primitive.factor)], {}
        if series == "reciprocal":
            return "divide", "divide", [self.closure.constant(1.0), operands[0]], {}
        if series in ("strong_multiply", "strong_multiply_both", "strong_divide"):
            return None, series, operands, {}
        if i in ordering.instead or primitive.nout > 1 or i in ordering.integrands:
            return None, None, operands, {}
        if i in ordering.slopes:
            return None, "slopes", operands, {}
        if i in ordering.powers:
            return None, None, operands, {}
        if len(operands) == 2 and series != "each" and is_multilinear(primitive, tops):
            return None, "pairs", operands, {}
        if series in ("solve", "invert"):
            product = signature_at(primitive_of(OP_MATMUL), None, (self.aval(operands[0]), aval))
            return None, series, operands, {"product": product}
        return None, "each", operands, {}

    cdef bint is_copy(self, str name, int32_t i) except -1:
        """Whether a node is its operand, lane by lane."""
        if name == "broadcast_to":
            return self.shape is not None
        if name == "astype":        # of booleans, which are held as floats
            operand = self.ordering.row(i)[2][0]
            return self.aval(i).dtype == DOUBLE and self.aval(operand).dtype == TRUTH
        return name == "stop_gradient" and not self.aval(i).ndim


cdef AbstractValue held(AbstractValue aval):
    """As items of a row are held: booleans as floats."""
    return intern_aval(DOUBLE, aval.shape) if aval.dtype == TRUTH else aval
