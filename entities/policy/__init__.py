"""The pure rules of identity: canonical values, and what becomes of a mention ("Entity Identity And Resolution")."""

from entities.policy.resolution import (
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
    "Candidate",
    "CandidateNotOffered",
    "CandidatesMoved",
    "CanonicalValue",
    "Membership",
    "MentionDecision",
    "Newcomer",
    "TooManyHops",
    "ValueRefused",
    "canonical_value",
    "decide_choice",
    "decide_creation",
    "decide_mention",
    "reads_two_ways",
    "selves",
    "settle_group",
]
