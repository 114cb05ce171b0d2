"""scipy.special: each ufunc by each of its arguments as its registered rule says, and the functions beside them."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.special as sc
from covered.rows import Kind
from covered.scipy_calls import Call, of

import hoad
from hoad._ops.primitives import known_primitive
from hoad.errors import NoRuleError

hoad.jvp(sc.erf, (0.5,), (1.0,))  # loads the rules

# Where a ufunc is tried, if the first place of PLACES at which it is finite and not flat will not do.
PLACES = ((0.3, 0.6, 1.2, 0.45, 0.8), (1.3, 2.6, 0.4, 0.7, 0.9), (2.5, 3.5, 4.5, 0.35, 0.6), (0.4, 0.7, 0.3, 0.2, 0.5))
WHOLE = (2, 3, 1)
SPHEROIDAL = [
    (kind, part, 1.5 if (kind, part) > ("pro", "b") else 0.4)
    for kind in ("obl", "pro")
    for part in ("ang1", "rad1", "rad2")
]
AT: dict[str, tuple[Any, ...]] = {
    "ndtri_exp": (-0.7,),
    "lpmv": (1.0, 2.0, 0.4),
    "smirnov": (2, 0.4),
    **dict.fromkeys(["mathieu_a", "mathieu_b"], (2.0, 0.5)),
    **{f"mathieu_{kind}": (2.0, 0.5, 1.5) for kind in ("cem", "sem", "modcem1", "modcem2", "modsem1", "modsem2")},
    **{f"{kind}_{part}": (1.0, 2.0, 0.5, x) for kind, part, x in SPHEROIDAL},
    **{
        f"{kind}_{part}_cv": (1.0, 2.0, 0.5, float(getattr(sc, f"{kind}_cv")(1, 2, 0.5)), x)
        for kind, part, x in SPHEROIDAL
    },
    **{f"{kind}_cv": (1.0, 2.0, 0.5) for kind in ("obl", "pro")},
    **{f"{kind}_rad2": (0.0, 0.0, 1.5, 1.5) for kind in ("obl", "pro")},
    **{f"{kind}_rad2_cv": (0.0, 0.0, 1.5, float(getattr(sc, f"{kind}_cv")(0, 0, 1.5)), 1.5) for kind in ("obl", "pro")},
}
ACCURACY = {"ncfdtrinc": 1e-4}  # of SciPy's values, where differences show more than rounding
NO_RULE = "It has no rule: give it one by hoad.defvjp."


def numbers_of(ufunc: np.ufunc) -> str:
    """The types of the arguments of its loop for doubles: orders are whole numbers where there is one for these."""
    loops = [types.partition("->")[0] for types in ufunc.types]
    whole = [loop for loop in loops if set(loop) <= set("lqpid") and "d" in loop and set(loop) != {"d"}]
    real = [loop for loop in loops if set(loop) == {"d"}]
    return (whole or real or [loop for loop in loops if set(loop) <= set("dD")])[0]


def places(name: str) -> Iterator[tuple[Any, ...]]:
    if name in AT:
        yield AT[name]
        return
    kinds = numbers_of(getattr(sc, name))
    for place, shift in itertools.product(PLACES, range(2)):
        yield tuple(
            WHOLE[k] if kind in "lqpi" else place[k + shift if k + shift < 5 else k] for k, kind in enumerate(kinds)
        )


def value_at(name: str, at: tuple[Any, ...]) -> Any:
    """Of several results the first."""
    found = getattr(sc, name)(*at)
    return np.real(found[0] if isinstance(found, tuple) else found)


def is_smooth(name: str, at: tuple[Any, ...]) -> bool:
    """Whether it is finite there, and depends on its last argument."""
    with np.errstate(all="ignore"):
        beside = [float(value_at(name, (*at[:-1], at[-1] + h))) for h in (-0.01, 0.0, 0.01)]
    return all(np.isfinite(x) and abs(x) < 1e3 for x in beside) and len(set(beside)) == 3


def place_of(name: str) -> tuple[Any, ...]:
    return next((at for at in places(name) if is_smooth(name, at)), next(places(name)))


def slopes(name: str, at: tuple[Any, ...]) -> list[Any]:
    """What the rule of a ufunc gives for each argument: an adjoint, None for zero, or an error that says why."""
    primitive = known_primitive(getattr(sc, name))
    if primitive is None or primitive.rule is None:
        return [NoRuleError(NO_RULE)] * len(at)
    numbers = [np.float64(x) if isinstance(x, float) else np.int64(x) for x in at]
    results = getattr(sc, name)(*at)
    with np.errstate(all="ignore"):
        if isinstance(results, tuple):
            return list(primitive.rule(tuple(np.ones_like(p) for p in results), results, *numbers))
        return list(primitive.rule(np.float64(1.0), results, *numbers))


def arguments_of(name: str) -> list[str]:
    """As SciPy's docstring calls them."""
    ufunc = getattr(sc, name)
    inside = [*re.findall(rf"^ *{name}\((.*?)\)", ufunc.__doc__ or "", flags=re.MULTILINE), ""]
    names = [part.strip() for part in inside[: len(inside) - 1 or 1][-1].split(",") if part.strip()][: ufunc.nin]
    known = [part for part in names if part.isidentifier()]
    return known if len(known) == ufunc.nin else [f"x{k + 1}" for k in range(ufunc.nin)]


