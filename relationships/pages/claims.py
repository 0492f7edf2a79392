"""What other pages show of knowledge: the evidence behind a record, and what is known of an entity."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Final
from uuid import UUID

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from evidence.pages import EvidenceCard, Span, evidence_cards
from relationships.models import EvidenceSupport, ObservationSpan, RelationshipRecord
from relationships.search import Claim, claims_of

EVIDENCE_SHOWN: Final = 3
CLAIMS_SHOWN: Final = 3  # beside each entity that a person may choose


def known_of(*, team_id: UUID, entity_ids: Collection[UUID]) -> dict[UUID, list[Claim]]:
    """Return a few things that recall knows of each entity, the newest first: what tells namesakes apart."""
    place = Window(RowNumber(), partition_by="subject_entity_id", order_by=F("recorded_at").desc())
    known = RelationshipRecord.objects.of_team(team_id).recallable().filter(subject_entity_id__in=entity_ids)
    rows = known.select_related("owner").annotate(place=place).filter(place__lte=CLAIMS_SHOWN).order_by("place")
    found: dict[UUID, list[Claim]] = defaultdict(list)
    for claim in claims_of(team_id=team_id, rows=list(rows)):
        found[claim.subject.entity_id].append(claim)
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
