"""What each observation does to knowledge: a fold over the drafts of one item, in their order.

Records are worked on in memory; each step that changes one appends its `Change`. Stored knowledge is compared, never
counted as evidence.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from densemem.core.ids import derived_id
from densemem.core.names import fold
from entities.plan import NewValue, new_value
from entities.policy import CanonicalValue
from placement.contract import ObservationResult
from placement.plan.given import Given, Ready, Target
from placement.plan.mentions import FOUR_PLACES, MentionsDecided
from placement.plan.working import Workbench, Working
from relationships.identity import Identity
from relationships.plan import (
    Change,
    KnowledgePlan,
    NewLineage,
    NewObservation,
    NewRecord,
    NewReference,
    NewSupport,
)
from relationships.policy import (
    Action,
    Behaviour,
    Case,
    Comparison,
    Position,
    Standing,
    StoredRecord,
    closes,
    compare,
    competes,
    cross_reference,
    decide_standing,
    effective_at,
    outcome_of,
    reevaluate,
)
from relationships.vocabulary import BY_CORRECTION, CrossReferenceKind, LineageKind, Modality, Outcome, Status, Verdict
from review.vocabulary import TaskKind

HELD: Final = (Status.REVIEW, Status.PENDING)  # what a person's no takes out


@dataclass(frozen=True, slots=True)
class Held:
    """A question for the owner, and an observation that waits for its answer.

    `subject` names what it is about, so that it is asked once.
    """

    kind: TaskKind
    subject: str
    reason: str
    observation_id: UUID
    resolution_id: UUID | None = None
    relationship_id: UUID | None = None
    rival_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class KnowledgeDecided:
    """What is written of knowledge, and what is asked."""

    plan: KnowledgePlan
    values: tuple[NewValue, ...]
    held: tuple[Held, ...]


@dataclass(slots=True)
class _Sheet:
    """What has been decided so far."""

    observations: list[NewObservation] = field(default_factory=list)
    supports: list[NewSupport] = field(default_factory=list)
    revoked: list[UUID] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    references: list[NewReference] = field(default_factory=list)
    lineage: list[NewLineage] = field(default_factory=list)
    values: dict[UUID, NewValue] = field(default_factory=dict)
    held: dict[tuple[TaskKind, str, UUID], Held] = field(default_factory=dict)

    def ask(self, question: Held) -> None:
        """Put a question, once for each observation that waits for its answer."""
        self.held.setdefault((question.kind, question.subject, question.observation_id), question)


def decide_knowledge(
    *,
    given: Given,
    mentions: MentionsDecided,
    drafts: Sequence[Ready],
    stored: Sequence[StoredRecord],
    joins: Mapping[UUID, Set[UUID]],
    targets: Mapping[str, Target],
) -> KnowledgeDecided:
    """Decide every observation of the item.

    :param stored: every record that these observations could meet, of all owners, locked
    :param joins: by fragment and source group, what the stored supports and the item are joined to
    :param targets: by draft ref, the Relationship that the client wants corrected
    """
    bench = Workbench(given, stored, joins)
    sheet = _Sheet()
    for draft in drafts:
        _decide(draft, given=given, mentions=mentions, bench=bench, sheet=sheet, target=targets.get(draft.draft.ref))
    plan = KnowledgePlan(
        observations=tuple(sheet.observations),
        records=tuple(_new_record(w) for w in bench.created()),
        supports=tuple(sheet.supports),
        revoked=tuple(sheet.revoked),
        changes=tuple(sheet.changes),
        references=tuple(sheet.references),
        lineage=tuple(sheet.lineage),
    )
    return KnowledgeDecided(plan, tuple(sheet.values.values()), tuple(sheet.held.values()))


def _decide(
    draft: Ready, *, given: Given, mentions: MentionsDecided, bench: Workbench, sheet: _Sheet, target: Target | None
) -> None:
    """Decide one observation and write it on the sheet."""
    result = given.verification.observations[draft.draft.ref]
    seen = _observation(draft, given=given, mentions=mentions, result=result)
    if draft.value and seen.object_value_id:
        sheet.values[seen.object_value_id] = _value(draft.value, draft.display, given)
    if seen.ref in given.bound.rejected:
        seen = _reject(seen, draft, given=given, bench=bench, sheet=sheet)
    elif seen.subject_id is None or (seen.object_entity_id is None and seen.object_value_id is None):
        seen = replace(seen, outcome=Outcome.IDENTITY, reason="identity_open")
        _ask_identity(seen, draft, given=given, mentions=mentions, sheet=sheet)
    elif seen.predicate is None or not given.fits(seen.predicate.key, seen.subject_id, seen.object_entity_id):
        reason = "kinds_do_not_fit" if seen.predicate else "predicate_not_registered"
        seen = replace(seen, predicate=None, outcome=Outcome.PREDICATE, reason=reason)
        _ask_predicate(seen, draft, sheet=sheet)
    else:
        seen = _relate(seen, draft, given=given, bench=bench, sheet=sheet, target=target)
    sheet.observations.append(seen)


def _value(value: CanonicalValue, display: str, given: Given) -> NewValue:
    return new_value(seed=given.seed, value=value, display=display, spent=given.spent)


def _observation(draft: Ready, *, given: Given, mentions: MentionsDecided, result: ObservationResult) -> NewObservation:
    ref = draft.draft.ref
    number = derived_id("observation", given.seed, given.item_id, given.extracted, ref)
    predicate_key = given.predicate_of(ref)
    value_id = _value(draft.value, draft.display, given).id if draft.value else None
    object_ref = draft.draft.object_ref
    return NewObservation(
        id=number,
        verification_id=derived_id("verification", number, given.judged_in(ref)),
        judged_in=given.judged_in(ref),
        ref=ref,
        subject_ref=draft.draft.subject_ref,
        object_ref=object_ref or "",
        polarity=draft.draft.polarity,
        modality=draft.draft.modality,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        valid_from_precision=draft.valid_from_precision,
        valid_to_precision=draft.valid_to_precision,
        scope_key=draft.scope_key,
        proposal_id=draft.draft.proposal_id or "",
        spans=draft.draft.spans,
        verdict=result.verdict,
        confidence=result.confidence.quantize(FOUR_PLACES),
        subject_id=mentions.entity_of.get(draft.draft.subject_ref),
        object_entity_id=mentions.entity_of.get(object_ref) if object_ref else None,
        object_value_id=value_id,
        predicate=given.behaviours.get(predicate_key) if predicate_key else None,
        relationship_id=None,
        outcome=Outcome.PENDING,
        reason="",
        asked_because=given.bound.again.get(ref, ""),
    )


def _ask_identity(
    seen: NewObservation, draft: Ready, *, given: Given, mentions: MentionsDecided, sheet: _Sheet
) -> None:
    """Ask who is meant, once for each name of the item that is open; a contradicted statement asks nothing."""
    if seen.verdict is Verdict.CONTRADICTED:
        return
    for ref in (draft.draft.subject_ref, draft.draft.object_ref):
        resolution = mentions.resolution_of.get(ref) if ref else None
        if resolution is not None and resolution.entity_id is None:
            subject = f"mention:{given.item_id}:{resolution.kind}:{given.keys[resolution.mention_ref]}"
            sheet.ask(Held(TaskKind.IDENTITY, subject, resolution.reason, seen.id, resolution_id=resolution.id))


def wording_subject(wording: str) -> str:
    """Return what the question about a wording is about, however it is written."""
    return f"wording:{fold(wording)}"


def _ask_predicate(seen: NewObservation, draft: Ready, *, sheet: _Sheet) -> None:
    """Ask what a wording means; one open question for an owner and wording."""
    if seen.verdict is not Verdict.CONTRADICTED and seen.modality is Modality.STATEMENT:
        sheet.ask(Held(TaskKind.PREDICATE, wording_subject(draft.draft.predicate), seen.reason, seen.id))


def _reject(seen: NewObservation, draft: Ready, *, given: Given, bench: Workbench, sheet: _Sheet) -> NewObservation:
    """Let the owner's no stand: a record that was held for this observation is rejected, any other stays."""
    reason = "rejected_by_owner"
    ends = seen.subject_id is not None and (seen.object_entity_id is not None or seen.object_value_id is not None)
    record = bench.known(_identity(seen, seen.predicate, given), draft) if ends and seen.predicate else None
    if record is not None and record.tier is not None and record.status in HELD:
        standing = Standing(record.tier, Status.REJECTED, reason)
        if change := bench.step(record, standing, verification_id=seen.verification_id, actor_id=given.owner_id):
            sheet.changes.append(change)
    relationship = record.id if record else None
    return replace(seen, relationship_id=relationship, outcome=Outcome.REJECTED, reason=reason)


