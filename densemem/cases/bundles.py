"""The plain words of a case in the words of the product: requests, and the answers of scripted models. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

Find = Callable[[str], str]
AUTHORITIES: Final = {"authoritative_user": "authoritative"}
VALUE_TYPES: Final = {"integer": "number", "datetime": "date_time"}
SOURCE_TYPE: Final = "document"


def expanded(value: Any) -> Any:
    """Return a value with every `$repeat` written out."""
    if isinstance(value, dict):
        if set(value) == {"$repeat"}:
            unit, times = value["$repeat"]
            return "".join(unit.replace("%d", str(index)) for index in range(times))
        return {name: expanded(item) for name, item in value.items()}
    return [expanded(item) for item in value] if isinstance(value, list) else value


def replaced(value: Any, find: Find) -> Any:
    """Return a value with every text that begins with `$` replaced by what `find` returns for it."""
    if isinstance(value, dict):
        return {name: replaced(item, find) for name, item in value.items()}
    if isinstance(value, list):
        return [replaced(item, find) for item in value]
    return find(value) if isinstance(value, str) and value.startswith("$") else value


def request_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the remember request of a case's plain body; what has no word of its own goes as it is."""
    body = expanded(body)
    made: dict[str, Any] = {**body, "evidence": [_evidence(item) for item in body.get("evidence", [])]}
    if "proposal" in body:
        made["proposal"] = _proposal(body["proposal"], [item.get("content", "") for item in made["evidence"]])
    return made


def _evidence(item: Mapping[str, Any]) -> dict[str, Any]:
    made = {"source_type": SOURCE_TYPE, **item}
    if "authority" in made:
        made["authority"] = AUTHORITIES.get(made["authority"], made["authority"])
    return made


