"""Which answers fit which question, and who may give them ("Client Review"; "Decisions", who decides, 22 and 24)."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from densemem.core.faults import Because, Refused
from review.vocabulary import DecisionAction as Action
from review.vocabulary import TaskKind

ACTIONS: Final[Mapping[TaskKind, frozenset[Action]]] = {
    TaskKind.IDENTITY: frozenset(
        {Action.SELECT_ENTITY, Action.CONFIRM_NEW_ENTITY, Action.CORRECT, Action.REJECT, Action.ACKNOWLEDGE}
    ),
    TaskKind.PREDICATE: frozenset({Action.SELECT_PREDICATE, Action.CORRECT, Action.REJECT, Action.ACKNOWLEDGE}),
    TaskKind.RELATIONSHIP: frozenset({Action.ACCEPT, Action.CORRECT, Action.REJECT, Action.ACKNOWLEDGE}),
    TaskKind.CORRECTION: frozenset({Action.ACCEPT, Action.CORRECT, Action.REJECT, Action.ACKNOWLEDGE}),
    TaskKind.POLICY: frozenset({Action.RELEASE, Action.REJECT, Action.ACKNOWLEDGE}),
}

UNASKED: Final = frozenset(Action).difference(*ACTIONS.values())  # decided without a question

REQUIRED: Final[Mapping[Action, frozenset[str]]] = {
    Action.ACKNOWLEDGE: frozenset(),
    Action.SELECT_ENTITY: frozenset({"item_version", "entity_ref", "candidate_entity_id"}),
    Action.CONFIRM_NEW_ENTITY: frozenset({"item_version", "entity_ref", "evidence"}),
    Action.SELECT_PREDICATE: frozenset({"item_version", "observation_id", "predicate_key", "predicate_version"}),
    Action.ACCEPT: frozenset({"item_version", "evidence"}),
    Action.CORRECT: frozenset({"item_version", "evidence"}),
    Action.REJECT: frozenset({"item_version", "message"}),
    Action.RELEASE: frozenset({"item_version", "message"}),
    Action.FORGET: frozenset({"message"}),
    Action.QUARANTINE: frozenset({"message"}),
    Action.INSPECT: frozenset({"message"}),
    Action.RETRY: frozenset({"message"}),
    Action.REGISTER: frozenset({"message"}),
    Action.RETIRE_PREDICATE: frozenset({"message"}),
    Action.ADOPT: frozenset({"fragment_id", "spans"}),
    Action.AMEND: frozenset({"message"}),
    Action.DISPUTE: frozenset({"message"}),
    Action.LIFT: frozenset({"message"}),
    Action.RETIRE: frozenset({"message"}),
    Action.REINSTATE: frozenset({"message"}),
    Action.REVERIFY: frozenset({"message"}),
    Action.NOT_COMPETING: frozenset({"message"}),
    Action.REDACT: frozenset({"message"}),
    Action.WITHDRAW: frozenset({"message"}),
    Action.REOPEN: frozenset({"message"}),
    Action.MERGE: frozenset({"message"}),
    Action.SPLIT: frozenset({"message"}),
    Action.DISTINCT: frozenset({"message"}),
    Action.WITHDRAW_IDENTITY: frozenset({"message"}),
    Action.RENAME: frozenset({"message"}),
}

COMPENSATION: Final[Mapping[Action, str | None]] = {
    Action.ACKNOWLEDGE: None,
    Action.SELECT_ENTITY: "withdraw",
    Action.CONFIRM_NEW_ENTITY: "withdraw",
    Action.SELECT_PREDICATE: "withdraw",
    Action.ACCEPT: "withdraw",
    Action.CORRECT: None,  # the text was read anew: what that says is forgotten or corrected by itself
    Action.REJECT: "reopen",
    Action.RELEASE: "quarantine",
    Action.QUARANTINE: "release_quarantine",
    Action.FORGET: "lift",
    Action.INSPECT: None,
    Action.RETRY: None,
    Action.REGISTER: "retire_predicate",
    Action.RETIRE_PREDICATE: "register_predicate",
    Action.ADOPT: "forget",
    Action.AMEND: "correct_relationship",
    Action.DISPUTE: "lift",
    Action.LIFT: "dispute",
    Action.RETIRE: None,  # for good: whoever still means it says it again
    Action.REINSTATE: "quarantine",
    Action.REVERIFY: None,
    Action.NOT_COMPETING: None,
    Action.REDACT: None,
    Action.WITHDRAW: None,  # the question is open again: it is answered anew
    Action.REOPEN: None,
    Action.MERGE: "withdraw_identity",
    Action.SPLIT: "withdraw_identity",
    Action.DISTINCT: "withdraw_identity",
    Action.WITHDRAW_IDENTITY: None,  # the same is decided anew, with its evidence
    Action.RENAME: "rename_entity",
}

OF_MANAGERS: Final = frozenset(
    {
        Action.RELEASE,
        Action.QUARANTINE,
        Action.INSPECT,
        Action.REGISTER,
        Action.RETIRE_PREDICATE,
        Action.REINSTATE,
        Action.REDACT,
    }
)


class Decider(Enum):
    """Who may take an action; a manager sees more and owns nothing more."""

    ANYBODY = "anybody of the team"
    OWNER = "the owner alone (a manager does not decide in the owner's place)"
    MANAGER = "a manager of the team"
    EITHER = "the owner or a manager of the team"


class ActionDoesNotFit(Refused):
    """This kind of question has no such answer."""

    code = "action_does_not_fit"
    because = Because.CONFLICT


class NotTheDecider(Refused):
    """The decision is somebody else's; the code names whose."""

    code = "not_owner"
    because = Because.FORBIDDEN


