"""What an owner corrects of a Relationship that was wrong: its typed value, or when it held."""

from datetime import datetime
from uuid import UUID

from densemem.auth import Principal
from densemem.core.faults import Fault, NotThere
from densemem.db.keyed import seed_of
from entities.plan import NewValue, new_value
from entities.policy import CanonicalValue, ValueRefused, canonical_value
from entities.queries import spent_ids, value_displays
from entities.vocabulary import ValueType
from placement.decide.asked import Questions
from placement.decide.desk import Decided, DecisionRefused, Desk, open_desk
from placement.decision import Correction, read_correction
from placement.request import RequestInvalid
from relationships.operations import amend, check_own, wait_to_meet
from relationships.plan import Amendment
from relationships.policy import StoredRecord
from relationships.queries import records_by_id, registry


def correct_relationship(
    *,
    principal: Principal,
    relationship_id: UUID,
    expected_version: int,
    body: object,
    idempotency_key: str,
    now: datetime,
    dry_run: bool = False,
) -> Decided:
    """Correct one of the caller's own active Relationships; the server knows what supports it.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such Relationship in the team
    :raises Refused: not the owner, another version, nothing corrected, another is active that excludes what it becomes,
        or a broken contract; nothing was stored
    """
    asked = read_correction(body)
    desk = open_desk(
        principal=principal,
        asked=asked,
        about=relationship_id,
        body=body,
        key=idempotency_key,
        now=now,
        dry_run=dry_run,
    )
    desk.refuse_held_evidence()
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        questions = Questions(desk, relationship_id)
        staged = desk.stage(beside=questions.waiting)
        wait_to_meet(team_id=principal.team_id, relationship_id=relationship_id)
        questions.hold()
        now = desk.take_moment()
        amend(
            team_id=principal.team_id,
            owner_id=principal.profile_id,
            relationship_id=relationship_id,
            expected_version=expected_version,
            amendment=_amendment(desk, relationship_id, expected_version),
            now=now,
        )
        made = desk.record(staged=staged, relationship_id=relationship_id)
        questions.withdraw("corrected")
        return desk.answer(made)


def _amendment(desk: Desk, relationship_id: UUID, expected_version: int) -> Amendment:
    """Return what the record should say; it is read without a lock here, and again with one.

    :raises Refused: not the caller's, a value where its object is an Entity, or of a type that the predicate has not
    """
    team, correction = desk.principal.team_id, desk.asked.correction
    assert correction is not None  # read_correction gives one
    found = records_by_id(team_id=team, record_ids=[relationship_id])
    if not found:
        raise NotThere
    (record,) = found
    check_own(record, owner_id=desk.principal.profile_id, expected_version=expected_version)
    start = correction.bounds.get("valid_from", (record.identity.valid_from, record.valid_from_precision))
    end = correction.bounds.get("valid_to", (record.identity.valid_to, record.valid_to_precision))
    if start[0] is not None and end[0] is not None and end[0] <= start[0]:
        faults = [Fault("/valid_to", "window_is_empty", "A validity must end after it begins.")]
        raise RequestInvalid("Nothing was corrected: it would hold at no moment.", faults=faults)
    value = _value(desk, record, correction)
    return Amendment(_new(team, value) if value else None, start[0], end[0], start[1], end[1])


def _value(desk: Desk, record: StoredRecord, correction: Correction) -> CanonicalValue | None:
    """Return the corrected value; None where it stays."""
    if correction.value is None and not correction.unit_alone:
        return None
    at = "/unit" if correction.unit_alone else "/object_value"
    value_id = record.identity.object_value_id
    if value_id is None:
        detail = "Its object is an Entity: remember what is meant instead, with this one as the correction target."
        raise DecisionRefused(detail, code="object_is_entity", faults=[Fault(at, "object_is_entity", detail)])
    value = correction.value or _with_unit(desk.principal.team_id, value_id, correction.unit)
    known = registry(team_id=desk.principal.team_id).get(record.behaviour.key)
    if known and value.type not in known.object_kinds:
        detail = f"The predicate {known.key} has values of: {', '.join(sorted(known.object_kinds & set(ValueType)))}."
        raise DecisionRefused(detail, code="type_does_not_fit", faults=[Fault(at, "type_does_not_fit", detail)])
    return value


def _with_unit(team_id: UUID, value_id: UUID, unit: str | None) -> CanonicalValue:
    """Return a stored value in another unit; of a duration, kept in seconds, nobody knows what was written."""
    stored = value_displays(team_id=team_id, value_ids=[value_id])[value_id]
    try:
        if stored.type == ValueType.DURATION:
            raise ValueRefused("Give a duration whole, as object_value.", code="duration_unit")
        return canonical_value(ValueType(stored.type), stored.canonical, unit)
    except ValueRefused as refused:
        faults = [Fault("/unit", refused.code, refused.detail)]
        raise RequestInvalid("The value cannot have this unit.", faults=faults) from None


def _new(team_id: UUID, value: CanonicalValue) -> NewValue:
    """Return a value that is shown in its one form, which is nobody's words, and under no id that was redacted."""
    shown = " ".join(part for part in (value.canonical, value.unit) if part)
    spent = spent_ids(team_id=team_id, values=[value])
    return new_value(seed=seed_of(team_id), value=value, display=shown, spent=spent)
