"""Conflict cases against their events, against the challenges that open them, and against who holds what."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from densemem.audit.report import Check, Difference
from densemem.audit.tables import ids, newest, rows, unequal
from relationships.policy.conflicts import state_of
from relationships.stored import case_states, holders_of
from relationships.vocabulary import AGAINST, ConflictEventKind

CASES: Final = "relationships.ConflictCase"
POSITIONS: Final = "relationships.ConflictPosition"
EVENTS: Final = "relationships.ConflictEvent"
REFERENCES: Final = "relationships.CrossReference"


def conflicts_replay_from_events(chunk: Sequence[Any]) -> Iterator[Difference]:
    """The events of a case count 1, 2, 3; it says what the newest says, and was merged into what that one names."""
    last, counted = newest(EVENTS, "case_id", ids(chunk)), _counted(ids(chunk))
    for row in chunk:
        yield from unequal(row, last.get(row.id), ("status", "reason", "version"))
        if counted[row.id] != list(range(1, row.version + 1)):
            yield Difference(row.id, "its events do not count up to its version")
        if row.merged_into_id != _merged_into(last.get(row.id)):
            yield Difference(row.id, "its newest event says something else of where it was merged")


def conflicts_stand_as_they_are_held(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A case is open while two positions are held and not all their owners said that they do not compete."""
    for team, cases in _by_team(row for row in chunk if row.merged_into_id is None).items():
        groups = set(rows(POSITIONS).filter(case__in=cases).values_list("semantic_group_key", flat=True))
        holders = holders_of(team_id=team, groups=groups)
        known = {case.case_id: case for case in case_states(team_id=team, groups=groups)}
        for row in cases:
            case = known.get(row.id)
            expected = state_of(case.positions, case.said, holders)[0] if case else None
            if row.status != expected:
                yield Difference(row.id, f"is {row.status}, and who holds its positions makes it {expected}")


def challenges_stand_in_one_conflict(chunk: Sequence[Any]) -> Iterator[Difference]:
    """The two meanings of a challenge or correction are positions of one case that was not merged."""
    against = [row for row in chunk if row.kind in AGAINST]
    ends = {end for r in against for end in (r.source_relationship_id, r.target_relationship_id)}
    records = rows("relationships.RelationshipRecord").filter(pk__in=ends)
    group = dict(records.values_list("id", "semantic_group_key"))
    stood = rows(POSITIONS).filter(case__merged_into=None, semantic_group_key__in=set(group.values()))
    cases: dict[tuple[UUID, str], set[UUID]] = defaultdict(set)
    for team, key, case in stood.values_list("team_id", "semantic_group_key", "case_id"):
        cases[team, key].add(case)
    for row in against:
        one, other = (
            cases[row.team_id, group[end]] for end in (row.source_relationship_id, row.target_relationship_id)
        )
        if len(one) != 1 or one != other:
            yield Difference(row.id, "its two meanings do not stand in one conflict")


def _merged_into(event: Any) -> UUID | None:
    """Return the case that one went into; of one that stays, the newest event may name what came."""
    if event is None or event.kind != ConflictEventKind.MERGED:
        return None
    came = rows(POSITIONS).filter(case_id=event.case_id, version=event.version)
    return None if came.exists() else event.other_id


def _counted(case_ids: Sequence[UUID]) -> dict[UUID, list[int]]:
    found: dict[UUID, list[int]] = defaultdict(list)
    steps = rows(EVENTS).filter(case_id__in=case_ids).order_by("seq")
    for case, version in steps.values_list("case_id", "version"):
        found[case].append(version)
    return found


def _by_team(cases: Iterator[Any]) -> dict[UUID, list[Any]]:
    found: dict[UUID, list[Any]] = defaultdict(list)
    for row in cases:
        found[row.team_id].append(row)
    return found


CHECKS = (
    Check("conflicts_replay_from_events", CASES, conflicts_replay_from_events),
    Check("conflicts_stand_as_they_are_held", CASES, conflicts_stand_as_they_are_held),
    Check("challenges_stand_in_one_conflict", REFERENCES, challenges_stand_in_one_conflict),
)
