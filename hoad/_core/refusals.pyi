"""What traced values refuse to do, each with what to do instead."""

from typing import Final

from hoad.errors import TracedValueError

ADVICE: Final[dict[str, str]]

def not_writable() -> TracedValueError: ...
def writes_into(what: str) -> TracedValueError: ...
