"""Tier, status, legal steps and comparing: one row for each line of the page's tables."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from uuid import UUID

import pytest

from relationships.identity import Identity
from relationships.policy import (
    STEPS,
    Action,
    Case,
    Position,
    Standing,
    StepRefused,
    check_standing,
    check_step,
    compare,
    cross_reference,
    decide_standing,
    effective_at,
    from_support,
    outcome_of,
    reevaluate,
)
from relationships.vocabulary import (
    Cardinality,
    CrossReferenceKind,
    LineageKind,
    Modality,
    Outcome,
    Polarity,
    RelationshipKind,
    Status,
    Tier,
    Verdict,
)

ENTAILED, CONTRADICTED, INSUFFICIENT = Verdict
CANDIDATE, CLAIM, FACT = Tier
HELD = [status for status in Status if status not in (Status.ACTIVE, Status.PENDING)]


def case(verdict: Verdict = ENTAILED, groups: int = 1, **more: object) -> Case:
    """Return a case, by default the first entailed statement from one source."""
    return Case(verdict=verdict, source_groups=groups, **more)


class TestDecideStanding:
    @pytest.mark.parametrize(
        ("given", "tier", "status", "grants", "task"),
        [
            (case(CONTRADICTED, 0), CANDIDATE, Status.REJECTED, False, False),
            (case(CONTRADICTED, 9, authoritative=True), CANDIDATE, Status.REJECTED, False, False),
            (case(INSUFFICIENT, 0), CANDIDATE, Status.PENDING, False, False),
            (case(INSUFFICIENT, 9, authoritative=True), CANDIDATE, Status.PENDING, False, False),
            (case(ambiguous=True), CANDIDATE, Status.REVIEW, False, True),
            (case(conflict=True), CANDIDATE, Status.REVIEW, False, True),
            (case(self_relation=True), CANDIDATE, Status.REVIEW, False, True),
            (case(signalled=True), CANDIDATE, Status.REVIEW, False, True),
            (case(groups=9, authoritative=True, ambiguous=True), CANDIDATE, Status.REVIEW, False, True),
            (case(), CLAIM, Status.ACTIVE, True, False),
            (case(groups=2), FACT, Status.ACTIVE, True, False),
            (case(authoritative=True), FACT, Status.ACTIVE, True, False),
            (case(ambiguous=True, released=True), CLAIM, Status.ACTIVE, True, False),
        ],
    )
    def test_follows_the_flow_chart_for_a_new_record(self, given, tier, status, grants, task):
        standing = decide_standing(given)

        assert (standing.tier, standing.status, standing.grants, standing.task) == (tier, status, grants, task)

    @pytest.mark.parametrize("modality", [modality for modality in Modality if modality is not Modality.STATEMENT])
    def test_lets_only_statements_become_active(self, modality):
        standing = decide_standing(case(groups=9, authoritative=True, modality=modality))

        assert (standing.tier, standing.status, standing.grants) == (CANDIDATE, Status.PENDING, False)

    @pytest.mark.parametrize("groups", [1, 2])
    def test_promotes_what_was_pending(self, groups):
        standing = decide_standing(case(groups=groups, tier=CANDIDATE, status=Status.PENDING))

        assert standing.status is Status.ACTIVE

    def test_promotes_a_claim_by_a_second_group(self):
        standing = decide_standing(case(groups=2, tier=CLAIM, status=Status.ACTIVE))

        assert (standing.tier, standing.reason) == (FACT, "independent_sources")

    @pytest.mark.parametrize(
        ("more", "task"),
        [
            ({"verdict": CONTRADICTED}, False),
            ({"verdict": INSUFFICIENT}, False),
            ({"modality": Modality.QUESTION}, False),
            ({"signalled": True}, True),
            ({"ambiguous": True}, True),
        ],
    )
    def test_takes_nothing_from_an_active_record_by_an_observation_that_fails(self, more, task):
        standing = decide_standing(case(**more, groups=2, tier=FACT, status=Status.ACTIVE))

        assert (standing.tier, standing.status, standing.grants, standing.task) == (FACT, Status.ACTIVE, False, task)

    @pytest.mark.parametrize(
        ("status", "by_person", "new_group", "task"),
        [
            (Status.RETRACTED, True, True, True),
            (Status.RETRACTED, True, False, False),
            (Status.RETRACTED, False, True, True),
            (Status.DISPUTED, True, True, True),
            (Status.REJECTED, True, True, True),
            (Status.REJECTED, True, False, False),
            (Status.REVIEW, False, True, True),
            (Status.REVIEW, False, False, True),
            (Status.SUPERSEDED, False, True, False),
        ],
    )
    def test_keeps_a_hold_and_attaches_the_support(self, status, by_person, new_group, task):
        standing = decide_standing(
            case(
                groups=9,
                authoritative=True,
                tier=CANDIDATE,
                status=status,
                held_by_person=by_person,
                new_group=new_group,
            )
        )

        assert (standing.tier, standing.status, standing.grants, standing.task) == (CANDIDATE, status, True, task)

    @pytest.mark.parametrize("status", HELD)
    @pytest.mark.parametrize("verdict", [CONTRADICTED, INSUFFICIENT])
    def test_never_lifts_a_hold_without_entailed_evidence(self, status, verdict):
        standing = decide_standing(case(verdict, 9, tier=CLAIM, status=status, restated=True))

        assert (standing.tier, standing.status, standing.grants, standing.task) == (CLAIM, status, False, False)

    @pytest.mark.parametrize(
        ("more", "status"),
        [
            ({"status": Status.REJECTED}, Status.ACTIVE),
            ({"status": Status.REJECTED, "conflict": True}, Status.REVIEW),
            ({"status": Status.REJECTED, "held_by_person": True}, Status.REJECTED),
            ({"status": Status.QUARANTINED}, Status.ACTIVE),
            ({"status": Status.SUPERSEDED, "restated": True}, Status.ACTIVE),
            ({"status": Status.RETRACTED, "restated": True}, Status.RETRACTED),
            ({"status": Status.RETRACTED, "held_by_person": True, "released": True}, Status.ACTIVE),
            ({"status": Status.REVIEW, "ambiguous": True, "released": True}, Status.ACTIVE),
            ({"status": Status.REVIEW, "conflict": True, "released": True}, Status.REVIEW),
            ({"status": Status.RETRACTED, "conflict": True, "released": True}, Status.REVIEW),
        ],
    )
    def test_judges_again_what_no_person_holds(self, more, status):
        assert decide_standing(case(tier=CANDIDATE, **more)).status is status

    @pytest.mark.parametrize(("status", "task"), [(Status.REVIEW, True), (Status.RETRACTED, False)])
    def test_asks_about_an_unclear_observation_of_a_record_in_review(self, status, task):
        standing = decide_standing(case(signalled=True, new_group=True, tier=CANDIDATE, status=status))

        assert (standing.status, standing.grants, standing.task) == (status, False, task)

    def test_never_makes_a_candidate_active_nor_an_illegal_step(self):
        flags = [
            {},
            {"ambiguous": True},
            {"conflict": True},
            {"released": True},
            {"restated": True},
            {"new_group": True},
        ]
        states = [
            (tier, status) for tier, status in product(Tier, Status) if (tier, status) != (CANDIDATE, Status.ACTIVE)
        ]
        for verdict, modality, groups, flag, (tier, status), person in product(
            Verdict, Modality, (0, 1, 2), flags, states, (True, False)
        ):
            given = case(verdict, groups, modality=modality, tier=tier, status=status, held_by_person=person, **flag)
            standing = decide_standing(given)

            check_standing(tier=standing.tier, status=standing.status)
            if not given.released:
                check_step(before=status, after=standing.status)


class TestReevaluate:
    @pytest.mark.parametrize("status", [Status.ACTIVE, Status.PENDING])
    @pytest.mark.parametrize(
        ("groups", "authoritative", "tier", "after"),
        [
            (1, True, FACT, Status.ACTIVE),
            (2, False, FACT, Status.ACTIVE),
            (1, False, CLAIM, Status.ACTIVE),
            (0, False, CANDIDATE, Status.PENDING),
            (0, True, CANDIDATE, Status.PENDING),
        ],
    )
    def test_follows_the_table(self, status, groups, authoritative, tier, after):
        before = FACT if status is Status.ACTIVE else CANDIDATE
        standing = reevaluate(tier=before, status=status, groups=groups, authoritative=authoritative)

        assert (standing.tier, standing.status) == (tier, after)

    @pytest.mark.parametrize("status", HELD)
    @pytest.mark.parametrize("groups", [0, 1, 9])
    def test_clears_no_hold(self, status, groups):
        standing = reevaluate(tier=CLAIM, status=status, groups=groups, authoritative=True)

        assert (standing.tier, standing.status) == (CLAIM, status)

    def test_gives_a_lifted_record_what_its_support_is_worth(self):
        assert from_support(groups=1, authoritative=False).tier is CLAIM


class TestOutcomeOf:
    @pytest.mark.parametrize(
        ("tier", "status", "outcome"),
        [
            (FACT, Status.ACTIVE, Outcome.FACT),
            (CLAIM, Status.ACTIVE, Outcome.CLAIM),
            (CANDIDATE, Status.PENDING, Outcome.PENDING),
            (CANDIDATE, Status.REJECTED, Outcome.REJECTED),
            (CANDIDATE, Status.REVIEW, Outcome.REVIEW),
            (FACT, Status.RETRACTED, Outcome.REVIEW),
            (FACT, Status.SUPERSEDED, Outcome.REVIEW),
            (FACT, Status.DISPUTED, Outcome.REVIEW),
            (FACT, Status.QUARANTINED, Outcome.REVIEW),
        ],
    )
    def test_uses_the_public_words(self, tier, status, outcome):
        assert outcome_of(Standing(tier, status, "given")) is outcome


class TestSteps:
    def test_has_a_row_for_every_status(self):
        assert set(STEPS) == set(Status)

    @pytest.mark.parametrize("status", list(Status))
    def test_allows_to_stay_and_leaves_a_way_out(self, status):
        check_step(before=status, after=status)
        assert STEPS[status] - {status}

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (Status.RETRACTED, Status.REJECTED),
            (Status.RETRACTED, Status.SUPERSEDED),
            (Status.REJECTED, Status.SUPERSEDED),
            (Status.SUPERSEDED, Status.REJECTED),
            (Status.ACTIVE, Status.REJECTED),
        ],
    )
    def test_refuses_every_other_step(self, before, after):
        with pytest.raises(StepRefused):
            check_step(before=before, after=after)

    def test_refuses_an_active_candidate(self):
        with pytest.raises(StepRefused) as refused:
            check_standing(tier=CANDIDATE, status=Status.ACTIVE)

        assert refused.value.code == "candidate_is_never_active"


TEAM, ADA, BO, ATLAS, PG, MY, OTHER = (UUID(int=number) for number in range(1, 8))


def day(number: int) -> datetime:
    """Return a day of one month."""
    return datetime(2026, 3, number, tzinfo=UTC)


def position(object_id: UUID, sequence: int, **more: object) -> Position:
    """Return Ada's claim of one current database, seen and recorded on the day of its sequence."""
    identity = Identity(TEAM, ADA, ATLAS, "primary_database", object_id, None, Polarity.PLUS)
    about = {name: more.pop(name) for name in tuple(more) if name in Identity.__dataclass_fields__}
    base = Position(
        identity=replace(identity, **about),
        tier=CLAIM,
        kind=RelationshipKind.STATE,
        cardinality=Cardinality.ONE,
        observed_at=day(sequence),
        recorded_at=day(sequence),
        sequence=sequence,
    )
    return replace(base, **more)


