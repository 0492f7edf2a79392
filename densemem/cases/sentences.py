"""Steps that a case tells in a sentence."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import psycopg
from django.apps import apps
from django.contrib import admin
from django.db import DatabaseError, connections, models, transaction
from django.http import HttpRequest
from django_q.brokers import get_broker
from django_q.models import OrmQ, Schedule
from django_q.scheduler import scheduler

from densemem.audit.tables import rows
from densemem.cases import bundles
from densemem.cases.play import Done, Play
from densemem.cases.statements import statement
from densemem.cases.world import NotUnderstood
from placement.tasks import drain

Attack = Callable[[Any], Any]
ROLES: Final = ("default", "owner")  # the application's role, and the role that owns the tables
LOOKS: Final = 3  # how often a cluster looks at its schedules here
HUGE: Final = 100_000
LISTED: Final = ("relationships", "ingests")


def take(play: Play, done: Done, said: str) -> None:
    """Do what a sentence says.

    :raises NotUnderstood: there is no reading for it
    """
    for pattern, make in SENTENCES:
        found = pattern.fullmatch(said)
        if found:
            make(play, done, found)
            return
    raise NotUnderstood(f"step {done.number}: {said!r}")


def _start_cluster(play: Play, done: Done, found: re.Match[str]) -> None:
    """Let the scheduler look as often as a cluster does, and carry out what it queued."""
    person = play.world.person(next(iter(play.world.members)))
    answered = play.remember(person, bundles.request_body({"evidence": [{"content": "A text that waited."}]}))
    OrmQ.objects.all().delete()  # the wake-up of the request; it did not survive either
    runs: dict[str, int] = dict.fromkeys(Schedule.objects.values_list("name", flat=True), 0)
    for _ in range(LOOKS):
        scheduler(broker=get_broker())
    for task in OrmQ.objects.all():
        name = task.task.get("group") or task.task["name"]
        runs[name] = runs.get(name, 0) + 1
        drained = task.func() == f"{drain.__module__}.{drain.__qualname__}"
        play.found.setdefault("drained", []).append(play.place() if drained else None)
    play.found["runs"] = runs
    play.found["waited"] = play.placement(person, answered.body["ingest_id"])


def _walk(play: Play, done: Done, found: re.Match[str]) -> None:
    """Follow the links of a list from its first page to its last, or back."""
    person = play.found.get("listed")
    if person is None:
        raise NotUnderstood(f"step {done.number}: nothing was made to be listed")
    pages = play.found.setdefault("pages", {})
    if found["size"]:
        pages["size"] = int(found["size"])
        name = next(n for n in LISTED if play.doors.get(person.token, n, limit=1).status == 200)
        pages["list"] = name
        first = play.doors.get(person.token, name, limit=pages["size"])
        pages["pages"] = [first.body]
        pages["forward"] = [_ids(first.body)]
        pages["huge"] = play.doors.get(person.token, name, limit=HUGE)
        pages["person"] = person
        _follow(play, pages, "next", most=2)
    else:
        _follow(play, pages, "next")
        pages["backward"] = [pages["forward"][-1]]
        last = pages["pages"][-1]
        _follow(play, pages, "previous", begin=last)


def _follow(play: Play, pages: dict[str, Any], way: str, *, most: int = HUGE, begin: Any = None) -> None:
    page = begin or pages["pages"][-1]
    kept = pages["forward"] if way == "next" else pages["backward"]
    while page.get(way) and len(kept) < most:
        page = play.doors.get(pages["person"].token, _address(page[way], pages)).body
        kept.append(_ids(page))
        if way == "next":
            pages["pages"].append(page)


def _address(link: str, pages: Mapping[str, Any]) -> str:
    """Return the address of a link, which may be whole, or a cursor alone."""
    if "/" in link:
        parts = urlsplit(link)
        return f"{parts.path}?{parts.query}"
    return f"/api/v1/{pages['list']}?cursor={link}&limit={pages['size']}"


def _ids(page: Mapping[str, Any]) -> list[str]:
    return [row.get("relationship_id") or row.get("ingest_id") or row["id"] for row in page.get("results", [])]


def _insert(play: Play, done: Done, found: re.Match[str]) -> None:
    """Take in newer texts while a list is being read."""
    person = play.found["listed"]
    for number in range(int(found["count"])):
        play.remember(person, bundles.request_body({"evidence": [{"content": f"Newer entry {number}."}]}))


def _attack(play: Play, done: Done, found: re.Match[str]) -> None:
    """Try every way to change history, on every ledger, as both roles; nothing of it is kept."""
    _make_history(play)
    held: list[str] = []
    done_anyway: list[str] = []
    for model in (m for m in apps.get_models() if getattr(m, "ledger", False)):
        for name, alias, attack in _attacks(model):
            refused = _refused(alias, attack)
            (held if refused else done_anyway).append(f"{name} on {model._meta.label} as {alias}")
    play.found["refused"], play.found["done_anyway"] = held, done_anyway
    play.found["truncate_triggers"] = _truncate_triggers()


def _make_history(play: Play) -> None:
    """Let two profiles say the same, so that every ledger of knowledge has rows."""
    person, product = play.world.of_kind("person")[0], play.world.of_kind("product")[0]
    for name in play.world.writers(next(iter(play.world.teams)))[:2]:
        triple = {"owner": name, "s": person, "p": "works_on", "o": product}
        play.world.make_known(play.world.person(name).team, [person, product])
        play.say(name, *statement(play, triple))


def _attacks(model: Any) -> Iterator[tuple[str, str, Attack]]:
    table, key = model._meta.db_table, model._meta.pk.column
    if rows(model._meta.label).exists():
        # A trigger for each row says nothing where there are none.
        for alias in ROLES:
            yield "UPDATE", alias, _runs(f'UPDATE "{table}" SET "{key}" = "{key}"')
            yield "DELETE", alias, _runs(f'DELETE FROM "{table}"')
        yield "COPY", "default", partial(_copy_again, table=table)
        yield "bulk_update", "default", partial(_bulk_update, model=model)
        yield "QuerySet.delete", "default", partial(_queryset_delete, model=model)
        if model in admin.site._registry:
            yield "admin delete", "default", partial(_admin_delete, model=model)
    for alias in ROLES:
        yield "TRUNCATE", alias, _runs(f'TRUNCATE "{table}"')
        yield "TRUNCATE CASCADE", alias, _runs(f'TRUNCATE "{table}" CASCADE')
    yield "TRUNCATE CASCADE from a parent", "owner", _runs('TRUNCATE "densemem_team" CASCADE')


def _runs(sql: str) -> Attack:
    return lambda cursor: cursor.execute(sql)


def _copy_again(cursor: Any, *, table: str) -> None:
    """Copy an old row, with its id, over itself."""
    cursor.execute(f'SELECT t::text FROM "{table}" t LIMIT 1')
    with cursor.copy(f'COPY "{table}" FROM STDIN') as copy:
        copy.write(_copied(cursor, table))


def _copied(cursor: Any, table: str) -> bytes:
    with closing(connections["owner"].cursor()) as reader, reader.copy(f'COPY "{table}" TO STDOUT') as out:
        return bytes(next(iter(out)))


def _bulk_update(_: Any, *, model: Any) -> None:
    row = rows(model._meta.label).first()
    field = next(f for f in model._meta.local_fields if not f.primary_key and f.concrete and f.name != "seq")
    rows(model._meta.label).bulk_update([row], [field.name])


def _queryset_delete(_: Any, *, model: Any) -> None:
    rows(model._meta.label).all()._raw_delete("default")


def _admin_delete(_: Any, *, model: Any) -> None:
    admin.site._registry[model].delete_queryset(HttpRequest(), rows(model._meta.label).all())


def _refused(alias: str, attack: Attack) -> bool:
    try:
        with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
            try:
                attack(cursor)
            finally:
                transaction.set_rollback(True, using=alias)
    except (DatabaseError, psycopg.DatabaseError, models.ProtectedError):  # a copy raises the driver's own
        return True
    return False


def _truncate_triggers() -> dict[str, bool]:
    """Return, by ledger, whether a trigger for the whole statement stands before TRUNCATE."""
    sql = """SELECT tgrelid::regclass::text FROM pg_trigger
             WHERE NOT tgisinternal AND tgtype & 32 = 32 AND tgtype & 1 = 0 AND tgenabled <> 'D'"""
    with connections["default"].cursor() as cursor:
        cursor.execute(sql)
        guarded = {name for (name,) in cursor.fetchall()}
    ledgers = [m._meta.db_table for m in apps.get_models() if getattr(m, "ledger", False)]
    return {table: table in guarded for table in ledgers}


Sentence = Callable[[Play, Done, re.Match[str]], None]
SENTENCES: Final[tuple[tuple[re.Pattern[str], Sentence], ...]] = (
    (re.compile(r"start the cluster"), _start_cluster),
    (re.compile(r"walk next links with page size (?P<size>\d+)"), _walk),
    (re.compile(r"walk previous links from the end(?P<size>)"), _walk),
    (re.compile(r"insert (?P<count>\d+) newer rows between page \d+ and \d+"), _insert),
    (re.compile(r"UPDATE, DELETE, TRUNCATE\b.* on each ledger table \([\w ,-]+\)"), _attack),
)
