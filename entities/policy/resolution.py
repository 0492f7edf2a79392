"""What becomes of a mention: reuse, create or ambiguous ("Entity Identity And Resolution").

Nothing here matches names or compares meanings. The candidates and the verifier's answer are given; this decides
whether the answer may stand. What is only like the name is proposed and never decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from densemem.core import limits
from densemem.core.faults import Because, Refused
from entities.vocabulary import CandidateReason, EntityKind, ResolutionAction


class CandidateNotOffered(Refused):
    """An answer chose an Entity that was not among the candidates, or named one where none belongs."""

    code = "candidate_not_offered"


class CandidatesMoved(Refused):
    """Somebody else made an Entity of that name meanwhile: the mention must be looked at again, at no cost."""

    code = "candidates_moved"
    because = Because.CONFLICT


@dataclass(frozen=True, slots=True)
class Candidate:
    """
    An Entity offered for a mention, and why.

    :param differs: the text gives the mention another value of an identifier of which one thing has only one
    """

    entity_id: UUID
    kind: EntityKind
    reason: CandidateReason
    differs: bool = False

    @property
    def exact(self) -> bool:
        """Whether one of its names has the very lookup key of the mention."""
        return self.reason in BEARING


@dataclass(frozen=True, slots=True)
class MentionDecision:
    """What was decided about one mention; only `reuse` names an Entity."""

    action: ResolutionAction
    entity_id: UUID | None
    reason: str


@dataclass(frozen=True, slots=True)
class Newcomer:
    """An Entity of the same key and kind that was not among the candidates; whether the same ingest made it."""

    entity_id: UUID
    same_ingest: bool


BEARING: Final = frozenset({CandidateReason.EXACT, CandidateReason.ALIAS})
DECIDING: Final = BEARING | {
    CandidateReason.HINT,
    CandidateReason.IDENTIFIER,
}  # what an answer may reuse without a person
CREATE: Final = ResolutionAction.CREATE
REUSE: Final = ResolutionAction.REUSE
AMBIGUOUS: Final = ResolutionAction.AMBIGUOUS
ONLY_PROPOSED: Final = MentionDecision(AMBIGUOUS, None, "only_proposed")


def decide_mention(
    *,
    action: ResolutionAction,
    candidate_id: UUID | None,
    candidates: Sequence[Candidate],
    kind: EntityKind,
    bearers: int = 0,
) -> MentionDecision:
    """
    Decide whether the verifier's answer for one mention may stand.

    :param candidates: those that were offered to the verifier, and no others
    :param bearers: how many Entities of its kind bear the name, offered or not
    :raises CandidateNotOffered: a reuse without an offered id, or an id beside create or ambiguous
    """
    _check_choice(action, candidate_id, candidates)
    if bearers > limits.CANDIDATES:  # nobody chose among all of them
        return MentionDecision(AMBIGUOUS, None, "too_many_candidates")
    if action is AMBIGUOUS:
        return MentionDecision(AMBIGUOUS, None, "not_told_apart")
    if action is REUSE:
        if any(c.differs for c in candidates if c.entity_id == candidate_id):
            return MentionDecision(AMBIGUOUS, None, "identifiers_differ")
        sure = any(c.entity_id == candidate_id and c.reason in DECIDING for c in candidates)
        return MentionDecision(REUSE, candidate_id, "evidence_names_candidate") if sure else ONLY_PROPOSED
    if _same_name_and_kind(candidates, kind) == 1:
        return MentionDecision(AMBIGUOUS, None, "create_beside_exact_match")
    return MentionDecision(CREATE, None, "told_apart" if candidates else "no_candidate")


def decide_choice(entity_id: UUID | None) -> MentionDecision:
    """Let a person's choice stand: an Entity, or None for one that is new whatever bears its name."""
    if entity_id is None:
        return MentionDecision(CREATE, None, "confirmed_new_by_owner")
    return MentionDecision(REUSE, entity_id, "selected_by_owner")


def settle_group(decisions: Sequence[MentionDecision]) -> tuple[MentionDecision, ...]:
    """
    Settle the mentions of one ingest that share key and kind, in their order.

    All that create make one Entity together. A reuse stands for itself. A create beside any other answer is open.
    """
    if len({decision.action for decision in decisions}) <= 1:
        return tuple(decisions)
    return tuple(_open_if_create(decision) for decision in decisions)


def decide_creation(newcomers: Sequence[Newcomer]) -> MentionDecision:
    """
    Decide again at commit, under the lock on the name, whether a mention still creates.

    :raises CandidatesMoved: another ingest made an Entity of that name, or several are new
    """
    if not newcomers:
        return MentionDecision(CREATE, None, "still_new")
    if len(newcomers) > 1 or not newcomers[0].same_ingest:
        raise CandidatesMoved("Another Entity of this name is new; the mention is looked at again.")
    return MentionDecision(REUSE, newcomers[0].entity_id, "made_by_same_ingest")


def _check_choice(action: ResolutionAction, candidate_id: UUID | None, candidates: Sequence[Candidate]) -> None:
    """Refuse an answer that reaches beyond its candidates."""
    offered = {candidate.entity_id for candidate in candidates}
    if action is REUSE and candidate_id not in offered:
        raise CandidateNotOffered("Reuse must name one of the candidates of this mention.")
    if action is not REUSE and candidate_id is not None:
        raise CandidateNotOffered("Only reuse names a candidate.")


def _same_name_and_kind(candidates: Sequence[Candidate], kind: EntityKind) -> int:
    """Count the Entities that bear exactly this name and are of this kind."""
    return len({candidate.entity_id for candidate in candidates if candidate.exact and candidate.kind is kind})


def _open_if_create(decision: MentionDecision) -> MentionDecision:
    """Hold a create that other mentions of the same name speak against."""
    return MentionDecision(AMBIGUOUS, None, "answers_differ") if decision.action is CREATE else decision
