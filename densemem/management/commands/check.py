"""Django's `check`, which says in one line when a database that is to be checked does not answer."""

from typing import Any

from django.core.management.commands import check

from densemem.checks import require_answer


class Command(check.Command):
    def handle(self, *app_labels: Any, **options: Any) -> None:
        """Ask each database for a connection first."""
        for alias in options["databases"] or ():
            require_answer(alias)
        super().handle(*app_labels, **options)
