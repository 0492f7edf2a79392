"""A file of cases is read whole, or refused with the line and the mend."""

import json
from pathlib import Path

import pytest

from densemem.cases.files import CasesUnreadable, fixtures_beside, read_cases, read_fixtures

GOOD = {"id": "a-1", "input": {"steps": []}, "expected": {}, "scripted": [{"stage": "extract"}]}


def written(folder: Path, *lines: object) -> Path:
    """Write a file of cases."""
    file = folder / "cases.jsonl"
    file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    return file


def test_reads_cases_and_passes_over_empty_lines(tmp_path: Path) -> None:
    found = read_cases(written(tmp_path, GOOD, "", {**GOOD, "id": "a-2", "needs_llm": True}))

    assert [(case.id, case.line, case.needs_llm) for case in found] == [("a-1", 1, False), ("a-2", 3, True)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: not JSON"),
        ("[]", "line 2: not a JSON object"),
        ({**GOOD, "id": 7}, "line 2: 'id' must be there, as a JSON string"),
        ({**GOOD, "input": {}}, "line 2: 'input' has neither 'steps' nor 'race'"),
        ({**GOOD, "id": "a-2", "input": {"steps": {}}}, "line 2: 'input.steps' must be a JSON array"),
        ({**GOOD, "id": "a-2", "scripted": [{}]}, "line 2: 'scripted' must be an array of objects with a 'stage'"),
        (GOOD, "line 2: the id 'a-1' was used in line 1"),
    ],
)
def test_names_the_line_and_the_mend(tmp_path: Path, line: object, said: str) -> None:
    with pytest.raises(CasesUnreadable) as refused:
        read_cases(written(tmp_path, GOOD, line))

    assert said in str(refused.value)


def test_refuses_a_file_without_cases(tmp_path: Path) -> None:
    with pytest.raises(CasesUnreadable, match="holds no cases"):
        read_cases(written(tmp_path, ""))


def test_refuses_what_is_not_there_or_not_utf8(tmp_path: Path) -> None:
    with pytest.raises(CasesUnreadable, match="cannot be read: No such file"):
        read_cases(tmp_path / "none.jsonl")
    (tmp_path / "odd").write_bytes(b"\xff")
    with pytest.raises(CasesUnreadable, match="not UTF-8 at byte 0"):
        read_cases(tmp_path / "odd")


def test_fixtures_need_all_their_parts(tmp_path: Path) -> None:
    beside = fixtures_beside(tmp_path / "cases.jsonl")
    beside.write_text(json.dumps({"teams": {}, "entities": {}}))

    with pytest.raises(CasesUnreadable, match="'predicates' must be there, as a JSON object"):
        read_fixtures(beside)
