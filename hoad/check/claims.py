"""What a derivative written by hand returned: numbers of the shapes that were asked for, or words on what it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hoad.check.points import Array, as_numbers, described

Shape = tuple[int, ...]


def read(returned: Any, wanted: Sequence[Shape], several: bool) -> tuple[list[Array], str]:
    """The derivatives by every argument, or what is the matter with them; `several` if they come in a tuple."""
    parts = _apart(returned, len(wanted)) if several else [returned]
    if parts is None or (several and _is_value_and_rest(returned, wanted)):
        return [], _misfit_of_several(returned, wanted)
    arrays = [as_numbers(part) for part in parts]
    found = []
    for k, (array, shape) in enumerate(zip(arrays, wanted, strict=True)):
        if array is None or array.shape != shape:
            return [], (f"in place {k} of the tuple, " if several else "") + misfit(parts[k], shape)
        found.append(array)
    return found, ""


def misfit(returned: Any, wanted: Shape) -> str:
    """What stands in the place of one derivative, what must stand there, and what to do."""
    must = f"must have shape {wanted}" if wanted else "must be a number"
    if isinstance(returned, (tuple, list)) or as_numbers(returned) is None:
        return _joined(f"yours is {described(returned)}, but {must}.", _advice_on_kind(returned, wanted))
    found = np.shape(returned)
    return _joined(f"yours has shape {found}, but {must}.", _advice_on_shape(found, wanted))


def _apart(returned: Any, number: int) -> list[Any] | None:
    """As many derivatives as there are arguments; None where it is no such sequence."""
    if isinstance(returned, (tuple, list)) or (isinstance(returned, np.ndarray) and returned.ndim):
        return list(returned) if len(returned) == number else None
    return None


def _misfit_of_several(returned: Any, wanted: Sequence[Shape]) -> str:
    names = ", ".join(f"shape {shape}" if shape else "a number" for shape in wanted)
    advice = ""
    if _is_value_and_rest(returned, wanted):
        advice = "It looks like (value, gradient): return the second alone."
    elif len(wanted) == 1 and _fits(returned, wanted[0]):
        advice = "Return it in a tuple, or ask for argnums=0."
    return _joined(f"yours is {described(returned)}, but must be a tuple of {len(wanted)}: {names}.", advice)


def _advice_on_kind(returned: Any, wanted: Shape) -> str:
    if returned is None:
        return "Return the derivative."
    if not isinstance(returned, (tuple, list)):
        return "Return one array."
    if len(returned) == 1 and _fits(returned[0], wanted):
        return "Return it without the tuple, or ask for argnums=(0,)."
    if _is_pair_with_value(returned) and _fits(returned[1], wanted):
        return "It looks like (value, gradient): return the second alone."
    fitting = [k for k, part in enumerate(returned) if _fits(part, wanted)]
    if fitting[:1] == [0]:
        return f"For derivatives with respect to {len(returned)} arguments pass argnums={tuple(range(len(returned)))}."
    if len(fitting) == 1:
        return f"Only [{fitting[0]}] of it has that shape: return that alone."
    return "Return one array, np.array([...])."


def _advice_on_shape(found: Shape, wanted: Shape) -> str:
    if math.prod(found) == math.prod(wanted):
        if found == wanted[::-1] and len(wanted) == 2:
            return "It looks transposed: a row for each result, a column for each entry of x."
        return f"Reshape it: g.reshape{wanted}."
    extra = len(found) - len(wanted)
    if extra < 0 or not all(n in (1, found[extra + k]) for k, n in enumerate(wanted)):
        return ""
    repeated = [*range(extra), *(extra + k for k, n in enumerate(wanted) if n == 1 != found[extra + k])]
    axes = repeated[0] if len(repeated) == 1 else tuple(repeated)
    return f"Sum over what broadcasting repeated: axis {axes}."


def _is_pair_with_value(returned: Any) -> bool:
    return isinstance(returned, (tuple, list)) and len(returned) == 2 and _fits(returned[0], ())


def _is_value_and_rest(returned: Any, wanted: Sequence[Shape]) -> bool:
    """Whether the derivatives with respect to several arguments are the second of a pair."""
    return _is_pair_with_value(returned) and isinstance(returned[1], (tuple, list)) and len(returned[1]) == len(wanted)


def _fits(returned: Any, wanted: Shape) -> bool:
    array = as_numbers(returned)
    return array is not None and array.shape == wanted


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))
