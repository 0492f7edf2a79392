"""Recall: what the team holds to be so now, found by words ("Normal Recall And Trace").

It reads records and their search documents alone: no evidence text, no verification, no history.
"""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from densemem.auth import Principal
from densemem.core import limits
from densemem.core.words import Scope
from densemem.db.clock import settled
from entities.stored import IdentityOpinion, opinions_about
from relationships.recall.answer import Group, Item, Recall
from relationships.recall.conflicts import Conflict, Position, conflicts_of
from relationships.recall.find import Hit, find
from relationships.recall.groups import claims_of_groups
from relationships.recall.question import RecallRefused, read_question
from relationships.search import Claim, EntityEnd

__all__ = ["Conflict", "Group", "IdentityOpinion", "Item", "Position", "Recall", "RecallRefused", "recall"]


def recall(
    *,
    principal: Principal,
    query: str,
    limit: int = limits.RECALL_DEFAULT,
    valid_at: datetime | None = None,
    known_at: datetime | None = None,
    now: datetime,
) -> Recall:
    """
    Return what the caller's team holds to be so and the query asks for, best first, grouped by meaning.

    With `known_at` alone the answer is the one that was given then. It waits for writers that are about to commit.

    :param limit: the most groups, 1 to `limits.RECALL_ITEMS`
    :param valid_at: the moment asked about, aware; None asks about `now` and shows only what is active
    :param known_at: the moment, aware and not after `now`, by which it had to be recorded; None takes what is known now
    :raises RecallRefused: with every fault of the question
    :raises ScopeMissing: the caller may not read
    """
    principal.require(Scope.READ)
    past = min(now, settled(principal.team_id)) if known_at else now
    question = read_question(
        team_id=principal.team_id, query=query, limit=limit, valid_at=valid_at, known_at=known_at, now=past
    )
    hits = find(question)
    claims = claims_of_groups(question, groups=_best_groups(hits, most=limit))
    conflicts = conflicts_of(question, groups=list(claims))
    shown = [claim for listed in claims.values() for claim in listed]
    shown += [claim for conflict in conflicts for position in conflict.positions for claim in position.relationships]
    return Recall(
        query=question.query,
        valid_at=question.at,
        known_at=question.known_at,
        results=tuple(_group(listed, hits) for listed in claims.values()),
        conflicts=conflicts,
        identity_opinions=opinions_about(team_id=principal.team_id, entity_ids=_named(shown), at=question.known_at),
    )


def _named(claims: Iterable[Claim]) -> set[UUID]:
    """Return the entities at the ends of these claims."""
    ends = (end for claim in claims for end in (claim.subject, claim.object))
    return {end.entity_id for end in ends if isinstance(end, EntityEnd)}


def _best_groups(hits: list[Hit], *, most: int) -> list[str]:
    """Return the meanings of the hits, in the order of their best hit."""
    return list(dict.fromkeys(hit.group for hit in hits))[:most]


def _group(claims: list[Claim], hits: list[Hit]) -> Group:
    matched = {hit.relationship_id: hit.matched for hit in hits}
    return Group(tuple(Item.of(claim, why=matched.get(claim.relationship_id, ())) for claim in claims))
