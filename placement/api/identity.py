"""REST: who is who, as the caller decides it for what it owns."""

from dataclasses import asdict

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from pydantic import RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem.auth import principal_on
from placement.api.decisions import KEY, DecisionAnswer, answered, given
from placement.decide import IdentityImpact, decide_identity, preview_identity
from placement.decision import IDENTITY


class ImpactAnswer(RootModel[IdentityImpact]):
    """What a decision about who is who would change, with the token that applies exactly this."""


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
    """`POST /api/v1/identities`"""

    @extend_schema(
        operation_id="decide_identity",
        request={"application/json": IDENTITY},
        parameters=[KEY],
        responses={201: DecisionAnswer},
    )
    def post(self, request: Request) -> Response:
        """Decide who is who for what you own, with the token of a preview; others see it as your opinion."""
        return answered(decide_identity(**given(request)))
