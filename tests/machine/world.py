"""The product as the machine drives it: its own operations, in process, on a real database; and what is read of it."""

from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import connection
from django.utils import timezone
from psycopg import ClientCursor

from densemem.audit.invariants import INVARIANTS
from densemem.auth import Principal
from densemem.core import limits
from densemem.db.read import fetch
from densemem.models import Team
from densemem.providers.base import Provider
from entities.models import Entity, IdentityMember, Name, Value
from evidence.models import Fragment
from placement.operations import claim_next
from placement.pipeline import place
from relationships.models import Observation
from relationships.recall import recall
from tests.machine.claims import Claim, Key, Seen
from tests.said import Fact, model, say, send, someone

TEAMS: Final = {"Northwind": ("Ada", "Bo"), "Umbra": ("Uma",)}
TEAM_OF: Final = {name: team for team, names in TEAMS.items() for name in names}
WORDS: Final = {"works_on": "works on", "lives_in": "lives in", "due_on": "is due on"}
KINDS: Final = {"works_on": ("person", "project"), "lives_in": ("person", "place"), "due_on": ("project", "date")}
DATES: Final = ("2024-05-01", "2024-06-01", "2024-07-01")
# Every name and value is known before the first step, so that what is redacted later takes no name with it.
KNOWN: Final = (
    Claim("Mara", "works_on", "Harbor"),
    Claim("Mara", "works_on", "Beacon"),
    Claim("Mara", "lives_in", "Graz"),
    Claim("Mara", "lives_in", "Porto"),
    *(Claim("Harbor", "due_on", day) for day in DATES),
)

RECORDS: Final = """
    SELECT id, owner_id, subject_entity_id, predicate_key, coalesce(object_entity_id, object_value_id), polarity,
           valid_from, valid_to, tier, status, held_by_person, support_count, source_group_count, version, semantic_group_key
    FROM relationships_relationshiprecord WHERE owner_id = ANY(%(owners)s)"""

SUPPORTS: Final = (
    "SELECT coalesce(sum(support_count), 0) FROM relationships_relationshiprecord WHERE owner_id = %(owner)s"
)
MEANING: Final = """
    SELECT item_id FROM (
      SELECT DISTINCT ON (item_id, mention_ref) item_id, entity_id FROM entities_resolutionevent
      WHERE item_id = ANY(%(items)s) ORDER BY item_id, mention_ref, seq DESC) AS newest
    WHERE entity_id = %(entity)s"""
REFERENCES: Final = "SELECT source_relationship_id, target_relationship_id, kind FROM relationships_crossreference"
CASES: Final = """
    SELECT conflict.id, conflict.team_id, conflict.version, conflict.status = 'open',
           array_agg(stood.semantic_group_key)
    FROM relationships_conflictcase AS conflict JOIN relationships_conflictposition AS stood ON stood.case_id = conflict.id
    WHERE conflict.merged_into_id IS NULL GROUP BY conflict.id ORDER BY conflict.id"""

Shown = tuple[str, str, int, int, int]


class Found(NamedTuple):
    """A conflict as the database has it."""

    id: UUID
    team: str
    version: int
    is_open: bool
    positions: frozenset[Claim]


class World:
    """Two teams, the people in them, and a text of each manager that says every name."""

    def __init__(self) -> None:
        self.people: dict[str, Principal] = {}
        self.managers: dict[str, Principal] = {}
        self.teams: dict[str, UUID] = {}
        self.meanings: dict[str, Claim] = {}
        self.naming: dict[str, tuple[UUID, int]] = {}  # by team, a text that has every name in it, and its length
        for name, members in TEAMS.items():
            team = Team.objects.create(name=f"{name} (sample)")
            self.teams[name] = team.id
            self.managers[name] = someone(team, f"Mo of {name}", role="manager")
            self.people |= {member: someone(team, member, grants=["document"]) for member in members}
            text = " ".join(f"{c.subject} {WORDS[c.predicate]} {c.object}." for c in KNOWN)
            say(self.managers[name], text, *(fact_of(claim, "insufficient") for claim in KNOWN))
            fragment = Fragment.objects.values_list("id", flat=True).get(team_id=team.id)
            self.naming[name] = fragment, len(text)
        self.named = dict(Name.objects.values_list("entity_id", "display")) | dict(
            Value.objects.values_list("id", "display")
        )
        ids = Name.objects.values_list("team_id", "display", "entity_id")
        self.entities = {(team, name): entity for team, name, entity in ids}
        self.owners = {who.profile_id: name for name, who in self.people.items()}
        _keep_laws()

    def records(self) -> dict[UUID, tuple[Key, Seen]]:
        """Return every record of the people, as the database has it."""
        rows = fetch(RECORDS, owners=list(self.owners))
        keys = {row[0]: self._key(row) for row in rows}
        self.meanings = {row[14]: keys[row[0]].claim for row in rows}
        return {row[0]: (keys[row[0]], Seen(*row[8:14])) for row in rows}

    def references(self) -> set[tuple[UUID, UUID, str]]:
        """Return what records say of each other."""
        return set(fetch(REFERENCES))

    def cases(self) -> list[Found]:
        """Return the conflicts that were not merged, the oldest first; call `records` before."""
        name = {number: team for team, number in self.teams.items()}
        return [
            Found(case, name[team], version, is_open, frozenset(self.meanings[g] for g in groups if g in self.meanings))
            for case, team, version, is_open, groups in fetch(CASES)
        ]

    def supports(self, who: str) -> int:
        """Count what holds up the records of somebody, also those of what a split made."""
        ((found,),) = fetch(SUPPORTS, owner=self.people[who].profile_id)
        return int(found)

    def entity(self, who: str, name: str) -> Entity:
        """Return what a name means in somebody's team."""
        return Entity.objects.get(pk=self.entities[self.people[who].team_id, name])

    def items_meaning(self, who: str, name: str, item_ids: list[UUID]) -> set[UUID]:
        """Return which of these items mention what a name means in somebody's team, by what was decided last."""
        return {item for (item,) in fetch(MEANING, items=item_ids, entity=self.entity(who, name).id)}

    def call_child(self, identity_id: UUID | None, name: str) -> None:
        """Give a name to what a split has made."""
        child = IdentityMember.objects.values_list("entity_id", flat=True).get(decision_id=identity_id, role="child")
        self.named[child] = name

    def broken(self) -> list[tuple[Any, ...]]:
        """Return the rows that break an invariant, each with its number."""
        return list(connection.connection.execute("SELECT * FROM pg_temp.broken_laws()").fetchall())

    def work(self, facts: Any) -> UUID | None:
        """Place the next item as a worker does, and return it; `facts` gives what the models answer about an item."""
        claim = claim_next()
        if claim is None:
            return None
        place(claim, facts(claim.item_id))
        return claim.item_id

    def found(self, who: str, name: str, known_at: datetime | None = None) -> dict[UUID, Shown]:
        """Return what recall shows, now or as it was known at a moment."""
        answer = recall(
            principal=self.people[who], query=name, limit=limits.RECALL_ITEMS, known_at=known_at, now=timezone.now()
        )
        return {
            item.relationship_id: (item.tier, item.status, item.support_count, item.source_group_count, item.version)
            for group in answer.results
            for item in group.relationships
        }

    def _key(self, row: tuple[Any, ...]) -> Key:
        subject, object_ = self.named[row[2]], self.named[row[4]]
        since, until = (at.date() if at else None for at in row[6:8])
        return Key(self.owners[row[1]], Claim(subject, row[3], object_, row[5], since, until))


