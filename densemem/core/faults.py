"""What goes wrong by somebody's doing, in one shape for every door."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: a JSON Pointer to the place, a stable code, and the mend in words."""

    pointer: str
    code: str
    detail: str

    def as_dict(self) -> dict[str, str]:
        """Return the public form."""
        return {"pointer": self.pointer, "code": self.code, "detail": self.detail}


class Because(Enum):
    """Why a request is refused; the value is the HTTP status that REST answers."""

    MALFORMED = 400
    INVALID = 422
    FORBIDDEN = 403
    MISSING = 404
    CONFLICT = 409
    REUSED_KEY = 422
    STALE = 412


class Refused(Exception):
    """A use case refuses a request; nothing was stored. Subclasses stand beside the function that raises them.

    :param code: one stable word
    :param detail: a sentence: what is wrong and what to do
    :param faults: the places, all at once
    """

    because = Because.INVALID
    code = "refused"

    def __init__(self, detail: str, *, faults: Sequence[Fault] = (), code: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.faults = tuple(faults)
        if code:
            self.code = code


class NotThere(Refused):
    """An id of another team, of nobody, or of no shape at all: one answer for all three."""

    because = Because.MISSING
    code = "not_found"

    def __init__(self) -> None:
        super().__init__("There is no such thing in your team.")
