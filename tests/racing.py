"""Real threads on real transactions: works that begin at one moment, and works that wait for each other."""

import json
import random
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from django.db import connection, connections

from densemem.providers.base import Answer, Call, Provider, Stage
from densemem.providers.scripted import Scripted
from evidence.policy import count_voices
from evidence.queries import joins_of
from placement.models import Item
from placement.operations import Claim, claim_next
from placement.pipeline import place
from placement.tasks import drain
from relationships.models import RelationshipRecord, Transition
from relationships.queries import records_by_id
from tests.said import Fact, extraction, verification

PATIENCE: Final = 20  # seconds until a race counts as stuck
WAITS: Final = """
    SELECT count(*) FROM pg_locks JOIN pg_stat_activity AS waits USING (pid)
    WHERE NOT granted AND waits.datname = current_database()"""


def claimed() -> Claim:
    """Claim the next item."""
    claim = claim_next()
    assert claim is not None
    return claim


def dawdle(execute: Callable[..., Any], *statement: Any) -> Any:
    """Do a statement and rest for up to four milliseconds."""
    try:
        return execute(*statement)
    finally:
        time.sleep(random.random() / 250)


def together(*works: Callable[[], Any]) -> list[Any]:
    """Do the works at one moment, each in a thread of its own that rests a little after each statement."""
    start = threading.Barrier(len(works))
    results: list[Any] = [TimeoutError("stuck")] * len(works)

    def run(index: int, work: Callable[[], Any]) -> None:
        try:
            start.wait(PATIENCE)
            with connection.execute_wrapper(dawdle):
                results[index] = work()
        except Exception as raised:
            results[index] = raised
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    return results


def meeting(provider: Provider, barrier: threading.Barrier) -> Provider:
    """Return the provider, waiting for the others before its verdict: all have read their candidates by then."""

    def answer(call: Call) -> Answer:
        answer = provider.complete(call)
        if call.stage is Stage.VERIFY:
            barrier.wait(PATIENCE)
        return answer

    return Scripted(answer)


def place_at_once(*providers: Provider) -> None:
    """Claim one item for each provider and commit all at one moment; then place what went back to the queue."""
    barrier = threading.Barrier(len(providers))
    works = [lambda p=p: place(claimed(), meeting(p, barrier)) for p in providers]
    assert together(*works) == [None] * len(providers)
    drain(using=providers[0], linger=False)


def finished() -> None:
    """Make sure that no item failed or is left, and that none met a fault of ours."""
    assert set(Item.objects.values_list("state", flat=True)) <= {"completed", "awaiting_review", "superseded"}
    assert set(Item.objects.values_list("attempts", flat=True)) <= {0, 1}


def counts_are_true(team_id: Any) -> None:
    """Compare every record with a fresh count of its effective support, and with its newest transition."""
    ids = RelationshipRecord.objects.filter(team_id=team_id).values_list("id", flat=True)
    for record in records_by_id(team_id=team_id, record_ids=list(ids)):
        said = [s.source for s in record.effective]
        joins = joins_of(team_id=team_id, said=said)
        newest = Transition.objects.filter(relationship_id=record.id).latest("seq")
        assert (record.support_count, record.source_group_count) == (len(said), count_voices(said, joins))
        assert (newest.version, newest.tier, newest.status) == (record.version, record.tier, record.status)
        assert newest.source_group_count == record.source_group_count


def only(texts: dict[str, list[Fact]]) -> Provider:
    """Return a provider that finds in each text the facts given under a word of it."""

    def answer(call: Call) -> str:
        request = json.loads(call.turns[0].text)
        text = request["evidence"][0]["content"]
        facts = next(found for word, found in texts.items() if word in text)
        return json.dumps((extraction if call.stage is Stage.EXTRACT else verification)(request, facts))

    return Unlocked(answer)


class Unlocked:
    """A scripted provider whose threads do not wait for each other."""

    name = "scripted"

    def __init__(self, answer: Callable[[Call], str]) -> None:
        self.answer = answer

    def complete(self, call: Call) -> Answer:
        """Return the answer to a call."""
        return Answer(self.answer(call), self.name)


def somebody_waits() -> bool:
    """Tell if a transaction waits for a lock."""
    with connection.cursor() as cursor:
        cursor.execute(WAITS)
        return bool(cursor.fetchone()[0])


def until(holds: Callable[[], bool]) -> None:
    """Wait for something, and no longer than it may take."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "stuck"
        time.sleep(0.02)


def run(*works: Callable[[], object]) -> None:
    """Run works in threads of their own, and let what one of them raises be raised here."""
    raised: list[BaseException] = []

    def guarded(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=guarded, args=[work], daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    assert raised == []
    assert not any(thread.is_alive() for thread in threads), "stuck"
