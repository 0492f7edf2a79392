"""Reads for explanations: what was decided about entities, by whom, and what became of one mention."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from densemem.core import limits
from densemem.core.faults import NotThere
from densemem.core.words import GONE
from densemem.db.read import fetch
from entities.models import Entity, IdentityBasis, IdentityDecision, IdentityMember, Name, ResolutionEvent
from entities.vocabulary import BasisKind, EntityKind, IdentityKind, MemberRole
from evidence.queries import held_among

HOPS: Final = """
    SELECT decided.author_id, gone.entity_id, kept.entity_id, decided.id
    FROM entities_identitymember AS gone
    JOIN entities_identitydecision AS decided ON decided.id = gone.decision_id
    JOIN entities_identitymember AS kept ON kept.decision_id = decided.id AND kept.role = 'survivor'
    WHERE gone.team_id = %(team)s AND gone.entity_id = ANY(%(entities)s) AND gone.role = 'absorbed'
      AND decided.kind = 'merge'
      AND NOT EXISTS (SELECT FROM entities_identitydecision AS undone WHERE undone.of_decision_id = decided.id)"""


@dataclass(frozen=True, slots=True)
class Hop:
    """One merge that stands: what its author takes an Entity for, and by which decision."""

    survivor: UUID
    decision_id: UUID


@dataclass(frozen=True, slots=True)
class Cited:
    """What a decision rests on for one of its entities: an identifier or a span."""

    entity_id: UUID
    kind: BasisKind
    fragment_id: UUID
    start: int
    end: int
    scheme: str | None
    display: str | None


@dataclass(frozen=True, slots=True)
class IdentityStep:
    """A decision about who is who. `recorded_by` is the row of review that says how it was made, and why."""

    id: UUID
    kind: IdentityKind
    author_id: UUID
    author: str
    recorded_by: UUID
    of_decision_id: UUID | None
    withdrawn: bool
    members: Mapping[UUID, MemberRole]
    basis: tuple[Cited, ...]
    recorded_at: datetime


def kinds_of(*, team_id: UUID, entity_ids: Collection[UUID]) -> dict[UUID, EntityKind]:
    """Return the kind of each Entity.

    :raises NotThere: the team does not have one of them
    """
    rows = dict(Entity.objects.of_team(team_id).filter(pk__in=entity_ids).values_list("id", "kind"))
    if len(rows) < len(set(entity_ids)):
        raise NotThere
    return {entity: EntityKind(kind) for entity, kind in rows.items()}


def shown_names(*, team_id: UUID, entity_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return what each Entity is called, by its newest name whose text may be shown; without one it is left out."""
    rows = Name.objects.of_team(team_id).filter(entity_id__in=entity_ids).exclude(key__startswith=GONE)
    found = list(rows.order_by("-version", "seq").values_list("entity_id", "display", "fragment_id"))
    held = held_among(team_id=team_id, fragment_ids={fragment for *_, fragment in found})
    named: dict[UUID, str] = {}
    for entity, display, fragment in found:
        if fragment not in held:
            named.setdefault(entity, display)
    return named


def hops_from(*, team_id: UUID, entity_ids: Collection[UUID]) -> dict[UUID, dict[UUID, Hop]]:
    """Return, by author, every merge that stands on the way from these entities to what they are taken for."""
    found: dict[UUID, dict[UUID, Hop]] = defaultdict(dict)
    frontier, seen = set(entity_ids), set(entity_ids)
    for _ in range(limits.REDIRECTS):
        rows = fetch(HOPS, team=team_id, entities=list(frontier)) if frontier else []
        for author, entity, survivor, decision in rows:
            found[author][entity] = Hop(survivor, decision)
        frontier = {survivor for *_, survivor, _ in rows} - seen
        seen |= frontier
    return dict(found)


def identity_steps(*, team_id: UUID, entity_ids: Collection[UUID]) -> list[IdentityStep]:
    """Return the newest `limits.IDENTITY_STEPS` decisions of any profile about these entities, oldest first."""
    about = IdentityMember.objects.of_team(team_id).filter(entity_id__in=entity_ids).values("decision_id")
    rows = _decisions(team_id).filter(Q(pk__in=about) | Q(of_decision__in=about))
    return [step_of(row) for row in reversed(rows.order_by("-seq")[: limits.IDENTITY_STEPS])]