def fact_of(claim: Claim, verdict: str) -> Fact:
    """Return what a scripted model finds in the text of a claim, and how it judges it."""
    subject_kind, object_kind = KINDS[claim.predicate]
    value = {"type": "date", "value": claim.object} if object_kind == "date" else None
    return Fact(
        claim.subject,
        WORDS[claim.predicate],
        claim.object,
        claim.predicate,
        verdict=verdict,
        subject_kind=subject_kind,
        object_kind=object_kind,
        polarity=claim.polarity,
        valid_from=_day(claim.since),
        valid_to=_day(claim.until),
        value=value,
    )


def words_of(claim: Claim, number: int) -> str:
    """Return a text that says a claim; its number stands so often that no two texts share a run of five words."""
    tag = f"n{number}x"
    denied = "" if claim.polarity == "+" else f"not {tag} "
    bounds = f" {tag} from {_day(claim.since)} {tag} to {_day(claim.until)}" if claim.since or claim.until else ""
    return f"{tag} {denied}{claim.subject} {WORDS[claim.predicate]} {tag} {claim.object} {tag}{bounds}."


def provider_of(claim: Claim, verdict: str) -> Provider:
    """Return the scripted models for one text."""
    return model(fact_of(claim, verdict))


def proposal_of(claim: Claim, target: UUID, version: int) -> dict[str, Any]:
    """Return a proposal whose one relationship names a correction target."""
    ends: dict[str, Any] = {"subject_ref": "s", "object_ref": "o"}
    entities = [{"ref": "s", "name": claim.subject}, {"ref": "o", "name": claim.object}]
    if KINDS[claim.predicate][1] == "date":
        entities.pop()
        ends = {"subject_ref": "s", "object_value": {"type": "date", "value": claim.object}}
    wanted = {"relationship_id": str(target), "expected_version": version}
    about = {"predicate": WORDS[claim.predicate], "evidence": [{"evidence_index": 0, "start": 0, "end": 3}]}
    return {
        "entities": entities,
        "relationships": [{"proposal_id": "fix", **ends, **about, "correction_target": wanted}],
    }


def newest_observation(item_id: UUID) -> UUID:
    """Return what was read in an item last."""
    found = Observation.objects.filter(item_id=item_id).order_by("-cycle").values_list("id", flat=True)
    return found[0]


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _keep_laws() -> None:
    """Let the server plan all invariants once, as one function of this session."""
    given = {
        "sources_for_fact": limits.SOURCES_FOR_FACT,
        "attempts": limits.ITEM_ATTEMPTS,
        "wait": limits.BACKOFF_MOST_SECONDS,
        "lease": limits.LEASE_SECONDS,
    }
    each = (f"SELECT '{law.name}', id, detail FROM ({law.sql}) AS found(team, id, detail)" for law in INVARIANTS)
    connection.ensure_connection()
    session = connection.connection
    body = ClientCursor(session).mogrify(" UNION ALL ".join(each), given)
    session.execute(f"""
        CREATE FUNCTION pg_temp.broken_laws() RETURNS TABLE (law text, at uuid, what text) LANGUAGE plpgsql AS
        $laws$ BEGIN RETURN QUERY {body}; END $laws$""")


__all__ = [
    "DATES",
    "TEAMS",
    "TEAM_OF",
    "World",
    "newest_observation",
    "proposal_of",
    "provider_of",
    "send",
    "words_of",
]
