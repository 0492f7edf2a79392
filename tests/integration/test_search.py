"""Search documents follow their records."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.postgres.search import SearchQuery

from relationships.models import SearchDocument
from relationships.search import write_documents
from relationships.vocabulary import Status
from tests import factories
from tests.writing import writing

NOW = datetime(2026, 4, 1, tzinfo=UTC)


def document_of(record: Any) -> SearchDocument:
    return SearchDocument.objects.get(relationship=record)


def finds(words: str, *, config: str = "english") -> bool:
    return SearchDocument.objects.filter(terms=SearchQuery(words, config=config)).exists()


@pytest.mark.django_db
class TestWriteDocuments:
    def test_puts_the_claim_into_a_sentence(self) -> None:
        team = factories.Team()
        record = factories.RelationshipRecord(
            team=team,
            subject_entity=factories.Entity(team=team, name="Mark"),
            object_entity=factories.Entity(team=team, name="Dense-Mem"),
        )

        document = document_of(record)

        assert document.text == "Mark works on Dense-Mem"
        assert (document.eligible, document.source_version, document.document_version) == (True, record.version, 1)

    @pytest.mark.parametrize("words", ["Marcus", "working", "densemem", "DENSE"])
    def test_makes_aliases_inflections_and_compounds_findable(self, words: str) -> None:
        team = factories.Team()
        factories.RelationshipRecord(
            team=team,
            subject_entity=factories.Entity(team=team, name="Mark", name__aliases=["Marcus"]),
            object_entity=factories.Entity(team=team, name="Dense-Mem"),
        )

        assert finds(words)

    def test_makes_the_registered_wordings_of_the_predicate_findable(self) -> None:
        factories.RelationshipRecord(predicate_key="works_for")

        assert finds("employed")

    def test_makes_names_findable_that_english_would_drop(self) -> None:
        team = factories.Team()
        factories.RelationshipRecord(team=team, subject_entity=factories.Entity(team=team, name="Will"))

        assert finds("will", config="simple")

    def test_makes_values_findable_by_display_and_unit(self) -> None:
        team = factories.Team()
        value = factories.Value(team=team, type="number", display="12", unit="gigabyte")
        record = factories.RelationshipRecord(team=team, object_value=value)

        assert finds("gigabytes") and finds("12")
        assert document_of(record).text.endswith("works on 12")

    @pytest.mark.parametrize("trait", ["pending", "review", "rejected", "quarantined", "retracted", "disputed"])
    def test_marks_hidden_records_as_not_eligible(self, trait: str) -> None:
        assert not document_of(factories.RelationshipRecord(**{trait: True})).eligible

    def test_follows_the_record_without_a_new_document_version_while_the_text_stays(self) -> None:
        record = factories.RelationshipRecord()
        record.status, record.version = Status.RETRACTED, 2
        with writing(record.owner_id):
            record.save()

        write_documents(team_id=record.team_id, record_ids=[record.id], now=NOW)

        document = document_of(record)
        assert (document.eligible, document.source_version, document.document_version) == (False, 2, 1)

    def test_counts_a_new_document_version_when_the_text_changes(self) -> None:
        record = factories.RelationshipRecord()
        SearchDocument.objects.filter(relationship=record).update(text="older words")

        write_documents(team_id=record.team_id, record_ids=[record.id], now=NOW)

        assert document_of(record).document_version == 2

    def test_writes_nothing_for_records_of_another_team(self) -> None:
        record = factories.RelationshipRecord()
        SearchDocument.objects.all().delete()

        write_documents(team_id=factories.Team().id, record_ids=[record.id], now=NOW)

        assert not SearchDocument.objects.exists()

    @pytest.mark.parametrize("count", [1, 6])
    def test_costs_five_queries_for_any_number_of_records(self, count: int, django_assert_num_queries: Any) -> None:
        team = factories.Team()
        records = factories.RelationshipRecord.create_batch(count, team=team)

        with django_assert_num_queries(5):
            write_documents(team_id=team.id, record_ids=[r.id for r in records], now=NOW)
