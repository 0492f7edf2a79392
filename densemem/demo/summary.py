"""What the sample made known, what waits for a person, and which parts of the product it has shown."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import F

from densemem.audit import Report
from densemem.audit.tables import newest, rows
from evidence.vocabulary import QuarantineStatus
from relationships.pages.reasons import in_words
from relationships.search import claims_of
from relationships.vocabulary import CrossReferenceKind, Status, Tier
from review.queries import tasks_page
from review.questions import ask
from review.vocabulary import TaskKind, TaskStatus


@dataclass(frozen=True, slots=True)
class Known:
    """One statement that is active, and why it is held to be so; `until` is the day on which it ended, if it did."""

    sentence: str
    author: str
    tier: str
    support_count: int
    source_group_count: int
    why: str
    until: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """One open question, whose it is, and why it is asked."""

    question: str
    owner: str
    why: str


@dataclass(frozen=True, slots=True)
class Summary:
    """
    The state of the team after the sample.

    :param relationships: how many records by tier and status, each as `tier/status`
    :param shows: by the name of a part of the product, whether the sample shows it
    """

    documents: int
    fresh: int
    relationships: Mapping[str, int]
    items: Mapping[str, int]
    tasks: Mapping[str, int]
    known: tuple[Known, ...]
    waiting: tuple[Waiting, ...]
    shows: Mapping[str, bool]

    @property
    def missing(self) -> list[str]:
        """The parts that the sample should show and does not."""
        return [name for name, seen in self.shows.items() if not seen]

    def as_dict(self, report: Report) -> dict[str, Any]:
        """Return the public form, with the result of an audit."""
        return {
            "documents": self.documents,
            "new_documents": self.fresh,
            "relationships": dict(self.relationships),
            "items": dict(self.items),
            "open_tasks": dict(self.tasks),
            "shows": [name for name, seen in self.shows.items() if seen],
            "missing": self.missing,
            "audit": {"checks": len(report.checks), "differences": report.differences},
        }


def summarise(*, team_id: UUID, documents: int, fresh: int) -> Summary:
    """Read the state of the sample's team.

    :param fresh: how many of the documents were new in this run
    """
    return Summary(
        documents=documents,
        fresh=fresh,
        relationships=_tally(_of("relationships.RelationshipRecord", team_id).values_list("tier", "status")),
        items=_tally(_of("placement.Item", team_id).values_list("state")),
        tasks=_tally(_open_tasks(team_id).values_list("kind")),
        known=tuple(_known(team_id)),
        waiting=tuple(_waiting(team_id)),
        shows={name: seen(team_id) for name, seen in SHOWN.items()},
    )


def _of(table: str, team_id: UUID) -> Any:
    return rows(table).filter(team_id=team_id)


def _open_tasks(team_id: UUID) -> Any:
    return _of("review.Task", team_id).filter(status__in=(TaskStatus.OPEN, TaskStatus.ACKNOWLEDGED))


def _tally(found: Any) -> dict[str, int]:
    return dict(sorted(Counter("/".join(row) for row in found).items()))


def _known(team_id: UUID) -> Iterator[Known]:
    """Yield the active statements, facts first, each with the reason of its newest step."""
    records = list(_of("relationships.RelationshipRecord", team_id).recallable().select_related("owner"))
    reasons = newest("relationships.Transition", "relationship_id", [r.id for r in records])
    claims = claims_of(team_id=team_id, rows=records)
    for claim in sorted(claims, key=lambda c: (c.tier != Tier.FACT, c.sentence)):
        yield Known(
            sentence=claim.sentence,
            author=claim.author.name,
            tier=claim.tier,
            support_count=claim.support_count,
            source_group_count=claim.source_group_count,
            why=in_words(reasons[claim.relationship_id].reason),
            until=claim.valid_to.date().isoformat() if claim.valid_to else "",
        )


def _waiting(team_id: UUID) -> Iterator[Waiting]:
    """Yield the open questions as the console asks them, then what waits for more evidence."""
    for asked in ask(team_id=team_id, tasks=tasks_page(team_id=team_id).rows):
        yield Waiting(asked.title, asked.task.owner.name, asked.why)
    pending = _of("relationships.RelationshipRecord", team_id).filter(status=Status.PENDING).select_related("owner")
    records = list(pending.order_by("recorded_at"))
    reasons = newest("relationships.Transition", "relationship_id", [r.id for r in records])
    for claim in claims_of(team_id=team_id, rows=records):
        why = f"No question: {in_words(reasons[claim.relationship_id].reason)}."
        yield Waiting(claim.sentence, claim.author.name, why)


def _fact_of_two_sources(team_id: UUID) -> bool:
    facts = _of("relationships.RelationshipRecord", team_id).filter(tier=Tier.FACT, status=Status.ACTIVE)
    return bool(facts.filter(source_group_count__gte=2).exists())


def _claim(team_id: UUID) -> bool:
    claims = _of("relationships.RelationshipRecord", team_id).filter(tier=Tier.CLAIM, status=Status.ACTIVE)
    return bool(claims.exists())


def _pending(team_id: UUID) -> bool:
    pending = _of("relationships.RelationshipRecord", team_id).filter(status=Status.PENDING)
    return bool(pending.filter(transitions__reason="verdict_insufficient").exists())


def _task(kind: TaskKind) -> Callable[[UUID], bool]:
    return lambda team_id: bool(_of("review.Task", team_id).filter(kind=kind).exists())


def _quarantine(team_id: UUID) -> bool:
    return bool(_of("evidence.Quarantine", team_id).filter(status=QuarantineStatus.ACTIVE).exists())


def _conflict(team_id: UUID) -> bool:
    """Tell if two profiles hold what cannot both be so, and both are served."""
    active = {f"{end}__status": Status.ACTIVE for end in ("source_relationship", "target_relationship")}
    crossed = _of("relationships.CrossReference", team_id).filter(kind=CrossReferenceKind.CHALLENGES, **active)
    return bool(crossed.exclude(source_relationship__owner=F("target_relationship__owner")).exists())


def _demotion(team_id: UUID) -> bool:
    """Tell if a fact became a claim again because a source no longer says it."""
    steps = _of("relationships.Transition", team_id).filter(tier_before=Tier.FACT, tier=Tier.CLAIM)
    advanced = steps.filter(reason="source_revision_advanced")
    return bool(advanced.filter(relationship__tier=Tier.CLAIM, relationship__status=Status.ACTIVE).exists())


SHOWN: Final[Mapping[str, Callable[[UUID], bool]]] = {
    "fact_by_two_sources": _fact_of_two_sources,
    "claim": _claim,
    "pending_evidence": _pending,
    "ambiguous_name": _task(TaskKind.IDENTITY),
    "unknown_predicate": _task(TaskKind.PREDICATE),
    "quarantined_text": _quarantine,
    "cross_profile_conflict": _conflict,
    "demotion_by_revision": _demotion,
}
