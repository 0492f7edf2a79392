"""REST: what an Entity is called."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem.http import read_id
from placement.api.decisions import DECIDED, DRY_RUN, KEY, answered, rehearsable
from placement.decide import rename
from placement.decision import RENAME


class Names(APIView):
    """`POST /api/v1/entities/{id}/names`"""

    @extend_schema(
        operation_id="rename_entity",
        request={"application/json": RENAME},
        parameters=[KEY, DRY_RUN],
        responses=DECIDED,
    )
    def post(self, request: Request, entity_id: str) -> Response:
        """Give an Entity that you named the name that a text gives it now; the one before is kept."""
        return answered(rename(entity_id=read_id(entity_id), **rehearsable(request)))
