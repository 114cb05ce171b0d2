"""What a function read besides its arguments, and whether it is still so.

An `Environment` is a list of guards. Each looks at one place where Python keeps a value, and compares what is there
with what was there: by identity, and where that differs, numbers and text by their content. Nothing of the user's is
run.
"""

import weakref
from abc import get_cache_token

import numpy as np

cimport cython

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp

cimport numpy as cnp

from hoad._core.base.blocks cimport give, take
from hoad._core.graph.tape cimport Graph, same_bytes

cnp.import_array()

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        PyObject* tp_mro
    PyTypeObject* Py_TYPE(PyObject*) noexcept
    PyObject* PyDict_GetItemWithError(PyObject*, PyObject*) except? NULL
    int PyDict_Next(PyObject*, Py_ssize_t*, PyObject**, PyObject**) noexcept
    Py_ssize_t PyDict_Size(PyObject*) noexcept
    Py_ssize_t PyList_GET_SIZE(PyObject*) noexcept
    PyObject* PyList_GET_ITEM(PyObject*, Py_ssize_t) noexcept
    Py_ssize_t PyTuple_GET_SIZE(PyObject*) noexcept
    PyObject* PyTuple_GET_ITEM(PyObject*, Py_ssize_t) noexcept
    PyObject* PyCell_GET(PyObject*) noexcept
    PyObject* PyFunction_GET_CODE(PyObject*) noexcept
    PyObject* PyFunction_GET_DEFAULTS(PyObject*) noexcept
    PyObject* PyFunction_GET_KW_DEFAULTS(PyObject*) noexcept
    object PyObject_GenericGetAttr(object, object)
    object PyObject_GenericGetDict(object, void*)
    PyObject** _PyObject_GetDictPtr(PyObject*) noexcept
    int PyObject_GenericSetAttr(object, object, object) except -1
    PyObject* _PyType_Lookup(PyTypeObject*, PyObject*) noexcept
    double PyFloat_AS_DOUBLE(object) noexcept
    char* PyBytes_AS_STRING(object) noexcept

cdef extern from *:
    """
    /* A number that is another one after each change of a dict, or of a class or of one that it derives from: what was
       compared at this number holds. 0 where there is none: from 3.13 on the attributes that a dict shows may lie in
       their object, and change unseen. */
    #if PY_VERSION_HEX < 0x030D0000
    #define HOAD_DICT_VERSION(dict) (((PyDictObject *)(dict))->ma_version_tag)
    #elif PY_VERSION_HEX < 0x030E0000
    #define HOAD_DICT_VERSION(dict) (((PyDictObject *)(dict))->ma_values == NULL \
                                     ? ((PyDictObject *)(dict))->ma_version_tag : 0)
    #else
    #define HOAD_DICT_VERSION(dict) 0
    #endif
    #if PY_VERSION_HEX < 0x030D0000
    #define HOAD_CLASS_VERSION(cls) (((PyTypeObject *)(cls))->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG \
                                     ? ((PyTypeObject *)(cls))->tp_version_tag : 0)
    #else
    #define HOAD_CLASS_VERSION(cls) (((PyTypeObject *)(cls))->tp_version_tag)
    #endif
    /* Whether these are words of memory, and a pointer is one. */
    #define HOAD_HAS_WORDS (sizeof(void *) == sizeof(uint64_t))
    #define HOAD_DICT_WORDS (HOAD_HAS_WORDS && PY_VERSION_HEX < 0x030E0000)
    #define HOAD_ATTRIBUTE_WORDS (HOAD_HAS_WORDS && PY_VERSION_HEX < 0x030D0000)
    #if PY_VERSION_HEX < 0x030E0000
    #define HOAD_DICT_WORD(dict) ((const uint64_t *)&((PyDictObject *)(dict))->ma_version_tag)
    #else
    #define HOAD_DICT_WORD(dict) ((const uint64_t *)(dict))
    #endif
    #define HOAD_TYPE_WORD(x) ((const uint64_t *)&((PyObject *)(x))->ob_type)
    #define HOAD_CELL_WORD(cell) ((const uint64_t *)&((PyCellObject *)(cell))->ob_ref)
    #define HOAD_CODE_WORD(f) ((const uint64_t *)&((PyFunctionObject *)(f))->func_code)
    #define HOAD_DEFAULTS_WORD(f) ((const uint64_t *)&((PyFunctionObject *)(f))->func_defaults)
    #define HOAD_KEYWORDS_WORD(f) ((const uint64_t *)&((PyFunctionObject *)(f))->func_kwdefaults)
    """
    bint HOAD_HAS_WORDS, HOAD_DICT_WORDS, HOAD_ATTRIBUTE_WORDS
    const uint64_t* HOAD_DICT_WORD(PyObject*) noexcept
    const uint64_t* HOAD_TYPE_WORD(PyObject*) noexcept
    const uint64_t* HOAD_CELL_WORD(PyObject*) noexcept
    const uint64_t* HOAD_CODE_WORD(PyObject*) noexcept
    const uint64_t* HOAD_DEFAULTS_WORD(PyObject*) noexcept
    const uint64_t* HOAD_KEYWORDS_WORD(PyObject*) noexcept
    uint64_t HOAD_DICT_VERSION(PyObject*) noexcept
    uint64_t HOAD_CLASS_VERSION(PyObject*) noexcept

