"""How entities are taken by a profile: its decisions about who is who, read as they stand."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.db.read import fetch
from entities.policy.selves import Membership, selves
from entities.vocabulary import MemberRole

MEMBERSHIPS: Final = """
    SELECT member.entity_id, member.role, decided.id, beside.entity_id, decided.author_id = %(profile)s,
      NOT EXISTS (
        SELECT FROM entities_identitydecision AS withdrawn
        WHERE (withdrawn.team_id, withdrawn.of_decision_id) = (decided.team_id, decided.id)
          AND (%(at)s::timestamptz IS NULL OR withdrawn.recorded_at <= %(at)s))
    FROM entities_identitymember AS member
    JOIN entities_identitydecision AS decided ON decided.id = member.decision_id
    LEFT JOIN entities_identitymember AS beside
      ON (beside.team_id, beside.decision_id) = (member.team_id, member.decision_id)
      AND beside.role = CASE member.role WHEN 'absorbed' THEN 'survivor' WHEN 'child' THEN 'parent' END
    WHERE member.team_id = %(team)s AND member.entity_id = ANY(%(entities)s)
      AND member.role IN ('absorbed', 'child', 'parent')
      AND (decided.author_id = %(profile)s OR member.role = 'child')
      AND (%(at)s::timestamptz IS NULL OR decided.recorded_at <= %(at)s)
    ORDER BY decided.seq"""


def seen_by(
    *, team_id: UUID, profile_id: UUID, entity_ids: Collection[UUID], at: datetime | None = None
) -> dict[UUID, UUID | None]:
    """Return what a profile takes each Entity for: itself, mostly; None for one that it has told apart.

    One statement, and one more for each hop that a merge adds.

    :param at: as known at a moment; now when left out
    :raises TooManyHops: more than 16 merges upon each other
    """
    memberships: dict[UUID, list[Membership]] = {}
    wanted = set(entity_ids)
    while wanted:
        memberships |= _memberships(team_id, profile_id, wanted, at)
        found, wanted = selves(sorted(entity_ids), memberships)
    return found if memberships else {}


def _memberships(
    team_id: UUID, profile_id: UUID, entity_ids: Collection[UUID], at: datetime | None
) -> dict[UUID, list[Membership]]:
    rows: dict[UUID, list[Membership]] = defaultdict(list)
    given = {"team": team_id, "profile": profile_id, "entities": list(entity_ids), "at": at}
    for entity, role, decision, leads_to, own, active in fetch(MEMBERSHIPS, **given):
        rows[entity].append(Membership(entity, MemberRole(role), decision, leads_to, own, active))
    return {entity: rows[entity] for entity in entity_ids}
