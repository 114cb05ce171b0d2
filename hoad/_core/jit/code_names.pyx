"""What a piece of code names: globals, attributes and modules, read from its bytes."""

import collections
import opcode
import sys
import types
import weakref

cimport cython

from cpython.bytes cimport PyBytes_AS_STRING

cdef object CodeType = types.CodeType

cdef enum StepKind:
    OTHER, SILENT, LOADED, CONSTANT, ATTRIBUTE, CALLED

cdef int[256] SHIFTS            # by how many bits the number of the name is shifted
cdef NameKind[256] KINDS        # what the instructions of a number name
cdef StepKind[256] STEPS        # what they do to the arguments of a call
cdef int[256] CALLS             # whether what is loaded is called at once: never, where the lowest bit says so, always
cdef int EXTENDED = opcode.opmap["EXTENDED_ARG"]
cdef int EQUALITY = opcode.cmp_op.index("==")       # and "!=" is the next
cdef int COMPARES = 5 if sys.version_info >= (3, 13) else 4 if sys.version_info >= (3, 12) else 0
cdef int DELETE_ATTR = opcode.opmap["DELETE_ATTR"]
# Builtins that read an attribute by the name that is their second argument, which is mostly a constant.
cdef frozenset BY_SECOND = frozenset(["getattr", "hasattr"])
cdef frozenset OF_WHOLE = frozenset(["ascii", "format", "print", "repr", "str"])
cdef frozenset CHANGING_BY_SECOND = frozenset(["setattr", "delattr"])


cdef NameKind kind_of(str name) except *:
    """What an instruction names."""
    if name in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
        return GLOBALS
    if name.startswith("LOAD_SUPER") or name in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
        return ATTRIBUTES
    if name in ("STORE_ATTR", "DELETE_ATTR"):
        return STORED
    if name in ("STORE_GLOBAL", "DELETE_GLOBAL"):
        return STORED_GLOBALS
    if name == "IMPORT_NAME":
        return MODULES
    if name in ("SETUP_FINALLY", "PUSH_EXC_INFO"):
        return HANDLES
    if name in ("CONTAINS_OP", "CONVERT_VALUE", "FORMAT_SIMPLE", "FORMAT_VALUE", "FORMAT_WITH_SPEC"):
        return WHOLE
    if name == "COMPARE_OP":
        return COMPARISON
    return PATTERNS if name == "MATCH_CLASS" else NOTHING


cdef StepKind step_of(str name) except *:
    """What an instruction does between the name of a function and its second argument."""
    if name in ("CACHE", "EXTENDED_ARG", "NOP", "PUSH_NULL"):
        return SILENT
    if name in ("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_NAME"):
        return LOADED
    if name == "LOAD_ATTR":
        return ATTRIBUTE
    if name in ("CALL", "CALL_FUNCTION", "PRECALL"):
        return CALLED
    return CONSTANT if name == "LOAD_CONST" else OTHER


cdef int list_instructions() except -1:
    now = sys.version_info
    shifts = {"LOAD_GLOBAL": int(now >= (3, 11)), "LOAD_ATTR": int(now >= (3, 12)), "IMPORT_NAME": 2 * (now >= (3, 15))}
    for name, operation in opcode.opmap.items():
        if operation > 255:     # an instruction of the compiler's own
            continue
        SHIFTS[operation] = 2 if name.startswith("LOAD_SUPER") else shifts.get(name, 0)
        CALLS[operation] = 2 if name == "LOAD_METHOD" else int(shifts.get(name) == 1 or name.startswith("LOAD_SUPER"))
        KINDS[operation] = kind_of(name)
        STEPS[operation] = step_of(name)
    return 0


list_instructions()


