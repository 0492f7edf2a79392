"""What must be known, held open or found after a case."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from densemem.audit.tables import rows
from densemem.cases.bundles import request_body
from densemem.cases.judge.answers import STEP, ended
from densemem.cases.judge.phrases import phrases
from densemem.cases.judge.seen import Seen, claims
from densemem.cases.statements import statement
from densemem.core.names import lookup_key

TRIPLE: Final = r"(?P<p>\w+)\((?P<s>[^,()]+), (?P<o>[^()]+)\)"


def triples(text: str) -> list[tuple[str, str, str]]:
    """Return the (subject, predicate, object) of every `predicate(subject, object)` in a text."""
    return [(m["s"], m["p"], m["o"]) for m in re.finditer(TRIPLE, text)]


def short(seen: Seen, name: str) -> str:
    """Return the short name of a thing that a case calls by its full one."""
    return next((key for key, thing in seen.play.world.things.items() if thing.name == name), name)


def is_said(seen: Seen, record: Any, triple: tuple[str, str, str]) -> bool:
    """Tell if a record says a triple."""
    subject, predicate, target = triple
    return seen.is_triple(record, short(seen, subject), predicate, short(seen, target))


def listed(seen: Seen, records: Iterable[Any]) -> bool:
    """Note records; true when there are none."""
    found = [seen.words(r) for r in records]
    if found:
        seen.note(", ".join(found))
    return not found


def none_active(seen: Seen, m: re.Match[str]) -> bool:
    """No record is active."""
    return listed(seen, seen.active())


def at_most_pending(seen: Seen, m: re.Match[str]) -> bool:
    """Every record waits for evidence, or was rejected."""
    return listed(seen, [r for r in seen.records() if (r.tier, r.status) not in WAITS])


WAITS: Final = (("candidate", "pending_evidence"), ("candidate", "rejected"))


def no_active_triple(seen: Seen, m: re.Match[str]) -> bool:
    """No active record says this, affirmed."""
    triple = (m["s"], m["p"], m["o"])
    return listed(seen, [r for r in seen.active() if is_said(seen, r, triple) and r.polarity == "+"])


def only_triples(seen: Seen, m: re.Match[str]) -> bool:
    """Nothing is active beyond these; unless only the offline reviewer looked, all of them are."""
    wanted = triples(m.group())
    active = seen.active()
    beyond = [r for r in active if not any(is_said(seen, r, t) for t in wanted)]
    lacking = [t for t in wanted if not any(is_said(seen, r, t) for r in active)]
    if not m.group().startswith("at most") and not seen.offline and lacking:
        seen.note(f"not active: {lacking}")
        return False
    return listed(seen, beyond)


def no_reading_picked(seen: Seen, m: re.Match[str]) -> bool:
    """No active record has a value of these types."""
    types = m["types"].split("/")
    return listed(seen, [r for r in seen.active() if r.object_value and r.object_value.type in types])


def ambiguous_values(seen: Seen, m: re.Match[str]) -> bool:
    """Every active value is a text."""
    return listed(seen, [r for r in seen.active() if r.object_value and r.object_value.type != "text"])


def held_open(seen: Seen, m: re.Match[str]) -> bool:
    """The step's records are none, or none of them is active."""
    return listed(seen, seen.active())


def none_entailed(seen: Seen, m: re.Match[str]) -> bool:
    """No statement was found to follow from the text."""
    numbers = [o.id for o in seen.observations()]
    verdicts = rows("relationships.VerificationEvent").filter(observation_id__in=numbers)
    return seen.equal(verdicts.filter(verdict="entailed").count(), 0)


def at_most_insufficient(seen: Seen, m: re.Match[str]) -> bool:
    """At most one observation was judged, as insufficient."""
    numbers = [o.id for o in seen.observations()]
    found = list(
        rows("relationships.VerificationEvent").filter(observation_id__in=numbers).values_list("verdict", flat=True)
    )
    return len(found) <= 1 and set(found) <= {"insufficient"} or seen.equal(found, [])


