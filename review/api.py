"""REST: the questions of a team, and one of them whole."""

from dataclasses import asdict

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem import paging
from densemem.auth import principal_on
from densemem.core.canonical import digest
from densemem.http import has_seen, read_choice, read_flag, read_id, read_parameters, refuse
from review.reviews import Review as ReviewView
from review.reviews import ReviewTask
from review.serving import serve_review, serve_reviews
from review.vocabulary import TaskKind, TaskStatus

FILTERS = ("kind", "mine", "status", "ingest_id")
KINDS = [kind.value for kind in TaskKind]
STATUSES = [status.value for status in TaskStatus]


class ReviewList(BaseModel):
    """A page of questions, the longest waiting first."""

    results: list[ReviewTask]
    next: str | None
    previous: str | None


class ReviewAnswer(RootModel[ReviewView]):
    """A question with everything that its decision needs."""


class Reviews(APIView):
    """`GET /api/v1/reviews`"""

    @extend_schema(
        operation_id="list_reviews",
        parameters=[
            OpenApiParameter("kind", str, enum=KINDS),
            OpenApiParameter("mine", bool, description="only what this profile decides"),
            OpenApiParameter("status", str, enum=STATUSES, description="without it: what waits"),
            OpenApiParameter("ingest_id", str, description="only what one ingest asked or waits for"),
            *paging.DOCUMENTED,
        ],
        responses={200: ReviewList},
    )
    def get(self, request: Request) -> Response:
        """Return the questions of the team: each in words, with candidates, impact and evidence handles."""
        given, faults = read_parameters(request, known=(*FILTERS, *paging.PARAMETERS))
        kind, status = read_choice(given, "kind", KINDS, faults), read_choice(given, "status", STATUSES, faults)
        mine = read_flag(given, "mine", faults)
        cursor, limit = paging.read_page(given, faults)
        refuse(faults)
        page = serve_reviews(
            principal=principal_on(request),
            mine=mine,
            kind=kind,
            status=status,
            ingest_id=read_id(given["ingest_id"]) if "ingest_id" in given else None,
            cursor=cursor,
            limit=limit,
            now=timezone.now(),
        )
        return paging.listed(request, page, limit=limit)


class Review(APIView):
    """`GET /api/v1/reviews/{id}`"""

    @extend_schema(
        operation_id="get_review",
        parameters=[
            OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="an ETag seen before"),
            OpenApiParameter("ETag", str, OpenApiParameter.HEADER, response=True, description="of this answer"),
        ],
        responses={200: ReviewAnswer, 304: None},
    )
    def get(self, request: Request, review_id: str) -> Response:
        """Return one question, whole, with the actions that this caller may take."""
        refuse(read_parameters(request, known=())[1])
        caller = principal_on(request)
        found = asdict(serve_review(principal=caller, review_id=read_id(review_id), now=timezone.now()))
        # What it shows changes with the item, the entities and the caller too, so the version alone would not do.
        tag = f'"r{found["review_id"]}.v{found["version"]}.{digest(found)[:16]}"'
        seen = has_seen(request.headers.get("If-None-Match", ""), tag)
        return Response(None if seen else found, status=304 if seen else 200, headers={"ETag": tag})
