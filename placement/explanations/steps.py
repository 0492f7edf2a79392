"""Decisions about who is who, as a team may see them."""

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from entities.queries.explained import Cited, IdentityStep, shown_names
from entities.queries.explained import kinds_of as kinds_of_entities
from entities.vocabulary import EntityKind, IdentityKind
from placement.explanations.shapes import DecidedIdentity, IdentityGround, IdentityRole, NamedEntity
from relationships.search import Profile
from relationships.trace.evidence import withheld_among
from review.queries import Reasoned, reasons_of


def things(*, team_id: UUID, entity_ids: Collection[UUID]) -> dict[UUID, NamedEntity]:
    """Return these entities by name.

    :raises NotThere: the team does not have one of them
    """
    kinds: Mapping[UUID, EntityKind] = kinds_of_entities(team_id=team_id, entity_ids=entity_ids)
    names = shown_names(team_id=team_id, entity_ids=kinds)
    return {entity: NamedEntity(entity, names.get(entity), kind.value) for entity, kind in kinds.items()}


def told(*, team_id: UUID, steps: Iterable[IdentityStep]) -> list[DecidedIdentity]:
    """Return decisions with why they were made, in their order. A reason that rests on a withheld text is withheld."""
    steps = list(steps)
    reasons = reasons_of(team_id=team_id, decision_ids={step.recorded_by for step in steps})
    cited = {item.fragment_id for step in steps for item in step.basis}
    cited |= {fragment for reason in reasons.values() for fragment in reason.fragment_ids}
    hidden = withheld_among(team_id=team_id, fragment_ids=cited)
    return [_step(step, reasons[step.recorded_by], hidden) for step in steps]


def _step(step: IdentityStep, reason: Reasoned, hidden: Mapping[UUID, str]) -> DecidedIdentity:
    rests_on = sorted({item.fragment_id for item in step.basis} | reason.fragment_ids)
    withheld = next((hidden[fragment] for fragment in rests_on if fragment in hidden), None)
    return DecidedIdentity(
        identity_decision_id=step.id,
        kind=step.kind.value,
        author=Profile(step.author_id, step.author),
        reason=None if withheld else reason.message,
        withheld=withheld,
        members=tuple(IdentityRole(entity, role.value) for entity, role in sorted(step.members.items())),
        basis=tuple(_ground(item, hidden) for item in step.basis),
        of_decision_id=step.of_decision_id,
        stands=not step.withdrawn and step.kind is not IdentityKind.WITHDRAW,
        recorded_at=step.recorded_at,
    )


def _ground(item: Cited, hidden: Mapping[UUID, str]) -> IdentityGround:
    withheld = hidden.get(item.fragment_id)
    shown = item.scheme and not withheld
    return IdentityGround(
        entity_id=item.entity_id,
        kind=item.kind.value,
        identifier=f"{item.scheme}: {item.display}" if shown else None,
        fragment_id=item.fragment_id,
        start=item.start,
        end=item.end,
        withheld=withheld,
    )
