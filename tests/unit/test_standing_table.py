"""Every line of the flow chart with its whole answer: tier, status, reason, support and question."""

from itertools import product

import pytest

from relationships.policy import (
    STEPS,
    Case,
    Standing,
    StepRefused,
    check_standing,
    check_step,
    decide_standing,
    from_support,
    is_taken_out,
    reevaluate,
)
from relationships.vocabulary import Modality, Status, Tier, Verdict

ENTAILED, CONTRADICTED, INSUFFICIENT = Verdict
CANDIDATE, CLAIM, FACT = Tier


def case(verdict: Verdict = ENTAILED, groups: int = 1, **more: object) -> Case:
    """Return a case, by default the first entailed statement from one source."""
    return Case(verdict=verdict, source_groups=groups, **more)


def held(status: Status, verdict: Verdict = ENTAILED, **more: object) -> Case:
    """Return a case about a claim that stands so."""
    return case(verdict, 1, tier=CLAIM, status=status, **more)


QUESTION, PROPOSAL, SPECULATION, QUOTED = (m for m in Modality if m is not Modality.STATEMENT)
REVIEW, RETRACTED, DISPUTED = Status.REVIEW, Status.RETRACTED, Status.DISPUTED


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (case(CONTRADICTED), Standing(CANDIDATE, Status.REJECTED, "verdict_contradicted")),
        (case(INSUFFICIENT), Standing(CANDIDATE, Status.PENDING, "verdict_insufficient")),
        (case(modality=QUESTION), Standing(CANDIDATE, Status.PENDING, "modality_question")),
        (case(modality=PROPOSAL), Standing(CANDIDATE, Status.PENDING, "modality_proposal")),
        (case(modality=SPECULATION), Standing(CANDIDATE, Status.PENDING, "modality_speculation")),
        (case(modality=QUOTED), Standing(CANDIDATE, Status.PENDING, "modality_quoted")),
        (case(ambiguous=True), Standing(CANDIDATE, REVIEW, "identity_or_scope_open", task=True)),
        (case(self_relation=True), Standing(CANDIDATE, REVIEW, "self_relation", task=True)),
        (case(conflict=True), Standing(CANDIDATE, REVIEW, "conflict_held", task=True)),
        (case(signalled=True), Standing(CANDIDATE, REVIEW, "span_overlaps_signal", task=True)),
        # One question at a time, the first of the page.
        (
            case(ambiguous=True, self_relation=True, conflict=True, signalled=True),
            Standing(CANDIDATE, REVIEW, "identity_or_scope_open", task=True),
        ),
        (case(self_relation=True, conflict=True), Standing(CANDIDATE, REVIEW, "self_relation", task=True)),
        (case(conflict=True, signalled=True), Standing(CANDIDATE, REVIEW, "conflict_held", task=True)),
        # What a person answered is asked no more, but a conflict that the person did not see is.
        (
            case(released=True, ambiguous=True, self_relation=True, signalled=True),
            Standing(CLAIM, Status.ACTIVE, "single_source", grants=True),
        ),
        (case(released=True, conflict=True), Standing(CANDIDATE, REVIEW, "conflict_held", task=True)),
        (case(), Standing(CLAIM, Status.ACTIVE, "single_source", grants=True)),
        (case(groups=2), Standing(FACT, Status.ACTIVE, "independent_sources", grants=True)),
        (case(authoritative=True), Standing(FACT, Status.ACTIVE, "authorized_user", grants=True)),
        (case(groups=0), Standing(CANDIDATE, Status.PENDING, "no_effective_support", grants=True)),
        # A pending record is judged afresh, and so is a new one.
        (held(Status.PENDING, CONTRADICTED), Standing(CANDIDATE, Status.REJECTED, "verdict_contradicted")),
        (case(status=REVIEW), Standing(CLAIM, Status.ACTIVE, "single_source", grants=True)),
        (case(tier=CLAIM), Standing(CLAIM, Status.ACTIVE, "single_source", grants=True)),
        # An active one keeps what it has.
        (held(Status.ACTIVE, CONTRADICTED), Standing(CLAIM, Status.ACTIVE, "verdict_contradicted")),
        (held(Status.ACTIVE, INSUFFICIENT), Standing(CLAIM, Status.ACTIVE, "verdict_insufficient")),
        (held(Status.ACTIVE, modality=QUOTED), Standing(CLAIM, Status.ACTIVE, "modality_quoted")),
        (held(Status.ACTIVE, conflict=True), Standing(CLAIM, Status.ACTIVE, "conflict_held", task=True)),
        # A hold stays; support attaches, and a new voice asks the person who set it.
        (held(RETRACTED, new_group=True), Standing(CLAIM, RETRACTED, "stated_again_after_retracted", True, True)),
        (held(DISPUTED, new_group=True), Standing(CLAIM, DISPUTED, "stated_again_after_disputed", True, True)),
        (
            held(Status.REJECTED, held_by_person=True, new_group=True),
            Standing(CLAIM, Status.REJECTED, "stated_again_after_rejected", True, True),
        ),
        (held(RETRACTED), Standing(CLAIM, RETRACTED, "kept_retracted", grants=True)),
        (held(REVIEW), Standing(CLAIM, REVIEW, "kept_needs_review", True, True)),
        (held(REVIEW, new_group=True), Standing(CLAIM, REVIEW, "kept_needs_review", True, True)),
        (held(Status.SUPERSEDED, new_group=True), Standing(CLAIM, Status.SUPERSEDED, "kept_superseded", grants=True)),
        (held(REVIEW, INSUFFICIENT, new_group=True), Standing(CLAIM, REVIEW, "kept_needs_review")),
        (held(DISPUTED, CONTRADICTED, new_group=True), Standing(CLAIM, DISPUTED, "kept_disputed")),
        (held(DISPUTED, modality=QUOTED, new_group=True), Standing(CLAIM, DISPUTED, "kept_disputed")),
        (held(REVIEW, ambiguous=True), Standing(CLAIM, REVIEW, "kept_needs_review", task=True)),
        (held(REVIEW, signalled=True), Standing(CLAIM, REVIEW, "kept_needs_review", task=True)),
        (held(RETRACTED, ambiguous=True, new_group=True), Standing(CLAIM, RETRACTED, "kept_retracted")),
        # Judged again: what a verdict rejected, what was held with its text, what returns, what a person released.
        (held(Status.REJECTED), Standing(CLAIM, Status.ACTIVE, "single_source", grants=True)),
        (held(Status.REJECTED, held_by_person=True), Standing(CLAIM, Status.REJECTED, "kept_rejected", grants=True)),
        (held(Status.QUARANTINED), Standing(CLAIM, Status.ACTIVE, "single_source", grants=True)),
        (held(Status.QUARANTINED, INSUFFICIENT), Standing(CLAIM, Status.QUARANTINED, "kept_quarantined")),
        (held(Status.SUPERSEDED, restated=True), Standing(CLAIM, Status.ACTIVE, "single_source", grants=True)),
        (held(DISPUTED, restated=True), Standing(CLAIM, DISPUTED, "kept_disputed", grants=True)),
        (held(DISPUTED, released=True), Standing(CLAIM, Status.ACTIVE, "single_source", grants=True)),
    ],
)
def test_a_decision_is_told_whole(given: Case, answer: Standing) -> None:
    assert decide_standing(given) == answer


