"""Django's entry to the app."""

from django.apps import AppConfig


class RelationshipsConfig(AppConfig):
    name = "relationships"
    default_auto_field = "django.db.models.BigAutoField"
