"""The registry of tools: what a model reads about each, and the one use case that it calls."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.utils import timezone

from densemem.auth import Principal
from densemem.core import limits
from densemem.core.faults import Fault
from densemem.core.times import TimeRefused, parse_bound, parse_instant
from densemem.core.words import Scope
from densemem.http import read_id
from densemem.mcp.arguments import ArgumentsInvalid, check
from densemem.mcp.descriptions import (
    GET_MEMORY_PLACEMENT,
    GET_REVIEW,
    LIST_REVIEWS,
    RECALL_MEMORY,
    REMEMBER,
    RESOLVE_MEMORY_PLACEMENT,
    TRACE_MEMORY,
)
from densemem.paging import Before, Cursor
from placement.decide import Decided, decide, forget
from placement.decision import DECISION
from placement.remember import remember
from placement.request import SCHEMA
from placement.status import IngestView, get_placement
from relationships.recall import Recall
from relationships.serving import serve_recall, serve_trace
from relationships.trace import Trace
from review.reviews import Review, ReviewTask
from review.serving import serve_review, serve_reviews

Arguments = Mapping[str, Any]
SCHEMAS: Final = Path(__file__).parent / "schemas"


def _schema(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    return read


ENVELOPE: Final = _schema("remember_envelope")
REMEMBER_INPUT: Final = {
    **SCHEMA,
    "required": [*SCHEMA["required"], *ENVELOPE["required"]],
    "properties": {**SCHEMA["properties"], **ENVELOPE["properties"]},
}


DECIDED: Final = _schema("resolve_envelope")
RESOLVE_INPUT: Final = {
    **DECISION,
    "required": [*DECISION["required"], *DECIDED["required"]],
    "properties": {
        **DECISION["properties"],
        **DECIDED["properties"],
        "action": {"enum": [*DECISION["properties"]["action"]["enum"], "forget"]},
    },
}
ANSWER_ENVELOPE: Final = {**DECIDED, "required": ["review_id", *DECIDED["required"]]}
FORGET_ENVELOPE: Final = {**DECIDED, "required": ["relationship_id", "expected_version", *DECIDED["required"]]}


@dataclass(frozen=True, slots=True)
class Remembered(IngestView):
    """The placement of what was remembered; `replayed` when an earlier request had already stored it."""

    replayed: bool


@dataclass(frozen=True, slots=True)
class Questions:
    """A page of questions; `next_cursor` asks for the next one, None at the end."""

    results: tuple[ReviewTask, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Tool:
    """
    One tool.

    :param scope: what a token needs to see it and to call it
    :param answers: the frozen dataclass that `call` returns
    :param look_again: asks how far an answer is by now; for tools that take `wait_seconds`
    """

    name: str
    title: str
    description: str
    scope: Scope
    input_schema: Mapping[str, Any]
    answers: type
    call: Callable[[Principal, Arguments], Any]
    look_again: Callable[[Principal, Any], Any] | None = None

    @property
    def reads_only(self) -> bool:
        """Whether a call changes nothing."""
        return self.scope is Scope.READ


def call_remember(who: Principal, arguments: Arguments) -> Remembered:
    """Store exact evidence and queue its placement.

    :raises Refused: one of its kinds; nothing was stored
    """
    check(arguments, ENVELOPE)
    accepted = remember(
        principal=who,
        body={name: value for name, value in arguments.items() if name not in ENVELOPE["properties"]},
        idempotency_key=arguments["idempotency_key"],
        now=timezone.now(),
    )
    view = get_placement(team_id=who.team_id, ingest_id=accepted.ingest_id, reader_id=who.profile_id)
    return Remembered(**_values(view), replayed=accepted.replayed)


def call_get_memory_placement(who: Principal, arguments: Arguments) -> IngestView:
    """Return how far an ingest of the team is.

    :raises Refused: invalid arguments, or no such ingest
    """
    check(arguments, PLACEMENT_INPUT)
    return get_placement(team_id=who.team_id, ingest_id=read_id(arguments["ingest_id"]), reader_id=who.profile_id)


def call_recall_memory(who: Principal, arguments: Arguments) -> Recall:
    """Return what the team holds to be so and the query asks for.

    :raises Refused: invalid arguments
    """
    check(arguments, RECALL_INPUT)
    return serve_recall(
        principal=who,
        query=arguments["query"],
        limit=int(arguments.get("limit", limits.RECALL_DEFAULT)),  # JSON Schema counts 10.0 as an integer
        valid_at=_moment(arguments, "valid_at"),
        known_at=_moment(arguments, "known_at"),
        now=timezone.now(),
    )


def call_trace_memory(who: Principal, arguments: Arguments) -> Trace:
    """Return why one Relationship is held.

    :raises Refused: invalid arguments, or no such Relationship
    """
    check(arguments, TRACE_INPUT)
    return serve_trace(
        principal=who,
        relationship_id=read_id(arguments["relationship_id"]),
        known_at=_moment(arguments, "known_at"),
        only=arguments.get("list"),
        before=Before.read(arguments.get("cursor", "")),
        limit=int(arguments.get("limit", limits.PAGE_DEFAULT)),
        now=timezone.now(),
    )


def call_list_reviews(who: Principal, arguments: Arguments) -> Questions:
    """Return a page of the team's questions.

    :raises Refused: invalid arguments
    """
    check(arguments, LIST_REVIEWS_INPUT)
    page = serve_reviews(
        principal=who,
        mine=arguments.get("mine", False),
        kind=arguments.get("kind"),
        status=arguments.get("status"),
        cursor=Cursor.read(arguments.get("cursor", "")),
        limit=int(arguments.get("limit", limits.PAGE_DEFAULT)),
        now=timezone.now(),
    )
    return Questions(page.rows, str(page.next) if page.next else None)


def call_get_review(who: Principal, arguments: Arguments) -> Review:
    """Return one question, whole.

    :raises Refused: invalid arguments, or no such question
    """
    check(arguments, GET_REVIEW_INPUT)
    return serve_review(principal=who, review_id=read_id(arguments["review_id"]), now=timezone.now())


def call_resolve_memory_placement(who: Principal, arguments: Arguments) -> Decided:
    """Answer a review task, or forget one of the caller's Relationships.

    :raises Refused: one of its kinds; nothing was stored
    """
    forgets = arguments.get("action") == "forget"
    envelope = {name: value for name, value in arguments.items() if name in DECIDED["properties"]}
    check(envelope, FORGET_ENVELOPE if forgets else ANSWER_ENVELOPE)
    body = {name: value for name, value in arguments.items() if name not in DECIDED["properties"]}
    key, now = arguments["idempotency_key"], timezone.now()
    if not forgets:
        return decide(principal=who, review_id=read_id(arguments["review_id"]), body=body, idempotency_key=key, now=now)
    return forget(
        principal=who,
        relationship_id=read_id(arguments["relationship_id"]),
        expected_version=int(arguments["expected_version"]),
        body={name: value for name, value in body.items() if name != "action"},
        idempotency_key=key,
        now=now,
    )


def look_again(who: Principal, answer: Any) -> Any:
    """Return an answer about an ingest with the state it has by now."""
    ingest_id: UUID = answer.ingest_id
    return replace(answer, **_values(get_placement(team_id=who.team_id, ingest_id=ingest_id, reader_id=who.profile_id)))


def tools_of(who: Principal) -> list[Tool]:
    """Return the tools that the caller's scopes allow, always in the same order."""
    return [tool for tool in TOOLS if tool.scope in who.scopes]


