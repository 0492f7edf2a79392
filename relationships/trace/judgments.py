"""What was observed, in its own words, and how it was judged."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from django.db.models import Q, QuerySet

from evidence.queries import wordings_of
from evidence.vocabulary import WordingKind
from relationships.models import Observation, ObservationResolution, VerificationEvent
from relationships.search import Profile
from relationships.trace.evidence import withheld_among
from relationships.trace.paged import Asked, Kind
from relationships.trace.shapes import Observed, Verified

CONFIDENCE: Final = ((Decimal("0.8"), "high"), (Decimal("0.5"), "medium"), (Decimal(0), "low"))


def _observations(asked: Asked) -> QuerySet[ObservationResolution]:
    """Return the newest resolution of each observation that was ever resolved to the record."""
    known = ObservationResolution.objects.of_team(asked.team_id).known_by(asked.known_at)
    of_record = known.filter(relationship=asked.record).values("observation_id")
    newest = known.filter(observation_id__in=of_record).order_by("observation_id", "-seq").distinct("observation_id")
    return known.filter(pk__in=newest.values("pk")).select_related("observation__owner")


def _verifications(asked: Asked) -> QuerySet[VerificationEvent]:
    """Return the judgments of the observations of a record, and those that its supports and transitions name."""
    named = Q(observation_id__in=_observations(asked).values("observation_id"))
    for rows in (asked.record.supports, asked.record.transitions, asked.record.references_made):
        known = rows.known_by(asked.known_at).filter(verification_id__isnull=False)
        named |= Q(pk__in=known.values("verification_id"))
    return (
        VerificationEvent.objects.of_team(asked.team_id)
        .filter(named)
        .known_by(asked.known_at)
        .select_related("observation")
    )


def _shown_observations(asked: Asked, rows: Sequence[ObservationResolution]) -> list[Observed]:
    hidden = withheld_among(team_id=asked.team_id, fragment_ids={r.observation.fragment_id for r in rows})
    shown = [r.observation_id for r in rows if r.observation.fragment_id not in hidden]
    wordings = wordings_of(team_id=asked.team_id, rows=shown, kind=WordingKind.PREDICATE)
    values = wordings_of(team_id=asked.team_id, rows=shown, kind=WordingKind.VALUE)
    return [
        _observed(
            row,
            wording=wordings.get(row.observation_id),
            value=values.get(row.observation_id),
            withheld=hidden.get(row.observation.fragment_id),
        )
        for row in rows
    ]


def _shown_verifications(asked: Asked, rows: Sequence[VerificationEvent]) -> list[Verified]:
    hidden = withheld_among(team_id=asked.team_id, fragment_ids={e.observation.fragment_id for e in rows})
    shown = [e.id for e in rows if e.observation.fragment_id not in hidden]
    rationales = wordings_of(team_id=asked.team_id, rows=shown, kind=WordingKind.RATIONALE)
    return [
        _verified(
            event,
            rationale=rationales.get(event.id),
            withheld=hidden.get(event.observation.fragment_id),
        )
        for event in rows
    ]


OBSERVATIONS: Final = Kind(_observations, _shown_observations, order="observation__seq")
VERIFICATIONS: Final = Kind(_verifications, _shown_verifications)


def confidence_word(confidence: Decimal) -> str:
    """Return how sure a judgment is, in words; it decides nothing."""
    return next(word for least, word in CONFIDENCE if confidence >= least)


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
