"""Addresses of knowledge under /api/v1/."""

from django.urls import path

from relationships import api

urlpatterns = [
    path("recall", api.RecallMemory.as_view(), name="recall-memory"),
    path("conflicts", api.Conflicts.as_view(), name="conflicts"),
    path("conflicts/<str:conflict_id>", api.Conflict.as_view(), name="conflict"),
    path("relationships/<str:relationship_id>", api.Relationship.as_view(), name="relationship"),
    path("relationships/<str:relationship_id>/trace", api.TraceMemory.as_view(), name="trace-memory"),
    path("relationships/<str:relationship_id>/trace/<str:name>", api.TraceList.as_view(), name="trace-list"),
]
