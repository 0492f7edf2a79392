"""REST: remember, and how far it is."""

import time
from dataclasses import asdict
from threading import BoundedSemaphore
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem import paging
from densemem.auth import Principal, principal_on
from densemem.core import limits
from densemem.core.words import Scope
from densemem.http import read_choice, read_flag, read_id, read_parameters, read_prefer, refuse
from placement.policy import PRESSING
from placement.queries import is_settled
from placement.remember import remember
from placement.request import SCHEMA
from placement.status import IngestSummary, IngestView, get_placement, list_ingests

LOOK_SECONDS = 0.05
WAITING = BoundedSemaphore(limits.DOOR_WAITS)  # each holds a thread, and others must be answered meanwhile
RETRY_AFTER = OpenApiParameter("Retry-After", int, OpenApiParameter.HEADER, response=True, description="while it works")


class IngestList(BaseModel):
    """A page of ingests, the newest first."""

    results: list[IngestSummary]
    next: str | None
    previous: str | None


class IngestAnswer(RootModel[IngestView]):
    """How far an ingest is, item by item, and what can be done."""


class Ingests(APIView):
    """`POST /api/v1/ingests` and `GET /api/v1/ingests`"""

    @extend_schema(
        operation_id="list_ingests",
        parameters=[
            OpenApiParameter("state", str, enum=[str(s) for s in PRESSING], description="the processing state"),
            OpenApiParameter("mine", bool, description="only what this profile sent"),
            *paging.DOCUMENTED,
        ],
        responses={200: IngestList},
    )
    def get(self, request: Request) -> Response:
        """Return the ingests of the team with their states and open questions."""
        given, faults = read_parameters(request, known=("state", "mine", *paging.PARAMETERS))
        state, mine = read_choice(given, "state", PRESSING, faults), read_flag(given, "mine", faults)
        cursor, limit = paging.read_page(given, faults)
        refuse(faults)
        page = list_ingests(principal=principal_on(request), mine=mine, state=state, cursor=cursor, limit=limit)
        return paging.listed(request, page, limit=limit)

    @extend_schema(
        operation_id="remember",
        request={"application/json": dict(SCHEMA)},
        parameters=[
            OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True),
            OpenApiParameter("Prefer", str, OpenApiParameter.HEADER, description="wait=N, at most 20 seconds"),
            RETRY_AFTER,
        ],
        responses={202: IngestAnswer},
    )
    def post(self, request: Request) -> Response:
        """Store exact evidence and queue its placement. Answers 202 with a Location to ask again."""
        who = principal_on(request)
        accepted = remember(
            principal=who,
            body=request.data,
            idempotency_key=request.headers.get("Idempotency-Key", ""),
            now=timezone.now(),
        )
        wait_until_settled(who, accepted.ingest_id, seconds=read_prefer(request.headers.get("Prefer", "")))
        response = _answer(
            get_placement(team_id=who.team_id, ingest_id=accepted.ingest_id, reader_id=who.profile_id), status=202
        )
        response["Location"] = f"/api/v1/ingests/{accepted.ingest_id}"
        if accepted.replayed:
            response["Idempotency-Replayed"] = "true"
        return response


class Ingest(APIView):
    """`GET /api/v1/ingests/{id}`"""

    @extend_schema(operation_id="get_memory_placement", parameters=[RETRY_AFTER], responses={200: IngestAnswer})
    def get(self, request: Request, ingest_id: str) -> Response:
        """Return states, outcomes and reasons of one ingest, with what to do next."""
        who = principal_on(request)
        who.require(Scope.READ)
        number = read_id(ingest_id)
        view = get_placement(team_id=who.team_id, ingest_id=number, reader_id=who.profile_id)
        seconds = read_prefer(request.headers.get("Prefer", ""))
        if seconds:
            wait_until_settled(who, number, seconds=seconds)
            view = get_placement(team_id=who.team_id, ingest_id=number, reader_id=who.profile_id)
        return _answer(view, status=200)


def wait_until_settled(who: Principal, ingest_id: Any, *, seconds: float) -> None:
    """Look until nothing of the ingest waits for a worker, or the time is up; where many wait already, not at all."""
    if not seconds or not WAITING.acquire(blocking=False):
        return
    try:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and not is_settled(team_id=who.team_id, ingest_id=ingest_id):
            time.sleep(LOOK_SECONDS)
    finally:
        WAITING.release()


def _answer(view: IngestView, *, status: int) -> Response:
    response = Response(asdict(view), status=status)
    if view.check_after_seconds:
        response["Retry-After"] = str(view.check_after_seconds)
    return response
