"""What the product asks of a model, and nothing about who answers.

A provider gets a fixed system text and a conversation and returns one raw text: it never parses, repairs or judges.
The first turn is always the canonical JSON of one request (see `placement/schemas`); later turns are the model's own
invalid answers and the exact faults that were found in them ("Memory Write Pipeline", regeneration, not repair).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol, runtime_checkable


class Stage(StrEnum):
    """Which of the two fixed tasks a call belongs to."""

    EXTRACT = "extract"
    VERIFY = "verify"


class Role(StrEnum):
    """Who speaks in a turn."""

    USER = "user"
    MODEL = "assistant"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One question to a model; `schema` is the closed JSON Schema that the answer will be judged by."""

    stage: Stage
    system: str
    turns: tuple[Turn, ...]
    schema: Mapping[str, Any]
    seconds_max: float = 60.0


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call cost, in tokens."""

    tokens_in: int = 0
    tokens_out: int = 0


NOTHING_USED: Final = Usage()


@dataclass(frozen=True, slots=True)
class Answer:
    """The raw text of one complete answer; `truncated` means that the model stopped at its output limit."""

    text: str
    model: str
    usage: Usage = field(default_factory=Usage)
    truncated: bool = False


class ProviderUnavailable(Exception):
    """No complete answer came ("Decisions", transport failures).

    :param reason: one word for telemetry, such as `timeout`, `rate_limited`, `refused`, `too_large`, `reset`
    :param retry_after: seconds that the other side asked us to wait, or None
    :param lasting: no wait can mend it, such as a wrong key: the same call is not repeated
    :param model: who was asked, where the other side said so
    :param usage: what the call cost all the same
    """

    def __init__(
        self,
        reason: str,
        *,
        retry_after: float | None = None,
        lasting: bool = False,
        model: str = "",
        usage: Usage = NOTHING_USED,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        self.lasting = lasting
        self.model = model
        self.usage = usage


@runtime_checkable
class Provider(Protocol):
    """Answers reviewer and verifier calls; must be safe to share between threads."""

    name: str

    def complete(self, call: Call) -> Answer:
        """Return the model's whole answer to the last turn.

        :raises ProviderUnavailable: the other side gave no complete answer
        """
        ...
