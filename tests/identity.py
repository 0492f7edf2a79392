"""Short ways to decide who is who in tests."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from django.db import connection
from django.utils import timezone

from densemem.auth import Principal
from entities.models import Entity
from evidence.models import Fragment
from placement.decide import Decided, IdentityImpact, decide_identity, preview_identity
from relationships.models import RelationshipRecord
from tests.database import OURS
from tests.said import Fact, say

REPORT = "Mark is Mark Huang."


def named(name: str, **fields: Any) -> Entity:
    """Return the one Entity that has a canonical name."""
    found: Entity = Entity.objects.get(names__display=name, names__kind="canonical", **fields)
    return found


def report_of(who: Principal, text: str = REPORT) -> dict[str, Any]:
    """Remember a text that names two, and return it as a basis."""
    say(who, text)
    fragment = Fragment.objects.filter(owner_id=who.profile_id, content__text=text).latest("recorded_at")
    return {"kind": "explicit_report", "fragment_id": str(fragment.id), "start": 0, "end": len(text)}


def merging(survivor: Entity, *absorbed: Entity, basis: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the body of a merge."""
    return {
        "kind": "merge",
        "reason": "They are one.",
        "survivor_id": str(survivor.id),
        "absorbed_ids": [str(entity.id) for entity in absorbed],
        "basis": basis,
    }


def splitting(parent: Entity, *children: list[UUID]) -> dict[str, Any]:
    """Return the body of a split: for each child, its observations."""
    parts = [{"observation_ids": [str(number) for number in listed]} for listed in children]
    return {"kind": "split", "reason": "They are two.", "entity_id": str(parent.id), "children": parts}


def apart(one: Entity, other: Entity) -> dict[str, Any]:
    """Return the body of a decision that keeps two apart."""
    return {"kind": "distinct", "reason": "They are two.", "entity_ids": [str(one.id), str(other.id)]}


def withdrawing(identity_id: UUID | None) -> dict[str, Any]:
    """Return the body of a withdrawal."""
    return {"kind": "withdraw", "reason": "I was wrong.", "identity_id": str(identity_id)}


def previewed(who: Principal, body: dict[str, Any]) -> IdentityImpact:
    """Rehearse a decision."""
    return preview_identity(principal=who, body=body, now=timezone.now())


def decided(who: Principal, body: dict[str, Any], *, token: str | None = None, key: str | None = None) -> Decided:
    """Do a decision as it is previewed now, unless a token is given."""
    if token is None:
        impact = previewed(who, body)
        assert not impact.refusal, impact
        token = impact.token
    given = {**body, "token": token}
    return decide_identity(principal=who, body=given, idempotency_key=key or uuid4().hex, now=timezone.now())


def in_person(who: Principal) -> Principal:
    """Return the same caller before a page."""
    return replace(who, in_person=True)


def works(name: str, on: str) -> Fact:
    """Return that somebody works on something."""
    return Fact(name, "works on", on, "works_on")


def lives(name: str, where: str) -> Fact:
    """Return that somebody lives somewhere."""
    return Fact(name, "lives in", where, "lives_in", object_kind="place")


def marries(name: str, other: str) -> Fact:
    """Return that two persons are married: a predicate that reads the same both ways."""
    return Fact(name, "is married to", other, "married_to", object_kind="person")


def records(who: Principal) -> dict[str, tuple[str, int, int]]:
    """Return, by subject and object, how a profile's records stand: status, supports, voices. Names must tell them."""
    found = RelationshipRecord.objects.filter(owner_id=who.profile_id)
    stand = {
        f"{called(r.subject_entity)} {called(r.object_entity)}": (r.status, r.support_count, r.source_group_count)
        for r in found
    }
    assert len(stand) == len(found)
    return stand


def called(entity: Any) -> str:
    """Return the name of an Entity."""
    found: str = entity.names.filter(kind="canonical").latest("version").display
    return found


def standing(team_id: UUID) -> dict[UUID, tuple[object, ...]]:
    """Return how every record that counts or is held stands: what a withdrawal has to bring back."""
    columns = ("tier", "status", "held_by_person", "support_count", "source_group_count")
    rows = RelationshipRecord.objects.filter(team_id=team_id).exclude(status="pending_evidence")
    return {row["id"]: tuple(row[name] for name in columns) for row in rows.values("id", *columns)}


def rows_in_hashes(who: Principal) -> dict[str, str]:
    """Return, by table, a hash of every row that belongs to a profile, and of what hangs on its records."""
    of_owner = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
    of_owner += " AND column_name IN ('owner_id', 'author_id') AND table_name ~ %s"
    record = "(SELECT id FROM relationships_relationshiprecord WHERE owner_id = %s)"
    support = "(SELECT id FROM relationships_evidencesupport WHERE owner_id = %s)"
    seen = "(SELECT id FROM relationships_observation WHERE owner_id = %s)"
    with connection.cursor() as cursor:
        cursor.execute(of_owner, [OURS])
        conditions = {table: f"{column} = %s" for table, column in cursor.fetchall()}
        conditions |= {
            "relationships_transition": f"relationship_id IN {record}",
            "relationships_searchdocument": f"relationship_id IN {record}",
            "relationships_supportdecision": f"support_id IN {support}",
            "relationships_observationresolution": f"observation_id IN {seen}",
        }
        found = {}
        for table, condition in conditions.items():
            hashed = "count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '')"
            cursor.execute(f'SELECT {hashed} FROM "{table}" t WHERE {condition}', [who.profile_id])  # noqa: S608
            found[table] = cursor.fetchone()[0]
    return found
