"""Which answers fit which question, and who may give them."""

import itertools

import pytest

from densemem.core.faults import Because, Refused
from review.policy import ACTIONS, COMPENSATION, REQUIRED, allowed_actions, check_action, check_decider
from review.vocabulary import DecisionAction, TaskKind

FITTING = {
    "identity_needs_review": "select_entity confirm_new_entity correct reject acknowledge",
    "predicate_needs_review": "select_predicate correct reject acknowledge",
    "relationship_needs_review": "accept correct reject acknowledge",
    "correction_needs_review": "accept correct reject acknowledge",
    "policy_needs_review": "release_quarantine reject acknowledge",
}
FIELDS = {
    "acknowledge": "",
    "select_entity": "item_version entity_ref candidate_entity_id",
    "confirm_new_entity": "item_version entity_ref evidence",
    "select_predicate": "item_version observation_id predicate_key predicate_version",
    "accept": "item_version evidence",
    "correct": "item_version evidence",
    "reject": "item_version message",
    "release_quarantine": "item_version message",
    "forget": "message",
    "quarantine": "message",
    "inspect": "message",
    "retry": "message",
    "register_predicate": "message",
    "retire_predicate": "message",
    "adopt_evidence": "fragment_id spans",
    "correct_relationship": "message",
    "dispute": "message",
    "lift": "message",
    "retire_evidence": "message",
    "reinstate_support": "message",
    "verify_again": "message",
    "do_not_compete": "message",
    "redact": "message",
    "withdraw": "message",
    "reopen": "message",
    "merge_entities": "message",
    "split_entity": "message",
    "keep_distinct": "message",
    "withdraw_identity": "message",
    "rename_entity": "message",
}
TAKEN_BACK = {
    "acknowledge": None,
    "select_entity": "withdraw",
    "confirm_new_entity": "withdraw",
    "select_predicate": "withdraw",
    "accept": "withdraw",
    "correct": None,
    "reject": "reopen",
    "release_quarantine": "quarantine",
    "quarantine": "release_quarantine",
    "forget": "lift",
    "inspect": None,
    "retry": None,
    "register_predicate": "retire_predicate",
    "retire_predicate": "register_predicate",
    "adopt_evidence": "forget",
    "correct_relationship": "correct_relationship",
    "dispute": "lift",
    "lift": "dispute",
    "retire_evidence": None,
    "reinstate_support": "quarantine",
    "verify_again": None,
    "do_not_compete": None,
    "redact": None,
    "withdraw": None,
    "reopen": None,
    "merge_entities": "withdraw_identity",
    "split_entity": "withdraw_identity",
    "keep_distinct": "withdraw_identity",
    "withdraw_identity": None,
    "rename_entity": "rename_entity",
}
# (action, kind of the task or None) -> may the owner, a manager, somebody else of the team.
DECIDERS = [
    ("select_entity", "identity_needs_review", True, False, False),
    ("acknowledge", "identity_needs_review", True, False, False),
    ("select_predicate", "predicate_needs_review", True, False, False),
    ("accept", "relationship_needs_review", True, False, False),
    ("reject", "relationship_needs_review", True, False, False),
    ("correct", "correction_needs_review", True, False, False),
    ("release_quarantine", "policy_needs_review", False, True, False),
    ("reject", "policy_needs_review", False, True, False),
    ("acknowledge", "policy_needs_review", True, True, True),
    ("forget", None, True, False, False),
    ("quarantine", None, False, True, False),
    ("inspect", None, False, True, False),
    ("retry", None, True, True, False),
    ("register_predicate", None, False, True, False),
    ("retire_predicate", None, False, True, False),
    ("adopt_evidence", None, True, True, True),
    ("correct_relationship", None, True, False, False),
    ("dispute", None, True, False, False),
    ("lift", None, True, False, False),
    ("retire_evidence", None, True, False, False),
    ("reinstate_support", None, False, True, False),
    ("verify_again", None, True, False, False),
    ("do_not_compete", None, True, False, False),
    ("redact", None, False, True, False),
]


