"""Nodes with series: what their coefficients are made of, which are asked for, and in which order they are found.

How the coefficients of a node are found is chosen elsewhere, and noted here.
"""

import heapq


from hoad._core.base.blocks cimport appended, give, reserve
from hoad._core.graph.primitive cimport params_of, primitive_of
from hoad._core.graph.tape cimport OP_NEGATIVE, AbstractValue, Graph, aval_of, int64_t, node_operands, operand_aval

from hoad._core.taylor.series import NotClosedError


cdef class Ordering:
    """Nodes of a closure, and what the coefficients of each are made of.

    `close` goes through all of them, and has it chosen and noted how each is found; `leave_out` drops what nothing asks
    for, and ends the choice; then there is an `order`.

    Parameters
    ----------
    closure : Closure
        Whose nodes.
    outputs : list of int
        What is asked for, operands.
    guards : list
        Pairs (operand, expected): values that must be as they were.
    given : sequence of int
        How many coefficients of each input are given; the others are zero.
    degree : int
        The highest order asked for.

    Attributes
    ----------
    is_real : bool
        Whether every series is one of float64.
    tops : list of int
        Of every node: the highest order at which it is not zero, and asked for.
    lags : list of int
        Of every node: how many orders it is behind what it is made of, for rates in it.
    slopes : dict
        node: [(h, x), ...], where p' = Σ h x'.
    integrands : dict
        node: its rate, where it is found as the integral of that.
    instead : dict
        node: the operand that has its coefficients beyond the value.
    powers : dict
        node x**y with a recurrence of its own, y being constant: x over its value.
    """

    def __init__(self, Closure closure not None, list outputs not None, list guards not None, given, int32_t degree):
        self.closure, self.outputs, self.guards, self.degree = closure, outputs, guards, degree
        self.given = dict(zip(closure.inputs, given, strict=True))
        self.is_real = True
        self.tops, self.lags = [], []
        self.slopes, self.integrands, self.instead, self.powers = {}, {}, {}, {}
        self.rows = {}

    def __dealloc__(self):
        give(self.asks, self.cap_asks * sizeof(Ask))
        give(self.ends, self.cap_ends * sizeof(int32_t))

    cpdef tuple row(self, int32_t i):
        """What a node is: name, primitive, operands, parameters, shape and dtype."""
        cdef Primitive primitive
        cdef const int32_t* operands
        cdef int32_t k, n
        cdef Graph graph = self.closure.graph
        cdef object found = self.rows.get(i)
        if not 0 <= i < graph.size:
            raise IndexError(f"node {i} of a closure with {graph.size} nodes")
        if found is None:       # asked for again and again, and nodes do not change
            primitive = primitive_of(graph.nodes[i].op)
            operands = node_operands(graph, i, &n)
            found = (primitive.name if primitive.qualified is None else "", primitive,
                     [operands[k] for k in range(n)], params_of(graph, i), aval_of(operand_aval(graph, i)))
            self.rows[i] = found
        return <tuple>found

    cpdef int32_t top(self, int32_t operand) except? -2:
        """The highest order at which an operand is not zero."""
        if operand >= len(self.tops):
            raise IndexError(f"node {operand} of {len(self.tops)} nodes that were gone through")
        return self.tops[operand] if operand >= 0 else 0

    def takes_reals(self, int32_t i):
        """Whether what a node is made of is float64, or whole numbers."""
        cdef AbstractValue aval
        for k in <list>self.row(i)[2]:
            aval = aval_of(operand_aval(self.closure.graph, k))
            if not aval.is_float64 and aval.inexact:
                return False
        return True

    def by_rule(self, int32_t i, list tops not None):
        """The highest order of a node with p' = Σ h x', h from its rule for g = 1; notes that."""
        cdef int32_t k
        cdef list slopes = []
        found = self.closure.slopes(i, [top > 0 for top in tops])
        _, primitive, operands, _, _ = self.row(i)
        if found is None:
            raise NotClosedError(f"a rule of {primitive.name} that branches")
        for k in range(len(tops)):
            if (<list>found)[k] is not None and tops[k] > 0:
                slopes.append(((<list>found)[k], operands[k]))
        self.slopes[i] = slopes
        return self.degree

    def close(self, choose, int64_t most):
        """Find the highest order of every node, also of those that are added meanwhile, `most` in all.

        ``choose(i, tops)`` gives that of a node which is not constant, for those of its operands, and notes how its
        coefficients are found.
        """
        cdef int32_t i = 0
        cdef int32_t lag
        cdef bint is_rate
        while i < self.closure.graph.size:
            if i > most:
                raise NotClosedError("rules that ask for ever new operations")
            _, primitive, operands, _, _ = self.row(i)
            is_rate = (<Primitive>primitive).series == "rate"
            lag = is_rate
            for k in <list>operands:
                if k >= 0:
                    lag = max(lag, <int32_t>self.lags[k] + is_rate)
            self.lags.append(lag)
            self.tops.append(highest(self, i, choose))
            i += 1

    # ---- what is asked for

    cdef int lay_out(self) except -1:
        """Note what the value and the coefficients of every node are made of."""
        cdef int32_t i
        cdef int32_t size = self.closure.graph.size
        cdef int32_t ahead
        reserve(<void**>&self.ends, &self.cap_ends, 2 * size, sizeof(int32_t))
        self.n_asks = 0
        for i in range(size):
            _, primitive, operands, _, _ = self.row(i)
            ahead = (<Primitive>primitive).series == "rate"
            for k in <list>operands:
                self.ask(k, ahead)
            self.ends[2 * i] = self.n_asks
            self.ask(self.instead.get(i), 0)
            self.ask(self.integrands.get(i), -1)
            self.ask(self.powers.get(i), 0)
            for h, _ in self.slopes.get(i, ()):
                self.ask(unsigned(self.closure, h)[0], -1)
            self.ends[2 * i + 1] = self.n_asks
        return 0

    cdef int ask(self, object operand, int32_t ahead) except -1:
        """Note that the node in question asks for an operand, if that is a node."""
        if operand is None or operand < 0:
            return 0
        cdef Ask* ask = <Ask*>appended(<void**>&self.asks, &self.cap_asks, &self.n_asks, sizeof(Ask))
        ask.node = operand
        ask.ahead = ahead
        return 0

    cdef int32_t begin(self, int32_t i) noexcept:
        """Where the asks of a node begin."""
        return self.ends[2 * i - 1] if i else 0

    cdef int32_t end(self, int32_t i, int32_t order) noexcept:
        """Where those for its coefficient `order` end."""
        return self.ends[2 * i + (order > 0)]

    def leave_out(self):
        """Lower the tops to the orders that are asked for: often that is the value alone, as of what is compared."""
        cdef int32_t order, node, k, own
        cdef list asked = [-1] * len(self.tops)
        cdef list wanted = [(-self.degree, operand) for operand in self.outputs]
        self.lay_out()
        wanted += [(0, operand) for operand, _ in self.guards]
        heapq.heapify(wanted)
        while wanted:
            order, node = heapq.heappop(wanted)
            order = min(-order, self.top(node))
            if node >= 0 and order > <int32_t>asked[node]:
                asked[node] = order
                # the coefficients of a node beyond its value are known by themselves
                own = self.ends[2 * node] if node in self.instead else 0
                for k in range(self.begin(node), self.end(node, order)):
                    heapq.heappush(wanted, (-(self.asks[k].ahead + (0 if k < own else order)), self.asks[k].node))
        self.tops = [max(top, 0) for top in asked]

    # ---- in which order

    def order(self):
        """The nodes that are needed, each behind those it needs in the same pass."""
        cdef int32_t k, node
        cdef list missing, stack
        cdef list found = []
        cdef set seen = set(self.closure.inputs)
        cdef list wanted = [x for x in (*self.outputs, *[x for x, _ in self.guards]) if x >= 0]
        check_laid_out(self)
        while wanted:
            stack = [wanted.pop()]
            while stack:
                node = stack[len(stack) - 1]
                missing = needs(self, node, seen) if node not in seen else []
                if missing:
                    stack.extend(missing)
                    continue
                stack.pop()
                if node not in seen:
                    seen.add(node)
                    found.append(node)
                    wanted.extend([self.asks[k].node for k in range(self.begin(node), self.end(node, self.tops[node]))])
        return found

    def parts(self, list order not None):
        """Nodes in such an order as sets whose coefficients depend on each other, each set behind those that it needs.

        The strongly connected components of what they ask for, by Tarjan's algorithm.
        """
        cdef int32_t k, node
        cdef list found = []
        cdef list path = []
        cdef list stack, asks
        cdef dict place = {i: j for j, i in enumerate(order)}
        cdef dict index = {}
        cdef dict lowest = {}       # the first node that is reached from one that is in no set yet
        cdef dict behind = {}
        cdef dict following = {}    # how many of those behind a node were looked at
        check_laid_out(self)
        for node in order:
            self.top(node)          # which raises if there is no such node
            asks = [self.asks[k].node for k in range(self.begin(node), self.end(node, self.tops[node]))]
            behind[node], following[node] = [x for x in asks if x in place], 0
        for root in order:
            stack = [root]
            while stack:
                node = stack[len(stack) - 1]
                asks = behind[node]
                if node not in index:
                    index[node] = lowest[node] = len(index)
                    path.append(node)
                k = following[node]
                while k < len(asks) and asks[k] in index:
                    k += 1
                following[node] = k
                if k < len(asks):
                    stack.append(asks[k])
                    continue
                stack.pop()
                if node in lowest:
                    for x in asks:
                        if x in lowest:
                            lowest[node] = min(lowest[node], lowest[x])
                    if lowest[node] == index[node]:
                        found.append(sorted(ending(path, node), key=place.get))
                        for x in found[len(found) - 1]:
                            del lowest[x]
        return found


