"""`manage.py db`: the embedded database."""

import dataclasses
import json
from typing import IO, Any, cast

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from densemem.db.cluster import Cluster, Status
from densemem.db.place import ClusterFailed
from densemem.db.server import embedded_place, url_of

ACTIONS = {
    "start": "Start the server; the first time, make its data, roles and extensions. It keeps running.",
    "stop": "Stop the server; its data stays.",
    "status": "Say whether the server runs, and where its data is.",
    "url": "Print the address for psql and other clients. It holds the password.",
}


class Command(BaseCommand):
    help = "Run the embedded PostgreSQL server. It is used when DATABASE_URL is not set."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take one action, each with its own help."""
        actions = parser.add_subparsers(dest="action", metavar="action", required=True)
        for name, text in ACTIONS.items():
            action = actions.add_parser(name, help=text, description=text)
            action.add_argument("--json", action="store_true", help="print JSON instead of text")
            if name == "url":
                action.add_argument("--owner", action="store_true", help="as the role that owns the tables")

    def handle(self, *args: Any, action: str, json: bool, **options: Any) -> None:
        """Do the action and print what is so now."""
        if action == "url":
            self._print_url("owner" if options["owner"] else "default", as_json=json)
            return
        try:
            status = getattr(self._cluster(), action)()
        except ClusterFailed as fault:
            raise CommandError(str(fault)) from fault
        self._print_status(status, as_json=json)

    def _cluster(self) -> Cluster:
        place = embedded_place(settings.DENSEMEM_HOME, settings.DATABASES["default"])
        if place is None:
            raise CommandError("DATABASE_URL is set, so the embedded server is not used.")
        return Cluster(place)

    def _print_url(self, alias: str, *, as_json: bool) -> None:
        url = url_of(settings.DATABASES[alias])
        self.stdout.write(json.dumps({"url": url}) if as_json else url)

    def _print_status(self, status: Status, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(dataclasses.asdict(status), default=str))
            return
        table = Table.grid(padding=(0, 2))
        table.add_row("database", "[green]running[/]" if status.running else "[red]stopped[/]")
        table.add_row("process", str(status.pid or "-"))
        table.add_row("data", str(status.data))
        table.add_row("sockets", str(status.sockets))
        table.add_row("system user", status.user)
        if status.note:
            table.add_row("note", status.note)
        Console(file=cast(IO[str], self.stdout), soft_wrap=True).print(table)
