"""NumPy's functions and methods on traced values: each is a primitive or is composed of primitives.

One function, one implementation: ``__array_function__``, the methods and the operators all come here. What is not
here raises `NoRuleError`.
"""

from hoad._numpy import (
    advice,
    contractions,
    decompositions,
    fft,
    indexing,
    logic,
    creation as making,
    methods,
    complex as parts,
    products,
    rearranging,
    reductions,
    rewriting,
    searching,
    sequences,
    shape,
    squares,
    statistics,
    views,
    assignment as writing,
)
from hoad._numpy.registry import as_traced, implements

__all__ = [
    "advice",
    "as_traced",
    "contractions",
    "decompositions",
    "fft",
    "implements",
    "indexing",
    "logic",
    "making",
    "methods",
    "parts",
    "products",
    "rearranging",
    "reductions",
    "rewriting",
    "searching",
    "sequences",
    "shape",
    "squares",
    "statistics",
    "views",
    "writing",
]
