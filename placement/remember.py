"""Taking evidence in: checked whole, scanned, and stored in one transaction ("Memory Write Pipeline", stages 1-3)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from densemem.auth import Principal
from densemem.core.faults import Because, Fault, Refused
from densemem.core.limits import REF_CHARS
from densemem.core.spans import SpanRefused, check_text
from densemem.core.words import Scope
from densemem.db.clock import moment
from densemem.db.keyed import team_digest
from densemem.db.locks import lock
from densemem.db.writer import Writer, writing_for_all
from evidence.operations import (
    Bound,
    Heard,
    SourceStep,
    advance_source,
    hear,
    lock_rows,
    lock_source,
    open_ingest,
    retire_fragments,
    stage,
)
from evidence.policy import EvidenceIn, RevisionConflict, SourceClaim
from evidence.queries import find_ingest, fragments_of_revision
from evidence.scan import Assessment, ScanFailed, scan_text
from evidence.vocabulary import ScanDecision
from placement.operations import (
    Staging,
    lock_items,
    lock_outdated,
    lock_questions,
    open_run,
    supersede_items,
    wake,
    withdraw_questions,
)
from placement.request import RememberRequest, check_authorities, read_request, same_meaning
from relationships.operations import (
    can_recount,
    hold_counted_in,
    hold_resting_on,
    recompute_for_groups,
    revoke_for_fragments,
    settling,
)
from relationships.queries import record_exists


class KeyReused(Refused):
    """The idempotency key was used for another request."""

    code = "idempotency_key_reused"


class KeyMissing(Refused):
    """A request to remember needs an idempotency key."""

    code = "idempotency_key_missing"


class ScanRefused(Refused):
    """The scan could not be done, so nothing was taken in."""

    code = "scan_failed"


class TargetUnknown(Refused):
    """The Relationship to correct is not in the team."""

    because = Because.MISSING
    code = "correction_target_not_found"


@dataclass(frozen=True, slots=True)
class Accepted:
    """The evidence is durable; `replayed` when an earlier request already stored it."""

    ingest_id: UUID
    state: str
    replayed: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that was checked and scanned, and is ready to be stored."""

    request: RememberRequest
    assessments: tuple[Assessment, ...]
    request_hash: str


def remember(*, principal: Principal, body: object, idempotency_key: str, now: datetime) -> Accepted:
    """Store evidence and queue its placement; an exact retry returns the earlier intake.

    :raises ScopeMissing: no write scope
    :raises Refused: one of its kinds, naming every place; nothing was stored
    """
    principal.require(Scope.WRITE)
    check_key(idempotency_key)
    prepared = prepare(principal, body)
    with transaction.atomic():
        lock("ingest", principal.team_id, principal.profile_id, idempotency_key)
        earlier = _earlier(principal, idempotency_key, prepared.request_hash)
        return earlier or store(principal, prepared, key=idempotency_key, now=now)


def prepare(principal: Principal, body: object) -> Prepared:
    """Check a request and scan its texts; nothing is written.

    :raises Refused: one of its kinds, naming every place
    """
    request = read_request(body)
    check_authorities(request, grants=principal.authority_grants)
    _check_targets(request, principal.team_id)
    assessments = tuple(_scan(item, index) for index, item in enumerate(request.evidence))
    return Prepared(request, assessments, team_digest(principal.team_id, same_meaning(body)))


def check_key(key: str) -> None:
    """Refuse a missing or unusable idempotency key.

    :raises KeyMissing: with the mend
    """
    if not key:
        raise KeyMissing("Send an Idempotency-Key: a text of your own that names this request.")
    try:
        check_text(key, most=REF_CHARS)
    except SpanRefused as refused:
        raise KeyMissing(f"The Idempotency-Key cannot be used. {refused.message}", code=refused.code) from None


def _check_targets(request: RememberRequest, team_id: UUID) -> None:
    """Refuse to correct what is not in the team."""
    for proposal in request.proposals:
        for row in (proposal or {}).get("relationships", []):
            target = row.get("correction_target")
            if target and not record_exists(team_id=team_id, record_id=UUID(target["relationship_id"])):
                fault = Fault("/proposal/relationships", TargetUnknown.code, f"Proposal {row['proposal_id']!r}.")
                raise TargetUnknown("There is no such Relationship in your team.", faults=[fault])


def _scan(item: EvidenceIn, index: int) -> Assessment:
    try:
        return scan_text(item.content)
    except ScanFailed:
        fault = Fault(f"/evidence/{index}/content", "scan_failed", "This text could not be scanned. Shorten it.")
        raise ScanRefused("The evidence could not be scanned, so nothing was stored.", faults=[fault]) from None


def _earlier(principal: Principal, key: str, request_hash: str) -> Accepted | None:
    found = find_ingest(team_id=principal.team_id, owner_id=principal.profile_id, key=key)
    if found is None:
        return None
    if found[1] != request_hash:
        raise KeyReused("This Idempotency-Key was used for another request. Send the change under a new key.")
    return Accepted(found[0], "queued", replayed=True)


