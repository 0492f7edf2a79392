"""REST: texts that are taken out for good, and the receipts of it."""

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from pydantic import RootModel
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem.auth import principal_on
from densemem.http import read_id
from placement.api.decisions import DRY_RUN, KEY, rehearsable
from placement.decide import Receipt, Redacted, get_redaction, redact
from placement.decision import REASON


class RedactedAnswer(RootModel[Redacted]):
    """A redaction with its receipt; a rehearsal is its preview."""


class ReceiptAnswer(RootModel[Receipt]):
    """What a redaction removed, by table, and the copies that it cannot reach."""


class Redactions(APIView):
    """`POST /api/v1/evidence/{id}/redactions`"""

    @extend_schema(
        operation_id="redact_evidence",
        request={"application/json": REASON},
        parameters=[KEY, DRY_RUN],
        responses={200: RedactedAnswer, 201: RedactedAnswer},
    )
    def post(self, request: Request, fragment_id: str) -> Response:
        """Take out a text and every copy of its words, for good; for managers. Ids and decisions stay."""
        done = redact(fragment_id=read_id(fragment_id), **rehearsable(request))
        response = Response(asdict(done), status=200 if done.dry_run else 201)
        if done.replayed:
            response["Idempotency-Replayed"] = "true"
        return response


class Redaction(APIView):
    """`GET /api/v1/redactions/{id}`"""

    @extend_schema(operation_id="get_redaction", responses={200: ReceiptAnswer})
    def get(self, request: Request, redaction_id: str) -> Response:
        """Return the receipt of a redaction. It holds no text."""
        receipt = get_redaction(principal=principal_on(request), redaction_id=read_id(redaction_id))
        return Response(asdict(receipt))
