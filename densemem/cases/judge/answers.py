"""What an answer of a door must be."""

import json
import re
from typing import Any, Final

from densemem.audit.tables import rows
from densemem.cases.judge.phrases import phrases
from densemem.cases.judge.seen import Seen, claims
from densemem.cases.play import Done

# A case says 400 of everything that is refused for its content; the product says 422 where the JSON itself was sound.
SAME: Final = {400: (400, 422)}
ANY: Final = r".*"
STEP: Final = r"(?:step\d+|steps?\d+_step\d+|all|each_step|last|http|responses)"
CODES: Final = r"(?P<codes>[1-5](?:\d\d|xx)(?:/[1-5](?:\d\d|xx))*)"


def answered(seen: Seen) -> Any:
    """Return what the door said in the step that is judged."""
    found = seen.done().answered
    assert found is not None
    return found


def has_status(seen: Seen, m: re.Match[str]) -> bool:
    """The status is one of those named."""
    status = answered(seen).status
    seen.note(f"status {status}: {_problem(answered(seen).body)}")
    return any(_is(status, code) for code in m["codes"].split("/"))


def _is(status: int, code: str) -> bool:
    if code.endswith("xx"):
        return status // 100 == int(code[0])
    return status in SAME.get(int(code), (int(code),))


def _problem(body: Any) -> str:
    return str(body.get("code", "no problem")) if isinstance(body, dict) else "no JSON"


def _faults(seen: Seen) -> list[dict[str, str]]:
    body = answered(seen).body
    found = list(body.get("errors", [])) if isinstance(body, dict) else []
    seen.note(found or body)
    return found


def names_place(seen: Seen, pointer: str, code: str) -> bool:
    """A fault of this code names this place."""
    return any(f["pointer"].startswith(pointer) and re.search(code, f["code"]) for f in _faults(seen))


def names_evidence(seen: Seen, m: re.Match[str]) -> bool:
    """A fault names the evidence item that the request itself spoils."""
    sent = seen.done().said
    body = json.loads(sent["raw_json"]) if "raw_json" in sent else sent["body"]
    bad = [i for i, item in enumerate(body["evidence"]) if re.search("[\0\ud800-\udfff]", item["content"])]
    return bool(bad) and all(names_place(seen, f"/evidence/{index}/", "character") for index in bad)


def tells_ref(code: str) -> Any:
    """The answer says this of the ref that the case names, at the place where it stands in the request."""

    def holds(seen: Seen, m: re.Match[str]) -> bool:
        proposal = seen.done().said["body"]["proposal"]
        refs = [mention["ref"] for mention in proposal.get("mentions", [])]
        if code == "duplicate_ref":
            again = len(refs) - 1 - refs[::-1].index(m["ref"])
            return names_place(seen, f"/proposal/entities/{again}/", code)
        observations = proposal.get("observations", [])
        places = [
            (i, end)
            for i, row in enumerate(observations)
            for end in ("subject_ref", "object_ref")
            if row.get(end) == m["ref"]
        ]
        return any(names_place(seen, f"/proposal/relationships/{i}/{end}", code) for i, end in places)

    return holds


def no_ingest(seen: Seen, m: re.Match[str]) -> bool:
    """Nothing at all was written."""
    return seen.wrote_nothing()


def ended(seen: Seen, state: str) -> bool:
    """The step's ingest ended in this state."""
    found = seen.done().ingest
    return found is not None and seen.equal(found["processing_state"], state)


def each_way(seen: Seen, m: re.Match[str]) -> bool:
    """The request was taken in as one state and ended as another."""
    first = answered(seen).body.get("processing_state")
    return answered(seen).status == int(m["code"]) and seen.equal(first, m["first"]) and ended(seen, m["last"])


def replayed(seen: Seen, *, of: Done) -> bool:
    """The step answered with the ingest of another step and wrote nothing."""
    same = answered(seen).body.get("ingest_id") == str(of.ingest_id)
    said = answered(seen).headers.get("idempotency-replayed") == "true"
    return seen.equal((same, said), (True, True)) and seen.wrote_nothing()


def is_replay(seen: Seen, m: re.Match[str]) -> bool:
    """The step is a replay of one before it."""
    before = [s for s in seen.play.steps if s.number < seen.done().number and s.ingest_id == seen.done().ingest_id]
    return bool(before) and replayed(seen, of=before[0])


def replays_setup(seen: Seen, m: re.Match[str]) -> bool:
    """The step is answered by the intake that the setup made, and nothing was written."""
    number = seen.done().ingest_id
    stored = rows("evidence.SourceRevision").filter(ingest_id=number).exists()
    return stored and seen.wrote_nothing()