cdef enum GuardKind:
    ITEMS           # of these keys, in a dict, or that it has none
    CELL            # what a closure cell holds
    ATTRIBUTES      # of these names, in the dictionary of an object
    SLOT            # one attribute that lies in a slot
    CLASS           # of these names, what the class and those it derives from say
    TYPE            # the class of an object
    FUNCTION        # code and defaults
    LIST            # all items
    MAPPING         # all items of a dict, in their order, but those of some keys
    CONTENT         # all items of a set, a deque and the like
    ARRAY           # shape, dtype and all bytes; the key is the object of `bytes` that they lie in, if any
    LAYOUT          # shape and dtype
    FLAGS           # flags and strides of an array
    CACHE           # items of a dict that only grows, in their order, whatever came after them
    HELD            # the same as `SLOT`, of what a replay never writes to
    TARGET          # what a weak reference refers to
    REGISTERED      # the number of classes that were registered with abstract ones

KINDS = {"item": ITEMS, "cell": CELL, "attribute": ATTRIBUTES, "slot": SLOT, "said": CLASS, "type": TYPE,
         "function": FUNCTION, "list": LIST, "mapping": MAPPING, "content": CONTENT, "array": ARRAY, "layout": LAYOUT,
         "flags": FLAGS, "cache": CACHE, "held": HELD, "target": TARGET, "registered": REGISTERED}
# What holds one object that can be exchanged.
PLACES = frozenset(["item", "cell", "attribute", "slot", "said"])
# Of these, all keys of one owner are compared at once.
cdef frozenset JOINED = frozenset(["item", "attribute", "said"])

cdef str MRO = "__mro__"


cdef class _Absent:
    """The mark for nothing found, in a tuple of what was found."""

    def __repr__(self):
        return "ABSENT"


ABSENT = _Absent()
cdef PyObject* NOTHING = <PyObject*>ABSENT
cdef enum:
    MOST_WORDS = 3          # of a guard


