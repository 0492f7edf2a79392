"""Where an item begins: at the start, with an extraction that was kept, or with what a person decided.

"Decisions", who decides, 24: select_entity, confirm_new_entity, accept and reject re-enter at policy with both accepted
answers; select_predicate, a decision about the registry and an explicit further verification at the candidate stage
with one new verifier request; correct and release at extraction. Only the observations that a decision answers are
taken up again.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from densemem.db.read import fetch
from entities.queries import settled_mentions
from placement.contract import Extraction, Verification
from placement.contract.kept import latest, narrowed, unpacked_extraction, unpacked_verification, within
from placement.operations import Claim
from placement.plan import Bound
from relationships.queries import refs_of_observations
from review.queries import Answer, unused_answer
from review.vocabulary import DecisionAction

# What was proposed for an item, and what was accepted about it, the earliest first.
KEPT: Final = """
    SELECT 'propose', 0, payload FROM placement_itemproposal WHERE team_id = %(team)s AND item_id = %(item)s
    UNION ALL
    SELECT 'adopt', 0, to_jsonb(spans) FROM placement_adoption WHERE team_id = %(team)s AND item_id = %(item)s
    UNION ALL
    SELECT stage, cycle, payload FROM placement_itemanswer WHERE team_id = %(team)s AND item_id = %(item)s
    ORDER BY 2"""
CHOICES: Final = (DecisionAction.SELECT_ENTITY, DecisionAction.CONFIRM_NEW_ENTITY)
AT_CANDIDATES: Final = (DecisionAction.SELECT_PREDICATE, DecisionAction.REGISTER, DecisionAction.REVERIFY)
AT_POLICY: Final = (*CHOICES, DecisionAction.ACCEPT, DecisionAction.REJECT)


@dataclass(frozen=True, slots=True)
class Entry:
    """
    What an item brings along.

    :param proposal: the part of the client's proposal that cites it; empty when there is none
    :param extracted: the cycle of its extraction
    :param adopted: the spans of another profile's text that count here; none for one's own text
    :param statements: how many the whole extraction has, where only a part is taken up
    :param verified: by draft ref, the cycle in which a kept judgment was given; empty when it is asked for
    """

    proposal: Mapping[str, Any]
    extracted: int
    adopted: tuple[tuple[int, int], ...] = ()
    extraction: Extraction | None = None
    statements: int | None = None
    verification: Verification | None = None
    verified: Mapping[str, int] = field(default_factory=dict)
    bound: Bound = field(default_factory=Bound)
    answer: Answer | None = None

    def own(self, extraction: Extraction) -> Extraction:
        """Return what of an extraction counts here: of an adopted text, the statements inside the adopted spans."""
        return within(extraction, self.adopted) if self.adopted else extraction

    def binding(self, keys: Mapping[str, str]) -> Bound:
        """Return what binds, with the owner's choice of an Entity for every mention of the name that it was made for.

        :param keys: by mention ref, the lookup key of its surface
        """
        answer = self.answer
        if answer is None or self.extraction is None or answer.action not in CHOICES:
            return self.bound
        kinds = {m.ref: m.kind for m in self.extraction.mentions}
        named = answer.mention_ref
        alike = (ref for ref in kinds if (keys[ref], kinds[ref]) == (keys.get(named), kinds.get(named)))
        return replace(self.bound, chosen={ref: answer.entity_id for ref in alike if ref not in self.bound.settled})


def begin(claim: Claim) -> Entry:
    """Return where a claimed item begins."""
    rows = fetch(KEPT, team=claim.team_id, item=claim.item_id)
    kept = [(stage, cycle, json.loads(payload)) for stage, cycle, payload in rows]
    gone = {(stage, cycle) for stage, cycle, payload in kept if not payload}  # redacted
    kept = [row for row in kept if row[2]]
    proposal: Mapping[str, Any] = next((payload for stage, _, payload in kept if stage == "propose"), {})
    answer = unused_answer(team_id=claim.team_id, item_id=claim.item_id) if claim.cycle > 1 else None
    extractions = {cycle: payload for stage, cycle, payload in kept if stage == "extract"}
    ready = extractions.get(claim.cycle)
    adopted = next((tuple((s, e) for s, e in payload) for stage, _, payload in kept if stage == "adopt"), ())
    extraction = unpacked_extraction(ready) if ready else None
    anew = Entry(proposal=proposal, extracted=claim.cycle, adopted=adopted, extraction=extraction)
    if answer is None or answer.action not in (*AT_POLICY, *AT_CANDIDATES):
        correcting = answer is not None and answer.action is DecisionAction.CORRECT
        return replace(anew, bound=_correcting(answer)) if answer and correcting else anew
    extracted = max(extractions, default=0)
    refs = refs_of_observations(team_id=claim.team_id, observation_ids=answer.observation_ids, extracted=extracted)
    if not refs:  # the text was read anew since: the answer was about what it said before
        return anew
    judged = {cycle: payload for stage, cycle, payload in kept if stage == "verify" and cycle >= extracted}
    entry = _taken_up(anew, claim, answer, refs, extracted, unpacked_extraction(extractions[extracted]))
    unjudged = any(stage == "verify" and cycle >= extracted for stage, cycle in gone)
    return entry if unjudged or answer.action in AT_CANDIDATES else _with_judgments(entry, judged)


def _correcting(answer: Answer) -> Bound:
    """Let what is read anew take the place of what it was held for."""
    if answer.overruled:
        return Bound()
    return Bound(
        lifted=frozenset({answer.relationship_id} if answer.relationship_id else ()),
        corrected=frozenset({answer.rival_id} if answer.rival_id else ()),
    )


def _taken_up(
    anew: Entry, claim: Claim, answer: Answer, refs: frozenset[str], extracted: int, whole: Extraction
) -> Entry:
    """Narrow an extraction to what was decided, and read what binds."""
    action = answer.action
    accepted = action is DecisionAction.ACCEPT and not answer.overruled
    bound = Bound(
        settled=settled_mentions(team_id=claim.team_id, item_id=claim.item_id, since=extracted),
        predicates=dict.fromkeys(refs, answer.predicate_key) if answer.predicate_key else {},
        released=refs if accepted else frozenset(),
        shown=frozenset({answer.rival_id} if accepted and answer.rival_id else ()),
        rejected=refs if action is DecisionAction.REJECT else frozenset(),
        again=dict.fromkeys(refs, answer.message) if action is DecisionAction.REVERIFY else {},
    )
    return replace(
        anew,
        extracted=extracted,
        extraction=narrowed(whole, refs),
        statements=len(whole.observations),
        bound=bound,
        answer=answer,
    )


def _with_judgments(entry: Entry, judged: Mapping[int, Mapping[str, object]]) -> Entry:
    """Add the newest kept judgment of each draft, with the cycle in which it was given."""
    answers = {cycle: unpacked_verification(payload) for cycle, payload in judged.items()}
    verified = {ref: cycle for cycle in sorted(answers) for ref in answers[cycle].observations}
    return replace(entry, verification=latest(answers[c] for c in sorted(answers)), verified=verified)


def chosen_entities(bound: Bound) -> set[UUID]:
    """Return the entities that a person chose or an earlier cycle settled."""
    return {entity for entity in (*bound.chosen.values(), *bound.settled.values()) if entity is not None}
