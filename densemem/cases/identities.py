"""Who is who in a case: what is held about things before, the merges that it asks for, and whom a mention may mean."""

from collections.abc import Mapping
from typing import Any, Final

from densemem.audit.tables import rows
from densemem.cases.doors import Answered
from densemem.cases.play import Play
from densemem.cases.statements import statement
from densemem.cases.world import NotUnderstood, Person
from densemem.core.ids import uuid7

REPORT: Final = "explicit identity report"
Reference = tuple[Any, ...]


def sayers(play: Play) -> list[str]:
    """Return who merges in a case, and beside them one who does not; nobody where nothing is merged."""
    steps = [step for step in play.case.steps if isinstance(step, Mapping)]
    merging = list(dict.fromkeys(step["as"] for step in steps if step.get("call") == "merge"))
    teams = dict.fromkeys(play.world.person(name).team for name in merging)
    others = [name for team in teams for name in play.world.writers(team) if name not in merging]
    return [*merging, *others[:1]]


def references() -> set[Reference]:
    """Return what every support cites: for which record, at which place, and the words that stand there."""
    found = rows("relationships.EvidenceSupport").select_related("fragment__content")
    return {
        (s.pk, s.relationship_id, s.fragment_id, s.start, s.end, s.fragment.content.text[s.start : s.end])
        for s in found
    }


def merge(play: Play, person: Person, body: Mapping[str, Any]) -> Answered:
    """Preview a merge, then send it again with the token of the preview, where it gave one."""
    team = person.who.team_id
    asked: dict[str, Any] = {
        "kind": "merge",
        "reason": "They are one.",
        "survivor_id": str(play.world.entity_id(team, body["into"])),
        "absorbed_ids": [str(play.world.entity_id(team, body["from"]))],
        "basis": [_cited(play, person, body, said) for said in body["evidence_ids"]],
    }
    preview = play.doors.post(person.token, "identities/previews", asked)
    play.found.setdefault("previews", {})[len(play.steps)] = preview
    token = preview.body.get("token")
    sent = {**asked, "token": token} if token else asked
    return play.doors.post(person.token, "identities", sent, Idempotency_Key=uuid7().hex)


def _cited(play: Play, person: Person, body: Mapping[str, Any], said: str) -> dict[str, Any]:
    """Remember a text that says of two things that they are one, and cite the whole of it."""
    if said != REPORT:
        raise NotUnderstood(f"evidence_ids {said!r}")
    text = f"{play.world.thing(body['from']).name} is {play.world.thing(body['into']).name}."
    answered = play.say(person.name, text, [])
    fragment = rows("evidence.Fragment").get(ingest_id=answered.body["ingest_id"])
    play.found.setdefault("reports", {}).setdefault(len(play.steps), []).append(text)
    return {"kind": "explicit_report", "fragment_id": str(fragment.pk), "start": 0, "end": len(text)}


def retrieve(play: Play, person: Person, mention: str) -> Answered:
    """Let a name be said by somebody, and by everybody else who spoke before; whom it means is left open."""
    names = [person.name, *(name for name in sayers(play) if name != person.name)]
    answers = {name: _mentioned(play, name, mention) for name in names}
    play.found["retrieved"] = {"mention": mention, "by": {n: a.body["ingest_id"] for n, a in answers.items()}}
    return answers[person.name]


def _mentioned(play: Play, name: str, mention: str) -> Answered:
    key = next((thing.key for thing in play.world.things.values() if thing.name == mention), None)
    if key is None:
        raise NotUnderstood(f"mention {mention!r}")
    product = play.world.of_kind("product")[-1]
    text, (extract, verify) = statement(play, {"s": key, "p": "works_on", "o": product}, between="still ")
    results = verify["response"]["entity_results"]
    left_open = [{**r, "action": "ambiguous", "candidate_entity_id": None} if r["ref"] == "s" else r for r in results]
    answer = {**verify, "response": {**verify["response"], "entity_results": left_open}}
    return play.say(name, text, [extract, answer])
