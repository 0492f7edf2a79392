"""Claims of workers: an item under a lease, timed by the database clock and fenced by a token."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.utils import timezone
from django_q.tasks import async_task
from psycopg import ClientCursor

from densemem.core import limits
from densemem.db.clock import moment
from densemem.db.insert import insert
from densemem.db.read import fetch
from densemem.db.writer import PROFILE
from placement.models import Attempt, Item
from placement.operations.steps import end
from placement.policy import backoff, may_go_uncounted, may_try_again
from placement.vocabulary import AttemptOutcome, ItemCategory, ItemState

DRAIN: Final = "placement.tasks.drain"
LEASE: Final = timedelta(seconds=limits.LEASE_SECONDS)

WAKING: Final = "SELECT FROM django_q_ormq WHERE lock <= %(now)s LIMIT 1"  # nothing but wake-ups is ever queued there

# One statement and a transaction of its own, so that a claim costs one round trip. Each order is that of a partial
# index, so the backlog behind the first row is never read; statistics older than the backlog would have the planner
# sort all of it, hence the settings. The start of the statement, unlike the clock, may bound a scan of an index.
DUE: Final = """
    SELECT id FROM placement_item
    WHERE state IN ('queued', 'guarded') AND available_at <= statement_timestamp()
      AND (lease_until IS NULL OR lease_until < statement_timestamp())"""
TAKE: Final = "LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED"
OLDEST: Final = f"({DUE} ORDER BY available_at, id {TAKE})"
IN_TURN: Final = f"""coalesce(
    ({DUE} AND team_id > %(after)s ORDER BY team_id, available_at, id {TAKE}),
    ({DUE} AND team_id <= %(after)s ORDER BY team_id, available_at, id {TAKE}))"""
CLAIM: Final = """
    SET LOCAL enable_sort = off; SET LOCAL enable_incremental_sort = off;
    UPDATE placement_item
    SET attempts = attempts + 1, attempt_token = %(token)s,
        lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
    WHERE id = """
CLAIMED: Final = """
    RETURNING team_id, owner_id, ingest_id, id, fragment_id, attempt_token, attempts, version, state = 'guarded'"""

# The fence of every write, judged inside the statement itself, also when it had to wait for the row.
OURS: Final = """
    WHERE team_id = %(team)s AND id = %(item)s AND attempt_token = %(token)s
    AND lease_until > clock_timestamp() AND state IN ('queued', 'guarded')"""
# Who sent the text is who writes, until the transaction ends.
HOLD: Final = f"""
    SELECT *, set_config('{PROFILE}', owner_id::text, true) AS writes_for
    FROM "placement_item" {OURS} FOR UPDATE"""  # noqa: S608 - our own words
RENEW: Final = f"UPDATE placement_item SET lease_until = clock_timestamp() + %(lease)s {OURS}"  # noqa: S608


class LeaseLost(Exception):
    """Another worker holds the item now, or it was ended: stop before the commit."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An item under a lease. Whoever holds the token may end it, until the lease is over."""

    team_id: UUID
    owner_id: UUID
    ingest_id: UUID
    item_id: UUID
    fragment_id: UUID
    token: UUID
    attempts: int
    cycle: int
    guarded: bool


@dataclass(frozen=True, slots=True)
class CallReport:
    """Telemetry of one model call."""

    stage: str
    number: int
    outcome: AttemptOutcome
    milliseconds: int
    code: str = ""
    faults: int = 0
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_micros: int = 0  # millionths of a US dollar


def database_now() -> datetime:
    """Return the database's clock: the only one that leases know."""
    ((now,),) = fetch("SELECT clock_timestamp()")
    assert isinstance(now, datetime)
    return now


def wake() -> None:
    """Ask django-q2 to wake a drain, unless one is waiting already: its broker counts its whole queue each time.

    The rows of the queue are durable; a wake-up that is lost costs time only, and a schedule makes up for it.
    """
    if not fetch(WAKING, now=timezone.now()):
        async_task(DRAIN)


