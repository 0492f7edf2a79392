"""Writes of entities, names, values and resolution events. Each is called inside the commit that conducts it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Max

from densemem.core import limits
from densemem.db.insert import insert
from densemem.db.locks import lock
from entities.models import (
    Entity,
    Identifier,
    IdentityBasis,
    IdentityDecision,
    IdentityMember,
    Name,
    ResolutionCandidate,
    ResolutionEvent,
    Value,
)
from entities.plan import (
    NORMALIZATION,
    Attribution,
    NewEntity,
    NewIdentifier,
    NewIdentityDecision,
    NewName,
    NewResolution,
    NewValue,
    Origin,
)
from entities.policy import BEARING, kept_forms
from entities.queries import OF
from entities.search import hashed
from entities.vocabulary import CandidateReason, NameKind, ResolutionAction


def lock_names(*, team_id: UUID, keys: Collection[str]) -> None:
    """Hold the names until the transaction ends, so that two commits cannot both create the same one."""
    for key in sorted(keys):
        lock("name", team_id, key)


def create_entities(*, origin: Origin, entities: Sequence[NewEntity], names: Sequence[NewName], now: datetime) -> None:
    """Make entities, and store names; a name that an Entity already bears is not stored twice.

    Two commits may store the same names: each in the same order, or they wait for each other.
    """
    insert(
        Entity(
            id=new.id,
            team_id=origin.team_id,
            kind=new.kind,
            identity_context=dict(new.identity_context),
            first_ingest_id=origin.ingest_id,
            created_at=now,
        )
        for new in entities
    )
    insert(
        [
            _name(
                new,
                team_id=origin.team_id,
                owner_id=origin.owner_id,
                fragment_id=origin.fragment_id,
                version=1 if new.kind is NameKind.CANONICAL else 0,
                now=now,
            )
            for new in sorted(names, key=lambda n: (n.entity_id, n.kind, n.key))
        ],
        ignore_conflicts=True,
    )


def store_identifiers(*, origin: Origin, identifiers: Sequence[NewIdentifier], now: datetime) -> None:
    """Store what the fragment says identifies its entities; what it has said already is not stored twice."""
    insert(
        [
            Identifier(
                team_id=origin.team_id,
                entity_id=new.entity_id,
                owner_id=origin.owner_id,
                scheme=new.identifier.scheme,
                value=new.identifier.value,
                display=new.display,
                fragment_id=origin.fragment_id,
                start=new.start,
                end=new.end,
                recorded_at=now,
            )
            for new in sorted(identifiers, key=lambda n: (n.entity_id, n.identifier, n.start))
        ],
        ignore_conflicts=True,
    )


def rename_entity(*, team_id: UUID, owner_id: UUID, fragment_id: UUID, name: NewName, now: datetime) -> None:
    """Append the next version of a canonical name; the ones before it are former names. The caller locks the names."""
    named = Name.objects.of_team(team_id).filter(entity_id=name.entity_id)
    newest = named.aggregate(newest=Max("version"))["newest"]
    insert([_name(name, team_id=team_id, owner_id=owner_id, fragment_id=fragment_id, version=newest + 1, now=now)])


def store_values(*, team_id: UUID, fragment_id: UUID, values: Sequence[NewValue], now: datetime) -> None:
    """Keep typed values, in the order of their ids; one that the team already has stays as it is."""
    insert(
        [
            Value(
                id=new.id,
                team_id=team_id,
                type=new.value.type,
                canonical=new.value.canonical,
                unit=new.value.unit,
                display=new.display[:1024],
                normalization_version=NORMALIZATION,
                fragment_id=fragment_id,
                recorded_at=now,
            )
            for new in sorted(values, key=lambda v: v.id)
        ],
        ignore_conflicts=True,
    )


def append_resolutions(*, origin: Origin, resolutions: Sequence[NewResolution], now: datetime) -> None:
    """Append what was decided about each mention, and what was offered for it."""
    insert(
        ResolutionEvent(
            id=new.id,
            team_id=origin.team_id,
            ingest_id=origin.ingest_id,
            fragment_id=origin.fragment_id,
            item_id=origin.item_id,
            cycle=origin.cycle,
            mention_ref=new.mention_ref,
            kind=new.kind,
            start=new.start,
            end=new.end,
            action=new.action,
            entity_id=new.entity_id,
            confidence=new.confidence,
            reason=new.reason,
            recorded_at=now,
        )
        for new in resolutions
    )
    insert(
        ResolutionCandidate(
            team_id=origin.team_id,
            event_id=new.id,
            entity_id=candidate.entity_id,
            reason=_why(candidate.reason, new.bearers),
            recorded_at=now,
        )
        for new in resolutions
        for candidate in new.candidates
    )


def _why(reason: CandidateReason, bearers: int) -> str:
    """Return why a candidate is offered; of too many that bear the name, with their number."""
    return f"{reason}{OF}{bearers}" if reason in BEARING and bearers > limits.CANDIDATES else reason.value


def _name(new: NewName, *, team_id: UUID, owner_id: UUID, fragment_id: UUID, version: int, now: datetime) -> Name:
    """Return a name with the forms that it is found by when it is written otherwise."""
    forms = kept_forms(new.display, canonical=new.kind is NameKind.CANONICAL)
    return Name(
        team_id=team_id,
        entity_id=new.entity_id,
        owner_id=owner_id,
        kind=new.kind,
        display=new.display,
        key=new.key,
        version=version,
        forms=sorted(hashed(team_id, forms).values()),
        fragment_id=fragment_id,
        start=new.start,
        end=new.end,
        recorded_at=now,
    )


def unsettle_mentions(*, team_id: UUID, item_id: UUID, settled_in: int, cycle: int, now: datetime) -> None:
    """Leave open again, with the same candidates, each mention that one cycle of an item settled and found open."""
    rows = ResolutionEvent.objects.of_team(team_id).filter(item_id=item_id, cycle__lte=settled_in).order_by("seq")
    steps: dict[str, list[ResolutionEvent]] = {}
    for row in rows:
        steps.setdefault(row.mention_ref, []).append(row)
    opened = [
        (before, ResolutionEvent(**_copied(before), cycle=cycle, reason="decision_withdrawn", recorded_at=now))
        for *_, before, newest in (s for s in steps.values() if len(s) > 1)
        if newest.cycle == settled_in and newest.entity_id and before.entity_id is None
    ]
    insert(event for _, event in opened)
    insert(
        ResolutionCandidate(team_id=team_id, event_id=event.id, entity_id=c.entity_id, reason=c.reason, recorded_at=now)
        for before, event in opened
        for c in before.candidates.order_by("seq")
    )


def _copied(event: ResolutionEvent) -> dict[str, Any]:
    kept = ("team_id", "ingest_id", "fragment_id", "item_id", "mention_ref", "kind", "start", "end")
    return {name: getattr(event, name) for name in (*kept, "action", "confidence")}


def lock_identity(*, team_id: UUID, profile_id: UUID) -> None:
    """Hold alone who is who for a profile, until the transaction ends; after source groups, before names."""
    lock("identity", team_id, profile_id)


def record_identity(new: NewIdentityDecision, *, now: datetime) -> None:
    """Append a decision about who is who, the entities that it is about, and what it rests on."""
    insert(
        [
            IdentityDecision(
                id=new.id,
                team_id=new.team_id,
                author_id=new.author_id,
                kind=new.kind,
                of_decision_id=new.of_decision_id,
                decision_id=new.decision_id,
                impact_hash=new.impact_hash,
                recorded_at=now,
            )
        ]
    )
    insert(
        IdentityMember(team_id=new.team_id, decision_id=new.id, entity_id=entity, role=role, recorded_at=now)
        for entity, role in new.members
    )
    insert(
        IdentityBasis(
            team_id=new.team_id,
            decision_id=new.id,
            entity_id=row.entity_id,
            kind=row.kind,
            identifier_id=row.identifier_id,
            fragment_id=row.fragment_id,
            start=row.start,
            end=row.end,
            recorded_at=now,
        )
        for row in new.basis
    )


def attribute_mentions(
    *, team_id: UUID, identity_id: UUID, attributions: Sequence[Attribution], reason: str, now: datetime
) -> dict[tuple[UUID, str], UUID]:
    """Say anew whom mentions mean; one without an Entity is open, with candidates. Returns the id of each event.

    :returns: by item and mention ref
    """
    items = {a.item_id for a in attributions}
    rows = ResolutionEvent.objects.of_team(team_id).filter(item_id__in=items).order_by("seq")
    newest = {(row.item_id, row.mention_ref): row for row in rows}
    made = {
        a.place: ResolutionEvent(
            **_copied(newest[a.place])
            | {"action": ResolutionAction.REUSE if a.entity_id else ResolutionAction.AMBIGUOUS},
            cycle=a.cycle,
            entity_id=a.entity_id,
            identity_id=identity_id,
            reason=reason,
            recorded_at=now,
        )
        for a in attributions
    }
    insert(made.values())
    insert(
        ResolutionCandidate(
            team_id=team_id, event_id=made[a.place].id, entity_id=entity, reason=reason, recorded_at=now
        )
        for a in attributions
        for entity in a.candidates
    )
    return {place: event.id for place, event in made.items()}


def give_mentions_back(
    *, team_id: UUID, of_identity: UUID, identity_id: UUID, cycles: Mapping[UUID, int], now: datetime
) -> tuple[set[tuple[UUID, str]], set[tuple[UUID, str]]]:
    """Let mentions mean again what they meant before a decision attributed them, unless that was settled since.

    :param cycles: by item, its version now
    :returns: the mentions (item, ref) that were given back, and those settled since
    """
    mine = ResolutionEvent.objects.of_team(team_id).filter(identity_id=of_identity)
    rows = ResolutionEvent.objects.of_team(team_id).filter(item_id__in=set(mine.values_list("item_id", flat=True)))
    steps: dict[tuple[UUID, str], list[ResolutionEvent]] = {}
    for row in rows.order_by("seq"):
        steps.setdefault((row.item_id, row.mention_ref), []).append(row)
    back, since, events = set(), set(), []
    for place, of in steps.items():
        at = next((i for i, row in enumerate(of) if row.identity_id == of_identity), None)
        if at is None:
            continue
        if at < len(of) - 1 or not at:
            since.add(place)
            continue
        back.add(place)
        before = of[at - 1]
        events.append(
            ResolutionEvent(
                **_copied(before),
                cycle=cycles[before.item_id],
                entity_id=before.entity_id,
                identity_id=identity_id,
                reason="identity_withdrawn",
                recorded_at=now,
            )
        )
    insert(events)
    return back, since