def _relate(
    seen: NewObservation, draft: Ready, *, given: Given, bench: Workbench, sheet: _Sheet, target: Target | None
) -> NewObservation:
    """Find or make the caller's record and decide what this observation does to it."""
    assert seen.predicate is not None
    read = bench.record_for(_identity(seen, seen.predicate, given), seen.predicate, draft)
    record = bench.meant(read) if seen.verdict is Verdict.ENTAILED else read
    seen = replace(seen, relationship_id=record.id, object_value_id=record.identity.object_value_id)
    corrected = target.record_id if target else None
    case = _case(seen, draft, record, given=given, bench=bench)
    met = _meet(case, record, given=given, bench=bench, corrected=corrected)
    case = replace(case, conflict=met.rival is not None, restated=met.restated)
    standing = decide_standing(case)
    if seen.asked_because and seen.verdict is not Verdict.ENTAILED:
        standing = _without(record, seen, standing, bench=bench, sheet=sheet)
    if standing.grants:
        sheet.supports += bench.support(record, seen)
    actor = given.owner_id if case.released else None
    if change := bench.step(record, standing, verification_id=seen.verification_id, actor_id=actor):
        sheet.changes.append(change)
    if standing.status is Status.ACTIVE and standing.grants:
        _supersede(record, met, bench=bench, sheet=sheet, seen=seen)
        _refer(record, seen, given=given, bench=bench, sheet=sheet, corrected=corrected)
    if standing.task:
        rival = met.rival.id if met.rival else None
        about = f":{standing.reason}" if standing.status is not Status.REVIEW else ""
        subject = f"record:{record.id}{about}"
        sheet.ask(
            Held(TaskKind.RELATIONSHIP, subject, standing.reason, seen.id, relationship_id=record.id, rival_id=rival)
        )
    reason = BY_CORRECTION if standing.grants and record is not read else standing.reason
    return replace(seen, outcome=_outcome(seen, standing), reason=reason)


