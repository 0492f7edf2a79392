"""Why a mention means what it does."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from densemem.auth import Principal
from densemem.core.words import Scope
from entities.queries import candidates_of
from entities.queries.explained import MentionStep, identity_steps_by_id, mention_steps
from evidence.queries import wordings_of
from evidence.vocabulary import WordingKind
from placement.explanations.shapes import (
    DecidedIdentity,
    LaterAttribution,
    MentionExplained,
    NamedEntity,
    OfferedEntity,
)
from placement.explanations.steps import things, told
from relationships.search import Profile
from relationships.trace.evidence import withheld_among
from relationships.trace.judgments import confidence_word


def explain_mention(*, principal: Principal, event_id: UUID) -> MentionExplained:
    """
    Return what was offered for a mention, what was decided and why, and what later decisions made of it.

    :raises ScopeMissing: without `read`
    :raises NotThere: no such event in the team
    """
    principal.require(Scope.READ)
    team_id = principal.team_id
    first, *later = mention_steps(team_id=team_id, event_id=event_id)
    withheld = withheld_among(team_id=team_id, fragment_ids=[first.fragment_id]).get(first.fragment_id)
    named = _named(team_id, [first, *later])
    decided = {step.identity_decision_id: step for step in _decisions(team_id, later)}
    return MentionExplained(
        resolution_event_id=first.id,
        owner=Profile(first.owner_id, first.owner),
        fragment_id=first.fragment_id,
        start=first.start,
        end=first.end,
        kind=first.kind.value,
        surface=None if withheld else _words(team_id, first.id, WordingKind.SURFACE),
        withheld=withheld,
        offered=() if withheld else _offered(team_id, first.id),
        rationale=None if withheld else _words(team_id, first.id, WordingKind.RATIONALE),
        confidence=confidence_word(first.confidence),
        action=first.action,
        reason=first.reason,
        entity=None if withheld or first.entity_id is None else named[first.entity_id],
        recorded_at=first.recorded_at,
        later=() if withheld else tuple(_attributed(step, named, decided) for step in later),
    )


def _named(team_id: UUID, steps: Sequence[MentionStep]) -> dict[UUID, NamedEntity]:
    return things(team_id=team_id, entity_ids={step.entity_id for step in steps if step.entity_id})


def _decisions(team_id: UUID, steps: Sequence[MentionStep]) -> list[DecidedIdentity]:
    wanted = {step.identity_decision_id for step in steps if step.identity_decision_id}
    return told(team_id=team_id, steps=identity_steps_by_id(team_id=team_id, decision_ids=wanted))


def _words(team_id: UUID, event_id: UUID, kind: WordingKind) -> str | None:
    return wordings_of(team_id=team_id, rows=[event_id], kind=kind).get(event_id)


def _offered(team_id: UUID, event_id: UUID) -> tuple[OfferedEntity, ...]:
    views = candidates_of(team_id=team_id, event_ids=[event_id])[event_id]
    named = things(team_id=team_id, entity_ids={view.entity_id for view in views})
    return tuple(OfferedEntity(v.entity_id, named[v.entity_id].name, v.kind.value, v.reason) for v in views)


def _attributed(
    step: MentionStep, named: Mapping[UUID, NamedEntity], decided: Mapping[UUID, DecidedIdentity]
) -> LaterAttribution:
    return LaterAttribution(
        resolution_event_id=step.id,
        action=step.action,
        reason=step.reason,
        entity=named[step.entity_id] if step.entity_id else None,
        identity=decided.get(step.identity_decision_id) if step.identity_decision_id else None,
        recorded_at=step.recorded_at,
    )
