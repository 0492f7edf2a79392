"""The work of placing evidence. These rows are the queue of record; django-q2 only wakes."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from densemem.db.fields import TeamKey, TeamOneKey, word, word_check
from densemem.db.ledger import Ledger, redactable
from densemem.db.rows import TeamRow, one_per_team
from placement.vocabulary import READY, AttemptOutcome, ItemCategory, ItemState


class Run(Ledger, TeamRow):
    """The placement of one ingest; its state is derived from its items."""

    ingest = TeamKey("evidence.Ingest")

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("run"),
            models.UniqueConstraint(name="run_of_ingest", fields=["team", "ingest"]),
        ]


class Item(TeamRow):
    """One evidence fragment on its way. A claim takes a lease and a new attempt token; only its holder may commit."""

    run = TeamKey("placement.Run", related_name="items")
    ingest = TeamKey("evidence.Ingest", related_name="items")
    owner = TeamKey("densemem.Profile")
    fragment = TeamKey("evidence.Fragment")
    evidence_index = models.PositiveSmallIntegerField()
    state = word(ItemState)
    category = word(ItemCategory, default=ItemCategory.PENDING)
    reason = models.CharField(max_length=64, blank=True)
    version = models.PositiveIntegerField(default=1)
    attempts = models.PositiveSmallIntegerField(default=0)
    uncounted = models.PositiveSmallIntegerField(default=0, db_default=0)  # claims given back without counting
    attempt_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    available_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            one_per_team("item"),
            word_check("item", "state", ItemState),
            word_check("item", "category", ItemCategory),
            models.UniqueConstraint(name="item_place_in_ingest", fields=["team", "ingest", "evidence_index"]),
            models.CheckConstraint(
                name="item_lease_with_token",
                condition=Q(lease_until__isnull=True, attempt_token__isnull=True)
                | Q(lease_until__isnull=False, attempt_token__isnull=False),
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                name="item_ready", fields=["available_at", "id"], condition=Q(state__in=[s.value for s in READY])
            ),
            models.Index(
                name="item_ready_of_team",
                fields=["team", "available_at", "id"],
                condition=Q(state__in=[s.value for s in READY]),
            ),
            models.Index(name="item_fragment", fields=["team", "fragment"]),
            models.Index(name="item_ingest", fields=["team", "ingest"]),
        ]


class ItemEvent(Ledger, TeamRow):
    """One version of an item: its state, and why. The newest row equals the item."""

    item = TeamKey("placement.Item", related_name="events")
    version = models.PositiveIntegerField()
    state = word(ItemState)
    category = word(ItemCategory)
    reason = models.CharField(max_length=64, blank=True)
    actor = TeamKey("densemem.Profile", null=True)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("itemevent"),
            word_check("itemevent", "state", ItemState),
            word_check("itemevent", "category", ItemCategory),
            models.UniqueConstraint(name="itemevent_of_version", fields=["team", "item", "version"]),
        ]


class ItemProposal(Ledger, TeamRow):
    """The part of the client's proposal that cites an item: a side row, since it copies words of the evidence."""

    item = TeamKey("placement.Item")
    fragment = TeamKey("evidence.Fragment")
    payload = models.JSONField()

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("itemproposal"),
            models.UniqueConstraint(name="itemproposal_of_item", fields=["team", "item"]),
        ]
        triggers: ClassVar = redactable(payload="'{}'::jsonb")


class Adoption(Ledger, TeamRow):
    """An item whose text is another profile's; only statements inside these spans are its own."""

    item = TeamOneKey("placement.Item", related_name="adoption")
    fragment = TeamKey("evidence.Fragment")
    spans = ArrayField(ArrayField(models.PositiveIntegerField(), size=2))

    class Meta(Ledger.Meta):
        constraints: ClassVar = [one_per_team("adoption")]


class ItemAnswer(Ledger, TeamRow):
    """An accepted answer about an item, whole: a side row, since it copies words of the evidence."""

    item = TeamKey("placement.Item", related_name="answers")
    fragment = TeamKey("evidence.Fragment")
    cycle = models.PositiveIntegerField()
    stage = models.CharField(max_length=16)
    model = models.CharField(max_length=128)
    payload = models.JSONField()

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("itemanswer"),
            models.UniqueConstraint(name="itemanswer_once", fields=["team", "item", "cycle", "stage"]),
        ]
        triggers: ClassVar = redactable(payload="'{}'::jsonb")


class Attempt(TeamRow):
    """Telemetry of one model call: counts and codes, no text."""

    item = TeamKey("placement.Item", related_name="calls")
    stage = models.CharField(max_length=16)
    number = models.PositiveSmallIntegerField()
    outcome = word(AttemptOutcome)
    code = models.CharField(max_length=64, blank=True)
    faults = models.PositiveSmallIntegerField(default=0)
    model = models.CharField(max_length=128, blank=True)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    cost_micros = models.PositiveBigIntegerField(default=0)  # millionths of a US dollar; 0 where no price is known
    milliseconds = models.PositiveIntegerField()
    made_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [one_per_team("attempt"), word_check("attempt", "outcome", AttemptOutcome)]
        indexes: ClassVar = [models.Index(name="attempt_item", fields=["team", "item"])]
