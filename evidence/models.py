"""What was said, by whom, byte for byte ("Memory Write Pipeline", stages 1-3).

Text lives once, in `Content`. Every other table refers to it by id and span, except the side rows in `Wording`, which
carry the fragment they were copied from.
"""

from typing import ClassVar

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from densemem.db.fields import TeamKey, TeamOneKey, word, word_check
from densemem.db.ledger import Ledger, Refuse, redactable, words_gone
from densemem.db.rows import TeamRow, one_per_team
from evidence.vocabulary import (
    Authority,
    GroupKind,
    JoinReason,
    QuarantineStatus,
    ScanDecision,
    SecurityDecision,
    SecurityEventKind,
    Severity,
    SignalKind,
    SourceType,
    WordingKind,
)


class Ingest(Ledger, TeamRow):
    """One accepted remember request; a retry is recognised by key and content."""

    owner = TeamKey("densemem.Profile")
    idempotency_key = models.CharField(max_length=128)
    request_hash = models.CharField(max_length=64)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("ingest"),
            models.UniqueConstraint(name="ingest_key_of_owner", fields=["team", "owner", "idempotency_key"]),
        ]


class SourceGroup(Ledger, TeamRow):
    """What counts as one voice: a keyed source, the unkeyed texts of one owner, or a client's hint."""

    kind = word(GroupKind)
    key = models.CharField(max_length=320)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("sourcegroup"),
            word_check("sourcegroup", "kind", GroupKind),
            models.UniqueConstraint(name="sourcegroup_key", fields=["team", "kind", "key"]),
        ]


class Source(TeamRow):
    """A stable source of one owner; `current_revision` is the one that counts."""

    owner = TeamKey("densemem.Profile")
    source_key = models.CharField(max_length=256)
    group = TeamKey("evidence.SourceGroup")
    current_revision = TeamKey("evidence.SourceRevision", null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            one_per_team("source"),
            models.UniqueConstraint(name="source_key_of_owner", fields=["team", "owner", "source_key"]),
        ]

    def __str__(self) -> str:
        return self.source_key


class SourceRevision(Ledger, TeamRow):
    """One state of a source; each names the one before it, so the revisions of a source form one chain."""

    source = TeamKey("evidence.Source", related_name="revisions")
    token = models.CharField(max_length=256)
    previous = TeamKey("evidence.SourceRevision", null=True)
    content_hash = models.CharField(max_length=64)
    ingest = TeamKey("evidence.Ingest")

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("sourcerevision"),
            models.UniqueConstraint(name="sourcerevision_token", fields=["team", "source", "token"]),
            models.UniqueConstraint(
                name="sourcerevision_one_chain", fields=["team", "source", "previous"], nulls_distinct=False
            ),
        ]


class Content(Ledger, TeamRow):
    """The bytes of a text, once per team. `digest` and `normal_digest` are keyed: they tell nothing without the key."""

    digest = models.CharField(max_length=64)
    normal_digest = models.CharField(max_length=64)
    text = models.TextField()
    redacted_at = models.DateTimeField(null=True)  # from then on `text` is a tombstone of the same length

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("content"),
            models.UniqueConstraint(
                name="content_once_per_team", fields=["team", "digest"], condition=Q(redacted_at__isnull=True)
            ),
        ]
        triggers: ClassVar = redactable(
            text="repeat(U&'\\2588', char_length(OLD.text))",
            redacted_at="coalesce(OLD.redacted_at, NEW.redacted_at)",
        )
        indexes: ClassVar = [models.Index(name="content_normal", fields=["team", "normal_digest"])]


class Shingles(Ledger, TeamRow):
    """The runs of five words of a text as keyed hashes, by which its near copies are found; it has none without runs.

    `sample` holds the smallest of them, the same for every text that has them.
    """

    content = TeamOneKey("evidence.Content")
    hashes = ArrayField(models.BigIntegerField())
    sample = ArrayField(models.BigIntegerField())

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("shingles"),
            models.CheckConstraint(name="shingles_not_empty", condition=Q(hashes__len__gt=0, sample__len__gt=0)),
        ]
        # Without a list of pending entries, which every look would have to read through.
        indexes: ClassVar = [
            GinIndex(name="shingles_hashes", fields=["hashes"], fastupdate=False),
            GinIndex(name="shingles_sample", fields=["sample"], fastupdate=False),
        ]


