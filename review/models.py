"""Where a person decides: the open questions. Their words are made when they are shown, from the rows they refer to."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.ledger import Ledger, redactable, words_gone
from densemem.db.rows import TeamRow, one_per_team
from review.vocabulary import DecisionAction, TaskKind, TaskStatus


class Task(TeamRow):
    """One question to one owner. `subject` is a keyed digest of what it is about: the same question is asked once."""

    owner = TeamKey("densemem.Profile")
    kind = word(TaskKind)
    status = word(TaskStatus, default=TaskStatus.OPEN)
    subject = models.CharField(max_length=256)
    reason = models.CharField(max_length=64)
    fragment = TeamKey("evidence.Fragment")
    item = TeamKey("placement.Item")
    observation = TeamKey("relationships.Observation", null=True)
    resolution = TeamKey("entities.ResolutionEvent", null=True)
    relationship = TeamKey("relationships.RelationshipRecord", null=True)
    rival = TeamKey("relationships.RelationshipRecord", null=True)
    version = models.PositiveIntegerField(default=1)
    opened_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            one_per_team("task"),
            word_check("task", "kind", TaskKind),
            word_check("task", "status", TaskStatus),
            models.UniqueConstraint(
                name="task_asked_once",
                fields=["team", "owner", "kind", "subject"],
                condition=Q(status__in=[TaskStatus.OPEN, TaskStatus.ACKNOWLEDGED]),
            ),
        ]
        indexes: ClassVar = [models.Index(name="task_inbox", fields=["team", "status", "opened_at"])]


class TaskEvent(Ledger, TeamRow):
    """A task was opened, or changed its status; the newest row equals the task."""

    task = TeamKey("review.Task", related_name="events")
    version = models.PositiveIntegerField()
    status = word(TaskStatus)
    actor = TeamKey("densemem.Profile", null=True)
    reason = models.CharField(max_length=64)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("taskevent"),
            word_check("taskevent", "status", TaskStatus),
            models.UniqueConstraint(name="taskevent_of_version", fields=["team", "task", "version"]),
        ]


class Waiting(Ledger, TeamRow):
    """An observation that waits for the answer to a task; one task may stand for many of the same owner."""

    task = TeamKey("review.Task", related_name="waiting")
    item = TeamKey("placement.Item")
    fragment = TeamKey("evidence.Fragment")
    observation = TeamKey("relationships.Observation")
    resolution = TeamKey("entities.ResolutionEvent", null=True)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("waiting"),
            models.UniqueConstraint(name="waiting_once", fields=["team", "task", "observation"]),
        ]
        indexes: ClassVar = [
            models.Index(name="waiting_item", fields=["team", "item"]),
            models.Index(name="waiting_fragment", fields=["team", "fragment"]),
        ]


class Decision(Ledger, TeamRow):
    """What one profile decided, and through which login. It names what it is about; it changes no knowledge itself."""

    owner = TeamKey("densemem.Profile")
    user_id = models.PositiveBigIntegerField(null=True)  # the login behind the profile, if it was one
    action = word(DecisionAction)
    operation = models.CharField(max_length=32)  # a key names a decision within one of them
    idempotency_key = models.CharField(max_length=128)
    request_hash = models.CharField(max_length=64)
    message = models.CharField(max_length=1000, blank=True)
    task = TeamKey("review.Task", null=True, related_name="decisions")
    item = TeamKey("placement.Item", null=True)
    item_version = models.PositiveIntegerField(null=True)  # given when the item re-enters, from this version
    fragment = TeamKey("evidence.Fragment", null=True)
    observation = TeamKey("relationships.Observation", null=True)
    relationship = TeamKey("relationships.RelationshipRecord", null=True)
    support = TeamKey("relationships.EvidenceSupport", null=True)
    mention_ref = models.CharField(max_length=128, blank=True)
    entity = TeamKey("entities.Entity", null=True)
    predicate_key = models.CharField(max_length=128, blank=True)
    predicate_version = models.PositiveIntegerField(null=True)
    evidence_ingest = TeamKey("evidence.Ingest", null=True)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("decision"),
            word_check("decision", "action", DecisionAction),
            models.UniqueConstraint(
                name="decision_key_of_owner", fields=["team", "owner", "operation", "idempotency_key"]
            ),
            models.CheckConstraint(
                name="decision_version_of_an_item", condition=Q(item_version__isnull=True) | Q(item__isnull=False)
            ),
            models.UniqueConstraint(name="decision_of_item_version", fields=["team", "item", "item_version"]),
        ]
        triggers: ClassVar = redactable(mention_ref=words_gone("mention_ref"), message=words_gone("message"))
        indexes: ClassVar = [models.Index(name="decision_item", fields=["team", "item"])]


class DecisionEvidence(Ledger, TeamRow):
    """A fragment that a decision rests on."""

    decision = TeamKey("review.Decision", related_name="evidence")
    fragment = TeamKey("evidence.Fragment")

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("decisionevidence"),
            models.UniqueConstraint(name="decisionevidence_once", fields=["team", "decision", "fragment"]),
        ]


class DecisionUse(Ledger, TeamRow):
    """An item is done with a decision: carried out, or void since the text was held or outdated. Each is used once."""

    decision = TeamKey("review.Decision", related_name="uses")
    item = TeamKey("placement.Item")
    cycle = models.PositiveIntegerField()
    carried_out = models.BooleanField()

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("decisionuse"),
            models.UniqueConstraint(name="decision_used_once", fields=["team", "decision"]),
        ]