def is_standing(seen: Seen, m: re.Match[str]) -> bool:
    """The step made one record, with this tier and status."""
    found = [(r.tier, r.status) for r in seen.records()]
    return seen.equal(found, [(m["tier"], m["status"])])


# Records that were there before.


def priors(seen: Seen) -> list[tuple[Any, Mapping[str, Any]]]:
    """Return each record of the setup with what it was when the case was opened."""
    found = rows("relationships.RelationshipRecord").in_bulk(seen.play.priors)
    return [(found[number], state) for number, state in seen.play.prior_states.items()]


def prior_is(**wanted: Any) -> Any:
    """The records of the setup have these values now."""

    def holds(seen: Seen, m: re.Match[str]) -> bool:
        given = {name: (m[value[1:]] if str(value).startswith("$") else value) for name, value in wanted.items()}
        kept = priors(seen)
        return bool(kept) and all(
            seen.equal(str(getattr(record, name)), str(value)) for record, _ in kept for name, value in given.items()
        )

    return holds


def same_record(seen: Seen, m: re.Match[str]) -> bool:
    """Nothing but the records of the setup was led to."""
    return bool(seen.play.priors) and listed(seen, seen.new())


def untouched(seen: Seen, m: re.Match[str]) -> bool:
    """The records of the setup are what they were."""
    return bool(priors(seen)) and all(
        seen.equal({name: getattr(record, name) for name in state}, dict(state)) for record, state in priors(seen)
    )


def same_version(seen: Seen, m: re.Match[str]) -> bool:
    """The records of the setup have the version that they had."""
    return bool(priors(seen)) and all(seen.equal(record.version, state["version"]) for record, state in priors(seen))


def history_kept(seen: Seen, m: re.Match[str]) -> bool:
    """Every version of the records of the setup is still told, and every support is still there."""
    for record, state in priors(seen):
        versions = list(record.transitions.order_by("version").values_list("version", flat=True))
        if versions != list(range(1, record.version + 1)) or record.supports.count() < state["support_count"]:
            seen.note(versions)
            return False
    return bool(priors(seen))


def no_transition(seen: Seen, m: re.Match[str]) -> bool:
    """The records of the setup made no step."""
    return all(record.transitions.count() == state["version"] for record, state in priors(seen))


# Recall.


def recall_only(seen: Seen, query: str, keep: Any) -> bool:
    """Recall answers, and only with what is kept."""
    found = seen.recall(query)
    seen.note([c["sentence"] for c in found])
    return bool(found) and all(map(keep, found))


def recall_without(seen: Seen, m: re.Match[str]) -> bool:
    """Recall of one name tells nothing that holds the other."""
    found = seen.recall(m["asked"])
    seen.note([c["sentence"] for c in found])
    return not any(m["never"] in c["sentence"] for c in found)


def recall_denies(seen: Seen, m: re.Match[str]) -> bool:
    """Recall answers with one claim of this polarity, and shows it."""
    found = seen.recall(m["asked"])
    return seen.equal([c["polarity"] for c in found], [m["polarity"]])


def recall_nothing_about(seen: Seen, m: re.Match[str]) -> bool:
    """No claim that is recalled holds all these names."""
    names = re.split(r" and |, ", m["names"])
    found = [c for c in seen.recall(" ".join(names)) if all(n in c["sentence"] for n in names)]
    seen.note([c["sentence"] for c in found])
    return not found


def recall_empty(seen: Seen, m: re.Match[str]) -> bool:
    """The recall of the case, or one for everything that it names, finds nothing."""
    asked = [s for s in seen.play.steps if s.call.removeprefix("mcp:") == "recall" and s.answered]
    body = asked[-1].answered.body if asked and asked[-1].answered else None
    names = " ".join(t.name for t in seen.play.world.things.values())
    texts = [
        s.said["body"]["evidence"][0]["content"]
        for s in seen.play.steps
        if isinstance(s.said, dict) and "body" in s.said
    ]
    queries = [q[:500] for q in (names, *(t for t in texts if isinstance(t, str))) if q.strip()]
    found = list(claims(body)) if body else [c for q in queries for c in seen.recall(q)]
    seen.note([c["sentence"] for c in found])
    return not found and (body is None or body.get("results") == [])


