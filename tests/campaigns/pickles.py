"""Damaged pickles of random programs: each is refused, or gives a program that can be used without harm.

Numbers, lists, shapes, dtypes and parameters of the plain data that a pickle holds are changed, and bytes inside it. A
wrong result is not a finding, for a pickle may hold any program; a crash of the process is, and so is any other
exception than `pickle.UnpicklingError` where a program is read.
"""

from __future__ import annotations

import contextlib
import copyreg
import io
import os
import pickle
import pickletools
import resource
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import hoad
from hoad._program.callee import Callee

MUTATIONS = 20
LARGEST = 1 << 22  # numbers in what is used: more is only slow
MEMORY = 8 << 30  # bytes of addresses, so that what asks for more is told so
OURS = (hoad.Program, Callee)

X = np.linspace(0.2, 0.9, 6)
M = np.linspace(-1.0, 1.0, 36).reshape(6, 6) + 4.0 * np.eye(6)


def branched(x: Any) -> Any:
    return np.sum(x * x) if x[0] > -5.0 else np.sum(x)


def looped(x: Any) -> Any:
    return hoad.fori_loop(0, 5, lambda k, s: np.sin(s) * 0.5 + x, x)


def scanned(x: Any) -> Any:
    carry, rows = hoad.scan(lambda c, row: (c * 0.5 + np.sin(row), c * row), np.sum(x), x)
    return np.sum(rows) + carry


def waited(x: Any) -> Any:
    return hoad.while_loop(lambda s: np.sum(s) < 40.0, lambda s: s * 1.3, 1.0 + x * x)


def of_int_constants(x: Any) -> Any:
    a = np.where(x > 0, 1, 0)
    return np.sum(a * np.sin(2.3 * x) * np.where(x > 0.5, 1, 2) * 2.8)


def sorted_and_taken(x: Any) -> Any:
    order = np.argsort(x)
    return np.sum(np.sort(x)[::2]) + np.sum(x[order][:3] * x[[0, 2, 2]]) + np.max(x) + x.argmax() * x[0]


def written(x: Any) -> Any:
    y = np.zeros(8) * x[0]
    y[1:7] = x * 2.0
    y[[0, 7]] = x[:2]
    y[np.argsort(x)] += x
    return np.sum(y * y)


def of_matrices(x: Any) -> Any:
    sign, size = np.linalg.slogdet(M + np.outer(x, x))
    return sign * size + np.sum(np.linalg.solve(M, x)) + np.linalg.det(np.outer(x, x)[:2, :2] + M[:2, :2])


def moved(x: Any) -> Any:
    y = np.concatenate([x[1:], x[:1]]).reshape(2, 3)
    return np.sum(y.T @ y) + np.sum(np.cumsum(y, axis=1)) + np.sum(np.broadcast_to(y[0], (4, 3)) * np.arange(3))


def complex_parts(x: Any) -> Any:
    z = np.exp(1j * x)
    return np.sum((z * np.conj(z)).real) + np.sum(np.abs(np.fft.rfft(x)) ** 2) + np.sum(z[::2].imag)


def of_numbers(x: Any) -> Any:
    total = x[0]
    for k in range(1, 6):
        total = np.where(total > x[k], total * 0.5, np.tanh(total)) + x[k] ** 2 - 0.3 * total
    return total if x[1] < 5.0 else -total


def checkpointed(x: Any) -> Any:
    return hoad.checkpoint(lambda h: np.sum(np.tanh(M @ h) * h))(x)


def mapped(x: Any) -> Any:
    return np.sum(hoad.vmap(lambda row: np.sin(row) * row[0])(np.outer(x, x)))


def expanded(x: Any) -> Any:
    return hoad.derivatives(lambda t: np.sum(np.sin(t * x)), 3)(0.4)[2]


def half(x: Any) -> Any:
    return np.sum(np.float32(1.5) * x.astype(np.float32)) * 1.0


def in_containers(tree: Any) -> Any:
    return {"a": tree["a"] * 2.0, "b": [np.sum(tree["a"]), tree["b"]]}


FUNCTIONS: list[Callable[[Any], Any]] = [
    *(branched, looped, scanned, waited, of_int_constants, sorted_and_taken, written, of_matrices, moved),
    *(complex_parts, of_numbers, checkpointed, mapped, expanded, half),
]