def _proposal(given: Mapping[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Return a proposal: each mention becomes an entity, each observation a relationship that cites its text."""
    known = ("mentions", "observations")
    made: dict[str, Any] = {name: value for name, value in given.items() if name not in known}
    entities = [_entity(mention) for mention in given.get("mentions", [])]
    named: dict[str, str] = {}
    rows = [_relationship(row, number, texts, named) for number, row in enumerate(given.get("observations", []))]
    entities += [{"ref": ref, "name": name} for name, ref in named.items()]
    return {**made, "entities": entities, "relationships": rows}


def _entity(mention: Mapping[str, Any]) -> dict[str, Any]:
    span = {"evidence_index": evidence_index(mention.get("evidence_id")), "surface": mention["surface"]}
    span |= {name: mention[name] for name in ("start", "end") if name in mention}
    made = {"ref": mention["ref"], "name": mention["surface"], "mentions": [span]}
    return {**made, "entity_kind": mention["kind"]} if "kind" in mention else made


def _relationship(row: Mapping[str, Any], number: int, texts: Sequence[str], named: dict[str, str]) -> dict[str, Any]:
    index = evidence_index(row.get("evidence_id"))
    start, end = row.get("start", 0), row.get("end", len(texts[index]) if index < len(texts) else 1)
    made: dict[str, Any] = {
        "proposal_id": row.get("ref", f"p{number}"),
        "predicate": row["predicate"],
        "evidence": [{"evidence_index": index, "start": start, "end": end}],
    }
    for end_name in ("subject", "object"):
        if f"{end_name}_ref" in row:
            made[f"{end_name}_ref"] = row[f"{end_name}_ref"]
        elif end_name in row:
            made[f"{end_name}_ref"] = named.setdefault(row[end_name], f"n{len(named)}")
    kept = ("polarity", "modality", "valid_from", "valid_to", "scope", "object_value", "correction_target")
    return made | {name: row[name] for name in kept if name in row}


def evidence_index(placeholder: str | None) -> int:
    """Return the 0-based index that `$evN` names; the first item when nothing is named."""
    return int(placeholder.removeprefix("$ev")) - 1 if placeholder and placeholder.startswith("$ev") else 0


def extraction(given: Mapping[str, Any], *, text: str, evidence: str) -> dict[str, Any]:
    """Return the reviewer's answer in the product's shape; faults of the given one stay in it.

    :param given: a bundle of a case, with offsets or quotes
    :param text: the evidence item that is asked about
    :param evidence: the placeholder of that item; parts about another item are left out
    """
    parts = {name: [p for p in given.get(name, []) if _about(p, evidence)] for name in (*NAMED, "observations")}
    rest = {name: value for name, value in given.items() if name not in parts}
    return {
        **rest,
        "mentions": [_cited(part, text) for part in parts["mentions"]],
        "values": [_cited(_value(part), text) for part in parts["values"]],
        "observations": [_observation(part, text) for part in parts["observations"]],
    }


NAMED: Final = ("mentions", "values")
OBSERVATION: Final = {"original_predicate": "predicate", "object_value_ref": "value_ref"}
UNSAID: Final[Mapping[str, Any]] = {
    "object_ref": None,
    "value_ref": None,
    "modality": "statement",
    "ended": False,
    "valid_from": None,
    "valid_to": None,
    "scope": None,
    "proposal_id": None,
}


def _about(part: Mapping[str, Any], evidence: str) -> bool:
    cited = part.get("evidence_id", evidence)
    return not cited.startswith("$ev") or cited == evidence


def _cited(part: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Say with a quote and its occurrence what the case says with offsets."""
    made = {name: value for name, value in part.items() if name not in ("start", "end", "surface", "quote")}
    quote, occurrence = quoted(part, text)
    return {**made, "quote": quote, "occurrence": occurrence}


def quoted(part: Mapping[str, Any], text: str) -> tuple[str, int | None]:
    """Return the quote of a part and which of its occurrences it is; one that the text does not hold stays as it is."""
    if "quote" in part:
        return part["quote"], None
    start, end = part["start"], part["end"]
    quote = text[start:end]
    if "surface" in part and part["surface"] != quote:
        return part["surface"], None
    return quote, sum(1 for _ in _found(text, quote, start)) + 1


def _found(text: str, quote: str, before: int) -> Iterator[int]:
    at = text.find(quote)
    while 0 <= at < before:
        yield at
        at = text.find(quote, at + 1)


def _value(part: Mapping[str, Any]) -> dict[str, Any]:
    made = {name: value for name, value in part.items() if name not in ("value_type", "normalized")}
    if "value_type" in part:
        made["type"] = VALUE_TYPES.get(part["value_type"], part["value_type"])
    if "normalized" in part:
        made["value"], made["unit"] = normal(part["normalized"])
    return made


def normal(given: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return value and unit of a normalised literal."""
    if "seconds" in given:
        return f"PT{given['seconds']}S", None
    if "amount" in given:
        return str(given["amount"]), given.get("currency") or given.get("unit")
    ((_, value),) = [pair for pair in given.items() if pair[0] != "unit"]
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text, given.get("unit")


def _observation(part: Mapping[str, Any], text: str) -> dict[str, Any]:
    made = {OBSERVATION.get(name, name): value for name, value in part.items() if name not in ("start", "end", "quote")}
    quote, occurrence = quoted(part, text)
    return {**UNSAID, **made, "quotes": [{"quote": quote, "occurrence": occurrence}]}


def text_of(bundle: Mapping[str, Any]) -> str:
    """Return a text that a bundle with offsets fits: its surfaces in their places, its wording between them."""
    ends = [part["end"] for name in (*NAMED, "observations") for part in bundle.get(name, [])]
    letters = [" "] * max(ends, default=0)
    named = {part["ref"]: part for name in NAMED for part in bundle.get(name, [])}
    for part in named.values():
        letters[part["start"] : part["end"]] = part["surface"]
    for row in bundle.get("observations", []):
        at = named[row["subject_ref"]]["end"] + 1
        letters[at : at + len(row["original_predicate"])] = row["original_predicate"]
    if letters and letters[-1] == " ":
        letters[-1] = "."
    return "".join(letters)