@cython.final
cdef class Environment:
    """What was read, as it was."""

    def __cinit__(self, watches not None):
        """Of (kind, owner, key, expected, name) each; `expected` is `ABSENT` where there was nothing."""
        cdef int k
        self.alive = joined(watches)
        self.size = len(self.alive)
        self.watches = <ValueGuard*>take(max(1, self.size) * sizeof(ValueGuard))
        if self.watches == NULL:
            raise MemoryError
        for k in range(self.size):
            kind, owner, key, expected, name = self.alive[k]
            if kind == "array":
                key = memory_of(owner)
                self.alive[k] = kind, owner, key, expected, name
            self.watches[k].kind = KINDS[kind]
            self.watches[k].owner = <PyObject*>owner
            self.watches[k].key = <PyObject*>key
            self.watches[k].expected = <PyObject*>expected
            self.watches[k].version = 0
        self.lay_out_words()

    def __dealloc__(self):
        give(self.watches, max(1, self.size) * sizeof(ValueGuard))
        give(self.words, max(1, MOST_WORDS * self.size) * sizeof(Word))
        give(self.others, max(1, self.size) * sizeof(int))

    cdef int lay_out_words(self) except -1:
        """Find the words of memory that tell, by being as they were, that guards hold.

        Those of dicts are numbers that no dict has twice, known once all was compared.
        """
        cdef int k
        cdef ValueGuard* w
        self.attributes = {}
        self.words = <Word*>take(max(1, MOST_WORDS * self.size) * sizeof(Word))
        self.others = <int*>take(max(1, self.size) * sizeof(int))
        if self.words == NULL or self.others == NULL:
            raise MemoryError
        for k in range(self.size):
            w = &self.watches[k]
            if HOAD_DICT_WORDS and (w.kind == ITEMS or w.kind == MAPPING or w.kind == CACHE):
                self.add_word(HOAD_DICT_WORD(w.owner), NULL, k)
            elif HOAD_ATTRIBUTE_WORDS and w.kind == ATTRIBUTES and _PyObject_GetDictPtr(w.owner) != NULL:
                self.add_word(<const uint64_t*>_PyObject_GetDictPtr(w.owner), NULL, k)
                self.add_word(HOAD_TYPE_WORD(w.owner), NULL, k)     # until there is a dict, at `still_holds`
            elif HOAD_HAS_WORDS and w.kind == TYPE:
                self.add_word(HOAD_TYPE_WORD(w.owner), w.expected, k)
            elif HOAD_HAS_WORDS and w.kind == CELL:
                self.add_word(HOAD_CELL_WORD(w.owner), w.expected, k)
            elif HOAD_HAS_WORDS and w.kind == FUNCTION:
                self.add_word(HOAD_CODE_WORD(w.owner), PyTuple_GET_ITEM(w.expected, 0), k)
                self.add_word(HOAD_DEFAULTS_WORD(w.owner), PyTuple_GET_ITEM(w.expected, 1), k)
                self.add_word(HOAD_KEYWORDS_WORD(w.owner), PyTuple_GET_ITEM(w.expected, 2), k)
            else:
                self.others[self.n_others] = k
                self.n_others += 1
        return 0

    cdef int add_word(self, const uint64_t* at, PyObject* expected, int guard) except -1:
        """Expect a pointer, that is none where nothing is expected."""
        cdef Word* word = &self.words[self.n_words]
        word.at = at
        word.expected = 0 if expected == NOTHING else <uint64_t>expected
        word.guard = guard
        self.n_words += 1
        return 0

    def change(self):
        """The name of the first thing that is not as it was, or None; a cache that has grown is not."""
        cdef int k = self.first_change()
        cdef int j
        for j in range(self.size if k < 0 else 0):
            if self.watches[j].kind == CACHE and has_grown(&self.watches[j]):
                return self.alive[j][4]
        return None if k < 0 else self.name_of(k)

    def guards(self):
        """(kind, owner, key, expected, name) of each thing that is compared."""
        cdef list found = []
        for guard in self.alive:
            kind, owner, keys, expected, names = <tuple>guard
            if kind in JOINED:
                found += [(kind, owner, key, value, name) for key, value, name in zip(keys, expected, names)]
            else:
                found.append(guard)
        return found

    cdef object name_of(self, int k):
        """The name of what is not as it was in guard k."""
        cdef Py_ssize_t j
        kind, _, keys, _, names = self.alive[k]
        if kind not in JOINED:
            return names
        for j in range(len(<tuple>keys)):
            if not holds_key(&self.watches[k], j):
                return (<tuple>names)[j]
        return (<tuple>names)[0]

    def weight(self):
        """About how many comparisons it takes."""
        cdef int k
        cdef int64_t found = 0
        for k in range(self.size):
            expected = self.alive[k][3]
            if isinstance(expected, tuple):
                found += len(<tuple>expected)
            elif isinstance(expected, np.ndarray):
                found += cnp.PyArray_NBYTES(<cnp.ndarray>expected) // 256
            found += 1
        return found

    def has_same(self, Environment other not None):
        """Whether this guards the same as another environment, by the same values."""
        cdef int k
        if self.size != other.size:
            return False
        for k in range(self.size):
            if self.watches[k].kind != other.watches[k].kind or self.watches[k].owner != other.watches[k].owner:
                return False
            if self.watches[k].kind == ARRAY or self.watches[k].kind == LAYOUT or self.watches[k].kind == FLAGS:
                continue        # which is as it was by both
            if not same(self.alive[k][2], other.alive[k][2]) or not same(self.alive[k][3], other.alive[k][3]):
                return False
        return True

    def changed_arrays(self):
        """The arrays that hold something else than they did."""
        cdef int k
        return [self.alive[k][1] for k in range(self.size)
                if self.watches[k].kind == ARRAY and not holds(&self.watches[k])]

    def share(self, Graph graph not None):
        """Compare arrays with the copies that a recording made of them, which a replay reads: one less to keep.

        Other recordings may have this environment, too: what they find in it holds the same. That no pointer is read
        while it is exchanged rests on the GIL; who compares holds what it compares.
        """
        cdef int k
        for k in range(self.size):
            if self.watches[k].kind != ARRAY:
                continue
            copy = graph.copy_of(<object>self.watches[k].owner)
            kind, owner, key, expected, name = self.alive[k]
            if copy is not None and copy.dtype == expected.dtype and same_bytes(expected, copy):
                self.alive[k] = kind, owner, key, copy, name
                self.watches[k].expected = <PyObject*>copy

    cdef int first_change(self) except -2:
        """The number of a guard that finds something else, or -1."""
        cdef int k
        if differ(self.words, self.n_words):
            for k in range(self.n_words):
                if self.words[k].at[0] != self.words[k].expected and not self.still_holds(k):
                    return self.words[k].guard
        for k in range(self.n_others):
            if not holds(&self.watches[self.others[k]]):
                return self.others[k]
        return -1

    cdef bint still_holds(self, int word) except -1:
        """Whether the guard of a word that is another one holds; if so, the word of a dict is expected from now on."""
        cdef int guard = self.words[word].guard
        cdef ValueGuard* w = &self.watches[guard]
        cdef uint64_t version       # before it is looked at
        cdef object attributes
        if w.kind == ATTRIBUTES:
            attributes = PyObject_GenericGetDict(<object>w.owner, NULL)
            version = HOAD_DICT_VERSION(<PyObject*>attributes)
            if not holds(w):
                return False
            if word and self.words[word - 1].guard == guard:
                word -= 1
            self.attributes[guard] = attributes
            self.words[word].expected = <uint64_t><PyObject*>attributes
            self.words[word + 1].at = HOAD_DICT_WORD(<PyObject*>attributes)
            self.words[word + 1].expected = version
            return True
        if w.kind == ITEMS or w.kind == MAPPING or w.kind == CACHE:
            version = HOAD_DICT_VERSION(w.owner)
            if not holds(w):
                return False
            self.words[word].expected = version
            return True
        return holds(w)


