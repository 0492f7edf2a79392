"""`manage.py lifecycle`: which change of status is legal, as a table and as a Mermaid diagram."""

import json as as_json
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from relationships.policy import STEPS
from relationships.policy.diagram import as_markdown, rows

PAGE: Final = Path(settings.BASE_DIR, "docs", "lifecycle.md")
BEGIN: Final = "<!-- begin: manage.py lifecycle -->\n"
END: Final = "\n<!-- end: manage.py lifecycle -->"


class Command(BaseCommand):
    help = "Print the legal steps of a Relationship's status, or write them into docs/lifecycle.md."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the form of the answer."""
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="print JSON: where each status may go")
        form.add_argument("--write", action="store_true", help="put the table and the diagram into docs/lifecycle.md")

    def handle(self, *args: Any, json: bool, write: bool, **options: Any) -> None:
        """Print them, or write them."""
        if json:
            self.stdout.write(as_json.dumps(rows(STEPS)))
        elif write:
            _write(PAGE)
        else:
            self.stdout.write(as_markdown(STEPS))


def _write(page: Path) -> None:
    """
    Replace what stands between the two marks of the page.

    :raises CommandError: a mark is missing
    """
    head, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise CommandError(f"{page} has no place for the steps: put {BEGIN.strip()} and {END.strip()} around it.")
    page.write_text(head + begin + as_markdown(STEPS) + end + tail, encoding="utf-8")
