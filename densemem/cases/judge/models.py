"""What the models were asked, and what was told to them about answers that were refused."""

import json
import re
import unicodedata
from typing import Any, Final

from densemem.audit.tables import rows
from densemem.cases.judge.answers import ended
from densemem.cases.judge.phrases import phrases
from densemem.cases.judge.seen import Seen
from densemem.cases.script import Asked

ATTEMPT: Final = r"attempts?_?\d+(?:_to_\d+)?"


def tried(seen: Seen) -> list[Asked]:
    """Return the calls of the stage that a case counts attempts of: the one that was asked more than once."""
    stages = {stage: seen.asked(stage) for stage in ("extract", "verify")}
    return max(stages.values(), key=len)


def attempts_of_key(seen: Seen) -> list[int]:
    """Return the numbers of the attempts that the key names."""
    first, *last = map(int, re.findall(r"\d+", seen.play.found["key"]))
    return list(range(first, (last or [first])[0] + 1))


def told_after(seen: Seen, number: int) -> str:
    """Return what a model was told about its answer of this number; empty when the answer was taken."""
    calls = tried(seen)
    return calls[number].told if len(calls) > number else ""


def outcomes(seen: Seen, outcome: str) -> list[Any]:
    """Return the telemetry of calls that ended so."""
    return list(rows("placement.Attempt").filter(item__ingest_id__in=seen.ingests(), outcome=outcome).order_by("pk"))


def refused_with(*patterns: str) -> Any:
    """The answer of the attempt was refused, and what was told says all of this."""

    def holds(seen: Seen, m: re.Match[str]) -> bool:
        (number,) = attempts_of_key(seen)
        told = told_after(seen, number)
        seen.note(told[-400:] or "the answer was taken")
        return bool(told) and all(re.search(pattern, told) for pattern in patterns)

    return holds


def each_rejected(seen: Seen, m: re.Match[str]) -> bool:
    """Every one of these answers was refused whole, and the model was given a pointer."""
    told = [told_after(seen, n) for n in attempts_of_key(seen)]
    seen.note(told)
    return all(re.search(r"^- (?:/\S*|\(whole answer\)) \[", text, re.M) for text in told)


def some_told(*patterns: str) -> Any:
    """What was told about one of these answers says this of the thing that the case names."""

    def holds(seen: Seen, m: re.Match[str]) -> bool:
        told = [told_after(seen, n) for n in attempts_of_key(seen)]
        seen.note(told)
        return any(all(re.search(p.format(**m.groupdict()), text) for p in patterns) for text in told)

    return holds


def accepted(seen: Seen, m: re.Match[str]) -> bool:
    """The attempt was the last one, and its answer alone was taken."""
    (number,) = attempts_of_key(seen)
    valid = [a for a in outcomes(seen, "valid") if a.stage == tried(seen)[0].stage]
    return seen.equal(len(tried(seen)), number) and seen.equal(len(valid), 1)


def nothing_salvaged(seen: Seen, m: re.Match[str]) -> bool:
    """Nothing came of the refused answers."""
    return seen.equal((len(seen.observations()), len(seen.new())), (0, 0))


def no_folding(seen: Seen, m: re.Match[str]) -> bool:
    """Marks were not made equal: every copied name is a piece of the evidence, letter for letter."""
    texts = {call.text for call in seen.asked()}
    names = [e.fragment.content.text[e.start : e.end] for e in mentions(seen)]
    quotes = [q["quote"] for q in quotes_taken(seen)]
    return bool(names) and all(any(q in text for text in texts) for q in (*names, *quotes))


def mentions(seen: Seen) -> list[Any]:
    """Return how each mention of the steps was resolved."""
    found = rows("entities.ResolutionEvent").filter(ingest_id__in=seen.ingests())
    return list(found.select_related("fragment__content").order_by("seq"))


def quotes_taken(seen: Seen) -> list[dict[str, Any]]:
    """Return every quote of the answers that were taken."""
    last = {call.fragment_id: call for call in seen.asked("extract")}
    found = [json.loads(call.answer or "{}") for call in last.values()]
    return [
        q
        for f in found
        for part in (*f.get("mentions", []), *f.get("observations", []))
        for q in part.get("quotes", [part])
    ]


# The verifier's questions.


def candidates(seen: Seen, surface: str, number: int = 0) -> set[str]:
    """Return the entities that were offered for a mention in the question of this number, from 1; 0 is the last."""
    asked = seen.asked("verify")[number - 1 if number else -1].request
    found = [m for m in asked["entity_mentions"] if m["surface"] == surface]
    return {c["entity_id"] for m in found for c in m["candidates"]}


