"""Run a provider over labelled texts in an empty, simulated memory: extract, ask the verifier, keep what is entailed.

The real pipeline is measured by its own command; this one needs no database, so that rules can be tried in seconds.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from densemem.evals.scoring import ActiveFact, score_knowledgenet, score_notes
from densemem.providers.base import Call, Provider, Role, Stage, Turn
from densemem.providers.rules import Rules
from densemem.providers.rules.patterns import wordings

KINDS = (
    "person",
    "organization",
    "team",
    "project",
    "product",
    "technology",
    "place",
    "document",
    "event",
    "concept",
    "other",
)
VALUES = ("text", "number", "boolean", "date", "date_time", "duration", "money")
_PROPERTY_KINDS = {
    "CEO": ("organization", "person"),
    "EDUCATED_AT": ("person", "organization"),
    "EMPLOYEE_OR_MEMBER_OF": ("person", "organization"),
    "FOUNDED_BY": ("organization", None),
    "HEADQUARTERS": ("organization", "place"),
    "PLACE_OF_RESIDENCE": ("person", "place"),
    "SPOUSE": ("person", "person"),
    "SUBSIDIARY_OF": ("organization", "organization"),
    "DATE_FOUNDED": ("organization", None),
    "DATE_OF_BIRTH": ("person", None),
    "CHILD_OF": ("person", "person"),
    "NATIONALITY": ("person", "place"),
    "PLACE_OF_BIRTH": ("person", "place"),
    "DATE_OF_DEATH": ("person", None),
    "POLITICAL_AFFILIATION": ("person", "organization"),
}
Names = Sequence[tuple[str, str | None, int, int]]


def ask(provider: Provider, stage: Stage, request: Mapping[str, Any]) -> dict[str, Any]:
    """Put one request to a provider and read its answer."""
    turn = Turn(Role.USER, json.dumps(request, ensure_ascii=False))
    answer: dict[str, Any] = json.loads(provider.complete(Call(stage, "", (turn,), {})).text)
    return answer


def extraction_request(text: str, names: Names, predicates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Make the request for one text; `names` are (surface, kind, start, end) as a client would hand them over."""
    groups: dict[tuple[str, str | None], list[dict[str, int]]] = defaultdict(list)
    for surface, kind, start, end in names:
        groups[surface, kind].append({"start": start, "end": end})
    entities = [
        {"ref": f"e{place}", "name": surface, "kind": kind, "aliases": [], "mentions": spans}
        for place, ((surface, kind), spans) in enumerate(groups.items())
    ]
    fields = ("key", "active", "inverse", "subject_kinds", "object_kinds")
    return {
        "request_id": "r1",
        "evidence": [{"evidence_id": "e1", "content": text}],
        "proposal": {"entities": entities[:100], "observations": []},
        "known_names": [],
        "entity_kinds": list(KINDS),
        "value_types": list(VALUES),
        "predicates": [{field: row[field] for field in fields} for row in predicates],
        "signals": [],
    }


def _place(text: str, row: Mapping[str, Any]) -> tuple[int, int]:
    """Find the span of a quote by its occurrence."""
    start = -1
    for _ in range(row["occurrence"] or 1):
        start = text.index(row["quote"], start + 1)
    return start, start + len(row["quote"])


def verifier_request(text: str, bundle: Mapping[str, Any], keys_of: Callable[[str], list[str]]) -> dict[str, Any]:
    """Turn a bundle into the verifier's question, filling the end of an ended draft as the server does."""
    mentions = {
        row["ref"]: row | dict(zip(("start", "end"), _place(text, row), strict=True)) for row in bundle["mentions"]
    }
    values = {row["ref"]: row | dict(zip(("start", "end"), _place(text, row), strict=True)) for row in bundle["values"]}
    observations = []
    for row in bundle["observations"]:
        start, end = _place(text, row["quotes"][0])
        value = values.get(row["value_ref"])
        shown = (
            {key: value[key] for key in ("type", "value", "unit", "start", "end")} | {"surface": value["quote"]}
            if value
            else None
        )
        same = {
            key: row[key]
            for key in (
                "ref",
                "subject_ref",
                "object_ref",
                "polarity",
                "modality",
                "valid_from",
                "scope",
                "evidence_id",
            )
        }
        valid_to = row["valid_to"] or ("2026-01-01T00:00:00Z" if row["ended"] else None)
        observations.append(
            same
            | {
                "original_predicate": row["predicate"],
                "predicate_candidates": keys_of(row["predicate"]),
                "object_value": shown,
                "valid_to": valid_to,
                "start": start,
                "end": end,
            }
        )
    entity_mentions = [
        {
            "ref": row["ref"],
            "surface": row["quote"],
            "kind": row["kind"],
            "evidence_id": "e1",
            "start": row["start"],
            "end": row["end"],
            "candidates": [],
        }
        for row in mentions.values()
    ]
    return {
        "request_id": "r2",
        "evidence": [{"evidence_id": "e1", "content": text}],
        "entity_mentions": entity_mentions,
        "relationship_observations": observations,
        "signals": [],
    }


