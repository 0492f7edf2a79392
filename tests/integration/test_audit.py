"""The audit finds nothing in what the product wrote, and every kind of difference that somebody else could write."""

import json
import os
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Final

import pytest
from django.core.management import CommandError, call_command
from django.db import connections, transaction
from django.utils import timezone
from pytest_django.plugin import DjangoDbBlocker

from densemem.audit import CHECKS, audit
from densemem.audit.run import amount
from densemem.db import server
from densemem.db.cluster import Cluster
from densemem.db.place import place_of
from densemem.demo.cast import make_cast
from densemem.demo.corpus import load_corpus
from densemem.demo.journey import send
from densemem.models import Team
from tests import database, factories

ACTIVE: Final = "(SELECT id FROM relationships_relationshiprecord WHERE status = 'active' ORDER BY id LIMIT 1)"
CLAIM: Final = "(SELECT id FROM relationships_relationshiprecord WHERE tier = 'validated_claim' ORDER BY id LIMIT 1)"
GRANTED: Final = (
    "(SELECT fragment_id FROM relationships_evidencesupport s JOIN relationships_supportdecision d "
    "ON d.support_id = s.id GROUP BY s.id HAVING count(*) = 1 ORDER BY s.id LIMIT 1)"
)
TWIN: Final = (
    "INSERT INTO relationships_relationshiprecord SELECT (jsonb_populate_record(r, jsonb_build_object('id', "
    f"gen_random_uuid()))).* FROM relationships_relationshiprecord r WHERE id = {ACTIVE}"
)
RETIRE: Final = (
    "INSERT INTO evidence_fragmentretirement (id, team_id, fragment_id, by_ingest_id) "
    f"SELECT gen_random_uuid(), team_id, id, ingest_id FROM evidence_fragment WHERE id = {GRANTED}"
)


def update(table: str, change: str, where: str = "true") -> str:
    """Return the SQL that changes one row that fits."""
    return f"UPDATE {table} SET {change} WHERE id = (SELECT id FROM {table} WHERE {where} ORDER BY id LIMIT 1)"  # noqa: S608


def delete(table: str, where: str = "true") -> str:
    """Return the SQL that deletes one row that fits."""
    return f"DELETE FROM {table} WHERE id = (SELECT id FROM {table} WHERE {where} ORDER BY id LIMIT 1)"  # noqa: S608


def without(constraint: str, table: str = "relationships_relationshiprecord") -> str:
    """Return the SQL that drops a constraint."""
    return f"ALTER TABLE {table} DROP CONSTRAINT {constraint}"


