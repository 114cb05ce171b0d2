"""What functions read of pandas' frames and series: replayed while it is as it was, and never stale."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hoad

pd = pytest.importorskip("pandas")


class Held:
    """A frame, a series of it, and an array that a series shows."""

    def __init__(self) -> None:
        self.frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "w": [1, 2, 3], "name": ["a", "b", "c"]})
        self.frame["kind"] = pd.Categorical(["u", "v", "u"])
        self.frame["day"] = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-05"])
        self.array = np.array([1.0, 4.0])
        self.series = pd.Series(self.array, copy=False, name="s")
        self.column = "x"


def set_column(frame: Any, name: str, values: Any) -> None:
    frame[name] = values  # a call of __setitem__ is refused as that of a copy


READS: dict[str, Callable[[Held, Any], Any]] = {
    "to_numpy": lambda o, x: np.sum(o.frame[o.column].to_numpy() * x),
    "values": lambda o, x: np.sum(o.frame.x.values * x),
    "asarray": lambda o, x: np.sum(np.asarray(o.frame["x"]) * np.asarray(o.frame["w"]) * x),
    "a matrix": lambda o, x: np.sum(o.frame[["x", "w"]].to_numpy() @ np.ones(2)) * x,
    "one number": lambda o, x: o.frame["x"].iloc[0] * o.frame.loc[o.frame.index[1], "x"] * x,
    "rows": lambda o, x: sum(row.x * x for row in o.frame.itertuples()),
    "a sum": lambda o, x: float(o.frame["x"].mean() + o.frame["w"].sum()) * x,
    "a series": lambda o, x: np.sum(o.series.to_numpy()) * len(str(o.series.name)) * x,
    "labels": lambda o, x: len(o.frame.columns) * len("".join(map(str, o.frame.columns))) * x,
    "text": lambda o, x: len("".join(o.frame["name"])) * x,
    "kinds": lambda o, x: float((o.frame["kind"] == "u").sum()) * x,
    "days": lambda o, x: float((o.frame["day"].max() - o.frame["day"].min()).days) * x,
    "groups": lambda o, x: float(o.frame.groupby("kind", observed=True)["x"].sum().iloc[0]) * x,
    "a note": lambda o, x: o.frame.attrs.get("unit", 1.0) * x,
}
CHANGES: dict[str, Callable[[Held], object]] = {
    "an element": lambda o: o.frame.__setattr__("x", o.frame["x"].where(o.frame["w"] > 1, 9.0)),
    "an element in place": lambda o: o.frame.iloc.__setitem__((0, 0), 7.0),
    "a column": lambda o: set_column(o.frame, "x", [5.0, 6.0, 7.0]),
    "a column more": lambda o: set_column(o.frame, "more", 1.0),
    "names of columns": lambda o: setattr(o.frame, "columns", [*o.frame.columns[:-1], "longer"]),
    "order": lambda o: setattr(o, "frame", o.frame.sort_values("x", ascending=False)),
    "labels": lambda o: o.frame.__setattr__("index", [10, 11, 12]),
    "a row less": lambda o: setattr(o, "frame", o.frame.drop(o.frame.index[0])),
    "text": lambda o: set_column(o.frame, "name", ["long"] * len(o.frame)),
    "kinds": lambda o: set_column(o.frame, "kind", pd.Categorical(["u"] * len(o.frame))),
    "days": lambda o: set_column(o.frame, "day", pd.to_datetime(["2021-01-01", "2022-01-02"])),
    "an array that a series shows": lambda o: o.array.__setitem__(0, 8.0),
    "a name": lambda o: setattr(o.series, "name", "longer"),
    "a note": lambda o: o.frame.attrs.update(unit=3.0),
    "which column": lambda o: setattr(o, "column", "w"),
    "the frame": lambda o: setattr(o, "frame", o.frame.copy()),
}


@pytest.mark.parametrize("name", READS)
def test_what_is_read_is_as_without_jit(name: str) -> None:
    fast, slow, read = Held(), Held(), READS[name]
    g = hoad.jit(lambda x: read(fast, x))
    with warnings.catch_warnings():
        warnings.simplefilter("error", hoad.JitWarning)
        for change in (lambda o: None, *CHANGES.values()):
            change(fast), change(slow)
            for x in (1.5, 2.5, 1.5):
                np.testing.assert_allclose(g(x), read(slow, x), rtol=1e-14)
    assert g.signatures[0].recorded


def test_what_is_written_to_a_frame() -> None:
    fast, slow = Held(), Held()

    def f(o: Held, x: Any) -> Any:
        o.frame.loc[o.frame.index[0], "x"] += 1.0
        return x**2

    g = hoad.jit(lambda x: f(fast, x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hoad.JitWarning)
        for x in (1.5, 2.5, 1.5, 2.5):
            assert g(x) == f(slow, x)
            assert fast.frame.equals(slow.frame)


def test_a_row_that_is_drawn_and_the_time() -> None:
    o = Held()
    for f in (lambda x: float(o.frame["x"].sample(1).iloc[0]) * x, lambda x: pd.Timestamp.now().year * x):
        g = hoad.jit(f)
        with pytest.warns(hoad.JitWarning):
            list(map(g, (1.5, 2.5, 1.5)))
        assert not g.signatures[0].recorded
