"""Django's `migrate`, run as the owner of the tables, with the embedded server started first."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate

from densemem.checks import require_answer
from densemem.db.cluster import Cluster
from densemem.db.place import ClusterFailed
from densemem.db.server import embedded_place


class Command(migrate.Command):
    help = "Update the database schema as the role that owns the tables. Starts the embedded server if need be."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take Django's arguments; only the database differs."""
        super().add_arguments(parser)
        parser.set_defaults(database="owner")

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Start the server before Django checks the database."""
        place = embedded_place(settings.DENSEMEM_HOME, settings.DATABASES[options["database"]])
        if place is not None:
            try:
                Cluster(place).start()
            except ClusterFailed as fault:
                raise CommandError(str(fault)) from fault
        require_answer(options["database"])
        return super().execute(*args, **options)