def store(
    principal: Principal, prepared: Prepared, *, key: str, now: datetime, beside: Collection[UUID] = ()
) -> Accepted:
    """Do everything that the intake does, inside the caller's transaction, and wake a worker after it.

    :param beside: items that the caller changes in the same transaction; they are locked in their order with the rest
    :param now: when it was asked for; what is recorded carries the moment under the last lock
    """
    request, assessments, request_hash = prepared.request, prepared.assessments, prepared.request_hash
    team, owner = principal.team_id, principal.profile_id
    claims, said = _claims(request.evidence)
    steps = {
        name: lock_source(team_id=team, owner_id=owner, claim=claims[name], said=said[name], now=now)
        for name in sorted(claims)
    }
    replay = _replayed(request.evidence, steps)
    if replay is not None:
        lock_items(team_id=team, item_ids=beside)
        return replay
    outdated = _outdated(principal, claims, steps)
    # The order of a commit: items, then sources, then groups, then records, then questions.
    unfinished = lock_outdated(team_id=team, fragment_ids=outdated, beside=beside)
    if steps:
        lock_rows(steps.values())
    heard = hear(
        team_id=team,
        owner_id=owner,
        items=request.evidence,
        steps=steps,
        may_bind=lambda bound: _may_bind(team, bound),
        now=now,
    )
    _wait_for_knowledge(principal, heard, outdated)
    at = moment(team)
    ingest_id = open_ingest(team_id=team, owner_id=owner, key=key, request_hash=request_hash, now=at)
    _retire(principal, claims, ingest_id=ingest_id, now=at)
    supersede_items(unfinished, now=at)
    for name in sorted(claims):
        advance_source(step=steps[name], claim=claims[name], ingest_id=ingest_id, said=said[name], now=at)
    stage(heard, ingest_id=ingest_id, assessments=assessments, now=at)
    items = [
        Staging(fragment.id, fragment.evidence_index, assessment.decision, proposal)
        for fragment, assessment, proposal in zip(heard.fragments, assessments, request.proposals, strict=True)
    ]
    _judge_again(team, heard, outdated, now=at)
    open_run(team_id=team, owner_id=owner, ingest_id=ingest_id, items=items, now=at)
    withdraw_questions(team_id=team, fragment_ids=outdated, reason="newer_revision", now=at)
    held = all(a.decision is ScanDecision.QUARANTINE for a in assessments)
    transaction.on_commit(wake, robust=True)
    return Accepted(ingest_id, "quarantined" if held else "queued", replayed=False)


def _claims(items: Sequence[EvidenceIn]) -> tuple[dict[str, SourceClaim], dict[str, list[EvidenceIn]]]:
    """Collect the sources of a request, each with its evidence in order."""
    claims: dict[str, SourceClaim] = {}
    said: dict[str, list[EvidenceIn]] = {}
    for item in items:
        if item.source:
            claims[item.source.key] = item.source
            said.setdefault(item.source.key, []).append(item)
    return claims, said


def _replayed(items: Sequence[EvidenceIn], steps: Mapping[str, SourceStep]) -> Accepted | None:
    """Recognise a request that sends current revisions again: it is answered by the earlier intake.

    :raises RevisionConflict: only a part of the request was sent before
    """
    earlier = {step.replayed_ingest_id for step in steps.values() if step.replayed_ingest_id}
    if not earlier:
        return None
    whole = len(earlier) == 1 and all(item.source for item in items)
    if not whole or any(step.replayed_ingest_id is None for step in steps.values()):
        detail = "A part of this request is a revision that was sent before. Send the new part alone."
        raise RevisionConflict(detail, code="revision_sent_before")
    (ingest_id,) = earlier
    return Accepted(ingest_id, "queued", replayed=True)


def _outdated(principal: Principal, claims: Mapping[str, SourceClaim], steps: Mapping[str, SourceStep]) -> list[UUID]:
    """Return every fragment that stops counting: of a revision that is replaced, or withdrawn by the request."""
    outdated: list[UUID] = []
    for name, step in steps.items():
        if step.replaced_revision_id:
            outdated += fragments_of_revision(team_id=principal.team_id, revision_id=step.replaced_revision_id)
        outdated += claims[name].supersedes
    return outdated


def _may_bind(team_id: UUID, bound: Bound) -> bool:
    """Tell if source groups may be bound to others, and keep what that would change from growing until it is done."""
    # Commits share this lock while they count voices: each sees the joins, or is seen by the recount.
    lock("groups", team_id)
    return can_recount(team_id=team_id, groups=bound.ones, others=bound.others)


def _wait_for_knowledge(principal: Principal, heard: Heard, outdated: Sequence[UUID]) -> None:
    """Lock what the request makes the team judge again, so that its moment comes after all that is known of it."""
    team = principal.team_id
    if outdated:
        hold_resting_on(team_id=team, fragment_ids=outdated)
    bound = heard.bound
    if bound.ones:
        hold_counted_in(team_id=team, groups=bound.ones, others=bound.others)
    if outdated:
        lock_questions(team_id=team, owner_id=principal.profile_id, fragment_ids=outdated)


def _retire(principal: Principal, claims: Mapping[str, SourceClaim], *, ingest_id: UUID, now: datetime) -> None:
    for claim in claims.values():
        if claim.supersedes:
            retire_fragments(
                team_id=principal.team_id,
                owner_id=principal.profile_id,
                fragment_ids=claim.supersedes,
                ingest_id=ingest_id,
                now=now,
            )


def _judge_again(team_id: UUID, heard: Heard, outdated: Sequence[UUID], *, now: datetime) -> None:
    """Judge again what rested on outdated texts, and on source groups that were bound to others."""
    bound = heard.bound
    with settling(team_id=team_id, now=now):
        if outdated:
            with writing_for_all(Writer.SOURCE):
                revoke_for_fragments(team_id=team_id, fragment_ids=outdated, reason="source_revision_advanced", now=now)
        if bound.ones:
            with writing_for_all(Writer.JOIN):
                recompute_for_groups(team_id=team_id, groups=bound.ones, others=bound.others, now=now)