OLD = position(PG, 2)
DATED = position(PG, 2, valid_from=day(10))
DENIED = Polarity.MINUS
STAGING = "environment=staging"


class TestCompare:
    @pytest.mark.parametrize(
        ("new", "old", "action", "reason"),
        [
            (position(MY, 3), OLD, Action.SUPERSEDE, "newer"),
            (position(MY, 3, tier=FACT), OLD, Action.SUPERSEDE, "newer"),
            (position(MY, 3), replace(OLD, tier=FACT), Action.HOLD, "weaker_tier"),
            (position(MY, 1), OLD, Action.HOLD, "not_newer"),
            # The effective time is the start, else the sight, else the recording.
            (position(MY, 3, valid_from=day(1)), OLD, Action.HOLD, "not_newer"),
            (position(MY, 3, valid_from=day(9)), OLD, Action.SUPERSEDE, "newer"),
            (position(MY, 3, observed_at=day(1)), OLD, Action.HOLD, "not_newer"),
            (position(MY, 3, observed_at=None), OLD, Action.SUPERSEDE, "newer"),
            # Equal starts: sight, then the order of recording.
            (position(MY, 3, valid_from=day(10)), DATED, Action.SUPERSEDE, "newer"),
            (position(MY, 3, valid_from=day(10), observed_at=day(1)), DATED, Action.HOLD, "not_newer"),
            (position(MY, 3, valid_from=day(10), observed_at=day(2)), DATED, Action.SUPERSEDE, "newer"),
            (position(MY, 1, valid_from=day(10), observed_at=day(2)), DATED, Action.HOLD, "not_newer"),
            # Not comparable: any one of the conditions is missing.
            (position(MY, 3, subject_id=OTHER), OLD, Action.COEXIST, "not_comparable"),
            (position(MY, 3, predicate_key="uses"), OLD, Action.COEXIST, "not_comparable"),
            (position(MY, 3, scope_key=STAGING), OLD, Action.COEXIST, "not_comparable"),
            (position(MY, 3, polarity=DENIED), OLD, Action.COEXIST, "not_comparable"),
            (position(MY, 3), position(PG, 2, polarity=DENIED), Action.COEXIST, "not_comparable"),
            (position(MY, 3, polarity=DENIED), position(PG, 2, polarity=DENIED), Action.COEXIST, "not_comparable"),
            (position(MY, 3, kind=RelationshipKind.EVENT), OLD, Action.COEXIST, "not_comparable"),
            (position(MY, 3), replace(OLD, cardinality=Cardinality.MANY), Action.COEXIST, "not_comparable"),
            (position(MY, 3, valid_from=day(9)), position(PG, 2, valid_to=day(9)), Action.COEXIST, "not_comparable"),
            (position(PG, 3, valid_from=day(9)), OLD, Action.COEXIST, "not_comparable"),
            (position(PG, 3), OLD, Action.COEXIST, "same_record"),
            (position(MY, 3, owner_id=BO), OLD, Action.COEXIST, "other_owner"),
            # Yes against no, whatever the times, the kind and the cardinality.
            (position(PG, 3, polarity=DENIED), OLD, Action.HOLD, "opposite_polarity"),
            (position(PG, 3), position(PG, 2, polarity=DENIED), Action.HOLD, "opposite_polarity"),
            (
                position(PG, 3, polarity=DENIED, kind=RelationshipKind.EVENT),
                replace(OLD, kind=RelationshipKind.EVENT, cardinality=Cardinality.MANY),
                Action.HOLD,
                "opposite_polarity",
            ),
            (
                position(PG, 3, polarity=DENIED, valid_from=day(9)),
                position(PG, 2, valid_to=day(9)),
                Action.COEXIST,
                "not_comparable",
            ),
            (position(PG, 3, polarity=DENIED, scope_key=STAGING), OLD, Action.COEXIST, "not_comparable"),
        ],
    )
    def test_follows_the_table(self, new, old, action, reason):
        answer = compare(new, old)

        assert (answer.action, answer.reason) == (action, reason)
        assert (answer.lineage is LineageKind.REPLACED) is (action is Action.SUPERSEDE)

    @pytest.mark.parametrize(
        ("new", "old", "action", "reason"),
        [
            (position(PG, 3, valid_to=day(9)), OLD, Action.SUPERSEDE, "period_closed"),
            (
                position(PG, 3, valid_to=day(9), polarity=DENIED),
                position(PG, 2, polarity=DENIED),
                Action.SUPERSEDE,
                "period_closed",
            ),
            (position(PG, 3, valid_from=day(1), valid_to=day(9)), OLD, Action.SUPERSEDE, "period_closed"),
            (position(PG, 3, valid_from=day(10), valid_to=day(12)), DATED, Action.SUPERSEDE, "period_closed"),
            (position(PG, 3, valid_to=day(9)), replace(OLD, tier=FACT), Action.HOLD, "weaker_tier"),
            (position(PG, 3, valid_from=day(9), valid_to=day(12)), DATED, Action.COEXIST, "not_comparable"),
            (position(PG, 3, valid_to=day(12)), DATED, Action.COEXIST, "not_comparable"),
            (position(PG, 3, valid_to=day(9)), position(PG, 2, valid_to=day(8)), Action.COEXIST, "not_comparable"),
            (position(PG, 3, valid_to=day(9), scope_key=STAGING), OLD, Action.COEXIST, "not_comparable"),
            (position(PG, 3, valid_to=day(9), kind=RelationshipKind.EVENT), OLD, Action.COEXIST, "not_comparable"),
            (position(PG, 3, valid_to=day(9), owner_id=BO), OLD, Action.COEXIST, "other_owner"),
        ],
    )
    def test_closes_an_open_period(self, new, old, action, reason):
        answer = compare(new, old)

        assert (answer.action, answer.reason) == (action, reason)
        assert (answer.lineage is LineageKind.CLOSED) is (action is Action.SUPERSEDE)

    @pytest.mark.parametrize(
        ("new", "old"),
        [
            (position(MY, 1), OLD),
            (position(MY, 3), replace(OLD, tier=FACT)),
            (position(PG, 3, polarity=DENIED), OLD),
            (position(MY, 3, subject_id=OTHER), OLD),
            (position(MY, 3), replace(OLD, cardinality=Cardinality.MANY)),
        ],
    )
    def test_supersedes_the_correction_target_whatever_the_times(self, new, old):
        answer = compare(new, old, corrects=True)

        assert (answer.action, answer.lineage) == (Action.SUPERSEDE, LineageKind.CORRECTED)

    @pytest.mark.parametrize(
        ("new", "reason"), [(position(PG, 3), "same_record"), (position(MY, 3, owner_id=BO), "other_owner")]
    )
    def test_corrects_neither_itself_nor_another_owner(self, new, reason):
        answer = compare(new, OLD, corrects=True)

        assert (answer.action, answer.reason) == (Action.COEXIST, reason)


