"""The pure rules of identity: canonical values, and what becomes of a mention ("Entity Identity And Resolution")."""

from entities.policy.beside import Stated, stated_at, stated_beside
from entities.policy.forms import Form, asked_forms, kept_forms
from entities.policy.identifiers import (
    CanonicalIdentifier,
    IdentifierRefused,
    canonical_identifier,
    differing_schemes,
    is_exclusive,
)
from entities.policy.resolution import (
    BEARING,
    Candidate,
    CandidateNotOffered,
    CandidatesMoved,
    MentionDecision,
    Newcomer,
    decide_choice,
    decide_creation,
    decide_mention,
    settle_group,
)
from entities.policy.selves import Membership, TooManyHops, selves
from entities.policy.values import CanonicalValue, ValueRefused, canonical_value, reads_two_ways

__all__ = [
    "BEARING",
    "Candidate",
    "CandidateNotOffered",
    "CandidatesMoved",
    "CanonicalIdentifier",
    "CanonicalValue",
    "IdentifierRefused",
    "Membership",
    "Form",
    "MentionDecision",
    "Newcomer",
    "Stated",
    "TooManyHops",
    "ValueRefused",
    "canonical_identifier",
    "asked_forms",
    "canonical_value",
    "decide_choice",
    "decide_creation",
    "decide_mention",
    "differing_schemes",
    "is_exclusive",
    "kept_forms",
    "reads_two_ways",
    "selves",
    "settle_group",
    "stated_at",
    "stated_beside",
]