class Fragment(Ledger, TeamRow):
    """One piece of evidence as it was sent: whose, from where, in which ingest, in which revision."""

    owner = TeamKey("densemem.Profile")
    ingest = TeamKey("evidence.Ingest", related_name="fragments")
    evidence_index = models.PositiveSmallIntegerField()
    content = TeamKey("evidence.Content")
    source_type = word(SourceType)
    authority = word(Authority)
    source_label = models.CharField(max_length=256, blank=True)
    source = TeamKey("evidence.Source", null=True)
    revision = TeamKey("evidence.SourceRevision", null=True)
    group = TeamKey("evidence.SourceGroup")
    observed_at = models.DateTimeField(null=True)
    labels = ArrayField(models.CharField(max_length=64), default=list)
    metadata = models.JSONField(default=dict)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("fragment"),
            word_check("fragment", "source_type", SourceType),
            word_check("fragment", "authority", Authority),
            models.UniqueConstraint(name="fragment_place_in_ingest", fields=["team", "ingest", "evidence_index"]),
            models.CheckConstraint(
                name="fragment_source_with_revision",
                condition=Q(source__isnull=True, revision__isnull=True)
                | Q(source__isnull=False, revision__isnull=False),
            ),
        ]
        triggers: ClassVar = redactable(labels="'{}'", metadata="'{}'::jsonb")
        indexes: ClassVar = [
            models.Index(name="fragment_content", fields=["team", "content"]),
            models.Index(name="fragment_revision", fields=["team", "revision"]),
        ]


class FragmentRetirement(Ledger, TeamRow):
    """The owner withdrew a fragment of its own, by an ingest or by a decision: it supports nothing from here on."""

    fragment = TeamKey("evidence.Fragment")
    by_ingest = TeamKey("evidence.Ingest", null=True)
    by_profile = TeamKey("densemem.Profile", null=True)  # whose decision it was; the reason stands there

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("fragmentretirement"),
            models.CheckConstraint(
                name="fragmentretirement_has_one_cause",
                condition=Q(by_ingest__isnull=True, by_profile__isnull=False)
                | Q(by_ingest__isnull=False, by_profile__isnull=True),
            ),
            models.UniqueConstraint(name="fragmentretirement_once", fields=["team", "fragment"]),
        ]


class GroupJoin(Ledger, TeamRow):
    """The text `fragment`, of group `one`, or that whole group (`BINDING`), is no voice beside the group `other`."""

    one = TeamKey("evidence.SourceGroup")
    other = TeamKey("evidence.SourceGroup")
    reason = word(JoinReason)
    fragment = TeamKey("evidence.Fragment")

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("groupjoin"),
            word_check("groupjoin", "reason", JoinReason),
            models.UniqueConstraint(name="groupjoin_once", fields=["team", "one", "other", "reason", "fragment"]),
            models.CheckConstraint(name="groupjoin_of_two", condition=~Q(one=F("other"))),
        ]
        indexes: ClassVar = [models.Index(name="groupjoin_other", fields=["team", "other"])]


class Served(TeamRow):
    """Words that were shown to a profile on a day, as keyed hashes, and the source groups that said them first.

    Kept for a month and no ledger, but never changed. `mark` is `hashes` and `groups` in one; `anchor` is one of the
    hashes, by which a text that repeats the words is found.
    """

    profile = TeamKey("densemem.Profile")
    day = models.DateField()
    mark = models.CharField(max_length=64)
    anchor = models.BigIntegerField()
    hashes = ArrayField(models.BigIntegerField())
    groups = ArrayField(models.UUIDField())
    relationships = ArrayField(models.UUIDField())
    served_at = models.DateTimeField()

    class Meta:
        triggers: ClassVar = [Refuse(name="unchanged", operation=pgtrigger.Update)]
        constraints: ClassVar = [
            one_per_team("served"),
            models.UniqueConstraint(name="served_once_a_day", fields=["team", "profile", "mark", "day"]),
        ]
        indexes: ClassVar = [
            models.Index(name="served_anchor", fields=["team", "profile", "anchor"]),
            models.Index(name="served_day", fields=["day"]),
        ]


