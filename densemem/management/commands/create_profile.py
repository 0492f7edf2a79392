"""`manage.py create_profile`: a person with a login, or an agent with a steward."""

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from densemem.access import MadeProfile, Powers, create_agent, create_person, find_profile, find_team
from densemem.core.faults import Refused
from densemem.core.words import Role, Scope


def read_scopes(text: str) -> tuple[Scope, ...]:
    """Read "read,write".

    :raises ValueError: an unknown scope
    """
    return tuple(Scope(word.strip()) for word in text.split(","))


class Command(BaseCommand):
    help = "Make a profile of a team: a person with a login, or an agent with a steward who answers for it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take team, name, kind and powers."""
        parser.add_argument("team", help="name of the team")
        parser.add_argument("name", help="what the profile is called in its team")
        kind = parser.add_mutually_exclusive_group(required=True)
        kind.add_argument("--person", action="store_true", help="a person; needs --login")
        kind.add_argument("--agent", action="store_true", help="an agent; needs --steward")
        parser.add_argument("--login", help="user name for signing in; made with a password when it is new")
        parser.add_argument("--password-from-stdin", action="store_true", help="read the new login's password")
        parser.add_argument("--steward", help="name of the person's profile that answers for the agent")
        parser.add_argument(
            "--role", choices=[r.value for r in Role], default=Role.MEMBER.value, help="default: member"
        )
        parser.add_argument("--scopes", type=read_scopes, default=tuple(Scope), help="default: read,write")
        parser.add_argument(
            "--grant",
            action="append",
            default=[],
            metavar="SOURCE_TYPE",
            help="may claim authority for this source type",
        )
        parser.add_argument("--json", action="store_true", help="print JSON instead of text")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the profile and print its id, and once the password of a login that was made."""
        try:
            made = self._make(options)
        except Refused as refused:
            raise CommandError(refused.detail) from refused
        if options["json"]:
            shown = {"profile_id": str(made.profile_id), "name": options["name"], "made": made.made}
            self.stdout.write(json.dumps(shown | ({"password": made.password} if made.password else {})))
            return
        self.stdout.write(f"{'Made' if made.made else 'There already:'} {options['name']}  {made.profile_id}")
        if made.password and not options["password_from_stdin"]:
            self.stdout.write(f"login {options['login']}  password {made.password}  (shown once)")

    def _make(self, options: dict[str, Any]) -> MadeProfile:
        team_id = find_team(name=options["team"]).id
        powers = Powers(role=Role(options["role"]), scopes=options["scopes"], grants=options["grant"])
        if options["agent"]:
            if not options["steward"]:
                raise CommandError("An agent needs --steward NAME.")
            steward = find_profile(team_id=team_id, name=options["steward"])
            return create_agent(team_id=team_id, name=options["name"], steward_id=steward.id, powers=powers)
        if not options["login"]:
            raise CommandError("A person needs --login USER.")
        password = sys.stdin.readline().rstrip("\n") if options["password_from_stdin"] else None
        return create_person(
            team_id=team_id, name=options["name"], login=options["login"], powers=powers, password=password
        )
