"""Reads of knowledge within one team."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from django.db.models import Case, Count, F, Q, QuerySet, When, Window
from django.db.models.functions import RowNumber

from densemem.core import limits
from densemem.core.faults import NotThere
from densemem.db.read import fetch
from evidence.queries import origins_of, sources_of, wordings_of
from evidence.vocabulary import WordingKind
from relationships.definitions import definitions_of
from relationships.models import (
    ConflictPosition,
    Observation,
    ObservationResolution,
    ObservationSpan,
    PredicateDefinition,
    RelationshipRecord,
    SearchDocument,
    SupportDecision,
    Transition,
    VerificationEvent,
)
from relationships.policy import PredicateView, StoredRecord
from relationships.stored import COUNTS, with_supports
from relationships.vocabulary import (
    BY_CORRECTION,
    Cardinality,
    Lifecycle,
    RelationshipKind,
)

# Definitions are only ever added. Of the newest `seq` alone it could not be told that one with a lower number, written
# in a transaction that took longer, has come in behind it.
STATE_OF_REGISTRY: Final = """
    SELECT count(*), coalesce(sum(seq), 0)::bigint FROM relationships_predicatedefinition
    WHERE team_id IS NULL OR team_id = %(team)s"""

RECORDS: Final = """
    SELECT * FROM "relationships_relationshiprecord"
    WHERE team_id = %(team)s
      AND (id = ANY(%(also)s) OR subject_entity_id = ANY(%(subjects)s) AND predicate_key = ANY(%(predicates)s))
    ORDER BY id"""

# What supports a record or did; of one that nothing ever supported, what it was read in.
SAID_IN: Final = """
    SELECT DISTINCT relationship_id, fragment_id, group_id FROM relationships_evidencesupport
    WHERE team_id = %(team)s AND relationship_id = ANY(%(records)s)
    UNION ALL
    SELECT DISTINCT resolved.relationship_id, seen.fragment_id, NULL::uuid
    FROM relationships_observationresolution AS resolved
    JOIN relationships_observation AS seen ON seen.id = resolved.observation_id
    WHERE resolved.team_id = %(team)s AND resolved.relationship_id = ANY(%(records)s) AND NOT EXISTS (
      SELECT FROM relationships_evidencesupport AS support
      WHERE (support.team_id, support.relationship_id) = (resolved.team_id, resolved.relationship_id))"""

# Less than one voice is none, and of a record with two only a common group can make one: with more, any join may.
JOINED: Final = """
    SELECT DISTINCT record.id FROM relationships_evidencesupport AS mine
    JOIN relationships_relationshiprecord AS record
      ON record.id = mine.relationship_id AND record.team_id = mine.team_id AND record.source_group_count > 1
    WHERE mine.team_id = %(team)s AND mine.group_id = ANY(%(groups)s) AND (
      record.source_group_count > 2 OR EXISTS (
        SELECT FROM relationships_evidencesupport AS theirs
        WHERE theirs.team_id = mine.team_id AND theirs.relationship_id = mine.relationship_id
          AND theirs.group_id = ANY(%(near)s)))
    LIMIT %(most)s"""


def registry(*, team_id: UUID) -> Mapping[str, PredicateView]:
    """Return the predicates that a team may use now: the shared ones and its own, each in its newest version.

    It is built again when the team's definitions are others than before, whoever changed them and in which process.
    """
    return _registry(team_id, _state(team_id))


def ever_registered(*, team_id: UUID) -> Mapping[str, PredicateView]:
    """Return the same with those that are retired."""
    return _newest(team_id, _state(team_id))


def _state(team_id: UUID) -> tuple[int, int]:
    ((count, total),) = fetch(STATE_OF_REGISTRY, team=team_id)
    return count, total


@lru_cache(maxsize=limits.REGISTRIES_KEPT)
def _registry(team_id: UUID, state: tuple[int, int]) -> Mapping[str, PredicateView]:
    return MappingProxyType({key: view for key, view in _newest(team_id, state).items() if view.usable})


@lru_cache(maxsize=limits.REGISTRIES_KEPT)
def _newest(team_id: UUID, state: tuple[int, int]) -> Mapping[str, PredicateView]:
    """Read the registry in a state: two of one team differ in how many rows they have, or in the sum of their `seq`."""
    rows = definitions_of(team_id)
    newest = {row.key: row for row in rows.order_by("seq")}
    return MappingProxyType({key: _predicate(row) for key, row in newest.items()})


def stored_records(
    *, team_id: UUID, pairs: Collection[tuple[UUID, str]], also: Collection[UUID] = (), lock: bool = False
) -> list[StoredRecord]:
    """Return every profile's records of these (subject, predicate) pairs, and the records named in `also`.

    With `lock` the rows stay as they are until the transaction ends; rows are locked in the order of their ids.
    """
    asked = set(pairs)
    given = {
        "team": team_id,
        "also": list(also),
        "subjects": list({subject for subject, _ in asked}),
        "predicates": list({predicate for _, predicate in asked}),
    }
    rows = RelationshipRecord.objects.raw(RECORDS + " FOR UPDATE" if lock else RECORDS, given)
    kept = [r for r in rows if r.id in also or (r.subject_entity_id, r.predicate_key) in asked]
    return with_supports(team_id, kept)


def records_by_id(*, team_id: UUID, record_ids: Collection[UUID], lock: bool = False) -> list[StoredRecord]:
    """Return these records with their supports, in the order of their ids."""
    rows = RelationshipRecord.objects.of_team(team_id).filter(pk__in=record_ids).order_by("pk")
    return with_supports(team_id, list(rows.select_for_update() if lock else rows))


def supports_of_fragments(*, team_id: UUID, fragment_ids: Collection[UUID]) -> list[tuple[UUID, UUID]]:
    """Return (support, record) of the supports that count now and cite one of these fragments."""
    given = {"team": team_id, "fragments": list(fragment_ids), "counts": [action.value for action in COUNTS]}
    return [(support, record) for support, record in fetch(COUNTING_ON, **given)]


@dataclass(frozen=True, slots=True)
class SupportFacts:
    """What a decision needs to know of a support: whether it counts, and the reason of its newest decision."""

    relationship_id: UUID
    fragment_id: UUID
    counts: bool
    reason: str


def support_facts(*, team_id: UUID, support_id: UUID) -> SupportFacts:
    """Return a support as a decision needs it.

    :raises NotThere: no such support in the team
    """
    newest = SupportDecision.objects.of_team(team_id).filter(support_id=support_id).order_by("-seq")
    row = newest.select_related("support").first()
    if row is None:
        raise NotThere
    return SupportFacts(row.support.relationship_id, row.support.fragment_id, row.action in COUNTS, row.reason)


def records_joined(
    *, team_id: UUID, groups: Collection[UUID], near: Collection[UUID], most: int | None = None
) -> set[UUID]:
    """Return the records of which some voices may be one, now that source groups were bound to others.

    :param groups: those that were bound
    :param near: what they were bound to, with every group that has a text which is joined to that
    :param most: so many of the records; None for all
    """
    given: dict[str, Any] = {"team": team_id, "groups": list(groups), "near": list(near), "most": most}
    return {record for (record,) in fetch(JOINED, **given)}


def origins_of_records(*, team_id: UUID, record_ids: Collection[UUID]) -> dict[UUID, set[UUID]]:
    """Return the source groups that said first what records rest on, rested on or were read in."""
    rows = fetch(SAID_IN, team=team_id, records=list(record_ids))
    group_of = {fragment: group for _, fragment, group in rows if group}
    if unsupported := {fragment for _, fragment, group in rows if not group}:
        group_of |= sources_of(team_id=team_id, fragment_ids=unsupported)
    origins = origins_of(team_id=team_id, said=list(group_of.items()))
    found: dict[UUID, set[UUID]] = defaultdict(set)
    for record, fragment, _ in rows:
        found[record] |= origins[fragment]
    return found


def records_about(*, team_id: UUID, entity_ids: Collection[UUID]) -> set[UUID]:
    """Return the records that have one of these entities at an end, the newest `limits.FANOUT_RECORDS` of them."""
    rows = RelationshipRecord.objects.of_team(team_id)
    about = rows.filter(subject_entity_id__in=entity_ids) | rows.filter(object_entity_id__in=entity_ids)
    return set(about.order_by("-pk").values_list("pk", flat=True)[: limits.FANOUT_RECORDS])


def records_showing(*, team_id: UUID, entity_ids: Collection[UUID], value_ids: Collection[UUID]) -> set[UUID]:
    """Return every record that has one of these entities or values at an end, however many."""
    ends = Q(subject_entity_id__in=entity_ids) | Q(object_entity_id__in=entity_ids) | Q(object_value_id__in=value_ids)
    return set(RelationshipRecord.objects.of_team(team_id).filter(ends).values_list("pk", flat=True))


def values_stated_in(*, team_id: UUID, fragment_ids: Collection[UUID]) -> set[UUID]:
    """Return the values that the statements of these fragments were resolved to."""
    rows = ObservationResolution.objects.of_team(team_id).filter(observation__fragment_id__in=fragment_ids)
    return set(rows.filter(object_value__isnull=False).values_list("object_value_id", flat=True))


def record_exists(*, team_id: UUID, record_id: UUID) -> bool:
    """Tell if the team has this record."""
    return RelationshipRecord.objects.of_team(team_id).filter(pk=record_id).exists()


COUNTING_ON: Final = """
    SELECT support.id, support.relationship_id FROM relationships_evidencesupport AS support
    CROSS JOIN LATERAL (
      SELECT action FROM relationships_supportdecision AS decision
      WHERE (decision.team_id, decision.support_id) = (support.team_id, support.id) ORDER BY seq DESC LIMIT 1
    ) AS newest
    WHERE support.team_id = %(team)s AND support.fragment_id = ANY(%(fragments)s) AND newest.action = ANY(%(counts)s)
    ORDER BY support.id"""


# By record that its owner corrected in a text and did not correct back, what took its place.
CORRECTIONS: Final = """
    SELECT DISTINCT support.relationship_id, (
      SELECT successor_id FROM relationships_lineage AS lineage
      WHERE (lineage.team_id, lineage.predecessor_id) = (support.team_id, support.relationship_id)
        AND lineage.kind = 'corrected' ORDER BY lineage.seq DESC LIMIT 1
    )
    FROM relationships_evidencesupport AS support
    WHERE support.team_id = %(team)s AND support.fragment_id = %(fragment)s
      AND support.relationship_id = ANY(%(records)s) AND 'revoke' = (
        SELECT action FROM relationships_supportdecision AS decision
        WHERE (decision.team_id, decision.support_id) = (support.team_id, support.id)
          AND decision.reason = %(reason)s ORDER BY decision.seq DESC LIMIT 1
      )"""


def corrections_of(*, team_id: UUID, fragment_id: UUID, record_ids: Collection[UUID]) -> dict[UUID, UUID]:
    """Return, by those of these records that their owner corrected in a text, the record that took their place."""
    given = {"team": team_id, "fragment": fragment_id, "records": list(record_ids), "reason": BY_CORRECTION}
    return dict(fetch(CORRECTIONS, **given))


@dataclass(frozen=True, slots=True)
class RecordChange:
    """One step of a record, and whose it is."""

    relationship_id: UUID
    owner_profile_id: UUID
    version: int
    tier_before: str | None
    status_before: str | None
    tier: str
    status: str
    reason: str


def changes_since(*, team_id: UUID, seq: int, moments: Collection[datetime]) -> list[RecordChange]:
    """Return the steps that one operation made at its moments, after a number of the ledgers' sequence.

    The oldest `limits.IMPACT_CHANGES` of them.
    """
    steps = Transition.objects.of_team(team_id).filter(seq__gt=seq, recorded_at__in=moments).order_by("seq")
    named = ("relationship_id", "relationship__owner_id", "version")
    columns = (*named, "tier_before", "status_before", "tier", "status", "reason")
    return [RecordChange(*row) for row in steps.values_list(*columns)[: limits.IMPACT_CHANGES]]


def newest_positions(known: QuerySet[ConflictPosition], *, first: Q) -> QuerySet[Any]:
    """Keep at most `limits.CONFLICT_POSITIONS` of each case: those that `first` holds for, and then the newest.

    Each has the number of all of its case as `total`.
    """
    order = [Case(When(first, then=0), default=1), F("seq").desc()]
    place = Window(RowNumber(), partition_by=F("case_id"), order_by=order)
    total = Window(Count("pk"), partition_by=F("case_id"))
    return known.annotate(place=place, total=total).filter(place__lte=limits.CONFLICT_POSITIONS)


def origin_of_observation(*, team_id: UUID, observation_id: UUID) -> tuple[UUID, UUID]:
    """Return whose an observation is, and the item that it was read in.

    :raises NotThere: no such observation in the team
    """
    rows = Observation.objects.of_team(team_id).filter(pk=observation_id).values_list("owner_id", "item_id")
    found: tuple[UUID, UUID] | None = rows.first()
    if found is None:
        raise NotThere
    return found


@dataclass(frozen=True, slots=True)
class ObservationFacts:
    """How an observation was resolved last, and why; `extracted` is the cycle in which it was read."""

    extracted: int
    predicate_key: str
    relationship_id: UUID | None
    reason: str


def observation_facts(*, team_id: UUID, observation_id: UUID) -> ObservationFacts:
    """Return an observation that is there as a decision needs it."""
    rows = ObservationResolution.objects.of_team(team_id).filter(observation_id=observation_id).order_by("-seq")
    columns = ("observation__cycle", "predicate_key", "relationship_id", "reason")
    return ObservationFacts(*rows.values_list(*columns)[:1].get())


def refs_of_observations(*, team_id: UUID, observation_ids: Collection[UUID], extracted: int) -> frozenset[str]:
    """Return the refs that these observations have in one extraction of their item; those of others are left out."""
    rows = Observation.objects.of_team(team_id).filter(pk__in=observation_ids, cycle=extracted)
    return frozenset(rows.values_list("ref", flat=True))


def _predicate(row: PredicateDefinition) -> PredicateView:
    return PredicateView(
        key=row.key,
        version=row.version,
        active=tuple(row.active),
        inverse=tuple(row.inverse),
        symmetric=row.symmetric,
        subject_kinds=frozenset(row.subject_kinds),
        object_kinds=frozenset(row.object_kinds),
        kind=RelationshipKind(row.kind),
        cardinality=Cardinality(row.cardinality),
        lifecycle=Lifecycle(row.lifecycle),
        shared=row.team_id is None,
        shelf_days=row.shelf_days,
        example=row.example,
    )


def counting_supports(support_ids: Iterable[UUID]) -> set[UUID]:
    """Return the supports whose newest decision lets them count."""
    newest = (
        SupportDecision.objects.filter(support_id__in=list(support_ids))
        .order_by("support_id", "-seq")
        .distinct("support_id")
        .values_list("support_id", "action")
    )
    return {support for support, action in newest if action in COUNTS}


@dataclass(frozen=True, slots=True)
class ObservationView:
    """What became of one observation."""

    observation_id: UUID
    ref: str
    proposal_id: str | None
    outcome: str
    reason: str
    relationship_id: UUID | None
    owner_profile_id: UUID
    tier: str | None
    relationship_status: str | None
    verdict: str
    rationale: str
    start: int
    end: int


def observations_of_items(*, team_id: UUID, item_ids: Collection[UUID]) -> dict[UUID, list[ObservationView]]:
    """Return, by item, each observation of its newest extraction, with its newest resolution and its record now."""
    newest = (
        ObservationResolution.objects.of_team(team_id)
        .filter(observation__item_id__in=item_ids)
        .order_by("observation_id", "-seq")
        .distinct("observation_id")
        .select_related("observation", "relationship")
    )
    rows = _of_newest_extraction(sorted(newest, key=lambda r: r.observation.seq))
    ids = [r.observation_id for r in rows]
    first = ObservationSpan.objects.of_team(team_id).filter(observation_id__in=ids, position=0)
    spans = {row[0]: row[1:] for row in first.values_list("observation_id", "start", "end")}
    judged = VerificationEvent.objects.of_team(team_id).filter(observation_id__in=ids).order_by("seq")
    verdicts = {row[0]: row[1:] for row in judged.values_list("observation_id", "id", "verdict")}
    why = wordings_of(team_id=team_id, rows=[number for number, _ in verdicts.values()], kind=WordingKind.RATIONALE)
    found: dict[UUID, list[ObservationView]] = defaultdict(list)
    for row in rows:
        record = row.relationship
        found[row.observation.item_id].append(
            ObservationView(
                observation_id=row.observation_id,
                ref=row.observation.ref,
                proposal_id=row.observation.proposal_id or None,
                outcome=row.outcome,
                reason=row.reason,
                relationship_id=row.relationship_id,
                owner_profile_id=row.observation.owner_id,
                tier=record.tier if record else None,
                relationship_status=record.status if record else None,
                verdict=verdicts[row.observation_id][1],
                rationale=why.get(verdicts[row.observation_id][0], ""),
                start=spans[row.observation_id][0],
                end=spans[row.observation_id][1],
            )
        )
    return found


def end_kinds(*, team_id: UUID, observation_id: UUID) -> tuple[str, str] | None:
    """Return the kinds of what an observation stands between, subject first; None while an end is open."""
    rows = ObservationResolution.objects.of_team(team_id).filter(observation_id=observation_id).order_by("-seq")
    found = rows.values_list("subject_entity__kind", "object_entity__kind", "object_value__type").first()
    if found is None or found[0] is None or (found[1] or found[2]) is None:
        return None
    return found[0], found[1] or found[2]


def search_states(*, team_id: UUID, record_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return how far derived search is, for those of these records that recall may serve."""
    rows = SearchDocument.objects.of_team(team_id).filter(relationship_id__in=record_ids, eligible=True)
    return dict(rows.values_list("relationship_id", "search_state"))


def observed_items(*, team_id: UUID, item_ids: Collection[UUID]) -> set[UUID]:
    """Return those of these items in which some statement was found."""
    return set(Observation.objects.of_team(team_id).filter(item_id__in=item_ids).values_list("item_id", flat=True))


def _of_newest_extraction(rows: Collection[ObservationResolution]) -> list[ObservationResolution]:
    """Keep what was read last of each item: a text that was read anew says what it said then."""
    newest: dict[UUID, int] = {}
    for row in rows:
        item = row.observation.item_id
        newest[item] = max(newest.get(item, 0), row.observation.cycle)
    return [r for r in rows if r.observation.cycle == newest[r.observation.item_id]]
