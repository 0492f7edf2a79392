"""The sample: an invented team goes the whole way, and shows what it promises to show."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from pytest_django.plugin import DjangoDbBlocker

from densemem.demo.cast import hand_over_key, make_cast
from densemem.demo.corpus import Corpus, load_corpus, places_of
from densemem.management.commands.serve import listen
from densemem.models import AccessToken, Profile
from placement.models import Item
from placement.request import read_request
from relationships.models import CrossReference, RelationshipRecord, SearchDocument
from relationships.vocabulary import Status, Tier
from review.models import Task
from tests import database

SHOWN: Final = [
    "fact_by_two_sources",
    "claim",
    "pending_evidence",
    "ambiguous_name",
    "unknown_predicate",
    "quarantined_text",
    "cross_profile_conflict",
    "demotion_by_revision",
]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """The sample corpus."""
    return load_corpus()


def run(*arguments: str) -> dict[str, Any]:
    """Run the demo once and return its summary."""
    out = StringIO()
    call_command("demo", "--once", "--json", *arguments, stdout=out)
    summary: dict[str, Any] = json.loads(out.getvalue())
    return summary


class TestCorpus:
    def test_keeps_the_contract_of_a_request_to_remember(self, corpus: Corpus) -> None:
        assert len(corpus.documents) >= 15
        for document in corpus.documents:
            assert read_request(document.body).evidence

    def test_says_that_it_is_invented(self, corpus: Corpus) -> None:
        assert "invented" in corpus.about

    def test_has_a_manager_a_member_and_an_agent_with_a_steward(self, corpus: Corpus) -> None:
        assert Counter((p.kind, p.role) for p in corpus.profiles) == {
            ("person", "manager"): 1,
            ("person", "member"): 1,
            ("agent", "member"): 1,
        }
        (agent,) = [p for p in corpus.profiles if p.kind == "agent"]
        assert agent.steward in {p.ref for p in corpus.profiles}

    @pytest.mark.parametrize("script", [r"[\u4e00-\u9fff]", r"[\u0600-\u06ff]"], ids=["Chinese", "Arabic"])
    def test_speaks_other_scripts(self, corpus: Corpus, script: str) -> None:
        texts = [item["content"] for d in corpus.documents for item in d.body["evidence"]]
        assert any(re.search(script, text) for text in texts)

    def test_names_each_paper_once(self, corpus: Corpus) -> None:
        assert len({d.key for d in corpus.documents}) == len(corpus.documents)

    @pytest.mark.parametrize(
        ("text", "names", "places"),
        [
            ("Alex Moreau (Alex)", ["Alex Moreau", "Alex"], [(0, 11), (13, 17)]),
            ("Beacons and Beacon", ["Beacon"], [(12, 18)]),
            ("林悦住在上海。", ["上海"], [(4, 6)]),
            ("nothing", ["Beacon"], []),
        ],
    )
    def test_finds_names_as_words_of_their_own(
        self, text: str, names: list[str], places: list[tuple[int, int]]
    ) -> None:
        assert places_of(text, names) == places


@pytest.fixture(scope="module")
def filled(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[dict[str, Any]]:
    """The summary of a first run; its rows stay for the tests that read them."""
    with django_db_blocker.unblock():
        yield run()
        database.empty_tables()


@pytest.fixture
def first(filled: dict[str, Any], django_db_blocker: DjangoDbBlocker) -> Iterator[dict[str, Any]]:
    """The summary of a first run, with its rows at hand."""
    with django_db_blocker.unblock():
        yield filled


class TestDemo:
    def test_shows_all_that_it_promises_without_a_difference(self, first: dict[str, Any]) -> None:
        assert first["shows"] == SHOWN
        assert first["missing"] == []
        assert first["audit"]["differences"] == 0
        assert first["documents"] == first["new_documents"]
        assert first["items"].get("failed", 0) == 0

    def test_makes_a_fact_of_what_two_independent_sources_say(self, first: dict[str, Any]) -> None:
        (fact,) = RelationshipRecord.objects.filter(tier=Tier.FACT, status=Status.ACTIVE)
        assert fact.source_group_count == 2
        assert {s.fragment.source.source_key for s in fact.supports.all()} == {"wiki/beacon", "runbook/beacon"}

    def test_keeps_both_sides_of_a_conflict_between_profiles(self, first: dict[str, Any]) -> None:
        (challenge,) = CrossReference.objects.filter(kind="challenges")
        ends = (challenge.source_relationship, challenge.target_relationship)
        assert [end.status for end in ends] == [Status.ACTIVE, Status.ACTIVE]
        assert [end.predicate_key for end in ends] == ["headquartered_in", "headquartered_in"]
        assert ends[0].owner_id != ends[1].owner_id

    def test_demotes_a_fact_that_a_source_no_longer_tells(self, first: dict[str, Any]) -> None:
        (record,) = RelationshipRecord.objects.filter(predicate_key="depends_on", status=Status.ACTIVE)
        last = record.transitions.latest("seq")
        assert (last.reason, last.tier_before, last.tier) == ("source_revision_advanced", Tier.FACT, Tier.CLAIM)

    def test_asks_what_it_cannot_settle_and_concludes_nothing_from_it(self, first: dict[str, Any]) -> None:
        assert Counter(Task.objects.values_list("kind", flat=True)) == {
            "identity_needs_review": 1,
            "predicate_needs_review": 1,
            "policy_needs_review": 1,
        }
        assert Item.objects.filter(state="quarantined").count() == 1
        assert not RelationshipRecord.objects.filter(predicate_key__in=["reports_to", "mentors"]).exists()

    def test_reads_every_language_of_its_papers(self, first: dict[str, Any]) -> None:
        texts = SearchDocument.objects.filter(eligible=True).values_list("text", flat=True)
        assert {"林悦 lives in 上海", "سلمى حداد works for Lantern Works"} <= set(texts)

    def test_adds_nothing_the_second_time(self, first: dict[str, Any]) -> None:
        assert run() == {**first, "new_documents": 0}

    def test_prints_what_is_known_and_what_waits(self, first: dict[str, Any]) -> None:
        out = StringIO()
        call_command("demo", "--once", stdout=out)
        text = " ".join(out.getvalue().split())
        assert "invented" in text
        assert "Which one is" in text
        assert "0 differences" in text
        assert "password" not in text

    def test_says_so_when_the_database_holds_other_papers(
        self, first: dict[str, Any], corpus: Corpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        body = {"evidence": [{"content": "Another text.", "source_type": "document"}]}
        changed = replace(corpus, documents=(replace(corpus.documents[0], body=body),))
        monkeypatch.setattr("densemem.management.commands.demo.load_corpus", lambda: changed)
        with pytest.raises(CommandError, match="another version of the sample"):
            run()


@pytest.mark.django_db(transaction=True)
class TestKey:
    def test_gives_a_new_key_and_ends_the_old_one(self, corpus: Corpus) -> None:
        cast = make_cast(corpus)
        first, second = hand_over_key(cast), hand_over_key(cast)
        assert first.token != second.token
        assert AccessToken.objects.filter(profile__team_id=cast.team_id).count() == 1
        user = Profile.objects.get(pk=cast.principals["ines"].profile_id).user
        assert user is not None
        assert user.check_password(second.password or "")

    def test_leaves_the_password_of_a_login_that_is_used_elsewhere(self, corpus: Corpus) -> None:
        cast = make_cast(corpus)
        user = Profile.objects.get(pk=cast.principals["ines"].profile_id).user
        assert user is not None
        user.is_superuser = True
        user.save()
        before = user.password
        assert hand_over_key(cast).password is None
        user.refresh_from_db()
        assert user.password == before


class TestServe:
    def test_says_when_the_port_is_in_use(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as busy, pytest.raises(CommandError, match="--port"):
            call_command("demo", port=busy.getsockname()[1])

    @pytest.mark.django_db(transaction=True)
    def test_serves_until_it_is_asked_to_end_and_leaves_no_process(self, served: tuple[Any, Path, int]) -> None:
        process, output, port = served
        line = _wait_for_line(process, output, "curl ")
        answer = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=60, check=True)
        assert "Beacon uses PostgreSQL" in answer.stdout
        children = _children_of(process.pid)
        assert len(children) == 1

        process.send_signal(signal.SIGTERM)

        assert process.wait(60) == 0
        assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]
        listen("127.0.0.1", port).close()


@pytest.fixture
def served(tmp_path: Path, transactional_db: None) -> Iterator[tuple[Any, Path, int]]:
    """The demo in a process of its own, on a free port; it is gone at the end."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    output = tmp_path / "output.txt"
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "demo", "--port", str(port)]
    with output.open("w") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        try:
            yield process, output, port
        finally:
            process.terminate()
            process.wait(60)


def _wait_for_line(process: Any, output: Path, start: str) -> str:
    until = time.monotonic() + 150
    while time.monotonic() < until and process.poll() is None:
        found = [line for line in output.read_text().splitlines() if line.startswith(start)]
        if found:
            return found[0]
        time.sleep(0.25)
    raise AssertionError(f"The demo never said {start!r}: {output.read_text()[-2000:]}")


def _children_of(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]
