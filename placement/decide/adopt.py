"""Another profile's evidence, adopted: the same text, placed once more for somebody else.

"Profile Ownership And Team Visibility": the fragment, its author, its revision and its source group stay what they are;
what comes of it is the adopter's own.
"""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.db import transaction

from densemem.auth import Principal
from densemem.core import limits
from densemem.core.canonical import digest
from densemem.core.faults import Because, Fault, NotThere, Refused
from densemem.core.spans import Boundaries, SpanRefused, check_span
from densemem.db.locks import lock, share
from evidence.operations import open_ingest
from evidence.queries import FragmentView, find_fragment, is_guarded
from evidence.vocabulary import ScanDecision
from placement.decide.desk import Decided, DecisionRefused, decided, open_desk
from placement.decision import DecisionRequest, read_adoption
from placement.operations import Staging, open_run, wake
from placement.queries import adoptions_of, count_items
from placement.request import RequestInvalid, proposal_about
from placement.vocabulary import ItemState
from review.queries import adoption_decided


class OwnEvidence(Refused):
    """The text is the caller's own: it is placed already."""

    because = Because.CONFLICT
    code = "own_evidence"


class AdoptedOften(Refused):
    """The caller adopted words of this text as often as it may."""

    because = Because.CONFLICT
    code = "adopted_often"


def adopt(*, principal: Principal, body: object, idempotency_key: str, now: datetime, dry_run: bool = False) -> Decided:
    """Queue exact words of another profile's evidence to be placed for the caller, as an ingest of its own.

    The same words with the same proposal are adopted once: another request for them is answered with the earlier one.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such fragment in the team
    :raises Refused: the caller's own text, outdated, held, spans that are not in it, adopted too often, or a broken
        contract
    """
    asked = read_adoption(body)
    assert asked.fragment_id is not None
    desk = open_desk(
        principal=principal,
        asked=asked,
        about=asked.fragment_id,
        body=body,
        key=idempotency_key,
        now=now,
        dry_run=dry_run,
    )
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        team, adopter = principal.team_id, principal.profile_id
        share("groups", team)  # a redaction has them alone
        fragment = _adoptable(team, adopter, asked.fragment_id)
        proposal = _checked(asked, fragment)
        lock("adoption", team, adopter, fragment.id)
        if same := _same(principal, asked, proposal):
            made = adoption_decided(team_id=team, item_id=same)
            return decided(made, item=desk.item(same), replayed=True)
        guarded = is_guarded(team_id=team, fragment_id=fragment.id)
        scan = ScanDecision.GUARDED if guarded else ScanDecision.PASS
        key = f"adoption:{digest([desk.key, desk.request_hash])}"
        now = desk.take_moment()
        ingest_id = open_ingest(team_id=team, owner_id=adopter, key=key, request_hash=desk.request_hash, now=now)
        staging = Staging(fragment.id, 0, scan, proposal, asked.spans)
        (item,) = open_run(team_id=team, owner_id=adopter, ingest_id=ingest_id, items=[staging], now=now)
        made = desk.record(staged=None, item_id=item.id, fragment_id=fragment.id)
        transaction.on_commit(wake, robust=True)
        return desk.answer(made, item=item)


def _adoptable(team_id: UUID, adopter_id: UUID, fragment_id: UUID) -> FragmentView:
    """Return a fragment that may be adopted. The worker looks again, under the lock on its source."""
    found = find_fragment(team_id=team_id, fragment_id=fragment_id)
    if found is None:
        raise NotThere
    fragment, standing = found
    if standing.held:
        raise DecisionRefused("The text is held. Only its release can be decided.", code="evidence_held")
    if not standing.current:
        raise DecisionRefused("A newer revision took its place, or it was withdrawn.", code="revision_not_current")
    if fragment.owner_id == adopter_id:
        raise OwnEvidence("This text is your own: what it says is yours already.")
    return fragment


def _same(principal: Principal, asked: DecisionRequest, proposal: Mapping[str, object] | None) -> UUID | None:
    """Return the item of an adoption of the same words with the same proposal, unless it failed.

    :raises AdoptedOften: there were as many others of the caller as there may be
    :raises DecisionRefused: there were as many of all profiles as there may be
    """
    assert asked.fragment_id is not None
    before = adoptions_of(team_id=principal.team_id, owner_id=principal.profile_id, fragment_id=asked.fragment_id)
    wanted = (tuple(asked.spans), proposal)
    for one in before:
        if (one.spans, one.proposal) == wanted and one.state is not ItemState.FAILED:
            return one.item_id
    if len(before) >= limits.ADOPTIONS:
        raise AdoptedOften(f"You adopted words of this text {len(before)} times. Adopt no more of it.")
    if count_items(team_id=principal.team_id, fragment_id=asked.fragment_id) >= limits.FANOUT_ITEMS:
        # A hold, a release and a redaction lock and change them all at once.
        raise DecisionRefused("The text was adopted too often to be adopted once more.", code="adopted_too_often")
    return None


def _checked(asked: DecisionRequest, fragment: FragmentView) -> dict[str, object] | None:
    """Check the spans and the proposal against the text, and return what of the proposal is about it.

    :raises RequestInvalid: with every fault
    """
    borders = Boundaries(fragment.text)
    faults = []
    for index, (start, end) in enumerate(asked.spans):
        try:
            check_span(fragment.text, start, end, boundaries=borders)
        except SpanRefused as refused:
            faults.append(Fault(f"/spans/{index}", refused.code, refused.message))
    if faults:
        raise RequestInvalid("Nothing was adopted. Mend each place and send it again.", faults=faults)
    return proposal_about(fragment.text, asked.proposal) if asked.proposal else None