def find_tool(name: str) -> Tool | None:
    """Return the tool of this name, or None."""
    return BY_NAME.get(name)


def _values(view: IngestView) -> dict[str, Any]:
    return {field.name: getattr(view, field.name) for field in fields(view)}


def _moment(arguments: Arguments, name: str) -> datetime | None:
    """Read a moment. A day bounds a validity; knowledge is asked for at an instant."""
    text = arguments.get(name)
    if text is None:
        return None
    try:
        return parse_instant(text) if name == "known_at" else parse_bound(text).at
    except TimeRefused as refused:
        fault = Fault(f"/{name}", refused.code, refused.detail)
        raise ArgumentsInvalid(
            "The call cannot be made as it is. Mend the time and call again.", faults=[fault]
        ) from None


PLACEMENT_INPUT: Final = _schema("get_memory_placement")
RECALL_INPUT: Final = _schema("recall_memory")
TRACE_INPUT: Final = _schema("trace_memory")
LIST_REVIEWS_INPUT: Final = _schema("list_reviews")
GET_REVIEW_INPUT: Final = _schema("get_review")

TOOLS: Final = (
    Tool(
        "remember",
        "Remember",
        REMEMBER,
        Scope.WRITE,
        REMEMBER_INPUT,
        Remembered,
        call_remember,
        look_again,
    ),
    Tool(
        "get_memory_placement",
        "Look how a memory was placed",
        GET_MEMORY_PLACEMENT,
        Scope.READ,
        PLACEMENT_INPUT,
        IngestView,
        call_get_memory_placement,
        look_again,
    ),
    Tool(
        "recall_memory",
        "Recall what the team knows",
        RECALL_MEMORY,
        Scope.READ,
        RECALL_INPUT,
        Recall,
        call_recall_memory,
    ),
    Tool(
        "trace_memory",
        "Trace why something is held",
        TRACE_MEMORY,
        Scope.READ,
        TRACE_INPUT,
        Trace,
        call_trace_memory,
    ),
    Tool(
        "list_reviews",
        "List what waits for a person",
        LIST_REVIEWS,
        Scope.READ,
        LIST_REVIEWS_INPUT,
        Questions,
        call_list_reviews,
    ),
    Tool(
        "get_review",
        "Look at one question",
        GET_REVIEW,
        Scope.READ,
        GET_REVIEW_INPUT,
        Review,
        call_get_review,
    ),
    Tool(
        "resolve_memory_placement",
        "Carry out what a person decided",
        RESOLVE_MEMORY_PLACEMENT,
        Scope.WRITE,
        RESOLVE_INPUT,
        Decided,
        call_resolve_memory_placement,
    ),
)
BY_NAME: Final = {tool.name: tool for tool in TOOLS}
