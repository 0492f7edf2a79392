"""The pure rules of identity: canonical values, and what becomes of a mention ("Entity Identity And Resolution")."""

from entities.policy.forms import Form, asked_forms, kept_forms
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
from entities.policy.values import CanonicalValue, ValueRefused, canonical_value, reads_two_ways

__all__ = [
    "BEARING",
    "Candidate",
    "CandidateNotOffered",
    "CandidatesMoved",
    "CanonicalValue",
    "Form",
    "MentionDecision",
    "Newcomer",
    "ValueRefused",
    "asked_forms",
    "canonical_value",
    "decide_choice",
    "decide_creation",
    "decide_mention",
    "kept_forms",
    "reads_two_ways",
    "settle_group",
]