def recall_current(seen: Seen, m: re.Match[str]) -> bool:
    """Recall shows this now."""
    return any(m["current"] in c["sentence"] for c in last_recall(seen))


def recall_past(seen: Seen, m: re.Match[str]) -> bool:
    """Recall does not show this now; asked about a moment within its period, it does."""
    now = last_recall(seen)
    past = [r for r in seen.records() if r.valid_to is not None]
    if any(m["past"] in c["sentence"] and c["valid_to"] is None for c in now) or not past:
        seen.note([c["sentence"] for c in now])
        return False
    query = next(s.said["query"] for s in seen.play.steps if isinstance(s.said, dict) and "query" in s.said)
    before = past[0].valid_to.replace(year=past[0].valid_to.year - 1).isoformat()
    found = seen.recall(query, valid_at=before)
    seen.note([c["sentence"] for c in found])
    return any(m["past"] in c["sentence"] for c in found)


def last_recall(seen: Seen) -> list[Mapping[str, Any]]:
    """Return the claims of the last recall of the steps."""
    asked = [s for s in seen.play.steps if s.call.removeprefix("mcp:") == "recall" and s.answered]
    return list(claims(asked[-1].answered.body)) if asked and asked[-1].answered else []


def recall_scopes(seen: Seen, m: re.Match[str]) -> bool:
    """Recall shows all active records, each with its scope."""
    record = seen.active()[0]
    name = rows("entities.Name").filter(entity_id=record.subject_entity_id, kind="canonical").get().display
    found = seen.recall(f"{name} {record.predicate_key.replace('_', ' ')}")
    wanted = sorted(str(r.scope_key) for r in seen.active())
    return seen.equal(sorted(str(c["scope"]) for c in found), wanted) and all(c["scope"] for c in found)


def recall_records(seen: Seen, m: re.Match[str]) -> bool:
    """Recall shows these records and no other, without a gap."""
    wanted = {str(seen.play.found["records"][name]) for name in re.findall(r"r\d+", m["names"])}
    found = [c["relationship_id"] for c in last_recall(seen)]
    return seen.equal(sorted(found), sorted(wanted))


# Later and after: what a case says of a step that it does not take.


def later_same_record(seen: Seen, m: re.Match[str]) -> bool:
    """Somebody else's clear statement of the same brings the very same record to this standing."""
    (record,) = seen.new()
    by_id = {number: key for (_, key), number in seen.play.world.entities.items()}
    triple = {"s": by_id[record.subject_entity_id], "p": record.predicate_key, "o": by_id[record.object_entity_id]}
    seen.play.say(seen.asker(), *statement(seen.play, triple))
    again = seen.new()
    return seen.equal([(r.id, r.tier, r.status) for r in again], [(record.id, m["tier"], m["status"])])


def dream_input(seen: Seen, m: re.Match[str]) -> bool:
    """The record has what a hypothesis may start from: both ends, a registered predicate, an insufficient verdict."""
    (record,) = seen.new()
    seen_by = rows("relationships.Observation").filter(resolutions__relationship=record)
    verdicts = set(
        rows("relationships.VerificationEvent").filter(observation__in=seen_by).values_list("verdict", flat=True)
    )
    known = record.predicate_key in seen.play.world.fixtures.predicates
    return known and seen.equal(verdicts, {"insufficient"}) and (record.tier, record.status) == WAITS[0]


def decided(seen: Seen, m: re.Match[str]) -> bool:
    """The owner chooses an entity; a decision is kept, and the item goes on to one active record of that entity."""
    (task,) = seen.tasks()
    done = seen.done()
    person, number = done.person, seen.play.world.entity_id(task.team_id, m["key"])
    assert person is not None and done.ingest is not None
    item = seen.play.placement(person, done.ingest_id)["items"][0]  # type: ignore[arg-type]
    body = {
        "action": "select_entity",
        "item_version": item["version"],
        "entity_ref": task.resolution.mention_ref,
        "candidate_entity_id": str(number),
    }
    before = rows("review.Decision").count()
    answered = seen.play.doors.post(person.token, f"reviews/{task.id}/decisions", body, Idempotency_Key="after")
    seen.note(f"{answered.status} {answered.body}")
    seen.play.place()
    active = seen.active()
    kept = rows("review.Decision").count() == before + 1
    return answered.status < 300 and kept and len(active) == 1 and number in ends(active[0])


