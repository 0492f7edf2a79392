"""Derived text for recall; it can always be built again."""

from typing import ClassVar

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.rows import TeamRow, one_per_team
from relationships.vocabulary import SearchState


class SearchDocument(TeamRow):
    """What full text finds a record by. `terms` are our own search terms; `eligible` follows the record."""

    relationship = TeamKey("relationships.RelationshipRecord", related_name="search_documents")
    source_version = models.PositiveIntegerField()
    document_version = models.PositiveIntegerField(default=1)
    text = models.TextField()
    terms = SearchVectorField()
    eligible = models.BooleanField()
    search_state = word(SearchState, default=SearchState.NOT_REQUIRED)
    written_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            one_per_team("searchdocument"),
            word_check("searchdocument", "search_state", SearchState),
            models.UniqueConstraint(name="searchdocument_of_record", fields=["team", "relationship"]),
        ]
        indexes: ClassVar = [GinIndex(name="searchdocument_terms", fields=["terms"])]
