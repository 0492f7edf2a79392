"""The one transaction that makes an item's outcome true ("Memory Write Pipeline", stage 9).

Lock, check, decide, append, update: the lease first, then the source, then names and records, always in this order.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction

from densemem.db.insert import together
from densemem.db.keyed import seed_of
from densemem.db.locks import lock, share, share_both
from entities.operations import append_resolutions, create_entities, lock_names, store_identifiers, store_values
from entities.plan import Origin as IdentityOrigin
from entities.policy import CandidatesMoved
from entities.queries import active_kinds, newcomers, spent_ids
from entities.stored import seen_by
from evidence.operations import Copied, copy_words
from evidence.queries import FragmentView, joins_of, standing_now, standing_of
from evidence.vocabulary import WordingKind
from placement.contract import Extraction, Verification
from placement.offers import Offer, behaviours_of
from placement.operations import CallReport, Claim, finish, hold, keep_verification, report_calls
from placement.plan import (
    Bound,
    Given,
    KnowledgeDecided,
    MentionsDecided,
    Target,
    decide_knowledge,
    decide_mentions,
    ready,
    wanted_names,
)
from placement.reentry import chosen_entities
from relationships.operations import hold_cases_of, lock_cases, refresh_documents, settling, write_knowledge
from relationships.plan import Origin as KnowledgeOrigin
from relationships.policy import StoredRecord
from relationships.queries import corrections_of, registry, stored_records
from relationships.vocabulary import LineageKind, Status
from review.operations import NewTask
from review.vocabulary import TaskKind


@dataclass(frozen=True, slots=True)
class Judged:
    """An accepted verifier answer, and who gave it; a kept one has been recorded with its giver before."""

    verification: Verification
    model: str
    response_hash: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """Both answers about one fragment, accepted whole, with the context in which they were given.

    :param extracted: the cycle of the extraction
    :param verified: by draft ref, the earlier cycle in which it was judged; empty when it was judged just now
    :param redactions: of the team, when the first of it was read
    :param calls: what it took to get them
    """

    fragment: FragmentView
    extraction: Extraction
    extracted: int
    statements: int | None
    judged: Judged
    verified: Mapping[str, int]
    bound: Bound
    offer: Offer
    proposal: Mapping[str, Any]
    signals: tuple[tuple[int, int], ...]
    redactions: int
    calls: Sequence[CallReport] = ()


@transaction.atomic
def commit(claim: Claim, accepted: Accepted) -> bool:
    """Write everything that follows from the accepted answers; False when the evidence is no longer current.

    :raises LeaseLost: the item is not ours any more
    :raises CandidatesMoved: meanwhile an Entity of the name appeared, a wording was registered or words were redacted
    """
    row = hold(claim)
    team, fragment = claim.team_id, accepted.fragment
    standing = standing_of(team_id=team, fragment_id=fragment.id, lock=fragment.source_id is not None)
    if not standing.current or standing.held:
        return False
    share_both(("groups", team), ("identity", team, claim.owner_id))
    given = _given(claim, accepted)
    mentions = _decide_mentions(given, accepted.offer)
    found = _decide_knowledge(given, mentions, redactions=accepted.redactions)
    if found is None:
        return False
    given, decided = found
    _check_registry(accepted.offer, decided, team_id=team)
    _write(claim, accepted, given, mentions, decided)
    tasks = [
        NewTask(h.kind, h.subject, h.reason, h.observation_id, h.resolution_id, h.relationship_id, h.rival_id)
        for h in decided.held
    ]
    with together():
        finish(row, tasks=tasks, now=given.now)
        report_calls(claim, accepted.calls, now=given.now)
    return True


def _given(claim: Claim, accepted: Accepted) -> Given:
    fragment = accepted.fragment
    accepted = replace(accepted, bound=_as_meant_now(claim, accepted))
    named = chosen_entities(accepted.bound)
    kinds = active_kinds(team_id=claim.team_id, entity_ids=named) if named else {}
    return Given(
        team_id=claim.team_id,
        seed=seed_of(claim.team_id),
        owner_id=claim.owner_id,
        ingest_id=claim.ingest_id,
        item_id=claim.item_id,
        cycle=claim.cycle,
        extracted=accepted.extracted,
        fragment_id=fragment.id,
        group_id=fragment.group_id,
        authoritative=fragment.authoritative,
        observed_at=fragment.observed_at,
        now=fragment.observed_at,  # until the moment of the commit is taken, under all its locks
        text=fragment.text,
        extraction=accepted.extraction,
        verification=accepted.judged.verification,
        candidates=accepted.offer.allowed(),
        bearers=accepted.offer.bearers,
        keys=accepted.offer.keys,
        identifiers=accepted.offer.identifiers,
        behaviours=accepted.offer.behaviours,
        proposal=accepted.proposal,
        signals=accepted.signals,
        verified=accepted.verified,
        statements=accepted.statements,
        accepts=accepted.offer.accepts,
        kinds=kinds,
        bound=_still_there(accepted.bound, named - kinds.keys()),
        adopted=fragment.owner_id != claim.owner_id,
    )


def _as_meant_now(claim: Claim, accepted: Accepted) -> Bound:
    """Return what binds with each Entity that the owner takes for another replaced; one told apart is asked again.

    :raises CandidatesMoved: what was offered to the verifier is taken for something else since
    """
    offered = {c.entity_id for views in accepted.offer.candidates.values() for c in views}
    bound = accepted.bound
    named = offered | chosen_entities(bound)
    meant = seen_by(team_id=claim.team_id, profile_id=claim.owner_id, entity_ids=named) if named else {}
    if not meant:
        return bound
    if any(meant[entity] != entity for entity in offered):
        raise CandidatesMoved("Meanwhile its owner decided who is who; the mentions are looked at again.")
    return replace(
        bound,
        settled={ref: now for ref, e in bound.settled.items() if (now := meant[e]) is not None},
        chosen=_chosen_now(bound.chosen, meant),
    )


def _chosen_now(chosen: Mapping[str, UUID | None], meant: Mapping[UUID, UUID | None]) -> dict[str, UUID | None]:
    """Keep the owner's choices; None is one as well: a new Entity."""
    return {
        ref: None if entity is None else meant[entity]
        for ref, entity in chosen.items()
        if entity is None or meant[entity] is not None
    }


