"""What is wrong with an answer, and how the model is told ("Regeneration, not repair")."""

from collections.abc import Iterable, Sequence
from typing import Final

from densemem.core import limits
from densemem.core.faults import Fault

DETAIL_CHARS: Final = 300

TRUNCATED: Final = Fault("", "truncated", "The answer stopped at the output limit; give a complete but shorter answer.")


class AnswerRefused(Exception):
    """The answer has faults and no part of it may be used; `faults` holds the first `limits.FAULTS` of them."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        """Keep the faults; the message names their codes alone, never what the model wrote."""
        self.faults: tuple[Fault, ...] = tuple(first(faults))
        assert self.faults
        super().__init__(", ".join(sorted({fault.code for fault in self.faults})))


def first(faults: Iterable[Fault]) -> list[Fault]:
    """Return the first `limits.FAULTS` faults, each once; no more are looked for."""
    found: dict[Fault, None] = {}
    for fault in faults:
        found[fault] = None
        if len(found) == limits.FAULTS:
            break
    return list(found)


def pointer(*path: str | int) -> str:
    """Return the JSON Pointer (RFC 6901) of a path; no path is the whole document."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def clipped(text: str) -> str:
    """Return a detail that cannot outgrow the report, whatever the model wrote."""
    return text if len(text) <= DETAIL_CHARS else text[: DETAIL_CHARS - 1] + "…"


def correction_turn(faults: Sequence[Fault]) -> str:
    """Return the next user turn: the exact faults, at most `limits.FAULTS`, and the request for a whole new answer."""
    assert faults
    shown = faults[: limits.FAULTS]
    lines = [f"- {fault.pointer or '(whole answer)'} [{fault.code}] {clipped(fault.detail)}" for fault in shown]
    more = [f"- and {len(faults) - len(shown)} more"] if len(faults) > len(shown) else []
    return "\n".join([HEAD, *lines, *more, TAIL])


HEAD: Final = "The answer was refused as a whole and no part of it was kept. Faults, as JSON Pointers into that answer:"
TAIL: Final = (
    "Answer the original request again with one complete replacement JSON object. "
    "Include everything, not only what was corrected; write nothing before or after the object."
)