def _without(record: Working, seen: NewObservation, standing: Standing, *, bench: Workbench, sheet: _Sheet) -> Standing:
    """Take from a record the support of a text that, verified once more, does not say so; judge it by what is left."""
    gone = bench.revoke(record, seen)
    sheet.revoked += gone
    if not gone or record.tier is None or record.status is None:
        return standing
    left = reevaluate(
        tier=record.tier,
        status=record.status,
        groups=bench.voices(record),
        authoritative=any(s.authoritative for s in record.effective),
    )
    return replace(left, reason=standing.reason, task=False)


def _identity(seen: NewObservation, predicate: Behaviour, given: Given) -> Identity:
    """Return what the observation is about. A symmetric predicate has its ends in one order, whoever comes first."""
    subject, entity = seen.subject_id, seen.object_entity_id
    assert subject is not None
    if predicate.symmetric and entity is not None and entity < subject:
        subject, entity = entity, subject
    return Identity(
        team_id=given.team_id,
        owner_id=given.owner_id,
        subject_id=subject,
        predicate_key=predicate.key,
        object_entity_id=entity,
        object_value_id=seen.object_value_id,
        polarity=seen.polarity,
        valid_from=seen.valid_from,
        valid_to=seen.valid_to,
        scope_key=seen.scope_key,
    )


def _case(seen: NewObservation, draft: Ready, record: Working, *, given: Given, bench: Workbench) -> Case:
    before, after = bench.voices(record), bench.voices(record, with_item=True)
    return Case(
        verdict=seen.verdict,
        modality=seen.modality,
        source_groups=after,
        authoritative=given.authoritative or any(s.authoritative for s in record.effective),
        ambiguous=draft.open is not None,
        self_relation=record.identity.is_self_relation,
        signalled=any(s < end and start < e for s, e in seen.spans for start, end in given.signals),
        released=seen.ref in given.bound.released or record.id in given.bound.lifted,
        tier=record.tier,
        status=record.status,
        held_by_person=record.held_by_person,
        new_group=after > before,
    )


