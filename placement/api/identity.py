"""REST: who is who, as the caller decides it for what it owns."""

from dataclasses import asdict

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from pydantic import BaseModel, RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem import paging
from densemem.auth import principal_on
from densemem.http import read_id, read_parameters, refuse
from placement.api.decisions import KEY, DecisionAnswer, answered, given
from placement.decide import IdentityImpact, decide_identity, preview_identity
from placement.decision import IDENTITY
from placement.explanations import DecidedIdentity, get_identity, list_identities


class ImpactAnswer(RootModel[IdentityImpact]):
    """What a decision about who is who would change, with the token that applies exactly this."""


class IdentityAnswer(RootModel[DecidedIdentity]):
    """A decision about who is who: whose it is, what it is about, what it rests on, and whether it stands."""


class IdentityList(BaseModel):
    """A page of decisions about who is who, the newest first."""

    results: list[DecidedIdentity]
    next: str | None
    previous: str | None


class IdentityPreviews(APIView):
    """`POST /api/v1/identities/previews`"""

    @extend_schema(
        operation_id="preview_identity", request={"application/json": IDENTITY}, responses={200: ImpactAnswer}
    )
    def post(self, request: Request) -> Response:
        """Rehearse a merge, a split, a distinction or a withdrawal: nothing is stored, and everything is shown."""
        found = preview_identity(principal=principal_on(request), body=request.data, now=timezone.now())
        return Response(asdict(found))


class Identities(APIView):
    """`GET` and `POST /api/v1/identities`"""

    @extend_schema(operation_id="list_identities", parameters=[*paging.DOCUMENTED], responses={200: IdentityList})
    def get(self, request: Request) -> Response:
        """Return the team's decisions about who is who, your own and what others hold; those withdrawn too."""
        given_parameters, faults = read_parameters(request, known=paging.PARAMETERS)
        cursor, limit = paging.read_page(given_parameters, faults)
        refuse(faults)
        page = list_identities(principal=principal_on(request), cursor=cursor, limit=limit)
        return paging.listed(request, page, limit=limit)

    @extend_schema(
        operation_id="decide_identity",
        request={"application/json": IDENTITY},
        parameters=[KEY],
        responses={201: DecisionAnswer},
    )
    def post(self, request: Request) -> Response:
        """Decide who is who for what you own, with the token of a preview; others see it as your opinion."""
        return answered(decide_identity(**given(request)))


class Identity(APIView):
    """`GET /api/v1/identities/{id}`"""

    @extend_schema(operation_id="get_identity", responses={200: IdentityAnswer})
    def get(self, request: Request, identity_id: str) -> Response:
        """Return one decision about who is who. Its reason is withheld where it rests on a text that is."""
        refuse(read_parameters(request, known=())[1])
        return Response(asdict(get_identity(principal=principal_on(request), identity_id=read_id(identity_id))))
