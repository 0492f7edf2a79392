"""Which change of status is legal. The table feeds the check, the diagram and the tests."""

from typing import Final

from densemem.core.faults import Because, Refused
from relationships.vocabulary import Status, Tier


class StepRefused(Refused):
    """The state of a Relationship does not allow the step."""

    code = "step_refused"
    because = Because.CONFLICT


STEPS: Final[dict[Status, frozenset[Status]]] = {
    Status.PENDING: frozenset(
        {
            Status.ACTIVE,
            Status.REVIEW,
            Status.REJECTED,
            Status.QUARANTINED,
            Status.SUPERSEDED,
            Status.DISPUTED,
            Status.RETRACTED,
        }
    ),
    Status.ACTIVE: frozenset(
        {
            Status.PENDING,
            Status.REVIEW,
            Status.QUARANTINED,
            Status.SUPERSEDED,
            Status.DISPUTED,
            Status.RETRACTED,
        }
    ),
    Status.REVIEW: frozenset(
        {
            Status.ACTIVE,
            Status.PENDING,
            Status.REJECTED,
            Status.QUARANTINED,
            Status.SUPERSEDED,
            Status.DISPUTED,
            Status.RETRACTED,
        }
    ),
    Status.QUARANTINED: frozenset({Status.ACTIVE, Status.PENDING, Status.REVIEW, Status.REJECTED, Status.RETRACTED}),
    # A withdrawn decision gives the older one back; the newer one is then gone.
    Status.SUPERSEDED: frozenset({Status.ACTIVE, Status.PENDING, Status.REVIEW, Status.RETRACTED}),
    Status.DISPUTED: frozenset({Status.ACTIVE, Status.PENDING, Status.REVIEW, Status.REJECTED, Status.RETRACTED}),
    # Only the owner lifts what was forgotten; it is then judged by the support it has left, and by what it meets.
    Status.RETRACTED: frozenset({Status.ACTIVE, Status.PENDING, Status.REVIEW}),
    Status.REJECTED: frozenset({Status.ACTIVE, Status.PENDING, Status.REVIEW, Status.RETRACTED}),
}


def check_step(*, before: Status, after: Status) -> None:
    """
    Allow a change of status; staying is always allowed, as a promotion changes the tier alone.

    :raises StepRefused: the table has no such step
    """
    if before is not after and after not in STEPS[before]:
        raise StepRefused(f"A Relationship that is {before} cannot become {after}.")


def check_standing(*, tier: Tier, status: Status) -> None:
    """
    Keep the invariant of the page: a candidate is never active.

    :raises StepRefused: it is
    """
    if tier is Tier.CANDIDATE and status is Status.ACTIVE:
        raise StepRefused("A candidate is never active.", code="candidate_is_never_active")
