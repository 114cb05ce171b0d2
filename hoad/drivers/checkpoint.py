"""Time for memory: functions whose intermediate values are computed again in the reverse sweep."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from hoad._core.recording import running
from hoad.primitive import declare_call
from hoad.program import call_program
from hoad.trace import check_function, recorder_among
from hoad.transform.composite import Apart, Stretch, program_of


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """f itself, of which a derivative keeps no intermediate values.
    """
    check_function("checkpoint", f)

    @functools.wraps(f, updated=())
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if running() is None:
            record = recorder_among(args)
            return f(*args, **kwargs) if record is None else record(checkpointed, args, kwargs)
        apart = Apart(f, args, kwargs)
        if not apart.values:
            return apart.shape
        segment = apart.segment
        call = declare_call(len(apart.values), call_program)
        return apart.record(call, Stretch(program_of(segment)), segment.constants + segment.outer)

    return checkpointed


__all__ = ["checkpoint"]
