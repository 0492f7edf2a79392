"""REST: recall, one record, and its trace."""

from dataclasses import asdict
from datetime import datetime

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem import paging
from densemem.auth import Principal
from densemem.core import limits
from densemem.core.faults import Fault
from densemem.core.times import TimeRefused, parse_bound
from densemem.http import has_seen, read_choice, read_id, read_parameters, refuse
from relationships.recall import Recall
from relationships.search import Claim
from relationships.serving import serve_recall, serve_relationship, serve_trace
from relationships.trace import Trace
from relationships.trace.cases import ConflictCaseView
from relationships.trace.conflicts import ConflictCaseWhole, get_conflict, list_conflicts
from relationships.vocabulary import ConflictStatus

ASKED = ("query", "limit", "valid_at")
CONFLICT_STATUSES = [status.value for status in ConflictStatus]


class RecallAnswer(RootModel[Recall]):
    """What was found, best first, grouped by meaning, and the conflicts that it stands in."""


class RelationshipAnswer(RootModel[Claim]):
    """One profile's record as it is now."""


class TraceAnswer(RootModel[Trace]):
    """A record with everything that it rests on and that happened to it."""


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
        ],
        responses={200: RecallAnswer},
    )
    def get(self, request: Request) -> Response:
        """Return what the team holds to be so, found by words. Without `valid_at`: what holds now."""
        given, faults = read_parameters(request, known=ASKED)
        limit = read_limit(given.get("limit"), faults)
        valid_at = read_moment(given.get("valid_at"), faults)
        if "query" not in given:
            faults.append(Fault("/query", "required", "Send a query."))
        refuse(faults)
        found = serve_recall(
            principal=who(request), query=given["query"], limit=limit, valid_at=valid_at, now=timezone.now()
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

    @extend_schema(operation_id="trace_memory", responses={200: TraceAnswer})
    def get(self, request: Request, relationship_id: str) -> Response:
        """Return exact evidence, decisions, judgments, versions and ties of one record. Held text stays out."""
        refuse(read_parameters(request, known=())[1])
        found = serve_trace(principal=who(request), relationship_id=read_id(relationship_id), now=timezone.now())
        return Response(asdict(found))


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
        page = list_conflicts(principal=who(request), status=status, cursor=cursor, limit=limit)
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
        found = get_conflict(principal=who(request), conflict_id=read_id(conflict_id))
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


def read_moment(text: str | None, faults: list[Fault]) -> datetime | None:
    """Return the moment asked about, or add a fault."""
    if text is None:
        return None
    try:
        return parse_bound(text).at
    except TimeRefused as refused:
        faults.append(Fault("/valid_at", refused.code, refused.detail))
        return None