def claim_next(*, after: UUID | None = None) -> Claim | None:
    """Take an item for one lease; None when nothing is ready.

    An item that was claimed as often as it may, and never ended, ends as failed: it may be what kills its workers.

    :param after: the team that was served last: the teams are served in turn, in the order of their ids, and of each
        the item that waited longest; without it, the item that waited longest of all
    """
    while claim := _claim(after):
        if may_try_again(attempts=claim.attempts - 1):
            return claim
        _give_up(claim)
    return None


def _claim(after: UUID | None) -> Claim | None:
    """Take what is next in turn, whatever became of it before."""
    with connection.cursor() as cursor:
        chosen = OLDEST if after is None else IN_TURN
        given = {"after": after, "token": uuid4(), "lease": limits.LEASE_SECONDS}
        # Several statements go out at once only with their values inside.
        cursor.execute(ClientCursor(connection.connection).mogrify(CLAIM + chosen + CLAIMED, given))
        while cursor.nextset():  # past the settings
            pass
        found = cursor.fetchone()
    return Claim(*found) if found else None


@transaction.atomic
def _give_up(claim: Claim) -> None:
    row = hold(claim)
    row.attempts -= 1
    now = moment(claim.team_id)
    end(row, state=ItemState.FAILED, category=ItemCategory.FAILED, reason="attempts_exhausted", now=now)


def heartbeat(claim: Claim) -> None:
    """Renew the lease.

    :raises LeaseLost: it is not ours any more
    """
    with connection.cursor() as cursor:
        cursor.execute(RENEW, ours(claim))
        if not cursor.rowcount:
            raise LeaseLost(claim.item_id)


def hold(claim: Claim) -> Item:
    """Lock the claimed item inside a transaction and make sure that it is still ours.

    :raises LeaseLost: it is not
    """
    for row in Item.objects.raw(HOLD, ours(claim)):
        return row
    raise LeaseLost(claim.item_id)


@transaction.atomic
def put_back(claim: Claim, *, reason: str, uncounted: bool = False, asked_seconds: float = 0) -> None:
    """Give a claimed item back with a wait, or end it when it was tried often enough.

    :param asked_seconds: the wait that the other side asked for; a longer one than ours is kept
    :param uncounted: the try does not count, and there is no wait; but only so often
    :raises LeaseLost: the item is not ours any more
    """
    row = hold(claim)
    if uncounted and may_go_uncounted(uncounted=row.uncounted):
        row.attempts -= 1
        row.uncounted += 1
    elif not may_try_again(attempts=row.attempts):
        end(row, state=ItemState.FAILED, category=ItemCategory.FAILED, reason=reason, now=moment(claim.team_id))
        return
    else:
        wait = backoff(tries=row.attempts, chance=random.random(), asked_seconds=asked_seconds)  # noqa: S311 - no secret
        row.available_at = database_now() + timedelta(seconds=wait.seconds)
    row.attempt_token, row.lease_until = None, None
    row.save(update_fields=["attempts", "uncounted", "available_at", "attempt_token", "lease_until"])


def report_calls(claim: Claim, calls: Sequence[CallReport], *, now: datetime | None = None) -> None:
    """Keep the telemetry of model calls, whatever became of the item.

    :param now: the database's clock, where the caller knows it
    """
    made_at = now or database_now()
    insert(
        Attempt(
            team_id=claim.team_id,
            item_id=claim.item_id,
            stage=c.stage,
            number=c.number,
            outcome=c.outcome,
            code=c.code[:64],
            faults=c.faults,
            model=c.model[:128],
            tokens_in=c.tokens_in,
            tokens_out=c.tokens_out,
            cost_micros=c.cost_micros,
            milliseconds=c.milliseconds,
            made_at=made_at,
        )
        for c in calls
    )


def ours(claim: Claim) -> dict[str, Any]:
    """Return what the fence asks for."""
    return {"team": claim.team_id, "item": claim.item_id, "token": claim.token, "lease": LEASE}
