"""Factories: the smallest legal rows of every app, consistent with the laws of the tables.

Rows of one test belong together by passing `team` on: `Fragment(team=team)` makes its author inside that team.
"""

from tests.factories.access import AccessToken, Membership, Profile, Team, User, bearer, principal_of
from tests.factories.entities import Entity, Identifier, Name, Value
from tests.factories.evidence import (
    Content,
    Fragment,
    Ingest,
    Quarantine,
    Source,
    SourceGroup,
    SourceRevision,
)
from tests.factories.placement import Item, Run
from tests.factories.relationships import (
    CrossReference,
    Lineage,
    Observation,
    RelationshipRecord,
    Support,
    adopted,
    revoke,
)

__all__ = [
    "AccessToken",
    "Content",
    "CrossReference",
    "Entity",
    "Fragment",
    "Identifier",
    "Ingest",
    "Item",
    "Lineage",
    "Membership",
    "Name",
    "Observation",
    "Profile",
    "Quarantine",
    "RelationshipRecord",
    "Run",
    "Source",
    "SourceGroup",
    "SourceRevision",
    "Support",
    "Team",
    "User",
    "Value",
    "adopted",
    "bearer",
    "principal_of",
    "revoke",
]
