"""REST: what owners decide about their own, and what a manager lets count again."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from densemem.http import read_id
from placement.api.decisions import AFTER, DECIDED, DRY_RUN, IF_MATCH, KEY, answered, on_version, rehearsable
from placement.decide import (
    correct_relationship,
    dispute,
    lift,
    reinstate_support,
    retire_evidence,
    verify_again,
    withdraw_decision,
)
from placement.decision import CORRECTION, HOLD, REASON


class Corrections(APIView):
    """`POST /api/v1/relationships/{id}/corrections`"""

    @extend_schema(
        operation_id="correct_relationship",
        request={"application/json": CORRECTION},
        parameters=[KEY, DRY_RUN, IF_MATCH],
        responses=DECIDED,
    )
    def post(self, request: Request, relationship_id: str) -> Response:
        """Correct the typed value or the validity of one of your active Relationships; what supports it stays."""
        return answered(correct_relationship(**on_version(request, relationship_id)))


class Disputes(APIView):
    """`POST /api/v1/relationships/{id}/disputes`"""

    @extend_schema(
        operation_id="dispute",
        request={"application/json": HOLD},
        parameters=[KEY, DRY_RUN, IF_MATCH],
        responses=DECIDED,
    )
    def post(self, request: Request, relationship_id: str) -> Response:
        """Hold one of your Relationships back from recall until you lift the dispute."""
        return answered(dispute(**on_version(request, relationship_id)))


class Lifts(APIView):
    """`POST /api/v1/relationships/{id}/lifts`"""

    @extend_schema(
        operation_id="lift",
        request={"application/json": HOLD},
        parameters=[KEY, DRY_RUN, IF_MATCH],
        responses=DECIDED,
    )
    def post(self, request: Request, relationship_id: str) -> Response:
        """Undo that you disputed, forgot or rejected a Relationship: it is judged by the support that counts."""
        return answered(lift(**on_version(request, relationship_id)))


class Retirements(APIView):
    """`POST /api/v1/evidence/{id}/retirements`"""

    @extend_schema(
        operation_id="retire_evidence",
        request={"application/json": REASON},
        parameters=[KEY, DRY_RUN],
        responses=DECIDED,
    )
    def post(self, request: Request, fragment_id: str) -> Response:
        """Withdraw one of your texts for good: what rests on it is judged again without it, whoever owns that."""
        return answered(retire_evidence(fragment_id=read_id(fragment_id), **rehearsable(request)))


class Reinstatements(APIView):
    """`POST /api/v1/supports/{id}/reinstatements`"""

    @extend_schema(
        operation_id="reinstate_support",
        request={"application/json": REASON},
        parameters=[KEY, DRY_RUN],
        responses=DECIDED,
    )
    def post(self, request: Request, support_id: str) -> Response:
        """Let a support count again that was revoked while its text was held; for managers."""
        return answered(reinstate_support(support_id=read_id(support_id), **rehearsable(request)))


class Verifications(APIView):
    """`POST /api/v1/observations/{id}/verifications`"""

    @extend_schema(
        operation_id="verify_again",
        request={"application/json": REASON},
        parameters=[KEY, DRY_RUN, AFTER],
        responses=DECIDED,
    )
    def post(self, request: Request, observation_id: str) -> Response:
        """Have one of your observations verified once more; policy decides with the new judgment."""
        return answered(verify_again(observation_id=read_id(observation_id), **rehearsable(request)))


class Withdrawals(APIView):
    """`POST /api/v1/decisions/{id}/withdrawals`"""

    @extend_schema(
        operation_id="withdraw_decision",
        request={"application/json": REASON},
        parameters=[KEY, DRY_RUN],
        responses=DECIDED,
    )
    def post(self, request: Request, decision_id: str) -> Response:
        """Take back an answer of yours: what it granted is revoked, and its question is open again."""
        return answered(withdraw_decision(decision_id=read_id(decision_id), **rehearsable(request)))