@pytest.mark.parametrize(
    ("groups", "authoritative", "answer"),
    [
        (0, False, Standing(CANDIDATE, Status.PENDING, "no_effective_support")),
        (0, True, Standing(CANDIDATE, Status.PENDING, "no_effective_support")),
        (1, False, Standing(CLAIM, Status.ACTIVE, "single_source")),
        (1, True, Standing(FACT, Status.ACTIVE, "authorized_user")),
        (2, False, Standing(FACT, Status.ACTIVE, "independent_sources")),
        (2, True, Standing(FACT, Status.ACTIVE, "authorized_user")),
        (3, False, Standing(FACT, Status.ACTIVE, "independent_sources")),
    ],
)
def test_support_alone_is_worth_so_much(groups: int, authoritative: bool, answer: Standing) -> None:
    assert from_support(groups=groups, authoritative=authoritative) == answer
    for status in (Status.ACTIVE, Status.PENDING):
        assert reevaluate(tier=CANDIDATE, status=status, groups=groups, authoritative=authoritative) == answer


def test_a_recount_tells_where_a_record_without_support_goes() -> None:
    given = {"tier": FACT, "status": Status.ACTIVE, "authoritative": False, "bare": Status.QUARANTINED}

    assert reevaluate(groups=0, **given) == Standing(CANDIDATE, Status.QUARANTINED, "no_effective_support")
    assert reevaluate(groups=1, **given) == Standing(CLAIM, Status.ACTIVE, "single_source")


def test_a_recount_keeps_a_hold() -> None:
    answer = reevaluate(tier=FACT, status=DISPUTED, groups=0, authoritative=True, bare=Status.QUARANTINED)

    assert answer == Standing(FACT, DISPUTED, "hold_kept")


@pytest.mark.parametrize(("status", "person"), list(product(Status, (True, False))))
def test_a_person_takes_out_by_forgetting_disputing_and_rejecting(status: Status, person: bool) -> None:
    always = status in (RETRACTED, DISPUTED)

    assert is_taken_out(status=status, held_by_person=person) is (always or (person and status is Status.REJECTED))


@pytest.mark.parametrize(("before", "after"), list(product(Status, Status)))
def test_a_step_is_legal_when_the_table_has_it(before: Status, after: Status) -> None:
    if before is after or after in STEPS[before]:
        check_step(before=before, after=after)
        return
    with pytest.raises(StepRefused) as refused:
        check_step(before=before, after=after)
    assert (str(refused.value), refused.value.code) == (
        f"A Relationship that is {before} cannot become {after}.",
        "step_refused",
    )


@pytest.mark.parametrize(("tier", "status"), list(product(Tier, Status)))
def test_only_an_active_candidate_is_no_standing(tier: Tier, status: Status) -> None:
    if (tier, status) != (CANDIDATE, Status.ACTIVE):
        check_standing(tier=tier, status=status)
        return
    with pytest.raises(StepRefused) as refused:
        check_standing(tier=tier, status=status)
    assert str(refused.value) == "A candidate is never active."
