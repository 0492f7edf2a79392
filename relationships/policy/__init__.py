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
from relationships.policy.standing import (
    Case,
    Standing,
    decide_standing,
    from_support,
    outcome_of,
    reevaluate,
)
from relationships.policy.steps import STEPS, StepRefused, check_standing, check_step

__all__ = [
    "STEPS",
    "Action",
    "Case",
    "Comparison",
    "Position",
    "Standing",
    "StepRefused",
    "check_standing",
    "check_step",
    "closes",
    "compare",
    "competes",
    "cross_reference",
    "decide_standing",
    "effective_at",
    "from_support",
    "outcome_of",
    "reevaluate",
]
