"""What is held to be so, and why: one file per aggregate."""

from relationships.models.conflict import ConflictCase, ConflictEvent, ConflictPosition, ConflictStatement
from relationships.models.cross_reference import CrossReference, Lineage
from relationships.models.observation import Observation, ObservationResolution, ObservationSpan
from relationships.models.predicate import PredicateDefinition
from relationships.models.record import RelationshipRecord, SemanticEdge
from relationships.models.search_document import SearchDocument
from relationships.models.support import EvidenceSupport, SupportDecision
from relationships.models.transition import Transition
from relationships.models.verification import VerificationEvent

__all__ = [
    "ConflictCase",
    "ConflictEvent",
    "ConflictPosition",
    "ConflictStatement",
    "CrossReference",
    "EvidenceSupport",
    "Lineage",
    "Observation",
    "ObservationResolution",
    "ObservationSpan",
    "PredicateDefinition",
    "RelationshipRecord",
    "SearchDocument",
    "SemanticEdge",
    "SupportDecision",
    "Transition",
    "VerificationEvent",
]
