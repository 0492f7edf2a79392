"""Addresses of identity under /api/v1/."""

from django.urls import path

from entities import api

urlpatterns = [path("entities/<str:entity_id>", api.OneEntity.as_view(), name="entity")]
