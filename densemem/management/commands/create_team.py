"""`manage.py create_team`: a group that shares one memory."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from densemem.access import create_team
from densemem.core.faults import Refused


class Command(BaseCommand):
    help = "Make a team. A team of this name that is there already stays as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the team's name."""
        parser.add_argument("name", help="what the team is called; once in the installation")
        parser.add_argument("--json", action="store_true", help="print JSON instead of text")

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        """Make the team and print its id."""
        try:
            team = create_team(name=name)
        except Refused as refused:
            raise CommandError(refused.detail) from refused
        if options["json"]:
            self.stdout.write(json.dumps({"team_id": str(team.team_id), "name": name.strip(), "made": team.made}))
            return
        self.stdout.write(f"{'Made' if team.made else 'There already:'} team {name.strip()}  {team.team_id}")