cdef inline uint64_t differ(const Word* words, int n) noexcept:
    """Whether any word is not what is expected; by no branch, as hardly ever one is."""
    cdef uint64_t found = 0
    cdef int k
    for k in range(n):
        found |= words[k].at[0] ^ words[k].expected
    return found


cpdef object found_at(str kind, owner, key):
    """What a place holds, or `ABSENT`."""
    if kind == "item":
        return (<dict>owner).get(key, ABSENT)
    if kind == "attribute":
        return (<dict>PyObject_GenericGetDict(owner, NULL)).get(key, ABSENT)
    if kind == "said" and key == MRO:
        return type.__dict__["__mro__"].__get__(owner)
    if kind == "said":
        found = _PyType_Lookup(<PyTypeObject*>owner, <PyObject*>key)
    elif kind == "cell":
        found = PyCell_GET(<PyObject*>owner)
    else:
        try:
            return PyObject_GenericGetAttr(owner, key)
        except AttributeError:
            return ABSENT
    return ABSENT if found == NULL else <object>found


cpdef int put_at(str kind, owner, key, value) except -1:
    """Let a place hold something; nothing, if that is `ABSENT`."""
    if value is ABSENT:
        take_from(kind, owner, key)
    elif kind == "item":
        (<dict>owner)[key] = value
    elif kind == "cell":
        owner.cell_contents = value
    elif kind == "said":
        type.__setattr__(owner, key, value)
    else:
        PyObject_GenericSetAttr(owner, key, value)
    return 0


