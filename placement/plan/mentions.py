"""Who is who: the decisions about mentions, and the names that come with them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final
from uuid import UUID

import regex

from densemem.core.ids import derived_id
from densemem.core.names import NameRefused, lookup_key
from entities.plan import NewEntity, NewIdentifier, NewName, NewResolution
from entities.policy import MentionDecision, Newcomer, decide_choice, decide_creation, decide_mention, settle_group
from entities.vocabulary import EntityKind, NameKind, ResolutionAction
from placement.contract import Mention
from placement.plan.given import Given
from placement.plan.identifiers import new_identifiers

Group = tuple[str, EntityKind]
FOUR_PLACES: Final = Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class MentionsDecided:
    """What is written about identity; `entity_of` gives the Entity of each settled mention."""

    entities: tuple[NewEntity, ...]
    names: tuple[NewName, ...]
    identifiers: tuple[NewIdentifier, ...]
    resolutions: tuple[NewResolution, ...]
    entity_of: Mapping[str, UUID]
    resolution_of: Mapping[str, NewResolution]


def wanted_names(given: Given) -> set[Group]:
    """Return the (key, kind) of every Entity that the item would create."""
    decided = _settled(given)
    return {
        _group(given, mention)
        for mention in given.extraction.mentions
        if mention.ref in decided and decided[mention.ref].action is ResolutionAction.CREATE
    }


def decide_mentions(given: Given, newcomers: Mapping[Group, list[Newcomer]]) -> MentionsDecided:
    """Decide every mention of the item.

    :param newcomers: by (key, kind), entities that appeared since the candidates were read, under the lock on the key
    :raises CandidatesMoved: the item must go back to the candidate stage
    """
    decided = _settled(given)
    entity_of: dict[str, UUID] = {}
    entities: dict[UUID, NewEntity] = {}
    resolutions = []
    for mention in given.extraction.mentions:
        known = given.bound.settled.get(mention.ref)
        if known is not None:
            entity_of[mention.ref] = known
            continue
        decision = decided[mention.ref]
        group = _group(given, mention)
        if decision.action is ResolutionAction.CREATE and mention.ref not in given.bound.chosen:
            decision = decide_creation(newcomers.get(group, []))
        entity = decision.entity_id
        if decision.action is ResolutionAction.CREATE:
            entity = derived_id("entity", given.seed, given.item_id, given.cycle, *group)
            entities[entity] = NewEntity(entity, mention.kind, _context(given, mention))
        if entity is not None:
            entity_of[mention.ref] = entity
        resolutions.append(_resolution(given, mention, decision, entity))
    names = tuple(_names(given, entity_of, entities))
    by_ref = {r.mention_ref: r for r in resolutions}
    identifiers = new_identifiers(given, entity_of)
    return MentionsDecided(tuple(entities.values()), names, identifiers, tuple(resolutions), entity_of, by_ref)


def _settled(given: Given) -> dict[str, MentionDecision]:
    """Decide each mention that is not settled yet alone, then the mentions of one name and kind together."""
    groups: dict[Group, list[Mention]] = {}
    for mention in given.extraction.mentions:
        if mention.ref not in given.bound.settled:
            groups.setdefault(_group(given, mention), []).append(mention)
    settled: dict[str, MentionDecision] = {}
    for mentions in groups.values():
        answers = settle_group([_decide(given, mention) for mention in mentions])
        settled.update(zip((m.ref for m in mentions), answers, strict=True))
    return settled


def _decide(given: Given, mention: Mention) -> MentionDecision:
    """Let the owner's choice stand; without one, judge the verifier's answer. One from an earlier cycle stays open."""
    if mention.ref in given.bound.chosen:
        return decide_choice(given.bound.chosen[mention.ref])
    if given.verified:
        return MentionDecision(ResolutionAction.AMBIGUOUS, None, "still_open")
    answer = given.verification.entities[mention.ref]
    return decide_mention(
        action=answer.action,
        candidate_id=UUID(answer.candidate_id) if answer.candidate_id else None,
        candidates=given.candidates.get(mention.ref, ()),
        kind=mention.kind,
        bearers=given.bearers.get(mention.ref, 0),
    )


def _group(given: Given, mention: Mention) -> Group:
    return given.keys[mention.ref], mention.kind


def _resolution(given: Given, mention: Mention, decision: MentionDecision, entity: UUID | None) -> NewResolution:
    chosen = mention.ref in given.bound.chosen
    sure = Decimal(1) if chosen else given.verification.entities[mention.ref].confidence
    return NewResolution(
        id=derived_id("resolution", given.seed, given.item_id, given.cycle, mention.ref),
        mention_ref=mention.ref,
        kind=mention.kind,
        start=mention.start,
        end=mention.end,
        action=decision.action,
        entity_id=entity,
        confidence=sure.quantize(FOUR_PLACES),
        reason=decision.reason,
        candidates=given.candidates.get(mention.ref, ()),
        bearers=given.bearers.get(mention.ref, 0),
    )


def _names(given: Given, entity_of: Mapping[str, UUID], created: Mapping[UUID, NewEntity]) -> Iterator[NewName]:
    """Yield the canonical name of each new Entity, the surface of each choice, and aliases that the text contains."""
    named: set[UUID] = set()
    for mention in given.extraction.mentions:
        entity = entity_of.get(mention.ref)
        if entity is not None and entity in created and entity not in named:
            named.add(entity)
            key = given.keys[mention.ref]
            yield NewName(entity, NameKind.CANONICAL, mention.surface, key, mention.start, mention.end)
    yield from _chosen_names(given)
    for row in given.proposal.get("entities", []):
        bearer = _bearer(given, entity_of, row["name"])
        if bearer is not None:
            spoken_of = {key for ref, key in given.keys.items() if entity_of.get(ref) != bearer}
            yield from (a for a in _aliases(given, bearer, row.get("aliases", [])) if a.key not in spoken_of)


def _chosen_names(given: Given) -> Iterator[NewName]:
    """Yield what the text calls each Entity that the owner chose, so that its name is known from then on."""
    for mention in given.extraction.mentions:
        entity = given.bound.chosen.get(mention.ref)
        bears = any(c.exact and c.entity_id == entity for c in given.candidates.get(mention.ref, ()))
        if entity is not None and not bears:
            key = given.keys[mention.ref]
            yield NewName(entity, NameKind.ALIAS, mention.surface, key, mention.start, mention.end)


def _aliases(given: Given, bearer: UUID, aliases: list[str]) -> Iterator[NewName]:
    """Keep an alias only where it stands literally: it is metadata with a span, never a guess."""
    for alias in aliases:
        start = _stands_at(given.text, alias)
        if start is not None:
            yield NewName(bearer, NameKind.ALIAS, alias, lookup_key(alias), start, start + len(alias))


def _stands_at(text: str, words: str) -> int | None:
    """Return where these words stand in a text as words of their own, or None."""
    found = regex.search(rf"(?<!\p{{Latin}}|\p{{N}}){regex.escape(words)}(?!\p{{Latin}}|\p{{N}})", text)
    return found.start() if found else None


def _bearer(given: Given, entity_of: Mapping[str, UUID], name: str) -> UUID | None:
    """Return the one Entity that the mentions of this name were settled to, or None when it is open."""
    try:
        key = lookup_key(name)
    except NameRefused:
        return None
    found = {entity_of.get(m.ref) for m in given.extraction.mentions if given.keys[m.ref] == key}
    return found.pop() if len(found) == 1 else None


def _context(given: Given, mention: Mention) -> dict[str, str]:
    """Return the identity context that the client gives for this name."""
    for row in given.proposal.get("entities", []):
        if lookup_key(row["name"]) == given.keys[mention.ref]:
            return dict(row.get("identity_context", {}))
    return {}
