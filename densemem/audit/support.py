"""Records against the support that counts, and support against the evidence that it cites."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from densemem.audit.report import Check, Difference
from densemem.audit.tables import grouped, ids, newest, rows
from evidence.policy import count_groups
from evidence.queries import joins_around
from evidence.vocabulary import QuarantineStatus
from relationships.policy import from_support
from relationships.vocabulary import Status, SupportAction

COUNTS = (SupportAction.GRANT, SupportAction.REINSTATE)
# Which decision may follow which; a support begins with a grant.
FOLLOWS = {
    None: {SupportAction.GRANT},
    SupportAction.GRANT: {SupportAction.REVOKE},
    SupportAction.REVOKE: {SupportAction.REINSTATE},
    SupportAction.REINSTATE: {SupportAction.REVOKE},
}


def counts_match(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A record counts exactly the support whose newest decision lets it count, and its independent voices."""
    for row, supports, voices in _counted(chunk):
        if row.support_count != len(supports):
            yield Difference(row.id, f"support_count is {row.support_count}, {len(supports)} count")
        if row.source_group_count != voices:
            yield Difference(row.id, f"source_group_count is {row.source_group_count}, {voices} are independent")


def active_tiers_are_earned(chunk: Sequence[Any]) -> Iterator[Difference]:
    """An active record has the tier that its support gives: a fact needs authority or two voices."""
    for row, supports, voices in _counted([r for r in chunk if r.status == Status.ACTIVE]):
        earned = from_support(groups=voices, authoritative=any(s.authoritative for s in supports))
        if row.tier != earned.tier:
            yield Difference(row.id, f"is an active {row.tier}, its support gives {earned.tier}")


def decisions_follow(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A support is granted first; it is revoked and reinstated by turns."""
    ledger = rows("relationships.SupportDecision").filter(support_id__in=ids(chunk)).order_by("seq")
    at: dict[UUID, SupportAction | None] = dict.fromkeys(ids(chunk))
    for step in ledger.iterator():
        before, action = at[step.support_id], SupportAction(step.action)
        if action not in FOLLOWS[before]:
            yield Difference(step.support_id, f"{action} follows {before or 'nothing'}")
        at[step.support_id] = action
    yield from (Difference(support, "was never granted") for support, last in at.items() if last is None)


def counting_support_is_current(chunk: Sequence[Any]) -> Iterator[Difference]:
    """What counts cites a current revision, and neither a withdrawn nor a held text."""
    counting = _counting(ids(chunk))
    cited = {s.fragment_id for s in chunk if s.id in counting}
    outdated = _outdated(cited)
    retired = _column("evidence.FragmentRetirement", cited)
    held = _column("evidence.Quarantine", cited, status=QuarantineStatus.ACTIVE)
    for support in chunk:
        if support.id not in counting:
            continue
        for word, fragments in (("outdated", outdated), ("withdrawn", retired), ("held", held)):
            if support.fragment_id in fragments:
                yield Difference(support.id, f"counts, and its text is {word}")


def support_keeps_its_origin(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A support has the source group of the text that it cites."""
    cited = rows("evidence.Fragment").filter(pk__in={s.fragment_id for s in chunk})
    groups = dict(cited.values_list("id", "group_id"))
    for support in chunk:
        if support.group_id != groups[support.fragment_id]:
            yield Difference(support.id, "is of another source group than its text")


def _counted(chunk: Sequence[Any]) -> Iterator[tuple[Any, list[Any], int]]:
    """Yield each record with the supports that count and the number of independent voices among them."""
    links = list(rows("relationships.EvidenceSupport").filter(relationship_id__in=ids(chunk)))
    counting = _counting(s.id for s in links)
    supports = grouped((s.relationship_id, s) for s in links if s.id in counting)
    joins = _joins(links)
    for row in chunk:
        mine = supports.get(row.id, [])
        yield row, mine, count_groups([s.group_id for s in mine], joins[row.team_id])


def _joins(links: Sequence[Any]) -> Mapping[UUID, set[tuple[UUID, UUID]]]:
    """Return, by team, the joins around the groups of these supports; a team without any has an empty set."""
    found: dict[UUID, set[tuple[UUID, UUID]]] = defaultdict(set)
    for team, groups in grouped((s.team_id, s.group_id) for s in links).items():
        found[team] = joins_around(team_id=team, groups=set(groups))
    return found


def _counting(supports: Any) -> set[UUID]:
    """Return the supports whose newest decision lets them count."""
    last = newest("relationships.SupportDecision", "support_id", supports)
    return {support for support, decision in last.items() if decision.action in COUNTS}


def _outdated(fragments: Collection[UUID]) -> set[UUID]:
    """Return the fragments whose revision is not the current one of its source."""
    keyed = rows("evidence.Fragment").filter(pk__in=fragments, source__isnull=False)
    found = keyed.values_list("id", "revision_id", "source__current_revision_id")
    return {fragment for fragment, revision, current in found if revision != current}


def _column(table: str, fragments: Collection[UUID], **conditions: object) -> set[UUID]:
    return set(rows(table).filter(fragment_id__in=fragments, **conditions).values_list("fragment_id", flat=True))


RECORDS = "relationships.RelationshipRecord"
SUPPORTS = "relationships.EvidenceSupport"
CHECKS = (
    Check("counts_match_support", RECORDS, counts_match),
    Check("active_tiers_are_earned", RECORDS, active_tiers_are_earned),
    Check("support_decisions_follow", SUPPORTS, decisions_follow),
    Check("counting_support_is_current", SUPPORTS, counting_support_is_current),
    Check("support_keeps_its_origin", SUPPORTS, support_keeps_its_origin),
)
