"""REST: recall, one record, and its trace."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem import paging
from densemem.auth import Principal
from densemem.core import limits
from densemem.core.faults import Fault, NotThere
from densemem.core.times import TimeRefused, parse_bound, parse_instant
from densemem.http import has_seen, read_choice, read_id, read_parameters, refuse
from densemem.paging import Before, read_length
from relationships.recall import Recall
from relationships.search import Claim
from relationships.serving import serve_conflict, serve_conflicts, serve_recall, serve_relationship, serve_trace
from relationships.trace import LISTS, Listed, Trace
from relationships.trace.cases import CaseSummary, ConflictCaseView
from relationships.trace.conflicts import ConflictCaseWhole
from relationships.trace.shapes import Decision, Observed, Reference, Step, Succession, Support, Verified
from relationships.vocabulary import ConflictStatus

PAGE_LENGTH = OpenApiParameter(
    "limit", int, description=f"entries of a page, 1 to {limits.PAGE_ITEMS}; {limits.PAGE_DEFAULT}"
)
KNOWN_AT = OpenApiParameter("known_at", str, description="as it was known at this time, with an offset; now")
ASKED = ("query", "limit", "valid_at", "known_at")
CONFLICT_STATUSES = [status.value for status in ConflictStatus]


class RecallAnswer(RootModel[Recall]):
    """What was found, best first, grouped by meaning, and the conflicts that it stands in."""


class RelationshipAnswer(RootModel[Claim]):
    """One profile's record as it is now."""


class TraceAnswer(RootModel[Trace]):
    """A record with everything that it rests on and that happened to it."""


class TraceListAnswer(
    RootModel[
        Listed[Support]
        | Listed[Decision]
        | Listed[Observed]
        | Listed[Verified]
        | Listed[Step]
        | Listed[Reference]
        | Listed[Succession]
        | Listed[CaseSummary]
    ]
):
    """One page of one list of a trace."""


class ConflictList(BaseModel):
    """A page of conflict cases, the newest first."""

    results: list[ConflictCaseView]
    next: str | None
    previous: str | None


class ConflictAnswer(RootModel[ConflictCaseWhole]):
    """A conflict case with its positions, its events, and what owners said of it."""


class RecallMemory(APIView):
    """`GET /api/v1/recall`"""

    @extend_schema(
        operation_id="recall_memory",
        parameters=[
            OpenApiParameter("query", str, required=True, description=f"1 to {limits.QUERY_CHARS} characters"),
            OpenApiParameter("limit", int, description=f"groups, 1 to {limits.RECALL_ITEMS}; {limits.RECALL_DEFAULT}"),
            OpenApiParameter("valid_at", str, description="a time with an offset, or a date (00:00 UTC); now"),
            KNOWN_AT,
        ],
        responses={200: RecallAnswer},
    )
    def get(self, request: Request) -> Response:
        """Return what the team holds to be so, found by words. Without `valid_at`: what holds now.

        With `known_at`: as it was known then, and what held then unless `valid_at` tells another moment.
        """
        given, faults = read_parameters(request, known=ASKED)
        limit = read_limit(given.get("limit"), faults)
        valid_at = read_moment(given, "valid_at", faults)
        known_at = read_moment(given, "known_at", faults)
        if "query" not in given:
            faults.append(Fault("/query", "required", "Send a query."))
        refuse(faults)
        found = serve_recall(
            principal=who(request),
            query=given["query"],
            limit=limit,
            valid_at=valid_at,
            known_at=known_at,
            now=timezone.now(),
        )
        return Response(asdict(found))


class Relationship(APIView):
    """`GET /api/v1/relationships/{id}`"""

    @extend_schema(
        operation_id="get_relationship",
        parameters=[OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="an ETag seen before")],
        responses={200: RelationshipAnswer, 304: None},
    )
    def get(self, request: Request, relationship_id: str) -> Response:
        """Return one record as it is now, whoever owns it; its ETag names its version."""
        refuse(read_parameters(request, known=())[1])
        claim = serve_relationship(principal=who(request), relationship_id=read_id(relationship_id), now=timezone.now())
        tag = f'"r{claim.relationship_id}.v{claim.version}"'
        seen = has_seen(request.headers.get("If-None-Match", ""), tag)
        return Response(status=304, headers={"ETag": tag}) if seen else Response(asdict(claim), headers={"ETag": tag})


