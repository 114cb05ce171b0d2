"""What traced values refuse to do, each with what to do instead.

Functions named after what was asked make the error and leave the raising to the caller; ``refuse_...`` raise.
"""

import os
import sys
from types import CodeType

from cpython.object cimport PyObject

from hoad._core.base.frame_globals import adopts

from hoad._core.base.where cimport (
    assigns, here, is_library, is_solver, stores, trims_polynomial, user_place, user_position,
)

from hoad.errors import NoRuleError, TracedValueError

cdef tuple LABELLING = ("pandas", "xarray")
cdef str OF_LABELS = "Keep traced values out of frames, series and labelled arrays: compute with frame['a'].to_numpy()"
cdef str OF_NUMBA = "Call the Python function that Numba compiles, f.py_func, or give it a rule: @hoad.primitive"
ADVICE = {}         # "np.diff" -> what to write instead of it; filled by a higher layer


cdef bint is_for_jit(Graph graph):
    """Whether `jit` records into a graph, and no derivative is being taken in it."""
    return graph is not None and graph.is_guarded and graph.n_scopes == 1


cdef bint is_alone(Graph graph):
    """Whether a function is recorded by itself: the right side of an equation, or the body of a loop or a map."""
    return graph is not None and graph.scope.repeated > 0 and graph.scope.repeated - 1 == graph.scope.start


cdef object no_rule(str name, Graph graph, str method=""):
    """The error for an operation that is not recorded, with what to write instead where that is known."""
    if is_numbas():
        return cut_off("", "", graph)
    cdef str asked = f"{name}.{method}" if method else name
    cdef str known = ADVICE.get(asked) or ADVICE.get(f"{asked.rpartition('.')[0]}.*", "")
    cdef str fact = "has no derivative rule"
    cdef str advice = "give it hoad.value(x) if no derivative is to pass."
    if is_for_jit(graph):
        fact = "has no rule, so jit cannot record it"
        advice = "give it hoad.value(x), for each value of which jit records anew."
    if not method and "." in name:
        advice = f"declare one with @hoad.defvjp({name}), or {advice}"
    if name.endswith(" (vectorized)"):
        known = "Use np.vectorize in place of np.frompyfunc."
    elif not known:
        known = advice[0].upper() + advice[1:]
    return NoRuleError(f"{asked} {fact} ({here()}). {known}")


cpdef str advice_for(str called, bint adopted=False):
    """What to write instead of a function of SciPy that is written in Python; of a method, for any object."""
    cdef str found = ADVICE.get(called)
    cdef str package = ".".join(called.split(".")[:2])
    owner, _, method = called.rpartition(".")
    if found is None:
        found = ADVICE.get(f"{owner.rpartition('.')[0]}.*.{method}")
    if found is None and not adopted:       # adopted code is what hoad.scipy has
        found = f"Use hoad.{called}" if owner in sys.modules and f"{package}.**" in ADVICE else (
            ADVICE.get(f"{package}.**"))
    return found or (
        "Write it with NumPy functions, or make it one operation with a rule of its own (see @hoad.primitive)")


cdef str package_of(str filename):
    """The package that a file was installed with; None of the user's own files."""
    _, found, rest = filename.rpartition(f"-packages{os.sep}")
    return rest.partition(os.sep)[0].removesuffix(".py") if found else None


cdef bint is_numbas():
    """Whether Numba's code runs, which looks into its arguments."""
    return package_of(sys._getframe().f_code.co_filename) == "numba"


