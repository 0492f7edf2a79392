"""Each law finds nothing in what the product wrote, and every violation that somebody else could write."""

from typing import Final

import pytest

from densemem.audit import audit
from densemem.audit.invariants import INVARIANTS, Invariant, violations
from densemem.models import Team
from tests.forged import delete, plant, update, without

RECORD, TRANSITION = "relationships_relationshiprecord", "relationships_transition"
SUPPORT, DECISION = "relationships_evidencesupport", "relationships_supportdecision"
DOCUMENT, REVISION, ITEM = "relationships_searchdocument", "evidence_sourcerevision", "placement_item"
CITED: Final = "id IN (SELECT fragment_id FROM relationships_evidencesupport)"
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
JOIN_VOICES: Final = (
    "INSERT INTO evidence_groupjoin (id, team_id, one_id, other_id, reason, fragment_id) "
    "SELECT gen_random_uuid(), one.team_id, one.group_id, other.group_id, 'hint', one.fragment_id "
    "FROM relationships_evidencesupport one JOIN relationships_evidencesupport other USING (relationship_id) "
    "JOIN relationships_relationshiprecord r ON r.id = relationship_id AND r.source_group_count > 1 "
    "WHERE one.group_id <> other.group_id ON CONFLICT DO NOTHING"
)
AGAIN: Final = (
    "INSERT INTO evidence_sourcerevision (id, team_id, source_id, token, previous_id, content_hash, ingest_id) "
    "SELECT gen_random_uuid(), team_id, source_id, 'second end', previous_id, content_hash, ingest_id "
    "FROM evidence_sourcerevision WHERE previous_id IS NOT NULL LIMIT 1"
)
OTHER = "(SELECT id FROM densemem_profile p WHERE p.id <> {0} AND p.team_id = {1}.team_id LIMIT 1)"


def given_to_another(table: str, column: str = "owner_id") -> list[str]:
    """Return the SQL that gives one row to another profile of the team."""
    free = [without("record_identity")] if table == RECORD else []  # the other one may hold the same already
    told = f"id IN (SELECT relationship_id FROM {SUPPORT})" if table == RECORD else "true"  # its owner shows in them
    return [*free, update(table, f"{column} = {OTHER.format(column, table)}", told)]


