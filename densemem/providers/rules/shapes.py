"""The small frozen things that the rules hand to each other. Offsets are code points, half-open."""

from dataclasses import dataclass, field
from enum import StrEnum


class Gate(StrEnum):
    """The tests a finding passes in this order; the name of the first one failed goes into the rationale."""

    SPANS = "literal_spans"
    SENTENCE = "one_sentence"
    KINDS = "kinds"
    PATTERN = "pattern"
    FORM = "verb_form"
    CONTEXT = "context"
    VETO = "local_veto"
    LEAD = "lead"
    TAIL = "tail"
    QUOTED = "quoted"
    CODE = "code"
    HEADING = "list_under_heading"
    QUESTION = "question"
    RETRACTED = "next_sentence"
    SCOPE = "scope"
    MODALITY = "modality"
    TENSE = "tense"
    VALIDITY = "validity"
    POLARITY = "polarity"


@dataclass(frozen=True, slots=True)
class Mention:
    """A literal name; `kinds` are the kinds it may have and `sure` says that they do not come from its shape alone."""

    start: int
    end: int
    surface: str
    kinds: frozenset[str]
    sure: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """A literal value with its type and its normalised form."""

    start: int
    end: int
    surface: str
    type: str
    value: str
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of text that no pattern may cross."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One relation that a pattern saw, in the registry's active sense, with the first gate it failed."""

    key: str
    wording: str
    subject: Mention
    object: Mention | Value
    sentence: Sentence
    verb: tuple[int, int]
    end: int
    negative: bool = False
    ended: bool = False
    valid_from: str | None = None
    valid_to: str | None = None
    scope: str | None = None
    gate: Gate | None = None
    kinds: tuple[str, str | None] = field(default=("other", None))
