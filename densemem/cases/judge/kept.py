"""What must be kept of texts: bytes, spans, surfaces, moments, and what the scan saw."""

import json
import re
from typing import Final

from densemem.audit import audit
from densemem.audit.leftovers import look
from densemem.audit.tables import rows
from densemem.cases.bundles import request_body
from densemem.cases.erasing import texts
from densemem.cases.judge.answers import STEP
from densemem.cases.judge.phrases import phrases
from densemem.cases.judge.seen import Seen
from densemem.cases.statements import statement
from evidence.redactions import traces_of


def surfaces_kept(seen: Seen, m: re.Match[str]) -> bool:
    """The words of every value, as the script cites them, are kept with its support."""
    wanted = [v["surface"] for e in seen.play.case.script for v in e.get("response", {}).get("values", [])]
    return seen.equal(seen.wordings("value"), wanted)


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
    found = seen.play.found.get("texts", texts(seen.play))  # before they were erased
    return seen.equal(found, sent(seen))


def nothing_leaked(seen: Seen, m: re.Match[str]) -> bool:
    """No word of a text stood where the case looked while the text was there."""
    return seen.equal(seen.play.found.get("leaks"), [])


def erased(seen: Seen, m: re.Match[str]) -> bool:
    """The text is a tombstone of its own length, no column holds its words, and every row follows from its ledgers."""
    (sent_text,), (kept,) = sent(seen), texts(seen.play)
    left, differences = look(traces_of()), audit().differences
    seen.note((kept, left, differences))
    return (set(kept), len(kept)) == ({"█"}, len(sent_text)) and left.redactions == 1 and left.count + differences == 0


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


KEPT: Final = (
    *phrases(r"spans", (r"both original surfaces kept", surfaces_kept)),
    *phrases(STEP, (r"same instant stored", same_instant), (r"identical idempotent meaning", same_meaning)),
    *phrases("date_values", (r"a date typed Value (?P<date>[\d-]+) stays that date in every zone", date_stays)),
    *phrases("placement_result", (r"shows all (?P<count>\d+) observations", shows_observations)),
    *phrases(
        "fragments",
        (r"each fragment keeps its own bytes(?: \(NFC and NFD\))?", own_bytes),
        (r"spans \d+\.\.\d+(?: and \d+\.\.\d+)*", spans),
    ),
    *phrases("evidence_bytes", (r"unchanged", unchanged)),
    *phrases("evidence", (r"stored unchanged \(verbatim rule\) with access control", unchanged)),
    *phrases("logs_and_payloads", (r"contain ids and lengths, never evidence text", nothing_leaked)),
    *phrases(
        "erase",
        (
            r"payload replaced by a content-free tombstone; ids, hashes of decisions and audit rows stay valid; "
            r"nothing in full-text, vectors, job rows",
            erased,
        ),
    ),
    *phrases(r"step\d+", (r"spans accepted as given", spans_as_given)),
    *phrases(
        "stored",
        (
            r"original\[start:end\] == surface for both mentions, though casefold\(original\) is longer than original "
            r"\((?P<folded>\d+) vs (?P<plain>\d+)\)",
            surfaces_match,
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
)
