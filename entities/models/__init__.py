"""The tables of identity: entities and what they are called, resolved mentions, and decisions about who is who."""

from entities.models.entity import Entity, Name, Value
from entities.models.identity import Identifier, IdentityBasis, IdentityDecision, IdentityMember
from entities.models.resolution import ResolutionCandidate, ResolutionEvent

__all__ = [
    "Entity",
    "Identifier",
    "IdentityBasis",
    "IdentityDecision",
    "IdentityMember",
    "Name",
    "ResolutionCandidate",
    "ResolutionEvent",
    "Value",
]
