"""Filters that put the closed words of knowledge into sentences."""

from typing import Final

from django import template

from relationships.pages import reasons

register = template.Library()
DECISIONS: Final = {"grant": "Granted", "revoke": "Revoked", "reinstate": "Reinstated"}
TIERS: Final = {"candidate": "Candidate", "validated_claim": "Claim", "fact": "Fact"}


@register.filter
def reason_in_words(code: str) -> str:
    """Return a reason code as words."""
    return reasons.in_words(code)


@register.filter
def status_in_words(status: str) -> str:
    """Return what a status means."""
    return reasons.STATUS[status]


@register.filter
def verdict_in_words(verdict: str) -> str:
    """Return what a verdict means."""
    return reasons.VERDICT[verdict]


@register.filter
def tier_in_words(tier: str) -> str:
    """Return a tier as its word."""
    return TIERS[tier]


@register.filter
def decision_in_words(action: str) -> str:
    """Return a decision about a support as its word."""
    return DECISIONS[action]
