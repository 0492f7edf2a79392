"""REST: what people decide."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem.auth import principal_on
from densemem.http import Problem, read_flag, read_id, read_parameters, refuse
from placement.decide import (
    Decided,
    Inspected,
    adopt,
    decide,
    forget,
    inspect,
    quarantine,
    retry,
    state_not_competing,
)
from placement.decision import ADOPTION, DECISION, REASON, RETRACTION, STATEMENT

KEY = OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True)
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, required=True, description="the ETag of the Relationship that was seen"
)
CONFLICT_SEEN = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, required=True, description="the ETag of the conflict that was seen"
)
DRY_RUN = OpenApiParameter(
    "dry_run", bool, description="true: rehearse it whole, store nothing, show what would change"
)
AFTER = OpenApiParameter("Retry-After", int, OpenApiParameter.HEADER, response=True, description="while it works")


class DecisionAnswer(RootModel[Decided]):
    """A decision that stands: what it changes, and what would undo it."""


class HeldTextAnswer(RootModel[Inspected]):
    """A text with its signals and its security history."""


DECIDED = {200: DecisionAnswer, 201: DecisionAnswer}  # rehearsed, or done


class Decisions(APIView):
    """`POST /api/v1/reviews/{id}/decisions`"""

    @extend_schema(
        operation_id="decide",
        request={"application/json": DECISION},
        parameters=[KEY, DRY_RUN, AFTER],
        responses=DECIDED,
    )
    def post(self, request: Request, review_id: str) -> Response:
        """Answer a review task. What the answer is about goes back to policy, with the answer as a given."""
        done = decide(review_id=read_id(review_id), **rehearsable(request))
        return answered(done)


class Retractions(APIView):
    """`POST /api/v1/relationships/{id}/retractions`"""

    @extend_schema(
        operation_id="forget",
        request={"application/json": RETRACTION},
        parameters=[KEY, DRY_RUN, IF_MATCH],
        responses=DECIDED,
    )
    def post(self, request: Request, relationship_id: str) -> Response:
        """Take one of your Relationships out of recall. Its history, evidence and entities stay."""
        return answered(forget(**on_version(request, relationship_id)))


class Adoptions(APIView):
    """`POST /api/v1/adoptions`"""

    @extend_schema(
        operation_id="adopt_evidence",
        request={"application/json": ADOPTION},
        parameters=[KEY, DRY_RUN, AFTER],
        responses=DECIDED,
    )
    def post(self, request: Request) -> Response:
        """Let exact words of another profile's evidence count for you; poll the ingest that it answers with."""
        return answered(adopt(**rehearsable(request)))


class Statements(APIView):
    """`POST /api/v1/conflicts/{id}/statements`"""

    @extend_schema(
        operation_id="state_not_competing",
        request={"application/json": STATEMENT},
        parameters=[KEY, DRY_RUN, CONFLICT_SEEN],
        responses=DECIDED,
    )
    def post(self, request: Request, conflict_id: str) -> Response:
        """Say that the positions do not compete; for whoever holds one. When all have said so, the conflict closes."""
        number = read_id(conflict_id)
        done = state_not_competing(
            conflict_id=number,
            expected_version=version_seen(request, number, of="conflict"),
            **rehearsable(request),
        )
        return answered(done)


class Retries(APIView):
    """`POST /api/v1/ingests/{id}/retries`"""

    @extend_schema(
        operation_id="retry_placement",
        request={"application/json": REASON},
        parameters=[KEY, DRY_RUN, AFTER],
        responses=DECIDED,
    )
    def post(self, request: Request, ingest_id: str) -> Response:
        """Place the failed texts of an ingest again; for its owner, or a manager."""
        done = retry(ingest_id=read_id(ingest_id), **rehearsable(request))
        return answered(done)


class Quarantines(APIView):
    """`POST /api/v1/evidence/{id}/quarantines`"""

    @extend_schema(
        operation_id="quarantine_evidence",
        request={"application/json": REASON},
        parameters=[KEY, DRY_RUN],
        responses=DECIDED,
    )
    def post(self, request: Request, fragment_id: str) -> Response:
        """Hold evidence that was accepted: what rests on it is judged again without it; for managers."""
        done = quarantine(fragment_id=read_id(fragment_id), **rehearsable(request))
        return answered(done)


class Inspections(APIView):
    """`POST /api/v1/evidence/{id}/inspections`"""

    @extend_schema(
        operation_id="inspect_evidence",
        request={"application/json": REASON},
        parameters=[KEY],
        responses={201: HeldTextAnswer},
    )
    def post(self, request: Request, fragment_id: str) -> Response:
        """Read a held text with what was found in it; for managers, and recorded."""
        found = inspect(fragment_id=read_id(fragment_id), **given(request))
        return Response(asdict(found), status=201)


def given(request: Request) -> dict[str, Any]:
    """Return what every decision is given: who decides, the body, the key (the use case refuses none), and when."""
    return {
        "principal": principal_on(request),
        "body": request.data,
        "idempotency_key": request.headers.get("Idempotency-Key", ""),
        "now": timezone.now(),
    }


def rehearsable(request: Request) -> dict[str, Any]:
    """Return the same for what may be tried first: with `?dry_run=true` it is done whole and taken back."""
    asked, faults = read_parameters(request, known=("dry_run",))
    dry_run = read_flag(asked, "dry_run", faults)
    refuse(faults)
    return {**given(request), "dry_run": dry_run}


def on_version(request: Request, relationship_id: str) -> dict[str, Any]:
    """Return the same for what changes one Relationship: with its id, and the version that the caller has seen."""
    number = read_id(relationship_id)
    seen = version_seen(request, number)
    return {"relationship_id": number, "expected_version": seen, **rehearsable(request)}


def version_seen(request: Request, number: UUID, *, of: str = "Relationship") -> int:
    """Read from `If-Match` the version that the caller has seen; a tag begins with the first letter of what it is of.

    :raises Problem: 428 without the header, 412 for a tag of something else
    """
    return version_in_tag(request, starts=f"{of[0].lower()}{number}.v", of=of)


def version_in_tag(request: Request, *, starts: str, of: str) -> int:
    """Read the version that stands in `If-Match` behind what the tags of a thing start with.

    :raises Problem: 428 without the header, 412 for a tag of something else
    """
    tag = request.headers.get("If-Match", "").strip()
    if not tag:
        detail = f"Send If-Match with the ETag of the {of}, so that nothing is changed that you have not seen."
        raise Problem(428, "if_match_missing", detail)
    found = tag.strip('"').removeprefix(starts)
    if not (found.isascii() and found.isdecimal() and len(found) < 10):
        raise Problem(412, "version_stale", f"If-Match is no ETag of this {of}. Look at it again, then decide.")
    return int(found)


def answered(done: Decided) -> Response:
    """Answer a decision: 201 when it stands, 200 when it was rehearsed."""
    response = Response(asdict(done), status=200 if done.dry_run else 201)
    if done.check_after_seconds:
        response["Retry-After"] = str(done.check_after_seconds)
    if done.replayed:
        response["Idempotency-Replayed"] = "true"
    return response
