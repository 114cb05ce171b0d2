"""Rows of the table of cases for Bessel functions by their order and argument."""

from __future__ import annotations

from mpmath import mp
from rules.sampling import Sampler, between, integers, mixed, positive
from rules.special_cases import Function, special

ORDER = mixed(between(0.2, 4.0), lambda rng, count: integers(1, 12)(rng, count).astype(float))
ANY_ORDER = between(-4.0, 12.0)
RIGHT = positive(0.1, 30.0)


def by_order(name: str, oracle: Function, order: Sampler, label: str = "") -> None:
    special(name, oracle, order, RIGHT, label=f"special_{name}_by_order{label}", tolerance=4e-14, closes=False)


for _order, _label in ((ORDER, ""), (ANY_ORDER, "_of_any_sign")):
    by_order("jv", mp.besselj, _order, _label)
    by_order("yv", mp.bessely, _order, _label)
    by_order("iv", mp.besseli, _order, _label)
    by_order("kv", mp.besselk, _order, _label)
by_order("ive", lambda v, x: mp.exp(-x) * mp.besseli(v, x), ORDER)
by_order("kve", lambda v, x: mp.exp(x) * mp.besselk(v, x), ANY_ORDER)
by_order("jve", mp.besselj, ORDER)
by_order("yve", mp.bessely, ORDER)


for _order, _place, _label in (
    (ORDER, mixed(positive(0.1, 3.0), positive(3.0, 30.0)), ""),
    (between(-4.0, -1.0), between(3.0, 12.0), "_below"),
):
    for _name, _oracle in (("struve", mp.struveh), ("modstruve", mp.struvel)):
        special(_name, _oracle, _order, _place, label=f"special_{_name}_by_order{_label}", tolerance=4e-13,
                closes=False)  # fmt: skip
special("struve", mp.struveh, between(4.0, 12.0), between(3.0, 8.0), label="special_struve_by_order_where_y_is_large",
        tolerance=4e-13, closes=False)  # fmt: skip
special("struve", mp.struveh, RIGHT, of=[-1], label="special_struve_-1", tolerance=4e-14, closes=False)
for _name, _oracle in (("struve", mp.struveh), ("modstruve", mp.struvel)):
    special(_name, _oracle, RIGHT, of=[0], label=f"special_{_name}_0", tolerance=4e-14, closes=False)
