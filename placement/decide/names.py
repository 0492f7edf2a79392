"""A new canonical name for an Entity, where it stands in evidence; the one before is kept as a former name."""

from datetime import datetime
from uuid import UUID

from densemem.auth import Principal
from densemem.core.faults import Fault, NotThere
from densemem.core.names import lookup_key
from densemem.core.spans import SpanRefused, check_span
from densemem.db.locks import share
from entities.operations import lock_names, rename_entity
from entities.plan import NewName
from entities.queries import Called, canonical_now
from entities.vocabulary import NameKind
from evidence.queries import find_fragment
from placement.decide.desk import Decided, DecisionRefused, Desk, open_desk
from placement.decision import read_rename
from placement.request import RequestInvalid
from relationships.operations import refresh_documents
from review.policy import NotTheDecider


def rename(
    *, principal: Principal, entity_id: UUID, body: object, idempotency_key: str, now: datetime, dry_run: bool = False
) -> Decided:
    """Give an Entity the name that evidence gives it now; for the profile that gave it the name it has.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such Entity or fragment in the team
    :raises Refused: another profile named it, it has the name already, the span does not read the name, the text does
        not count, or a broken contract
    """
    asked, name = read_rename(body)
    desk = open_desk(
        principal=principal, asked=asked, about=entity_id, body=body, key=idempotency_key, now=now, dry_run=dry_run
    )
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        team = principal.team_id
        share("groups", team)  # a redaction has them alone
        new = _cited(desk, entity_id, name)
        lock_names(team_id=team, keys={_named_now(desk, entity_id).key, new.key})
        _check_right(desk, _named_now(desk, entity_id), new)
        made = desk.record(staged=None, fragment_id=asked.fragment_id, entity_id=entity_id)
        rename_entity(team_id=team, owner_id=principal.profile_id, fragment_id=asked.fragment_ids[0], name=new, now=now)
        refresh_documents(team_id=team, record_ids=(), entity_ids={entity_id}, now=now)
        return desk.answer(made)


def _named_now(desk: Desk, entity_id: UUID) -> Called:
    found = canonical_now(team_id=desk.principal.team_id, entity_id=entity_id)
    if found is None:
        raise NotThere
    return found


def _cited(desk: Desk, entity_id: UUID, name: str) -> NewName:
    """Return the name at its span. That the text counts is looked at when the decision is recorded.

    :raises RequestInvalid: the span is not in the text, or reads otherwise
    """
    ((start, end),) = desk.asked.spans
    found = find_fragment(team_id=desk.principal.team_id, fragment_id=desk.asked.fragment_ids[0])
    if found is None:
        raise NotThere
    fragment, standing = found
    if standing.held:  # what it reads is told to nobody
        raise DecisionRefused("The text is held. Only its release can be decided.", code="evidence_held")
    try:
        check_span(fragment.text, start, end)
        fault = None if fragment.text[start:end] == name else "span_surface_mismatch"
    except SpanRefused as refused:
        fault = refused.code
    if fault:
        faults = [Fault("/start", fault, "The span must read exactly the name, in code points of the text.")]
        raise RequestInvalid("Nothing was renamed: the text does not give this name there.", faults=faults)
    return NewName(entity_id, NameKind.CANONICAL, name, lookup_key(name), start, end)


def _check_right(desk: Desk, now: Called, new: NewName) -> None:
    if now.owner_id != desk.principal.profile_id:
        detail = "Another profile named it. Remember a text that says the name, with the name as an alias."
        raise NotTheDecider(detail)
    if now.display == new.display:
        raise DecisionRefused("It has this name already.", code="name_unchanged")
