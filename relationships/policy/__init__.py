"""The pure rules of a Relationship's life ("Relationship Model And Lifecycle"): standing, steps and comparing."""

from relationships.policy.compare import (
    Action,
    Comparison,
    Position,
    closes,
    compare,
    competes,
    cross_reference,
    effective_at,
)
from relationships.policy.reattribution import (
    Arrival,
    Departure,
    Home,
    Place,
    QuestionsOpen,
    Reattribution,
    moved_to,
    place_of,
    reason_of,
    reattribute,
)
from relationships.policy.registry import PredicateView
from relationships.policy.standing import (
    Case,
    Standing,
    decide_standing,
    from_support,
    is_taken_out,
    outcome_of,
    reevaluate,
)
from relationships.policy.steps import STEPS, StepRefused, check_standing, check_step
from relationships.policy.stored import Behaviour, StoredRecord, StoredSupport

__all__ = [
    "STEPS",
    "Action",
    "Arrival",
    "Behaviour",
    "Case",
    "Comparison",
    "Departure",
    "Home",
    "Position",
    "Place",
    "PredicateView",
    "QuestionsOpen",
    "Reattribution",
    "Standing",
    "StepRefused",
    "StoredRecord",
    "StoredSupport",
    "check_standing",
    "check_step",
    "closes",
    "compare",
    "competes",
    "cross_reference",
    "decide_standing",
    "effective_at",
    "from_support",
    "is_taken_out",
    "moved_to",
    "outcome_of",
    "place_of",
    "reason_of",
    "reattribute",
    "reevaluate",
]
