"""Console pages of knowledge: one Relationship with its reasons, and recall."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from densemem.core.inert import visible
from entities.queries import canonical_names, value_displays
from evidence.pages import Span
from relationships.models import ObservationSpan
from relationships.vocabulary import Polarity

TIERS = {"candidate": "Candidate", "validated_claim": "Claim", "fact": "Fact"}
TIER_ICONS = {"candidate": "t-candidate", "validated_claim": "t-claim", "fact": "t-fact"}


@dataclass(frozen=True, slots=True)
class Claim:
    """A record as a sentence: who, what of it, and what; `denied` says that it is not so."""

    relationship_id: UUID
    owner_id: UUID
    subject: str
    predicate: str
    object: str
    denied: bool
    tier: str
    status: str
    scope: str
    valid_from: datetime | None
    valid_to: datetime | None

    @property
    def sentence(self) -> str:
        """The claim in one line of plain text."""
        return f"{self.subject} {'not ' if self.denied else ''}{self.predicate} {self.object}"

    @property
    def title(self) -> str:
        """The sentence for a place that holds no markup."""
        return visible(self.sentence)


def claims_of(*, team_id: UUID, records: Iterable[Any]) -> dict[UUID, Claim]:
    """Return each record as a sentence; two queries, however many there are."""
    rows = list(records)
    ends = {e for r in rows for e in (r.subject_entity_id, r.object_entity_id) if e}
    values = {r.object_value_id for r in rows if r.object_value_id}
    names = canonical_names(team_id=team_id, entity_ids=ends)
    shown = {key: value.display for key, value in value_displays(team_id=team_id, value_ids=values).items()}
    return {r.id: _claim(r, {**names, **shown}) for r in rows}


def spans_of(*, team_id: UUID, observations: Iterable[UUID]) -> dict[UUID, list[Span]]:
    """Return the spans that express each observation, in code points of its fragment."""
    rows = ObservationSpan.objects.of_team(team_id).filter(observation_id__in=list(observations)).order_by("position")
    found: dict[UUID, list[Span]] = {}
    for observation, start, end in rows.values_list("observation_id", "start", "end"):
        found.setdefault(observation, []).append((start, end))
    return found


def _claim(row: Any, shown: dict[UUID, str]) -> Claim:
    return Claim(
        relationship_id=row.id,
        owner_id=row.owner_id,
        subject=shown.get(row.subject_entity_id, "something unnamed"),
        predicate=row.predicate_key.replace("_", " "),
        object=shown.get(row.object_entity_id or row.object_value_id, "something unnamed"),
        denied=row.polarity == Polarity.MINUS,
        tier=row.tier,
        status=row.status,
        scope=row.scope_key or "",
        valid_from=row.valid_from,
        valid_to=row.valid_to,
    )
