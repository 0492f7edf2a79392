"""`manage.py predicates`: what a team may use now to say how things relate."""

import json as as_json
from collections.abc import Sequence
from dataclasses import asdict
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from rich.console import Console
from rich.table import Table

from densemem.access import find_team
from densemem.core.faults import NotThere
from relationships.definitions import Definition, predicates_of


class Command(BaseCommand):
    help = "List the predicates that a team may use now: the shared ones, and its own."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the team, and the form of the answer."""
        parser.add_argument("--team", help="name of the team; the shared predicates without it")
        parser.add_argument("--json", action="store_true", help="print JSON instead of a table")

    def handle(self, *args: Any, team: str | None, json: bool, **options: Any) -> None:
        """Read and print them, by key."""
        try:
            found = predicates_of(team_id=find_team(name=team).id if team else None)
        except NotThere:
            raise CommandError(f"There is no team {team!r}.") from None
        if json:
            self.stdout.write(as_json.dumps([asdict(row) for row in found], cls=DjangoJSONEncoder))
        else:
            _print(found, cast(IO[str], self.stdout))


def _print(found: Sequence[Definition], stream: IO[str]) -> None:
    table = Table("key", "version", "whose", "lifecycle", "kind", "cardinality", "subject", "object", "aliases")
    for row in found:
        ends = ", ".join(row.subject_kinds), ", ".join(row.object_kinds)
        behaviour = row.relationship_kind, row.cardinality
        table.add_row(row.key, str(row.version), row.whose, row.lifecycle, *behaviour, *ends, ", ".join(row.aliases))
    Console(file=stream, soft_wrap=True).print(table)
