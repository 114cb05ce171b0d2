"""From the strides and the offset of a basic index back to the index as a user writes it."""

from __future__ import annotations

from hoad._core.ops.plan import contiguous_strides


def item_text(shape: tuple[int, ...], offset: int) -> str:
    """The index of one item, ``[2, 1]``, from its place in the flattened array."""
    return f"[{', '.join(map(str, _start(shape, offset)))}]"


def slice_text(shape: tuple[int, ...], taken: tuple[int, ...], strides: tuple[int, ...], offset: int) -> str | None:
    """The basic index, ``[1:, ::2]``, that takes a view of a contiguous array of this shape; None if there is none.

    The view has the shape that is `taken`, and strides and the offset of its first item in items of the array.
    """
    parts: list[str] = []
    rest = list(zip(taken, strides, strict=True))
    start = _start(shape, offset)
    own = contiguous_strides(shape)
    for first, stride, size in zip(start, own, shape, strict=True):
        while rest and rest[0] == (1, 0):
            parts.append("None")
            del rest[0]
        if rest and _fits(*rest[0], first, stride, size):
            count, step = rest.pop(0)
            parts.append(_range_text(first, count, step // stride if count > 1 else 1, size))
        elif size:
            parts.append(str(first))
        else:
            return None
    while rest and rest[0] == (1, 0):
        parts.append("None")
        del rest[0]
    while len(parts) > 1 and parts[-1] == ":":
        del parts[-1]
    return None if rest else f"[{', '.join(parts)}]"


def _start(shape: tuple[int, ...], offset: int) -> list[int]:
    """Where the item at a flat offset stands along each axis."""
    found = []
    for stride in contiguous_strides(shape):
        at, offset = divmod(offset, stride)
        found.append(at)
    return found


def _fits(count: int, step: int, first: int, stride: int, size: int) -> bool:
    """Whether `count` items `step` apart lie along an axis of this stride and size."""
    return step != 0 and step % stride == 0 and (count <= 1 or 0 <= first + (count - 1) * (step // stride) < size)


def _range_text(first: int, count: int, step: int, size: int) -> str:
    """The slice of `count` items from `first` on; what covers most of an axis is counted from its end."""
    if not count:
        return ":0" if size else ":"
    stop: int | None = first + (count - 1) * step + (1 if step > 0 else -1)
    if first + count * step >= size or first + count * step < 0:
        stop = None
    elif stop is not None and step > 0 and count * step > size // 2:
        stop -= size
    start = "" if first == (0 if step > 0 else size - 1) else str(first)
    return f"{start}:{'' if stop is None else stop}" + ("" if step == 1 else f":{step}")
