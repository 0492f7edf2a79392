"""The pure rules of work: how long to wait, how often to try, what a client is told ("Decisions", policy 18)."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from densemem.core import limits
from placement.vocabulary import PROCESSING, ItemState

ORDER: Final = (
    ItemState.FAILED,
    ItemState.AWAITING_REVIEW,
    ItemState.QUARANTINED,
    ItemState.COMPLETED,
    ItemState.SUPERSEDED,
)
NEXT: Final = {
    "queued": "Wait: it is placed within seconds. Ask again after the given time.",
    "guarded": "Wait: it is placed with extra care. Ask again after the given time.",
    "processing": "Wait: it is being placed. Ask again after the given time.",
    "awaiting_review": "A person must decide. Open the review task.",
    "completed": "Nothing to do.",
    "failed": "The evidence is kept. Send it again with a new key, or ask an operator to look at the item.",
    "quarantined": "The text is held. Ask a manager of your team to look at the review task.",
    "superseded": "A newer revision of the source took its place. Nothing to do.",
}


NOTHING_CONCLUDED: Final = (
    "The text is kept, but no statement was found in it. A proposal sent with the text says what you take from it."
)


@dataclass(frozen=True, slots=True)
class Wait:
    """How long to wait before the next try, in seconds."""

    seconds: float


def backoff(*, tries: int, chance: float) -> Wait:
    """Return the wait after this many failed tries: 2 s doubling to 5 min, with jitter down to half of it.

    :param chance: between 0 and 1, drawn by the caller
    """
    whole = min(limits.BACKOFF_FIRST_SECONDS * 2 ** max(0, tries - 1), limits.BACKOFF_MOST_SECONDS)
    return Wait(whole * (0.5 + chance / 2))


def may_try_again(*, attempts: int) -> bool:
    """Tell if an item that was claimed this often may be claimed once more."""
    return attempts < limits.ITEM_ATTEMPTS


def run_state(states: Collection[str]) -> str:
    """Return the state of a run from those of its items: work first, then what needs somebody, then the end."""
    if PROCESSING in states:
        return PROCESSING
    for state in (ItemState.GUARDED, ItemState.QUEUED, *ORDER):
        if state in states:
            return state.value
    return ItemState.COMPLETED.value


def check_after(state: str) -> int:
    """Return after how many seconds it is worth asking again; 0 when nothing will change by itself."""
    return 1 if state in (PROCESSING, ItemState.QUEUED, ItemState.GUARDED) else 0