def refused(*, action: str, kind: str | None, is_owner: bool, is_manager: bool) -> Refused | None:
    """Return how a caller is refused, None when it is not."""
    try:
        check_decider(
            action=DecisionAction(action),
            kind=TaskKind(kind) if kind else None,
            is_owner=is_owner,
            is_manager=is_manager,
        )
    except Refused as found:
        return found
    return None


class TestActions:
    def test_follow_the_table(self) -> None:
        assert {kind.value: set(actions) for kind, actions in ACTIONS.items()} == {
            kind: set(words.split()) for kind, words in FITTING.items()
        }

    @pytest.mark.parametrize(("kind", "action"), list(itertools.product(TaskKind, DecisionAction)))
    def test_that_do_not_fit_are_refused_and_those_that_do_are_named(
        self, kind: TaskKind, action: DecisionAction
    ) -> None:
        if action in FITTING[kind].split():
            check_action(kind=kind, action=action)
            return
        with pytest.raises(Refused) as caught:
            check_action(kind=kind, action=action)
        assert (caught.value.code, caught.value.because) == ("action_does_not_fit", Because.CONFLICT)
        assert ", ".join(sorted(FITTING[kind].split())) in caught.value.detail


class TestRequired:
    def test_names_the_fields_of_every_action(self) -> None:
        assert {action.value: set(names) for action, names in REQUIRED.items()} == {
            action: set(words.split()) for action, words in FIELDS.items()
        }
        assert set(REQUIRED) == set(DecisionAction)


class TestCompensation:
    def test_of_every_action_is_known(self) -> None:
        assert {action.value: back for action, back in COMPENSATION.items()} == TAKEN_BACK
        assert set(COMPENSATION) == set(DecisionAction)


class TestDecider:
    @pytest.mark.parametrize(("action", "kind", "owner", "manager", "member"), DECIDERS)
    def test_is_whom_the_rule_names(
        self, action: str, kind: str | None, owner: bool, manager: bool, member: bool
    ) -> None:
        may = [
            refused(action=action, kind=kind, is_owner=is_owner, is_manager=is_manager) is None
            for is_owner, is_manager in [(True, False), (False, True), (False, False)]
        ]

        assert may == [owner, manager, member]

    @pytest.mark.parametrize(("action", "kind", "owner", "manager", "member"), DECIDERS)
    def test_who_is_refused_is_told_by_which_rule(
        self, action: str, kind: str | None, owner: bool, manager: bool, member: bool
    ) -> None:
        found = refused(action=action, kind=kind, is_owner=False, is_manager=False)

        if member:
            assert found is None
            return
        assert found is not None
        assert found.because is Because.FORBIDDEN
        assert found.code == ("not_manager" if manager and not owner else "not_owner")
        assert action in found.detail

    def test_a_manager_does_not_decide_in_the_place_of_an_owner(self) -> None:
        found = refused(action="accept", kind="relationship_needs_review", is_owner=False, is_manager=True)

        assert found is not None and found.code == "not_owner"


class TestAllowedActions:
    @pytest.mark.parametrize("kind", TaskKind)
    @pytest.mark.parametrize(("is_owner", "is_manager"), list(itertools.product([True, False], repeat=2)))
    def test_are_exactly_those_that_fit_and_are_not_refused(
        self, kind: TaskKind, is_owner: bool, is_manager: bool
    ) -> None:
        allowed = allowed_actions(kind=kind, is_owner=is_owner, is_manager=is_manager)

        assert set(allowed) == {
            action
            for action in ACTIONS[kind]
            if refused(action=action, kind=kind, is_owner=is_owner, is_manager=is_manager) is None
        }

    def test_of_a_stranger_are_none_but_to_ask_for_a_release(self) -> None:
        kinds = [k for k in TaskKind if allowed_actions(kind=k, is_owner=False, is_manager=False)]

        assert kinds == [TaskKind.POLICY]