@cython.final
cdef class Reads:
    """What one piece of code names; whether it handles exceptions, has patterns of classes, or computes names.

    Patterns read attributes that stand in constants, or in the class.
    """

    cdef int note(self, code) except -1:
        """What the code names: `dis`, which knows all of its instructions, takes a hundred times as long."""
        cdef bytes steps = code.co_code
        cdef tuple names = code.co_names
        cdef const unsigned char* at = <const unsigned char*>PyBytes_AS_STRING(steps)
        cdef Py_ssize_t i
        cdef NameKind kind
        for i in range(0, len(steps) - 1, 2):
            kind = KINDS[at[i]]
            if kind == NOTHING:
                continue
            if kind == HANDLES:
                self.handles = True
            elif kind == PATTERNS:
                self.has_patterns = True
            elif kind == WHOLE or (kind == COMPARISON and EQUALITY <= argument(at, i) >> COMPARES <= EQUALITY + 1):
                self.asks_whole = True
            elif kind == COMPARISON:
                continue
            else:
                name = names[argument(at, i) >> SHIFTS[at[i]]]
                self.note_name(kind, name)
                self.asks_whole = self.asks_whole or (kind == GLOBALS and name in OF_WHOLE)
                if at[i] == DELETE_ATTR:    # which asks whether it is there
                    self.note_name(ATTRIBUTES, name)
                    self.handles = True
                if CALLS[at[i]] == 0 or (CALLS[at[i]] == 1 and not argument(at, i) & 1):
                    self.values.add(name)
                if kind == GLOBALS and (name in BY_SECOND or name in CHANGING_BY_SECOND):
                    self.note_second(code, at, i, len(steps), name in CHANGING_BY_SECOND)
        return 0

    cdef int note_name(self, NameKind kind, str name) except -1:
        if kind == GLOBALS:
            self.globals.add(name)
        elif kind == ATTRIBUTES:
            self.attributes.add(name)
        elif kind == STORED:
            self.stored.add(name)
        elif kind == STORED_GLOBALS:
            self.stored_globals.add(name)
        else:
            self.modules.add(name)
        return 0

    cdef int note_second(self, code, const unsigned char* steps, Py_ssize_t i, Py_ssize_t size,
                         bint stores) except -1:
        """The constant that follows `getattr` and an object: a name, of an attribute that may not be there."""
        cdef list given = []        # the arguments: an object, a constant, and perhaps what there is by default
        cdef StepKind step
        self.handles = True
        for i in range(i + 2, size - 1, 2):
            step = STEPS[steps[i]]
            if step == LOADED and len(given) != 1:
                given.append(None)
            elif step == CONSTANT and given:
                given.append(code.co_consts[argument(steps, i)])
            elif step != SILENT and (step != ATTRIBUTE or len(given) == 2):
                break
        if step == CALLED and 2 <= len(given) <= 3 and isinstance(given[1], str):
            self.note_name(STORED if stores else ATTRIBUTES, given[1])
            self.asked.add(given[1])
        else:
            self.computes = True
        return 0


cdef Py_ssize_t argument(const unsigned char* steps, Py_ssize_t at) noexcept:
    """The argument of the instruction at a place, with the upper bytes that stand before it."""
    cdef Py_ssize_t found = steps[at + 1]
    cdef int shift = 8
    while at >= 2 and steps[at - 2] == EXTENDED:
        at -= 2
        found |= <Py_ssize_t>steps[at + 1] << shift
        shift += 8
    return found


# The id of code: (a weak reference to it, what it names). What is gone leaves the table with the next that is read: a
# callback in Python would lose an interrupt that meets it.
cdef dict READS = {}
cdef object GONE = collections.deque()


cpdef Reads reads_of(code):
    """What a piece of code names; kept while the code lives.

    By identity: code that is equal, of a function that is defined once more, has other code within it.
    """
    cdef Reads found
    cdef list ahead
    key = id(code)
    known = READS.get(key)
    if known is not None and (<tuple>known)[0]() is code:
        return (<tuple>known)[1]
    found = Reads.__new__(Reads)
    found.globals, found.stored_globals, found.attributes, found.stored = set(), set(), set(), set()
    found.modules, found.values, found.asked, found.inner = set(), set(), set(), []
    ahead = [code]
    while ahead:
        inner = ahead.pop()
        if inner is not code:
            found.inner.append(inner)
        for constant in <tuple>inner.co_consts:
            if isinstance(constant, CodeType):
                ahead.append(constant)
    found.note(code)
    leave_out_gone()
    READS[key] = weakref.KeyedRef(code, GONE.append, key), found
    return found


cdef int leave_out_gone() except -1:
    """Drop what code named that is no more."""
    while GONE:
        try:
            gone = GONE.popleft()
        except IndexError:      # another thread was faster
            break
        known = READS.get(gone.key)
        if known is not None and (<tuple>known)[0] is gone:
            READS.pop(gone.key, None)
    return 0
