"""The language model of one vendor, by its SDK: fixed text in, one raw text out, no tools ("Memory Write Pipeline").

The vendor is asked for JSON by a reduced form of our schema, which its grammar can enforce; what comes back is judged
by the whole schema elsewhere. Retries belong to the pipeline, so the SDK makes none.
"""

import math
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import anthropic
import httpx2
from anthropic.types import MessageParam, OutputConfigParam, RawMessageStreamEvent

from densemem.core import limits
from densemem.providers.base import Answer, Call, ProviderUnavailable, Role, Turn, Usage
from densemem.providers.line import Line, LineTooLong

KEPT: Final = frozenset({"type", "enum", "const", "properties", "required", "items", "additionalProperties"})
ENDED: Final = frozenset({"end_turn", "max_tokens", "model_context_window_exceeded"})
REASONS: Final = {
    400: "request_refused",
    401: "unauthorized",
    403: "unauthorized",
    404: "model_unknown",
    408: "timeout",
    409: "busy",
    413: "request_too_large",
    429: "rate_limited",
    504: "timeout",
    529: "overloaded",
}
STREAM_REASONS: Final = {
    "invalid_request_error": "request_refused",
    "authentication_error": "unauthorized",
    "permission_error": "unauthorized",
    "not_found_error": "model_unknown",
    "request_too_large": "request_too_large",
    "rate_limit_error": "rate_limited",
    "overloaded_error": "overloaded",
    "timeout_error": "timeout",
}
LASTING: Final = frozenset({"request_refused", "unauthorized", "model_unknown", "request_too_large"})


class Claude:
    """One model behind the Messages API; every call has a connection of its own, so threads share nothing."""

    name = "anthropic"

    def __init__(self, *, api_key: str, model: str, base_url: str = "") -> None:
        """Take key, model and, for a gateway, another base URL."""
        self.model = model
        self._tls = ssl.create_default_context()
        self._client = anthropic.Anthropic(
            api_key=api_key, base_url=base_url or None, max_retries=0, open_telemetry=False
        )

    def complete(self, call: Call) -> Answer:
        """Return the model's whole answer within `call.seconds_max`, counted from now to the last byte.

        :raises ProviderUnavailable: see `REASONS`; also timeout, unreachable, reset, refused, empty, broken, too_large
        :raises ValueError: the last turn is not the user's: the model would continue a text instead of answering
        """
        if not call.turns or call.turns[-1].role is not Role.USER:
            raise ValueError("a conversation ends with a turn of the user")
        line = Line(seconds=call.seconds_max, tls=self._tls)
        with _translated(line), line as client:
            return self._answered(call, self._client.with_options(http_client=client, timeout=call.seconds_max))

    def _answered(self, call: Call, client: anthropic.Anthropic) -> Answer:
        """Return what one streamed call says, once it is complete."""
        told = _Told()
        stream = client.messages.create(
            model=self.model,
            max_tokens=limits.ANSWER_TOKENS,
            system=call.system,
            messages=[_message(turn) for turn in call.turns],
            output_config=OutputConfigParam(format={"type": "json_schema", "schema": reduced(call.schema)}),
            stream=True,
        )
        with stream:
            _listen(stream, told)
        return told.answer(default_model=self.model)


