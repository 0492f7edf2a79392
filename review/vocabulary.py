"""The closed words of review."""

from enum import StrEnum


class TaskKind(StrEnum):
    """What a person is asked to settle."""

    IDENTITY = "identity_needs_review"
    PREDICATE = "predicate_needs_review"
    RELATIONSHIP = "relationship_needs_review"
    CORRECTION = "correction_needs_review"
    POLICY = "policy_needs_review"


class TaskStatus(StrEnum):
    """How far a task is."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"
    CANCELED = "canceled"


UNSETTLED = (TaskStatus.OPEN, TaskStatus.ACKNOWLEDGED)


class DecisionAction(StrEnum):
    """What a person may decide: the nine answers to a question, and what a manager or owner does unasked."""

    ACKNOWLEDGE = "acknowledge"
    SELECT_ENTITY = "select_entity"
    CONFIRM_NEW_ENTITY = "confirm_new_entity"
    SELECT_PREDICATE = "select_predicate"
    ACCEPT = "accept"
    CORRECT = "correct"
    REJECT = "reject"
    RELEASE = "release_quarantine"
    FORGET = "forget"
    QUARANTINE = "quarantine"
    INSPECT = "inspect"
    RETRY = "retry"
    REGISTER = "register_predicate"
    RETIRE_PREDICATE = "retire_predicate"
    ADOPT = "adopt_evidence"
    AMEND = "correct_relationship"
    DISPUTE = "dispute"
    LIFT = "lift"
    RETIRE = "retire_evidence"
    REINSTATE = "reinstate_support"
    REVERIFY = "verify_again"
    NOT_COMPETING = "do_not_compete"
    REDACT = "redact"
    WITHDRAW = "withdraw"
    REOPEN = "reopen"
    MERGE = "merge_entities"
    SPLIT = "split_entity"
    DISTINCT = "keep_distinct"
    WITHDRAW_IDENTITY = "withdraw_identity"
    RENAME = "rename_entity"
