"""One conversation with a model: the same question until an answer is valid as a whole ("Memory Write Pipeline").

Tries that bring no complete answer are telemetry of the transport; they count apart from the answers.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.conf import settings

from densemem.core import limits
from densemem.providers.base import Answer, Call, Provider, ProviderUnavailable, Role, Stage, Turn
from densemem.providers.prices import cost_micros
from placement import contract
from placement.operations import CallReport
from placement.policy import backoff
from placement.vocabulary import AttemptOutcome

Result = TypeVar("Result")


class AnswersExhausted(Exception):
    """The model gave no valid answer within the allowed number of whole answers.

    :param truncated: the last one was cut off at the output limit
    """

    def __init__(self, stage: Stage, *, truncated: bool) -> None:
        super().__init__(f"{stage}_answers_{'truncated' if truncated else 'invalid'}")


def converse(
    provider: Provider,
    stage: Stage,
    request: Mapping[str, Any],
    read: Callable[[str], Result],
    calls: list[CallReport],
) -> tuple[Result, Answer]:
    """Ask until an answer is valid as a whole; each invalid one goes back, with its faults, in the same conversation.

    :raises AnswersExhausted: none of the allowed answers was valid
    :raises ProviderUnavailable: no complete answer came within the allowed tries
    """
    schema = contract.EXTRACTION if stage is Stage.EXTRACT else contract.VERIFIER_RESPONSE
    system = contract.prompt("reviewer" if stage is Stage.EXTRACT else "verifier")
    turns: tuple[Turn, ...] = (Turn(Role.USER, _as_text(request)),)
    for number in range(1, limits.ANSWERS + 1):
        call = Call(stage, system, turns, schema, float(limits.CALL_SECONDS))
        answer, spent = _ask(provider, call, number, calls)
        try:
            if answer.truncated:
                raise contract.AnswerRefused([contract.TRUNCATED])
            result = read(answer.text)
        except contract.AnswerRefused as refused:
            code, count = refused.faults[0].code, len(refused.faults)
            calls.append(_report(call, number, AttemptOutcome.INVALID, spent, answer, code=code, faults=count))
            reply = Turn(Role.USER, contract.correction_turn(refused.faults))
            turns = (*turns, Turn(Role.MODEL, answer.text or "(empty)"), reply)
            continue
        calls.append(_report(call, number, AttemptOutcome.VALID, spent, answer))
        return result, answer
    raise AnswersExhausted(stage, truncated=answer.truncated)


def _as_text(request: Mapping[str, Any]) -> str:
    """Return a request as JSON; the same request reads the same."""
    return json.dumps(request, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _ask(provider: Provider, call: Call, number: int, calls: list[CallReport]) -> tuple[Answer, int]:
    """Repeat one call while the other side is away, within the bounds on tries and time."""
    began = time.monotonic()
    for tries in range(1, limits.TRANSPORT_TRIES + 1):
        started = time.monotonic()
        try:
            answer = provider.complete(call)
            return answer, _since(started)
        except ProviderUnavailable as away:
            calls.append(_report(call, number, AttemptOutcome.UNAVAILABLE, _since(started), away, code=away.reason))
            wait = away.retry_after if away.retry_after is not None else backoff(tries=tries, chance=1).seconds
            late = time.monotonic() - began + wait > limits.TRANSPORT_SECONDS
            if away.lasting or tries == limits.TRANSPORT_TRIES or late:
                raise
            time.sleep(wait)
    raise AssertionError("unreachable")


def _since(started: float) -> int:
    """Return the milliseconds since a moment of the monotonic clock."""
    return int((time.monotonic() - started) * 1000)


def _report(
    call: Call,
    number: int,
    outcome: AttemptOutcome,
    spent: int,
    told: Answer | ProviderUnavailable,
    *,
    code: str = "",
    faults: int = 0,
) -> CallReport:
    return CallReport(
        stage=call.stage.value,
        number=number,
        outcome=outcome,
        milliseconds=spent,
        code=code,
        faults=faults,
        model=told.model,
        tokens_in=told.usage.tokens_in,
        tokens_out=told.usage.tokens_out,
        cost_micros=cost_micros(told.usage, model=told.model, prices=settings.MODEL_PRICES),
    )
