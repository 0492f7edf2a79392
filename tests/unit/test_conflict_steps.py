"""What is written of a conflict case, step by step, and what its owners say of it."""

from dataclasses import replace
from uuid import UUID

from relationships.policy.conflicts import (
    CaseStep,
    ConflictState,
    Course,
    Holder,
    Said,
    decide_cases,
    decide_statement,
    have_said,
)
from relationships.vocabulary import ConflictEventKind as Kind
from relationships.vocabulary import ConflictReason as Reason
from relationships.vocabulary import ConflictStatus

OPEN, CLOSED = ConflictStatus.OPEN, ConflictStatus.CLOSED
A, B, C, D, E = (
    Holder(UUID(int=n), UUID(int=100 + n), group, version=6, active_since=4) for n, group in enumerate("abcde", 1)
)
OLDER = ConflictState(UUID(int=51), OPEN, 1, None, {"a": 1, "b": 1})
YOUNGER = ConflictState(UUID(int=52), OPEN, 1, None, {"c": 1, "d": 1})


def said(holder: Holder, *, of_version: int = 3) -> Said:
    """Return that the owner of a record said, at a version of the case, that nothing competes."""
    return Said(holder.relationship_id, holder.version, of_version)


class TestSteps:
    def test_of_an_opening(self) -> None:
        (course,) = decide_cases([], [("b", "a")], [A, B])

        assert course == Course(None, (CaseStep(Kind.OPENED, OPEN, Reason.COMPETE, ("a", "b")),))

    def test_of_an_opening_that_one_position_holds(self) -> None:
        (course,) = decide_cases([], [("b", "a")], [A])

        assert course.steps[1:] == (CaseStep(Kind.CLOSED, CLOSED, Reason.ONE_LEFT),)

    def test_of_a_case_that_takes_another_and_a_further_meaning(self) -> None:
        stays, goes = decide_cases([OLDER, YOUNGER], [("b", "c"), ("d", "e")], [A, B, C, D, E])

        assert stays == Course(
            OLDER,
            (
                CaseStep(Kind.MERGED, OPEN, Reason.MERGED, ("c", "d"), YOUNGER.case_id),
                CaseStep(Kind.POSITION_ADDED, OPEN, Reason.COMPETE, ("e",)),
            ),
        )
        assert goes == Course(YOUNGER, (CaseStep(Kind.MERGED, CLOSED, Reason.MERGED, other_id=OLDER.case_id),))

    def test_of_two_meanings_that_come_at_once(self) -> None:
        (course,) = decide_cases([OLDER], [("b", "d"), ("b", "c")], [A, B, C, D])

        assert [step.positions for step in course.steps] == [("c",), ("d",)]

    def test_of_a_closed_case_are_closed_until_it_opens(self) -> None:
        closed = replace(OLDER, status=CLOSED)

        (course,) = decide_cases([closed], [("b", "c")], [B, C])

        assert course.steps == (
            CaseStep(Kind.POSITION_ADDED, CLOSED, Reason.COMPETE, ("c",)),
            CaseStep(Kind.REOPENED, OPEN, Reason.COMPETE),
        )

    def test_of_several_cases_come_in_the_order_of_their_meanings(self) -> None:
        every = decide_cases([], [("e", "d"), ("c", "a")], [A, C, D, E])

        assert [course.steps[0].positions for course in every] == [("a", "c"), ("d", "e")]

    def test_leave_a_case_alone_that_nothing_happens_to(self) -> None:
        (course,) = decide_cases([OLDER, YOUNGER], [("a", "e")], [A, B, C, D, E])

        assert course.case is OLDER


class TestSettled:
    """Both owners said it at version 3 of the case; a position that comes now is of version 4."""

    SETTLED = replace(OLDER, status=CLOSED, version=3, said=(said(A), said(B)))

    def test_stays_closed_while_nothing_new_is_held(self) -> None:
        assert decide_cases([self.SETTLED], [], [A, B]) == []

    def test_opens_by_a_position_that_comes_later(self) -> None:
        third = replace(self.SETTLED, said=(said(A), said(B), said(C)))

        (course,) = decide_cases([third], [("a", "c")], [A, B, C])

        assert [step.kind for step in course.steps] == [Kind.POSITION_ADDED, Kind.REOPENED]

    def test_stays_closed_by_a_position_that_nobody_holds(self) -> None:
        (course,) = decide_cases([self.SETTLED], [("a", "c")], [A, B])

        assert [step.kind for step in course.steps] == [Kind.POSITION_ADDED]


class TestStatement:
    def test_of_the_first_owner_changes_nothing_more(self) -> None:
        course = decide_statement(OLDER, [A], [A, B])

        assert course == Course(OLDER, (CaseStep(Kind.STATEMENT, OPEN, Reason.SAID),))

    def test_of_the_last_owner_closes_the_case(self) -> None:
        waiting = replace(OLDER, version=3, said=(said(A),))

        course = decide_statement(waiting, [B], [A, B])

        assert course == Course(
            waiting,
            (CaseStep(Kind.STATEMENT, OPEN, Reason.SAID), CaseStep(Kind.CLOSED, CLOSED, Reason.SETTLED)),
        )

    def test_speaks_of_the_position_that_came_last(self) -> None:
        waiting = replace(OLDER, version=5, positions={"a": 1, "b": 5}, said=(said(A, of_version=6),))

        assert decide_statement(waiting, [B], [A, B]).steps[-1].kind is Kind.CLOSED

    def test_speaks_for_every_record_of_its_owner(self) -> None:
        assert decide_statement(OLDER, [A, B], [A, B]).steps[-1].kind is Kind.CLOSED


class TestHaveSaid:
    def test_is_so_when_every_record_of_the_owner_is_covered(self) -> None:
        case = replace(OLDER, version=3, said=(said(A),))

        assert have_said(case, [A], [A, B])
        assert not have_said(case, [B], [A, B])
        assert not have_said(case, [A, B], [A, B])

    def test_ends_by_a_position_that_came_later_and_is_held(self) -> None:
        case = replace(OLDER, positions={"a": 1, "b": 1, "c": 3}, said=(said(A),))

        assert have_said(case, [A], [A, B])
        assert not have_said(case, [A], [A, B, C])

    def test_ends_when_the_record_becomes_active_anew(self) -> None:
        case = replace(OLDER, said=(said(A),))

        assert have_said(case, [replace(A, active_since=6)], [A, B])
        assert not have_said(case, [replace(A, active_since=7, version=7)], [A, B])