cdef int take_from(str kind, owner, key) except -1:
    """Empty a place."""
    if kind == "item":
        (<dict>owner).pop(key, None)
        return 0
    try:
        if kind == "cell":
            del owner.cell_contents
        elif kind == "said":
            type.__delattr__(owner, key)
        else:
            object.__delattr__(owner, key)
    except AttributeError:      # it is empty
        pass
    return 0


def is_as_it_was(tuple guard not None):
    """Whether the place of a guard holds what is expected."""
    return same(found_at(guard[0], guard[1], guard[2]), guard[3])


def holds_now(tuple guard not None):
    """Whether one guard finds what it expects."""
    return Environment([guard]).change() is None


cdef list joined(watches):
    """Guards, with those of the keys of one owner as one."""
    cdef dict groups = {}
    cdef list found = []
    for guard in watches:
        kind, owner, key, expected, name = <tuple>guard
        if kind not in JOINED:
            found.append(guard)
            continue
        place = kind, id(owner)
        if place not in groups:
            groups[place] = owner, [], [], []
            found.append(place)
        _, keys, values, names = <tuple>groups[place]
        keys.append(key)
        values.append(expected)
        names.append(name)
    return [guard if len(<tuple>guard) > 2 else all_of(guard[0], groups[guard]) for guard in found]


cdef tuple all_of(kind, tuple group):
    owner, keys, values, names = group
    return kind, owner, tuple(keys), tuple(values), tuple(names)


cdef inline bint is_same(PyObject* found, PyObject* expected) except -1:
    """Whether what was found, or NULL, is what was expected."""
    if found == expected:
        return True
    if found == NULL:
        return expected == NOTHING
    if expected == NOTHING:
        return False
    return same(<object>found, <object>expected)


cdef bint same(object x, object y) except -1:
    """Whether two objects are one, or numbers or text of the same content; tuples, item by item."""
    cdef double a, b
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if type(x) is float:
        a, b = PyFloat_AS_DOUBLE(x), PyFloat_AS_DOUBLE(y)
        return memcmp(&a, &b, sizeof(double)) == 0
    if type(x) is int or type(x) is str or type(x) is bytes:
        return x == y
    if type(x) is complex:
        return same(x.real, y.real) and same(x.imag, y.imag)
    if issubclass(type(x), np.generic) and type(x) is not np.void and type(x) is not np.object_:
        return x.dtype == y.dtype and x.tobytes() == y.tobytes()
    if type(x) is tuple:
        return all_same(<PyObject*>x, <PyObject*>y)
    return False


cdef bint all_same(PyObject* found, PyObject* expected) except -1:
    """`same` for the items of two tuples."""
    cdef Py_ssize_t k
    if PyTuple_GET_SIZE(found) != PyTuple_GET_SIZE(expected):
        return False
    for k in range(PyTuple_GET_SIZE(expected)):
        if not is_same(PyTuple_GET_ITEM(found, k), PyTuple_GET_ITEM(expected, k)):
            return False
    return True


cdef inline bint holds(ValueGuard* w) except -1:
    """Whether a guard finds what was there; for most of them, one look tells."""
    if w.kind == CLASS:
        return (w.version != 0 and HOAD_CLASS_VERSION(w.owner) == w.version) or holds_class(w)
    if w.kind == ITEMS:
        return holds_keys(w)
    if w.kind == CELL:
        return PyCell_GET(w.owner) == w.expected or is_same(PyCell_GET(w.owner), w.expected)
    if w.kind == TYPE:
        return <PyObject*>Py_TYPE(w.owner) == w.expected
    if w.kind == FUNCTION:
        return holds_function(w)
    return holds_content(w)


