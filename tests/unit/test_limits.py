"""The committed schemas keep to the limits of the one place that names them all."""

import pytest

from densemem.core import limits
from entities.vocabulary import EntityKind, ValueType
from placement.decision import DECISION, LIFECYCLE, PREDICATE, WORDING
from placement.request import SCHEMA
from relationships.vocabulary import Cardinality, Lifecycle, RelationshipKind

EVIDENCE = SCHEMA["properties"]["evidence"]
FIELDS = EVIDENCE["items"]["properties"]
PROPOSAL = SCHEMA["properties"]["proposal"]["properties"]
ENTITY = PROPOSAL["entities"]["items"]["properties"]


@pytest.mark.parametrize(
    ("schema", "rule", "limit"),
    [
        (EVIDENCE, "maxItems", "EVIDENCE_ITEMS"),
        (FIELDS["content"], "maxLength", "EVIDENCE_CHARS"),
        (FIELDS["source"], "maxLength", "SOURCE_CHARS"),
        (FIELDS["source_key"], "maxLength", "SOURCE_CHARS"),
        (FIELDS["labels"], "maxItems", "LABELS"),
        (FIELDS["labels"]["items"], "maxLength", "LABEL_CHARS"),
        (FIELDS["metadata"], "maxProperties", "METADATA_KEYS"),
        (FIELDS["supersedes_fragment_ids"], "maxItems", "SUPERSEDED_FRAGMENTS"),
        (FIELDS["derived_from_fragment_ids"], "maxItems", "DERIVED_FRAGMENTS"),
        (PROPOSAL["entities"], "maxItems", "ENTITIES"),
        (PROPOSAL["relationships"], "maxItems", "OBSERVATIONS"),
        (ENTITY["name"], "maxLength", "NAME_CHARS"),
        (ENTITY["aliases"], "maxItems", "ALIASES"),
        (ENTITY["identifiers"], "maxItems", "IDENTIFIERS"),
        (ENTITY["identifiers"]["items"]["properties"]["value"], "maxLength", "IDENTIFIER_CHARS"),
        (DECISION["properties"]["message"], "maxLength", "REASON_CHARS"),
        (DECISION["properties"]["fragment_ids"], "maxItems", "EVIDENCE_ITEMS"),
        (PREDICATE["properties"]["aliases"], "maxItems", "ALIASES"),
        (PREDICATE["properties"]["inverse_aliases"], "maxItems", "ALIASES"),
        (PREDICATE["properties"]["aliases"]["items"], "maxLength", "WORDING_CHARS"),
        (PREDICATE["properties"]["inverse_aliases"]["items"], "maxLength", "WORDING_CHARS"),
        (PREDICATE["properties"]["reason"], "maxLength", "REASON_CHARS"),
        (WORDING["properties"]["wording"], "maxLength", "WORDING_CHARS"),
        (WORDING["properties"]["reason"], "maxLength", "REASON_CHARS"),
        (LIFECYCLE["properties"]["reason"], "maxLength", "REASON_CHARS"),
    ],
)
def test_a_schema_allows_as_much_as_its_limit(schema: dict[str, object], rule: str, limit: str) -> None:
    assert schema[rule] == getattr(limits, limit)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (PREDICATE["properties"]["subject_kinds"]["items"], [*EntityKind]),
        (PREDICATE["properties"]["object_kinds"]["items"], [*EntityKind, *ValueType]),
        (PREDICATE["properties"]["relationship_kind"], [*RelationshipKind]),
        (PREDICATE["properties"]["cardinality"], [*Cardinality]),
        (LIFECYCLE["properties"]["state"], [*Lifecycle]),
    ],
)
def test_a_schema_has_the_words_of_its_vocabulary(schema: dict[str, object], words: list[str]) -> None:
    assert schema["enum"] == words
