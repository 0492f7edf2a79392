"""REST: the registry of relation meanings, as a team may use it, and what managers decide about it."""

from dataclasses import asdict

from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel, RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem import paging
from densemem.auth import Principal, principal_on
from densemem.core.faults import NotThere
from densemem.core.words import Scope
from densemem.http import has_seen, read_parameters, refuse
from placement.api.decisions import AFTER, DRY_RUN, KEY, rehearsable, version_in_tag
from placement.decide import RegistryDecided, change_lifecycle, register_predicate, register_wording
from placement.decision import LIFECYCLE, PREDICATE, WORDING
from relationships.definitions import Definition, predicates_page, versions_of

IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, required=True, description="the ETag of the predicate that was seen"
)


class PredicateList(BaseModel):
    """A page of what the team may use now, each in its newest version."""

    results: list[Definition]
    next: str | None
    previous: str | None


class PredicateAnswer(BaseModel):
    """A predicate with its versions, newest first."""

    key: str
    versions: list[Definition]


class RegistryAnswer(RootModel[RegistryDecided]):
    """A decision about the registry that stands, and how many texts are verified anew because of it."""


DECIDED = {200: RegistryAnswer, 201: RegistryAnswer}  # rehearsed, or done


class Predicates(APIView):
    """`GET` and `POST /api/v1/predicates`"""

    @extend_schema(operation_id="list_predicates", parameters=[*paging.DOCUMENTED], responses={200: PredicateList})
    def get(self, request: Request) -> Response:
        """Return the predicates that the team may use now, shared ones and its own."""
        given, faults = read_parameters(request, known=paging.PARAMETERS)
        cursor, limit = paging.read_page(given, faults)
        refuse(faults)
        page = predicates_page(team_id=_reader(request).team_id, cursor=cursor, limit=limit)
        return paging.listed(request, page, limit=limit)

    @extend_schema(
        operation_id="register_predicate",
        request={"application/json": PREDICATE},
        parameters=[KEY, DRY_RUN, AFTER],
        responses=DECIDED,
    )
    def post(self, request: Request) -> Response:
        """Register a predicate of the team's own. What waited for its wordings is verified anew; for managers."""
        return _answer(register_predicate(**rehearsable(request)))


class Predicate(APIView):
    """`GET /api/v1/predicates/{key}`"""

    @extend_schema(
        operation_id="get_predicate",
        parameters=[OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="an ETag seen before")],
        responses={200: PredicateAnswer, 304: None},
    )
    def get(self, request: Request, key: str) -> Response:
        """Return a predicate with all its versions, the retired ones too; its ETag names the newest."""
        refuse(read_parameters(request, known=())[1])
        versions = versions_of(team_id=_reader(request).team_id, key=_key(key))
        tag = _tag(versions[0])
        if has_seen(request.headers.get("If-None-Match", ""), tag):
            return Response(status=304, headers={"ETag": tag})
        return Response({"key": key, "versions": [asdict(v) for v in versions]}, headers={"ETag": tag})


class PredicateAliases(APIView):
    """`POST /api/v1/predicates/{key}/aliases`"""

    @extend_schema(
        operation_id="add_predicate_alias",
        request={"application/json": WORDING},
        parameters=[KEY, DRY_RUN, IF_MATCH, AFTER],
        responses=DECIDED,
    )
    def post(self, request: Request, key: str) -> Response:
        """Let a wording mean a predicate in this team. What waited for it is verified anew; for managers."""
        seen = _version_seen(request, key)
        return _answer(register_wording(key=key, expected_version=seen, **rehearsable(request)))


class PredicateLifecycle(APIView):
    """`POST /api/v1/predicates/{key}/lifecycle`"""

    @extend_schema(
        operation_id="change_predicate_lifecycle",
        request={"application/json": LIFECYCLE},
        parameters=[KEY, DRY_RUN, IF_MATCH, AFTER],
        responses=DECIDED,
    )
    def post(self, request: Request, key: str) -> Response:
        """Deprecate or retire a predicate in this team, or take it back into use; for managers."""
        seen = _version_seen(request, key)
        return _answer(change_lifecycle(key=key, expected_version=seen, **rehearsable(request)))


def _key(text: str) -> str:
    """Read a key from a path.

    :raises NotThere: for what cannot be one
    """
    if not text.isidentifier():
        raise NotThere
    return text


def _reader(request: Request) -> Principal:
    who = principal_on(request)
    who.require(Scope.READ)
    return who


def _tag(version: Definition) -> str:
    return f'"p{version.key}.v{version.version}"'


def _version_seen(request: Request, key: str) -> int:
    return version_in_tag(request, starts=f"p{key}.v", of="predicate")


def _answer(done: RegistryDecided) -> Response:
    made = done.decision
    response = Response(asdict(done), status=200 if made.dry_run else 201)
    if not made.dry_run:
        response["ETag"] = _tag(done.predicate)
    if made.check_after_seconds:
        response["Retry-After"] = str(made.check_after_seconds)
    if made.replayed:
        response["Idempotency-Replayed"] = "true"
    return response