cdef bint holds_content(ValueGuard* w) except -1:
    """`holds` for what takes longer."""
    if w.kind == ATTRIBUTES:
        return holds_attributes(w)
    if w.kind == LIST:
        return holds_list(w)
    if w.kind == MAPPING:
        return holds_mapping(w)
    if w.kind == CACHE:
        return has_items(w)
    if w.kind == TARGET:
        target = weakref.ref.__call__(<object>w.owner)
        return <PyObject*>target == w.expected
    if w.kind == REGISTERED:
        return get_cache_token() == <object>w.expected
    if w.kind == CONTENT:
        items = tuple(<object>w.owner)
        return all_same(<PyObject*>items, w.expected)
    if w.kind == ARRAY:
        return has_layout(w) and holds_array(w)
    if w.kind == LAYOUT:
        return has_layout(w)
    if w.kind == FLAGS:
        return (<object>w.owner).flags.num == (<tuple>w.expected)[0] and (<object>w.owner).strides == (
            <tuple>w.expected)[1]
    return holds_slot(w)


cdef bint has_layout(ValueGuard* w) except -1:
    """Whether an array has the shape and dtype of what was expected."""
    cdef cnp.ndarray a = <cnp.ndarray>w.owner
    cdef cnp.ndarray b = <cnp.ndarray>w.expected
    cdef int d
    if cnp.PyArray_NDIM(a) != cnp.PyArray_NDIM(b):
        return False
    for d in range(cnp.PyArray_NDIM(a)):
        if cnp.PyArray_DIM(a, d) != cnp.PyArray_DIM(b, d):
            return False
    return <object>cnp.PyArray_DESCR(a) is <object>cnp.PyArray_DESCR(b) or (<object>a).dtype == (<object>b).dtype


cdef bint holds_array(ValueGuard* w) except -1:
    """Whether an array of the expected layout has the expected bytes; once, where they lie in an object of `bytes`.

    The guard holds that object, so that no other memory has its address.
    """
    cdef cnp.ndarray array = <cnp.ndarray>w.owner
    cdef uint64_t at = <uint64_t>cnp.PyArray_DATA(array)
    cdef bint is_row = cnp.PyArray_IS_C_CONTIGUOUS(array)
    if is_row and at == w.version and at != 0:
        return True
    if not same_bytes(array, <object>w.expected):
        return False
    w.version = at if is_row and lies_in(array, <object>w.key) else 0
    return True


cdef object memory_of(object array):
    """The object of `bytes` in which an array of NumPy's class lies, or None. Nobody can write to that."""
    while type(array) is np.ndarray:
        array = array.base
    if type(array) is memoryview:
        array = array.obj
    return array if type(array) is bytes else None


cdef bint lies_in(cnp.ndarray array, object memory) except -1:
    """Whether a contiguous array lies within an object of `bytes`."""
    cdef char* start
    cdef char* data = <char*>cnp.PyArray_DATA(array)
    if memory is None:
        return False
    start = PyBytes_AS_STRING(memory)
    return start <= data and data + cnp.PyArray_NBYTES(array) <= start + len(<bytes>memory)


cdef inline bint holds_function(ValueGuard* w) except -1:
    cdef PyObject* defaults = PyFunction_GET_DEFAULTS(w.owner)
    cdef PyObject* keywords = PyFunction_GET_KW_DEFAULTS(w.owner)
    return (PyFunction_GET_CODE(w.owner) == PyTuple_GET_ITEM(w.expected, 0)
            and is_same(defaults, PyTuple_GET_ITEM(w.expected, 1))
            and (NOTHING if keywords == NULL else keywords) == PyTuple_GET_ITEM(w.expected, 2))


cdef bint holds_class(ValueGuard* w) except -1:
    """Whether a class that may have changed since has what it had."""
    cdef uint64_t version = HOAD_CLASS_VERSION(w.owner)
    if not holds_keys(w):
        return False
    w.version = version
    return True


