"""Why two things are taken for one or not, and why a mention means what it does ("Identity And Relationships")."""

from placement.explanations.identity import explain_identity
from placement.explanations.mention import explain_mention
from placement.explanations.shapes import IdentityExplained, MentionExplained

__all__ = ["IdentityExplained", "MentionExplained", "explain_identity", "explain_mention"]
