"""Addresses of placement under /api/v1/: what is taken in, and what people decide."""

from django.urls import path

from placement import api

urlpatterns = [
    path("ingests", api.Ingests.as_view(), name="ingests"),
    path("ingests/<str:ingest_id>", api.Ingest.as_view(), name="ingest"),
    path("ingests/<str:ingest_id>/retries", api.Retries.as_view(), name="retries"),
    path("reviews/<str:review_id>/decisions", api.Decisions.as_view(), name="decisions"),
    path("relationships/<str:relationship_id>/retractions", api.Retractions.as_view(), name="retractions"),
    path("evidence/<str:fragment_id>/quarantines", api.Quarantines.as_view(), name="quarantines"),
    path("evidence/<str:fragment_id>/inspections", api.Inspections.as_view(), name="inspections"),
    path("evidence/<str:fragment_id>/redactions", api.Redactions.as_view(), name="redactions"),
    path("redactions/<str:redaction_id>", api.Redaction.as_view(), name="redaction"),
]