cdef bint holds_keys(ValueGuard* w) except -1:
    """Whether a dict or a class has what it had."""
    cdef Py_ssize_t k
    for k in range(PyTuple_GET_SIZE(w.key)):
        if not holds_key(w, k):
            return False
    return True


cdef bint holds_key(ValueGuard* w, Py_ssize_t k) except -1:
    """Whether one of the keys has what it had."""
    cdef PyObject* key = PyTuple_GET_ITEM(w.key, k)
    if w.kind == ITEMS:
        return is_same(PyDict_GetItemWithError(w.owner, key), PyTuple_GET_ITEM(w.expected, k))
    if w.kind == CLASS and <object>key is MRO:
        return is_same((<PyTypeObject*>w.owner).tp_mro, PyTuple_GET_ITEM(w.expected, k))
    if w.kind == CLASS:
        return is_same(_PyType_Lookup(<PyTypeObject*>w.owner, key), PyTuple_GET_ITEM(w.expected, k))
    attributes = PyObject_GenericGetDict(<object>w.owner, NULL)
    return is_same(PyDict_GetItemWithError(<PyObject*>attributes, key), PyTuple_GET_ITEM(w.expected, k))


cdef bint holds_attributes(ValueGuard* w) except -1:
    cdef object attributes = PyObject_GenericGetDict(<object>w.owner, NULL)
    cdef Py_ssize_t k
    for k in range(PyTuple_GET_SIZE(w.key)):
        if not is_same(PyDict_GetItemWithError(<PyObject*>attributes, PyTuple_GET_ITEM(w.key, k)),
                       PyTuple_GET_ITEM(w.expected, k)):
            return False
    return True


cdef bint holds_slot(ValueGuard* w) except -1:
    try:
        found = PyObject_GenericGetAttr(<object>w.owner, <object>w.key)
    except AttributeError:
        found = ABSENT
    return is_same(<PyObject*>found, w.expected)


cdef bint holds_list(ValueGuard* w) except -1:
    cdef Py_ssize_t k
    if PyList_GET_SIZE(w.owner) != PyTuple_GET_SIZE(w.expected):
        return False
    for k in range(PyTuple_GET_SIZE(w.expected)):
        if not is_same(PyList_GET_ITEM(w.owner, k), PyTuple_GET_ITEM(w.expected, k)):
            return False
    return True


cdef bint holds_mapping(ValueGuard* w) except -1:
    if w.key != <PyObject*>None:
        items = items_without(<object>w.owner, <object>w.key)
        return all_same(<PyObject*>items, w.expected)
    return 2 * PyDict_Size(w.owner) == PyTuple_GET_SIZE(w.expected) and has_items(w)


cpdef tuple items_without(owner, tuple keys):
    """Keys and values of a dict, one after the other, but those of some keys."""
    cdef list found = []
    cdef Py_ssize_t at = 0
    cdef PyObject* key
    cdef PyObject* value
    while PyDict_Next(<PyObject*>owner, &at, &key, &value):
        if not is_among_keys(key, <PyObject*>keys):
            found += [<object>key, <object>value]
    return tuple(found)


cdef bint is_among_keys(PyObject* key, PyObject* keys) except -1:
    cdef Py_ssize_t k
    for k in range(PyTuple_GET_SIZE(keys)):
        if is_same(key, PyTuple_GET_ITEM(keys, k)):
            return True
    return False


cdef bint has_grown(ValueGuard* w) except -1:
    return 2 * PyDict_Size(w.owner) > PyTuple_GET_SIZE(w.expected)


cdef bint has_items(ValueGuard* w) except -1:
    """Keys and values, which lie one after the other in what was expected; and maybe others after them."""
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t k = 0
    cdef PyObject* key
    cdef PyObject* value
    if 2 * PyDict_Size(w.owner) < PyTuple_GET_SIZE(w.expected):
        return False
    while k < PyTuple_GET_SIZE(w.expected) and PyDict_Next(w.owner, &at, &key, &value):
        if not (is_same(key, PyTuple_GET_ITEM(w.expected, k)) and is_same(value, PyTuple_GET_ITEM(w.expected, k + 1))):
            return False
        k += 2
    return True