def ends(record: Any) -> tuple[UUID, UUID | None]:
    """Return the entities of a record."""
    return record.subject_entity_id, record.object_entity_id


# Other reads of what is kept.


def keys_differ(seen: Seen, m: re.Match[str]) -> bool:
    """Every record has a group key of its own."""
    found = [r.semantic_group_key for r in seen.records()]
    return len(found) > 1 and seen.equal(len(set(found)), len(found))


def surfaces_kept(seen: Seen, m: re.Match[str]) -> bool:
    """The words of every value, as the script cites them, are kept with its support."""
    wanted = [v["surface"] for e in seen.play.case.script for v in e.get("response", {}).get("values", [])]
    return seen.equal(seen.wordings("value"), wanted)


def two_directed(seen: Seen, m: re.Match[str]) -> bool:
    """The relation stands in both directions, or once if the registry calls it symmetric; nobody is asked."""
    key = seen.play.found["key"]
    found = [r for r in seen.active() if r.predicate_key == key]
    registered = rows("relationships.PredicateDefinition").filter(key=key).order_by("seq").last()
    ways = {(r.subject_entity_id, r.object_entity_id) for r in found}
    seen.note(ways)
    both = len(found) == 2 and {(b, a) for a, b in ways} == ways
    return not seen.tasks() and (len(found) == 1 if registered.symmetric else both)


def exactly(seen: Seen, m: re.Match[str]) -> bool:
    """The relation stands in this direction alone."""
    found = [r for r in seen.records() if r.predicate_key == seen.play.found["key"]]
    seen.note([seen.words(r) for r in found])
    return (
        len(found) == 1
        and seen.is_thing(found[0].subject_entity_id, m["s"])
        and seen.is_thing(found[0].object_entity_id, m["o"])
    )


def same_instant(seen: Seen, m: re.Match[str]) -> bool:
    """The steps that the key names kept one and the same moment."""
    numbers = [int(n) for n in re.findall(r"step(\d+)", seen.play.found["key"])]
    ingests = [seen.numbered(n).ingest_id for n in numbers]
    found = set(rows("evidence.Fragment").filter(ingest_id__in=ingests).values_list("observed_at", flat=True))
    return None not in found and seen.equal(len(found), 1)


def same_meaning(seen: Seen, m: re.Match[str]) -> bool:
    """Under one key, the one writing of a moment is a retry of the other."""
    numbers = [int(n) for n in re.findall(r"step(\d+)", seen.play.found["key"])]
    person = seen.play.world.person(seen.asker())
    bodies = [request_body(seen.numbered(n).said["body"]) for n in numbers]
    answers = [seen.play.remember(person, body, key="one-meaning") for body in bodies]
    seen.note([(a.status, a.body.get("code")) for a in answers])
    return len({a.body.get("ingest_id") for a in answers}) == 1 and all(a.status == 202 for a in answers)


def date_stays(seen: Seen, m: re.Match[str]) -> bool:
    """A date is stored as the day that was written, whoever said it and whenever."""
    word, predicate = (
        m["date"],
        next(key for key, p in seen.play.world.fixtures.predicates.items() if "value:date" in p["object"]),
    )
    subject = next(k for k, (kind, *_) in seen.play.world.fixtures.entities.items() if kind == "product")
    person = seen.play.world.person(seen.asker())
    seen.play.world.make_known(person.team, [subject])
    triple = {"s": subject, "p": predicate, "value": word}
    seen.play.say(person.name, *statement(seen.play, triple), observed_at=f"{word}T23:30:00-07:00")
    found = set(rows("entities.Value").filter(type="date").values_list("canonical", flat=True))
    return seen.equal(found, {word})


