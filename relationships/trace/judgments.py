"""What was observed, in its own words, and how it was judged."""

from decimal import Decimal
from typing import Final

from django.db.models import Q, QuerySet

from densemem.core import limits
from evidence.queries import wordings_of
from evidence.vocabulary import WordingKind
from relationships.models import Observation, ObservationResolution, RelationshipRecord, VerificationEvent
from relationships.search import Profile
from relationships.trace.evidence import withheld_among
from relationships.trace.shapes import Listed, Observed, Verified

CONFIDENCE: Final = ((Decimal("0.8"), "high"), (Decimal("0.5"), "medium"), (Decimal(0), "low"))


def observations_of(record: RelationshipRecord) -> Listed[Observed]:
    """Return the observations that were resolved to a record, each with its newest resolution."""
    team = record.team_id
    rows = _resolutions(record).select_related("observation__owner").order_by("-observation__seq")
    newest = list(rows[: limits.TRACE_ITEMS + 1])
    hidden = withheld_among(team_id=team, fragment_ids={r.observation.fragment_id for r in newest})
    shown = [r.observation_id for r in newest if r.observation.fragment_id not in hidden]
    wordings = wordings_of(team_id=team, rows=shown, kind=WordingKind.PREDICATE)
    values = wordings_of(team_id=team, rows=shown, kind=WordingKind.VALUE)
    return Listed.of(
        [
            _observed(
                row,
                wording=wordings.get(row.observation_id),
                value=values.get(row.observation_id),
                withheld=hidden.get(row.observation.fragment_id),
            )
            for row in newest
        ]
    )


def verifications_of(record: RelationshipRecord) -> Listed[Verified]:
    """Return the judgments of the observations of a record, and those that its supports and transitions name."""
    team = record.team_id
    observations = _resolutions(record).values("observation_id")
    named = Q(observation_id__in=observations)
    for rows in (record.supports, record.transitions, record.references_made):
        named |= Q(pk__in=rows.filter(verification_id__isnull=False).values("verification_id"))
    events = VerificationEvent.objects.of_team(team).filter(named).select_related("observation").order_by("-seq")
    newest = list(events[: limits.TRACE_ITEMS + 1])
    hidden = withheld_among(team_id=team, fragment_ids={e.observation.fragment_id for e in newest})
    shown = [e.id for e in newest if e.observation.fragment_id not in hidden]
    rationales = wordings_of(team_id=team, rows=shown, kind=WordingKind.RATIONALE)
    return Listed.of(
        [
            _verified(
                event,
                rationale=rationales.get(event.id),
                withheld=hidden.get(event.observation.fragment_id),
            )
            for event in newest
        ]
    )


def confidence_word(confidence: Decimal) -> str:
    """Return how sure a judgment is, in words; it decides nothing."""
    return next(word for least, word in CONFIDENCE if confidence >= least)


def _resolutions(record: RelationshipRecord) -> QuerySet[ObservationResolution]:
    """Return the newest resolution of each observation that was ever resolved to the record."""
    of_record = ObservationResolution.objects.of_team(record.team_id).filter(relationship=record)
    every = ObservationResolution.objects.of_team(record.team_id).filter(
        observation_id__in=of_record.values("observation_id")
    )
    newest = every.order_by("observation_id", "-seq").distinct("observation_id")
    return ObservationResolution.objects.of_team(record.team_id).filter(pk__in=newest.values("pk"))


def _observed(row: ObservationResolution, *, wording: str | None, value: str | None, withheld: str | None) -> Observed:
    seen: Observation = row.observation
    return Observed(
        observation_id=seen.id,
        owner=Profile(seen.owner_id, seen.owner.name),
        fragment_id=seen.fragment_id,
        polarity=seen.polarity,
        modality=seen.modality,
        wording=wording,
        value=value,
        withheld=withheld,
        valid_from=seen.valid_from,
        valid_to=seen.valid_to,
        scope=seen.scope_key,
        outcome=row.outcome,
        reason=row.reason,
        observed_at=seen.observed_at,
        recorded_at=seen.recorded_at,
    )


def _verified(event: VerificationEvent, *, rationale: str | None, withheld: str | None) -> Verified:
    return Verified(
        verification_id=event.id,
        observation_id=event.observation_id,
        cycle=event.cycle,
        verdict=event.verdict,
        confidence=confidence_word(event.confidence),
        rationale=rationale,
        withheld=withheld,
        model=event.model,
        recorded_at=event.recorded_at,
    )