@dataclass(frozen=True, slots=True)
class _Met:
    """What the record meets among the caller's active ones."""

    rival: Working | None = None
    superseded: tuple[tuple[Working, Comparison], ...] = ()
    restated: bool = False


def _meet(case: Case, record: Working, *, given: Given, bench: Workbench, corrected: UUID | None) -> _Met:
    """Compare with the caller's active records, unless the observation cannot make this one active."""
    back = record.status is Status.SUPERSEDED
    hoped = decide_standing(replace(case, restated=True) if back else case)
    if hoped.status is not Status.ACTIVE or not hoped.grants:
        return _Met()
    new = bench.position(record, tier=hoped.tier)
    others = bench.active_of_owner(record)
    if record.status is Status.ACTIVE:  # what is active already stands beside them; only a correction moves something
        others = [old for old in others if old.id == corrected]
    answers = [(old, _compare(new, old, case, given=given, bench=bench, corrected=corrected)) for old in others]
    rival = next((old for old, answer in answers if answer.action is Action.HOLD), None)
    superseded = tuple((old, answer) for old, answer in answers if answer.action is Action.SUPERSEDE)
    return _Met(rival, superseded, restated=back and rival is None and bench.returns(record, new))


def _compare(
    new: Position, old: Working, case: Case, *, given: Given, bench: Workbench, corrected: UUID | None
) -> Comparison:
    """Compare with one active record; a person's answer decides what policy alone would hold."""
    other = bench.position(old)
    mistaken = old.id in given.bound.corrected and (competes(new, other) or closes(new, other))
    answer = compare(new, other, corrects=mistaken or old.id == corrected)
    if answer.action is Action.HOLD and case.released and old.id in given.bound.shown:
        lineage = LineageKind.CLOSED if closes(new, other) else LineageKind.REPLACED
        return Comparison(Action.SUPERSEDE, lineage, "accepted_by_owner")
    return answer


def _supersede(record: Working, met: _Met, *, bench: Workbench, sheet: _Sheet, seen: NewObservation) -> None:
    """Let the older records step back, each with its lineage."""
    moment = effective_at(bench.position(record))
    for old, answer in met.superseded:
        assert answer.lineage is not None and old.tier is not None
        standing = Standing(old.tier, Status.SUPERSEDED, f"superseded_{answer.lineage}")
        if change := bench.step(old, standing, verification_id=seen.verification_id):
            sheet.changes.append(change)
            sheet.lineage.append(NewLineage(record.id, old.id, answer.lineage, moment))


def _refer(
    record: Working, seen: NewObservation, *, given: Given, bench: Workbench, sheet: _Sheet, corrected: UUID | None
) -> None:
    """Append what the caller's record says of other profiles' active ones; nothing of theirs changes."""
    mine = bench.position(record)
    for other in bench.active_of_others(record):
        kind = cross_reference(mine, bench.position(other), corrects=other.id == corrected)
        if kind is CrossReferenceKind.CONFIRMS and given.adopted and _rests_on(other, given.fragment_id):
            kind = CrossReferenceKind.ADOPTS
        if kind is not None and (other.id, kind) not in record.references:
            record.references.add((other.id, kind))
            sheet.references.append(
                NewReference(record.id, record.version, other.id, other.version, kind, seen.verification_id)
            )


def _rests_on(record: Working, fragment_id: UUID) -> bool:
    """Tell if a text supports a record: whoever adopts it says nothing of its own."""
    return any(s.fragment_id == fragment_id for s in record.effective)


def _outcome(seen: NewObservation, standing: Standing) -> Outcome:
    """Name what became of the observation; one that an active record does not need says why by itself."""
    verified_away = seen.asked_because and seen.verdict is not Verdict.ENTAILED
    if not verified_away and (standing.status is not Status.ACTIVE or standing.grants):
        return outcome_of(standing)
    if seen.verdict is Verdict.CONTRADICTED:
        return Outcome.REJECTED
    pending = seen.verdict is Verdict.INSUFFICIENT or seen.modality is not Modality.STATEMENT
    return Outcome.PENDING if pending else Outcome.REVIEW


def _new_record(record: Working) -> NewRecord:
    return NewRecord(
        record.id, record.identity, record.behaviour, record.valid_from_precision, record.valid_to_precision
    )
