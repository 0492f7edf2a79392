"""What a decision about who is who leaves open, asked of its author."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from placement.decide.desk import DecisionRefused
from placement.decide.identity.work import Work
from placement.operations import ask, settle
from placement.vocabulary import READY, ItemState
from relationships.policy import Reattribution
from relationships.reattribute import items_of_observations
from relationships.vocabulary import Status
from review.operations import NewTask
from review.queries import open_reason
from review.vocabulary import TaskKind


def questions_about(moved: Reattribution, *, team_id: UUID) -> dict[UUID, list[NewTask]]:
    """Return, by item, what is to be asked about records that something arrived at."""
    asked = [a for a in moved.arrivals if a.standing.task]
    first = {a.record.id: next(s.observation_id for _, s in (*a.came, *a.left) if s.observation_id) for a in asked}
    item_of = items_of_observations(team_id=team_id, observation_ids=first.values())
    found: dict[UUID, list[NewTask]] = {}
    for a in asked:
        about = f":{a.standing.reason}" if a.standing.status is not Status.REVIEW else ""
        seen = first[a.record.id]
        task = NewTask(
            TaskKind.RELATIONSHIP,
            f"record:{a.record.id}{about}",
            a.standing.reason,
            observation_id=seen,
            relationship_id=a.record.id,
            rival_id=a.rival,
        )
        found.setdefault(item_of[seen], []).append(task)
    return found


def check_idle(work: Work, item_ids: Collection[UUID]) -> None:
    """Refuse to ask about a text that is being placed: its own commit may answer it.

    :raises DecisionRefused: it is to be tried again when the text is placed
    """
    work.check_held(item_ids)
    for item_id in item_ids:
        if work.items[item_id].state in READY:
            detail = "A text about these entities is being placed. Wait for its end, then preview again."
            raise DecisionRefused(detail, code="item_in_work")


def wait_for_owner(work: Work, item_id: UUID, reason: str) -> int:
    """Let an item wait for a person; return its version then."""
    row = work.items[item_id]
    if row.state != ItemState.AWAITING_REVIEW:
        settle(row, reason=reason, now=work.desk.now, actor_id=work.me)
    return row.version


def ask_all(work: Work, tasks: Mapping[UUID, Sequence[NewTask]]) -> None:
    """Open the questions, last of all."""
    for item_id, of_item in sorted(tasks.items()):
        wait_for_owner(work, item_id, of_item[0].reason)
        ask(work.items[item_id], of_item, now=work.desk.now)
        work.questions += len({task.subject for task in of_item})


def settle_unasked(work: Work) -> None:
    """End each item whose last question was withdrawn."""
    for row in work.items.values():
        if row.state == ItemState.AWAITING_REVIEW and open_reason(team_id=work.team, item_id=row.id) is None:
            settle(row, reason=None, now=work.desk.now, actor_id=work.me)