def wording_table(predicates: Sequence[Mapping[str, Any]]) -> Callable[[str], list[str]]:
    """Return a function from a wording to the predicates that list it."""
    table: dict[str, set[str]] = defaultdict(set)
    extra = wordings()
    for row in predicates:
        for wording in (*row["active"], *row["inverse"], row["key"], *extra.get(row["key"], [])):
            table[wording.casefold()].add(row["key"])
    return lambda wording: sorted(table.get(wording.casefold(), ()))


def active_facts(
    provider: Provider,
    text: str,
    names: Names,
    predicates: Sequence[Mapping[str, Any]],
    keys_of: Callable[[str], list[str]],
) -> list[ActiveFact]:
    """Return what would become active for one text in an empty memory."""
    bundle = ask(provider, Stage.EXTRACT, extraction_request(text, names, predicates))
    request = verifier_request(text, bundle, keys_of)
    results = {row["ref"]: row for row in ask(provider, Stage.VERIFY, request)["relationship_results"]}
    mentions = {row["ref"]: row for row in request["entity_mentions"]}
    facts = []
    for row in request["relationship_observations"]:
        result = results[row["ref"]]
        if result["evidence_verdict"] != "entailed" or row["modality"] != "statement" or not result["predicate_key"]:
            continue
        subject, value = mentions[row["subject_ref"]], row["object_value"]
        object_ = value or mentions[row["object_ref"]]
        facts.append(
            ActiveFact(
                subject["surface"],
                result["predicate_key"],
                object_["surface"],
                row["polarity"],
                row["valid_to"] is not None,
                subject["kind"],
                None if value else object_["kind"],
                value["value"] if value else None,
                row["valid_from"],
                row["valid_to"],
                row["scope"],
                (subject["start"], subject["end"]),
                (object_["start"], object_["end"]),
            )
        )
    return facts


def note_names(note: Mapping[str, Any]) -> Names:
    """Return the labelled names of a note, values left out."""
    return [(m["surface"], m["kind"], m["start"], m["end"]) for m in note["mentions"] if m["kind"] in KINDS]


def passage_names(rows: Iterable[Mapping[str, Any]]) -> dict[str, Names]:
    """Return per passage the names of all its labels; the longest wins an overlap, pronouns and dates are left out."""
    found: dict[str, dict[tuple[int, int], tuple[str, str | None, int, int]]] = defaultdict(dict)
    for row in rows:
        found.setdefault(row["passage"], {})
        for end, kind in zip(("subject", "object"), _PROPERTY_KINDS[row["property"]], strict=True):
            label = row.get(end)
            if (
                label
                and label["text"][0].isupper()
                and label["text"] not in _PRONOUNS
                and not (end == "object" and "DATE" in row["property"])
            ):
                found[row["passage"]].setdefault(
                    (label["start"], label["end"]), (label["text"], kind, label["start"], label["end"])
                )
    return {passage: _apart(names.values()) for passage, names in found.items()}


_PRONOUNS = frozenset(
    ["He", "She", "It", "They", "His", "Her", "Its", "Their", "I", "We", "You", "This", "The", "Who", "Which"]
)


def _apart(names: Iterable[tuple[str, str | None, int, int]]) -> Names:
    """Keep names that do not overlap, longer ones first."""
    kept: list[tuple[str, str | None, int, int]] = []
    for name in sorted(names, key=lambda n: (n[2] - n[3], n[2])):
        if all(name[3] <= other[2] or other[3] <= name[2] for other in kept):
            kept.append(name)
    return sorted(kept, key=lambda n: n[2])


def _lines(path: Path) -> list[dict[str, Any]]:
    """Read JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the scores of the rules on the given files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--predicates", type=Path, required=True)
    parser.add_argument("--notes", type=Path)
    parser.add_argument("--knowledgenet", type=Path)
    parser.add_argument("--without-names", action="store_true", help="hand over no names")
    parser.add_argument("--limit", type=int, default=None)
    options = parser.parse_args(arguments)
    predicates = json.loads(options.predicates.read_text(encoding="utf-8"))
    keys_of, provider = wording_table(predicates), Rules()
    if options.notes:
        notes = _lines(options.notes)
        active = {
            n["id"]: active_facts(
                provider, n["text"], () if options.without_names else note_names(n), predicates, keys_of
            )
            for n in notes
        }
        _print(score_notes(notes, active))
    if options.knowledgenet:
        rows = _lines(options.knowledgenet)[: options.limit]
        names = passage_names(rows)
        by_passage = {
            passage: active_facts(provider, passage, () if options.without_names else group, predicates, keys_of)
            for passage, group in names.items()
        }
        _print(score_knowledgenet(rows, by_passage))
    return 0


def _print(report: Mapping[str, Any]) -> None:
    """Write one report as JSON."""
    json.dump(report, sys.stdout, ensure_ascii=False, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    sys.exit(main())
