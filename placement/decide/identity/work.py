"""One decision about who is who on its way: what it depends on, what it has counted, and the token of its preview."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hmac import compare_digest
from typing import Final
from uuid import UUID

from django.conf import settings

from densemem.core.canonical import canonical_json, digest, keyed_digest
from densemem.core.faults import Because, Fault, NotThere, Refused
from densemem.core.ids import uuid7
from densemem.db.locks import lock, share
from entities.operations import lock_identity, record_identity
from entities.plan import NewBasis, NewIdentityDecision
from entities.queries import active_kinds
from entities.stored import decisions_about
from entities.vocabulary import EntityKind, IdentityKind, MemberRole
from placement.decide.desk import Desk
from placement.decision import IdentityRequest
from placement.models import Item
from placement.operations import lock_items
from placement.request import RequestInvalid
from relationships.operations import lock_cases
from relationships.reattribute import Around, ChangedMeanwhile
from review.queries import DecisionFacts

HOLDS_FOR: Final = timedelta(minutes=15)


class ImpactStale(Refused):
    """What the decision would change is not what was previewed; nothing was changed."""

    because = Because.CONFLICT
    code = "impact_stale"


@dataclass(slots=True)
class Work:
    """
    A decision about who is who, from its first look to its rows.

    :param state: everything that its effect depends on, with versions
    :param applied: it is done as it was previewed; a preview itself is not
    """

    desk: Desk
    asked: IdentityRequest
    applied: bool
    number: UUID = field(default_factory=uuid7)
    state: list[object] = field(default_factory=list)
    members: tuple[tuple[UUID, MemberRole], ...] = ()
    basis: tuple[NewBasis, ...] = ()
    items: dict[UUID, Item] = field(default_factory=dict)
    mentions: int = 0
    left_open: int = 0
    supports: int = 0
    questions: int = 0
    others: int = 0

    @property
    def team(self) -> UUID:
        """Where it is decided."""
        return self.desk.principal.team_id

    @property
    def me(self) -> UUID:
        """Whose decision it is."""
        return self.desk.principal.profile_id

    def kinds(self) -> dict[UUID, EntityKind]:
        """Return the kind of each Entity that is named.

        :raises NotThere: one of them is not in the team
        """
        found = active_kinds(team_id=self.team, entity_ids=self.asked.entities)
        if set(self.asked.entities) - set(found):
            raise NotThere
        return found

    def lock(self, item_ids: Iterable[UUID]) -> None:
        """Hold the items that may be asked about, then the source groups, then who is who for the author."""
        self.items = {row.id: row for row in lock_items(team_id=self.team, item_ids=set(item_ids))}
        share("groups", self.team)
        lock_identity(team_id=self.team, profile_id=self.me)

    def check_held(self, item_ids: Iterable[UUID]) -> None:
        """Refuse to go on about an item that came in before the lock on who is who was held.

        :raises ChangedMeanwhile: the same may be sent again
        """
        if set(item_ids) - self.items.keys():
            raise ChangedMeanwhile("Something new came in about these entities. Send the same again.")

    def depend_on(self, around: Around | None, *more: object, entities: Collection[UUID]) -> None:
        """Take the last locks and the moment, note what the effect follows from, and refuse what was not previewed.

        :raises ImpactStale: it is something else now, or the preview is too old
        """
        lock_cases(self.team)
        lock("questions", self.team, self.me)
        self.desk.take_moment()
        made = decisions_about(team_id=self.team, author_id=self.me, entity_ids=entities)
        records = sorted((str(r.id), r.version) for r in around.met) if around else []
        self.state = [records, sorted(str(d.id) for d in made), [str(d.withdrawn_by) for d in made], *more]
        if self.applied:
            self._check()

    def record(self) -> DecisionFacts:
        """Append the decision and what it is about; what it moves names it."""
        kind, entity = self.asked.kind, self.asked.entities[0] if self.asked.entities else None
        made = self.desk.record(staged=None, entity_id=entity)
        new = NewIdentityDecision(
            id=self.number,
            team_id=self.team,
            author_id=self.me,
            kind=kind,
            decision_id=made.id,
            impact_hash=digest(self.state),
            members=self.members,
            basis=self.basis,
            of_decision_id=self.asked.identity_id if kind is IdentityKind.WITHDRAW else None,
        )
        record_identity(new, now=self.desk.now)
        return made

    def token(self, expires: datetime) -> str:
        """Return the token that applies exactly this effect for the same caller, until a moment."""
        return f"{int(expires.timestamp())}.{self._mac(int(expires.timestamp()))}"

    def _check(self) -> None:
        if not self.asked.token:
            faults = [Fault("/token", "missing_field", "Preview the decision, and send the token of the preview.")]
            raise RequestInvalid("Nothing was decided. Preview it first.", faults=faults)
        stamp, _, mac = self.asked.token.partition(".")
        until = int(stamp) if stamp.isascii() and stamp.isdecimal() and len(stamp) < 12 else 0
        ours = compare_digest(mac.encode("utf-8", "replace"), self._mac(until).encode())
        if datetime.fromtimestamp(until, UTC) < self.desk.now or not ours:
            detail = "What this would change is not what was previewed, or that was too long ago. Preview it again."
            raise ImpactStale(detail)

    def _mac(self, until: int) -> str:
        asked = [self.asked.kind, self.asked.entities, self.asked.children, str(self.asked.identity_id)]
        cited = [
            [b.kind, str(b.entity_id), b.scheme, b.value, str(b.fragment_id), b.start, b.end] for b in self.asked.basis
        ]
        content = [self.team, self.me, asked, cited, self.desk.asked.message, self.state, until]
        return keyed_digest(f"{settings.CONTENT_KEY}\x1fidentity".encode(), canonical_json(content).decode())
