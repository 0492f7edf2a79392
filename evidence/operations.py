"""Writes of evidence: staging what was said, advancing a source, holding a text ("Memory Write Pipeline", stage 3).

Each is called inside the transaction of the operation that conducts it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings

from densemem.core.canonical import digest, keyed_digest
from densemem.core.faults import Because, Fault, Refused
from densemem.core.ids import uuid7
from densemem.db.locks import lock
from evidence.models import (
    Content,
    Fragment,
    FragmentRetirement,
    GroupJoin,
    Ingest,
    Quarantine,
    SecurityEvent,
    SecuritySignal,
    Source,
    SourceGroup,
    SourceRevision,
    Wording,
)
from evidence.policy import EvidenceIn, RevisionStep, SourceClaim, check_revision, count_groups, normal_text
from evidence.queries import joins_around
from evidence.scan import Assessment
from evidence.vocabulary import (
    GroupKind,
    JoinReason,
    QuarantineStatus,
    ScanDecision,
    SecurityDecision,
    SecurityEventKind,
    Severity,
    SignalKind,
    WordingKind,
)


class FragmentUnknown(Refused):
    """The request refers to fragments that are not there, or not the caller's where they must be."""

    because = Because.MISSING
    code = "fragment_not_found"


@dataclass(frozen=True, slots=True)
class SourceStep:
    """What one source does in an intake. `revision_id` is the new revision, or the current one on a replay."""

    source: Source
    step: RevisionStep
    revision_id: UUID
    replaced_revision_id: UUID | None
    replayed_ingest_id: UUID | None


@dataclass(frozen=True, slots=True)
class Staged:
    """What staging stored, in the order of the request, and which source groups it showed to be one."""

    fragments: tuple[Fragment, ...]
    joined_groups: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class Copied:
    """Words that must be copied beside a row."""

    of: UUID
    kind: WordingKind
    text: str


def open_ingest(*, team_id: UUID, owner_id: UUID, key: str, request_hash: str, now: datetime) -> UUID:
    """Record an accepted request and return its id."""
    made = Ingest.objects.create(
        team_id=team_id, owner_id=owner_id, idempotency_key=key, request_hash=request_hash, recorded_at=now
    )
    return made.id


def lock_source(
    *, team_id: UUID, owner_id: UUID, claim: SourceClaim, said: Sequence[EvidenceIn], now: datetime
) -> SourceStep:
    """Lock the caller's source, making it if it is new, and decide what the claimed revision does. Writes no revision.

    The lock is on its name, for other intakes: the row, which commits lock, is taken when it advances.

    :raises RevisionConflict: the claim does not continue the current revision
    """
    lock("source", team_id, owner_id, claim.key)
    source = Source.objects.of_team(team_id).owned_by(owner_id).filter(source_key=claim.key).first()
    if source is None:
        source = _make_source(team_id=team_id, owner_id=owner_id, key=claim.key, now=now)
    current = source.current_revision
    tokens = SourceRevision.objects.of_team(team_id).filter(source=source).values_list("token", flat=True)
    step = check_revision(
        current_token=current.token if current else None,
        owner_is_caller=source.owner_id == owner_id,
        token=claim.revision,
        previous=claim.previous,
        same_content=current is not None and current.content_hash == _content_hash(said),
        former_tokens=set(tokens) - ({current.token} if current else set()),
    )
    replay = step is RevisionStep.REPLAY
    return SourceStep(
        source=source,
        step=step,
        revision_id=current.id if replay and current else uuid7(),
        replaced_revision_id=current.id if current and not replay else None,
        replayed_ingest_id=current.ingest_id if replay and current else None,
    )


def advance_source(
    *, step: SourceStep, claim: SourceClaim, ingest_id: UUID, said: Sequence[EvidenceIn], now: datetime
) -> None:
    """Append the revision and move the source's pointer to it. The caller holds the source's lock."""
    source = step.source
    SourceRevision.objects.create(
        id=step.revision_id,
        team_id=source.team_id,
        source=source,
        token=claim.revision,
        previous_id=step.replaced_revision_id,
        content_hash=_content_hash(said),
        ingest_id=ingest_id,
        recorded_at=now,
    )
    source.current_revision_id = step.revision_id
    source.save(update_fields=["current_revision"])


def retire_fragments(
    *, team_id: UUID, owner_id: UUID, fragment_ids: Collection[UUID], ingest_id: UUID, now: datetime
) -> None:
    """Withdraw fragments of the caller; what is already withdrawn stays so.

    :raises FragmentUnknown: one is not there or belongs to another profile
    """
    mine = Fragment.objects.of_team(team_id).owned_by(owner_id).filter(pk__in=fragment_ids)
    _all_found(fragment_ids, set(mine.values_list("id", flat=True)), "supersedes_fragment_ids")
    FragmentRetirement.objects.bulk_create(
        [
            FragmentRetirement(team_id=team_id, fragment_id=fragment, by_ingest_id=ingest_id, recorded_at=now)
            for fragment in sorted(fragment_ids)
        ],
        ignore_conflicts=True,
    )


