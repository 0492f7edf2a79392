"""Expectations with a shape of their own: records, counts, questions, spans."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from densemem.audit.tables import rows
from densemem.cases.judge.knowledge import named_once, wording_of_tasks
from densemem.cases.judge.seen import KINDS, Seen, is_value, moment
from densemem.cases.tables import NAMED

Shape = Callable[[Seen, Any], Iterator[str]]


def records(seen: Seen, wanted: list[Mapping[str, Any]]) -> Iterator[str]:
    """Compare records: each wanted one is there, and none beyond them that was not there before."""
    found = seen.records()
    free = list(found)
    for one in wanted:
        unknown = set(one) - set(FIELDS)
        if unknown:
            yield f"not understood: relationships: {sorted(unknown)}"
            continue
        match = next((r for r in free if all(FIELDS[name](seen, r, value) for name, value in one.items())), None)
        if match is None:
            yield f"relationships: no record is {dict(one)}; there are {[seen.words(r) for r in found]}"
        else:
            free.remove(match)
    beyond = [seen.words(r) for r in free if r.id not in seen.play.priors]
    if beyond:
        yield f"relationships: not expected: {beyond}"


def _at(name: str) -> Callable[[Seen, Any, Any], bool]:
    return lambda seen, record, value: getattr(record, name) == (moment(value) if value else None)


def _same(name: str) -> Callable[[Seen, Any, Any], bool]:
    return lambda seen, record, value: bool(getattr(record, name) == value)


FIELDS: Final[Mapping[str, Callable[[Seen, Any, Any], bool]]] = {
    "owner": lambda seen, record, value: record.owner_id == seen.play.world.person(value).who.profile_id,
    "s": lambda seen, record, value: seen.is_thing(record.subject_entity_id, value),
    "p": _same("predicate_key"),
    "o": lambda seen, record, value: seen.is_thing(record.object_entity_id, value),
    "value": lambda seen, record, value: record.object_value is not None and is_value(record.object_value, value),
    "polarity": _same("polarity"),
    "tier": _same("tier"),
    "status": _same("status"),
    "scope_key": _same("scope_key"),
    "source_group_count": _same("source_group_count"),
    "support_count": _same("support_count"),
    "version": _same("version"),
    "valid_from": _at("valid_from"),
    "valid_to": _at("valid_to"),
}


def counts(seen: Seen, wanted: Mapping[str, Any]) -> Iterator[str]:
    """Compare counts; `>=1` and the like are bounds."""
    for name, value in wanted.items():
        found = _count(seen, name)
        if found is None:
            yield f"not understood: counts: {name!r}"
        elif not _fits(found, value):
            yield f"counts: {name} is {found}, not {value}"


BOUND: Final = re.compile(r"(>=|<=|>|<)\s*(\d+)")


def _fits(found: int, value: Any) -> bool:
    bound = BOUND.fullmatch(str(value))
    if bound is None:
        return found == value
    most = int(bound[2])
    return {">=": found >= most, "<=": found <= most, ">": found > most, "<": found < most}[bound[1]]


def _count(seen: Seen, name: str) -> int | None:
    if name in NAMED:
        return seen.counted(name)
    if name == "model_calls":
        return len(seen.asked())
    if name == "embedding_jobs":
        return 0  # nothing of the product makes one
    if name == "support_count":
        return sum(r.support_count for r in seen.records())
    named = re.fullmatch(r"Entity named (.+)", name)
    if named:
        return named_once(seen, named[1])
    kind = re.fullmatch(r"Entity\[(\w+)\]", name)
    return rows("entities.Entity").filter(kind=kind[1]).count() if kind else None


def reviews(seen: Seen, wanted: list[Any]) -> Iterator[str]:
    """Compare the open questions: their kinds, their candidates and the wording that they ask about."""
    tasks = seen.tasks()
    given = [_review(one) for one in wanted]
    kinds = sorted(KINDS.get(one["kind"], one["kind"]) for one in given)
    if sorted(t.kind for t in tasks) != kinds:
        yield f"reviews: there are {sorted(t.kind for t in tasks)}, not {kinds}"
        return
    for one in given:
        unknown = set(one) - {"kind", "candidates", "wording"}
        if unknown:
            yield f"not understood: reviews: {sorted(unknown)}"
        if "candidates" in one and not _offers(seen, tasks, one["candidates"]):
            yield f"reviews: the candidates are not {one['candidates']}"
        if "wording" in one and one["wording"] not in wording_of_tasks(seen):
            yield f"reviews: they ask about {wording_of_tasks(seen)}, not {one['wording']!r}"


def _review(one: Any) -> dict[str, Any]:
    if not isinstance(one, str):
        return dict(one)
    kind, _, wording = one.partition(": ")
    return {"kind": kind, **({"wording": wording} if wording else {})}


def _offers(seen: Seen, tasks: list[Any], keys: list[str]) -> bool:
    for task in tasks:
        wanted = {seen.play.world.entity_id(task.team_id, key) for key in keys}
        if task.resolution and set(task.resolution.candidates.values_list("entity_id", flat=True)) == wanted:
            return True
    return False


def edges(seen: Seen, wanted: int) -> Iterator[str]:
    """Compare how many edges normal reads may see."""
    if seen.edges() != wanted:
        yield f"edges: there are {seen.edges()}, not {wanted}"


def attempts(seen: Seen, wanted: int) -> Iterator[str]:
    """Compare how many whole answers the reviewer needed."""
    if len(seen.asked("extract")) != wanted:
        yield f"attempts: there were {len(seen.asked('extract'))}, not {wanted}"


def stored_span(seen: Seen, wanted: Mapping[str, Any]) -> Iterator[str]:
    """Compare the span of the first support: its offsets, and the text that stands there."""
    support = (
        rows("relationships.EvidenceSupport").filter(fragment__ingest_id__in=seen.ingests()).order_by("seq").first()
    )
    if support is None:
        yield "stored_span: nothing is supported"
        return
    text = support.fragment.content.text
    found = {"start": support.start, "end": support.end, "text": text[support.start : support.end]}
    for name, value in wanted.items():
        if name == "bytes":
            yield from _bytes(seen, found["text"], value)
        elif name not in found:
            yield f"not understood: stored_span: {name!r}"
        elif found[name] != value:
            yield f"stored_span: {name} is {found[name]!r}, not {value!r}"


ORIGINAL: Final = re.compile(r"the original ones(?:, with (U\+[0-9A-F]{4}(?: and U\+[0-9A-F]{4})*))?")


def _bytes(seen: Seen, text: str, said: str) -> Iterator[str]:
    found = ORIGINAL.fullmatch(said)
    if found is None:
        yield f"not understood: stored_span: bytes: {said!r}"
        return
    marks = [chr(int(code, 16)) for code in re.findall(r"U\+([0-9A-F]{4})", found[1] or "")]
    sent = seen.play.steps[0].said["body"]["evidence"][0]["content"]
    lacking = [f"U+{ord(mark):04X}" for mark in marks if mark not in text]
    if lacking or text not in sent:
        yield f"stored_span: the stored bytes {text!r} lack {lacking} (sent {sent!r})"


def new_record(seen: Seen, wanted: Mapping[str, Any]) -> Iterator[str]:
    """Compare the one record that the steps made."""
    plain = {name: value for name, value in wanted.items() if name != "recorded_at"}
    yield from records(seen, [plain])
    if "recorded_at" in wanted:
        yield from _recorded(seen, wanted["recorded_at"])


def _recorded(seen: Seen, said: str) -> Iterator[str]:
    if said != "server now":
        yield f"not understood: new: recorded_at: {said!r}"
        return
    before = max((state["recorded_at"] for state in seen.play.prior_states.values()), default=None)
    late = [r for r in seen.new() if before is None or r.recorded_at > before]
    if late != seen.new():
        yield "new: recorded_at lies before the case began"


SHAPES: Final[Mapping[tuple[str, type], Shape]] = {
    ("relationships", list): records,
    ("counts", dict): counts,
    ("reviews", list): reviews,
    ("edges", int): edges,
    ("attempts", int): attempts,
    ("stored_span", dict): stored_span,
    ("new", dict): new_record,
}