def check_action(*, kind: TaskKind, action: Action) -> None:
    """Refuse an answer that does not fit the question.

    :raises ActionDoesNotFit: it names the ones that do
    """
    if action not in ACTIONS[kind]:
        fitting = ", ".join(sorted(ACTIONS[kind]))
        raise ActionDoesNotFit(f"A task of the kind {kind} cannot be answered by {action}. Choose one of: {fitting}.")


def check_decider(*, action: Action, kind: TaskKind | None, is_owner: bool, is_manager: bool) -> None:
    """Refuse a caller whose decision it is not.

    :param kind: of the task that is answered; None when nothing was asked
    :raises NotTheDecider: `not_owner` or `not_manager`
    """
    decider = decider_of(action=action, kind=kind)
    if not _may(decider, is_owner=is_owner, is_manager=is_manager):
        code = "not_manager" if decider is Decider.MANAGER else "not_owner"
        raise NotTheDecider(f"The action {action} is taken by {decider.value}.", code=code)


def allowed_actions(*, kind: TaskKind, is_owner: bool, is_manager: bool) -> tuple[Action, ...]:
    """Return the answers that fit a question and that this caller may give, in the order of the vocabulary."""
    fitting = (a for a in Action if a in ACTIONS[kind])
    return tuple(a for a in fitting if _may(decider_of(action=a, kind=kind), is_owner=is_owner, is_manager=is_manager))


def decider_of(*, action: Action, kind: TaskKind | None) -> Decider:
    """Return who may take an action on a task of this kind; None is an action that nothing asked for."""
    if action in OF_MANAGERS:
        return Decider.MANAGER
    if action is Action.ADOPT:
        return Decider.ANYBODY
    if action is Action.RETRY:
        return Decider.EITHER
    if kind is not TaskKind.POLICY:
        return Decider.OWNER
    # To acknowledge a held text is to ask for its release, which everybody may.
    return Decider.ANYBODY if action is Action.ACKNOWLEDGE else Decider.MANAGER


def _may(decider: Decider, *, is_owner: bool, is_manager: bool) -> bool:
    match decider:
        case Decider.ANYBODY:
            return True
        case Decider.OWNER:
            return is_owner
        case Decider.MANAGER:
            return is_manager
        case Decider.EITHER:
            return is_owner or is_manager
