"""How records are found by words: search terms, claims in words, and the documents that full text looks in."""

from relationships.search.claims import Claim, EntityEnd, Profile, ValueEnd, claims_of
from relationships.search.documents import follow_records, write_documents
from relationships.search.moments import faults_of_known_at, faults_of_offset
from relationships.search.terms import document_terms, search_terms

__all__ = [
    "Claim",
    "EntityEnd",
    "Profile",
    "ValueEnd",
    "claims_of",
    "document_terms",
    "faults_of_known_at",
    "faults_of_offset",
    "follow_records",
    "search_terms",
    "write_documents",
]