def stage(
    *,
    team_id: UUID,
    owner_id: UUID,
    ingest_id: UUID,
    items: Sequence[EvidenceIn],
    steps: Mapping[str, SourceStep],
    assessments: Sequence[Assessment],
    now: datetime,
) -> Staged:
    """Store texts, fragments, scan events and source groups of one ingest.

    :param steps: by source key
    :raises FragmentUnknown: a text says that it derives from a fragment that is not there
    """
    contents = _store_contents(team_id=team_id, texts=[item.content for item in items], now=now)
    own = _group(team_id=team_id, kind=GroupKind.OWNER, key=str(owner_id), now=now)
    fragments = [
        Fragment(
            team_id=team_id,
            owner_id=owner_id,
            ingest_id=ingest_id,
            evidence_index=index,
            content=contents[item.content],
            source_type=item.source_type,
            authority=item.authority,
            source_label=item.source_label,
            source=steps[item.source.key].source if item.source else None,
            revision_id=steps[item.source.key].revision_id if item.source else None,
            group_id=steps[item.source.key].source.group_id if item.source else own,
            observed_at=item.observed_at,
            labels=list(item.labels),
            metadata=dict(item.metadata),
            recorded_at=now,
        )
        for index, item in enumerate(items)
    ]
    Fragment.objects.bulk_create(fragments)
    joins = [j for f, item in zip(fragments, items, strict=True) for j in _joins(fragment=f, item=item, now=now)]
    new = _between_voices(team_id, joins)
    GroupJoin.objects.bulk_create(joins, ignore_conflicts=True)
    for fragment, assessment in zip(fragments, assessments, strict=True):
        record_scan(fragment=fragment, assessment=assessment, now=now)
    return Staged(tuple(fragments), frozenset(g for j in new for g in (j.one_id, j.other_id)))


def record_scan(*, fragment: Fragment, assessment: Assessment, now: datetime) -> None:
    """Append what the deterministic scan saw; hold the fragment if it says so."""
    event = SecurityEvent.objects.create(
        team_id=fragment.team_id,
        fragment=fragment,
        kind=SecurityEventKind.SCAN,
        decision=SecurityDecision(assessment.decision.value),
        policy_hash=assessment.policy_hash,
        recorded_at=now,
    )
    _store_signals(event, [(s.kind, s.severity, s.start, s.end) for s in assessment.signals], now=now)
    if assessment.decision is ScanDecision.QUARANTINE:
        _hold(team_id=fragment.team_id, fragment_id=fragment.id, now=now)


def quarantine(
    *,
    team_id: UUID,
    fragment_id: UUID,
    by: SecurityEventKind,
    signals: Sequence[tuple[SignalKind, int, int]],
    now: datetime,
) -> None:
    """Hold a fragment because a model saw control text in it."""
    event = SecurityEvent.objects.create(
        team_id=team_id, fragment_id=fragment_id, kind=by, decision=SecurityDecision.QUARANTINE, recorded_at=now
    )
    _store_signals(event, [(kind, Severity.HIGH, start, end) for kind, start, end in signals], now=now)
    _hold(team_id=team_id, fragment_id=fragment_id, now=now)


def hold_by_person(*, team_id: UUID, fragment_id: UUID, actor_id: UUID, reason: str, now: datetime) -> None:
    """Hold a fragment because a manager says so, with the reason."""
    SecurityEvent.objects.create(
        team_id=team_id,
        fragment_id=fragment_id,
        kind=SecurityEventKind.MANAGER,
        decision=SecurityDecision.QUARANTINE,
        actor_id=actor_id,
        reason=reason,
        recorded_at=now,
    )
    _hold(team_id=team_id, fragment_id=fragment_id, now=now)


def release(*, team_id: UUID, fragment_id: UUID, actor_id: UUID, reason: str, now: datetime) -> None:
    """End the hold on a fragment. It is guarded from here on, and may be held again."""
    SecurityEvent.objects.create(
        team_id=team_id,
        fragment_id=fragment_id,
        kind=SecurityEventKind.RELEASE,
        decision=SecurityDecision.RELEASED,
        actor_id=actor_id,
        reason=reason,
        recorded_at=now,
    )
    held = Quarantine.objects.of_team(team_id).filter(fragment_id=fragment_id)
    held.update(status=QuarantineStatus.RELEASED, released_at=now)


def copy_words(*, team_id: UUID, fragment_id: UUID, words: Sequence[Copied], now: datetime) -> None:
    """Store words copied from a fragment beside the rows that need them."""
    Wording.objects.bulk_create(
        Wording(team_id=team_id, fragment_id=fragment_id, of=w.of, kind=w.kind, text=w.text, recorded_at=now)
        for w in words
    )


