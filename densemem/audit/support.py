"""Support against its decisions, and against the evidence that it cites."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from densemem.audit.report import Check, Difference
from densemem.audit.tables import ids, rows
from relationships.vocabulary import SupportAction

# Which decision may follow which; a support begins with a grant.
FOLLOWS = {
    None: {SupportAction.GRANT},
    SupportAction.GRANT: {SupportAction.REVOKE},
    SupportAction.REVOKE: {SupportAction.REINSTATE},
    SupportAction.REINSTATE: {SupportAction.REVOKE},
}


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


def support_keeps_its_origin(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A support has the source group of the text that it cites."""
    cited = rows("evidence.Fragment").filter(pk__in={s.fragment_id for s in chunk})
    groups = dict(cited.values_list("id", "group_id"))
    for support in chunk:
        if support.group_id != groups[support.fragment_id]:
            yield Difference(support.id, "is of another source group than its text")


SUPPORTS = "relationships.EvidenceSupport"
CHECKS = (
    Check("support_decisions_follow", SUPPORTS, decisions_follow),
    Check("support_keeps_its_origin", SUPPORTS, support_keeps_its_origin),
)
