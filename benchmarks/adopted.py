"""How many functions of packages that never heard of hoad have a gradient: as they are, and adopted.

The functions are the rows of `tests/_adopt/packages.py`, of the packages in the extra `adopt-test`. A row runs, or
raises, or is wrong, compared with plain values and with differences; packages that are not installed are left out.

    python benchmarks/adopted.py [WORDS OF A ROW]

Bar: with adopt, all rows run that say so, and none is wrong.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import hoad

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from _adopt.packages import ROWS, Row, mistake, summed

WAYS = {"as it is": lambda f: f, "adopted": hoad.adopt}


def outcome(row: Row, adopt: Any) -> tuple[str, str]:
    """What becomes of a row, in a word and in a line."""
    plain = row.make()
    try:
        value, gradient = hoad.value_and_grad(summed(adopt(plain)))(row.value)
    except Exception as failure:
        lines = str(failure).strip().splitlines() or [""]
        return "raises", f"{type(failure).__name__}: {lines[-1]}"
    try:
        found = mistake(row, summed(plain), row.value, value, gradient)
    except hoad.TracedValueError:  # of an object that keeps traced values
        return "runs", "the plain function raises afterwards"
    except Exception as failure:
        found = f"the plain function raises {type(failure).__name__} afterwards: {failure}"
    return ("wrong" if found else "runs"), found.replace("\n", " ")


def main() -> int:
    warnings.simplefilter("ignore")
    rows = [row for row in ROWS if all(word in str(row) for word in sys.argv[1:])]
    missing = {row.package for row in rows if importlib.util.find_spec(row.package) is None}
    rows = [row for row in rows if row.package not in missing]
    totals = {way: Counter[str]() for way in WAYS}
    surprises = 0
    for row in rows:
        for way, adopt in WAYS.items():
            with contextlib.redirect_stdout(io.StringIO()):  # some packages print
                word, line = outcome(row, adopt)
            totals[way][word] += 1
            print(f"{way:9} {word:6} {row}" + (f"\n{'':17}{line[:240]}" if line else ""), flush=True)
        surprises += word == "wrong" or (word == "runs") != (row.expect in ("runs", "keeps"))
    for way, total in totals.items():
        print(f"{way}: {total['runs']} run, {total['raises']} raise, {total['wrong']} are wrong, of {len(rows)}")
    if missing:
        print(f"not installed: {', '.join(sorted(missing))}")
    if not hasattr(hoad, "adopt"):
        print("this hoad has no adopt: functions were taken as they are")
    return int(bool(surprises))


if __name__ == "__main__":
    raise SystemExit(main())
