"""What becomes of a mention."""

from itertools import permutations
from uuid import UUID

import pytest

from densemem.core import limits
from entities.policy import (
    Candidate,
    CandidateNotOffered,
    CandidatesMoved,
    MentionDecision,
    Newcomer,
    decide_choice,
    decide_creation,
    decide_mention,
    settle_group,
)
from entities.vocabulary import CandidateReason, EntityKind, ResolutionAction

REUSE, CREATE, AMBIGUOUS = ResolutionAction
PERSON, PRODUCT = EntityKind.PERSON, EntityKind.PRODUCT
A, B, C = (UUID(int=number) for number in (1, 2, 3))
EXACT_A, EXACT_B = Candidate(A, PERSON, CandidateReason.EXACT), Candidate(B, PERSON, CandidateReason.ALIAS)
HINT_A = Candidate(A, PERSON, CandidateReason.HINT)
NEAR_A, NEAR_B = Candidate(A, PERSON, CandidateReason.NICKNAME), Candidate(B, PERSON, CandidateReason.TOKENS)
NOT_A = Candidate(A, PERSON, CandidateReason.EXACT, differs=True)
PRODUCT_A = Candidate(A, PRODUCT, CandidateReason.EXACT)
PROPOSING = [r for r in CandidateReason if r not in ("exact_key", "alias", "client_hint", "shared_identifier")]


class TestDecideMention:
    @pytest.mark.parametrize(
        ("action", "chosen", "candidates", "expected", "reason"),
        [
            (CREATE, None, [], CREATE, "no_candidate"),
            (REUSE, A, [EXACT_A], REUSE, "evidence_names_candidate"),
            (REUSE, A, [HINT_A], REUSE, "evidence_names_candidate"),
            (REUSE, A, [HINT_A, NEAR_B], REUSE, "evidence_names_candidate"),
            (REUSE, A, [NEAR_A], AMBIGUOUS, "only_proposed"),
            (REUSE, B, [EXACT_A, NEAR_B], AMBIGUOUS, "only_proposed"),
            (AMBIGUOUS, None, [EXACT_A, EXACT_B], AMBIGUOUS, "not_told_apart"),
            (REUSE, B, [EXACT_A, EXACT_B], REUSE, "evidence_names_candidate"),
            (CREATE, None, [EXACT_A], AMBIGUOUS, "create_beside_exact_match"),
            (CREATE, None, [EXACT_A, EXACT_A], AMBIGUOUS, "create_beside_exact_match"),
            (CREATE, None, [EXACT_A, NEAR_B], AMBIGUOUS, "create_beside_exact_match"),
            (CREATE, None, [PRODUCT_A], CREATE, "told_apart"),
            (CREATE, None, [NEAR_A], CREATE, "told_apart"),
            (CREATE, None, [EXACT_A, EXACT_B], CREATE, "told_apart"),
            (AMBIGUOUS, None, [], AMBIGUOUS, "not_told_apart"),
            (REUSE, A, [NOT_A], AMBIGUOUS, "identifiers_differ"),
            (REUSE, B, [NOT_A, EXACT_B], REUSE, "evidence_names_candidate"),
            (CREATE, None, [NOT_A], AMBIGUOUS, "create_beside_exact_match"),
        ],
    )
    def test_follows_the_table(self, action, chosen, candidates, expected, reason):
        decided = decide_mention(action=action, candidate_id=chosen, candidates=candidates, kind=PERSON)

        assert (decided.action, decided.reason) == (expected, reason)
        assert decided.entity_id == (chosen if expected is REUSE else None)

    @pytest.mark.parametrize("reason", PROPOSING)
    def test_never_lets_an_answer_reuse_what_is_only_proposed(self, reason):
        decided = decide_mention(
            action=REUSE, candidate_id=A, candidates=[Candidate(A, PERSON, reason)], kind=PERSON, bearers=0
        )

        assert decided == MentionDecision(AMBIGUOUS, None, "only_proposed")

    @pytest.mark.parametrize(("action", "chosen"), [(REUSE, A), (CREATE, None), (AMBIGUOUS, None)])
    def test_leaves_a_name_open_that_more_bear_than_are_offered(self, action, chosen):
        given = {"action": action, "candidate_id": chosen, "candidates": [EXACT_A, EXACT_B], "kind": PERSON}

        over, within = (decide_mention(**given, bearers=limits.CANDIDATES + more) for more in (1, 0))

        assert over == MentionDecision(AMBIGUOUS, None, "too_many_candidates")
        assert within.action is action

    @pytest.mark.parametrize(
        ("action", "chosen"), [(REUSE, None), (REUSE, C), (CREATE, A), (CREATE, C), (AMBIGUOUS, A)]
    )
    def test_refuses_a_choice_beyond_the_candidates(self, action, chosen):
        with pytest.raises(CandidateNotOffered) as refused:
            decide_mention(action=action, candidate_id=chosen, candidates=[EXACT_A, EXACT_B], kind=PERSON)
        assert str(refused.value.detail).endswith(".")


class TestDecideChoice:
    @pytest.mark.parametrize(
        ("chosen", "action", "reason"), [(A, REUSE, "selected_by_owner"), (None, CREATE, "confirmed_new_by_owner")]
    )
    def test_lets_a_person_decide_whatever_bears_the_name(self, chosen, action, reason):
        assert decide_choice(chosen) == MentionDecision(action, chosen, reason)


def answers(text: str) -> list[MentionDecision]:
    """Read one letter for each mention: c creates, a and b reuse, ? is ambiguous."""
    reused = {"a": A, "b": B}
    actions = {"c": CREATE, "?": AMBIGUOUS}
    return [MentionDecision(actions.get(letter, REUSE), reused.get(letter), "given") for letter in text]


class TestSettleGroup:
    @pytest.mark.parametrize(
        ("given", "settled"),
        [
            ("c", "c"),
            ("cc", "cc"),
            ("aa", "aa"),
            ("ab", "ab"),
            ("??", "??"),
            ("ca", "?a"),
            ("c?", "??"),
            ("a?", "a?"),
            ("cab?", "?ab?"),
        ],
    )
    def test_follows_the_table(self, given, settled):
        outcome = settle_group(answers(given))

        assert {d.reason for d, was in zip(outcome, answers(given), strict=True) if d != was} <= {"answers_differ"}
        wanted = [(answer.action, answer.entity_id) for answer in answers(settled)]
        assert [(decision.action, decision.entity_id) for decision in outcome] == wanted

    def test_does_not_depend_on_the_order(self):
        outcomes = {frozenset(settle_group(order)) for order in permutations(answers("ca?"))}

        assert len(outcomes) == 1


class TestDecideCreation:
    def test_creates_while_nobody_else_did(self):
        assert decide_creation([]) == MentionDecision(CREATE, None, "still_new")

    def test_reuses_what_its_own_ingest_made(self):
        decided = decide_creation([Newcomer(A, same_ingest=True)])

        assert decided == MentionDecision(REUSE, A, "made_by_same_ingest")

    @pytest.mark.parametrize(
        "newcomers",
        [
            [Newcomer(A, same_ingest=False)],
            [Newcomer(A, same_ingest=True), Newcomer(B, same_ingest=False)],
            [Newcomer(A, same_ingest=True), Newcomer(B, same_ingest=True)],
        ],
    )
    def test_goes_back_when_somebody_else_made_one(self, newcomers):
        with pytest.raises(CandidatesMoved) as refused:
            decide_creation(newcomers)
        assert str(refused.value.detail).endswith(".")