RECORD, TRANSITION = "relationships_relationshiprecord", "relationships_transition"
SUPPORT, DECISION = "relationships_evidencesupport", "relationships_supportdecision"
LONG = '"end" = 99999'
PLANTED: Final = [
    ("records_equal_newest_transition", [update(RECORD, "version = version + 1")]),
    ("records_equal_newest_transition", [update(RECORD, "held_by_person = NOT held_by_person")]),
    ("records_equal_newest_transition", [delete(TRANSITION, f"relationship_id = {CLAIM}")]),
    ("transitions_are_whole", [update(TRANSITION, "version = 9")]),
    ("transitions_are_whole", [update(TRANSITION, "tier_before = 'fact'", "version = 1")]),
    (
        "no_candidate_is_active",
        [without("record_candidate_is_never_active"), update(RECORD, "tier = 'candidate'", "status = 'active'")],
    ),
    ("identities_are_unique", [without("record_identity"), TWIN]),
    ("group_keys_follow_from_identity", [update(RECORD, "semantic_group_key = 'other'")]),
    ("search_documents_follow_records", [update("relationships_searchdocument", "eligible = NOT eligible")]),
    ("search_documents_follow_records", [update("relationships_searchdocument", "source_version = 99")]),
    ("search_documents_follow_records", [delete("relationships_searchdocument", f"relationship_id = {ACTIVE}")]),
    ("references_name_real_versions", [update("relationships_crossreference", "target_version = 99")]),
    ("references_name_real_versions", [update("relationships_crossreference", "source_version = 99")]),
    ("counts_match_support", [update(RECORD, "support_count = support_count + 1")]),
    ("counts_match_support", [update(RECORD, "source_group_count = source_group_count + 1")]),
    ("counts_match_support", [update(DECISION, "action = 'revoke'", "action = 'grant'")]),
    ("active_tiers_are_earned", [update(RECORD, "tier = 'fact'", "tier = 'validated_claim'")]),
    ("active_tiers_are_earned", [update(RECORD, "tier = 'validated_claim'", "tier = 'fact'")]),
    ("support_decisions_follow", [update(DECISION, "action = 'reinstate'", "action = 'grant'")]),
    ("support_decisions_follow", [update(DECISION, "action = 'grant'", "action = 'revoke'")]),
    ("support_decisions_follow", [f"DELETE FROM {DECISION}"]),  # noqa: S608
    ("counting_support_is_current", [update(DECISION, "action = 'reinstate'", "action = 'revoke'")]),
    ("counting_support_is_current", [RETIRE]),
    ("counting_support_is_current", [update("evidence_quarantine", f"fragment_id = {GRANTED}")]),
    ("support_keeps_its_origin", [update(SUPPORT, "group_id = gen_random_uuid()")]),
    ("items_equal_newest_event", [update("placement_item", "reason = 'other'")]),
    ("items_equal_newest_event", [update("placement_item", "state = 'failed'")]),
    ("item_events_are_whole", [update("placement_itemevent", "version = 9")]),
    ("tasks_equal_newest_event", [update("review_task", "status = 'resolved'")]),
    ("task_events_are_whole", [update("review_taskevent", "version = 2")]),
    ("fragments_have_items", [delete("placement_item")]),
    ("sources_point_to_newest_revision", [update("evidence_source", "current_revision_id = NULL")]),
    ("revisions_are_one_chain", [update("evidence_sourcerevision", "previous_id = id", "previous_id IS NOT NULL")]),
    ("holds_agree_with_events", [update("evidence_quarantine", "status = 'released', released_at = now()")]),
    ("holds_agree_with_events", [delete("evidence_quarantine")]),
    ("spans_of_names_lie_in_text", [update("entities_name", LONG)]),
    ("spans_of_resolutions_lie_in_text", [update("entities_resolutionevent", LONG)]),
    ("spans_of_signals_lie_in_text", [update("evidence_securitysignal", LONG)]),
    ("spans_of_observations_lie_in_text", [update("relationships_observationspan", LONG)]),
    ("spans_of_supports_lie_in_text", [update(SUPPORT, LONG)]),
]


@pytest.fixture(scope="module")
def sample(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Team]:
    """The sample's team with all that is known of it; written once, since every test leaves it as it was."""
    with django_db_blocker.unblock():
        corpus = load_corpus()
        cast = make_cast(corpus)
        send(corpus=corpus, principals=cast.principals, now=timezone.now, step=lambda _: None)
        yield Team.objects.get(pk=cast.team_id)
        database.empty_tables()


