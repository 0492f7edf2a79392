"""Labelled texts through the real path: remember, the worker, the commit; and what became active of each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from django.apps import apps
from django.contrib.auth.models import User
from django.utils import timezone

from densemem.auth import Principal, principal_of
from densemem.core.words import ProfileKind, Role, Scope
from densemem.evals.scoring import ActiveFact
from densemem.models import Membership, Profile, Team
from placement.remember import remember
from placement.tasks import drain

Names = Sequence[tuple[str, str | None, int, int]]


def active_facts(text: str, names: Names = ()) -> list[ActiveFact]:
    """Remember one text in a team of its own and return what became active.

    :param names: (surface, kind, start, end), handed over as the client's proposal
    """
    who = newcomer()
    body: dict[str, Any] = {"evidence": [{"content": text, "source_type": "document"}]}
    if names:
        body["proposal"] = {"entities": list(_entities(names))}
    remember(principal=who, body=body, idempotency_key=uuid4().hex, now=timezone.now())
    drain(linger=False)
    return list(_active(who.team_id))


def newcomer() -> Principal:
    """Return a member of a new team."""
    number = uuid4().hex
    team = Team.objects.create(name=f"evaluation {number}")
    user = User.objects.create(username=f"evaluation-{number}")
    profile = Profile.objects.create(team=team, kind=ProfileKind.PERSON, name="evaluation", user=user)
    Membership.objects.create(team=team, profile=profile, role=Role.MEMBER, scopes=[s.value for s in Scope])
    found = principal_of(profile)
    assert found is not None
    return found


def _entities(names: Names) -> Iterator[dict[str, Any]]:
    grouped: dict[tuple[str, str | None], list[dict[str, int]]] = {}
    for surface, kind, start, end in names:
        span = {"evidence_index": 0, "start": start, "end": end}
        grouped.setdefault((surface, kind), []).append(span)
    for number, ((surface, kind), spans) in enumerate(list(grouped.items())[:100]):
        entity = {"ref": f"e{number}", "name": surface, "mentions": spans}
        yield {**entity, "entity_kind": kind} if kind else entity


def _active(team_id: UUID) -> Iterator[ActiveFact]:
    # An evaluation reads the tables of several apps and writes none, so it asks the registry for them.
    support = apps.get_model("relationships", "EvidenceSupport")
    rows = support.objects.filter(team_id=team_id, relationship__status="active").select_related(
        "relationship__object_value", "observation", "fragment__content"
    )
    seen: set[UUID] = set()
    for row in rows.order_by("seq"):
        if row.relationship_id not in seen:
            seen.add(row.relationship_id)
            yield _fact(row)


def _fact(support: Any) -> ActiveFact:
    record = support.relationship
    text = support.fragment.content.text
    mentions = _mentions(support)
    start, end = mentions[record.subject_entity_id]
    value = record.object_value
    at = _value_at(support, text) if value else mentions[record.object_entity_id]
    kinds = dict(
        apps.get_model("entities", "Entity")
        .objects.filter(pk__in=[record.subject_entity_id, record.object_entity_id])
        .values_list("id", "kind")
    )
    return ActiveFact(
        subject=text[start:end],
        predicate=record.predicate_key,
        object=text[at[0] : at[1]],
        polarity=record.polarity,
        ended=record.valid_to is not None,
        subject_kind=kinds[record.subject_entity_id],
        object_kind=kinds.get(record.object_entity_id),
        norm=_norm(value) if value else None,
        valid_from=record.valid_from.isoformat() if record.valid_from else None,
        valid_to=record.valid_to.isoformat() if record.valid_to else None,
        scope=record.scope_key,
        subject_at=(start, end),
        object_at=at,
    )


def _norm(value: Any) -> str:
    return f"{value.canonical} {value.unit}" if value.unit else str(value.canonical)


def _mentions(support: Any) -> Mapping[UUID, tuple[int, int]]:
    """Return where the observation's own mentions stand; another mention of the same thing only where it has none."""
    seen = support.observation
    events = apps.get_model("entities", "ResolutionEvent").objects.filter(item_id=seen.item_id, cycle=seen.cycle)
    spans: dict[UUID, tuple[int, int]] = {}
    own = {seen.subject_ref, seen.object_ref}
    for event in sorted(events.exclude(entity=None), key=lambda e: e.mention_ref in own):
        spans[UUID(str(event.entity_id))] = (event.start, event.end)
    return spans


def _value_at(support: Any, text: str) -> tuple[int, int]:
    words = apps.get_model("evidence", "Wording").objects.get(of=support.observation_id, kind="value").text
    start = text.find(words, support.start)
    return start, start + len(words)