def _still_there(bound: Bound, gone: Collection[UUID]) -> Bound:
    """Keep what binds as far as the chosen entities are active: what named another is asked again."""
    return replace(
        bound,
        settled={ref: e for ref, e in bound.settled.items() if e not in gone},
        chosen={ref: e for ref, e in bound.chosen.items() if e not in gone},
    )


def _decide_mentions(given: Given, offer: Offer) -> MentionsDecided:
    """Decide who is who, under the locks on every name that would be created."""
    wanted = wanted_names(given)
    lock_names(team_id=given.team_id, keys={key for key, _ in wanted})
    found = newcomers(team_id=given.team_id, wanted=wanted, ingest_id=given.ingest_id, known=offer.seen)
    return decide_mentions(given, found)


def _decide_knowledge(
    given: Given, mentions: MentionsDecided, *, redactions: int
) -> tuple[Given, KnowledgeDecided] | None:
    """Decide every observation, under the locks on what they are about and on the records that they meet.

    The moment of the commit is taken there: it is later than that of every commit that it waited for.
    """
    pairs = set(_pairs(given, mentions))
    for subject, predicate in sorted(pairs):
        lock("slot", given.team_id, subject, predicate)
    targets = _targets(given)
    also = {t.record_id for t in targets.values()} | given.bound.corrected | given.bound.shown
    stored = stored_records(team_id=given.team_id, pairs=pairs, also=also, lock=True)
    _hold_cases(given, stored)
    now, standing = standing_now(team_id=given.team_id, fragment_id=given.fragment_id)
    if not standing.current or standing.held:  # since the first look: it was held or redacted under the groups' lock
        return None
    if standing.redactions != redactions:
        raise CandidatesMoved("Words were redacted that may have been read before.")
    given = replace(given, now=now)
    versions = {record.id: record.version for record in stored}
    seen = given.bound.released  # by its owner, as the record is now
    current = {ref: t for ref, t in targets.items() if versions.get(t.record_id) == t.expected_version or ref in seen}
    # What corrects a version that is gone waits for a person: its sender has not seen what it would replace.
    # But what is only verified once more has met its target before.
    moved = targets.keys() - current.keys() - given.bound.again.keys()
    drafts = [ready(d, given, moved=d.ref in moved) for d in given.extraction.observations]
    said = {s.source for record in stored for s in record.effective} | {(given.fragment_id, given.group_id)}
    joins = joins_of(team_id=given.team_id, said=said)
    spent = spent_ids(team_id=given.team_id, values=[d.value for d in drafts if d.value])
    given = replace(given, spent=spent, meant=_meant(given, stored))
    decided = decide_knowledge(
        given=given, mentions=mentions, drafts=drafts, stored=stored, joins=joins, targets=current
    )
    return given, decided


def _hold_cases(given: Given, stored: Sequence[StoredRecord]) -> None:
    """Wait for the conflict cases that may move: of what is stored here, or with what others hold active."""
    if any(r.identity.owner_id != given.owner_id and r.status is Status.ACTIVE for r in stored):
        lock_cases(given.team_id)
    elif stored:
        hold_cases_of(team_id=given.team_id, record_ids={r.id for r in stored})


def _meant(given: Given, stored: Sequence[StoredRecord]) -> dict[UUID, UUID]:
    """Return, by each record of the caller's that was misread in this text, what its owner corrected it to."""
    own = [r for r in stored if r.identity.owner_id == given.owner_id and r.superseded]
    wrong = [r.id for r in own if r.superseded and r.superseded[0] is LineageKind.CORRECTED]
    return corrections_of(team_id=given.team_id, fragment_id=given.fragment_id, record_ids=wrong) if wrong else {}