cdef object highest(Ordering ordering, int32_t i, choose):
    """The highest order of a node."""
    cdef Primitive primitive
    cdef AbstractValue aval
    cdef int32_t k
    cdef bint inexact = False
    name, primitive, operands, _, aval = ordering.row(i)
    if name == "input":
        return min(ordering.given[i] - 1, ordering.degree) if aval.inexact else 0
    if name == "result":
        return ordering.degree if i in ordering.integrands else 0
    tops = [ordering.top(operand) for operand in <list>operands]
    if primitive.series == "rate":
        return tops[0] - 1
    if not any(tops):
        return 0
    for k in range(i, i + primitive.nout):
        aval = aval_of(operand_aval(ordering.closure.graph, k))
        inexact = inexact or aval.inexact
        ordering.is_real = ordering.is_real and (aval.is_float64 or not aval.inexact)
    return choose(i, tops) if inexact else 0


cdef int check_laid_out(Ordering ordering) except -1:
    if ordering.cap_ends < 2 * ordering.closure.graph.size or len(ordering.tops) != ordering.closure.graph.size:
        raise ValueError("nodes have an order once all were gone through, and what nothing asks for was left out")
    return 0


cdef list needs(Ordering ordering, int32_t i, set seen):
    """The nodes that a node needs in the same pass over all steps, but those that were seen."""
    cdef int32_t k
    cdef int32_t lag = ordering.lags[i]
    cdef list found = []
    for k in range(ordering.begin(i), ordering.end(i, ordering.tops[i])):
        node = ordering.asks[k].node
        if <int32_t>ordering.lags[node] + ordering.asks[k].ahead == lag and node not in seen:
            found.append(node)
    return found


cdef list ending(list path, node):
    """The end of a path from a node on, taken away."""
    cdef list found = [path.pop()]
    while found[len(found) - 1] != node:
        found.append(path.pop())
    return found


# ---- operations -----------------------------------------------------------------------------------------------------

cpdef bint is_multilinear(Primitive primitive, list tops):
    """Whether an operation of one or two arrays is linear in each of those that are not constant."""
    if primitive.elementwise or len(tops) > 2:
        return False
    for k, top in enumerate(tops):
        if top and k not in primitive.linear_in:
            return False
    return True


cpdef tuple unsigned(Closure closure, int32_t operand):
    """An operand without minus signs before it, and its sign."""
    cdef int32_t n
    cdef double sign = 1.0
    while operand >= 0 and closure.graph.nodes[operand].op == OP_NEGATIVE:
        if not aval_of(operand_aval(closure.graph, operand)).is_float64:
            break
        operand, sign = node_operands(closure.graph, operand, &n)[0], -sign
    return operand, sign
