"""When conflict cases open, grow, merge, close and open again."""

from itertools import permutations
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relationships.policy.conflicts import ConflictState, Course, Holder, Said, decide_cases, state_of
from relationships.vocabulary import ConflictEventKind as Kind
from relationships.vocabulary import ConflictReason as Reason
from relationships.vocabulary import ConflictStatus

OPEN, CLOSED = ConflictStatus.OPEN, ConflictStatus.CLOSED


def holder(group: str, *, since: int = 1) -> Holder:
    """Return a record that holds a meaning, of an owner of its own."""
    return Holder(uuid4(), uuid4(), group, since, since)


def case(*groups: str, status: ConflictStatus = OPEN, said: tuple[Said, ...] = (), version: int = 1) -> ConflictState:
    """Return a case whose positions came with its first version."""
    return ConflictState(uuid4(), status, version, None, dict.fromkeys(groups, 1), said)


def kinds(course: Course) -> list[Kind]:
    """Return what happens, in order."""
    return [step.kind for step in course.steps]


class TestOpening:
    def test_two_meanings_that_are_put_against_each_other_open_a_case(self) -> None:
        (course,) = decide_cases([], [("a", "b")], [holder("a"), holder("b")])

        assert course.case is None
        assert kinds(course) == [Kind.OPENED]
        assert course.steps[0].positions == ("a", "b")

    def test_a_case_that_one_position_alone_holds_is_closed_at_once(self) -> None:
        (course,) = decide_cases([], [("a", "b")], [holder("a")])

        assert kinds(course) == [Kind.OPENED, Kind.CLOSED]

    def test_what_is_known_already_changes_nothing(self) -> None:
        assert decide_cases([case("a", "b")], [("b", "a")], [holder("a"), holder("b")]) == []

    def test_conflicts_that_have_nothing_in_common_are_two(self) -> None:
        every = [holder(group) for group in "abcd"]

        assert len(decide_cases([], [("a", "b"), ("c", "d")], every)) == 2


class TestGrowing:
    def test_a_further_meaning_adds_a_position(self) -> None:
        known = case("a", "b")

        (course,) = decide_cases([known], [("c", "a")], [holder(group) for group in "abc"])

        assert course.case is known
        assert kinds(course) == [Kind.POSITION_ADDED]
        assert course.steps[0].positions == ("c",)

    def test_connected_cases_become_the_oldest_of_them(self) -> None:
        older, younger = case("a", "b"), case("c", "d")

        stays, goes = decide_cases([older, younger], [("b", "c")], [holder(group) for group in "abcd"])

        assert (stays.case, goes.case) == (older, younger)
        assert (kinds(stays), kinds(goes)) == ([Kind.MERGED], [Kind.MERGED])
        assert (stays.steps[0].positions, stays.steps[0].other_id) == (("c", "d"), younger.case_id)
        assert (goes.steps[0].status, goes.steps[0].other_id) == (CLOSED, older.case_id)
        assert (stays.steps[0].leaves, goes.steps[0].leaves) == (False, True)

    def test_a_closed_case_that_meets_an_open_one_opens_again(self) -> None:
        older, younger = case("a", "b", status=CLOSED), case("c", "d")

        stays, _ = decide_cases([older, younger], [("a", "c")], [holder(group) for group in "acd"])

        assert kinds(stays) == [Kind.MERGED, Kind.REOPENED]


