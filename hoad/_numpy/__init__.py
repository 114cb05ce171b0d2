"""NumPy's functions and methods on traced values: each is a primitive or is composed of primitives.

One function, one implementation: ``__array_function__``, the methods and the operators all come here. What is not
here raises `NoRuleError`.
"""

from hoad._numpy import (  # noqa: F401  (each registers what it implements)
    advice,
    applied,
    assignment,
    complex,
    contractions,
    creation,
    decompositions,
    fft,
    histograms,
    indexing,
    logic,
    methods,
    objects,
    order_statistics,
    ordered_results,
    padding,
    polynomials,
    products,
    random,
    ranges,
    rearranging,
    reductions,
    rewriting,
    scimath,
    searching,
    sequences,
    sets,
    shape,
    squares,
    statistics,
    structure,
    ufunc_methods,
    views,
)
