"""The legal steps as they are printed: every one of them, and no other."""

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from densemem.management.commands import lifecycle
from relationships.policy import STEPS
from relationships.policy.diagram import as_markdown, diagram, rows
from relationships.vocabulary import Status

ALL = {(before, after) for before, afters in STEPS.items() for after in afters}
SMALL = {Status.ACTIVE: frozenset({Status.REVIEW, Status.PENDING}), Status.REJECTED: frozenset()}


def printed(*flags: str) -> str:
    """Return what the command prints."""
    out = StringIO()
    call_command("lifecycle", *flags, stdout=out)
    return out.getvalue()


class TestDiagram:
    def test_has_one_arrow_for_each_step(self) -> None:
        arrows = re.findall(r"^    (\w+) --> (\w+)$", diagram(STEPS), re.MULTILINE)

        assert len(arrows) == len(ALL)
        assert set(arrows) == ALL

    def test_stands_below_a_table_of_the_same_steps(self) -> None:
        assert as_markdown(SMALL) == (
            "| From | To |\n|---|---|\n| `active` | `pending_evidence`, `needs_review` |\n| `rejected` |  |\n\n"
            "```mermaid\nstateDiagram-v2\n    active --> pending_evidence\n    active --> needs_review\n```"
        )

    def test_is_in_the_order_of_the_words_however_the_table_is_written(self) -> None:
        assert rows(SMALL) == {"active": ["pending_evidence", "needs_review"], "rejected": []}


class TestCommand:
    def test_prints_what_the_documentation_holds(self) -> None:
        page = lifecycle.PAGE.read_text(encoding="utf-8")

        assert lifecycle.BEGIN + printed().rstrip("\n") + lifecycle.END in page

    def test_prints_json(self) -> None:
        told = json.loads(printed("--json"))

        assert {(before, after) for before, afters in told.items() for after in afters} == ALL

    def test_writes_between_the_marks_alone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        page = tmp_path / "page.md"
        page.write_text(f"Before.\n{lifecycle.BEGIN}old{lifecycle.END}\nAfter.\n", encoding="utf-8")
        monkeypatch.setattr(lifecycle, "PAGE", page)

        printed("--write")

        now = f"Before.\n{lifecycle.BEGIN}{as_markdown(STEPS)}{lifecycle.END}\nAfter.\n"
        assert page.read_text(encoding="utf-8") == now

    def test_says_where_a_page_has_no_marks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        page = tmp_path / "page.md"
        page.write_text("Nothing.\n", encoding="utf-8")
        monkeypatch.setattr(lifecycle, "PAGE", page)

        with pytest.raises(CommandError, match="has no place for the steps"):
            printed("--write")

        assert page.read_text(encoding="utf-8") == "Nothing.\n"
