"""Why two things are taken for one or not, and why a mention means what it does ("Identity And Relationships")."""

from placement.explanations.decided import get_identity, list_identities
from placement.explanations.identity import explain_identity
from placement.explanations.mention import explain_mention
from placement.explanations.shapes import DecidedIdentity, IdentityExplained, MentionExplained

__all__ = [
    "DecidedIdentity",
    "IdentityExplained",
    "MentionExplained",
    "explain_identity",
    "explain_mention",
    "get_identity",
    "list_identities",
]
