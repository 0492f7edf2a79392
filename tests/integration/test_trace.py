"""Trace tells why a record is held to be so, down to the exact words."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from drf_spectacular.generators import SchemaGenerator

from densemem.auth import Principal, ScopeMissing
from densemem.core import limits
from densemem.core.faults import NotThere
from evidence.models import Quarantine
from relationships.models import PredicateDefinition
from relationships.trace import get_relationship, trace
from relationships.vocabulary import CrossReferenceKind, LineageKind, Status
from tests import factories
from tests.writing import writing

NOW = datetime(2026, 4, 1, tzinfo=UTC)
SECRET = "The launch code is 0000."

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Any:
    return factories.Team()


@pytest.fixture
def me(team: Any) -> Principal:
    return factories.principal_of(factories.Profile(team=team))


@pytest.fixture
def record(team: Any) -> Any:
    """A claim of somebody else: Mark works on Dense-Mem."""
    return factories.RelationshipRecord(
        team=team,
        subject_entity=factories.Entity(team=team, name="Mark"),
        object_entity=factories.Entity(team=team, name="Dense-Mem"),
    )


class TestTrace:
    def test_rebuilds_evidence_judgment_and_lifecycle_of_a_record(self, record: Any, me: Principal) -> None:
        """Acceptance invariant 9."""
        found = trace(principal=me, relationship_id=record.id)

        (support,) = found.supports.items
        (decision,) = found.support_decisions.items
        (observation,) = found.observations.items
        (judgment,) = found.verifications.items
        (step,) = found.transitions.items
        assert found.relationship.sentence == "Mark works on Dense-Mem"
        assert (support.effective, support.observation_id) == (True, observation.observation_id)
        assert (decision.support_id, decision.action, decision.actor) == (support.support_id, "grant", None)
        assert (observation.wording, observation.outcome) == ("works on", "relationship_validated_claim")
        assert support.verification_id == judgment.verification_id
        assert (judgment.verdict, judgment.confidence) == ("entailed", "high")
        assert judgment.rationale == "The span says it outright."
        assert (step.version, step.status_before, step.status, step.reason) == (1, None, "active", "single_source")

    def test_shows_the_span_letter_for_letter_in_its_surroundings(self, record: Any, me: Principal) -> None:
        (support,) = trace(principal=me, relationship_id=record.id).supports.items

        text = record.supports.get().fragment.content.text
        assert support.passage is not None and support.withheld is None
        assert support.passage.marked == text[support.start : support.end] == "Mark works on Dense-Mem"
        assert support.passage.before + support.passage.marked + support.passage.after == text

    def test_cuts_long_surroundings_in_code_points(self, record: Any, me: Principal) -> None:
        long = factories.Support(relationship=record, text="😀" * 400 + "Mark" + "é" * 400)
        with writing(record.owner_id):
            type(long).objects.bulk_create([_part_of(long, start=400, end=404)])

        support = trace(principal=me, relationship_id=record.id).supports.items[0]

        assert support.passage is not None
        assert support.passage.before == "😀" * limits.TRACE_CONTEXT_CHARS
        assert (support.passage.marked, support.passage.after) == ("Mark", "é" * limits.TRACE_CONTEXT_CHARS)

    def test_names_author_source_revision_and_group_of_the_evidence(self, team: Any, me: Principal) -> None:
        record = factories.RelationshipRecord(team=team, fact=True)

        keyed, unkeyed = trace(principal=me, relationship_id=record.id).supports.items

        assert (unkeyed.evidence.source_key, unkeyed.evidence.revision) == (None, None)
        assert keyed.evidence.source_key is not None and keyed.evidence.revision == "r1"
        assert keyed.evidence.revision_is_current
        assert keyed.evidence.author.profile_id == record.owner_id
        assert keyed.source_group_id != unkeyed.source_group_id

    def test_keeps_a_revoked_support_with_its_history(self, record: Any, me: Principal) -> None:
        support = record.supports.get()
        factories.revoke(support, now=NOW)

        found = trace(principal=me, relationship_id=record.id)

        assert [(s.support_id, s.effective) for s in found.supports.items] == [(support.id, False)]
        assert [d.action for d in found.support_decisions.items] == ["revoke", "grant"]
        assert [(s.version, s.status) for s in found.transitions.items] == [(2, "pending_evidence"), (1, "active")]
        assert found.relationship.status == "pending_evidence"

    @pytest.mark.parametrize("trait", ["pending", "review", "rejected", "retracted", "disputed", "superseded"])
    def test_reaches_what_recall_hides(self, team: Any, me: Principal, trait: str) -> None:
        record = factories.RelationshipRecord(team=team, **{trait: True})

        found = trace(principal=me, relationship_id=record.id)

        assert found.relationship.status == record.status
        assert found.transitions.items[0].status == record.status
        assert found.observations.items

    def test_shows_references_both_ways_with_the_other_record(self, record: Any, me: Principal) -> None:
        """Acceptance invariant 17."""
        other = factories.RelationshipRecord(team=record.team, subject_entity=record.subject_entity)
        factories.CrossReference(source_relationship=other, target_relationship=record)
        factories.CrossReference(
            source_relationship=record, target_relationship=other, kind=CrossReferenceKind.CORRECTS
        )

        for traced, seen in ((record, other), (other, record)):
            met = trace(principal=me, relationship_id=traced.id).references.items
            assert [(r.kind, r.author.profile_id) for r in met] == [
                ("corrects", record.owner_id),
                ("challenges", other.owner_id),
            ]
            assert {r.other.relationship_id for r in met} == {seen.id}

    def test_shows_what_took_whose_place(self, record: Any, me: Principal) -> None:
        older = factories.RelationshipRecord(team=record.team, owner=record.owner, superseded=True)
        factories.Lineage(successor=record, predecessor=older, effective_at=NOW)

        for traced, seen in ((record, older), (older, record)):
            (step,) = trace(principal=me, relationship_id=traced.id).lineage.items
            assert (step.kind, step.successor_id, step.predecessor_id) == (LineageKind.REPLACED, record.id, older.id)
            assert step.other.relationship_id == seen.id

    def test_keeps_the_meaning_that_the_registry_had(self, record: Any, me: Principal) -> None:
        now = trace(principal=me, relationship_id=record.id).meaning
        first = PredicateDefinition.objects.get(team=None, key="works_on", version=1)
        PredicateDefinition.objects.create(
            team=record.team,
            key="works_on",
            version=2,
            active=["toils on"],
            subject_kinds=first.subject_kinds,
            object_kinds=first.object_kinds,
            kind=first.kind,
            cardinality="one",
        )

        assert trace(principal=me, relationship_id=record.id).meaning == now
        assert now.active == tuple(first.active) and "toils on" not in now.active

    def test_shows_an_observation_once_that_was_resolved_again(self, record: Any, me: Principal) -> None:
        seen = record.supports.get().observation
        again = seen.resolutions.get()
        again.pk, again.reason = UUID(int=7), "decided_again"
        with writing(record.owner_id):
            seen.resolutions.model.objects.bulk_create([_without_sequence(again)])

        (observation,) = trace(principal=me, relationship_id=record.id).observations.items

        assert observation.reason == "decided_again"


class TestHeldText:
    @pytest.fixture
    def held(self, team: Any) -> Any:
        """A record whose only text is held."""
        record = factories.RelationshipRecord(team=team, history__text=SECRET)
        factories.Quarantine(fragment=record.supports.get().fragment)
        return record

    def test_is_replaced_by_the_reason(self, held: Any, me: Principal) -> None:
        found = trace(principal=me, relationship_id=held.id)

        (support,), (seen,), (judged,) = found.supports.items, found.observations.items, found.verifications.items
        assert (support.passage, support.withheld) == (None, "held")
        assert (seen.wording, seen.value, seen.withheld) == (None, None, "held")
        assert (judged.rationale, judged.withheld) == (None, "held")

    def test_is_nowhere_in_the_answer(self, client: Any, held: Any) -> None:
        headers = factories.bearer(factories.Profile(team=held.team))

        answer = client.get(f"/api/v1/relationships/{held.id}/trace", headers=headers)

        assert answer.status_code == 200
        assert "launch code" not in answer.content.decode()

    def test_comes_back_when_it_is_released(self, held: Any, me: Principal) -> None:
        fragment = held.supports.get().fragment
        hold = Quarantine.objects.get(fragment=fragment)
        hold.status, hold.released_at = "released", NOW
        hold.save()

        (support,) = trace(principal=me, relationship_id=held.id).supports.items

        assert support.passage is not None and support.passage.marked == SECRET


class TestWhoMayTrace:
    def test_a_record_of_another_team_is_not_there(self, me: Principal) -> None:
        foreign = factories.RelationshipRecord()

        for use in (trace, get_relationship):
            with pytest.raises(NotThere):
                use(principal=me, relationship_id=foreign.id)

    def test_an_unknown_record_is_not_there(self, me: Principal) -> None:
        with pytest.raises(NotThere):
            trace(principal=me, relationship_id=UUID(int=1))

    def test_the_scope_to_read_is_needed(self, record: Any, me: Principal) -> None:
        for use in (trace, get_relationship):
            with pytest.raises(ScopeMissing):
                use(principal=replace(me, scopes=frozenset()), relationship_id=record.id)

    def test_nothing_is_written(self, record: Any, me: Principal) -> None:
        with CaptureQueriesContext(connection) as queries:
            trace(principal=me, relationship_id=record.id)
        assert {query["sql"].lstrip("(").split()[0] for query in queries} == {"SELECT"}


class TestByRest:
    @pytest.fixture
    def headers(self, team: Any) -> dict[str, str]:
        return factories.bearer(factories.Profile(team=team))

    def test_a_record_has_a_tag_of_its_version(self, client: Any, record: Any, headers: dict[str, str]) -> None:
        answer = client.get(f"/api/v1/relationships/{record.id}", headers=headers)

        assert answer.status_code == 200
        assert answer["ETag"] == f'"r{record.id}.v1"'
        assert answer.json()["sentence"] == "Mark works on Dense-Mem"

    @pytest.mark.parametrize("tags", ["{tag}", "W/{tag}", '"other", {tag}', "*"])
    def test_a_record_that_was_seen_is_not_sent_again(
        self, client: Any, record: Any, headers: dict[str, str], tags: str
    ) -> None:
        seen = tags.format(tag=f'"r{record.id}.v1"')

        answer = client.get(f"/api/v1/relationships/{record.id}", headers={**headers, "If-None-Match": seen})

        assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", f'"r{record.id}.v1"')

    def test_a_record_that_changed_is_sent_again(self, client: Any, record: Any, headers: dict[str, str]) -> None:
        old = {**headers, "If-None-Match": f'"r{record.id}.v1"'}
        factories.revoke(record.supports.get(), now=NOW)

        answer = client.get(f"/api/v1/relationships/{record.id}", headers=old)

        assert (answer.status_code, answer.json()["status"]) == (200, Status.PENDING)

    def test_a_trace_has_every_part(self, client: Any, record: Any, headers: dict[str, str]) -> None:
        answer = client.get(f"/api/v1/relationships/{record.id}/trace", headers=headers).json()

        assert set(answer) == {
            "relationship",
            "known_at",
            "meaning",
            "supports",
            "support_decisions",
            "observations",
            "verifications",
            "transitions",
            "references",
            "lineage",
            "conflicts",
        }
        assert (answer["supports"]["count"], answer["supports"]["next"]) == (1, None)
        assert answer["supports"]["items"][0]["passage"]["marked"] == "Mark works on Dense-Mem"

    @pytest.mark.parametrize("number", ["nonsense", "00000000-0000-0000-0000-000000000001", "%00"])
    @pytest.mark.parametrize("part", ["", "/trace"])
    def test_ids_of_no_record_answer_alike(self, client: Any, headers: dict[str, str], number: str, part: str) -> None:
        answer = client.get(f"/api/v1/relationships/{number}{part}", headers=headers)

        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")

    @pytest.mark.parametrize("part", ["", "/trace"])
    def test_unknown_parameters_are_refused(self, client: Any, record: Any, headers: dict[str, str], part: str) -> None:
        answer = client.get(f"/api/v1/relationships/{record.id}{part}?depth=2", headers=headers)

        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/depth")

    @pytest.mark.parametrize("name", ["recall_memory", "trace_memory", "get_relationship"])
    def test_the_schema_names_every_door(self, name: str) -> None:
        document = SchemaGenerator().get_schema(request=None, public=True)

        (door,) = [m for path in document["paths"].values() for m in path.values() if m.get("operationId") == name]
        assert "$ref" in door["responses"]["200"]["content"]["application/json"]["schema"]


def _part_of(support: Any, *, start: int, end: int) -> Any:
    """Return another support by the same text at another span."""
    values = {f.attname: getattr(support, f.attname) for f in support._meta.fields if f.name not in ("id", "seq")}
    return type(support)(**{**values, "start": start, "end": end})


def _without_sequence(row: Any) -> Any:
    """Return a copy that the database numbers anew."""
    return type(row)(**{f.attname: getattr(row, f.attname) for f in row._meta.fields if f.name != "seq"})
