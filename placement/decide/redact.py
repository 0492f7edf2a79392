"""To redact a text: it and every copy of its words go for good ("Forget And Retraction"; "Decisions", storage, 20)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.auth import Principal
from densemem.core.faults import Fault, NotThere
from densemem.core.words import Scope
from densemem.db.locks import lock, lock_all
from densemem.db.writer import Writer, writing_for_all
from entities.queries import SaidThere, gone_identifiers, gone_names, gone_values, said_in
from evidence.operations import keep_receipt, open_redaction, repeats, take_out, traces
from evidence.queries import texts_of
from evidence.redactions import RedactionFacts, SharedText, Sharer, find_redaction, shared_text
from placement.decide.desk import Decided, DecisionRefused, Desk, open_desk
from placement.decision import read_reason
from placement.models import Item
from placement.operations import begin_anew, end, lock_items
from placement.queries import items_of_fragments, siblings_of_fragments
from placement.request import RequestInvalid
from placement.vocabulary import ItemCategory, ItemState
from relationships.operations import hold_records, revoke_for_fragments, rewrite_documents
from relationships.queries import records_showing, supports_of_fragments, values_stated_in
from relationships.search import Profile
from review.operations import cancel_tasks
from review.policy import check_decider
from review.vocabulary import DecisionAction

DOCUMENTS: Final = "relationships_searchdocument"
REASON: Final = "evidence_redacted"
OUT_OF_REACH: Final[Mapping[str, str]] = {
    "exports": "Files that were exported hold what they held. Ask whoever has them to delete them.",
    "backups": "Backups and replicas of the database hold the text until they are replaced.",
    "database_files": "Dead rows and statistics keep it until VACUUM ANALYZE, the write-ahead log until it is reused.",
    "logs": "Our logs hold no text. Those of proxies, of clients, and of a database that logs statements, may.",
    "models": "What was sent to a vendor of models is there as long as the vendor keeps it.",
    "readers": "Whoever read the text, or was answered with it, may have kept it.",
}


@dataclass(frozen=True, slots=True)
class Receipt:
    """
    What a redaction removed, and what it cannot reach. It holds no text.

    :param fragments: every fragment of the team that had the text
    :param removed: rows that were turned into tombstones or written anew, by table
    :param out_of_reach: copies that the product cannot remove, each with what to do
    """

    redaction_id: UUID
    fragment_id: UUID
    by: Profile
    reason: str
    fragments: tuple[Sharer, ...]
    removed: Mapping[str, int]
    out_of_reach: Mapping[str, str]
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Redacted(Decided):
    """A redaction as its maker is answered."""

    receipt: Receipt | None = None


def redact(
    *, principal: Principal, fragment_id: UUID, body: object, idempotency_key: str, now: datetime, dry_run: bool = False
) -> Redacted:
    """Take out a text and every copy of its words, for every fragment of the team that has it, in one transaction.

    A rehearsal (`dry_run`) is the preview: it names who shares the text, the rows by table, and what changes.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such fragment in the team
    :raises Refused: not a manager, redacted already, too much depends on it, or a broken contract
    """
    asked = read_reason(body, DecisionAction.REDACT)
    desk = open_desk(
        principal=principal, asked=asked, about=fragment_id, body=body, key=idempotency_key, now=now, dry_run=dry_run
    )
    with desk.sitting():
        team = principal.team_id
        if earlier := desk.earlier():
            return _answer(earlier, _receipt_of(team, fragment_id=fragment_id))
        items, text = _hold(desk, fragment_id)
        about = next(item for item in items if item.fragment_id == fragment_id)
        fragments = [f.fragment_id for f in text.fragments]
        said = _hold_showing(team, fragments)
        lock_all(("questions", team, owner) for owner in {item.owner_id for item in items})
        now = desk.take_moment()
        made = desk.record(staged=None, item_id=about.id, fragment_id=fragment_id)
        redaction_id = open_redaction(
            team_id=team,
            content_id=text.content_id,
            fragment_id=fragment_id,
            actor_id=principal.profile_id,
            reason=asked.message,
            now=now,
        )
        with writing_for_all(Writer.REDACTION):
            _carry_out(desk, redaction_id, fragments, said)
        for item in items:
            end(
                item,
                state=ItemState.REDACTED,
                category=ItemCategory.REDACTED,
                reason=REASON,
                now=now,
                actor_id=principal.profile_id,
            )
        cancel_tasks(team_id=team, fragment_ids=fragments, reason=REASON, now=now)
        return _answer(desk.answer(made, item=about), _receipt_of(team, redaction_id=redaction_id))


def get_redaction(*, principal: Principal, redaction_id: UUID) -> Receipt:
    """Return the receipt of a redaction.

    :raises ScopeMissing: without `read`
    :raises NotThere: no such redaction in the team
    """
    principal.require(Scope.READ)
    return _receipt_of(principal.team_id, redaction_id=redaction_id)


def _hold(desk: Desk, fragment_id: UUID) -> tuple[list[Item], SharedText]:
    """Check the right, and lock the items of the text, its words, and what commits of the team write.

    No commit of the team runs meanwhile, so none keeps a name or a value of the text that it read before.
    """
    team = desk.principal.team_id
    known = shared_text(team_id=team, fragment_id=fragment_id)
    if known is None:
        raise NotThere
    check_decider(action=desk.asked.action, kind=None, is_owner=False, is_manager=desk.principal.is_manager)
    beside = siblings_of_fragments(team_id=team, fragment_ids=_ids(known))
    locked = lock_items(team_id=team, item_ids=[*items_of_fragments(team_id=team, fragment_ids=_ids(known)), *beside])
    items = [item for item in locked if item.id not in beside]
    begin_anew([item for item in locked if item.id in beside], now=desk.now)  # their proposal goes
    lock_all([("text", team, known.normal_digest)], sharing=("words", team))
    lock("groups", team)
    now = shared_text(team_id=team, fragment_id=fragment_id)
    assert now is not None
    if now.redacted:
        raise DecisionRefused("This text is redacted already.", code="already_redacted")
    placing = items_of_fragments(team_id=team, fragment_ids=_ids(now))
    if _ids(now) != _ids(known) or placing != [item.id for item in items]:
        raise DecisionRefused("The same text came in once more. Look at the preview again.", code="changed_meanwhile")
    return items, now


def _ids(text: SharedText) -> list[UUID]:
    return [f.fragment_id for f in text.fragments]


def _hold_showing(team_id: UUID, fragment_ids: Collection[UUID]) -> SaidThere:
    """Lock the records that rest on a text or show its words, and their conflict cases; return what it says."""
    stated = values_stated_in(team_id=team_id, fragment_ids=fragment_ids)
    said = said_in(team_id=team_id, fragment_ids=fragment_ids, value_ids=stated)
    resting = {record for _, record in supports_of_fragments(team_id=team_id, fragment_ids=fragment_ids)}
    values = {number for number, _ in said.values}
    showing = records_showing(team_id=team_id, entity_ids=said.entities, value_ids=values)
    hold_records(team_id=team_id, record_ids=resting | showing)
    return said


def _carry_out(desk: Desk, redaction_id: UUID, fragment_ids: Collection[UUID], said: SaidThere) -> None:
    """Take out the words, judge again what rested on them, and keep the receipt."""
    team, now = desk.principal.team_id, desk.now
    text = next(iter(texts_of(team_id=team, fragment_ids=fragment_ids).values()))
    values = {number for number, _ in said.values}
    removed = take_out(redaction_id)
    revoke_for_fragments(
        team_id=team, fragment_ids=fragment_ids, reason=REASON, now=now, actor_id=desk.principal.profile_id
    )
    entities, words = _gone(team, said)
    identifiers = gone_identifiers(team_id=team, identifiers=said.identifiers)
    shown = records_showing(team_id=team, entity_ids=entities, value_ids=values)
    removed[DOCUMENTS] = rewrite_documents(team_id=team, record_ids=shown, now=now)
    runs = traces(text, words, identifiers)
    if repeats(desk.asked.message, runs):
        fault = Fault("/reason", "repeats_the_text", "Say why without words of the text: the reason stays.")
        raise RequestInvalid("Nothing was redacted: the reason repeats words of the text.", faults=[fault])
    keep_receipt(team_id=team, redaction_id=redaction_id, removed=removed, runs=runs, now=now)


def _gone(team_id: UUID, said: SaidThere) -> tuple[set[UUID], set[str]]:
    """Return the entities that lost a name, and every name and value that is gone."""
    names = gone_names(team_id=team_id, name_ids=[number for number, _, _ in said.names])
    values = gone_values(team_id=team_id, value_ids=[number for number, _ in said.values])
    words = {display for number, _, display in said.names if number in names}
    return set(names.values()), words | {display for number, display in said.values if number in values}


def _receipt_of(team_id: UUID, *, redaction_id: UUID | None = None, fragment_id: UUID | None = None) -> Receipt:
    found = find_redaction(team_id=team_id, redaction_id=redaction_id, fragment_id=fragment_id)
    if found is None:
        raise NotThere
    shared = shared_text(team_id=team_id, fragment_id=found.fragment_id)
    assert shared is not None
    return _receipt(found, shared)


def _receipt(found: RedactionFacts, shared: SharedText) -> Receipt:
    return Receipt(
        redaction_id=found.id,
        fragment_id=found.fragment_id,
        by=Profile(found.actor_profile_id, found.actor),
        reason=found.reason,
        fragments=shared.fragments,
        removed=found.removed,
        out_of_reach=OUT_OF_REACH,
        recorded_at=found.recorded_at,
    )


def _answer(done: Decided, receipt: Receipt) -> Redacted:
    return Redacted(**{f.name: getattr(done, f.name) for f in fields(done)}, receipt=receipt)