class SecurityEvent(Ledger, TeamRow):
    """A scan, a model's signal or a release; the newest one tells how a fragment is treated."""

    fragment = TeamKey("evidence.Fragment", related_name="security_events")
    kind = word(SecurityEventKind)
    decision = word(SecurityDecision)
    policy_hash = models.CharField(max_length=64, blank=True)
    actor = TeamKey("densemem.Profile", null=True)
    reason = models.CharField(max_length=1000, blank=True)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("securityevent"),
            word_check("securityevent", "kind", SecurityEventKind),
            word_check("securityevent", "decision", SecurityDecision),
        ]
        triggers: ClassVar = redactable(reason=words_gone("reason"))
        indexes: ClassVar = [models.Index(name="securityevent_fragment", fields=["team", "fragment"])]


class SecuritySignal(Ledger, TeamRow):
    """One suspicious span, in code points of the original text."""

    event = TeamKey("evidence.SecurityEvent", related_name="signals")
    position = models.PositiveSmallIntegerField()
    kind = word(SignalKind)
    severity = word(Severity)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("securitysignal"),
            word_check("securitysignal", "kind", SignalKind),
            word_check("securitysignal", "severity", Severity),
            models.UniqueConstraint(name="securitysignal_place", fields=["team", "event", "position"]),
            models.CheckConstraint(name="securitysignal_span", condition=Q(end__gt=F("start"))),
        ]


class Quarantine(TeamRow):
    """The current hold on a fragment; its history is the security events."""

    fragment = TeamKey("evidence.Fragment")
    status = word(QuarantineStatus)
    opened_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            one_per_team("quarantine"),
            word_check("quarantine", "status", QuarantineStatus),
            models.UniqueConstraint(name="quarantine_of_fragment", fields=["team", "fragment"]),
            models.CheckConstraint(
                name="quarantine_released_has_time",
                condition=Q(status=QuarantineStatus.ACTIVE, released_at__isnull=True)
                | Q(status=QuarantineStatus.RELEASED, released_at__isnull=False),
            ),
        ]


class Wording(Ledger, TeamRow):
    """Words copied from a fragment because a span alone cannot say them: side rows, so that a redaction finds them.

    `of` is the id of the row that they belong to.
    """

    fragment = TeamKey("evidence.Fragment")
    of = models.UUIDField()
    kind = word(WordingKind)
    text = models.TextField()

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("wording"),
            word_check("wording", "kind", WordingKind),
            models.UniqueConstraint(name="wording_of_row", fields=["team", "of", "kind"]),
        ]
        triggers: ClassVar = redactable(text="'[redacted]'")
        indexes: ClassVar = [models.Index(name="wording_fragment", fields=["team", "fragment"])]


class Redaction(Ledger, TeamRow):
    """A manager had a text taken out. It is written first: the database's function takes out nothing without it."""

    content = TeamKey("evidence.Content")
    fragment = TeamKey("evidence.Fragment")
    actor = TeamKey("densemem.Profile")
    reason = models.CharField(max_length=1000)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("redaction"),
            models.UniqueConstraint(name="redaction_of_content", fields=["team", "content"]),
        ]


class RedactionReceipt(Ledger, TeamRow):
    """What a redaction took out: rows by table. `runs` are keyed digests by which left copies can be found."""

    redaction = TeamKey("evidence.Redaction")
    removed = models.JSONField()
    runs = ArrayField(models.CharField(max_length=24), default=list)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("redactionreceipt"),
            models.UniqueConstraint(name="redactionreceipt_once", fields=["team", "redaction"]),
        ]


DECISION_OF_SCAN = {ScanDecision(d.value): d for d in SecurityDecision if d is not SecurityDecision.RELEASED}
