"""What was served to a profile, and which of its new texts only repeat it.

Source page: "Source Independence And Fact Promotion".
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final
from uuid import UUID

from django.conf import settings

from densemem.core import limits
from densemem.core.canonical import canonical_json, keyed_digest
from densemem.db.insert import insert
from densemem.db.read import fetch
from evidence.models import Served
from evidence.operations.voices import hashed
from evidence.policy import heard_runs, long_enough, word_runs

WAS_SERVED: Final = """
    SELECT EXISTS (SELECT FROM evidence_served WHERE team_id = %(team)s AND profile_id = %(profile)s)"""
HEARD: Final = """
    SELECT DISTINCT hashes, groups FROM evidence_served
    WHERE team_id = %(team)s AND profile_id = %(profile)s AND anchor = ANY(%(heard)s) AND day >= %(since)s"""
OLD: Final = """
    WITH old AS (SELECT ctid FROM evidence_served WHERE day < %(since)s LIMIT %(most)s),
         gone AS (DELETE FROM evidence_served WHERE ctid IN (SELECT ctid FROM old) RETURNING 1)
    SELECT count(*) FROM gone"""


@dataclass(frozen=True, slots=True)
class Passage:
    """
    Words that were shown.

    :param cited: they are words of evidence, and short ones say nothing; a claim's sentence counts however short
    :param groups: the source groups that said it first: see `evidence.queries.origins_of`
    """

    text: str
    cited: bool
    groups: frozenset[UUID]
    relationships: frozenset[UUID]


def note_served(*, team_id: UUID, profile_id: UUID, passages: Iterable[Passage], now: datetime) -> None:
    """Note what an answer showed to a profile, in one statement; the same words on the same day are noted once."""
    telling = (p for p in passages if p.groups and (long_enough(p.text) or not p.cited))
    rows = (_row(team_id, profile_id, passage, now) for passage in islice(telling, limits.ECHO_PASSAGES))
    insert({row.mark: row for row in rows if row}.values(), ignore_conflicts=True)


def echoes(
    *, team_id: UUID, profile_id: UUID, said: Sequence[tuple[str, UUID]], now: datetime
) -> list[frozenset[UUID]]:
    """Return, for each (text, source group) of a profile, the source groups of what it repeats of what it was served.

    A text whose own group the words rest on adds no voice, and is no echo.
    """
    ((served,),) = fetch(WAS_SERVED, team=team_id, profile=profile_id)
    if not served:
        return [frozenset()] * len(said)
    heard = [hashed(team_id, heard_runs(text)) for text, _ in said]
    every = list(frozenset().union(*heard))
    found = fetch(HEARD, team=team_id, profile=profile_id, heard=every, since=_oldest(now))
    known = [(frozenset(hashes), frozenset(groups)) for hashes, groups in found]
    return [_repeated(mine, group, known) for mine, (_, group) in zip(heard, said, strict=True)]


def forget_served(*, now: datetime) -> int:
    """Delete what was served too long ago, and return how many rows that were."""
    gone = 0
    while deleted := fetch(OLD, since=_oldest(now), most=limits.SERVED_SWEEP)[0][0]:
        gone += deleted
    return gone


def _row(team_id: UUID, profile_id: UUID, passage: Passage, now: datetime) -> Served | None:
    hashes = sorted(hashed(team_id, word_runs(passage.text)))[: limits.ECHO_HASHES]
    if not hashes:
        return None
    groups = sorted(passage.groups)
    return Served(
        team_id=team_id,
        profile_id=profile_id,
        day=now.date(),
        mark=keyed_digest(settings.CONTENT_KEY.encode(), canonical_json([hashes, groups]).decode()),
        anchor=hashes[0],
        hashes=hashes,
        groups=groups,
        relationships=sorted(passage.relationships),
        served_at=now,
    )


def _repeated(
    heard: frozenset[int], mine: UUID, known: Collection[tuple[frozenset[int], frozenset[UUID]]]
) -> frozenset[UUID]:
    rests = [groups for hashes, groups in known if hashes <= heard and mine not in groups]
    return frozenset().union(*rests)


def _oldest(now: datetime) -> object:
    return (now - timedelta(days=limits.SERVED_DAYS)).date()
