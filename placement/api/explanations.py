"""REST: why two things are taken for one, and why a mention means what it does."""

from dataclasses import asdict
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem.auth import principal_on
from densemem.core.faults import Fault
from densemem.http import read_id, read_parameters, refuse
from placement.explanations import IdentityExplained, MentionExplained, explain_identity, explain_mention


class IdentityExplanation(RootModel[IdentityExplained]):
    """Why two entities are one, why not, how it came about, and who holds what."""


class MentionExplanation(RootModel[MentionExplained]):
    """What was offered for a mention, what was decided and why, and what later decisions made of it."""


class IdentityExplanations(APIView):
    """`GET /api/v1/identities/explanations?entity=A&entity=B`"""

    @extend_schema(
        operation_id="explain_identity",
        parameters=[
            OpenApiParameter("entity", UUID, required=True, many=True, description="two of them: the parameter twice")
        ],
        responses={200: IdentityExplanation},
    )
    def get(self, request: Request) -> Response:
        """Explain two entities: what both bear, what was decided about them, and what speaks against it."""
        one, other = _two_ids(request)
        found = explain_identity(principal=principal_on(request), entity_id=one, other_id=other)
        return Response(asdict(found))


class MentionExplanations(APIView):
    """`GET /api/v1/mentions/{id}/explanation`"""

    @extend_schema(operation_id="explain_mention", responses={200: MentionExplanation})
    def get(self, request: Request, event_id: str) -> Response:
        """Explain a mention by the event that resolved it. Nothing is shown of held or redacted text."""
        refuse(read_parameters(request, known=())[1])
        found = explain_mention(principal=principal_on(request), event_id=read_id(event_id))
        return Response(asdict(found))


def _two_ids(request: Request) -> tuple[UUID, UUID]:
    """Return the two ids that the query names."""
    sent = request.query_params
    faults = [Fault(f"/{name}", "unknown", "There is no such parameter.") for name in sent if name != "entity"]
    given = sent.getlist("entity")
    if len(given) != 2 or given[0] == given[1]:
        faults.append(Fault("/entity", "two_entities", "Send `entity` twice, with the ids of two different entities."))
    refuse(faults)
    return read_id(given[0]), read_id(given[1])