def reduced(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a schema that the vendor's grammar knows: shapes, enums, closed objects; no sizes, no ifs."""
    kept = {key: value for key, value in schema.items() if key in KEPT}
    if "properties" in kept:
        kept["properties"] = {name: reduced(inner) for name, inner in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = reduced(kept["items"])
    return kept


def _message(turn: Turn) -> MessageParam:
    """Return a turn in the vendor's shape."""
    if turn.role is Role.USER:
        return {"role": "user", "content": turn.text}
    return {"role": "assistant", "content": turn.text}


@dataclass(slots=True)
class _Told:
    """What a stream has said so far; its text never outgrows the limit."""

    parts: list[str] = field(default_factory=list)
    size: int = 0
    model: str = ""
    stop: str | None = None
    complete: bool = False
    tokens_in: int = 0
    tokens_out: int = 0

    def hear(self, event: RawMessageStreamEvent) -> None:
        """Take one event; kinds that carry neither text nor usage are passed over."""
        if event.type == "message_start":
            self.model, self.tokens_in = event.message.model, event.message.usage.input_tokens
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            self._add(event.delta.text)
        elif event.type == "message_delta":
            self.stop, self.tokens_out = event.delta.stop_reason, event.usage.output_tokens
        elif event.type == "message_stop":
            self.complete = True

    def _add(self, text: str) -> None:
        """Keep a piece of text, or refuse the answer as soon as it is too large."""
        self.size += len(text.encode("utf-8"))
        if self.size > limits.ANSWER_BYTES:
            raise ProviderUnavailable("too_large")
        self.parts.append(text)

    def answer(self, *, default_model: str) -> Answer:
        """Return the whole answer, or say why there is none and what it cost."""
        text = "".join(self.parts)
        model = str(self.model or default_model)
        usage = Usage(tokens_in=int(self.tokens_in), tokens_out=int(self.tokens_out))
        if missing := self._missing(text):
            raise ProviderUnavailable(missing, model=model, usage=usage)
        return Answer(text=text, model=model, usage=usage, truncated=self.stop != "end_turn")

    def _missing(self, text: str) -> str:
        """Return why this is no whole answer, or nothing."""
        if self.stop == "refusal":
            return "refused"
        if not self.complete or self.stop not in ENDED:
            return "broken"
        return "" if text.strip() else "empty"


def _listen(stream: anthropic.Stream[RawMessageStreamEvent], told: _Told) -> None:
    """Hear a stream to its end.

    :raises ProviderUnavailable: `broken` for events that are none, `too_large` for too much text
    """
    try:
        for event in stream:
            told.hear(event)
    except (ValueError, AttributeError, TypeError) as error:
        # The SDK builds events without checking them, so a malformed one surfaces as a missing or foreign attribute.
        raise ProviderUnavailable("broken") from error


@contextmanager
def _translated(line: Line) -> Iterator[None]:
    """Turn everything that can go wrong on the wire into `ProviderUnavailable`; a passed deadline explains the rest."""
    try:
        yield
    except anthropic.APIStatusError as error:
        raise (ProviderUnavailable("timeout") if line.cut else _by_status(error)) from None
    except (anthropic.APITimeoutError, httpx2.TimeoutException):
        raise ProviderUnavailable("timeout") from None
    except LineTooLong:
        raise ProviderUnavailable("too_large") from None
    except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
        raise ProviderUnavailable("timeout" if line.cut else _by_cause(error)) from None
    except (anthropic.AnthropicError, httpx2.StreamError):
        raise ProviderUnavailable("timeout" if line.cut else "broken") from None


def _by_cause(error: Exception) -> str:
    """Return the word for a connection that failed: never made, or lost."""
    cause = error.__cause__ or error
    if isinstance(cause, LineTooLong):
        return "too_large"
    return "unreachable" if isinstance(cause, httpx2.ConnectError) else "reset"


def _by_status(error: anthropic.APIStatusError) -> ProviderUnavailable:
    """Return the refusal for an HTTP error, or for an error told inside a stream that began well."""
    known = REASONS.get(error.status_code) or STREAM_REASONS.get(str(error.type))
    reason = known or ("server_error" if error.status_code >= 500 or error.status_code < 400 else "request_refused")
    wait = _retry_after(error.response.headers, now=datetime.now(UTC))
    return ProviderUnavailable(reason, retry_after=wait, lasting=reason in LASTING)


def _retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Return the seconds that the other side asks us to wait, given as a number or a date; None when it does not."""
    given = headers.get("retry-after", "")
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(given) - now).total_seconds()
        except (ValueError, TypeError):  # TypeError: a date without a zone
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
