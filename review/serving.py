"""Questions as the doors give them: what they show is noted, as recall and trace do it (`relationships.serving`).

Source page: "Source Independence And Fact Promotion".
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from densemem.auth import Principal
from densemem.paging import Page
from evidence.pages import EvidenceCard
from relationships.pages.claims import known_of
from relationships.search import Claim
from relationships.serving import note_shown
from review.queries import tasks_by_id
from review.questions import Asked, claims_about
from review.reviews import Review, ReviewTask, get_review, list_reviews


def serve_reviews(*, principal: Principal, now: datetime, **page: Any) -> Page[ReviewTask]:
    """Answer as `list_reviews` does, with the same parameters and faults, and note what was shown."""
    found = list_reviews(principal=principal, **page)
    note_shown(principal, claims=_claims(principal.team_id, found.rows), now=now)
    return found


def serve_review(*, principal: Principal, review_id: UUID, now: datetime) -> Review:
    """Answer as `get_review` does, with the same faults, and note what was shown."""
    found = get_review(principal=principal, review_id=review_id)
    words = "".join(part.text for part in found.passage)
    quoted = [(handle.fragment_id, words) for handle in found.evidence if words]
    note_shown(principal, claims=_claims(principal.team_id, [found]), quoted=quoted, now=now)
    return found


def note_asked(
    principal: Principal,
    asked: Iterable[Asked],
    *,
    known: Iterable[Claim] = (),
    cards: Iterable[EvidenceCard] = (),
    now: datetime,
) -> None:
    """Note what a page showed: the claims of questions, and further claims and evidence cards beside them."""
    claims = [claim for one in asked for claim in (one.claim, one.rival) if claim]
    quoted = [(c.fragment_id, "".join(part.text for part in c.excerpt.parts)) for c in cards if c.excerpt]
    note_shown(principal, claims=[*claims, *known], quoted=quoted, now=now)


def _claims(team_id: UUID, shown: Collection[ReviewTask]) -> list[Claim]:
    """Return the claims that questions are about, and those that tell their candidates apart."""
    tasks = tasks_by_id(team_id=team_id, task_ids=[task.review_id for task in shown if not task.held])
    offered = {candidate.entity_id for task in shown for candidate in task.candidates}
    known = known_of(team_id=team_id, entity_ids=offered) if offered else {}
    return [*claims_about(team_id=team_id, tasks=tasks).values(), *(c for claims in known.values() for c in claims)]
