"""Django's entry to the frame: the application's rights after a migration, and the check of the database."""

from django.apps import AppConfig

from densemem import checks
from densemem.db import roles


class DensememConfig(AppConfig):
    name = "densemem"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect what runs beside Django's own commands."""
        from densemem import openapi  # noqa: F401 - registers what the API's document says of our keys

        roles.connect(self)
        checks.register()