def random_program(rng: np.random.Generator) -> hoad.Program:
    """A recorded function, or a sum or call of two, and perhaps its derivative."""
    f, g = (FUNCTIONS[k] for k in rng.integers(len(FUNCTIONS), size=2))
    way = rng.integers(6)
    if way == 0:
        return hoad.record(in_containers, {"a": X, "b": 0.5})
    if way == 1:
        inner = hoad.record(g, X)
        program = hoad.record(lambda x: np.sum(f(x)) + np.sum(inner(x)), X)
    elif way == 2:
        program = hoad.record(lambda x: np.sum(f(x)) * np.sum(g(x)), X)
    else:
        program = hoad.record(lambda x: np.sum(f(x)), X)
    try:
        for _ in range(rng.integers(3)):
            single = len(program.output_types) == 1 and program.output_types[0].shape == ()
            program = (
                hoad.gradient(program, None if single else "symbolic")
                if rng.random() < 0.7
                else hoad.tangent(program, "symbolic")
            )
    except hoad.HoadError:
        pass
    return program


# ---- damage ---------------------------------------------------------------------------------------------------------


class Damage:
    """One change, or a few, at random places of what a pickle is made of."""

    def __init__(self, rng: np.random.Generator, places: int) -> None:
        self.rng = rng
        self.left = set(rng.integers(max(places, 1), size=rng.integers(1, 4)).tolist())
        self.at = -1

    def __call__(self, value: Any) -> Any:
        self.at += 1
        if self.at in self.left:
            return self.changed(value)
        if type(value) in (tuple, list):
            found = [self(item) for item in value]
            return value if all(a is b for a, b in zip(found, value, strict=True)) else type(value)(found)
        if type(value) is dict:
            return {k: self(item) for k, item in value.items()}
        return value

    def changed(self, value: Any) -> Any:
        rng = self.rng
        if rng.random() < 0.05:
            return [None, 0, -1, 1.5, "", b"", (), [], {}, True, "<f8", (0, None), 2**31, np.zeros(2)][rng.integers(14)]
        if type(value) is bool:
            return not value
        if type(value) is int:
            near = [value + 1, value - 1, -value, 2 * value, ~value, 0, 1, 7, 64, 2**31 - 1, -(2**31), 2**63, 2**40]
            return near[rng.integers(len(near) if rng.random() < 0.3 else 6)]
        if type(value) is float:
            return [0.0, -value, float("nan"), 1e300][rng.integers(4)]
        if type(value) is bytes:
            return self.changed_bytes(value)
        if type(value) is str:
            texts = [
                "<f8",
                "<f4",
                "|b1",
                "<i8",
                "<c16",
                "|O",
                "<i4",
                "sin",
                "sum",
                "gather",
                "put",
                "scan",
                value[::-1],
            ]
            return texts[rng.integers(len(texts))]
        if type(value) in (tuple, list):
            return self.changed_items(value)
        return None if type(value) not in (dict, type(None)) else value

    def changed_bytes(self, value: bytes) -> bytes:
        rng, data = self.rng, bytearray(value)
        if not data or rng.random() < 0.1:
            return bytes(data[: rng.integers(len(data) + 1)]) + b"\0" * int(rng.integers(9))
        if rng.random() < 0.7 and len(data) >= 4:
            words = np.frombuffer(bytes(data[: len(data) // 4 * 4]), "<i4").copy()
            k, j = rng.integers(len(words), size=2)
            others = [words[k] + 1, words[k] - 1, words[j], ~words[k], 0, rng.integers(-40, 40), 2**31 - 1, -(2**31)]
            words[k] = np.int64(others[rng.integers(8)]).astype(np.int32)
            return words.tobytes() + bytes(data[len(words) * 4 :])
        data[rng.integers(len(data))] = rng.integers(256)
        return bytes(data)

    def changed_items(self, value: Any) -> Any:
        rng, items = self.rng, list(value)
        way = rng.integers(4)
        if not items or way == 0:
            items.append([0, None, 1, "c", (3,)][rng.integers(5)] if not items else items[rng.integers(len(items))])
        elif way == 1:
            del items[rng.integers(len(items))]
        else:
            i, j = rng.integers(len(items), size=2)
            items[i], items[j] = items[j], items[i] if way == 2 else items[j]
        return type(value)(items)


class Damaging(pickle.Pickler):
    """A pickler of programs, whose data a damage goes through."""

    def __init__(self, file: Any, damage: Damage) -> None:
        super().__init__(file, 4)
        self.damage = damage

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, OURS) and type(value).__module__.split(".")[0] != "hoad":
            return NotImplemented
        by_type = copyreg.dispatch_table.get(type(value))
        reduced = by_type(value) if by_type else value.__reduce_ex__(4)
        if not isinstance(reduced, tuple):
            return NotImplemented
        make, arguments, *rest = reduced
        if make.__name__ != "__newobj__":
            return (make, tuple(self.damage(x) for x in arguments), *rest)
        return (make, arguments, *[self.damage(x) for x in rest[:1]], *rest[1:])


def damaged(program: hoad.Program, rng: np.random.Generator) -> bytes:
    """A pickle of something else."""
    if rng.random() < 0.2:
        return with_other_bytes(pickle.dumps(program, 4), rng)
    count = Damage(rng, 0)
    count.left = set()
    Damaging(io.BytesIO(), count).dump(program)
    file = io.BytesIO()
    Damaging(file, Damage(rng, count.at + 1)).dump(program)
    return file.getvalue()


def with_other_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """A pickle with other bytes in what it holds; its own instructions, lengths and names are left."""
    held = ("BINBYTES", "SHORT_BINBYTES", "BININT", "BININT1", "BININT2", "BINFLOAT")
    steps = list(pickletools.genops(data))
    ends = [at for _, _, at in steps[1:]] + [len(data)]
    places = []
    for (code, argument, at), end in zip(steps, ends, strict=True):
        if code.name in held:
            length = len(argument) if isinstance(argument, bytes) else end - at - 1
            places += range(end - length, end)
    changed = bytearray(data)
    for at in rng.choice(places, size=min(len(places), int(rng.integers(1, 4)))):
        changed[at] = rng.integers(256)
    return bytes(changed)


# ---- use ------------------------------------------------------------------------------------------------------------


def is_large(program: hoad.Program) -> bool:
    """Whether some node has more numbers than are worth the time."""
    from hoad._core.graph.inspect import operand_avals

    avals = operand_avals(program._last._graph, list(range(program._last._end)))
    return sum(aval.size for aval in (*avals, *program.output_types)) > LARGEST


def use(program: hoad.Program) -> None:
    """Whatever can be done with a program; it may raise any exception."""
    from hoad._core.graph.inspect import callees

    def loops(found: hoad.Program, depth: int = 0) -> int:
        inner = callees(found._last._graph, found._last._end) if depth < 4 else []
        programs = [getattr(x, "program", getattr(x, "_program", x)) for x in inner]
        lengths = [getattr(x, "length", 1) for x in inner]
        return max([1, *lengths, *(loops(p, depth + 1) for p in programs if isinstance(p, hoad.Program) and p)])

    if not program or is_large(program) or loops(program) > 10_000:
        return
    values = [np.linspace(0.3, 0.7, aval.size).reshape(aval.shape).astype(aval.dtype) for aval in program.input_types]
    uses: list[Callable[[], Any]] = [
        lambda: program.evaluate(*values),
        lambda: program._run(tuple(values)),
        lambda: str(program),
        lambda: program.table("markdown"),
        lambda: hoad.gradient(program, "symbolic").evaluate(*values, *[np.ones(a.shape) for a in program.output_types]),
        lambda: hoad.tangent(program, "symbolic").evaluate(*values, *values),
        lambda: hoad.vmap(lambda *x: program(*x))(*[np.stack([v, v]) for v in values]),
        lambda: hoad.jit(lambda *x: program(*x))(*values),
        lambda: hoad.grad(lambda *x: np.sum(program(*x)))(*values),
        lambda: pickle.loads(pickle.dumps(program)).evaluate(*values),
        lambda: program.sensitivities(1.0, tuple(values)),
    ]
    for one in uses:
        try:
            one()
        except Exception:  # a wrong program may fail in any way but a crash
            pass


@contextlib.contextmanager
def bounded_memory() -> Iterator[None]:
    """Let this process ask for so much memory and no more; not under a sanitizer, which maps all that there is."""
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    if "asan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))


def trial(rng: np.random.Generator) -> str | None:
    """Twenty damaged pickles of one program. None, or the exception where one was read."""
    with bounded_memory(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        program = random_program(rng)
        for k in range(MUTATIONS):
            data = damaged(program, rng)
            try:
                found = pickle.loads(data)
            except (pickle.UnpicklingError, MemoryError):
                continue
            except Exception as error:
                return f"mutation {k}: reading raised {type(error).__name__}: {error}"
            if isinstance(found, hoad.Program):
                use(found)
    return None
