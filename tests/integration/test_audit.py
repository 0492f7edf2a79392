"""The audit finds nothing in what the product wrote, and every kind of difference that somebody else could write."""

import json
from io import StringIO
from typing import Final

import pytest
from django.core.management import CommandError, call_command

from densemem.audit import CHECKS, audit, derived
from densemem.audit.invariants import INVARIANTS
from densemem.audit.run import amount
from densemem.models import Team
from tests import factories
from tests.deciding import GRAZ, PORTO
from tests.forged import delete, plant, update
from tests.said import say, someone

RECORD = "relationships_relationshiprecord"
SUPPORT, DECISION = "relationships_evidencesupport", "relationships_supportdecision"
CASE = "relationships_conflictcase"
RESOLUTION, BELONGS = "relationships_observationresolution", "relationship_id IS NOT NULL"
OPPOSED = "kind = 'challenges'"
ONE_OWNER = (
    f"target_relationship_id = (SELECT other.id FROM {RECORD} AS one JOIN {RECORD} AS other USING (owner_id) "  # noqa: S608
    "WHERE one.id = source_relationship_id AND other.id <> one.id LIMIT 1)"
)
SUCCEEDED = (
    "INSERT INTO relationships_lineage (id, team_id, successor_id, predecessor_id, kind, effective_at) "  # noqa: S608
    f"SELECT gen_random_uuid(), team_id, gen_random_uuid(), id, 'replaced', now() FROM {RECORD} LIMIT 1"
)
LEFT = "status = 'superseded', reason = 'superseded_replaced'"
LONG = '"end" = 99999'
JOIN: Final = (
    "INSERT INTO evidence_groupjoin (id, team_id, one_id, other_id, reason, fragment_id) "
    "SELECT gen_random_uuid(), team_id, {one}, gen_random_uuid(), '{reason}', id FROM evidence_fragment LIMIT 1"
)
BACKWARDS: Final = "UPDATE {} SET recorded_at = timestamptz 'epoch' - seq * interval '1 second'"
ONE_MORE: Final = (
    "INSERT INTO {0} SELECT (jsonb_populate_record(made, jsonb_build_object('id', gen_random_uuid(), "
    "'seq', made.seq + 1000000, 'version', 9, 'recorded_at', 'epoch'))).* FROM {0} AS made LIMIT 1"
)
PLANTED: Final = [
    ("records_follow_from_ledgers", [update(RECORD, "status = 'disputed'")]),
    ("records_follow_from_ledgers", [update(RECORD, "held_by_person = NOT held_by_person")]),
    ("records_follow_from_ledgers", [update(RECORD, "support_count = support_count + 1")]),
    ("records_follow_from_ledgers", [update(RECORD, "source_group_count = source_group_count + 1")]),
    ("records_follow_from_ledgers", [update(DECISION, "action = 'revoke'", "action = 'grant'")]),
    ("records_follow_from_ledgers", [update("relationships_transition", "version = 9")]),
    ("records_follow_from_ledgers", [update("relationships_transition", "tier_before = 'fact'", "version = 1")]),
    ("records_follow_from_ledgers", ["DELETE FROM relationships_transition"]),
    ("group_keys_follow_from_identity", [update(RECORD, "semantic_group_key = 'other'")]),
    ("references_name_real_versions", [update("relationships_crossreference", "target_version = 99")]),
    ("references_name_real_versions", [update("relationships_crossreference", "source_version = 99")]),
    ("entities_follow_from_resolutions", [delete("entities_name", "kind = 'canonical'")]),
    ("entities_follow_from_resolutions", [update("entities_entity", "first_ingest_id = gen_random_uuid()")]),
    ("entities_follow_from_resolutions", [update("entities_entity", "kind = 'team'")]),
    (
        "entities_follow_from_resolutions",
        ["UPDATE entities_resolutionevent SET action = 'reuse' WHERE entity_id IS NOT NULL"],
    ),
    ("entities_follow_from_resolutions", ["DELETE FROM entities_resolutionevent"]),
    ("observations_mean_what_was_resolved", ["DELETE FROM relationships_observationresolution"]),
    ("observations_mean_what_was_resolved", [update(RESOLUTION, "subject_entity_id = gen_random_uuid()", BELONGS)]),
    ("observations_mean_what_was_resolved", [update(RESOLUTION, "predicate_key = 'sails_on'", BELONGS)]),
    ("observations_mean_what_was_resolved", ["DELETE FROM entities_resolutionevent"]),
    ("references_follow_from_identities", [update("relationships_crossreference", "kind = 'confirms'", OPPOSED)]),
    ("references_follow_from_identities", [update("relationships_crossreference", ONE_OWNER)]),
    ("lineage_follows_from_steps", [SUCCEEDED]),
    ("lineage_follows_from_steps", [update("relationships_transition", LEFT)]),
    ("conflicts_replay_from_events", [update(CASE, "version = 9")]),
    ("conflicts_replay_from_events", [update(CASE, "reason = 'one_position_left'")]),
    ("conflicts_replay_from_events", [update("relationships_conflictevent", "version = 9")]),
    ("conflicts_replay_from_events", [delete("relationships_conflictevent")]),
    ("conflicts_replay_from_events", [update(CASE, "status = 'closed', closed_at = now(), merged_into_id = id")]),
    ("conflicts_stand_as_they_are_held", [update(CASE, "status = 'closed', closed_at = now()")]),
    ("challenges_stand_in_one_conflict", [delete("relationships_conflictposition")]),
    ("support_decisions_follow", [update(DECISION, "action = 'reinstate'", "action = 'grant'")]),
    ("support_decisions_follow", [update(DECISION, "action = 'grant'", "action = 'revoke'")]),
    ("support_decisions_follow", [f"DELETE FROM {DECISION}"]),  # noqa: S608
    ("support_keeps_its_origin", [update(SUPPORT, "group_id = gen_random_uuid()")]),
    ("items_equal_newest_event", [update("placement_item", "reason = 'other'")]),
    ("items_equal_newest_event", [update("placement_item", "state = 'failed'")]),
    ("item_events_are_whole", [update("placement_itemevent", "version = 9")]),
    ("tasks_equal_newest_event", [update("review_task", "status = 'resolved'")]),
    ("task_events_are_whole", [update("review_taskevent", "version = 2")]),
    ("fragments_have_items", [delete("placement_item")]),
    ("holds_agree_with_events", [update("evidence_quarantine", "status = 'released', released_at = now()")]),
    ("holds_agree_with_events", [delete("evidence_quarantine")]),
    ("joins_are_shown_by_texts", [JOIN.format(one="group_id", reason="same_text")]),
    ("joins_are_shown_by_texts", [JOIN.format(one="group_id", reason="near_copy")]),
    ("joins_are_shown_by_texts", [JOIN.format(one="gen_random_uuid()", reason="hint")]),
    ("relationshiprecord_history_runs_forward", [BACKWARDS.format("relationships_transition")]),
    ("relationshiprecord_history_runs_forward", [BACKWARDS.format(DECISION)]),
    ("conflictcase_history_runs_forward", [ONE_MORE.format("relationships_conflictevent")]),
    ("fragment_history_runs_forward", [ONE_MORE.format("evidence_securityevent")]),
    ("source_history_runs_forward", [BACKWARDS.format("evidence_sourcerevision")]),
    ("item_history_runs_forward", [BACKWARDS.format("placement_itemevent")]),
    ("task_history_runs_forward", [ONE_MORE.format("review_taskevent")]),
    ("spans_of_names_lie_in_text", [update("entities_name", LONG)]),
    ("spans_of_resolutions_lie_in_text", [update("entities_resolutionevent", LONG)]),
    ("spans_of_signals_lie_in_text", [update("evidence_securitysignal", LONG)]),
    ("spans_of_observations_lie_in_text", [update("relationships_observationspan", LONG)]),
]


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

    @pytest.mark.parametrize(
        "statement",
        [
            delete("relationships_lineage"),
            update("relationships_lineage", "kind = 'closed'"),
            update("relationships_lineage", "recorded_at = recorded_at - interval '1 day'"),
            update("relationships_lineage", "predecessor_id = successor_id, successor_id = predecessor_id"),
        ],
    )
    def test_finds_a_lineage_that_no_step_has(self, forger: None, sample: Team, statement: str) -> None:
        ada = someone(sample, "Ada")
        say(ada, "Ivo lives in Graz.", GRAZ, observed_at="2026-04-01T00:00:00Z")
        say(ada, "Ivo lives in Porto.", PORTO, observed_at="2026-05-01T00:00:00Z")

        assert not differs("lineage_follows_from_steps")
        plant([statement])
        assert differs("lineage_follows_from_steps")

    def test_has_a_planted_difference_for_every_check(self) -> None:
        laws = {law.name for law in INVARIANTS}  # theirs are in test_audit_invariants
        assert {name for name, _ in PLANTED} == {check.name for check in CHECKS} - laws

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
        (result,) = [c for c in audit().checks if c.name == "records_replay_from_transitions"]
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
        # The factories make bare texts, entities and records: nothing was sent, resolved or superseded by a step.
        bare = ("fragments_have_items", *(check.name for check in derived.CHECKS))
        report = audit(team_id=record.team_id, checks=[c for c in CHECKS if c.name not in bare])
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
        assert "records_replay_from_transitions: " in out.getvalue()

    def test_refuses_a_team_that_is_not_there(self, forger: None) -> None:
        with pytest.raises(CommandError, match="There is no team 'Nobody'"):
            call_command("audit", "--team", "Nobody")
