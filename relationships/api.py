"""REST: recall, one record, and its trace."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem.auth import Principal
from densemem.core import limits
from densemem.core.faults import Fault
from densemem.core.times import TimeRefused, parse_bound, parse_instant
from densemem.http import has_seen, read_id, read_parameters, refuse
from relationships.recall import Recall, recall
from relationships.search import Claim
from relationships.trace import Trace, get_relationship, trace

KNOWN_AT = OpenApiParameter("known_at", str, description="as it was known at this time, with an offset; now")
ASKED = ("query", "limit", "valid_at", "known_at")


class RecallAnswer(RootModel[Recall]):
    """What was found, best first, grouped by meaning, and the conflicts that it stands in."""


class RelationshipAnswer(RootModel[Claim]):
    """One profile's record as it is now."""


class TraceAnswer(RootModel[Trace]):
    """A record with everything that it rests on and that happened to it."""


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
        found = recall(
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
        claim = get_relationship(principal=who(request), relationship_id=read_id(relationship_id))
        tag = f'"r{claim.relationship_id}.v{claim.version}"'
        seen = has_seen(request.headers.get("If-None-Match", ""), tag)
        return Response(status=304, headers={"ETag": tag}) if seen else Response(asdict(claim), headers={"ETag": tag})


class TraceMemory(APIView):
    """`GET /api/v1/relationships/{id}/trace`"""

    @extend_schema(operation_id="trace_memory", responses={200: TraceAnswer})
    def get(self, request: Request, relationship_id: str) -> Response:
        """Return exact evidence, decisions, judgments, versions and ties of one record. Held text stays out."""
        refuse(read_parameters(request, known=())[1])
        return Response(asdict(trace(principal=who(request), relationship_id=read_id(relationship_id))))


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
