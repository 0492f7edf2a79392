"""The pure rules of work: how long to wait, how often to try, what a client is told ("Decisions", policy 18)."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from densemem.core import limits
from placement.vocabulary import PROCESSING, ItemState
from relationships.vocabulary import SearchState

# The state of a run is the first of these that one of its items is in: work, then what needs somebody, then the end.
PRESSING: Final = (
    PROCESSING,
    ItemState.GUARDED,
    ItemState.QUEUED,
    ItemState.FAILED,
    ItemState.AWAITING_REVIEW,
    ItemState.QUARANTINED,
    ItemState.COMPLETED,
    ItemState.SUPERSEDED,
    ItemState.REDACTED,
)
WORKING: Final = PRESSING[:3]
NEXT: Final = {
    "queued": "Wait: it is placed within seconds. Ask again after the given time.",
    "guarded": "Wait: it is placed with extra care. Ask again after the given time.",
    "processing": "Wait: it is being placed. Ask again after the given time.",
    "awaiting_review": "A person must decide. Each review task names its question and the address to read it whole.",
    "completed": "Nothing to do.",
    "failed": "The evidence is kept. Its owner or a manager may have it tried again: POST {address}/retries.",
    "quarantined": "The text is held. Ask a manager of your team to look at the review task.",
    "superseded": "A newer revision of the source took its place. Nothing to do.",
    "redacted": "The text was redacted: its words are gone. Nothing to do.",
}
REASONS: Final = {
    "queued": "waits_for_a_worker",
    "guarded": "waits_for_a_worker",
    "processing": "being_placed",
    "awaiting_review": "waits_for_a_person",
    "completed": "placed",
    "failed": "processing_failed",
    "quarantined": "evidence_held",
    "superseded": "newer_revision",
    "redacted": "evidence_redacted",
}
TRIED_AGAIN: Final = "Wait: a try did not succeed, and it is tried again by itself. Ask again after the given time."
NOTHING_CONCLUDED: Final = (
    "The text is kept, but no statement was found in it. A proposal sent with the text says what you take from it."
)


@dataclass(frozen=True, slots=True)
class Told:
    """What a client is told: why it is so, what can be done, and after how many seconds to ask again, 0 for never."""

    reason: str
    next_action: str
    check_after_seconds: int


@dataclass(frozen=True, slots=True)
class Wait:
    """How long to wait before the next try, in seconds."""

    seconds: float


def backoff(*, tries: int, chance: float, asked_seconds: float = 0) -> Wait:
    """Return the wait after this many failed tries: 2 s doubling to 5 min, with jitter down to half of it.

    :param chance: between 0 and 1, drawn by the caller
    :param asked_seconds: what the other side asks for at least; it is heeded up to an hour
    """
    whole = min(limits.BACKOFF_FIRST_SECONDS * 2 ** max(0, tries - 1), limits.BACKOFF_MOST_SECONDS)
    return Wait(max(whole * (0.5 + chance / 2), min(asked_seconds, limits.ASKED_WAIT_MOST_SECONDS)))


def may_try_again(*, attempts: int) -> bool:
    """Tell if an item that was claimed this often may be claimed once more."""
    return attempts < limits.ITEM_ATTEMPTS


def may_go_uncounted(*, uncounted: int) -> bool:
    """Tell if one more try of an item may stay uncounted when this many did: what never comes to rest must end."""
    return uncounted < limits.ITEM_UNCOUNTED


def run_state(states: Collection[str]) -> str:
    """Return the state of a run from those of its items."""
    return next((str(state) for state in PRESSING if state in states), ItemState.COMPLETED.value)


def more_pressing(state: str) -> tuple[str, ...]:
    """Return the states that hide this one: a run is in it when one of its items is, and none is in these."""
    return PRESSING[: PRESSING.index(state)]


def tell(*, state: str, reason: str, concluded: bool, wait: float, address: str) -> Told:
    """Return what to tell of an item.

    :param reason: the code that the item keeps, possibly empty
    :param concluded: some statement was found in it
    :param wait: seconds until a worker may claim it, for one that was put back
    :param address: of its ingest
    """
    if state in WORKING:
        put_back = state != PROCESSING and wait > 1
        seconds = min(max(1, math.ceil(wait)), limits.CHECK_AFTER_SECONDS) if put_back else 1
        return Told("tried_again_later", TRIED_AGAIN, seconds) if put_back else Told(REASONS[state], NEXT[state], 1)
    if state == ItemState.COMPLETED and not concluded:
        return Told("nothing_concluded", NOTHING_CONCLUDED, 0)
    # Held text has one public reason, whoever saw what.
    known = "" if state == ItemState.QUARANTINED else reason
    return Told(known or REASONS[state], NEXT[state].format(address=address), 0)


def search_state(states: Collection[str]) -> str:
    """Return the search state of several records together: the least fresh that anything is derived for."""
    ranked = (SearchState.FAILED, SearchState.PENDING, SearchState.CURRENT)
    return next((state.value for state in ranked if state in states), SearchState.NOT_REQUIRED.value)


def unused_corrections(wanted: Collection[str], cited: Collection[str | None]) -> tuple[str, ...]:
    """Return the proposals whose correction target nothing took up ("Decisions", text, requests, spans, 5).

    :param wanted: proposal ids that name a target
    :param cited: for each statement that was found, the proposal id that it cites, if any
    """
    taken = set(wanted) & set(cited)
    if not taken and len(wanted) == len(cited) == 1:  # the only target acts on the only statement
        return ()
    return tuple(p for p in wanted if p not in taken)
