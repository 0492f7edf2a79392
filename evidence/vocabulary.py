"""The closed words of evidence: where text came from, and what was seen in it."""

from enum import StrEnum
from typing import Final


class SourceType(StrEnum):
    """Where a text comes from; says nothing about authority or independence."""

    CONVERSATION = "conversation"
    DOCUMENT = "document"
    OBSERVATION = "observation"
    MANUAL = "manual"


class Authority(StrEnum):
    """What the sender claims about a text; `authoritative` needs a grant."""

    AUTHORITATIVE = "authoritative"
    PRIMARY = "primary"
    SECONDARY = "secondary"
    INFERRED = "inferred"
    UNKNOWN = "unknown"


class SignalKind(StrEnum):
    """The six families of suspected control text."""

    ROLE_CONTROL_SPOOFING = "role_control_spoofing"
    INSTRUCTION_OVERRIDE = "instruction_override"
    PROMPT_SECRET_EXTRACTION = "prompt_secret_extraction"
    TOOL_EXFILTRATION = "tool_exfiltration"
    OBFUSCATED_INSTRUCTION = "obfuscated_instruction"
    HIDDEN_CONTROL_MARKUP = "hidden_control_markup"


class Severity(StrEnum):
    """How strongly one signal speaks."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class ScanDecision(StrEnum):
    """What the deterministic scan decides about one text."""

    PASS = "pass"
    GUARDED = "guarded"
    QUARANTINE = "quarantine"


class SecurityEventKind(StrEnum):
    """Who raised a security event."""

    SCAN = "deterministic_scan"
    REVIEWER = "reviewer_signal"
    VERIFIER = "verifier_signal"
    RELEASE = "quarantine_release"
    MANAGER = "manager_quarantine"


class SecurityDecision(StrEnum):
    """What a security event decided."""

    PASS = "pass"
    GUARDED = "guarded"
    QUARANTINE = "quarantine"
    RELEASED = "released"


class QuarantineStatus(StrEnum):
    """Whether a held text is still held."""

    ACTIVE = "active"
    RELEASED = "released"


class GroupKind(StrEnum):
    """What makes a source group: a keyed source, one owner's unkeyed texts, or a client's hint."""

    SOURCE = "source"
    OWNER = "owner"
    HINT = "hint"


class JoinReason(StrEnum):
    """Why a text is no voice beside another source group; `traced`: what it repeats goes back to that group."""

    HINT = "hint"
    SAME_TEXT = "same_text"
    NEAR_COPY = "near_copy"
    ECHO = "echo"
    DERIVED = "derived"
    TRACED = "traced"


# These bind the whole source group of the text that shows them, the others that text alone.
BINDING: Final = (JoinReason.HINT, JoinReason.SAME_TEXT, JoinReason.NEAR_COPY)


class WordingKind(StrEnum):
    """Which copied words a side row holds."""

    SURFACE = "surface"
    PREDICATE = "predicate"
    RATIONALE = "rationale"
    VALUE = "value"