def shows_observations(seen: Seen, m: re.Match[str]) -> bool:
    """The placement as its sender reads it lists so many observations."""
    ingest = seen.done().ingest
    assert ingest is not None
    return seen.equal(sum(len(item["outcomes"]) for item in ingest["items"]), int(m["count"]))


def own_bytes(seen: Seen, m: re.Match[str]) -> bool:
    """Every text is stored as it was sent, and the texts differ."""
    found = list(
        rows("evidence.Fragment")
        .filter(ingest_id__in=seen.ingests())
        .order_by("seq")
        .values_list("content__text", flat=True)
    )
    return seen.equal(found, sent(seen)) and len(set(found)) > 1


def unchanged(seen: Seen, m: re.Match[str]) -> bool:
    """Every text is stored as it was sent."""
    found = list(
        rows("evidence.Fragment")
        .filter(ingest_id__in=seen.ingests())
        .order_by("seq")
        .values_list("content__text", flat=True)
    )
    return seen.equal(found, sent(seen))


def sent(seen: Seen) -> list[str]:
    """Return the texts of the steps in their order."""
    bodies = [s.said["body"] for s in seen.play.steps if s.ingest_id and isinstance(s.said, dict) and "body" in s.said]
    return [item["content"] for body in bodies for item in body["evidence"]]


def spans(seen: Seen, m: re.Match[str]) -> bool:
    """The first mentions of the steps were resolved at these spans."""
    wanted = [tuple(map(int, pair)) for pair in re.findall(r"(\d+)\.\.(\d+)", m.group())]
    found = []
    for ingest in seen.ingests():
        first = rows("entities.ResolutionEvent").filter(ingest_id=ingest).order_by("start").first()
        found.append((first.start, first.end) if first else None)
    return seen.equal(found, wanted)


def spans_as_given(seen: Seen, m: re.Match[str]) -> bool:
    """The proposal is kept with the spans that the client gave."""
    given = seen.done().said["body"]["proposal"]["mentions"]
    kept = rows("placement.ItemProposal").filter(item__ingest_id=seen.done().ingest_id).get().payload
    found = [(span["start"], span["end"]) for entity in kept["entities"] for span in entity["mentions"]]
    return seen.equal(found, [(mention["start"], mention["end"]) for mention in given])


def surfaces_match(seen: Seen, m: re.Match[str]) -> bool:
    """Every mention was resolved where its surface stands in the text as sent."""
    (text,) = sent(seen)
    given = seen.done().said["body"]["proposal"]["mentions"]
    events = rows("entities.ResolutionEvent").filter(ingest_id__in=seen.ingests()).order_by("start")
    found = [text[e.start : e.end] for e in events]
    longer = (len(text.casefold()), len(text)) == (int(m["folded"]), int(m["plain"]))
    return longer and seen.equal(found, [mention["surface"] for mention in given])


def wording_of_tasks(seen: Seen) -> list[str]:
    """Return the wording of the observation behind each open task."""
    numbers = [t.observation_id for t in seen.tasks()]
    found = dict(rows("evidence.Wording").filter(of__in=numbers, kind="predicate").values_list("of", "text"))
    return [found.get(number, "") for number in numbers]


def generic_answer(seen: Seen, m: re.Match[str]) -> bool:
    """The sender sees one reason and the handle of the question, and nothing of what was seen."""
    ingest = seen.done().ingest
    assert ingest is not None
    (item,) = ingest["items"]
    events = rows("evidence.SecuritySignal").filter(event__fragment__ingest_id=seen.done().ingest_id)
    words = {word for e in events for word in (e.kind, e.severity)}
    leaked = [word for word in words if word in json.dumps(ingest)]
    seen.note(leaked or item)
    return item["reason"] == "evidence_held" and bool(item["review_tasks"]) and not item["outcomes"] and not leaked


def scan_says(seen: Seen, decisions: set[str]) -> bool:
    """The scan decided one of these."""
    found = rows("evidence.SecurityEvent").filter(fragment__ingest_id=seen.done().ingest_id, kind="deterministic_scan")
    return seen.equal(found.get().decision in decisions, True) or seen.equal(found.get().decision, decisions)


