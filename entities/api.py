"""REST: one Entity."""

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from pydantic import RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem.auth import principal_on
from densemem.http import read_id
from entities.serving import EntityView, get_entity


class EntityAnswer(RootModel[EntityView]):
    """One Entity with everything that it is called."""


class OneEntity(APIView):
    """`GET /api/v1/entities/{id}`"""

    @extend_schema(operation_id="get_entity", responses=EntityAnswer)
    def get(self, request: Request, entity_id: str) -> Response:
        """Return an Entity of the team: its kind, its names with their spans and owners, and its identifiers."""
        return Response(asdict(get_entity(principal=principal_on(request), entity_id=read_id(entity_id))))
