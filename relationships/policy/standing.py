"""Tier and status from verdict, support and holds ("Relationship Model And Lifecycle", Tier And Status).

A decision is about one observation and the record that it belongs to. The two may part: an observation that is held
never takes an active record down with it.
"""

from dataclasses import dataclass, replace
from typing import Final

from densemem.core.limits import SOURCES_FOR_FACT
from relationships.vocabulary import Modality, Outcome, Status, Tier, Verdict


@dataclass(frozen=True, slots=True)
class Standing:
    """
    Where a record stands after a decision.

    :param grants: the observation becomes an effective support of the record
    :param task: the owner is asked to review
    """

    tier: Tier
    status: Status
    reason: str
    grants: bool = False
    task: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    One observation with resolved ends and predicate, and the record that it belongs to.

    :param source_groups: independent groups of the effective supports, this observation's counted in
    :param authoritative: one of those supports comes from an authorised user
    :param ambiguous: identity or scope is open
    :param self_relation: both ends are one Entity
    :param conflict: comparing held it against another record of the owner
    :param signalled: the span overlaps a security signal of a guarded text
    :param released: a person answered these holds and the record's own; they bind no more
    :param tier, status: of the existing record; None for a new one
    :param held_by_person: a person, not a verdict, set that status
    :param new_group: the observation brings a group that the record did not have
    :param restated: the record was replaced, and comparing shows that it holds again, later than what replaced it
    """

    verdict: Verdict
    modality: Modality = Modality.STATEMENT
    source_groups: int
    authoritative: bool = False
    ambiguous: bool = False
    self_relation: bool = False
    conflict: bool = False
    signalled: bool = False
    released: bool = False
    tier: Tier | None = None
    status: Status | None = None
    held_by_person: bool = False
    new_group: bool = False
    restated: bool = False


CANDIDATE: Final = Tier.CANDIDATE
RECOMPUTED: Final = frozenset({Status.ACTIVE, Status.PENDING})
OUTCOMES: Final = {Status.PENDING: Outcome.PENDING, Status.REJECTED: Outcome.REJECTED}


def decide_standing(case: Case) -> Standing:
    """Decide where the record stands after this observation; top to bottom is the flow chart of the page."""
    kept = _kept_by_hold(case)
    if kept is not None:
        return kept
    if case.verdict is Verdict.CONTRADICTED:
        return _unless_standing(case, Standing(CANDIDATE, Status.REJECTED, "verdict_contradicted"))
    if case.verdict is Verdict.INSUFFICIENT:
        return _unless_standing(case, Standing(CANDIDATE, Status.PENDING, "verdict_insufficient"))
    if case.modality is not Modality.STATEMENT:
        return _unless_standing(case, Standing(CANDIDATE, Status.PENDING, f"modality_{case.modality}"))
    open_question = _open_question(case)
    if open_question is not None:
        return _unless_standing(case, Standing(CANDIDATE, Status.REVIEW, open_question, task=True))
    return replace(from_support(groups=case.source_groups, authoritative=case.authoritative), grants=True)


def reevaluate(
    *, tier: Tier, status: Status, groups: int, authoritative: bool, bare: Status = Status.PENDING
) -> Standing:
    """
    Decide again from what support is left, after a source advanced or a support was revoked or reinstated.

    Holds are not cleared: only an active or pending record moves.

    :param bare: where a record without support goes: it waits for evidence, or its evidence is quarantined
    """
    if status not in RECOMPUTED:
        return Standing(tier, status, "hold_kept")
    if groups < 1 and bare is not Status.PENDING:
        return Standing(CANDIDATE, bare, "no_effective_support")
    return from_support(groups=groups, authoritative=authoritative)


def from_support(*, groups: int, authoritative: bool) -> Standing:
    """Read the standing off the effective support alone; also when an owner lifts what it forgot."""
    if groups < 1:
        return Standing(CANDIDATE, Status.PENDING, "no_effective_support")
    if authoritative:
        return Standing(Tier.FACT, Status.ACTIVE, "authorized_user")
    if groups >= SOURCES_FOR_FACT:
        return Standing(Tier.FACT, Status.ACTIVE, "independent_sources")
    return Standing(Tier.CLAIM, Status.ACTIVE, "single_source")


def is_taken_out(*, status: Status, held_by_person: bool) -> bool:
    """Tell if a person took the record out; forgetting and disputing are always a person's."""
    return status in (Status.RETRACTED, Status.DISPUTED) or (status is Status.REJECTED and held_by_person)


def outcome_of(standing: Standing) -> Outcome:
    """Name the outcome of an observation in the public words; every hold reads as a need for review."""
    if standing.status is Status.ACTIVE:
        return Outcome.FACT if standing.tier is Tier.FACT else Outcome.CLAIM
    return OUTCOMES.get(standing.status, Outcome.REVIEW)


def _kept_by_hold(case: Case) -> Standing | None:
    """Return the standing that a hold on the record keeps, or None when the record is judged afresh."""
    entailed = case.verdict is Verdict.ENTAILED and case.modality is Modality.STATEMENT
    if case.tier is None or case.status is None or case.status in RECOMPUTED:
        return None
    if case.released or (entailed and _judged_again(case)):
        return None
    unclear = case.ambiguous or case.signalled
    if entailed and unclear:
        return Standing(case.tier, case.status, f"kept_{case.status}", task=case.status is Status.REVIEW)
    again = entailed and case.new_group and _set_by_person(case)
    asks = again or (entailed and case.status is Status.REVIEW)  # what is said again waits for the same answer
    reason = f"stated_again_after_{case.status}" if again else f"kept_{case.status}"
    return Standing(case.tier, case.status, reason, grants=entailed, task=asks)


def _judged_again(case: Case) -> bool:
    """Tell if entailed evidence reopens the record: a verdict's rejection, a quarantine, a return of the old."""
    if case.status is Status.REJECTED:
        return not case.held_by_person
    return case.status is Status.QUARANTINED or (case.status is Status.SUPERSEDED and case.restated)


def _set_by_person(case: Case) -> bool:
    return case.status is not None and is_taken_out(status=case.status, held_by_person=case.held_by_person)


def _open_question(case: Case) -> str | None:
    """Name what keeps an entailed statement from becoming knowledge by itself."""
    if case.released:  # but what the person did not see is asked
        return "conflict_held" if case.conflict else None
    questions = (
        (case.ambiguous, "identity_or_scope_open"),
        (case.self_relation, "self_relation"),
        (case.conflict, "conflict_held"),
        (case.signalled, "span_overlaps_signal"),
    )
    return next((reason for is_open, reason in questions if is_open), None)


def _unless_standing(case: Case, standing: Standing) -> Standing:
    """Keep an active record as it is: what this observation lacks takes nothing from the support that it has."""
    if case.status is not Status.ACTIVE or case.tier is None:
        return standing
    return Standing(case.tier, case.status, standing.reason, task=standing.task)
