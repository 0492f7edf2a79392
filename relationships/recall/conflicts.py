"""Which of the found records stand against others: every position is kept, also those that no word found."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from densemem.core import limits
from relationships.models import CrossReference
from relationships.recall.groups import claims_of_groups
from relationships.recall.question import Question
from relationships.search import Claim
from relationships.vocabulary import CrossReferenceKind

AGAINST = (CrossReferenceKind.CHALLENGES, CrossReferenceKind.CORRECTS)
ENDS = ("source_relationship", "target_relationship")


@dataclass(frozen=True, slots=True)
class Position:
    """One of the meanings that compete, and every record that holds it, the oldest first."""

    relationships: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two or more positions that were put against each other, the oldest first."""

    positions: tuple[Position, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A challenge or correction, by the meanings of its two ends and the slots that they stand in."""

    groups: tuple[str, str]
    subjects: frozenset[UUID]
    predicates: frozenset[str]


def conflicts_of(question: Question, *, groups: Sequence[str]) -> tuple[Conflict, ...]:
    """Return the conflicts that these meanings stand in, in their order, at most `limits.CONFLICTS`.

    A conflict of which one position alone still answers at the moment asked about is over.
    """
    near = _links(question, _either(semantic_group_key__in=groups))
    if not near:
        return ()
    subjects = frozenset().union(*(link.subjects for link in near))
    predicates = frozenset().union(*(link.predicates for link in near))
    slots = _either(subject_entity__in=subjects, predicate_key__in=predicates)
    against = _neighbours([*near, *_links(question, slots)])
    claims = claims_of_groups(question, groups=list(against))
    found = [_conflict(_reachable(group, against), claims) for group in groups if group in against]
    return tuple(c for c in dict.fromkeys(found) if len(c.positions) > 1)[: limits.CONFLICTS]


def _links(question: Question, condition: Q) -> list[Link]:
    fields = [f"{end}__{field}" for field in ("semantic_group_key", "subject_entity", "predicate_key") for end in ENDS]
    rows = CrossReference.objects.of_team(question.team_id).known_by(question.known_at)
    against = rows.filter(condition, kind__in=AGAINST).order_by("-seq")
    found = against.values_list(*fields)[: limits.CONFLICT_REFERENCES]
    return [Link((row[0], row[1]), frozenset(row[2:4]), frozenset(row[4:6])) for row in found]


def _either(**condition: object) -> Q:
    """Return the condition that one end of a reference, or the other, fulfils all of `condition`."""
    made, met = (Q(**{f"{end}__{field}": value for field, value in condition.items()}) for end in ENDS)
    return made | met


def _neighbours(links: Iterable[Link]) -> dict[str, set[str]]:
    """Return, for each meaning, the meanings that were put against it."""
    found: dict[str, set[str]] = defaultdict(set)
    for link in links:
        one, other = link.groups
        found[one].add(other)
        found[other].add(one)
    return found


def _reachable(start: str, against: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Return all meanings that are connected with one, itself among them."""
    seen: set[str] = set()
    frontier = {start}
    while frontier:
        seen |= frontier
        frontier = {other for one in frontier for other in against[one]} - seen
    return frozenset(seen)


def _conflict(groups: Collection[str], claims: Mapping[str, Sequence[Claim]]) -> Conflict:
    positions = [Position(tuple(claims[group])) for group in groups if group in claims]
    return Conflict(tuple(sorted(positions, key=lambda p: _age(p.relationships[0]))))


def _age(claim: Claim) -> tuple[datetime, UUID]:
    return claim.recorded_at, claim.relationship_id
