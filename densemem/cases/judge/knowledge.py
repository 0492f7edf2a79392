"""What must be known or held open after a case."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from densemem.audit.tables import rows
from densemem.cases.judge.answers import ended
from densemem.cases.judge.phrases import phrases
from densemem.cases.judge.seen import Seen
from densemem.core.names import lookup_key

TRIPLE: Final = r"(?P<p>\w+)\((?P<s>[^,()]+), (?P<o>[^()]+)\)"
WAITS: Final = (("candidate", "pending_evidence"), ("candidate", "rejected"))


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


def keys_differ(seen: Seen, m: re.Match[str]) -> bool:
    """Every record has a group key of its own."""
    found = [r.semantic_group_key for r in seen.records()]
    return len(found) > 1 and seen.equal(len(set(found)), len(found))


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


def wording_of_tasks(seen: Seen) -> list[str]:
    """Return the wording of the observation behind each open task."""
    numbers = [t.observation_id for t in seen.tasks()]
    found = dict(rows("evidence.Wording").filter(of__in=numbers, kind="predicate").values_list("of", "text"))
    return [found.get(number, "") for number in numbers]


def named_once(seen: Seen, name: str) -> int:
    """Return how many entities bear a name."""
    return int(rows("entities.Name").filter(key=lookup_key(name)).values("entity_id").distinct().count())


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
    *phrases("same", (r"semantic_group_key differs too(?: \(validity is part of it\))?", keys_differ)),
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
    *phrases(
        "placement",
        (
            r"(?P<states>\w+(?: or \w+)*)",
            lambda s, m: any(ended(s, state) for state in m["states"].split(" or ")),
        ),
    ),
)
