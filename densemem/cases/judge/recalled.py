"""What recall and trace must tell, and what comes later."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from densemem.audit.tables import rows
from densemem.cases.judge.knowledge import WAITS
from densemem.cases.judge.phrases import phrases
from densemem.cases.judge.seen import Seen, claims
from densemem.cases.statements import statement


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
    assert person is not None and done.ingest_id is not None
    item = seen.play.placement(person, done.ingest_id)["items"][0]
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


RECALLED: Final = (
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
    *phrases(r"r\d+", (r"retracted", retracted), (r"transition appended", transition_appended)),
    *phrases(
        "vector_and_text",
        (r"no eligible document of (?P<name>r\d+) immediately after commit(?: \(not after a sweep\))?", lacks_document),
    ),
    *phrases("trace", (r"full history still readable", trace_readable)),
)
