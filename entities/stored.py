"""How entities are taken by a profile: its decisions about who is who, read as they stand."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from densemem.core import limits
from densemem.core.faults import NotThere
from densemem.db.read import fetch
from entities.models import IdentityDecision, IdentityMember, ResolutionEvent
from entities.policy.selves import HOPS, Membership, selves
from entities.vocabulary import EntityKind, IdentityKind, MemberRole

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


MENTIONS: Final = """
    SELECT newest.id, newest.item_id, newest.mention_ref, newest.entity_id, newest.kind, newest.fragment_id,
      newest.start, newest."end"
    FROM (
      SELECT DISTINCT item_id, mention_ref FROM entities_resolutionevent AS event
      JOIN evidence_ingest AS sent ON sent.id = event.ingest_id
      WHERE event.team_id = %(team)s AND event.entity_id = ANY(%(entities)s) AND sent.owner_id = %(owner)s
    ) AS met
    CROSS JOIN LATERAL (
      SELECT * FROM entities_resolutionevent AS event
      WHERE (event.team_id, event.item_id, event.mention_ref) = (%(team)s, met.item_id, met.mention_ref)
      ORDER BY seq DESC LIMIT 1
    ) AS newest
    WHERE newest.entity_id = ANY(%(entities)s)
    ORDER BY newest.seq LIMIT %(most)s"""


@dataclass(frozen=True, slots=True)
class MentionView:
    """A mention as it was resolved last, with its exact span."""

    event_id: UUID
    item_id: UUID
    mention_ref: str
    entity_id: UUID
    kind: EntityKind
    fragment_id: UUID
    start: int
    end: int

    @property
    def place(self) -> tuple[UUID, str]:
        """The mention: its item and its ref."""
        return self.item_id, self.mention_ref


def mentions_of(*, team_id: UUID, owner_id: UUID, entity_ids: Collection[UUID]) -> list[MentionView]:
    """Return an owner's mentions that mean one of these entities, the oldest first.

    At most one more than `limits.FANOUT_SUPPORTS`: by then they are more than one transaction may change.
    """
    most = limits.FANOUT_SUPPORTS + 1
    rows = fetch(MENTIONS, team=team_id, owner=owner_id, entities=list(entity_ids), most=most)
    return [
        MentionView(event, item, ref, entity, EntityKind(kind), fragment, start, end)
        for event, item, ref, entity, kind, fragment, start, end in rows
    ]


@dataclass(frozen=True, slots=True)
class IdentityFacts:
    """A decision about who is who, as one that follows upon it needs it."""

    id: UUID
    author_id: UUID
    kind: IdentityKind
    seq: int
    recorded_at: datetime
    members: tuple[tuple[UUID, MemberRole], ...]
    withdrawn_by: UUID | None
    withdrawal_decision: UUID | None  # under which its author withdrew it

    @property
    def entities(self) -> frozenset[UUID]:
        """What it is about."""
        return frozenset(entity for entity, _ in self.members)


def identity_facts(*, team_id: UUID, identity_id: UUID) -> IdentityFacts:
    """Return a decision about who is who.

    :raises NotThere: no such decision in the team
    """
    rows = _facts(IdentityDecision.objects.of_team(team_id).filter(pk=identity_id))
    if not rows:
        raise NotThere
    return rows[0]


def decisions_about(*, team_id: UUID, author_id: UUID, entity_ids: Collection[UUID]) -> list[IdentityFacts]:
    """Return a profile's decisions about these entities, in their order; those withdrawn are among them."""
    about = IdentityMember.objects.of_team(team_id).filter(entity_id__in=entity_ids).values("decision_id")
    return _facts(_standing_alone(team_id, author_id).filter(pk__in=about))


def decisions_by(*, team_id: UUID, author_id: UUID) -> list[IdentityFacts]:
    """Return all of a profile's decisions about who is who, in their order; those withdrawn are among them."""
    return _facts(_standing_alone(team_id, author_id))


def _standing_alone(team_id: UUID, author_id: UUID) -> QuerySet[IdentityDecision]:
    return IdentityDecision.objects.of_team(team_id).filter(author_id=author_id).exclude(kind=IdentityKind.WITHDRAW)


def _facts(rows: QuerySet[IdentityDecision]) -> list[IdentityFacts]:
    found = list(rows.select_related("withdrawal").order_by("seq"))
    members: dict[UUID, list[tuple[UUID, MemberRole]]] = defaultdict(list)
    for row in IdentityMember.objects.filter(decision__in=found).order_by("seq"):
        members[row.decision_id].append((row.entity_id, MemberRole(row.role)))
    return [
        IdentityFacts(
            id=row.id,
            author_id=row.author_id,
            kind=IdentityKind(row.kind),
            seq=row.seq,
            recorded_at=row.recorded_at,
            members=tuple(members[row.id]),
            withdrawn_by=row.withdrawal.id if hasattr(row, "withdrawal") else None,
            withdrawal_decision=row.withdrawal.decision_id if hasattr(row, "withdrawal") else None,
        )
        for row in found
    ]


def newest_of_mentions(*, team_id: UUID, places: Collection[tuple[UUID, str]]) -> list[str]:
    """Return the newest event of each of these mentions, in the order of their ids."""
    rows = ResolutionEvent.objects.of_team(team_id).filter(item_id__in={item for item, _ in places}).order_by("seq")
    newest = {(item, ref): event for item, ref, event in rows.values_list("item_id", "mention_ref", "id")}
    return sorted(str(newest[place]) for place in places)


