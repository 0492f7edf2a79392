"""A long queue, written in bulk: the rows of remember, without its checks and its scan."""

from collections.abc import Iterator
from uuid import UUID, uuid4

import psycopg
from django.apps import apps
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from densemem.auth import Principal
from densemem.bench.load import Step
from densemem.bench.notes import note
from densemem.bench.people import tell
from densemem.core.canonical import keyed_digest
from densemem.db.server import url_of
from evidence.operations import open_ingest
from evidence.policy import normal_text
from evidence.vocabulary import ScanDecision
from placement.operations import Staging, open_run

CHUNK = 500  # fragments of one ingest


def queue_jobs(who: Principal, count: int, *, seed: int, step: Step) -> None:
    """Queue so many notes of one owner.

    :param seed: of the notes; none of them may be in the team already
    """
    first = tell(who, [0], seed=seed)
    fragments = apps.get_model("evidence", "Fragment")
    group_id = fragments.objects.get(ingest_id=first).group_id
    for start in range(1, count, CHUNK):
        _chunk(who, range(start, min(start + CHUNK, count)), seed=seed, group_id=group_id)
        step(f"Queue {count} jobs", start / count)
    analyse()


def analyse() -> None:
    """Let the server look at what its tables hold now, as it would by itself within a minute."""
    with psycopg.connect(url_of(settings.DATABASES["owner"]), autocommit=True) as owner:
        owner.execute("ANALYZE")


@transaction.atomic
def _chunk(who: Principal, numbers: range, *, seed: int, group_id: UUID) -> None:
    """Store one ingest with its notes, and queue them."""
    fragment, content = (apps.get_model("evidence", name) for name in ("Fragment", "Content"))
    team, now = who.team_id, timezone.now()
    ingest_id = open_ingest(team_id=team, owner_id=who.profile_id, key=uuid4().hex, request_hash=uuid4().hex, now=now)
    texts = [
        content(team_id=team, digest=digest, normal_digest=normal, text=text, recorded_at=now)
        for text, digest, normal in _texts(numbers, seed)
    ]
    content.objects.bulk_create(texts)
    rows = [
        fragment(
            team_id=team,
            owner_id=who.profile_id,
            ingest_id=ingest_id,
            evidence_index=index,
            content=text,
            source_type="document",
            authority="unknown",
            group_id=group_id,
            recorded_at=now,
        )
        for index, text in enumerate(texts)
    ]
    fragment.objects.bulk_create(rows)
    items = [Staging(row.id, row.evidence_index, ScanDecision.PASS, None) for row in rows]
    open_run(team_id=team, owner_id=who.profile_id, ingest_id=ingest_id, items=items, now=now)


def _texts(numbers: range, seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield each text with both of its digests."""
    key = settings.CONTENT_KEY.encode()
    for number in numbers:
        text = note(number, seed=seed)
        yield text, keyed_digest(key, text), keyed_digest(key, normal_text(text))