@pytest.fixture
def forger(sample: Team, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Let a test write as nobody can in life: a superuser without triggers, all of it taken back at the end."""
    home = Path(os.environ[database.HOME_VARIABLE])
    ours = connections["default"]
    url = Cluster(place_of(home)).bootstrap_url(ours.settings_dict["NAME"])
    forged = connections.create_connection("default")
    forged.settings_dict = {**ours.settings_dict, **server.databases(home=home, url=url, owner_url="")["default"]}
    with django_db_blocker.unblock():
        connections["default"] = forged
        try:
            with transaction.atomic():
                forged.cursor().execute("SET LOCAL session_replication_role = replica")
                yield
                transaction.set_rollback(True)
        finally:
            connections["default"] = ours
            forged.close()


def plant(statements: list[str]) -> None:
    """Write what no operation would."""
    with connections["default"].cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def differs(name: str) -> bool:
    """Tell if one check finds something."""
    return audit(checks=[check for check in CHECKS if check.name == name]).differences > 0


class TestAudit:
    def test_finds_nothing_in_what_the_product_wrote(self, forger: None) -> None:
        report = audit()
        assert [check.as_dict() for check in report.checks if check.count] == []
        assert [check.name for check in report.checks if not check.compared] == []

    @pytest.mark.parametrize(("check", "statements"), PLANTED)
    def test_finds_a_planted_difference(self, forger: None, check: str, statements: list[str]) -> None:
        assert not differs(check)
        plant(statements)
        assert differs(check)

    def test_has_a_planted_difference_for_every_check(self) -> None:
        assert {name for name, _ in PLANTED} == {check.name for check in CHECKS}

    def test_compares_each_row_once_however_small_its_steps(
        self, forger: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = [(c.name, c.compared) for c in audit().checks]
        monkeypatch.setattr("densemem.audit.tables.AUDIT_ROWS", 3)
        assert [(c.name, c.compared) for c in audit().checks] == whole
        assert amount() == sum(compared for _, compared in whole)

    def test_counts_all_differences_and_lists_the_first(self, forger: None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("densemem.audit.run.AUDIT_DIFFERENCES", 2)
        plant([f"UPDATE {RECORD} SET semantic_group_key = 'other'"])  # noqa: S608
        result = next(c for c in audit().checks if c.name == "group_keys_follow_from_identity")
        assert (result.count, len(result.differences)) == (result.compared, 2)

    def test_names_the_row_and_never_its_words(self, forger: None) -> None:
        plant([update(RECORD, "version = version + 1")])
        (result,) = [c for c in audit().checks if c.name == "records_equal_newest_transition"]
        (difference,) = result.differences
        assert "version is" in difference.detail
        assert "Lantern" not in json.dumps(audit().as_dict())

    def test_looks_at_one_team_alone_when_asked(self, forger: None, sample: Team) -> None:
        other = Team.objects.create(name="Somebody else")
        plant([update(RECORD, "version = version + 1")])
        assert audit(team_id=sample.id).differences > 0
        assert audit(team_id=other.id).differences == 0

    @pytest.mark.django_db
    @pytest.mark.parametrize("trait", ["fact", "pending", "review", "superseded", "disputed", "retracted"])
    def test_finds_nothing_in_a_record_of_any_standing(self, trait: str) -> None:
        record = factories.RelationshipRecord(**{trait: True})
        factories.CrossReference(source_relationship=record)
        # The factories of names make bare texts, which nobody sent and nothing places.
        report = audit(team_id=record.team_id, checks=[c for c in CHECKS if c.name != "fragments_have_items"])
        assert [check.as_dict() for check in report.checks if check.count] == []


class TestCommand:
    def test_prints_json_with_every_check(self, forger: None) -> None:
        out = StringIO()
        call_command("audit", "--json", stdout=out)
        answer = json.loads(out.getvalue())
        assert answer["differences"] == 0
        assert {check["name"] for check in answer["checks"]} == {check.name for check in CHECKS}

    def test_exits_with_one_when_something_differs(self, forger: None, sample: Team) -> None:
        plant([update(RECORD, "version = version + 1")])
        out = StringIO()
        with pytest.raises(SystemExit) as left:
            call_command("audit", "--team", sample.name, stdout=out)
        assert left.value.code == 1
        assert "records_equal_newest_transition: " in out.getvalue()

    def test_refuses_a_team_that_is_not_there(self, forger: None) -> None:
        with pytest.raises(CommandError, match="There is no team 'Nobody'"):
            call_command("audit", "--team", "Nobody")
