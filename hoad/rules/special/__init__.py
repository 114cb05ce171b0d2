"""Derivatives of the ufuncs of `scipy.special`, a file per family: of each ufunc one line, its rule and its series.

The tables are imported when a ufunc of SciPy first meets a traced value; hoad itself does not need SciPy. Where a
derivative with respect to a parameter (the degrees of freedom of a noncentral distribution) has no formula, the
rule holds an error in its place, which is raised where it is asked for.

Derivatives are ``k! cₖ`` of the coefficients of a series. Neither makes use of differences; sums of both signs are
those of the definition.
"""

from hoad.rules.special import (
    airy,
    bessel,
    bessel_orders,
    beta,
    distributions,
    elementary,
    elliptic,
    equations,
    error_functions,
    gamma,
    hypergeometric,
    integrals,
    of_stats,
    orthogonal,
    struve,
)

__all__ = [
    "airy",
    "bessel",
    "bessel_orders",
    "beta",
    "distributions",
    "elementary",
    "elliptic",
    "equations",
    "error_functions",
    "gamma",
    "hypergeometric",
    "integrals",
    "of_stats",
    "orthogonal",
    "struve",
]
