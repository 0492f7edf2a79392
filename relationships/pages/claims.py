"""Records as sentences for a page."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from densemem.core.inert import visible
from entities.queries import canonical_names, value_displays
from evidence.pages import EvidenceCard, Span, evidence_cards
from relationships.models import EvidenceSupport, ObservationSpan, RelationshipRecord
from relationships.vocabulary import Polarity

EVIDENCE_SHOWN = 3
CLAIMS_SHOWN = 3  # beside each entity that a person may choose


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


def known_of(*, team_id: UUID, entity_ids: Collection[UUID]) -> dict[UUID, list[Claim]]:
    """Return a few things that recall knows of each entity, the newest first: what tells namesakes apart."""
    place = Window(RowNumber(), partition_by="subject_entity_id", order_by=F("recorded_at").desc())
    known = RelationshipRecord.objects.of_team(team_id).recallable().filter(subject_entity_id__in=entity_ids)
    rows = list(known.annotate(place=place).filter(place__lte=CLAIMS_SHOWN).order_by("place"))
    claims = claims_of(team_id=team_id, records=rows)
    found: dict[UUID, list[Claim]] = defaultdict(list)
    for row in rows:
        found[row.subject_entity_id].append(claims[row.id])
    return dict(found)


def evidence_of(*, team_id: UUID, relationship_id: UUID) -> list[EvidenceCard]:
    """Return the newest evidence that was ever granted to a record, with its spans marked."""
    rows = EvidenceSupport.objects.of_team(team_id).filter(relationship_id=relationship_id).order_by("-seq")
    spans: dict[UUID, list[Span]] = {}
    for fragment, start, end in rows.values_list("fragment_id", "start", "end")[:EVIDENCE_SHOWN]:
        spans.setdefault(fragment, []).append((start, end))
    cards = evidence_cards(team_id=team_id, spans=spans)
    return [cards[fragment] for fragment in spans]


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
