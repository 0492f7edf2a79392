"""Every case from a bug report, through the real doors; and a judge that lets nothing wrong pass."""

import json
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection

from densemem.cases.doors import Doors, serving
from densemem.cases.files import Case, fixtures_beside, read_cases, read_fixtures
from densemem.cases.judge import judge
from densemem.cases.operations import exists, missing
from densemem.cases.run import Status, played, run

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

FILE = Path(__file__).parent.parent / "cases" / "cases.jsonl"
CASES = {case.id: case for case in read_cases(FILE)}
FIXTURES = read_fixtures(fixtures_beside(FILE))
WAKE = import_module("placement.migrations.0003_wake_schedule")


@pytest.fixture(scope="module")
def doors(django_db_setup: None) -> Iterator[Doors]:
    """Serve once for all cases."""
    with serving() as base, closing(Doors(base)) as client:
        yield client


@pytest.fixture(autouse=True)
def schedule(transactional_db: None) -> None:
    """Emptying the tables between tests took away what a migration made."""
    WAKE.schedule(apps, connection.schema_editor())


@pytest.mark.parametrize("name", CASES)
def test_case(doors: Doors, name: str) -> None:
    result = run(CASES[name], FIXTURES, doors=doors, others=CASES)

    assert result.why == []
    assert (result.status is Status.WAITING) == bool(result.missing)


def test_a_case_waits_only_for_what_the_product_cannot_do() -> None:
    lacking = {name for case in CASES.values() for name in missing(case)}

    assert not any(exists(name) for name in lacking)
    assert {name for name in ("remember", "recall", "trace") if exists(name)} == {"remember", "recall", "trace"}


WRONG: dict[str, list[tuple[dict[str, Any], str]]] = {
    "dup-01": [
        ({"counts": {"RelationshipRecord": 2}}, "RelationshipRecord is 1, not 2"),
        ({"counts": {"KnowledgeIngest": ">=4"}}, "KnowledgeIngest is 3, not >=4"),
        ({"counts": {"Unicorn": 1}}, "not understood: counts: 'Unicorn'"),
        ({"each_step": "202 queued -> failed"}, "does not hold"),
        ({"relationships": []}, "not expected"),
        ({"relationships": [{"s": "mara", "tier": "fact"}]}, "no record is"),
        ({"relationships": [{"s": "mara", "colour": "red"}]}, "not understood: relationships"),
        ({"relationships": "none active"}, "does not hold"),
        ({"mood": "sunny"}, "not understood: mood"),
        ({"step7": "202"}, "there is no step 7"),
        ({"must_not": ["a storm"]}, "not understood: must_not: 'a storm'"),
        ({"must_not": ["works_on(mara, quill)"]}, "does not hold"),
        ({"recall": "nothing about Mara Lindqvist and Quillstone"}, "does not hold"),
    ],
    "uni-01": [
        ({"step1": "400, no ingest, and a rainbow"}, "not understood: step1: 'a rainbow'"),
        ({"step3": "400, no ingest"}, "does not hold"),
    ],
    "uni-03": [({"stored_span": {"start": 1}}, "start is 0, not 1"), ({"attempts": 2}, "there were 1, not 2")],
    "neg-01": [
        ({"edges": 2}, "edges: there are 1, not 2"),
        ({"recall": "'does Quillstone use Redis' returns only the '+' edge with its polarity shown"}, "does not hold"),
    ],
    "scope-03": [
        ({"reviews": ["predicate_needs_review: sings"]}, "not 'sings'"),
        ({"prior": "superseded"}, "does not hold"),
        ({"reviews": ["identity_ambiguous"]}, "not ['identity_needs_review']"),
    ],
    "llm-04": [
        ({"attempt1": "accepted"}, "does not hold"),
        ({"attempt3": "validation error naming the quote"}, "hold"),
    ],
    "id-05": [
        ({"step1": "201"}, "status 422: insufficient_identity_evidence"),
        ({"step2": "4xx: a merge without identity evidence is refused"}, "status 201"),
        ({"step2": "allowed only for observations/Relationships ada owns"}, "does not hold"),
        ({"step3": "b is never merged as a consequence"}, "does not hold"),
    ],
    "mod-03": [({"relationships": "none active; at most poetry"}, "not understood: relationships: 'at most poetry'")],
}


class TestJudge:
    @pytest.mark.parametrize("name", WRONG)
    def test_says_what_is_not_as_expected(self, doors: Doors, name: str) -> None:
        case = CASES[name]
        play = played(case, FIXTURES, doors, others=CASES)
        for expected, why in WRONG[name]:
            play.case = Case(case.id, case.line, case.input, expected, case.script, case.needs_llm)

            found = judge(play)

            assert why in " ".join(found), (expected, found)

    @pytest.mark.parametrize(
        "given",
        [
            {"steps": ["sing"]},
            {"race": ["a bird sings"]},
            {"steps": [], "setup": {"weather": "mild"}},
            {"steps": [{"as": "ada", "call": "sing"}]},
            {"steps": [{"as": "nobody", "call": "recall"}]},
            {"steps": [{"as": "ada", "call": "recall", "loudly": True}]},
        ],
    )
    def test_says_what_of_the_input_it_cannot_read(self, doors: Doors, given: dict[str, Any]) -> None:
        odd = Case("odd", 1, given, {}, (), needs_llm=False)

        result = run(odd, FIXTURES, doors=doors, others=CASES)

        assert result.status is Status.FAILED
        assert result.why[0].startswith("not understood:")


class TestCommand:
    def test_refuses_a_file_that_is_not_one_of_cases(self, tmp_path: Path) -> None:
        file = tmp_path / "odd.jsonl"
        file.write_text(json.dumps({"id": "a", "input": {"steps": []}, "expected": {}}) + "\n[1]\n")

        with pytest.raises(CommandError, match=r"line 2: not a JSON object\. Write it as"):
            call_command("cases", str(file))

    def test_asks_for_the_fixtures(self, tmp_path: Path) -> None:
        file = tmp_path / "lonely.jsonl"
        file.write_text(json.dumps({"id": "a", "input": {"steps": []}, "expected": {}}))

        with pytest.raises(CommandError, match=r"fixtures\.json cannot be read"):
            call_command("cases", str(file))
