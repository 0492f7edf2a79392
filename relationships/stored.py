"""Stored records as the rules see them: each with its supports, the references that it made, and what replaced it."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from densemem.db.keyed import team_digest
from densemem.db.read import fetch
from relationships.identity import Identity, meaning
from relationships.models import RelationshipRecord
from relationships.policy import Behaviour, StoredRecord, StoredSupport
from relationships.policy.conflicts import ConflictState, Holder, Said
from relationships.vocabulary import (
    Cardinality,
    ConflictStatus,
    CrossReferenceKind,
    LineageKind,
    Polarity,
    RelationshipKind,
    Status,
    SupportAction,
    Tier,
    TimePrecision,
)

COUNTS: Final = (SupportAction.GRANT, SupportAction.REINSTATE)

# A support counts as its newest decision says.
SUPPORTS: Final = """
    SELECT support.relationship_id, support.fragment_id, support.start, support."end", support.group_id,
           support.authoritative, coalesce(decided.action = ANY(%(counts)s), false), seen.observed_at, support.seq,
           support.observation_id
    FROM relationships_evidencesupport AS support
    JOIN relationships_observation AS seen ON seen.id = support.observation_id
    LEFT JOIN LATERAL (
      SELECT action FROM relationships_supportdecision AS decision
      WHERE (decision.team_id, decision.support_id) = (support.team_id, support.id) ORDER BY seq DESC LIMIT 1
    ) AS decided ON true
    WHERE support.team_id = %(team)s AND support.relationship_id = ANY(%(records)s)"""

# What a record says of others, and how it was replaced itself, the newest last.
REFERENCES: Final = """
    SELECT source_relationship_id, kind, target_relationship_id, NULL::timestamptz, seq
    FROM relationships_crossreference WHERE team_id = %(team)s AND source_relationship_id = ANY(%(records)s)
    UNION ALL
    SELECT predecessor_id, kind, NULL, effective_at, seq
    FROM relationships_lineage WHERE team_id = %(team)s AND predecessor_id = ANY(%(records)s)
    ORDER BY seq"""

STAND_IN_CASES: Final = """
    SELECT EXISTS (
      SELECT FROM relationships_relationshiprecord AS record
      JOIN relationships_conflictposition AS stood USING (team_id, semantic_group_key)
      WHERE record.team_id = %(team)s AND record.id = ANY(%(records)s)
    )"""

# The first position of a case is written when it opens, so the oldest case comes first.
CASES: Final = """
    SELECT stood.case_id, found.status, found.version, found.closed_at, stood.semantic_group_key, stood.version
    FROM relationships_conflictcase AS found
    JOIN relationships_conflictposition AS stood ON (stood.team_id, stood.case_id) = (found.team_id, found.id)
    WHERE found.team_id = %(team)s AND found.merged_into_id IS NULL AND found.id IN (
      SELECT case_id FROM relationships_conflictposition
      WHERE team_id = %(team)s AND semantic_group_key = ANY(%(groups)s)
    )
    ORDER BY stood.seq"""

SAID: Final = """
    SELECT case_id, relationship_id, relationship_version, version FROM relationships_conflictstatement
    WHERE team_id = %(team)s AND case_id = ANY(%(cases)s) ORDER BY seq"""

HOLDERS: Final = """
    SELECT record.id, record.owner_id, record.semantic_group_key, record.version, (
      SELECT max(step.version) FROM relationships_transition AS step
      WHERE (step.team_id, step.relationship_id) = (record.team_id, record.id)
        AND step.status = 'active' AND step.status_before IS DISTINCT FROM 'active'
    )
    FROM relationships_relationshiprecord AS record
    WHERE record.team_id = %(team)s AND record.semantic_group_key = ANY(%(groups)s) AND record.status = 'active'
    ORDER BY record.recorded_at, record.id"""


def with_supports(team_id: UUID, rows: Sequence[RelationshipRecord]) -> list[StoredRecord]:
    """Return the records with everything that the rules ask of them, in two statements however many there are."""
    if not rows:
        return []
    supports: dict[UUID, list[StoredSupport]] = defaultdict(list)
    references: dict[UUID, set[tuple[UUID, CrossReferenceKind]]] = defaultdict(set)
    superseded: dict[UUID, tuple[LineageKind, datetime]] = {}
    given: dict[str, Any] = {
        "team": team_id,
        "records": [row.id for row in rows],
        "counts": [action.value for action in COUNTS],
    }
    for record, *columns in fetch(SUPPORTS, **given):
        supports[record].append(StoredSupport(*columns))
    for record, kind, target, effective_at, _ in fetch(REFERENCES, **given):
        if target:
            references[record].add((target, CrossReferenceKind(kind)))
        else:
            superseded[record] = (LineageKind(kind), effective_at)
    return [_record(row, supports[row.id], references[row.id], superseded.get(row.id)) for row in rows]


def _precision(word: str | None) -> TimePrecision | None:
    return TimePrecision(word) if word else None


def _record(
    row: RelationshipRecord,
    supports: list[StoredSupport],
    references: set[tuple[UUID, CrossReferenceKind]],
    superseded: tuple[LineageKind, datetime] | None,
) -> StoredRecord:
    return StoredRecord(
        id=row.id,
        identity=identity_of(row),
        behaviour=Behaviour(
            row.predicate_key,
            row.predicate_version,
            RelationshipKind(row.relationship_kind),
            Cardinality(row.current_cardinality),
            symmetric=False,
        ),
        tier=Tier(row.tier),
        status=Status(row.status),
        held_by_person=row.held_by_person,
        version=row.version,
        recorded_at=row.recorded_at,
        valid_from_precision=_precision(row.valid_from_precision),
        valid_to_precision=_precision(row.valid_to_precision),
        support_count=row.support_count,
        source_group_count=row.source_group_count,
        supports=tuple(supports),
        references=frozenset(references),
        superseded=superseded,
    )


def identity_of(row: RelationshipRecord) -> Identity:
    """Return the identity of a stored record."""
    return Identity(
        team_id=row.team_id,
        owner_id=row.owner_id,
        subject_id=row.subject_entity_id,
        predicate_key=row.predicate_key,
        object_entity_id=row.object_entity_id,
        object_value_id=row.object_value_id,
        polarity=Polarity(row.polarity),
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        scope_key=row.scope_key,
    )


def stand_in_cases(*, team_id: UUID, record_ids: Collection[UUID]) -> bool:
    """Tell if the meaning of one of these records stands in a conflict case."""
    ((found,),) = fetch(STAND_IN_CASES, team=team_id, records=list(record_ids))
    return bool(found)


def semantic_group_key(identity: Identity) -> str:
    """Return the keyed digest of a meaning, whoever says it: words of its scope cannot be tested against it."""
    return team_digest(identity.team_id, meaning(identity))


def groups_of(*, team_id: UUID, record_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the meaning of each of these records."""
    rows = RelationshipRecord.objects.of_team(team_id).filter(pk__in=record_ids)
    return dict(rows.values_list("id", "semantic_group_key"))


def case_states(*, team_id: UUID, groups: Collection[str]) -> list[ConflictState]:
    """Return the cases that these meanings stand in, the oldest first; one that was merged is none any more."""
    cases: dict[UUID, tuple[ConflictStatus, int, datetime | None]] = {}
    positions: dict[UUID, dict[str, int]] = defaultdict(dict)
    said: dict[UUID, list[Said]] = defaultdict(list)
    for case, status, version, closed_at, group, since in fetch(CASES, team=team_id, groups=list(groups)):
        cases[case] = (ConflictStatus(status), version, closed_at)
        positions[case][group] = since
    for case, *columns in fetch(SAID, team=team_id, cases=list(cases)) if cases else ():
        said[case].append(Said(*columns))
    return [ConflictState(i, *now, positions[i], tuple(said[i])) for i, now in cases.items()]


def holders_of(*, team_id: UUID, groups: Collection[str]) -> list[Holder]:
    """Return every active record of these meanings, the oldest first."""
    return [Holder(*row) for row in fetch(HOLDERS, team=team_id, groups=list(groups))]