def offers_all(seen: Seen, m: re.Match[str]) -> bool:
    """Things were all offered for one and the same mention."""
    call = seen.asked("verify")[-1]
    wanted = {
        str(seen.play.world.entity_id(call.team_id, key)) for key in re.findall(r"\w+", m["keys"]) if key != "and"
    }
    offered = [{c["entity_id"] for c in mention["candidates"]} for mention in call.request["entity_mentions"]]
    seen.note(offered)
    return any(wanted <= found for found in offered)


def offers(seen: Seen, m: re.Match[str]) -> bool:
    """A thing was offered for the mention that the case names."""
    team = seen.asked("verify")[-1].team_id
    found = candidates(seen, m["surface"])
    seen.note(found)
    return str(seen.play.world.entity_id(team, m["key"])) in found


def offers_first(seen: Seen, m: re.Match[str]) -> bool:
    """The thing that the first step made was offered for the mention that is written in the other form."""
    (number,) = map(int, re.findall(r"\d+", seen.play.found["key"]))
    asked = seen.asked("verify")[number - 1].request
    decomposed = [e for e in asked["entity_mentions"] if not unicodedata.is_normalized("NFC", e["surface"])]
    made = (
        rows("entities.ResolutionEvent").filter(ingest_id=seen.numbered(1).ingest_id, action="create").get().entity_id
    )
    offered = {c["entity_id"] for mention in decomposed for c in mention["candidates"]}
    return seen.equal(offered, {str(made)})


# Transport.


def telemetry_of(seen: Seen, m: re.Match[str]) -> bool:
    """Every failed call of the script is telemetry under its own word."""
    codes = [a.code for a in outcomes(seen, "provider_error")]
    words = {"429": "rate_limited", "529": "overloaded", "timeout": "timeout"}
    wanted = [words[w] for w in re.findall(r"\d{3}|timeout", m.group())]
    return seen.equal(codes, wanted)


def waited(seen: Seen, m: re.Match[str]) -> bool:
    """The wait that the other side asked for was kept."""
    wanted = [e["retry_after"] for e in seen.play.case.script if "retry_after" in e]
    return bool(wanted) and seen.equal(seen.play.naps[: len(wanted)], [float(w) for w in wanted])


def heart_beats(seen: Seen, m: re.Match[str]) -> bool:
    """During every wait the lease was renewed."""
    seen.note(seen.play.beats)
    return bool(seen.play.beats) and all(seen.play.beats)


def completed_late(seen: Seen, m: re.Match[str]) -> bool:
    """The item was completed after waits inside one claim."""
    return ended(seen, "completed") and len(seen.play.naps) > 0


def truncation_named(seen: Seen, m: re.Match[str]) -> bool:
    """What the sender reads, and the telemetry of the calls, say that the answers were cut off."""
    ingest = seen.done().ingest
    assert ingest is not None
    seen.note(ingest["items"][0]["reason"])
    return "truncat" in ingest["items"][0]["reason"] and {a.code for a in outcomes(seen, "invalid")} == {"truncated"}


MODELS: Final = (
    *phrases(
        "verifier_request",
        (r"both (?P<keys>\w+ and \w+) are in the mention's candidate list", offers_all),
        (
            r"mention (?P<surface>\w+) has (?P<key>\w+) among its candidates"
            r"(?: \(exact-name lookup, not only vectors\))?",
            offers,
        ),
    ),
    *phrases(r"verifier_request_\d+", (r"candidate list of the NFD mention holds the first entity", offers_first)),
    *phrases(
        ATTEMPT,
        (r"validation error naming the quote", refused_with(r"/quote \[quote_not_found\]")),
        (r"no folding of apostrophe or dash", no_folding),
        (r"(?:exact quote accepted|accepted alone|accepted)", accepted),
        (r"stop reason length -> invalid", refused_with(r"\[truncated\]")),
        (r"nothing salvaged", nothing_salvaged),
        (
            r"error tells: set the entity object, or the value, or drop the relation with a valid skip",
            refused_with(r"\[object_missing\]", "object_ref", "value_ref", "remove this observation"),
        ),
        (r"error tells: keep only one object form", refused_with(r"\[object_twice\]", "[Kk]eep only one")),
        (r"each rejected whole, each with a pointer", each_rejected),
        (r"missing ref (?P<ref>\w+)", some_told(r"missing", r"\b{ref}\b")),
        (r"duplicate ref (?P<ref>\w+)", some_told(r"repeated|twice|once", r"ref")),
        (r"unknown field (?P<field>\w+)", some_told(r"\b{field}\b")),
        (r"wrong request_id", some_told(r"/request_id \[")),
    ),
    *phrases("placement", (r"completed after backoff", completed_late)),
    *phrases("telemetry", (r"\d{3}(?:, \d{3})*(?: and a timeout)? recorded as operational attempts", telemetry_of)),
    *phrases("retry_after", (r"honoured", waited), (r"lease heartbeat continues during the wait", heart_beats)),
    *phrases("reason", (r"names truncation", truncation_named)),
)