def identity_steps_by_id(*, team_id: UUID, decision_ids: Collection[UUID]) -> list[IdentityStep]:
    """Return these decisions, oldest first."""
    return [step_of(row) for row in _decisions(team_id).filter(pk__in=decision_ids).order_by("seq")]


def identity_rows(*, team_id: UUID) -> QuerySet[IdentityDecision]:
    """Return every decision about who is who of a team, those withdrawn and withdrawals too."""
    return _decisions(team_id)


def profiles_with_mentions(*, team_id: UUID, entity_ids: Collection[UUID]) -> set[UUID]:
    """Return the profiles in whose texts these entities are mentioned."""
    rows = ResolutionEvent.objects.of_team(team_id).filter(entity_id__in=entity_ids)
    return set(rows.values_list("item__owner_id", flat=True).distinct())


@dataclass(frozen=True, slots=True)
class MentionStep:
    """What was decided about a mention, at first or later.

    :param identity_decision_id: the decision about who is who that attributed it anew
    """

    id: UUID
    item_id: UUID
    fragment_id: UUID
    owner_id: UUID
    owner: str
    mention_ref: str
    kind: EntityKind
    start: int
    end: int
    cycle: int
    action: str
    reason: str
    entity_id: UUID | None
    confidence: Decimal
    identity_decision_id: UUID | None
    recorded_at: datetime


def mention_steps(*, team_id: UUID, event_id: UUID) -> list[MentionStep]:
    """Return what was decided about a mention: in this event, and since then, at most `limits.PAGE_ITEMS` of them.

    :raises NotThere: the team has no such event
    """
    of_team = ResolutionEvent.objects.of_team(team_id).select_related("item__owner")
    first = of_team.filter(pk=event_id).first()
    if first is None:
        raise NotThere
    # By its place: a redaction takes the refs away.
    later = of_team.filter(item_id=first.item_id, start=first.start, end=first.end, seq__gt=first.seq)
    return [_mention(row) for row in (first, *later.order_by("seq")[: limits.PAGE_ITEMS])]


def _decisions(team_id: UUID) -> QuerySet[IdentityDecision]:
    rows: QuerySet[IdentityDecision] = IdentityDecision.objects.of_team(team_id)
    return rows.select_related("author", "withdrawal").prefetch_related("members", "basis__identifier")


def step_of(row: IdentityDecision) -> IdentityStep:
    """Return a decision with its members and what it rests on; load the row by `identity_rows`."""
    return IdentityStep(
        id=row.id,
        kind=IdentityKind(row.kind),
        author_id=row.author_id,
        author=row.author.name,
        recorded_by=row.decision_id,
        of_decision_id=row.of_decision_id,
        withdrawn=hasattr(row, "withdrawal"),
        members={member.entity_id: MemberRole(member.role) for member in row.members.all()},
        basis=tuple(_cited(item) for item in row.basis.all()),
        recorded_at=row.recorded_at,
    )


def _cited(item: IdentityBasis) -> Cited:
    said: Any = item.identifier or item
    return Cited(
        entity_id=item.entity_id,
        kind=BasisKind(item.kind),
        fragment_id=said.fragment_id,
        start=said.start,
        end=said.end,
        scheme=item.identifier.scheme if item.identifier else None,
        display=item.identifier.display if item.identifier else None,
    )


def _mention(row: ResolutionEvent) -> MentionStep:
    return MentionStep(
        id=row.id,
        item_id=row.item_id,
        fragment_id=row.fragment_id,
        owner_id=row.item.owner_id,
        owner=row.item.owner.name,
        mention_ref=row.mention_ref,
        kind=EntityKind(row.kind),
        start=row.start,
        end=row.end,
        cycle=row.cycle,
        action=row.action,
        reason=row.reason,
        entity_id=row.entity_id,
        confidence=row.confidence,
        identity_decision_id=row.identity_id,
        recorded_at=row.recorded_at,
    )