def scan_signals(seen: Seen, m: re.Match[str]) -> bool:
    """The scan decided one of these and named this kind."""
    events = rows("evidence.SecurityEvent").filter(fragment__ingest_id=seen.done().ingest_id, kind="deterministic_scan")
    kinds = {s.kind for s in events.get().signals.all()}
    seen.note((events.get().decision, kinds))
    return events.get().decision in m["decisions"].split(" or ") and m["kind"] in kinds


def named_once(seen: Seen, name: str) -> int:
    """Return how many entities bear a name."""
    return int(rows("entities.Name").filter(key=lookup_key(name)).values("entity_id").distinct().count())


def lacks_document(seen: Seen, m: re.Match[str]) -> bool:
    """At the answer itself, no document of the record was eligible any more."""
    number = seen.play.found["records"][m["name"]]
    return not rows("relationships.SearchDocument").filter(relationship_id=number, eligible=True).exists()


def retracted(seen: Seen, m: re.Match[str]) -> bool:
    """The record that the key names is retracted."""
    number = seen.play.found["records"][seen.play.found["key"]]
    return seen.equal(rows("relationships.RelationshipRecord").get(pk=number).status, "retracted")


def transition_appended(seen: Seen, m: re.Match[str]) -> bool:
    """The newest transition of the record that the key names is that step."""
    number = seen.play.found["records"][seen.play.found["key"]]
    last = rows("relationships.Transition").filter(relationship_id=number).latest("seq")
    return seen.equal((last.status_before, last.status), ("active", "retracted"))


def trace_readable(seen: Seen, m: re.Match[str]) -> bool:
    """The trace of the steps still tells evidence, decisions and versions."""
    (answered,) = [s.answered for s in seen.play.steps if s.call == "trace" and s.answered]
    seen.note(answered.status)
    texts = json.dumps(answered.body)
    return answered.status == 200 and all(word in texts for word in ('"retracted"', '"active"', '"passage"'))


def insufficient_allowed(seen: Seen, m: re.Match[str]) -> bool:
    """What is allowed beside it is at most a record that waits."""
    return at_most_pending(seen, m)


