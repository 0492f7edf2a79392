"""Everything that one item writes, decided before the first row ("Memory Write Pipeline", stages 8 and 9). Pure."""

from placement.plan.given import Bound, Given, Ready, Target, ready
from placement.plan.identifiers import stated_identifiers
from placement.plan.knowledge import Held, KnowledgeDecided, decide_knowledge, wording_subject
from placement.plan.mentions import MentionsDecided, decide_mentions, wanted_names
from placement.plan.proposed import rows_naming

__all__ = [
    "Bound",
    "Given",
    "Held",
    "KnowledgeDecided",
    "MentionsDecided",
    "Ready",
    "Target",
    "decide_knowledge",
    "decide_mentions",
    "ready",
    "rows_naming",
    "stated_identifiers",
    "wanted_names",
    "wording_subject",
]