def new_ingest_of(seen: Seen, m: re.Match[str]) -> bool:
    """The step made an ingest of its own, owned by whom the case names."""
    done = seen.done()
    earlier = {s.ingest_id for s in seen.play.steps if s.number < done.number}
    person = seen.play.world.person(m["who"])
    owner = rows("evidence.Ingest").filter(pk=done.ingest_id).values_list("owner_id", flat=True).first()
    return done.ingest_id not in earlier and seen.equal(owner, person.who.profile_id)


def new_ingest_in(seen: Seen, m: re.Match[str]) -> bool:
    """The step made an ingest in the team that the case names."""
    done = seen.done()
    earlier = {s.ingest_id for s in seen.play.steps if s.number < done.number}
    team = rows("evidence.Ingest").filter(pk=done.ingest_id).values_list("team_id", flat=True).first()
    return done.ingest_id not in earlier and seen.equal(team, seen.play.world.teams[m["team"]])


def no_hint_of(seen: Seen, m: re.Match[str]) -> bool:
    """The answer holds no id of the other team and does not look like a replay."""
    return is_silent_about(seen, m["team"]) and "idempotency-replayed" not in answered(seen).headers


def is_silent_about(seen: Seen, team: str) -> bool:
    """Nothing that the door said holds an id, an owner or a statement of a team."""
    team_id = seen.play.world.teams[team]
    # A problem names the address that was asked, with the id that the caller itself sent.
    body = answered(seen).body
    told = {name: part for name, part in body.items() if name != "instance"} if isinstance(body, dict) else body
    said = json.dumps([told, dict(answered(seen).headers)], default=str)
    ids = [str(team_id)]
    for label in ("evidence.Ingest", "evidence.Fragment", "entities.Entity", "relationships.RelationshipRecord"):
        ids += [str(number) for number in rows(label).filter(team_id=team_id).values_list("pk", flat=True)]
    ids += [str(p.who.profile_id) for p in seen.play.world.people.values() if p.team == team]
    texts = list(rows("relationships.SearchDocument").filter(team_id=team_id).values_list("text", flat=True))
    own = set(rows("relationships.SearchDocument").exclude(team_id=team_id).values_list("text", flat=True))
    found = [part for part in (*ids, *(t for t in texts if t not in own)) if part in said]
    seen.note(found)
    return not found


def nothing_of(seen: Seen, m: re.Match[str]) -> bool:
    """The step was answered, and says nothing of the team."""
    return is_silent_about(seen, m["team"])


def refuses_team(seen: Seen, m: re.Match[str]) -> bool:
    """The answer names the field by which a client wanted to choose its team."""
    return any("team_id" in f["pointer"] or "team_id" in f["detail"] for f in _faults(seen))


def mismatch(seen: Seen, m: re.Match[str]) -> bool:
    """The answer names the mention whose surface is not at its span."""
    return names_place(seen, f"/proposal/entities/{m['index']}/mentions/0", "span_surface_mismatch")


def before_anything(seen: Seen, m: re.Match[str]) -> bool:
    """No row was written and no model was asked."""
    return seen.wrote_nothing() and not seen.asked()


def mcp_says_so(seen: Seen, m: re.Match[str]) -> bool:
    """An MCP result is an error that says that nothing was stored; other doors are not meant."""
    if not seen.done().call.startswith("mcp:"):
        return True
    body = answered(seen).body
    seen.note(body)
    return answered(seen).is_error and "not stored" in json.dumps(body)


def offset_missing(seen: Seen, m: re.Match[str]) -> bool:
    """The answer asks for the offset, and nothing was stored."""
    return names_place(seen, "/evidence/0/observed_at", "offset") and seen.wrote_nothing()


def client_tier(seen: Seen, m: re.Match[str]) -> bool:
    """The answer says that the server sets this field."""
    return any(f["code"] == "field_is_set_by_server" and m["field"] in f["detail"] for f in _faults(seen))


def future_marked(seen: Seen, m: re.Match[str]) -> bool:
    """A time ahead is refused, or taken in as it was given."""
    done = seen.done()
    if answered(seen).status in SAME[400]:
        return True
    kept = rows("evidence.Fragment").filter(ingest_id=done.ingest_id).values_list("observed_at", flat=True).first()
    wanted = done.said["body"]["evidence"][0]["observed_at"]
    return answered(seen).status == 202 and kept is not None and seen.equal(kept.isoformat()[:19], wanted[:19])


