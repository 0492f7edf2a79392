"""What one evidence submission expressed, and how it was resolved."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.guard import owned
from densemem.db.ledger import Ledger, append_only, redactable, words_gone
from densemem.db.rows import TeamRow, one_per_team
from relationships.vocabulary import Modality, Outcome, Polarity, TimePrecision

SEEN = "JOIN relationships_observation AS seen ON seen.id = written.observation_id"
OF_OBSERVATION = f"""
    {SEEN}
    LEFT JOIN relationships_relationshiprecord AS record ON record.id = written.relationship_id"""


class Observation(Ledger, TeamRow):
    """Immutable processing history: one statement of one item. Its wording lies in `evidence.Wording`."""

    owner = TeamKey("densemem.Profile")
    ingest = TeamKey("evidence.Ingest")
    fragment = TeamKey("evidence.Fragment", related_name="observations")
    item = TeamKey("placement.Item")
    cycle = models.PositiveIntegerField(default=1)
    ref = models.CharField(max_length=128)
    subject_ref = models.CharField(max_length=128)
    object_ref = models.CharField(max_length=128, blank=True)  # empty when the object is a typed value
    polarity = word(Polarity)
    modality = word(Modality)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    valid_from_precision = word(TimePrecision, null=True)
    valid_to_precision = word(TimePrecision, null=True)
    scope_key = models.CharField(max_length=256, null=True)
    proposal_id = models.CharField(max_length=128, blank=True)
    observed_at = models.DateTimeField()

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("observation"),
            word_check("observation", "polarity", Polarity),
            word_check("observation", "modality", Modality),
            models.UniqueConstraint(name="observation_once", fields=["team", "item", "cycle", "ref"]),
        ]
        triggers: ClassVar = [
            *redactable(
                ref="'REDACTED:' || OLD.id",
                subject_ref="'[redacted]'",
                object_ref=words_gone("object_ref"),
                proposal_id=words_gone("proposal_id"),
                scope_key="CASE WHEN OLD.scope_key IS NOT NULL THEN '[redacted]' END",
            ),
            *owned("written.owner_id"),
        ]


class ObservationSpan(Ledger, TeamRow):
    """An exact span that expresses the observation, in code points of its fragment."""

    observation = TeamKey("relationships.Observation", related_name="spans")
    fragment = TeamKey("evidence.Fragment")
    position = models.PositiveSmallIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()

    class Meta(Ledger.Meta):
        triggers: ClassVar = [*append_only(), *owned("seen.owner_id", joined=SEEN)]
        constraints: ClassVar = [
            one_per_team("observationspan"),
            models.UniqueConstraint(name="observationspan_place", fields=["team", "observation", "position"]),
            models.CheckConstraint(name="observationspan_span", condition=Q(end__gt=F("start"))),
        ]


class ObservationResolution(Ledger, TeamRow):
    """How an observation's ends and predicate were resolved; the newest row is the answer."""

    observation = TeamKey("relationships.Observation", related_name="resolutions")
    subject_entity = TeamKey("entities.Entity", null=True)
    object_entity = TeamKey("entities.Entity", null=True)
    object_value = TeamKey("entities.Value", null=True)
    predicate_key = models.CharField(max_length=128, blank=True)
    predicate_version = models.PositiveIntegerField(null=True)
    relationship = TeamKey("relationships.RelationshipRecord", null=True, related_name="resolutions")
    outcome = word(Outcome)
    reason = models.CharField(max_length=64)

    class Meta(Ledger.Meta):
        triggers: ClassVar = [
            *append_only(),
            *owned("seen.owner_id", "coalesce(record.owner_id, seen.owner_id)", joined=OF_OBSERVATION),
        ]
        constraints: ClassVar = [
            one_per_team("observationresolution"),
            word_check("observationresolution", "outcome", Outcome),
            models.CheckConstraint(
                name="observationresolution_at_most_one_object",
                condition=Q(object_entity__isnull=True) | Q(object_value__isnull=True),
            ),
        ]
        indexes: ClassVar = [
            models.Index(name="resolution_observation", fields=["team", "observation"]),
            models.Index(name="resolution_relationship", fields=["team", "relationship"]),
        ]