class TraceMemory(APIView):
    """`GET /api/v1/relationships/{id}/trace`"""

    @extend_schema(operation_id="trace_memory", parameters=[KNOWN_AT, PAGE_LENGTH], responses={200: TraceAnswer})
    def get(self, request: Request, relationship_id: str) -> Response:
        """Return exact evidence, decisions, judgments, versions and ties of one record. Held text stays out.

        Each list is its first page, the newest entry first; `next` is the address of the one after it.
        """
        given, faults = read_parameters(request, known=("known_at", "limit"))
        known_at, limit = read_moment(given, "known_at", faults), read_length(given, faults)
        refuse(faults)
        record = read_id(relationship_id)
        found = serve_trace(
            principal=who(request), relationship_id=record, known_at=known_at, limit=limit, now=timezone.now()
        )
        linked: dict[str, Any] = {
            name: onward(request, f"{request.path}/{name}", getattr(found, name)) for name in LISTS
        }
        return Response(asdict(replace(found, **linked)))


class TraceList(APIView):
    """`GET /api/v1/relationships/{id}/trace/{list}`"""

    @extend_schema(
        operation_id="trace_list",
        parameters=[
            OpenApiParameter("name", str, OpenApiParameter.PATH, enum=list(LISTS)),
            OpenApiParameter("cursor", str, description="from `next` of a page; without it the list begins"),
            PAGE_LENGTH,
            KNOWN_AT,
        ],
        responses={200: TraceListAnswer},
    )
    def get(self, request: Request, relationship_id: str, name: str) -> Response:
        """Return one page of one list of a trace, the newest entry first."""
        given, faults = read_parameters(request, known=("cursor", "limit", "known_at"))
        known_at, limit = read_moment(given, "known_at", faults), read_length(given, faults)
        refuse(faults)
        if name not in LISTS:
            raise NotThere
        record, before = read_id(relationship_id), Before.read(given.get("cursor", ""))
        found = serve_trace(
            principal=who(request),
            relationship_id=record,
            known_at=known_at,
            only=name,
            before=before,
            limit=limit,
            now=timezone.now(),
        )
        return Response(asdict(onward(request, request.path, getattr(found, name))))


class Conflicts(APIView):
    """`GET /api/v1/conflicts`"""

    @extend_schema(
        operation_id="list_conflicts",
        parameters=[
            OpenApiParameter("status", str, enum=CONFLICT_STATUSES, description="without it: both"),
            *paging.DOCUMENTED,
        ],
        responses={200: ConflictList},
    )
    def get(self, request: Request) -> Response:
        """Return the conflicts of the team, each with every position, its claims and their authors."""
        given, faults = read_parameters(request, known=("status", *paging.PARAMETERS))
        status = read_choice(given, "status", CONFLICT_STATUSES, faults)
        cursor, limit = paging.read_page(given, faults)
        refuse(faults)
        caller, now = who(request), timezone.now()
        page = serve_conflicts(principal=caller, status=status, cursor=cursor, limit=limit, now=now)
        return paging.listed(request, page, limit=limit)


class Conflict(APIView):
    """`GET /api/v1/conflicts/{id}`"""

    @extend_schema(
        operation_id="get_conflict",
        parameters=[OpenApiParameter("ETag", str, OpenApiParameter.HEADER, response=True, description="its version")],
        responses={200: ConflictAnswer},
    )
    def get(self, request: Request, conflict_id: str) -> Response:
        """Return one conflict, whole. Send its ETag as If-Match when you say that the positions do not compete."""
        refuse(read_parameters(request, known=())[1])
        found = serve_conflict(principal=who(request), conflict_id=read_id(conflict_id), now=timezone.now())
        return Response(asdict(found), headers={"ETag": f'"c{found.conflict_id}.v{found.version}"'})


def who(request: Request) -> Principal:
    """Return who is asking."""
    assert isinstance(request.auth, Principal)  # no other request passes the permission
    return request.auth


def read_limit(text: str | None, faults: list[Fault]) -> int:
    """Return the limit, or add a fault."""
    if text is None:
        return limits.RECALL_DEFAULT
    if text.isascii() and text.isdecimal() and len(text) < 6:
        return int(text)
    faults.append(Fault("/limit", "limit_out_of_range", f"Ask for 1 to {limits.RECALL_ITEMS} results."))
    return limits.RECALL_DEFAULT


def read_moment(given: Mapping[str, str], name: str, faults: list[Fault]) -> datetime | None:
    """Return the moment asked about, or add a fault. A day bounds a validity; knowledge is asked for at an instant."""
    if name not in given:
        return None
    try:
        return parse_instant(given[name]) if name == "known_at" else parse_bound(given[name]).at
    except TimeRefused as refused:
        faults.append(Fault(f"/{name}", refused.code, refused.detail))
        return None


def onward(request: Request, address: str, listed: Listed[Any]) -> Listed[Any]:
    """Return a list of a trace, which has an address of its own, with that of its next page."""
    if listed.next is None:
        return listed
    kept = {key: request.query_params[key] for key in ("known_at", "limit") if key in request.query_params}
    return replace(listed, next=f"{address}?{urlencode({**kept, 'cursor': listed.next})}")