cdef object cut_off(str what, str advice, Graph graph=None):
    """The error for a traced value (of this graph) that would become a plain number."""
    if graph is not None:
        check_usable(graph)
    where, called = user_place()
    code, line = user_position()
    package = None if code is None else package_of(code.co_filename)
    cdef bint adopted = adopts() and code is not None
    if adopted:     # that line is to be named, in whatever package it is
        where = f"{os.path.basename(code.co_filename)}:{line}"
    holder = package_of(sys._getframe().f_code.co_filename)
    if adopted and holder not in LABELLING:     # what pandas and xarray hold stays plain, adopted or not
        holder = None
    if called and not (adopted and advice and called not in ADVICE):
        what = f"{called} of a traced value"
        advice = advice_for(called, adopted)
    elif package and not adopted:
        advice = f"Take the code of {package} along: hoad.adopt(f), as in hoad.grad(hoad.adopt(f))"
    elif holder in LABELLING:
        what = f"putting a traced value among the numbers of {holder}"
        advice = instead_of(code, line) or OF_LABELS
    elif holder == "numba":
        what = "a call of what Numba compiles with a traced value"
        advice = instead_of(code, line) or OF_NUMBA
    elif assigns():
        what = "assigning a traced value to an item of a plain array (a[...] = x)"
        advice = start_traced()
    elif adopted and package:   # adopted Python code takes traced values, so that what it calls here is compiled
        advice = f"Compiled code of {package} takes plain numbers only: give the function that calls it a rule (see "
        advice += "@hoad.primitive)"
    else:
        found = instead_of(code, line)
        if found is not None and not (found.startswith("Leave float()") and what.endswith("array")):
            advice = found
    whole = "the derivative"
    if is_for_jit(graph):
        whole = "what jit records"
    elif is_alone(graph) and graph.n_scopes == 1:
        whole = "what is recorded"
    cdef str plain = "" if "hoad.value" in advice else ". Or take hoad.value(x) if plain numbers are meant"
    return TracedValueError(f"{advice} ({where}): {what} would cut it off from {whole}{plain}.")


cdef int check_branch(Graph graph) except -1:
    """Raise if the last branch was taken by a solver of SciPy's in a derivative, which would be that of its steps.

    Those that bracket end at a multiple of where they began, whose derivative is zero. `jit` replays them as they went.
    """
    cdef PyObject* code = graph.guards[graph.n_guards - 1].code
    if code != NULL and is_solver((<object>code).co_filename) and not is_for_jit(graph):
        raise cut_off("a branch of a solver on a traced value", "", graph)
    return 0


cdef int check_kept(Graph graph) except -1:
    """Raise in a derivative, where adopted code has found that a traced number equals a plain one that it keeps.

    Beside that number they are not equal, and another branch is taken: what an earlier call has left in a cache would
    be taken for a constant.
    """
    if not is_for_jit(graph):
        raise TracedValueError(
            f"== or != of a traced value and an equal plain one that adopted code keeps ({here()}): if that is a "
            "cache, the derivative would be that of a constant. Clear it, make the object anew, or move the argument a "
            "little."
        )
    return 0


cpdef bint keeps_zero(Graph graph, bint trims=False) except -1:
    """Whether a coefficient is kept that NumPy would take off a polynomial, as it is zero here, but not beside it.

    The polynomial is the same, and has its derivative with respect to that coefficient.
    """
    return not is_for_jit(graph) and (trims or trims_polynomial())


cpdef int check_degree(Graph graph) except -1:
    """Raise in a derivative of the roots of a polynomial whose degree is another beside this point."""
    if not is_for_jit(graph):
        raise TracedValueError(
            f"np.roots leaves out first and last coefficients that are zero ({here()}), and the derivative with "
            "respect to a traced one among them. Move the argument a little, or make it a plain zero."
        )
    return 0


cdef int check_shape(Graph graph) except -1:
    """Raise in a derivative where a distribution of SciPy's has a formula for one value of a parameter alone."""
    if not is_for_jit(graph):
        raise TracedValueError(
            f"SciPy computes this distribution by another formula where a parameter has just this value ({here()}), "
            "without that parameter, so that the derivative with respect to it would be zero. Move the argument a "
            "little, or take hoad.value(x) of the parameter if it does not matter."
        )
    return 0


cdef int check_swap() except -1:
    """Raise where compiled code puts a view into its array that was written to since the view was taken.

    NumPy's own shuffle does so row by row for everything but an ndarray, and would lose every row that it swaps.
    """
    if not stores():
        raise TracedValueError(
            f"compiled code, such as the shuffle of a random generator, swaps rows of a traced array in place "
            f"({here()}), which are views: one row would be there twice. Write x[rng.permutation(len(x))], or put "
            "copies into it: x[i] = x[j].copy()."
        )
    return 0


cpdef object writes_into(str what):
    """The error for a traced value that would be written into a plain array."""
    return cut_off(f"writing a traced value into a plain array with {what}",
                   start_traced() + ", or use the result of the operation, which is a new array")


cdef object rewritten = None
cdef object instead = None


def rewrite_with(array, call):
    """Let functions of a frame and a line say how a plain array is made instead, and what is called instead."""
    global rewritten, instead
    rewritten, instead = array, call


cdef object frame_of(object code):
    """The innermost frame that runs this code; None if there is none."""
    frame = sys._getframe()
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame


