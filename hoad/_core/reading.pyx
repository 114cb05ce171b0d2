"""What a piece of code names, and which classes hold what: asked of everything that a function may read."""

import functools
import opcode
import sys
import types

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        unsigned long tp_flags
    unsigned long Py_TPFLAGS_HEAPTYPE

cdef object CodeType = types.CodeType
cdef object MemberDescriptorType = types.MemberDescriptorType

cdef enum Kind:
    NOTHING, GLOBALS, ATTRIBUTES, MODULES, HANDLES, PATTERNS

cdef Kind[256] KINDS            # what the instructions of a number name
cdef int[256] SHIFTS            # by how many bits the number of the name is shifted
cdef int EXTENDED = opcode.opmap["EXTENDED_ARG"]


cdef int list_instructions() except -1:
    now = sys.version_info
    shifts = {"LOAD_GLOBAL": int(now >= (3, 11)), "LOAD_ATTR": int(now >= (3, 12)), "IMPORT_NAME": 2 * (now >= (3, 15))}
    for name, operation in opcode.opmap.items():
        if operation > 255:     # an instruction of the compiler's own
            continue
        SHIFTS[operation] = shifts.get(name, 0)
        if name in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            KINDS[operation] = GLOBALS
        elif name.startswith("LOAD_SUPER"):
            KINDS[operation] = ATTRIBUTES
            SHIFTS[operation] = 2
        elif name in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
            KINDS[operation] = ATTRIBUTES
        elif name == "IMPORT_NAME":
            KINDS[operation] = MODULES
        elif name in ("SETUP_FINALLY", "PUSH_EXC_INFO"):
            KINDS[operation] = HANDLES
        elif name == "MATCH_CLASS":
            KINDS[operation] = PATTERNS
    return 0


list_instructions()


@cython.final
cdef class Reads:
    """What code names: globals, attributes, modules; whether it handles exceptions, and has patterns of classes.

    Those read attributes that stand in constants, or in the class.
    """

    cdef readonly set globals
    cdef readonly set attributes
    cdef readonly set modules
    cdef readonly bint handles
    cdef readonly bint has_patterns
    cdef readonly list codes        # and those defined within it

    cdef int note(self, code) except -1:
        """What one piece of code names: `dis`, which knows all of its instructions, takes a hundred times as long."""
        cdef bytes steps = code.co_code
        cdef tuple names = code.co_names
        cdef const unsigned char* at = <const unsigned char*>PyBytes_AS_STRING(steps)
        cdef Py_ssize_t i
        cdef Kind kind
        for i in range(0, len(steps) - 1, 2):
            kind = KINDS[at[i]]
            if kind == GLOBALS:
                self.globals.add(names[argument(at, i) >> SHIFTS[at[i]]])
            elif kind == ATTRIBUTES:
                self.attributes.add(names[argument(at, i) >> SHIFTS[at[i]]])
            elif kind == MODULES:
                self.modules.add(names[argument(at, i) >> SHIFTS[at[i]]])
            elif kind == HANDLES:
                self.handles = True
            elif kind == PATTERNS:
                self.has_patterns = True
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


@functools.lru_cache(maxsize=1024)
def reads_of(code):
    """What a piece of code and those defined within it name."""
    cdef Reads found = Reads.__new__(Reads)
    cdef list ahead = [code]
    found.globals, found.attributes, found.modules, found.codes = set(), set(), set(), []
    while ahead:
        inner = ahead.pop()
        found.codes.append(inner)
        for constant in <tuple>inner.co_consts:
            if isinstance(constant, CodeType):
                ahead.append(constant)
        found.note(inner)
    return found


# ---- classes --------------------------------------------------------------------------------------------------------

def is_static(cls not None):
    """Whether a class is made by C, whose names never change; it lives as long as the process."""
    return not (<PyTypeObject*>cls).tp_flags & Py_TPFLAGS_HEAPTYPE


def own_slots(cls not None):
    """The slots that a class has itself, besides that of the attributes of its objects."""
    cdef list found = []
    for key, held in vars(cls).items():
        if isinstance(held, MemberDescriptorType) and key != "__dict__":
            found.append(key)
    return found
