"""Who is who: what a merge needs, what it moves and keeps, and whom it never reaches."""

import re
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from densemem.audit import CHECKS, audit
from densemem.audit.tables import rows
from densemem.cases.identities import references
from densemem.cases.judge.answers import STEP, answered
from densemem.cases.judge.knowledge import history_kept, priors
from densemem.cases.judge.phrases import phrases
from densemem.cases.judge.seen import Seen
from densemem.cases.play import Done
from densemem.core.names import lookup_key

TOO_LITTLE: Final = "insufficient_identity_evidence"
# The world makes its things known by their names alone, so that no resolution tells of their creation.
AUDITED: Final = [check for check in CHECKS if check.name != "entities_follow_from_resolutions"]


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge that was done: whose it is, what it takes for what, and the decision."""

    author: UUID
    gone: UUID
    into: UUID
    decision: UUID


def merge_of(seen: Seen, done: Done) -> Merge | None:
    """Return the merge that a step did; None where it did none."""
    if done.call != "merge" or done.answered is None or done.answered.status != 201:
        return None
    assert done.person is not None
    who, body = done.person.who, done.said["body"]
    gone, into = (seen.play.world.entity_id(who.team_id, body[end]) for end in ("from", "into"))
    return Merge(who.profile_id, gone, into, UUID(done.answered.body["identity_id"]))


def merges(seen: Seen) -> list[Merge]:
    """Return every merge that the steps did."""
    return [made for step in seen.play.steps if (made := merge_of(seen, step)) is not None]


def refused_for_evidence(seen: Seen, m: re.Match[str]) -> bool:
    """The preview says why, without a token; the decision is refused with the same word, and nothing was written."""
    preview = seen.play.found["previews"][seen.done().number].body
    told = (preview.get("refusal"), preview.get("token"), answered(seen).body.get("code"))
    return seen.equal(told, (TOO_LITTLE, "", TOO_LITTLE)) and seen.wrote_nothing()


def moved_own(seen: Seen, m: re.Match[str]) -> bool:
    """The merge was done: what its author held has moved, and nobody else's row has."""
    merge, who = merge_of(seen, seen.done()), seen.play.world.person(m["who"]).who.profile_id
    if merge is None:
        seen.note(answered(seen).body)
        return False
    others = [(r, state) for r, state in priors(seen) if r.owner_id != who]
    moved = rows("entities.ResolutionEvent").filter(identity_id=merge.decision)
    moved_of = set(moved.values_list("item__owner_id", flat=True)) | {s.owner_id for _, s in _lineage(merge)}
    left = rows("relationships.RelationshipRecord").filter(owner_id=who, subject_entity_id=merge.gone, status="active")
    same = bool(others) and _as_they_were(seen, others)
    return same and seen.equal((merge.author, moved_of, left.count()), (who, {who}, 0))


def lineage_kept(seen: Seen, m: re.Match[str]) -> bool:
    """Each record that moved names the one that took its place; every name is still of the thing that bore it."""
    merge = merge_of(seen, seen.done())
    if merge is None:
        return False
    held = {r.id for r, _ in priors(seen) if (r.owner_id, r.subject_entity_id) == (merge.author, merge.gone)}
    told = {before.id for before, after in _lineage(merge) if _is_same_of(merge, before, after)}
    return bool(held) and seen.equal(told, held) and history_kept(seen, m) and _names_kept(seen)


def _is_same_of(merge: Merge, before: Any, after: Any) -> bool:
    """Tell if an active record says of the one that survives what another said."""
    said = [(r.owner_id, r.predicate_key, r.object_entity_id, r.object_value_id, r.polarity) for r in (before, after)]
    return said[0] == said[1] and (after.subject_entity_id, after.status) == (merge.into, "active")


def _names_kept(seen: Seen) -> bool:
    things, entities = seen.play.world.things, seen.play.world.entities.items()
    lost = [
        name
        for (_, key), entity in entities
        for name in (things[key].name, *things[key].aliases)
        if lookup_key(name) not in seen.names_of(entity)
    ]
    active = rows("entities.Entity").filter(pk__in=[entity for _, entity in entities], status="active")
    return seen.equal(lost, []) and seen.equal(active.count(), len(entities))


