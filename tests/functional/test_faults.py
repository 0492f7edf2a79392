"""The faults of `manage.py faults`, one round of each, and what the command says of a fault that is not survived."""

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from random import Random

import pytest
from django.core.management import CommandError, call_command

from densemem.faults import provider, rows, statements
from densemem.faults.catalogue import FAULTS
from densemem.faults.fault import Broken, Fault, Report
from densemem.faults.run import run
from densemem.management.commands import faults as command
from densemem.models import Team
from densemem.providers.base import Stage

# One of each kind at each call: all of them take too long for every day.
FEW = (
    ("server_error", Stage.EXTRACT),
    ("too_large", Stage.VERIFY),
    ("missing_ref", Stage.EXTRACT),
    ("foreign_id", Stage.VERIFY),
)
# Intake and commit are broken in test_races, at each of their hundred statements.
LONG = ("intake", "source_activation", "placement_commit")
SHORT = tuple(operation for operation in statements.OPERATIONS if operation.name not in LONG)


SLOW = ("F1", "F6", "F7")  # they kill and race processes of their own for a while


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", [pytest.param(f, marks=pytest.mark.long if f in SLOW else ()) for f in FAULTS])
def test_a_fault_is_survived(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "CASES", FEW)
    monkeypatch.setattr(statements, "OPERATIONS", SHORT)

    report = run(FAULTS[name], seed=1, rounds=[1])

    assert report.failures == []
    assert report.passed


def fault(play: Callable[[Random], dict[str, float]]) -> Fault:
    """Return a fault of this test's own."""
    return Fault("F0", "a test", "it holds", play)


def breaks(chance: Random) -> dict[str, float]:
    """Fail in every round that is drawn so."""
    if chance.random() < 0.5:
        raise Broken("a row is lost")
    return {"kills": 1, "wait_seconds": chance.random()}


class TestRun:
    def test_goes_on_after_a_round_that_failed(self, db: None) -> None:
        report = run(fault(breaks), seed=3, rounds=range(1, 11))

        assert 0 < len(report.failures) < report.rounds == 10
        assert report.figures["kills"] == 10 - len(report.failures)
        assert 0 < report.figures["wait_seconds"] < 1
        assert not report.passed

    def test_plays_a_round_again_by_seed_and_number(self, db: None) -> None:
        report = run(fault(breaks), seed=3, rounds=range(1, 11))
        failed = report.failures[-1]

        assert run(fault(breaks), seed=3, rounds=[failed.round]).failures == [failed]
        assert report.replay(failed) == f"manage.py faults F0 --seed 3 --only {failed.round}"

    def test_fails_on_what_nobody_foresaw(self, db: None) -> None:
        def stumble(_: Random) -> dict[str, float]:
            raise KeyError("word")

        (failure,) = run(fault(stumble), seed=1, rounds=[1]).failures

        assert failure.detail == "KeyError: 'word'"

    def test_checks_the_laws_after_each_round(self, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken() -> None:
            raise Broken("1 differences")

        monkeypatch.setattr("densemem.faults.run.check_laws", broken)

        assert not run(fault(lambda _: {}), seed=1, rounds=[1]).passed

    def test_of_no_round_proves_nothing(self, db: None) -> None:
        assert not run(fault(lambda _: {}), seed=1, rounds=[]).passed


class TestRows:
    def test_of_two_states_are_compared_to_the_byte(self, db: None) -> None:
        team = Team.objects.create(name="Northwind (sample)")
        before = rows.everything()
        Team.objects.filter(pk=team.pk).update(name="Northwind (sampla)")

        with pytest.raises(Broken, match="densemem_team 1 "):
            rows.same(before, rows.everything(), what="changed")


class TestCommand:
    @pytest.fixture(autouse=True)
    def no_scratch(self, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
        """Play in the database of the test."""
        monkeypatch.setattr(command, "scratch_memory", nullcontext)

    def play(self, monkeypatch: pytest.MonkeyPatch, folder: Path, play: Callable[[Random], dict[str, float]]) -> Report:
        monkeypatch.setitem(command.FAULTS, "F1", fault(play))
        call_command("faults", "F1", "--rounds", "2", "--seed", "8", "--reports", str(folder))
        return json.loads((folder / "faults-F0.json").read_text())

    def test_writes_a_report_and_one_line(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys) -> None:
        report = self.play(monkeypatch, tmp_path, lambda _: {"kills": 1})

        assert (report["passed"], report["seed"], report["figures"]) == (True, 8, {"kills": 2})
        assert "PASS F0 a test: 2 rounds, 0 failed, seed 8" in capsys.readouterr().err

    def test_exits_with_one_and_says_how_to_play_again(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys
    ) -> None:
        def lose(_: Random) -> dict[str, float]:
            raise Broken("a row is lost")

        with pytest.raises(SystemExit) as left:
            self.play(monkeypatch, tmp_path, lose)

        told = capsys.readouterr().err
        assert left.value.code == 1
        assert "F0 round 2: a row is lost" in told
        assert "FAIL F0" in told
        assert "again: manage.py faults F0 --seed 8 --only 2" in told

    def test_refuses_a_fault_that_is_not_there(self) -> None:
        with pytest.raises(CommandError, match="F2"):
            call_command("faults", "F2")