def _check_registry(offer: Offer, decided: KnowledgeDecided, *, team_id: UUID) -> None:
    """Make sure that every predicate means what the verifier was told, and that nobody is asked what was registered.

    The lock is held to the end: a retirement that comes later finds what was written, a registration the question.
    """
    share("registry", team_id)
    now = behaviours_of(registry(team_id=team_id))
    used = [seen.predicate for seen in decided.plan.observations if seen.predicate]
    asked = any(question.kind is TaskKind.PREDICATE for question in decided.held)
    if any(now.get(predicate.key) != predicate for predicate in used) or (asked and now != offer.behaviours):
        raise CandidatesMoved("The registry was changed meanwhile.")


def _pairs(given: Given, mentions: MentionsDecided) -> Iterator[tuple[UUID, str]]:
    """Yield the (subject, predicate) of each resolved observation, both ways for a symmetric predicate."""
    for draft in given.extraction.observations:
        key = given.predicate_of(draft.ref)
        subject = mentions.entity_of.get(draft.subject_ref)
        if key is None or key not in given.behaviours or subject is None:
            continue
        yield subject, key
        other = mentions.entity_of.get(draft.object_ref or "")
        if other is not None and given.behaviours[key].symmetric:
            yield other, key


def _targets(given: Given) -> dict[str, Target]:
    """Return the correction target of each draft that cites its proposal, or of the only draft there is."""
    wanted = {
        row["proposal_id"]: Target(UUID(t["relationship_id"]), t["expected_version"])
        for row in given.proposal.get("relationships", [])
        if (t := row.get("correction_target"))
    }
    drafts = given.extraction.observations
    cited = {d.ref: wanted[d.proposal_id] for d in drafts if d.proposal_id in wanted}
    if not cited and (given.statements or len(drafts)) == len(drafts) == len(wanted) == 1:
        return {drafts[0].ref: next(iter(wanted.values()))}
    return cited


def _write(
    claim: Claim, accepted: Accepted, given: Given, mentions: MentionsDecided, decided: KnowledgeDecided
) -> None:
    """Write what was decided; nothing is decided here."""
    who = IdentityOrigin(claim.team_id, claim.owner_id, claim.ingest_id, claim.fragment_id, claim.item_id, claim.cycle)
    model, response_hash = accepted.judged.model, accepted.judged.response_hash
    what = KnowledgeOrigin(
        claim.team_id,
        claim.owner_id,
        claim.ingest_id,
        claim.fragment_id,
        claim.item_id,
        claim.cycle,
        given.extracted,
        given.group_id,
        given.authoritative,
        given.observed_at,
    )
    with settling(team_id=claim.team_id, now=given.now), together():
        create_entities(origin=who, entities=mentions.entities, names=mentions.names, now=given.now)
        store_identifiers(origin=who, identifiers=mentions.identifiers, now=given.now)
        store_values(team_id=who.team_id, fragment_id=who.fragment_id, values=decided.values, now=given.now)
        append_resolutions(origin=who, resolutions=mentions.resolutions, now=given.now)
        write_knowledge(origin=what, plan=decided.plan, model=model, response_hash=response_hash, now=given.now)
        words = list(_words(given, mentions, decided))
        copy_words(team_id=claim.team_id, fragment_id=claim.fragment_id, words=words, now=given.now)
        if not given.verified:
            keep_verification(claim, verification=given.verification, model=model, now=given.now)
    made = {entity.id for entity in mentions.entities}
    refresh_documents(
        team_id=claim.team_id,
        record_ids={change.relationship_id for change in decided.plan.changes},
        entity_ids={name.entity_id for name in mentions.names} - made,
        now=given.now,
    )


def _words(given: Given, mentions: MentionsDecided, decided: KnowledgeDecided) -> Iterator[Copied]:
    """Yield the words of new rows that a span alone cannot say: wording, rationale, and the surface of each mention."""
    drafts = {d.ref: d for d in given.extraction.observations}
    surfaces = {v.ref: v.surface for v in given.extraction.values}
    for seen in decided.plan.observations:
        draft = drafts[seen.ref]
        if given.extracted == given.cycle:
            yield Copied(seen.id, WordingKind.PREDICATE, draft.predicate)
            if draft.value_ref:
                yield Copied(seen.id, WordingKind.VALUE, surfaces[draft.value_ref])
        if seen.judged_in == given.cycle:
            rationale = given.verification.observations[seen.ref].rationale
            yield Copied(seen.verification_id, WordingKind.RATIONALE, rationale)
    surface_of = {m.ref: m.surface for m in given.extraction.mentions}
    for resolution in mentions.resolutions:
        yield Copied(resolution.id, WordingKind.SURFACE, surface_of[resolution.mention_ref])
        if not given.verified and resolution.mention_ref not in given.bound.chosen:
            rationale = given.verification.entities[resolution.mention_ref].rationale
            yield Copied(resolution.id, WordingKind.RATIONALE, rationale)