cdef str instead_of(object code, int line):
    """What to write instead of the call that the user's code is at; None where that is not known."""
    frame = frame_of(code)
    return None if frame is None else instead(frame, line)


cdef str start_traced():
    """How the plain array that is written to becomes a traced one."""
    code, number = user_position()
    frame = frame_of(code)
    cdef str line = None if frame is None else rewritten(frame, number)
    if line is None:
        return "Make it an array that takes traced values, by np.zeros(n, like=x) or np.array(a, like=x)"
    return f"Make it an array that takes traced values: {line}"


cpdef object not_writable():
    return TracedValueError(
        f"Write x = y in place of x[...] = y ({here()}): a traced number has no items to write to, as a number of "
        "NumPy has none."
    )


cdef object made_by_hand():
    return TracedValueError(
        f"Write the number, or np.asarray, in place of type(x)(1.0) ({here()}): a traced value is made by recording, "
        "not by its class."
    )


cdef object unhashable():
    return TracedValueError(
        f"Use hoad.value(x) as the key ({here()}): a traced value cannot be hashed, since equal numbers need not be "
        "the same variable."
    )


cdef object unpicklable(Graph graph):
    instead = "call the jitted function" if is_for_jit(graph) else "take the derivative"
    return TracedValueError(
        f"Pass hoad.value(x), or {instead} there ({here()}): a traced value cannot be pickled or sent elsewhere."
    )


cpdef int note_origin(Graph graph, str driver, function, str place="") except -1:
    """Remember whose traced values outlive a graph, and where they are, for who uses one later."""
    try:
        code, name = getattr(function, "__code__", None), getattr(function, "__qualname__", None)
    except Exception:       # of an object that makes its attributes
        code = name = None
    if not isinstance(name, str):
        name = type(function).__qualname__
    if isinstance(code, CodeType):
        own = is_library(code.co_filename)      # a function that the driver has put around the user's
        name = "a function" if own else f"{name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"
    graph.origin = f"; it is of {name} under {driver}{f', stored in {place}' if place else ''}"
    return 0


cdef int refuse_use(Graph graph) except -1:
    """Raise for a graph that is not being recorded by this thread."""
    if graph.thread == 0:
        raise TracedValueError(
            f"a traced value was used after the function it belongs to had returned ({here()})"
            f"{graph.origin or ''}. Return it from the function, or take its number with hoad.value(x) while the "
            "function runs."
        )
    instead = "Call the jitted function" if is_for_jit(graph) else "Take the derivative"
    raise TracedValueError(
        f"a traced value was used in another thread than the one that records it ({here()}). {instead} inside the "
        "thread, or pass hoad.value(x)."
    )


cdef bint has_leaked(Graph graph, int32_t node) noexcept:
    """Whether a node is one of a body that has ended, and not the same at all of its steps."""
    cdef tuple body
    cdef bytes varying
    if graph.bodies is not None:
        for body in graph.bodies:
            varying = body[1]
            if 0 <= node - <int32_t>body[0] < len(varying) and varying[node - <int32_t>body[0]]:
                return True
    return False


cdef int refuse_leaked(Graph graph, int32_t node) except -1:
    """Raise for a node of a body that has ended: its value is that of the step at which the body was recorded."""
    if not has_leaked(graph, node):
        return 0
    cdef object made = graph.where(node)
    if made is None:
        made = [body[2] for body in graph.bodies if <int32_t>body[0] <= node][-1]
        made = f"by the body of a loop or a map ({made})"
    else:
        made = f"by the body of a loop or a map at {os.path.basename(made)}"
    raise TracedValueError(
        f"a value made {made} was used after the body had returned ({here()}): it is that of the first step alone. "
        "Return it from the body: the y of a scan and the result of a vmap hold it for every step, the carry that of "
        "the last one."
    )


cdef int refuse_mixture(Graph graph, Graph other) except -1:
    """Raise for traced values of two graphs in one operation."""
    check_usable(graph)
    check_usable(other)
    if graph.valued != other.valued:
        raise TracedValueError(
            f"a rule met a traced value that is not its own ({here()}). A rule is written in operations on its own g, "
            "p and operands, and cannot use traced values from outside. Make the value an operand of the function, or "
            "pass hoad.value(x)."
        )
    raise TracedValueError(
        f"traced values of two recordings met in one operation ({here()}). A function given to record() or a rule "
        "may use traced values of its own arguments only; pass the other value as an argument, or hoad.value(x)."
    )