def references_intact(seen: Seen, m: re.Match[str]) -> bool:
    """Every support of before is there, what moved cites the same, the merge cites its report, and all rows agree."""
    merge, kept = merge_of(seen, seen.done()), references()
    if merge is None:
        return False
    cited: dict[UUID, set[Any]] = {}
    for _, record, *place in kept:
        cited.setdefault(record, set()).add(tuple(place))
    lost = [before.id for before, after in _lineage(merge) if not cited[before.id] <= cited.get(after.id, set())]
    basis = rows("entities.IdentityBasis").filter(decision_id=merge.decision).select_related("fragment__content")
    rests_on = [b.fragment.content.text[b.start : b.end] for b in basis if b.kind == "explicit_report"]
    whole = seen.play.found["references"] <= kept and audit(checks=AUDITED).differences == 0
    return seen.equal((lost, whole), ([], True)) and seen.equal(
        rests_on, seen.play.found.get("reports", {}).get(seen.done().number)
    )


def never_merged(seen: Seen, m: re.Match[str]) -> bool:
    """No decision is about the thing, what is held about it is as it was, and a name means what each took it for."""
    other = seen.play.world.entity_id(_team(seen), m["key"])
    about = [(r, state) for r, state in priors(seen) if r.subject_entity_id == other]
    named = rows("entities.IdentityMember").filter(entity_id=other).count()
    return seen.equal(named, 0) and bool(about) and _as_they_were(seen, about) and _offered_as_taken(seen)


def _offered_as_taken(seen: Seen) -> bool:
    """For everybody who said a name, exactly those were offered for whom that profile takes its bearers."""
    retrieved, team = seen.play.found["retrieved"], _team(seen)
    key = lookup_key(retrieved["mention"])
    bearers = {e for (of, _), e in seen.play.world.entities.items() if of == team and key in seen.names_of(e)}
    found, wanted = {}, {}
    for name, ingest in retrieved["by"].items():
        offered = rows("entities.ResolutionCandidate").filter(event__ingest_id=ingest, event__start=0)
        taken = {merge.gone: merge.into for merge in merges(seen) if merge.author == _profile(seen, name)}
        found[name] = set(offered.values_list("entity_id", flat=True))
        wanted[name] = {taken.get(entity, entity) for entity in bearers}
    return seen.equal(found, wanted)


def only_as_asked(seen: Seen, m: re.Match[str]) -> bool:
    """There is no decision beside the merges of the steps, and what they do not name is as it was."""
    asked = merges(seen)
    wanted = {
        (d.decision, d.author, e, role) for d in asked for e, role in ((d.gone, "absorbed"), (d.into, "survivor"))
    }
    members = rows("entities.IdentityMember").values_list("decision_id", "decision__author_id", "entity_id", "role")
    decisions = set(rows("entities.IdentityDecision").values_list("pk", flat=True))
    named = {entity for made in asked for entity in (made.gone, made.into)}
    rest = [(r, state) for r, state in priors(seen) if r.subject_entity_id not in named]
    as_asked = seen.equal(set(members), wanted) and seen.equal(decisions, {made.decision for made in asked})
    return as_asked and _as_they_were(seen, rest)


def _lineage(merge: Merge) -> list[tuple[Any, Any]]:
    """Return each record that a merge moved, with the one that took its place."""
    found = rows("relationships.Lineage").filter(identity_id=merge.decision)
    return [(row.predecessor, row.successor) for row in found.select_related("predecessor", "successor")]


def _as_they_were(seen: Seen, kept: list[tuple[Any, Any]]) -> bool:
    changed = [seen.words(r) for r, state in kept if any(getattr(r, name) != value for name, value in state.items())]
    return seen.equal(changed, [])


def _profile(seen: Seen, name: str) -> UUID:
    return seen.play.world.person(name).who.profile_id


def _team(seen: Seen) -> UUID:
    return seen.play.world.person(seen.asker()).who.team_id


IDENTITIES: Final = (
    *phrases(
        STEP,
        (r"a merge without identity evidence is refused", refused_for_evidence),
        (r"allowed only for observations/Relationships (?P<who>\w+) owns", moved_own),
        (r"lineage and aliases kept", lineage_kept),
        (r"original evidence references intact", references_intact),
        (r"(?P<key>\w+) is never merged as a consequence", never_merged),
    ),
    *phrases("must_not", (r"automatic or transitive merge", only_as_asked)),
)
