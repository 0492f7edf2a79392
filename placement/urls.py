"""Addresses of placement under /api/v1/."""

from django.urls import path

from placement import api

urlpatterns = [
    path("ingests", api.Ingests.as_view(), name="ingests"),
    path("ingests/<str:ingest_id>", api.Ingest.as_view(), name="ingest"),
]
