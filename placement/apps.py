"""Django's entry to the app."""

from django.apps import AppConfig


class PlacementConfig(AppConfig):
    name = "placement"
    default_auto_field = "django.db.models.BigAutoField"
