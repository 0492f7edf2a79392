"""Model answers are accepted whole or not at all ("Strict Verifier Contract", "Regeneration, not repair").

Pure: a text and the request it answers go in, a typed result comes out, or `AnswerRefused` with every fault that was
found. Nothing is repaired, coerced, renamed or defaulted; the faults go back to the model, which answers anew.
"""

from densemem.core.faults import Fault
from placement.contract.extraction import Draft, Extraction, Mention, ValueDraft, read_extraction
from placement.contract.faults import TRUNCATED, AnswerRefused, correction_turn, first, pointer
from placement.contract.grounds import Signal
from placement.contract.sentences import sentence
from placement.contract.strict import (
    EXTRACTION,
    EXTRACTION_REQUEST,
    VERIFIER_REQUEST,
    VERIFIER_RESPONSE,
    check_request,
    prompt,
)
from placement.contract.verification import Accepts, EntityResult, ObservationResult, Verification, read_verification

__all__ = [
    "EXTRACTION",
    "EXTRACTION_REQUEST",
    "TRUNCATED",
    "VERIFIER_REQUEST",
    "VERIFIER_RESPONSE",
    "Accepts",
    "AnswerRefused",
    "Draft",
    "EntityResult",
    "Extraction",
    "Fault",
    "Mention",
    "ObservationResult",
    "Signal",
    "ValueDraft",
    "Verification",
    "check_request",
    "correction_turn",
    "first",
    "pointer",
    "prompt",
    "read_extraction",
    "read_verification",
    "sentence",
]