def _content_hash(said: Sequence[EvidenceIn]) -> str:
    """Return the keyed digest of everything that a revision says: the same token with other fields is other content."""
    fields = [{**asdict(item), "source": None} for item in said]
    return keyed_digest(settings.CONTENT_KEY.encode(), digest(fields))


def _make_source(*, team_id: UUID, owner_id: UUID, key: str, now: datetime) -> Source:
    source_id = uuid7()
    group = _group(team_id=team_id, kind=GroupKind.SOURCE, key=str(source_id), now=now)
    return Source.objects.create(
        id=source_id, team_id=team_id, owner_id=owner_id, source_key=key, group_id=group, created_at=now
    )


def _group(*, team_id: UUID, kind: GroupKind, key: str, now: datetime) -> UUID:
    """Return the id of a source group, making it when it is new."""
    rows = SourceGroup.objects.of_team(team_id).filter(kind=kind, key=key).values_list("id", flat=True)
    found = rows.first()
    if found is None:
        new = SourceGroup(team_id=team_id, kind=kind, key=key, recorded_at=now)
        SourceGroup.objects.bulk_create([new], ignore_conflicts=True)
        found = rows.first()
    assert found is not None
    return found


def _store_contents(*, team_id: UUID, texts: Sequence[str], now: datetime) -> dict[str, Content]:
    """Store each distinct text once; a text that the team already has is shared."""
    key = settings.CONTENT_KEY.encode()
    digests = {text: keyed_digest(key, text) for text in texts}
    new = [
        Content(
            team_id=team_id,
            digest=digest_of_text,
            normal_digest=keyed_digest(key, normal_text(text)),
            text=text,
            recorded_at=now,
        )
        for text, digest_of_text in digests.items()
    ]
    for normal in sorted({content.normal_digest for content in new}):
        lock("text", team_id, normal)  # two intakes of the same words must see each other, or a join is missed
    Content.objects.bulk_create(new, ignore_conflicts=True)
    stored = {c.digest: c for c in Content.objects.of_team(team_id).filter(digest__in=digests.values())}
    return {text: stored[digest_of_text] for text, digest_of_text in digests.items()}


def _joins(*, fragment: Fragment, item: EvidenceIn, now: datetime) -> list[GroupJoin]:
    """Return the joins that a new text shows: a shared hint, the same words as another, a stated derivation."""
    team = fragment.team_id
    others: list[tuple[UUID, JoinReason]] = []
    if item.group_hint:
        hint = _group(team_id=team, kind=GroupKind.HINT, key=item.group_hint, now=now)
        others.append((hint, JoinReason.HINT))
    same = Fragment.objects.of_team(team).filter(content__normal_digest=fragment.content.normal_digest)
    same_groups = same.exclude(group_id=fragment.group_id).values_list("group_id", flat=True).distinct()
    others += [(group, JoinReason.SAME_TEXT) for group in same_groups]
    if item.derived_from:
        origins = dict(Fragment.objects.of_team(team).filter(pk__in=item.derived_from).values_list("id", "group_id"))
        _all_found(item.derived_from, set(origins), "derived_from_fragment_ids")
        others += [(group, JoinReason.DERIVED) for group in sorted(set(origins.values()))]
    return [
        GroupJoin(
            team_id=team,
            one_id=fragment.group_id,
            other_id=group,
            reason=reason,
            fragment=fragment,
            recorded_at=now,
        )
        for group, reason in others
        if group != fragment.group_id
    ]


def _between_voices(team_id: UUID, joins: Sequence[GroupJoin]) -> list[GroupJoin]:
    """Return the joins of groups that were two voices until now: only those can change a count."""
    known = joins_around(team_id=team_id, groups={g for j in joins for g in (j.one_id, j.other_id)})
    return [j for j in joins if count_groups((j.one_id, j.other_id), known) > 1]


def _all_found(asked: Collection[UUID], found: set[UUID], field: str) -> None:
    if missing := set(asked) - found:
        faults = [
            Fault(f"/evidence/{field}", "not_found", f"{m} is no fragment that you may name here.") for m in missing
        ]
        raise FragmentUnknown("The request names fragments that are not there.", faults=faults)


def _store_signals(
    event: SecurityEvent, signals: Sequence[tuple[SignalKind, Severity, int, int]], *, now: datetime
) -> None:
    SecuritySignal.objects.bulk_create(
        SecuritySignal(
            team_id=event.team_id,
            event=event,
            position=position,
            kind=kind,
            severity=severity,
            start=start,
            end=end,
            recorded_at=now,
        )
        for position, (kind, severity, start, end) in enumerate(signals)
    )


def _hold(*, team_id: UUID, fragment_id: UUID, now: datetime) -> None:
    Quarantine.objects.update_or_create(
        team_id=team_id,
        fragment_id=fragment_id,
        defaults={"status": QuarantineStatus.ACTIVE, "opened_at": now, "released_at": None},
    )
