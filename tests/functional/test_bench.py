"""The benchmarks on a tiny load: what they report, and that they notice what is wrong. Nothing here looks at a time."""

import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from densemem.bench import backlog, intake, placement
from densemem.bench.calibration import TABLE, Calibration, calibrate
from densemem.bench.figures import Figure, Yardstick, slow, verdicts
from densemem.bench.intake import Sent
from densemem.bench.load import Load, full
from densemem.bench.notes import note
from densemem.bench.people import new_team
from densemem.bench.processes import ProcessFailed, crew
from densemem.bench.stub import Stub
from densemem.management.commands import bench
from placement.models import Item
from placement.tasks import drain
from relationships.models import RelationshipRecord
from tests.said import send

TINY = Load(
    seed=7,
    clients=2,
    seconds=5,
    requests=6,
    items=6,
    slow_items=3,
    latency=0.05,
    concurrency=2,
    workers=1,
    jobs=200,
    claims=5,
    calibration_seconds=0.05,
)
STILL = lambda text, part: None  # noqa: E731 - nobody looks on


@pytest.fixture
def calibration(transactional_db: None) -> Calibration:
    return calibrate(seconds=0.05)


def values(figures: Sequence[Figure]) -> dict[str, float]:
    return {figure.name: figure.value for figure in figures}


class TestFigure:
    @pytest.mark.parametrize(
        ("value", "least", "most", "passed"),
        [
            (5, None, None, None),
            (5, 5, None, True),
            (4.9, 5, None, False),
            (5, None, 5, True),
            (5.1, None, 5, False),
        ],
    )
    def test_is_held_against_its_bar(
        self, value: float, least: float | None, most: float | None, passed: bool | None
    ) -> None:
        assert Figure("L1", "name", value, least=least, most=most).passed is passed

    def test_is_divided_by_its_yardstick(self) -> None:
        assert Figure("L1", "requests", 50, "/s", beside=Yardstick("insert", 200, "/s")).ratio == 0.25

    def test_has_a_line_for_each_bar_that_names_what_was_missed(self) -> None:
        figures = [
            Figure("L1", "requests", 50, "/s", least=100),
            Figure("L1", "errors", 0, most=0),
            Figure("L2", "n", 1),
        ]

        assert verdicts(figures) == ["L1 FAILED: requests 50/s, wanted >= 100", "L2 passed"]

    def test_reads_the_slow_end_in_milliseconds(self) -> None:
        assert slow([number / 1000 for number in range(1, 101)]) == pytest.approx(95.05)


class TestCalibration:
    def test_measures_each_yardstick_and_leaves_no_table(self, calibration: Calibration) -> None:
        assert all(yardstick.value > 0 for yardstick in calibration.yardsticks())
        with connection.cursor() as cursor, pytest.raises(Exception, match="does not exist"):
            cursor.execute(f"SELECT 1 FROM {TABLE}")

    def test_says_how_durable_the_server_is(self, transactional_db: None) -> None:
        assert bench.server_settings()["fsync"] == "off"  # the server of the tests is not


class TestNotes:
    def test_are_the_same_for_the_same_seed_and_others_for_another(self) -> None:
        assert note(3, seed=1) == note(3, seed=1) != note(3, seed=2)

    def test_are_placed_by_the_stub_as_one_relationship_each(self, transactional_db: None) -> None:
        (who,) = new_team(1)
        send(who, *(note(number, seed=1) for number in range(5)))

        drain(using=Stub(), linger=False)

        assert set(Item.objects.values_list("state", flat=True)) == {"completed"}
        assert RelationshipRecord.objects.filter(status="active").count() == 5


@pytest.mark.long
class TestIntake:
    def test_reports_its_figures_and_finds_every_fragment_once(self, calibration: Calibration) -> None:
        found = intake.run(TINY, calibration, STILL)

        sent = (TINY.requests + TINY.clients * intake.WARM_UP) * intake.FRAGMENTS
        assert {figure.bar for figure in found} == {"L1"}
        assert {"requests", "request p50", "request p95", "SQL statements of one intake"} < set(values(found))
        assert values(found)["fragments acknowledged"] == sent
        assert [values(found)[name] for name in ("errors", "fragments lost", "fragments doubled")] == [0, 0, 0]

    def test_notices_what_was_acknowledged_and_is_not_there(self, transactional_db: None) -> None:
        (who,) = new_team(1)
        sent = Sent(answers={"k": {"ingest_id": "i", "items": [{"evidence_id": "gone"}]}})

        assert values(intake.compared(who.team_id, [sent], {}))["fragments lost"] == 1

    def test_notices_what_is_there_and_was_never_acknowledged(self, transactional_db: None) -> None:
        (who,) = new_team(1)
        send(who, "Mara Lind works on Harbor.")

        assert values(intake.compared(who.team_id, [Sent()], {}))["fragments doubled"] == 1
        assert values(intake.compared(who.team_id, [Sent(unknown=1)], {}))["fragments doubled"] == 0

    def test_notices_a_repeated_request_that_was_taken_for_a_new_one(self, transactional_db: None) -> None:
        (who,) = new_team(1)
        sent = Sent(answers={"k": {"ingest_id": "i", "items": []}})
        found = intake.compared(who.team_id, [sent], {"k": {"ingest_id": "other", "items": []}})

        assert values(found)["requests sent again that made a new intake"] == 1


