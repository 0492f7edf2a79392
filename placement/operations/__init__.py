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
from placement.operations.ends import end_failed, end_held, end_quarantined, end_superseded, finish, keep_answers
from placement.operations.intake import Staging, open_run, supersede_items, withdraw_questions

__all__ = [
    "CallReport",
    "Claim",
    "LeaseLost",
    "Staging",
    "claim_next",
    "database_now",
    "end_failed",
    "end_held",
    "end_quarantined",
    "end_superseded",
    "finish",
    "heartbeat",
    "hold",
    "keep_answers",
    "open_run",
    "put_back",
    "report_calls",
    "supersede_items",
    "wake",
    "withdraw_questions",
]
