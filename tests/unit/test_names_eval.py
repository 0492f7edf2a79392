"""`manage.py eval names`: what becomes of the names of a list, beside the bars."""

import json
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command

from densemem.evals import names as names_eval
from densemem.evals.name_lists import NameSet
from densemem.evals.names import Known, answered, outcome_of

A, B, C = (UUID(int=number) for number in (1, 2, 3))
FEBRL = """rec_id, given_name, surname
rec-1-org, mara, lind
rec-1-dup-0, mara, lind
rec-1-dup-1, mara, lindt
rec-2-org, , webb
rec-3-org, ivo, webb
rec-3-dup-0, , webb
"""
NICKNAMES = "name1,relationship,name2\nrobert,has_nickname,bob\nwilliam,has_nickname,bill\n"
SAMPLES = {"main": {"de": {"personNames": {"sampleName": {"nativeGS": {"given": "Käthe", "surname": "Müller"}}}}}}
ALIKE = {"a": [{"c": "\u0430", "n": "CYRILLIC SMALL LETTER A"}, {"c": "\uff41", "n": "FULLWIDTH"}]}


@pytest.fixture(autouse=True)
def _no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    def placed(sets: Sequence[NameSet], track: Any) -> Iterator[tuple[NameSet, list[UUID | None]]]:
        yield from ((names, [None for _ in track(names.asked)]) for names in sets)

    monkeypatch.setattr(names_eval, "placed", placed)


def measured(folder: Path, name: str, text: str) -> dict[str, Any]:
    """Return what the command tells of one file."""
    path, out = folder / name, StringIO()
    path.write_text(text, encoding="utf-8")
    call_command("eval", "names", str(path), "--json", stdout=out)
    (row,) = json.loads(out.getvalue())["sets"]
    found: dict[str, Any] = row
    return found


class TestLists:
    def test_of_persons_tell_the_same_name_from_an_error_and_from_a_namesake(self, tmp_path: Path) -> None:
        row = measured(tmp_path, "persons.csv", FEBRL)

        assert (row["known"], row["same"], row["reused"]) == (3, 1, 1.0)
        assert (row["silent"], row["wrong"], row["namesakes"]) == (0, 0, 1)
        assert row["proposed"] == {"not_proposed": 2}

    def test_of_nicknames_are_proposed_until_they_are_aliases(self, tmp_path: Path) -> None:
        row = measured(tmp_path, "nicknames.csv", NICKNAMES)

        assert row["proposed"] == {"nickname": 1}
        assert (row["same"], row["reused"], row["open"]) == (5, 1.0, 1)

    def test_of_languages_ask_for_the_ways_to_write_a_name(self, tmp_path: Path) -> None:
        row = measured(tmp_path, "de.json", json.dumps(SAMPLES))

        assert row["reused"] == 1.0
        assert row["proposed"] == {"initials": 1, "token_subset": 2}

    def test_of_look_alikes_reuse_none(self, tmp_path: Path) -> None:
        row = measured(tmp_path, "alike.json", json.dumps(ALIKE))

        assert (row["silent"], row["wrong"], row["reused"]) == (0, 0, 1.0)
        assert set(row["proposed"]) == {"look_alike"}

    @pytest.mark.parametrize("text", ["[]", "{", "1", '{"main": {"de": {}}}'])
    def test_that_are_none_are_refused(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(CommandError, match="no list of names"):
            measured(tmp_path, "other.json", text)


class TestOutcome:
    @pytest.mark.parametrize(
        ("chosen", "bearers", "expected"),
        [
            (None, {A}, "none"),
            (A, {A}, "right"),
            (A, set(), "silent"),
            (A, {B}, "silent"),
            (B, {B}, "namesakes"),
            (B, {A, B}, "wrong"),
            (B, set(), "wrong"),
        ],
    )
    def test_of_an_answer(self, chosen: UUID | None, bearers: set[UUID], expected: str) -> None:
        assert outcome_of(chosen, A, bearers=bearers) == expected


class TestAnswered:
    def test_leaves_namesakes_open(self) -> None:
        known = Known()
        for bearer in (A, B):
            known.learn(bearer, "Mark Huang")

        assert answered(known.candidates("Mark Huang"), 2).entity_id is None

    def test_reuses_an_alias_and_holds_a_likeness(self) -> None:
        known = Known()
        known.learn(A, "Robert Smith")
        known.learn(A, "RS")

        assert answered(known.candidates("rs"), 1).entity_id == A
        assert answered(known.candidates("Bob Smith"), 0).reason == "only_proposed"