class TestState:
    @pytest.mark.parametrize(
        ("held", "status", "reason"),
        [
            ("", CLOSED, Reason.ONE_LEFT),
            ("a", CLOSED, Reason.ONE_LEFT),
            ("aa", CLOSED, Reason.ONE_LEFT),
            ("az", CLOSED, Reason.ONE_LEFT),
            ("ab", OPEN, Reason.COMPETE),
            ("abc", OPEN, Reason.COMPETE),
        ],
    )
    def test_follows_how_many_positions_are_held(self, held: str, status: ConflictStatus, reason: Reason) -> None:
        assert state_of(dict.fromkeys("abc", 1), (), [holder(group) for group in held]) == (status, reason)

    def test_is_closed_when_every_holder_said_so_and_not_before(self) -> None:
        one, two, agrees = holder("a"), holder("b"), holder("b")
        said = [Said(h.relationship_id, h.active_since, 2 + n) for n, h in enumerate((one, two, agrees))]

        found = [state_of({"a": 1, "b": 1}, said[:n], [one, two, agrees]) for n in range(4)]

        assert found == [(OPEN, Reason.COMPETE)] * 3 + [(CLOSED, Reason.SETTLED)]

    @pytest.mark.parametrize(("since", "status"), [(3, CLOSED), (4, OPEN)])
    def test_what_was_said_of_a_record_ends_when_it_becomes_active_anew(
        self, since: int, status: ConflictStatus
    ) -> None:
        one, two = holder("a", since=since), holder("b")
        said = [Said(one.relationship_id, 3, 2), Said(two.relationship_id, 1, 3)]

        assert state_of({"a": 1, "b": 1}, said, [one, two])[0] is status

    @pytest.mark.parametrize(("held", "status"), [("abc", OPEN), ("ab", CLOSED)])
    def test_what_was_said_does_not_speak_of_a_position_that_came_later(
        self, held: str, status: ConflictStatus
    ) -> None:
        holders = [holder(group) for group in held]
        said = [Said(h.relationship_id, 1, 2) for h in holders]

        assert state_of({"a": 1, "b": 1, "c": 5}, said, holders)[0] is status

    def test_moves_by_one_event(self) -> None:
        known = case("a", "b")

        (course,) = decide_cases([known], [], [holder("a")])
        assert [(s.kind, s.status, s.reason) for s in course.steps] == [(Kind.CLOSED, CLOSED, Reason.ONE_LEFT)]
        closed = case("a", "b", status=CLOSED)
        (course,) = decide_cases([closed], [], [holder("a"), holder("b")])
        assert kinds(course) == [Kind.REOPENED]
        assert decide_cases([closed], [], [holder("b")]) == []


LINKS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")).filter(lambda link: link[0] != link[1]),
    min_size=1,
    max_size=5,
    unique_by=frozenset,
)


@given(LINKS)
def test_the_order_of_arrival_does_not_matter_for_the_positions(links: list[tuple[str, str]]) -> None:
    holders = [holder(group) for group in "abcdef"]

    found = {frozenset(frozenset(c.positions) for c in arrived(order, holders)) for order in permutations(links)}

    assert len(found) == 1
    assert found == {frozenset(frozenset(c.positions) for c in arrived_at_once(links, holders))}


def arrived_at_once(links: list[tuple[str, str]], holders: list[Holder]) -> list[ConflictState]:
    """Return the cases after links that came together."""
    return _after([], decide_cases([], links, holders))


def arrived(links: tuple[tuple[str, str], ...], holders: list[Holder]) -> list[ConflictState]:
    """Return the cases after links that came one by one."""
    cases: list[ConflictState] = []
    for link in links:
        cases = _after(cases, decide_cases([c for c in cases if set(link) & set(c.positions)], [link], holders))
    return cases


def _after(cases: list[ConflictState], courses: list[Course]) -> list[ConflictState]:
    """Return the cases as they stand after what happened; one that was merged is none any more."""
    known: dict[UUID, ConflictState] = {c.case_id: c for c in cases}
    for course in courses:
        before = course.case or ConflictState(uuid4(), OPEN, 0, None, {})
        positions = dict(before.positions)
        for number, step in enumerate(course.steps, start=before.version + 1):
            positions |= dict.fromkeys(step.positions, number)
        last = course.steps[-1]
        known[before.case_id] = ConflictState(
            before.case_id, last.status, before.version + len(course.steps), None, positions
        )
        if last.leaves:
            del known[before.case_id]
    return list(known.values())