def _ufuncs() -> Iterator[Call]:
    for name in UFUNCS:
        at, ufunc = place_of(name), getattr(sc, name)
        for k, (argument, slope) in enumerate(zip(arguments_of(name), slopes(name, at), strict=True)):
            if numbers_of(ufunc)[k] in "lqpi":
                continue  # a whole number
            is_unknown = isinstance(slope, NoRuleError)
            kind = Kind.NOT_YET if is_unknown else Kind.CONSTANT if slope is None else Kind.DIFFERENTIABLE
            yield Call(
                f"scipy.special.{name}",
                kind,
                functools.partial(_called, ufunc, at, k),
                float(at[k]),
                argument,
                rtol=ACCURACY.get(name, 1e-8),
            )


def _called(ufunc: Any, at: tuple[Any, ...], k: int, x: Any) -> Any:
    is_complex = numbers_of(ufunc)[k] == "D"
    return ufunc(*at[:k], x + 0j if is_complex else x, *at[k + 1 :])


def _is_named_first(name: str) -> bool:
    """Of two names of a ufunc, the one that it says itself."""
    return getattr(sc, name).__name__ == name or getattr(sc, getattr(sc, name).__name__, None) is not getattr(sc, name)


UFUNCS = sorted(name for name in set(sc.__all__) if isinstance(getattr(sc, name), np.ufunc) and _is_named_first(name))
V, W = np.array([0.5, 1.25, 0.75]), np.array([0.3, 0.6, 0.9])
COMPILED = "SciPy computes it in compiled code."
OF_SOLVERS = "It has no rule."


