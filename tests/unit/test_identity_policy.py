"""What a decision about who is who may rest on, and which decisions are refused."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densemem.core import limits
from densemem.core.faults import Because
from entities.policy import CanonicalIdentifier
from entities.policy.identity import (
    ExplicitReport,
    HumanReview,
    IdentityFault,
    IdentityRefused,
    InsufficientIdentityEvidence,
    Made,
    SharedIdentifier,
    Standing,
    check_basis,
    check_distinct,
    check_members,
    check_split,
    check_withdrawal,
    path_of,
    survivor_of,
)
from entities.vocabulary import EntityKind, IdentityKind

A, B, C, D = (UUID(int=number) for number in range(1, 5))
DECISION, LATER = UUID(int=90), UUID(int=91)
PERSON, PLACE, OTHER = EntityKind.PERSON, EntityKind.PLACE, EntityKind.OTHER
PEOPLE = dict.fromkeys((A, B, C, D), PERSON)
NAMES = {A: ["Mara Lind", "ML"], B: ["M. Lind"], C: ["Mara Lind"]}
SPAN = (UUID(int=50), 0, 5)


def shared(*entities: UUID, bearers: int = 2) -> SharedIdentifier:
    return SharedIdentifier(CanonicalIdentifier("orcid", "0000-0002-1825-0097"), dict.fromkeys(entities, A), bearers)


def report(text: str) -> ExplicitReport:
    return ExplicitReport(*SPAN, text, text, NAMES)


def review(*named: UUID, reason: str = "Same badge.", spans: tuple = (SPAN,), by_token: bool = False) -> HumanReview:
    return HumanReview(frozenset(named), reason, spans, by_token)


class TestBasis:
    @pytest.mark.parametrize(
        ("item", "ties"),
        [
            (shared(A, B), True),
            (shared(A, C), False),
            (shared(A, B, bearers=limits.IDENTIFIER_HUB), True),
            (shared(A, B, bearers=limits.IDENTIFIER_HUB + 1), False),
            (report("Mara Lind signs as M. Lind."), True),
            (report("MARA  LIND signs as m. lind."), True),
            (report("ML is M. Lind"), True),
            (report("Mara Lind was here."), False),
            (report("HTML by M. Lind"), False),
            (report("M. Linder and ML"), False),
            (report("Mara Lind is not M. Lind."), False),
            (report("It is not true that ML is M. Lind."), False),
            (report("ML und M. Lind sind nicht dieselbe."), False),
            (ExplicitReport(*SPAN, "ML is M. Lind", "Nobody believes that ML is M. Lind.", NAMES), False),
            (review(A, B), True),
            (review(A, C), False),
            (review(A, B, reason="  "), False),
            (review(A, B, spans=()), False),
            (review(A, B, by_token=True), False),
        ],
    )
    def test_ties_two_entities_or_does_not(self, item: SharedIdentifier, ties: bool) -> None:
        assert item.ties(A, B) is item.ties(B, A) is ties
        if ties:
            assert check_basis(survivor=A, absorbed=[B], basis=[item]) == {B: (item,)}
        else:
            with pytest.raises(InsufficientIdentityEvidence):
                check_basis(survivor=A, absorbed=[B], basis=[item])

    def test_one_place_that_both_are_called_ties_nothing(self) -> None:
        assert not report("Mara Lind was here.").ties(A, C)
        assert report("Mara Lind is the Mara Lind of Harbor.").ties(A, C)

    def test_a_name_that_is_made_of_such_words_denies_nothing(self) -> None:
        names = {A: ["Dr. No"], B: ["Julius No"]}
        text = "Dr. No signs as Julius No."
        assert ExplicitReport(*SPAN, text, text, names).ties(A, B)
        assert not ExplicitReport(*SPAN, text, f"No, {text}", names).ties(A, B)

    def test_check_15_nothing_at_all_is_insufficient_however_alike(self) -> None:
        with pytest.raises(InsufficientIdentityEvidence) as refused:
            check_basis(survivor=A, absorbed=[B], basis=[])
        assert (refused.value.code, refused.value.because) == ("insufficient_identity_evidence", Because.INVALID)

    def test_is_not_passed_on_from_one_to_the_next(self) -> None:
        with pytest.raises(InsufficientIdentityEvidence) as refused:
            check_basis(survivor=A, absorbed=[B, C], basis=[shared(A, B), shared(B, C)])
        assert refused.value.missing == (C,)

    def test_is_sorted_to_whom_it_ties(self) -> None:
        both, one = review(A, B, C), shared(A, C)
        assert check_basis(survivor=A, absorbed=[B, C], basis=[one, both]) == {B: (both,), C: (one, both)}


class TestMembers:
    @pytest.mark.parametrize(
        ("survivor", "absorbed", "standing", "fault", "because"),
        [
            (A, [A], Standing(), IdentityFault.ITSELF, Because.INVALID),
            (A, [B, A], Standing(), IdentityFault.ITSELF, Because.INVALID),
            (A, [], Standing(), IdentityFault.TOO_FEW, Because.INVALID),
            (A, [B, B], Standing(), IdentityFault.TWICE, Because.INVALID),
            (A, [B], Standing({A: B}), IdentityFault.CYCLE, Because.CONFLICT),
            (A, [B], Standing({A: C, C: B}), IdentityFault.CYCLE, Because.CONFLICT),
            (A, [B], Standing({B: C}), IdentityFault.ABSORBED, Because.CONFLICT),
            (A, [B], Standing({A: C}), IdentityFault.ABSORBED, Because.CONFLICT),
            (A, [B], Standing(split=frozenset({B})), IdentityFault.SPLIT, Because.CONFLICT),
            (A, [B], Standing(split=frozenset({A})), IdentityFault.SPLIT, Because.CONFLICT),
            (A, [B], Standing(distinct={frozenset({A, B}): DECISION}), IdentityFault.DISTINCT, Because.CONFLICT),
            (A, [B, C], Standing(distinct={frozenset({B, C}): DECISION}), IdentityFault.DISTINCT, Because.CONFLICT),
            (A, [B], Standing({D: B}, distinct={frozenset({A, D}): DECISION}), IdentityFault.DISTINCT, Because.CONFLICT),
        ],
    )  # fmt: skip
    def test_are_refused_by_name(self, survivor, absorbed, standing, fault, because) -> None:
        with pytest.raises(IdentityRefused) as refused:
            check_members(survivor=survivor, absorbed=absorbed, kinds=PEOPLE, standing=standing)

        assert (refused.value.code, refused.value.because) == (fault.value, because)
        assert refused.value.decision_ids == ((DECISION,) if fault is IdentityFault.DISTINCT else ())

    @pytest.mark.parametrize(
        ("kinds", "fits"),
        [
            ((PERSON, PERSON, PERSON), True),
            ((PERSON, OTHER, PERSON), True),
            ((OTHER, OTHER, OTHER), True),
            ((PERSON, PLACE, PERSON), False),
            ((OTHER, PERSON, PLACE), False),
        ],
    )
    def test_are_of_one_kind_as_far_as_it_is_known(self, kinds: tuple[EntityKind, ...], fits: bool) -> None:
        given = dict(zip((A, B, C), kinds, strict=True))
        if fits:
            check_members(survivor=A, absorbed=[B, C], kinds=given, standing=Standing())
            return
        with pytest.raises(IdentityRefused) as refused:
            check_members(survivor=A, absorbed=[B, C], kinds=given, standing=Standing())
        assert refused.value.code == "kinds_differ"

    def test_may_stand_at_the_end_of_earlier_merges_and_beside_other_decisions(self) -> None:
        check_members(
            survivor=C,
            absorbed=[B],
            kinds=PEOPLE,
            standing=Standing({A: B}, split=frozenset({D}), distinct={frozenset({A, D}): DECISION}),
        )

    @pytest.mark.parametrize(("hops", "fits"), [(limits.REDIRECTS - 1, True), (limits.REDIRECTS, False)])
    def test_are_few_enough_hops_apart(self, hops: int, fits: bool) -> None:
        line = [UUID(int=1000 + number) for number in range(hops + 1)]
        redirects = dict(zip(line, line[1:], strict=False))
        given = {**dict.fromkeys(line, PERSON), A: PERSON}
        if fits:
            check_members(survivor=A, absorbed=[line[-1]], kinds=given, standing=Standing(redirects))
            return
        with pytest.raises(IdentityRefused) as refused:
            check_members(survivor=A, absorbed=[line[-1]], kinds=given, standing=Standing(redirects))
        assert refused.value.code == "too_many_hops"

    @given(st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), max_size=80))
    def test_never_make_a_circle_whatever_is_merged(self, merges: list[tuple[int, int]]) -> None:
        redirects: dict[UUID, UUID] = {}
        kinds = {UUID(int=number): PERSON for number in range(25)}
        for absorbed, survivor in merges:
            try:
                check_members(
                    survivor=UUID(int=survivor),
                    absorbed=[UUID(int=absorbed)],
                    kinds=kinds,
                    standing=Standing(redirects),
                )
            except IdentityRefused:
                continue
            redirects[UUID(int=absorbed)] = UUID(int=survivor)

        for entity in kinds:
            path = path_of(entity, redirects)
            assert path[-1] == survivor_of(entity, redirects) and path[-1] not in redirects
            assert len(path) - 1 <= limits.REDIRECTS


class TestDistinct:
    @pytest.mark.parametrize(
        ("one", "other", "standing", "fault"),
        [
            (A, A, Standing(), "member_listed_twice"),
            (A, B, Standing({A: B}), "treated_as_one"),
            (A, B, Standing({A: C, B: C}), "treated_as_one"),
            (A, B, Standing(distinct={frozenset({A, B}): DECISION}), "kept_distinct"),
            (A, B, Standing({C: A}, distinct={frozenset({C, B}): DECISION}), "kept_distinct"),
        ],
    )
    def test_is_refused_by_name(self, one: UUID, other: UUID, standing: Standing, fault: str) -> None:
        with pytest.raises(IdentityRefused) as refused:
            check_distinct(one=one, other=other, standing=standing)
        assert refused.value.code == fault

    def test_is_what_nothing_ties(self) -> None:
        check_distinct(one=A, other=B, standing=Standing({C: A}, distinct={frozenset({A, D}): DECISION}))


class TestSplit:
    @pytest.mark.parametrize(
        ("children", "fault", "because"),
        [
            ([], "child_without_observations", Because.INVALID),
            ([[]], "child_without_observations", Because.INVALID),
            ([[A], []], "child_without_observations", Because.INVALID),
            ([[A], [A]], "observation_listed_twice", Because.INVALID),
            ([[A, A]], "observation_listed_twice", Because.INVALID),
            ([[A], [D]], "observation_not_owned", Because.FORBIDDEN),
            ([[A, B, C]], "split_leaves_nothing", Because.INVALID),
        ],
    )
    def test_is_refused_by_name(self, children: list[list[UUID]], fault: str, because: Because) -> None:
        with pytest.raises(IdentityRefused) as refused:
            check_split(children=children, owned=[A, B, C])
        assert (refused.value.code, refused.value.because) == (fault, because)

    @pytest.mark.parametrize("children", [[[A]], [[A, B]], [[A], [B, C]], [[A], [B]]])
    def test_parts_something(self, children: list[list[UUID]]) -> None:
        check_split(children=children, owned=[A, B, C])


def made(number: UUID = DECISION, *members: UUID, seq: int = 1, **change: object) -> Made:
    fields = {"kind": IdentityKind.MERGE, "withdrawn": False, **change}
    return Made(id=number, seq=seq, members=frozenset(members), **fields)


class TestWithdrawal:
    def test_check_20_is_refused_while_a_later_decision_touches_a_member_and_names_it(self) -> None:
        first, second = made(DECISION, A, B), made(LATER, B, C, seq=2)

        with pytest.raises(IdentityRefused) as refused:
            check_withdrawal(first, others=[first, second])

        assert (refused.value.code, refused.value.decision_ids) == ("decision_superseded", (LATER,))
        assert str(LATER) in refused.value.detail
        assert check_withdrawal(second, others=[first, second]) is True

    @pytest.mark.parametrize(
        "later",
        [
            made(LATER, C, D, seq=2),
            made(LATER, A, C, seq=2, withdrawn=True),
            made(LATER, A, C, seq=2, kind=IdentityKind.WITHDRAW),
            made(LATER, A, C, seq=0),
        ],
        ids=["of others", "withdrawn", "a withdrawal", "earlier"],
    )
    def test_is_not_in_the_way_of(self, later: Made) -> None:
        assert check_withdrawal(made(DECISION, A, B), others=[later]) is True

    def test_is_not_repeated(self) -> None:
        others = [made(LATER, A, seq=2)]
        assert check_withdrawal(made(DECISION, A, B, withdrawn=True), others=others) is False

    def test_is_not_withdrawn_itself(self) -> None:
        with pytest.raises(IdentityRefused) as refused:
            check_withdrawal(made(kind=IdentityKind.WITHDRAW), others=[])
        assert refused.value.code == "withdrawal_not_withdrawable"
