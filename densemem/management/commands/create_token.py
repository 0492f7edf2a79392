"""`manage.py create_token`: a bearer token of a profile, for REST and MCP."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from densemem.access import IssuedToken, create_token, find_profile, find_team
from densemem.core.faults import Refused
from densemem.core.words import Scope
from densemem.management.commands.create_profile import read_scopes


class Command(BaseCommand):
    help = "Make a token of a profile and print it. It is shown this once and kept nowhere."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take profile, label, scopes and how long the token holds."""
        parser.add_argument("team", help="name of the team")
        parser.add_argument("profile", help="name of the profile")
        parser.add_argument("--label", default="", help="what the token is for")
        parser.add_argument("--scopes", type=read_scopes, default=tuple(Scope), help="default: read,write")
        parser.add_argument("--days", type=int, help="how long it holds; default: until it is revoked")
        parser.add_argument("--json", action="store_true", help="print JSON instead of text")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the token and print it."""
        try:
            token = self._make(options)
        except Refused as refused:
            raise CommandError(refused.detail) from refused
        if options["json"]:
            expires = token.expires_at.isoformat() if token.expires_at else None
            shown = {"token": token.secret, "key": token.key, "scopes": token.scopes, "expires_at": expires}
            self.stdout.write(json.dumps(shown))
            return
        self.stdout.write(token.secret)

    def _make(self, options: dict[str, Any]) -> IssuedToken:
        if options["days"] is not None and options["days"] < 1:
            raise CommandError("--days takes 1 or more.")
        team_id = find_team(name=options["team"]).id
        profile = find_profile(team_id=team_id, name=options["profile"])
        return create_token(
            team_id=team_id,
            profile_id=profile.id,
            label=options["label"],
            scopes=options["scopes"],
            days=options["days"],
        )
