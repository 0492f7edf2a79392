"""The steps of a case: what each call or sentence does."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import UUID

from densemem.audit.tables import rows
from densemem.cases import bundles, erasing, identities, sentences
from densemem.cases.doors import Answered
from densemem.cases.operations import missing_of
from densemem.cases.play import Done, Play
from densemem.cases.tables import take_snapshot
from densemem.cases.world import NotUnderstood, Person

Step = Mapping[str, Any]
KNOWN: Final = {"as", "team", "token", "call", "body", "raw_json", "idempotency_key", "note", "query", "k", "valid_at",
                "target", "src", "session", "gets", "mention", "check"}  # fmt: skip


def take(play: Play, step: Any) -> None:
    """Take one step and wait until nothing that it caused waits for a worker.

    :raises NotUnderstood: the step says something for which there is no reading
    """
    said = step if isinstance(step, str) else step.get("call", "")
    lacking = missing_of(said.removeprefix("mcp:"))
    with play.step(step) as done:
        if lacking:
            done.missing = lacking
        elif isinstance(step, str):
            sentences.take(play, done, step)
        elif "check" in step:
            erasing.check(play, step["check"])
        else:
            _call(play, done, step)


def _call(play: Play, done: Done, step: Step) -> None:
    unknown = set(step) - KNOWN
    if unknown:
        raise NotUnderstood(f"step {done.number}: {sorted(unknown)}")
    for pattern, make in CALLS:
        found = pattern.fullmatch(step.get("call", ""))
        if found:
            done.person = _actor(play, step)
            if "token" in step:
                _take_token(play, done, step["token"])
            done.answered = make(play, done, step, found)
            done.at_answer = take_snapshot()
            _settle(play, done)
            return
    raise NotUnderstood(f"step {done.number}: the call {step.get('call')!r}")


def _actor(play: Play, step: Step) -> Person:
    """Return who takes a step: who is named, else whoever acted last."""
    if "as" in step:
        return play.world.person(step["as"])
    acted = [done.person for done in play.steps if done.person is not None]
    if not acted:
        raise NotUnderstood(f"step {len(play.steps)}: nobody is named")
    return acted[-1]


def _settle(play: Play, done: Done) -> None:
    """Let a worker place what the step took in, and look how far it is."""
    assert done.answered is not None and done.person is not None
    body = done.answered.body
    made = isinstance(body, dict) and "decision_id" not in body  # a decision names the ingest that it is about
    if made and not done.answered.is_error and body.get("ingest_id"):
        done.ingest_id = UUID(body["ingest_id"])
        play.place()
        done.ingest = play.placement(done.person, done.ingest_id)


def _take_token(play: Play, done: Done, said: str) -> None:
    """Go on with the token that a case names; a new name is a new token in place of the one before."""
    assert done.person is not None
    tokens = play.found.setdefault("tokens", {})
    name = said.split()[0]
    if tokens.setdefault(done.person.name, name) != name:
        play.world.rotate_token(done.person.name)
        tokens[done.person.name] = name
        done.person = play.world.person(done.person.name)


def _remember(play: Play, done: Done, step: Step, found: re.Match[str]) -> Answered:
    assert done.person is not None
    key = step.get("idempotency_key", "")
    if "src" in step:
        return _remember_revision(play, done.person, step["src"])
    if "raw_json" in step:
        return play.remember(done.person, step["raw_json"].encode(), key=key)
    body = dict(step.get("body", {}))
    target = body.pop("correction_target", None)
    made = bundles.request_body(body)
    if target is not None:
        made["proposal"] = _correction(play, target)
    return play.remember(done.person, made, key=key, mcp=found["mcp"] is not None)


def _correction(play: Play, target: str) -> dict[str, Any]:
    """Return the proposal of a client that corrects an earlier record with what the script finds in the text."""
    found = TARGET.fullmatch(target)
    if found is None or int(found[1]) >= len(play.priors):
        raise NotUnderstood(f"correction_target {target!r}")
    number = play.priors[int(found[1])]
    bundle = next(e["response"] for e in play.script.entries[play.script.given :] if e["stage"] == "extract")
    row = bundle["observations"][0]
    named = {part["ref"]: part for name in bundles.NAMED for part in bundle[name]}
    entities = [{"ref": "s", "name": named[row["subject_ref"]]["surface"]}]
    made: dict[str, Any] = {
        "proposal_id": "correction",
        "subject_ref": "s",
        "predicate": row["original_predicate"],
        "evidence": [{"evidence_index": 0, "start": row["start"], "end": row["end"]}],
        "correction_target": {
            "relationship_id": str(number),
            "expected_version": rows("relationships.RelationshipRecord").get(pk=number).version,
        },
    }
    if row.get("object_ref"):
        entities.append({"ref": "o", "name": named[row["object_ref"]]["surface"]})
        made["object_ref"] = "o"
    else:
        value = named[row["object_value_ref"]]
        text, unit = bundles.normal(value["normalized"])
        kind = bundles.VALUE_TYPES.get(value["value_type"], value["value_type"])
        made["object_value"] = {"type": kind, "value": text, **({"unit": unit} if unit else {})}
    return {"entities": entities, "relationships": [made]}


TARGET: Final = re.compile(r"prior\[(\d+)\]")


def _remember_revision(play: Play, person: Person, said: str) -> Answered:
    """Send a revision of the source that the setup tells of."""
    source = play.found.get("source")
    found = REVISION.fullmatch(said) or AGAIN.fullmatch(said)
    if source is None or found is None:
        raise NotUnderstood(f"src {said!r}")
    token = found["new"]
    parts = found.groupdict()
    texts = [f"Revision {token} holds other words."]
    if parts.get("what") == "same":
        texts = source["texts"][token]
    previous = parts.get("previous") or source.get("previous", {}).get(token)
    return send_revision(play, {**source, "owner": person.name}, token, texts, previous=previous)


REVISION: Final = re.compile(r"(?P<new>r\d+), previous=(?P<previous>r\d+)")
AGAIN: Final = re.compile(r"(?P<new>r\d+) again, (?P<what>other|same) content")


def send_revision(
    play: Play, source: Mapping[str, Any], token: str, texts: list[str], *, previous: str | None
) -> Answered:
    """Send a revision of a keyed source as its owner."""
    claim = {"source_key": source["key"], "source_revision": token}
    claim |= {"previous_source_revision": previous} if previous else {}
    body = bundles.request_body({"evidence": [{"content": text, **claim} for text in texts]})
    source["texts"].setdefault(token, texts)
    return play.remember(play.world.person(source["owner"]), body)


def _recall(play: Play, done: Done, step: Step, found: re.Match[str]) -> Answered:
    assert done.person is not None
    asked = step.get("query", "")
    query = play.found.get("queries", {}).get(asked, asked) or _everything(play)
    given = {"query": query} | ({"limit": step["k"]} if "k" in step else {})
    given |= {"valid_at": step["valid_at"]} if "valid_at" in step else {}
    if found["team"]:
        given["team_id"] = str(play.world.teams[found["team"]])
    if found["mcp"]:
        return play.doors.call_tool(done.person.token, "recall_memory", given, session=_session(play, step))
    return play.doors.get(done.person.token, "recall", **given)


def _everything(play: Play) -> str:
    """Return a query that finds whatever the facts of all teams speak of."""
    return " ".join(dict.fromkeys(thing.name for thing in play.world.things.values())) or "what is known"


def _session(play: Play, step: Step) -> str | None:
    if "session" not in step:
        return None
    sessions: dict[str, str] = play.found.setdefault("sessions", {})
    return sessions.setdefault(step["session"], f"made-up-{step['session']}")


def _initialize(play: Play, done: Done, step: Step, found: re.Match[str]) -> Answered:
    assert done.person is not None
    answered = play.doors.initialize(done.person.token)
    name = step.get("gets", "session s1").split()[-1]
    given = answered.headers.get("mcp-session-id", f"made-up-{name}")
    play.found.setdefault("sessions", {})[name] = given
    return answered


def _trace(play: Play, done: Done, step: Step, found: re.Match[str]) -> Answered:
    assert done.person is not None
    number = _record_of(play, found["team"], step.get("target", ""))
    return play.doors.get(done.person.token, f"relationships/{number}/trace")


def _record_of(play: Play, team: str | None, target: str) -> UUID:
    kept = play.found.get("facts", {}).get(team) if team else play.found.get("records", {}).get(target)
    if kept is None:
        raise NotUnderstood(f"the target {target or team!r}")
    number: UUID = kept
    return number


def _forget(play: Play, done: Done, step: Step, found: re.Match[str]) -> Answered:
    assert done.person is not None
    number = _record_of(play, None, step.get("target", ""))
    seen = play.doors.get(done.person.token, f"relationships/{number}")
    return play.doors.post(
        done.person.token,
        f"relationships/{number}/retractions",
        {"message": "It is not so."},
        If_Match=seen.headers.get("etag", ""),
        Idempotency_Key=step.get("idempotency_key", f"forget-{number}"),
    )


def _erase(play: Play, done: Done, step: Step, found: re.Match[str]) -> Answered:
    assert done.person is not None
    if step.get("body") != {"target": "fragment"}:
        raise NotUnderstood(f"erase {step.get('body')!r}")
    return erasing.erase(play, done.person)


def _merge(play: Play, done: Done, step: Step, found: re.Match[str]) -> Answered:
    assert done.person is not None
    return identities.merge(play, done.person, step["body"])


def _retrieve(play: Play, done: Done, step: Step, found: re.Match[str]) -> Answered:
    assert done.person is not None
    return identities.retrieve(play, done.person, step["mention"])


Make = Callable[[Play, Done, Step, re.Match[str]], Answered]
CALLS: Final[tuple[tuple[re.Pattern[str], Make], ...]] = (
    (re.compile(r"(?P<mcp>mcp:)?remember"), _remember),
    (re.compile(r"(?P<mcp>mcp:)?recall(?: with team_id=(?P<team>\w+) in the body)?"), _recall),
    (re.compile(r"trace(?:\((?P<team>\w+) id\))?"), _trace),
    (re.compile(r"mcp initialize"), _initialize),
    (re.compile(r"forget"), _forget),
    (re.compile(r"erase"), _erase),
    (re.compile(r"merge"), _merge),
    (re.compile(r"candidate_retrieval"), _retrieve),
)