def mentions_attributed_by(*, team_id: UUID, identity_id: UUID) -> set[tuple[UUID, str]]:
    """Return the mentions (item, ref) that a decision attributed."""
    rows = ResolutionEvent.objects.of_team(team_id).filter(identity_id=identity_id)
    return set(rows.values_list("item_id", "mention_ref"))


def decided_by(*, team_id: UUID, decision_id: UUID) -> UUID | None:
    """Return the decision about who is who that was made by a decision at the desk."""
    rows = IdentityDecision.objects.of_team(team_id).filter(decision_id=decision_id)
    found: UUID | None = rows.values_list("id", flat=True).first()
    return found


ABSORBED: Final = """
    WITH RECURSIVE taken AS (
      SELECT decided.author_id, survivor.entity_id AS into_id, absorbed.entity_id, 1 AS hops
      FROM entities_identitymember AS survivor
      JOIN entities_identitydecision AS decided ON decided.id = survivor.decision_id
      JOIN entities_identitymember AS absorbed
        ON (absorbed.team_id, absorbed.decision_id) = (survivor.team_id, survivor.decision_id)
        AND absorbed.role = 'absorbed'
      WHERE survivor.team_id = %(team)s AND survivor.entity_id = ANY(%(entities)s) AND survivor.role = 'survivor'
        AND NOT EXISTS (SELECT FROM entities_identitydecision AS gone WHERE gone.of_decision_id = decided.id)
      UNION ALL
      SELECT taken.author_id, taken.into_id, absorbed.entity_id, taken.hops + 1
      FROM taken
      JOIN entities_identitymember AS survivor ON survivor.entity_id = taken.entity_id AND survivor.role = 'survivor'
      JOIN entities_identitydecision AS decided
        ON decided.id = survivor.decision_id AND decided.author_id = taken.author_id
      JOIN entities_identitymember AS absorbed
        ON absorbed.decision_id = survivor.decision_id AND absorbed.role = 'absorbed'
      WHERE taken.hops < %(most)s
        AND NOT EXISTS (SELECT FROM entities_identitydecision AS gone WHERE gone.of_decision_id = decided.id)
    )
    SELECT DISTINCT author_id, into_id, entity_id FROM taken"""


def absorbed_into(*, team_id: UUID, entity_ids: Collection[UUID]) -> dict[tuple[UUID, UUID], frozenset[UUID]]:
    """Return, by profile and Entity, what the profile takes for that Entity; nothing where nobody took any for it."""
    found: dict[tuple[UUID, UUID], set[UUID]] = defaultdict(set)
    for author, into, entity in fetch(ABSORBED, team=team_id, entities=list(entity_ids), most=HOPS):
        found[author, into].add(entity)
    return {place: frozenset(entities) for place, entities in found.items()}


OPINIONS: Final = """
    SELECT decided.kind, least(one.entity_id, other.entity_id), greatest(one.entity_id, other.entity_id),
      count(DISTINCT decided.author_id),
      (SELECT count(*) FROM densemem_profile AS profile WHERE profile.team_id = %(team)s
        AND (%(at)s::timestamptz IS NULL OR profile.created_at <= %(at)s))
    FROM entities_identitymember AS one
    JOIN entities_identitymember AS other
      ON (other.team_id, other.decision_id) = (one.team_id, one.decision_id)
      AND other.role IN ('absorbed', 'child', 'distinct_b')
    JOIN entities_identitydecision AS decided ON decided.id = one.decision_id
    WHERE one.team_id = %(team)s AND one.role IN ('survivor', 'parent', 'distinct_a')
      AND decided.id IN (
        SELECT about.decision_id FROM entities_identitymember AS about
        WHERE about.team_id = %(team)s AND about.entity_id = ANY(%(entities)s))
      AND (one.entity_id = ANY(%(entities)s) OR other.entity_id = ANY(%(entities)s))
      AND (%(at)s::timestamptz IS NULL OR decided.recorded_at <= %(at)s)
      AND NOT EXISTS (
        SELECT FROM entities_identitydecision AS withdrawn
        WHERE (withdrawn.team_id, withdrawn.of_decision_id) = (decided.team_id, decided.id)
          AND (%(at)s::timestamptz IS NULL OR withdrawn.recorded_at <= %(at)s))
    GROUP BY 1, 2, 3 ORDER BY min(decided.seq), 2, 3 LIMIT %(most)s"""


@dataclass(frozen=True, slots=True)
class IdentityOpinion:
    """Two entities that profiles of the team take for one (`merge`) or hold apart (`distinct`, `split`).

    :param profiles: how many hold this
    :param of: how many profiles the team has
    """

    kind: str
    entity_ids: tuple[UUID, UUID]
    profiles: int
    of: int


def opinions_about(
    *, team_id: UUID, entity_ids: Collection[UUID], at: datetime | None = None
) -> tuple[IdentityOpinion, ...]:
    """Return what profiles of the team hold of who these entities are, the oldest first. One statement.

    :param at: as known at a moment; now when left out
    """
    given = {"team": team_id, "entities": list(entity_ids), "at": at, "most": limits.IDENTITY_OPINIONS}
    rows = fetch(OPINIONS, **given) if entity_ids else []
    return tuple(IdentityOpinion(kind, (one, other), profiles, of) for kind, one, other, profiles, of in rows)
