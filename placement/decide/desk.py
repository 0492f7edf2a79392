"""What every decision has in common: its key, the evidence that it brings, and its record."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction

from densemem.auth import Principal
from densemem.core.canonical import digest
from densemem.core.faults import Because, Fault, Refused
from densemem.core.words import Scope
from densemem.db.clock import moment
from densemem.db.keyed import team_digest
from densemem.db.ledger import newest_sequence
from densemem.db.locks import lock
from densemem.db.writer import write_as
from evidence.queries import fragments_of_ingest, moment_of_ingest, usable_among
from evidence.vocabulary import ScanDecision
from placement.decision import DecisionRequest
from placement.models import Item
from placement.operations import lock_items
from placement.remember import KeyReused, Prepared, check_key, prepare, store
from placement.vocabulary import READY
from relationships.queries import RecordChange, changes_since
from review.operations import NewDecision, record_decision
from review.policy import COMPENSATION, UNASKED
from review.queries import DecisionFacts, find_decision
from review.vocabulary import DecisionAction

IMPACT: Final[Mapping[DecisionAction, str]] = {
    DecisionAction.ACKNOWLEDGE: "The question is marked as seen and stays open. Nothing else changes.",
    DecisionAction.SELECT_ENTITY: "What waits for this answer goes back to policy with the chosen entity.",
    DecisionAction.CONFIRM_NEW_ENTITY: "What waits for this answer goes back to policy with an entity of its own.",
    DecisionAction.SELECT_PREDICATE: "The statement is verified anew with the chosen predicate.",
    DecisionAction.ACCEPT: "The statement goes back to policy and may become active; what it replaces is superseded.",
    DecisionAction.CORRECT: "The text is read anew; what it says corrects the statement that it competes with.",
    DecisionAction.REJECT: "What waited for this answer is rejected; a text that is held stays held.",
    DecisionAction.RELEASE: "The text is placed anew as guarded. It may be held again.",
    DecisionAction.FORGET: "The Relationship leaves recall. Its history, evidence and entities stay.",
    DecisionAction.QUARANTINE: "The text is held. What rested on it was judged again without it.",
    DecisionAction.INSPECT: "Nothing changes. That the text was read is recorded.",
    DecisionAction.RETRY: "The failed texts are placed again.",
    DecisionAction.REGISTER: "The wording is registered for this team. What waited for it is verified anew.",
    DecisionAction.RETIRE_PREDICATE: "It is not proposed any more; once retired, it takes nothing new. Records stay.",
    DecisionAction.ADOPT: "The cited words are placed for you. Their author and their source stay what they are.",
    DecisionAction.AMEND: "The corrected Relationship takes the place of the one that was wrong.",
    DecisionAction.DISPUTE: "The Relationship leaves recall until the dispute is lifted.",
    DecisionAction.LIFT: "The Relationship is judged again by the support that it has.",
    DecisionAction.RETIRE: "The text counts no more, for nobody. What rested on it was judged again without it.",
    DecisionAction.REINSTATE: "The support counts again, and its Relationship was judged again with it.",
    DecisionAction.REVERIFY: "The text is verified once more, and policy decides with the new judgment.",
    DecisionAction.NOT_COMPETING: "Your position is recorded. The conflict closes when every position says so.",
    DecisionAction.WITHDRAW: "What the answer granted is revoked, what it replaced is back, and the question is open.",
    DecisionAction.REOPEN: "What was rejected waits again, and the question is open.",
    DecisionAction.MERGE: "You take them for one. Your own Relationships move; those of others stay.",
    DecisionAction.SPLIT: "You tell them apart. What you attributed moves, what you did not is asked about.",
    DecisionAction.DISTINCT: "You hold that they are not the same. Nothing moves; a merge is refused.",
    DecisionAction.WITHDRAW_IDENTITY: "What the decision moved is back; what was said since stays.",
    DecisionAction.RENAME: "It has the new name; the one before is kept as a former name.",
    DecisionAction.REDACT: "The text and every copy of its words are gone. Ids and decisions stay.",
}


class DecisionRefused(Refused):
    """The state of things does not allow the decision; the code names the rule."""

    because = Because.CONFLICT
    code = "decision_refused"


class EvidenceUnusable(Refused):
    """A decision cites evidence that is not there, no longer counts, or is held."""

    code = "evidence_not_usable"


@dataclass(frozen=True, slots=True)
class Decided:
    """
    A decision that stands.

    :param processing_state: of the item that it answers; empty where there is none
    :param evidence_ingest_id: the intake of the evidence that was brought with it
    :param compensation: the decision that undoes it; None when nothing does
    :param check_after_seconds: when it is worth asking again; 0 when nothing will change by itself
    :param changes: of Relationships, made by it at once, at most `limits.IMPACT_CHANGES`
    :param dry_run: it was rehearsed whole and taken back: nothing was stored
    """

    decision_id: UUID
    action: DecisionAction
    review_id: UUID | None
    relationship_id: UUID | None
    ingest_id: UUID | None
    item_id: UUID | None
    item_version: int | None
    processing_state: str
    evidence_ingest_id: UUID | None
    impact_summary: str
    compensation: str | None
    check_after_seconds: int
    changes: tuple[RecordChange, ...] = ()
    dry_run: bool = False
    replayed: bool = False
    identity_id: UUID | None = None  # of a decision about who is who


@dataclass(slots=True)
class Desk:
    """A decision on its way: who decides, what, under which key, with which evidence.

    :param now: when it was asked for, until `take_moment`; then the moment that everything of it carries
    """

    principal: Principal
    asked: DecisionRequest
    key: str
    request_hash: str
    prepared: Prepared | None
    now: datetime
    dry_run: bool = False
    since: int = 0  # the ledgers' sequence when it was opened

    @property
    def operation(self) -> str:
        """The use case that its key belongs to: answers to questions share one."""
        action = self.asked.action
        return action.value if action in UNASKED else "answer"

    def earlier(self) -> Decided | None:
        """Hold the key, and return what was decided under it before.

        :raises KeyReused: it was another decision
        """
        team, profile = self.principal.team_id, self.principal.profile_id
        lock("decision", team, profile, self.operation, self.key)
        found = find_decision(team_id=team, owner_id=profile, operation=self.operation, key=self.key)
        if found is None:
            return None
        if found.request_hash != self.request_hash:
            raise KeyReused("This Idempotency-Key was used for another decision. Send the change under a new key.")
        return decided(found, item=self.item(found.item_id) if found.item_id else None, replayed=True)

    @contextmanager
    def sitting(self) -> Iterator[None]:
        """The one transaction of the decision; a rehearsal runs it whole, checks every law, and takes it back."""
        with transaction.atomic():
            write_as(self.principal.profile_id)
            yield
            if self.dry_run:
                connection.check_constraints()
                transaction.set_rollback(True)

    def take_moment(self) -> datetime:
        """Take the moment of the decision, and return it; the caller holds every lock that orders what it writes."""
        self.now = moment(self.principal.team_id)
        return self.now

    def answer(self, made: DecisionFacts, *, item: Item | None = None) -> Decided:
        """Return the decision that was just recorded, with what it changed."""
        team = self.principal.team_id
        moments = [self.now]
        if made.evidence_ingest_id:
            moments.append(moment_of_ingest(team_id=team, ingest_id=made.evidence_ingest_id))
        changes = changes_since(team_id=team, seq=self.since, moments=moments)
        return replace(decided(made, item=item), changes=tuple(changes), dry_run=self.dry_run)

    def stage(self, *, beside: Collection[UUID]) -> UUID | None:
        """Store the evidence that is brought, as any other, and lock the items that the decision changes."""
        if self.prepared is None:
            lock_items(team_id=self.principal.team_id, item_ids=beside)
            return None
        key = f"decision:{digest([self.key, self.request_hash])}"
        return store(self.principal, self.prepared, key=key, now=self.now, beside=beside).ingest_id

    def refuse_held_evidence(self) -> None:
        """Refuse evidence that the scan holds, where its question would be opened out of the order of locks.

        :raises EvidenceUnusable: naming each text
        """
        texts = self.prepared.assessments if self.prepared else ()
        held = [i for i, found in enumerate(texts) if found.decision is ScanDecision.QUARANTINE]
        if held:
            faults = [Fault(f"/evidence/{i}", "not_usable", "This text would be held.") for i in held]
            raise EvidenceUnusable("The decision cannot rest on a text that is held.", faults=faults)

    def item(self, item_id: UUID) -> Item:
        """Return an item, locked, as it is now."""
        (row,) = lock_items(team_id=self.principal.team_id, item_ids=[item_id])
        return row

    def record(self, *, staged: UUID | None, **about: Any) -> DecisionFacts:
        """Append the decision with its author and the evidence that it rests on.

        :raises EvidenceUnusable: a cited fragment is not there, outdated or held
        """
        team = self.principal.team_id
        cited = set(self.asked.fragment_ids)
        if missing := cited - usable_among(team_id=team, fragment_ids=cited):
            faults = [Fault("/fragment_ids", "not_usable", f"{m} cannot be cited.") for m in sorted(missing)]
            raise EvidenceUnusable("The decision cites evidence that is not there, outdated or held.", faults=faults)
        brought = fragments_of_ingest(team_id=team, ingest_id=staged) if staged else []
        new = NewDecision(
            team_id=team,
            owner_id=self.principal.profile_id,
            user_id=self.principal.user_id,
            action=self.asked.action,
            operation=self.operation,
            idempotency_key=self.key,
            request_hash=self.request_hash,
            message=self.asked.message,
            evidence_ingest_id=staged,
            **about,
        )
        return record_decision(new, fragment_ids=[*self.asked.fragment_ids, *brought], now=self.now)


def open_desk(
    *,
    principal: Principal,
    asked: DecisionRequest,
    about: UUID | str,
    body: object,
    key: str,
    now: datetime,
    dry_run: bool = False,
) -> Desk:
    """Check who asks, the key, and the evidence that is brought; nothing is written.

    :param about: the id of what is decided about, or the key of a predicate
    :raises ScopeMissing: no write scope
    :raises Refused: one of its kinds
    """
    principal.require(Scope.WRITE)
    check_key(key)
    prepared = prepare(principal, asked.evidence) if asked.evidence else None
    request_hash = team_digest(principal.team_id, [asked.action, str(about), body])
    key = team_digest(principal.team_id, key)  # whoever chose it may have made it of the words
    return Desk(principal, asked, key, request_hash, prepared, now, dry_run, since=newest_sequence())


def decided(made: DecisionFacts, *, item: Item | None = None, replayed: bool = False) -> Decided:
    """Return the public form of a recorded decision, with the state that its item has now."""
    state = str(item.state) if item is not None else ""
    waits = item is not None and item.state in READY
    return Decided(
        decision_id=made.id,
        action=made.action,
        review_id=made.task_id,
        relationship_id=made.relationship_id,
        ingest_id=item.ingest_id if item is not None else None,
        item_id=item.id if item is not None else None,
        item_version=item.version if item is not None else None,
        processing_state=state,
        evidence_ingest_id=made.evidence_ingest_id,
        impact_summary=IMPACT[made.action],
        compensation=COMPENSATION[made.action],
        check_after_seconds=1 if waits else 0,
        replayed=replayed,
    )
