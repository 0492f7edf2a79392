"""`manage.py verify`: the whole gate in one command."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console

STEPS = {
    "format": ["ruff", "format", "--check", "."],
    "style": ["ruff", "check", "."],
    "types": ["mypy"],
    "imports": ["lint-imports"],
    "migrations": [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"],
    "tests": [sys.executable, "-m", "pytest", "-n", "2"],
}


class Command(BaseCommand):
    help = "Run format, style, types, import contracts, migration check and tests; stop with an error if one fails."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--only", nargs="+", choices=STEPS, help="run these steps alone")
        parser.add_argument("--json", action="store_true", help="end with one JSON line of results")

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console(stderr=True)
        results = {}
        for name in options["only"] or STEPS:
            console.rule(name)
            began = time.monotonic()
            code = subprocess.run(self._command(name), check=False).returncode
            results[name] = {"passed": code == 0, "seconds": round(time.monotonic() - began, 1)}
        for name, result in results.items():
            console.print(f"{'passed' if result['passed'] else 'FAILED'}  {name}  {result['seconds']} s")
        if options["json"]:
            self.stdout.write(json.dumps(results))
        if failed := [name for name, result in results.items() if not result["passed"]]:
            raise CommandError(f"failed: {', '.join(failed)}")

    def _command(self, name: str) -> list[str]:
        """Return the command of a step, its tool taken from the environment that runs this."""
        tool, *rest = STEPS[name]
        beside = Path(sys.executable).parent / tool
        return [str(beside) if beside.exists() else tool, *rest]