@pytest.mark.long
class TestPlacement:
    def test_reports_its_figures_and_places_everything_right(self, calibration: Calibration) -> None:
        found = values(placement.run(TINY, calibration, STILL))

        assert {"placements", "last third beside the first", "larger backlog beside the smaller"} < set(found)
        assert found["rows of one placement"] > 20
        assert found["SQL statements of one placement"] > 0
        for name in ("items not placed", "items that failed or ask a person", "differences of the audit"):
            assert found[name] == 0, name

    def test_measures_from_the_moment_when_the_workers_begin(self) -> None:
        steady = placement.Drained([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        slowing = placement.Drained([1.0, 2.0, 3.0, 4.0, 6.0, 8.0])

        assert (steady.rate, steady.flatness, slowing.flatness) == (1.0, 1.0, 0.5)

    def test_says_when_a_worker_ends_without_its_answer(self, transactional_db: None, capfd) -> None:
        with pytest.raises(ProcessFailed, match="worker dance"), crew(1, "dance"):
            pass


@pytest.mark.long
class TestBacklog:
    def test_reports_its_figures_and_claims_nothing_twice(
        self, calibration: Calibration, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(backlog, "WAIT_SECONDS", 2.0)

        found = values(backlog.run(TINY, calibration, STILL))

        assert {"claim p50", "claim p95", "10 jobs behind 100 of another team"} < set(found)
        assert (found["items claimed"], found["items claimed twice"]) == (TINY.claims, 0)

    def test_sees_in_a_plan_whether_the_whole_queue_is_read(self, transactional_db: None) -> None:
        assert backlog.reads_whole_queue("SELECT * FROM placement_item WHERE reason = %s", ["none"])
        wanted = "SET LOCAL enable_seqscan = off; SELECT * FROM placement_item WHERE id = %s"
        assert not backlog.reads_whole_queue(wanted, [uuid4()])


class TestCommand:
    @pytest.fixture(autouse=True)
    def here(self, transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Measure on the database of the tests, and calibrate for a moment only."""
        monkeypatch.setattr(bench, "memory", nullcontext)
        monkeypatch.setattr(bench, "calibrate", lambda *, seconds: calibrate(seconds=0.05))
        monkeypatch.setitem(bench.RUNS, "intake", lambda load, calibration, step: [self.MISSED])
        yield

    MISSED = Figure("L1", "requests", 1.0, "/s", least=100, beside=Yardstick("insert", 4.0, "/s"))

    def test_prints_the_calibration_the_figures_and_a_line_for_the_bar(self, tmp_path: Path) -> None:
        out = StringIO()
        call_command("bench", "intake", seed=9, reports=tmp_path, stdout=out)

        for words in ("fsync off", "bulk_create of 20 rows", "L1 FAILED: requests 1/s", "seed 9", "query embedding"):
            assert words in out.getvalue()

    def test_keeps_the_report_that_it_prints_as_json(self, tmp_path: Path) -> None:
        out = StringIO()
        call_command("bench", "intake", seed=9, json=True, reports=tmp_path, stdout=out)

        (kept,) = tmp_path.iterdir()
        report = json.loads(out.getvalue())
        assert report == json.loads(kept.read_text())
        (run,) = report["runs"]
        assert (report["seed"], report["passed"], report["load"]["seed"]) == (9, False, 9)
        assert (run["what"], run["server"]["synchronous_commit"], len(run["yardsticks"])) == ("intake", "off", 4)
        assert (run["figures"][0]["ratio"], run["figures"][0]["passed"]) == (0.25, False)

    def test_fails_for_a_missed_bar_only_when_it_is_to_be_strict(self, tmp_path: Path) -> None:
        call_command("bench", "intake", reports=tmp_path, stdout=StringIO())

        with pytest.raises(SystemExit):
            call_command("bench", "intake", strict=True, reports=tmp_path, stdout=StringIO())

    def test_says_when_a_process_ended(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(load: Load, calibration: Calibration, step: object) -> list[Figure]:
            raise ProcessFailed("This process ended too early: worker")

        monkeypatch.setitem(bench.RUNS, "intake", broken)
        with pytest.raises(CommandError, match="ended too early"):
            call_command("bench", "intake", reports=tmp_path, stdout=StringIO())

    def test_refuses_a_load_that_measures_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="--jobs must be at least 200"):
            call_command("bench", "backlog", jobs=3, reports=tmp_path)

    def test_takes_single_sizes_beside_the_full_load(self) -> None:
        given = {"full": True, "seed": 3, "seconds": None, "requests": None, "items": 30, "jobs": None}

        load = bench.load_of(given)

        assert (load.items, load.jobs, load.seconds) == (30, full(3).jobs, 60.0)


def test_the_durable_server_is_what_a_measurement_runs_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, str]] = []

    def scratch(conf: dict[str, str]) -> nullcontext[None]:
        asked.append(conf)
        return nullcontext()

    monkeypatch.setattr(bench, "scratch_memory", scratch)
    with bench.memory():
        pass

    assert not {"fsync", "synchronous_commit", "full_page_writes"} & set(asked[0])