def _functions() -> Iterator[Call]:
    for name in ("logsumexp", "softmax", "log_softmax"):
        yield from of(f"special.{name}", {"a": V}, D="a")
    yield from of("special.logsumexp", {"b": W}, call=lambda f, b: f(V, b=b), D="b")
    yield from of("special.softplus", {"x": V}, D="x")
    yield from of("special.sinc", {"x": V}, D="x")
    yield from of("special.zeta", {"x": 2.5, "q": 0.7}, D="x q")
    yield from of("special.lambertw", {"z": 0.7}, D="z")
    yield from of("special.multigammaln", {"a": 2.7}, call=lambda f, a: f(a, 2), D="a")
    for name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
        yield from of(f"special.{name}", {"z": 0.7}, call=lambda f, z: f(2, z), D="z")
        yield from of(f"special.{name}", {"z": 0.7}, call=lambda f, z: f(2, z, True), D="z", tag="derivative=True")
    yield from of("special.polygamma", {"x": 0.7}, call=lambda f, x: f(1, x), D="x")
    yield from of("special.diric", {"x": W}, call=lambda f, x: f(x, 4), D="x")
    yield from of("special.factorial", {"n": 3.5}, D="n")
    yield from of("special.factorial", {"n": 3.5}, call=lambda f, n: f(n, extend="complex"), tag="extended", D="n")
    yield from of("special.zeta", {"x": 2.5}, tag="alone", D="x")
    for name in ("factorial2", "factorialk"):
        more = [3] if name == "factorialk" else []
        yield from of(f"special.{name}", {"n": 3.5}, call=lambda f, n, m=more: f(n, *m, extend="complex"), N="n")
    for name in ("comb", "perm"):
        yield from of(f"special.{name}", {"N": 5.5, "k": 2.5}, D="N k")
    yield from of("special.assoc_laguerre", {"x": 0.7, "k": 0.4}, call=lambda f, x, k: f(x, 2, k), D="x k")
    for name in ("jvp", "yvp", "kvp", "ivp"):
        yield from of(f"special.{name}", {"v": 1.5, "z": 0.7}, D="v z")
    for name in ("h1vp", "h2vp"):
        yield from of(f"special.{name}", {"v": 1.5, "z": 0.7}, call=lambda f, v, z: f(v, z + 0j), D="z", N="v")
    yield from of("special.legendre_p", {"z": 0.7}, call=lambda f, z: f(2, z), D="z")
    yield from of("special.legendre_p_all", {"z": 0.7}, call=lambda f, z: f(2, z), N="z")
    for name in ("assoc_legendre_p", "assoc_legendre_p_all"):
        yield from of(f"special.{name}", {"z": 0.7}, call=lambda f, z: f(2, 1, z), N="z")
    angles = {"theta": 0.7, "phi": 0.4}
    yield from of("special.sph_legendre_p", {"theta": 0.7}, call=lambda f, z: f(2, 1, z), D="theta")
    yield from of("special.sph_legendre_p_all", {"theta": 0.7}, call=lambda f, z: f(2, 1, z), N="theta")
    yield from of("special.sph_harm_y", angles, call=lambda f, t, p: f(2, 1, t, p), D="theta phi")
    yield from of("special.sph_harm_y_all", angles, call=lambda f, t, p: f(2, 1, t, p), N="theta phi")
    for name in ("riccati_jn", "riccati_yn", "lmbda", "lqn"):
        yield from of(f"special.{name}", {"x": 0.7}, call=lambda f, x: f(2, x), N="x")
    yield from of("special.lqmn", {"z": 0.7}, call=lambda f, x: f(1, 2, x), N="z")
    for name in ("pbdv_seq", "pbvv_seq"):
        yield from of(f"special.{name}", {"v": 1.5, "x": 0.7}, N="v x")
    yield from of("special.pbdn_seq", {"z": 0.7}, call=lambda f, z: f(2, z + 0j), N="z")
    for name in ("mathieu_even_coef", "mathieu_odd_coef"):
        yield from of(f"special.{name}", {"q": 0.7}, call=lambda f, q: f(2, q), N="q")
    for name in ("pro_cv_seq", "obl_cv_seq"):
        yield from of(f"special.{name}", {"c": 0.7}, call=lambda f, c: f(1, 3, c), N="c")
    for name in ("ellip_harm", "ellip_harm_2"):
        yield from of(f"special.{name}", {"s": 2.5}, call=lambda f, s: f(1.0, 2.0, 1, 1, s), N="s")
    yield from of("special.ellip_normal", {"h2": 1.5}, call=lambda f, h: f(h, 4.0, 1, 1), N="h2")
    for name in ("chebyc", "chebys", "chebyt", "chebyu", "hermite", "hermitenorm", "laguerre", "legendre"):
        yield from of(f"special.{name}", {"x": 0.7}, call=lambda f, x: f(3)(x), D="x", tag="of the polynomial")
    for name in ("sh_chebyt", "sh_chebyu", "sh_legendre"):
        yield from of(f"special.{name}", {"x": 0.7}, call=lambda f, x: f(3)(x), D="x", tag="of the polynomial")
    for name in ("gegenbauer", "genlaguerre"):
        yield from of(f"special.{name}", {"alpha": 0.8}, call=lambda f, a: f(3, a)(0.7), N="alpha")
        yield from of(f"special.{name}", {"x": 0.7}, call=lambda f, x: f(3, 0.8)(x), D="x", tag="of the polynomial")
    for name in ("jacobi", "sh_jacobi"):
        yield from of(
            f"special.{name}", {"x": 0.7}, call=lambda f, x: f(3, 1.5, 0.8)(x), D="x", tag="of the polynomial"
        )
    for name, (count, shapes) in ROOTS.items():
        yield from of(f"special.roots_{name}", shapes, call=lambda f, *a, n=count: f(n, *a)[0], N=" ".join(shapes))


ROOTS: dict[str, tuple[int, dict[str, float]]] = {
    "gegenbauer": (3, {"alpha": 0.8}),
    "genlaguerre": (3, {"alpha": 0.8}),
    "jacobi": (3, {"alpha": 1.5, "beta": 0.8}),
    "sh_jacobi": (3, {"p1": 1.5, "q1": 0.8}),
}
ROWS = [*_ufuncs(), *_functions()]
LEFT = {
    "Zeros, nodes and numbers by whole numbers": (
        "ai_zeros bei_zeros beip_zeros ber_zeros bernoulli berp_zeros bi_zeros c_roots erf_zeros euler fresnel_zeros "
        "fresnelc_zeros fresnels_zeros h_roots he_roots jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros "
        "kei_zeros keip_zeros kelvin_zeros ker_zeros kerp_zeros l_roots  p_roots ps_roots roots_chebyc roots_chebys "
        "roots_chebyt roots_chebyu roots_hermite roots_hermitenorm roots_laguerre roots_legendre roots_sh_chebyt "
        "roots_sh_chebyu roots_sh_legendre s_roots stirling2 t_roots ts_roots u_roots us_roots y0_zeros y1_zeros "
        "y1p_zeros "
        "yn_zeros ynp_zeros"
    ),
    "How errors are told": "errstate geterr seterr",
}