class TestEffectiveAt:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (position(PG, 2, valid_from=day(10)), day(10)),
            (position(PG, 2, observed_at=day(5)), day(5)),
            (position(PG, 2, observed_at=None), day(2)),
        ],
    )
    def test_is_the_start_else_the_sight_else_the_recording(self, given, expected):
        assert effective_at(given) == expected


class TestCrossReference:
    @pytest.mark.parametrize(
        ("new", "corrects", "expected"),
        [
            (position(PG, 3, owner_id=BO), False, CrossReferenceKind.CONFIRMS),
            (position(PG, 3, owner_id=BO), True, CrossReferenceKind.CONFIRMS),
            (position(MY, 3, owner_id=BO), False, CrossReferenceKind.CHALLENGES),
            (position(MY, 1, owner_id=BO), False, CrossReferenceKind.CHALLENGES),
            (position(MY, 3, owner_id=BO), True, CrossReferenceKind.CORRECTS),
            (position(PG, 3, owner_id=BO, polarity=DENIED), False, CrossReferenceKind.CHALLENGES),
            (position(MY, 3, owner_id=BO, subject_id=OTHER), True, CrossReferenceKind.CORRECTS),
            (position(MY, 3, owner_id=BO, scope_key=STAGING), False, None),
            (position(MY, 3, owner_id=BO, cardinality=Cardinality.MANY), False, None),
            (position(PG, 3, owner_id=BO, valid_from=day(9)), False, None),
            (position(MY, 3), False, None),
            (position(PG, 3, owner_id=BO, team_id=OTHER), False, None),
            (position(MY, 3, owner_id=BO, team_id=OTHER), True, None),
        ],
    )
    def test_follows_the_table(self, new, corrects, expected):
        assert cross_reference(new, OLD, corrects=corrects) is expected
