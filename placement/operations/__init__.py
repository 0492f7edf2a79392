"""Writes of placement: intake rows, claims, and the ends of an item. The database clock times every lease."""

from placement.operations.claims import (
    CallReport,
    Claim,
    LeaseLost,
    claim_next,
    database_now,
    heartbeat,
    hold,
    put_back,
    report_calls,
    wake,
)
from placement.operations.ends import (
    HELD,
    end_failed,
    end_held,
    end_quarantined,
    end_superseded,
    finish,
    keep_extraction,
    keep_verification,
    set_aside,
    settle,
)
from placement.operations.intake import Staging, lock_items, open_run, supersede_items, withdraw_questions
from placement.operations.steps import ask_for_release, end, requeue

__all__ = [
    "HELD",
    "CallReport",
    "Claim",
    "LeaseLost",
    "Staging",
    "ask_for_release",
    "claim_next",
    "database_now",
    "end",
    "end_failed",
    "end_held",
    "end_quarantined",
    "end_superseded",
    "finish",
    "heartbeat",
    "hold",
    "keep_extraction",
    "keep_verification",
    "lock_items",
    "open_run",
    "put_back",
    "report_calls",
    "requeue",
    "set_aside",
    "settle",
    "supersede_items",
    "wake",
    "withdraw_questions",
]
