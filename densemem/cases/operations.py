"""Which operations the product has, and which of them a case needs: a case waits only for what is not there."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from django.apps import apps
from django.urls import Resolver404, resolve
from pgvector.django import VectorField

from densemem.cases.files import Case
from densemem.mcp.tools import find_tool

SOME_ID: Final = "00000000-0000-7000-8000-000000000000"

# An operation is there when its address, its tool or its table is.
ADDRESSES: Final = {
    "remember": ("ingests",),
    "recall": ("recall",),
    "trace": (f"relationships/{SOME_ID}/trace",),
    "forget": (f"relationships/{SOME_ID}/retractions",),
    "decide": (f"reviews/{SOME_ID}/decisions",),
    "retry": (f"ingests/{SOME_ID}/retries",),
    "lists": ("reviews",),
    "merge": ("identities",),
    "erase": (f"evidence/{SOME_ID}/redactions",),
    "export": ("exports", "packs", "memory-packs"),
    "expand": (f"entities/{SOME_ID}/relationships", "graph"),
    "suggest": ("suggestions", "search/suggestions"),
}
TOOLS: Final = {"merge": "correct_entity_resolution", "export": "export_memory_pack"}
# Of these, a table tells: one of vectors, one of judgments.
TABLES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "embed": lambda model: any(isinstance(field, VectorField) for field in model._meta.local_fields),
    "judge": lambda model: "Judgment" in model.__name__,
}

# What a step, an event, a setup or an expectation says that needs more than remember and recall.
SAID: Final = (
    (re.compile(r"^(?:forget|retract)\b", re.I), "forget"),
    (re.compile(r"^merge\b|^candidate_retrieval\b", re.I), "merge"),
    (re.compile(r"^(?:erase|redact)\b", re.I), "erase"),
    (re.compile(r"^export\b", re.I), "export"),
    (re.compile(r"^graph expansion\b", re.I), "expand"),
    (re.compile(r"^search suggestions\b", re.I), "suggest"),
    (re.compile(r"^retry\b", re.I), "retry"),
    (re.compile(r"^(?:resolve|decide)\b", re.I), "decide"),
    (re.compile(r"^walk (?:next|previous) links\b", re.I), "lists"),
    (re.compile(r"\bembedding job\b|\bEMBEDDING_DIM\b|\bdocument version \d|\bvector\b.*\barrives\b", re.I), "embed"),
    (re.compile(r"^orphan sweep\b", re.I), "judge"),
)


def missing(case: Case) -> tuple[str, ...]:
    """Return the operations that a case needs and the product does not have."""
    return tuple(name for name in sorted(needs(case)) if not exists(name))


def missing_of(said: str) -> tuple[str, ...]:
    """Return what the product does not have of what one step or event needs."""
    return tuple(name for name in sorted(_of(said)) if not exists(name))


def needs(case: Case) -> set[str]:
    """Return every operation beyond remember and recall that a case speaks of."""
    found = {name for said in _sayings(case) for name in _of(said)}
    return found | ({"embed"} if any(entry["stage"] == "embed" for entry in case.script) else set())


def exists(name: str) -> bool:
    """Tell if the product has an operation."""
    if name in TABLES:
        return any(TABLES[name](model) for model in apps.get_models())
    tool = TOOLS.get(name)
    return (tool is not None and find_tool(tool) is not None) or any(map(_answers, ADDRESSES[name]))


def _of(said: str) -> set[str]:
    return {name for pattern, name in SAID if pattern.search(said)}


@cache
def _answers(address: str) -> bool:
    try:
        resolve(f"/api/v1/{address}")
    except Resolver404:
        return False
    return True


def _sayings(case: Case) -> Iterator[str]:
    for step in case.steps:
        yield step if isinstance(step, str) else step.get("call", json.dumps(step)).removeprefix("mcp:")
    race = case.input.get("race", [])
    yield from [race["call"]] if isinstance(race, dict) and "call" in race else []
    yield from race if isinstance(race, list) else []
    yield from case.setup.get("schedules", [])
    yield from (text for name, text in case.expected.items() if name == "after" and isinstance(text, str))