PLANTED: Final = [
    (
        "no_candidate_is_active",
        [without("record_candidate_is_never_active"), update(RECORD, "tier = 'candidate'", "status = 'active'")],
    ),
    ("identities_are_unique", [without("record_identity"), TWIN]),
    ("supports_cite_their_text", [update(SUPPORT, '"end" = 99999')]),
    ("supports_cite_their_text", [update(SUPPORT, 'start = start + 1')]),
    ("supports_cite_their_text", [update("evidence_content", "text = left(text, 1)", "id IN (SELECT content_id FROM evidence_fragment WHERE " + CITED + ")")]),
    ("counts_match_support", [update(RECORD, "support_count = support_count + 1")]),
    ("counts_match_support", [update(RECORD, "source_group_count = source_group_count + 1")]),
    ("counts_match_support", [update(DECISION, "action = 'revoke'", "action = 'grant'")]),
    ("counts_match_support", [JOIN_VOICES]),
    ("active_tiers_are_earned", [update(RECORD, "tier = 'fact'", "tier = 'validated_claim' AND status = 'active'")]),
    ("active_tiers_are_earned", [update(RECORD, "tier = 'validated_claim'", "tier = 'fact' AND status = 'active'")]),
    ("counting_support_is_current", [update(DECISION, "action = 'reinstate'", "action = 'revoke'")]),
    ("counting_support_is_current", [RETIRE]),
    ("counting_support_is_current", [update("evidence_quarantine", f"fragment_id = {GRANTED}")]),
    ("records_replay_from_transitions", [update(RECORD, "version = version + 1")]),
    ("records_replay_from_transitions", [update(RECORD, "status = 'disputed'")]),
    ("records_replay_from_transitions", [update(RECORD, "held_by_person = NOT held_by_person")]),
    ("records_replay_from_transitions", [delete(TRANSITION, f"relationship_id = {CLAIM}")]),
    ("records_replay_from_transitions", [update(TRANSITION, "version = 9")]),
    ("records_replay_from_transitions", [update(TRANSITION, "tier_before = 'fact'", "version = 1")]),
    *(
        ("nobody_writes_for_another", given_to_another(table))
        for table in ("evidence_ingest", "evidence_source", ITEM, "relationships_observation", SUPPORT, RECORD, "review_task")
    ),
    ("nobody_writes_for_another", given_to_another("relationships_crossreference", "author_id")),
    (
        "nobody_writes_for_another",
        [f"UPDATE {TRANSITION} t SET actor_id = p.id FROM densemem_profile p, {RECORD} r "
         "WHERE r.id = t.relationship_id AND p.team_id = r.team_id AND p.id <> r.owner_id"],
    ),
    ("nobody_writes_for_another", [f"UPDATE {SUPPORT} SET team_id = gen_random_uuid()"]),
    (
        "nobody_writes_for_another",
        ["INSERT INTO relationships_lineage (id, team_id, successor_id, predecessor_id, kind, effective_at) "
         "SELECT gen_random_uuid(), one.team_id, one.id, other.id, 'replaced', now() "
         f"FROM {RECORD} one JOIN {RECORD} other ON one.owner_id <> other.owner_id LIMIT 1"],
    ),
    ("queued_work_is_due", [update(ITEM, "state = 'queued', completed_at = NULL, available_at = now() + interval '1 day'")]),
    ("queued_work_is_due", [update(ITEM, "state = 'queued', completed_at = NULL, attempts = 99")]),
    (
        "queued_work_is_due",
        [update(ITEM, "state = 'guarded', completed_at = NULL, attempt_token = gen_random_uuid(), "
                      "lease_until = now() + interval '1 day'")],
    ),
    ("queued_work_is_due", [update(ITEM, "state = 'queued'", "completed_at IS NOT NULL")]),
    ("queued_work_is_due", [update(ITEM, "attempt_token = gen_random_uuid(), lease_until = now()", "state = 'completed'")]),
    ("queued_work_is_due", [update(ITEM, "completed_at = NULL", "state = 'completed'")]),
    ("search_documents_follow_records", [update(DOCUMENT, "eligible = NOT eligible")]),
    ("search_documents_follow_records", [update(DOCUMENT, "source_version = 99")]),
    ("search_documents_follow_records", [delete(DOCUMENT, f"relationship_id = {ACTIVE}")]),
    ("sources_have_one_current_revision", [update("evidence_source", "current_revision_id = NULL")]),
    ("sources_have_one_current_revision", [update(REVISION, "previous_id = id", "previous_id IS NOT NULL")]),
    ("sources_have_one_current_revision", [without("sourcerevision_one_chain", REVISION), AGAIN]),
    ("sources_have_one_current_revision", [update("evidence_source", "current_revision_id = (SELECT previous_id FROM evidence_sourcerevision r WHERE r.id = current_revision_id)", "current_revision_id IN (SELECT id FROM evidence_sourcerevision WHERE previous_id IS NOT NULL)")]),
]  # fmt: skip
LAWS: Final = {law.name: law for law in INVARIANTS}


def broken() -> set[str]:
    """Return the names of the laws that do not hold."""
    return {law.name for law in INVARIANTS if list(violations(law))}


class TestInvariants:
    def test_hold_for_what_the_product_wrote(self, forger: None) -> None:
        assert broken() == set()

    @pytest.mark.parametrize(("name", "statements"), PLANTED)
    def test_find_a_planted_violation(self, forger: None, name: str, statements: list[str]) -> None:
        plant(statements)
        assert name in broken()

    def test_are_each_seen_to_find_one(self) -> None:
        assert {name for name, _ in PLANTED} == set(LAWS)

    def test_are_those_of_the_page_but_the_chain_of_hashes(self) -> None:
        assert [law.number for law in INVARIANTS] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]

    @pytest.mark.parametrize("law", INVARIANTS, ids=lambda law: law.name)
    def test_run_with_the_audit(self, forger: None, law: Invariant) -> None:
        (result,) = audit(checks=[law]).checks
        assert (result.name, result.count) == (law.name, 0)
        assert result.compared > 0

    def test_look_at_one_team_alone_when_asked(self, forger: None, sample: Team) -> None:
        other = Team.objects.create(name="Somebody else")
        plant([update(RECORD, "version = version + 1")])
        law = LAWS["records_replay_from_transitions"]
        assert len(list(violations(law, team_id=sample.id))) == 1
        assert list(violations(law, team_id=other.id)) == []
