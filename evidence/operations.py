"""Writes of evidence: staging what was said, advancing a source, holding a text ("Memory Write Pipeline", stage 3).

Each is called inside the transaction of the operation that conducts it.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings

from densemem.core.canonical import digest, keyed_digest
from densemem.core.faults import Because, Fault, Refused
from densemem.core.ids import uuid7
from densemem.db.locks import lock, lock_all
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
class StoredText:
    """Where a text is kept, and the digest of its words; `shared` when the team had said the same words before."""

    content_id: UUID
    normal_digest: str
    shared: bool


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
    texts = _store_contents(team_id=team_id, texts=[item.content for item in items], now=now)
    own = _group(team_id=team_id, kind=GroupKind.OWNER, key=str(owner_id), now=now)
    fragments = [
        Fragment(
            team_id=team_id,
            owner_id=owner_id,
            ingest_id=ingest_id,
            evidence_index=index,
            content_id=texts[item.content].content_id,
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
    joins = _joins(team_id=team_id, fragments=fragments, items=items, texts=texts, now=now)
    new = _between_voices(team_id, joins)
    GroupJoin.objects.bulk_create(joins, ignore_conflicts=True)
    _record_scans(fragments, assessments, now=now)
    return Staged(tuple(fragments), frozenset(g for j in new for g in (j.one_id, j.other_id)))


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
    found = [(kind, Severity.HIGH, start, end) for kind, start, end in signals]
    SecuritySignal.objects.bulk_create(_signals(event, found, now=now))
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
    return _groups(team_id=team_id, kind=kind, keys={key}, now=now)[key]


def _groups(*, team_id: UUID, kind: GroupKind, keys: Collection[str], now: datetime) -> dict[str, UUID]:
    """Return the ids of source groups by key, making those that are new."""
    rows = SourceGroup.objects.of_team(team_id).filter(kind=kind, key__in=keys).values_list("key", "id")
    found = dict(rows)
    if new := sorted(set(keys) - set(found)):
        made = [SourceGroup(team_id=team_id, kind=kind, key=key, recorded_at=now) for key in new]
        SourceGroup.objects.bulk_create(made, ignore_conflicts=True)
        found = dict(rows.all())
    return found


def _store_contents(*, team_id: UUID, texts: Sequence[str], now: datetime) -> dict[str, StoredText]:
    """Store each distinct text once; a text that the team already has is shared."""
    key = settings.CONTENT_KEY.encode()
    digests = {text: (keyed_digest(key, text), keyed_digest(key, normal_text(text))) for text in texts}
    normals = {normal for _, normal in digests.values()}
    # Two intakes of the same words must see each other, or a join is missed.
    lock_all(("text", team_id, normal) for normal in normals)
    alike = Content.objects.of_team(team_id).filter(normal_digest__in=normals)
    known = {digest: (number, normal) for number, digest, normal in alike.values_list("id", "digest", "normal_digest")}
    said_before = {normal for _, normal in known.values()}
    new = [
        Content(team_id=team_id, digest=exact, normal_digest=normal, text=text, recorded_at=now)
        for text, (exact, normal) in digests.items()
        if exact not in known
    ]
    Content.objects.bulk_create(new)
    ids = {exact: number for exact, (number, _) in known.items()} | {row.digest: row.id for row in new}
    return {
        text: StoredText(ids[exact], normal, shared=normal in said_before) for text, (exact, normal) in digests.items()
    }


def _joins(
    *,
    team_id: UUID,
    fragments: Sequence[Fragment],
    items: Sequence[EvidenceIn],
    texts: Mapping[str, StoredText],
    now: datetime,
) -> list[GroupJoin]:
    """Return the joins that new texts show: a shared hint, the same words as another, a stated derivation."""
    hinted = {item.group_hint for item in items if item.group_hint}
    hints = _groups(team_id=team_id, kind=GroupKind.HINT, keys=hinted, now=now) if hinted else {}
    same = _groups_of_words(team_id, fragments, [texts[item.content] for item in items])
    origins = _groups_of_origins(team_id, {origin for item in items for origin in item.derived_from})
    shown = [
        (fragment, group, reason)
        for fragment, item in zip(fragments, items, strict=True)
        for reason, groups in (
            (JoinReason.HINT, {hints[item.group_hint]} if item.group_hint else set()),
            (JoinReason.SAME_TEXT, same[texts[item.content].normal_digest]),
            (JoinReason.DERIVED, {origins[origin] for origin in item.derived_from}),
        )
        for group in sorted(groups)
        if group != fragment.group_id
    ]
    return [
        GroupJoin(
            team_id=team_id,
            one_id=fragment.group_id,
            other_id=group,
            reason=reason,
            fragment=fragment,
            recorded_at=now,
        )
        for fragment, group, reason in shown
    ]


def _groups_of_words(
    team_id: UUID, fragments: Sequence[Fragment], texts: Sequence[StoredText]
) -> Mapping[str, set[UUID]]:
    """Return, by the digest of their words, the source groups of all who said the same, the new fragments included."""
    found: dict[str, set[UUID]] = defaultdict(set)
    for fragment, text in zip(fragments, texts, strict=True):
        found[text.normal_digest].add(fragment.group_id)
    if shared := {text.normal_digest for text in texts if text.shared}:
        before = Fragment.objects.of_team(team_id).filter(content__normal_digest__in=shared)
        for words, group in before.values_list("content__normal_digest", "group_id").distinct():
            found[words].add(group)
    return found


def _groups_of_origins(team_id: UUID, origins: Collection[UUID]) -> dict[UUID, UUID]:
    """Return the source group of each fragment that a text says to derive from.

    :raises FragmentUnknown: one is not there
    """
    if not origins:
        return {}
    found = dict(Fragment.objects.of_team(team_id).filter(pk__in=origins).values_list("id", "group_id"))
    _all_found(origins, set(found), "derived_from_fragment_ids")
    return found


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


def _record_scans(fragments: Sequence[Fragment], assessments: Sequence[Assessment], *, now: datetime) -> None:
    """Append what the deterministic scan saw in each fragment; hold those of which it says so."""
    events = [
        SecurityEvent(
            team_id=fragment.team_id,
            fragment=fragment,
            kind=SecurityEventKind.SCAN,
            decision=SecurityDecision(assessment.decision.value),
            policy_hash=assessment.policy_hash,
            recorded_at=now,
        )
        for fragment, assessment in zip(fragments, assessments, strict=True)
    ]
    SecurityEvent.objects.bulk_create(events)
    SecuritySignal.objects.bulk_create(
        signal
        for event, assessment in zip(events, assessments, strict=True)
        for signal in _signals(event, [(s.kind, s.severity, s.start, s.end) for s in assessment.signals], now=now)
    )
    for fragment, assessment in zip(fragments, assessments, strict=True):
        if assessment.decision is ScanDecision.QUARANTINE:
            _hold(team_id=fragment.team_id, fragment_id=fragment.id, now=now)


def _signals(
    event: SecurityEvent, spans: Sequence[tuple[SignalKind, Severity, int, int]], *, now: datetime
) -> list[SecuritySignal]:
    return [
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
        for position, (kind, severity, start, end) in enumerate(spans)
    ]


def _hold(*, team_id: UUID, fragment_id: UUID, now: datetime) -> None:
    Quarantine.objects.update_or_create(
        team_id=team_id,
        fragment_id=fragment_id,
        defaults={"status": QuarantineStatus.ACTIVE, "opened_at": now, "released_at": None},
    )