KNOWLEDGE: Final = (
    *phrases(
        r"relationships|step\d+",
        (r"none active", none_active),
        (r"at most candidate/pending_evidence", at_most_pending),
        (rf"no active {TRIPLE}", no_active_triple),
        (r"no active (?P<types>\w+(?:/\w+)*) value that picks one reading", no_reading_picked),
        (r"subject ambiguous -> review or insufficient", held_open),
        (r"no active edge", none_active),
        (r"(?P<tier>candidate|validated_claim|fact)/(?P<status>\w+)", is_standing),
        (r"spans accepted as given", spans_as_given),
    ),
    *phrases(
        r"step\d+",
        (rf"{TRIPLE} active", lambda s, m: any(is_said(s, r, (m["s"], m["p"], m["o"])) for r in s.active())),
        wants=True,
    ),
    *phrases(
        "semantic",
        (rf"{TRIPLE}(?: and \w+\([^()]+\))*", only_triples),
        (r"at most \w+\([^()]+\)", only_triples),
        (r"both values ambiguous: insufficient, or text Values with the surface kept", ambiguous_values),
        (r"no entailed observation", none_entailed),
        (r"at most one with verdict insufficient", at_most_insufficient),
    ),
    *phrases(
        "allowed|alternatives",
        (r"candidate/pending_evidence for \w+\([^()]+\) or no observation", at_most_pending),
        (r"insufficient", insufficient_allowed),
    ),
    *phrases(
        "prior",
        (r"same record", same_record),
        (r"now (?P<count>\d+) source groups", prior_is(source_group_count="$count")),
        (r"tier (?P<tier>fact|validated_claim)", prior_is(tier="$tier")),
        (r"(?P<status>active|superseded|needs_review|retracted)", prior_is(status="$status")),
        (r"row and support history kept", history_kept),
        (r"untouched", untouched),
        (r"same version", same_version),
        (r"no transition", no_transition),
    ),
    *phrases(
        "recall",
        (r"(?P<asked>\w+) -> no (?P<never>\w+)", recall_without),
        (r"'(?P<asked>[^']+)' returns only the '(?P<polarity>[+-])' edge with its polarity shown", recall_denies),
        (r"nothing about (?P<names>[\w ,]+)", recall_nothing_about),
        (
            r"empty(?: result with an explicit no-match, not a guess| for that fact \(a gap is intended\))?",
            recall_empty,
        ),
        (r"never", recall_empty),
        (r"(?P<current>[\w ]+) as current", recall_current),
        (r"(?P<past>[\w ]+) only as past(?: \(or with an as-of query\))?", recall_past),
        (r"both, each with its scope", recall_scopes),
        (r"(?P<names>r\d+(?:, r\d+)*)(?: \(\w+ results, no gap, no ghost\))?", recall_records),
    ),
    *phrases(
        "later",
        (r"a second, entailing evidence moves the SAME record to (?P<tier>\w+)/(?P<status>\w+)", later_same_record),
    ),
    *phrases(
        "dream_input", (r"allowed \(resolved endpoints, registered predicate, insufficient verdict\)", dream_input)
    ),
    *phrases(
        "after",
        (
            r"resolve\(choose (?P<key>\w+)\) appends a decision, re-enters processing, "
            r"then one active Relationship for (?P=key)",
            decided,
        ),
    ),
    *phrases("same", (r"semantic_group_key differs too(?: \(validity is part of it\))?", keys_differ)),
    *phrases(r"spans", (r"both original surfaces kept", surfaces_kept)),
    *phrases(
        r"\w+",
        (
            r"two directed records, no conflict, no review(?: \(the registry has no symmetric flag\))?"
            r"(?:; or one record if the registry version explicitly defines it)?",
            two_directed,
        ),
        (r"exactly (?P<s>\w+)->(?P<o>\w+)", exactly),
        (
            r"never the reverse",
            lambda s, m: len([r for r in s.records() if r.predicate_key == s.play.found["key"]]) == 1,
        ),
    ),
    *phrases(STEP, (r"same instant stored", same_instant), (r"identical idempotent meaning", same_meaning)),
    *phrases("date_values", (r"a date typed Value (?P<date>[\d-]+) stays that date in every zone", date_stays)),
    *phrases("placement_result", (r"shows all (?P<count>\d+) observations", shows_observations)),
    *phrases(
        "fragments",
        (r"each fragment keeps its own bytes(?: \(NFC and NFD\))?", own_bytes),
        (r"spans \d+\.\.\d+(?: and \d+\.\.\d+)*", spans),
    ),
    *phrases("evidence_bytes", (r"unchanged", unchanged)),
    *phrases(
        "stored",
        (
            r"original\[start:end\] == surface for both mentions, though casefold\(original\) is longer than original "
            r"\((?P<folded>\d+) vs (?P<plain>\d+)\)",
            surfaces_match,
        ),
    ),
    *phrases(
        "placement",
        (
            r"(?P<states>\w+(?: or \w+)*)",
            lambda s, m: any(ended(s, state) for state in m["states"].split(" or ")),
        ),
    ),
    *phrases(
        "public_result", (r"generic reason and review handle", generic_answer), (r"no rule names", generic_answer)
    ),
    *phrases(
        r"scan|step\d+",
        (r"(?P<decisions>guarded or quarantine) with (?P<kind>\w+)", scan_signals),
        (r"pass \(or guarded\)", lambda s, m: scan_says(s, {"pass", "guarded"})),
        (r"guarded", lambda s, m: scan_says(s, {"guarded"})),
        (r"(?:not|never) quarantine", lambda s, m: scan_says(s, {"pass", "guarded"})),
    ),
    *phrases(r"r\d+", (r"retracted", retracted), (r"transition appended", transition_appended)),
    *phrases(
        "vector_and_text",
        (r"no eligible document of (?P<name>r\d+) immediately after commit(?: \(not after a sweep\))?", lacks_document),
    ),
    *phrases("trace", (r"full history still readable", trace_readable)),
)
