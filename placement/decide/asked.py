"""What was asked about a Relationship, and needs no answer once its owner has decided by itself."""

from collections.abc import Collection
from uuid import UUID

from densemem.db.locks import lock
from placement.decide.desk import DecisionRefused, Desk
from placement.operations import settle
from placement.vocabulary import ItemState
from review.operations import cancel_tasks_about
from review.queries import items_waiting_for, open_reason


class Questions:
    """The open questions about one record; the items that wait for them are to be locked before the record.

    :param asked: the reasons of the questions that are meant; all of them when left out
    """

    def __init__(self, desk: Desk, relationship_id: UUID, *, asked: Collection[str] | None = None) -> None:
        self._desk = desk
        self._asked = asked
        self._about = {"team_id": desk.principal.team_id, "relationship_id": relationship_id}
        self.waiting = items_waiting_for(**self._about, asked=asked)

    def hold(self) -> None:
        """Wait for the questions of the owner who decides; after the record."""
        lock("questions", self._desk.principal.team_id, self._desk.principal.profile_id)

    def withdraw(self, reason: str) -> None:
        """Close them, and end each item whose last question that was. They are held.

        :raises DecisionRefused: a text began to wait before the record was locked: its item is not
        """
        desk = self._desk
        if items_waiting_for(**self._about, asked=self._asked) - self.waiting:
            raise DecisionRefused("Something new came in about this Relationship. Try again.", code="changed_meanwhile")
        cancel_tasks_about(**self._about, reason=reason, now=desk.now, asked=self._asked)
        for item_id in sorted(self.waiting):
            self._settle_unasked(item_id)

    def _settle_unasked(self, item_id: UUID) -> None:
        item = self._desk.item(item_id)
        reason = open_reason(team_id=item.team_id, item_id=item.id)
        if item.state == ItemState.AWAITING_REVIEW and reason is None:
            settle(item, reason=None, now=self._desk.now, actor_id=self._desk.principal.profile_id)
