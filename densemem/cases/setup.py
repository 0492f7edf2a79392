"""What is there before the first step of a case: known things, and everything that was said before."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import Any, Final
from uuid import UUID

from django.utils import timezone
from django_q.models import Schedule

from densemem.audit.tables import rows
from densemem.cases import bundles, identities
from densemem.cases.operations import exists
from densemem.cases.play import Play
from densemem.cases.statements import Entries, statement
from densemem.cases.steps import send_revision, take
from densemem.cases.tables import take_snapshot
from densemem.cases.world import NotUnderstood

STATE: Final = ("version", "tier", "status", "support_count", "source_group_count")
PRIOR: Final = {
    "owner",
    "s",
    "p",
    "o",
    "value",
    "polarity",
    "tier",
    "status",
    "group",
    "valid_from",
    "valid_to",
    "scope",
}


def prepare(play: Play) -> None:
    """Make everything known, then say what was said before.

    :raises NotUnderstood: the setup says something for which there is no reading
    """
    setup = play.case.setup
    wanted = [*setup.get("entities", []), *_named(play)]
    for team in _teams(play):
        play.world.make_known(team, wanted)
    play.opening = take_snapshot()
    for name, given in setup.items():
        read = _secret_of(name) if name in play.world.teams else READINGS.get(name)
        if read is None:
            raise NotUnderstood(f"setup.{name}: {given!r}")
        read(play, given)


def record(play: Play, prior: Mapping[str, Any], *, text: str = "", fields: Mapping[str, Any] | None = None) -> UUID:
    """Let the owner say what makes a record, and return the record."""
    said, entries = statement(play, prior, text)
    given = {"source_group": prior["group"]} if "group" in prior else {}
    fact = prior.get("tier") == "fact"
    sources: list[Mapping[str, Any]] = [fields] if fields else [given]
    if fact:
        sources = [{**given, "source_key": f"before-{n}", "source_revision": "1"} for n in (1, 2)]
    for number, source in enumerate(sources):
        # Texts that are nearly equal are one voice, so a second source says it in its own words.
        again, found_in_it = (said, entries) if number == 0 else statement(play, prior, between="also ")
        play.say(prior["owner"], again, found_in_it, **source)
    found = rows("relationships.RelationshipRecord").order_by("recorded_at", "pk").last()
    if found is None:
        raise NotUnderstood(f"setup.prior {dict(prior)!r}: nothing was made of it")
    state = found if not fact else rows("relationships.RelationshipRecord").get(pk=found.pk)
    for name in ("tier", "status"):
        if name in prior and getattr(state, name) != prior[name]:
            raise NotUnderstood(f"setup.prior {dict(prior)!r}: its {name} is {getattr(state, name)}")
    made: UUID = state.id
    return made


def _named(play: Play) -> list[str]:
    """Return the things that the script or a prior record speaks of, whether the setup lists them or not."""
    listed = {e["key"] for e in play.case.setup.get("entities", []) if isinstance(e, Mapping)}
    found: list[str] = []

    def note(placeholder: str) -> str:
        if placeholder.startswith("$cand:"):
            found.append(re.split(r"[:./]", placeholder)[-1])
        return placeholder

    bundles.replaced(list(play.case.script), note)
    prior = play.case.setup.get("prior", [])
    found += [row[end] for row in prior if isinstance(row, Mapping) for end in ("s", "o") if end in row]
    return [key for key in dict.fromkeys(found) if key not in listed]


def _teams(play: Play) -> list[str]:
    """Return the teams in which somebody acts; the first one always."""
    actors = [step["as"] for step in play.case.steps if isinstance(step, Mapping) and "as" in step]
    acting = {play.world.person(name).team for name in actors} | {next(iter(play.world.teams))}
    return [team for team in play.world.teams if team in acting or team in play.case.setup]


def _priors(play: Play, given: Any) -> None:
    for prior in given if isinstance(given, list) else [given]:
        if isinstance(prior, str):
            _prior_in_words(play, prior)
            continue
        if set(prior) - PRIOR:
            raise NotUnderstood(f"setup.prior: {sorted(set(prior) - PRIOR)}")
        _keep(play, record(play, prior))


def _keep(play: Play, number: UUID) -> None:
    play.priors.append(number)
    play.prior_states[number] = rows("relationships.RelationshipRecord").values(*STATE, "recorded_at").get(pk=number)


def _prior_in_words(play: Play, text: str) -> None:
    for pattern, read in PRIORS:
        found = pattern.fullmatch(text)
        if found:
            read(play, found)
            return
    raise NotUnderstood(f"setup.prior: {text!r}")


def _done_before(play: Play, found: re.Match[str]) -> None:
    """Take a step of another case of the file, with its script."""
    other = play.others.get(found["case"])
    if other is None:
        raise NotUnderstood(f"setup.prior: there is no case {found['case']!r} in the file")
    own, play.script.entries = play.script.entries, [*other.script[:2], *play.script.entries]
    take(play, other.steps[int(found["step"]) - 1])
    play.script.entries, play.script.given = own, 0
    play.steps.clear()
    _keep(play, rows("relationships.RelationshipRecord").get().id)


def _own_records(play: Play, found: re.Match[str]) -> None:
    """Let somebody own some records, of which the first is the best match of the query."""
    things, person = play.world.of_kind("product"), play.world.of_kind("person")[0]
    count = int(found["count"])
    for team in _teams(play):
        play.world.make_known(team, [person, *things[:count]])
    play.found["records"] = {}
    for number, key in enumerate(things[:count], 1):
        made = record(play, {"owner": found["owner"], "s": person, "p": "works_on", "o": key})
        play.found["records"][f"r{number}"] = made
        _keep(play, made)
    first = play.world.thing(things[0])
    play.found["queries"] = {found["query"]: f"{play.world.thing(person).name} works on {first.name}"}


PRIORS: Final = (
    (re.compile(r"(?P<case>\S+) step (?P<step>\d+) done(?: \([^)]*\))?"), _done_before),
    (
        re.compile(r"(?P<owner>\w+) owns r1\.\.r(?P<count>\d+) active, r1 is the best match of query (?P<query>\w+)"),
        _own_records,
    ),
)


def _secret_of(team: str) -> Callable[[Play, Any], None]:
    """Let a team know a fact of its own."""

    def read(play: Play, given: str) -> None:
        products, person = play.world.of_kind("product"), play.world.of_kind("person")[0]
        product = products[list(play.world.teams).index(team) % len(products)]
        play.world.make_known(team, [person, product])
        play.found.setdefault("facts", {})[team] = record(
            play, {"owner": play.world.writers(team)[0], "s": person, "p": "works_on", "o": product}
        )

    return read


def _owned_source(play: Play, given: str) -> None:
    """Let somebody own a keyed source with some revisions, the newest of which supports records."""
    found = SOURCE.fullmatch(given)
    if found is None:
        raise NotUnderstood(f"setup.source: {given!r}")
    products, person = play.world.of_kind("product"), play.world.of_kind("person")[0]
    count = int(found["count"])
    play.world.make_known(play.world.person(found["owner"]).team, [person, *products[:count]])
    triples = [{"owner": found["owner"], "s": person, "p": "works_on", "o": key} for key in products[:count]]
    source: dict[str, Any] = {"key": found["key"], "owner": found["owner"], "texts": {}}
    for number in range(1, int(found["revision"])):
        _revise(play, source, f"r{number}", [f"Revision {number} says nothing yet."], [])
    said = [statement(play, triple) for triple in triples]
    _revise(play, source, f"r{int(found['revision'])}", [t for t, _ in said], [e for _, es in said for e in es])
    play.found["source"] = source
    for number in rows("relationships.RelationshipRecord").values_list("pk", flat=True):
        _keep(play, number)


SOURCE: Final = re.compile(
    r"(?P<key>[\w-]+) owned by (?P<owner>\w+), current r(?P<revision>\d+), supports (?P<count>\d+) Relationships"
)


def _revise(play: Play, source: dict[str, Any], token: str, texts: list[str], entries: Entries) -> None:
    answered = send_revision(play, source, token, texts, previous=source.get("current"))
    if answered.status != 202:
        raise NotUnderstood(f"setup.source: {answered.body}")
    play.place_with(entries)
    source["current"] = token


def _nothing(play: Play, given: Any) -> None:
    """The words of this part are read elsewhere, or say what is so anyway."""


def _held_about(play: Play, given: list[Any]) -> None:
    """Let each thing of a case that merges be spoken of, by whoever merges and by another."""
    products = play.world.of_kind("product")
    made = []
    for name in identities.sayers(play):
        play.world.make_known(play.world.person(name).team, products)
        for thing, product in zip(map(play.world.thing, given), cycle(products), strict=False):
            made.append(record(play, {"owner": name, "s": thing.key, "p": "works_on", "o": product}))
    for number in made:
        _keep(play, number)
    play.found["references"] = identities.references()


def _many(play: Play, given: int) -> None:
    """Let one bulk import have taken in many ingests at one moment: copies of one that was placed."""
    person = play.world.person(next(iter(play.world.members)))
    answered = play.say(person.name, "An entry of the import.", [])
    (ingest,) = rows("evidence.Ingest").filter(pk=answered.body["ingest_id"])
    copies = [_copy(ingest, idempotency_key=f"import-{number}", recorded_at=ONE_MOMENT) for number in range(given)]
    _store(copies)
    fragments = _each("evidence.Fragment", ingest, copies)
    runs = _each("placement.Run", ingest, copies)
    (item,) = rows("placement.Item").filter(ingest=ingest)
    parts = zip(copies, fragments, runs, strict=True)
    items = [_copy(item, ingest_id=new.pk, fragment_id=text.pk, run_id=run.pk) for new, text, run in parts]
    _store(items)
    events = rows("placement.ItemEvent").filter(item=item).order_by("seq")
    _store([_copy(event, item_id=new.pk, recorded_at=ONE_MOMENT) for new in items for event in events])
    play.found["listed"] = person


def _each(table: str, ingest: Any, copies: list[Any]) -> list[Any]:
    """Copy the one row that an ingest has in a table, for each copy of the ingest."""
    (row,) = rows(table).filter(ingest=ingest)
    made = [_copy(row, ingest_id=new.pk, recorded_at=ONE_MOMENT) for new in copies]
    _store(made)
    return made


def _copy(row: Any, **changes: Any) -> Any:
    kept = {f.attname: getattr(row, f.attname) for f in row._meta.local_fields if f.name not in ("id", "seq")}
    return type(row)(**{**kept, **changes})


def _store(made: list[Any]) -> None:
    type(made[0])._default_manager.bulk_create(made)


ONE_MOMENT: Final = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def _schedules(play: Play, given: list[str]) -> None:
    """Let every schedule of the product be due for as long as the cluster was down."""
    down = timedelta(days=play.case.setup.get("downtime_days", 0))
    play.found["schedules"] = given
    Schedule.objects.update(next_run=timezone.now() - down)


def _stub(play: Play, given: str) -> None:
    """Without embeddings no vector can propose anything, whatever a stub would answer."""
    if exists("embed"):
        raise NotUnderstood(f"setup.embedding_stub: {given!r}")


READINGS: Final[Mapping[str, Callable[[Play, Any], None]]] = {
    "entities": _held_about,
    "prior": _priors,
    "source": _owned_source,
    "relationships": _many,
    "recorded_at": _nothing,
    "schedules": _schedules,
    "downtime_days": _nothing,
    "embedding_stub": _stub,
}