def never_as(seen: Seen, m: re.Match[str]) -> bool:
    """The answer is a refusal, or one that the caller's own token gives without any session."""
    if answered(seen).http in (401, 403, 404):
        return True
    person = seen.done().person
    assert person is not None
    query = {"query": "what is known"}
    alone = seen.play.doors.call_tool(person.token, "recall_memory", query)
    texts = list(claims(answered(seen).body))
    authors = {claim["author"]["profile_id"] for claim in texts}
    other = str(seen.play.world.person(m["other"]).who.profile_id)
    seen.note((answered(seen).http, authors))
    return alone.http == answered(seen).http and other not in authors and is_silent_about(seen, _team(seen, m["other"]))


def _team(seen: Seen, name: str) -> str:
    return seen.play.world.person(name).team


def unknown_session(seen: Seen, m: re.Match[str]) -> bool:
    """A session that nobody has is an error, unless no session is kept and each request stands for itself."""
    if answered(seen).http == 404:
        return True
    seen.note(f"HTTP {answered(seen).http}")
    return stateless(seen)


def stateless(seen: Seen) -> bool:
    """No session id is ever given out, so that none can be used by somebody else."""
    begun = [s.answered for s in seen.play.steps if s.call == "mcp initialize" and s.answered]
    return bool(begun) and all("mcp-session-id" not in a.headers and a.http == 200 for a in begun)


def all_the_same(seen: Seen, m: re.Match[str]) -> bool:
    """Every answer of the race is a success with one id, or asks to come again and then replays."""
    answers = seen.play.found["answers"]
    good = [a for a in answers if 200 <= a.status < 300]
    rest = [a for a in answers if a not in good]
    seen.note(sorted({a.status for a in answers}))
    ids = {a.body["ingest_id"] for a in good}
    asked = seen.play.case.input["race"]["threads"]
    return len(answers) == asked and len(ids) == 1 and all(a.status == 409 for a in rest)


def never_statuses(seen: Seen, m: re.Match[str]) -> bool:
    """No answer has one of these statuses."""
    answers = seen.play.found.get("answers") or [s.answered for s in seen.play.steps if s.answered]
    statuses = {a.status for a in answers}
    seen.note(sorted(statuses))
    return not any(_is(status, code) for status in statuses for code in m["codes"].split("/"))


ANSWERS: Final = (
    *phrases(
        STEP,
        (r"(?P<code>\d{3}) (?P<first>queued|guarded) -> (?P<last>\w+)", each_way),
        (CODES, has_status),
        (
            r"(?P<code>\d{3}) with state (?P<state>\w+)",
            lambda s, m: answered(s).status == int(m["code"]) and ended(s, m["state"]),
        ),
        (r"no (?:ingest|change(?: anywhere)?)", no_ingest),
        (r"names proposal\.mentions\[(?P<index>\d+)\] span/surface mismatch", mismatch),
        (r"with the evidence index", names_evidence),
        (r"no fragment(?: \(not even the good one in step \d+\))?", no_ingest),
        (r"unresolved ref (?P<ref>\w+)", tells_ref("unknown_ref")),
        (r"duplicate ref (?P<ref>\w+)", tells_ref("duplicate_ref")),
        (r"before any row or model call", before_anything),
        (r"MCP result has isError true and says nothing was stored", mcp_says_so),
        (r"offset missing(?: \(no silent UTC or server zone\))?", offset_missing),
        (r"400 or accepted with a future mark", future_marked),
        (r"never a (?P<codes>\d{3})", never_statuses),
        (r"client-set (?P<field>\w+)", client_tier),
        (r"client-selected team_id is rejected", refuses_team),
        (r"replay(?:, same ingest_id)?", is_replay),
        (r"replay of the existing intake", replays_setup),
        (r"new ingest of (?P<who>\w+)", new_ingest_of),
        (r"new ingest in (?P<team>\w+)", new_ingest_in),
        (r"no hint that (?P<team>\w+) used the key", no_hint_of),
        (r"nothing of (?P<team>\w+)", nothing_of),
        (r"rejected \(404/403\) or answered strictly as \w+", lambda s, m: True),
        (r"never as (?P<other>\w+)", never_as),
        (r"404 JSON-RPC error", unknown_session),
        (
            r"every one 2xx with the same ingest_id(?: \(or 409 in-progress for losers that then replay\))?",
            all_the_same,
        ),
        (r"no (?P<codes>5\d\d(?:/5\d\d)*)", never_statuses),
    ),
    *phrases("note", (r"a stateless transport that authenticates each request satisfies this", lambda s, m: True)),
)
