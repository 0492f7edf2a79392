"""What a hold set aside, once its text is released: nothing is held of it any more."""

from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.core import limits
from densemem.db.locks import share
from evidence.queries import held_back_among
from relationships.models import EvidenceSupport
from relationships.operations.meeting import change_of, judged
from relationships.operations.standing import FanoutExceeded, apply_changes, hold_records
from relationships.policy import Standing, StoredRecord
from relationships.queries import records_by_id
from relationships.search import write_documents
from relationships.vocabulary import Status

RELEASED: Final = "evidence_released"


def let_go(*, team_id: UUID, fragment_id: UUID, now: datetime) -> None:
    """Judge what was quarantined for this text by the support that counts; what another held text set aside stays so.

    What the text says when it is read anew counts then. The hold has ended before, and the caller has waited.

    :raises FanoutExceeded: before anything is written
    """
    found = _resting_on(team_id, fragment_id)
    locked = records_by_id(team_id=team_id, record_ids=found, lock=True)
    texts = {s.fragment_id for record in locked for s in record.supports}
    held = held_back_among(team_id=team_id, fragment_ids=texts)
    free = [r for r in locked if r.status is Status.QUARANTINED and not held & {s.fragment_id for s in r.supports}]
    changes = [change_of(r, _worth(r)) for r in free]
    apply_changes(team_id=team_id, changes=changes, now=now)
    write_documents(team_id=team_id, record_ids={r.id for r in free}, now=now)


def wait_to_let_go(*, team_id: UUID, fragment_id: UUID) -> None:
    """Wait for the records that a release judges, and for their conflict cases.

    :raises FanoutExceeded: more was set aside than one transaction may change
    """
    share("groups", team_id)
    hold_records(team_id=team_id, record_ids=_resting_on(team_id, fragment_id))


def _resting_on(team_id: UUID, fragment_id: UUID) -> set[UUID]:
    rows = EvidenceSupport.objects.of_team(team_id).filter(fragment_id=fragment_id)
    resting = rows.filter(relationship__status=Status.QUARANTINED).values_list("relationship_id", flat=True)
    found = set(resting.distinct()[: limits.FANOUT_RECORDS + 1])
    if len(found) > limits.FANOUT_RECORDS:
        raise FanoutExceeded("Too much knowledge depends on this text to change it at once.")
    return found


def _worth(record: StoredRecord) -> Standing:
    standing, _ = judged(record.effective, team_id=record.identity.team_id)
    return Standing(standing.tier, standing.status, RELEASED)
