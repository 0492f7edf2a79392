"""The way of one item through the models ("Memory Write Pipeline", stages 4-9).

Models are asked outside any transaction; everything is decided before the first row; one commit, fenced by the lease.
"""

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import DatabaseError, connection

from densemem.core import limits
from densemem.core.canonical import canonical_json
from densemem.providers.base import Answer, Call, Provider, ProviderUnavailable, Role, Stage, Turn
from entities.policy import CandidatesMoved
from evidence.queries import get_fragment, is_current, is_quarantined, signals_of
from evidence.vocabulary import SecurityEventKind
from placement import contract, offers
from placement.commit import Accepted, commit
from placement.context import extraction_request, verifier_request
from placement.operations import (
    CallReport,
    Claim,
    LeaseLost,
    end_failed,
    end_held,
    end_quarantined,
    end_superseded,
    heartbeat,
    put_back,
    report_calls,
)
from placement.policy import backoff
from placement.queries import proposal_of
from placement.vocabulary import AttemptOutcome

log = logging.getLogger(__name__)
Result = TypeVar("Result")


class AnswersExhausted(Exception):
    """The model gave no valid answer within the allowed number of whole answers."""


def place(claim: Claim, provider: Provider) -> None:
    """Bring one claimed item to its end, or put it back. Raises only when the database is away."""
    calls: list[CallReport] = []
    try:
        _place_or_put_back(claim, provider, calls)
    except LeaseLost:
        log.info("lease lost: item %s", claim.item_id)
    finally:
        report_calls(claim, calls)


def _place_or_put_back(claim: Claim, provider: Provider, calls: list[CallReport]) -> None:
    try:
        with _lease_kept(claim):
            _place(claim, provider, calls)
    except LeaseLost:
        raise
    except CandidatesMoved:
        put_back(claim, reason="candidates_moved", uncounted=True)
    except ProviderUnavailable as away:
        put_back(claim, reason=f"provider_{away.reason}")
    except AnswersExhausted as refused:
        end_failed(claim, reason=f"{refused}_answers_invalid")
    except Exception as fault:
        # Its message may hold words of the evidence: only its type is logged.
        log.error("internal error: item %s: %s", claim.item_id, _kind_of(fault))
        put_back(claim, reason="internal_error")


def _kind_of(fault: Exception) -> str:
    """Return the type of a fault, with the code that the database gives; nothing of its message."""
    code = getattr(fault.__cause__, "sqlstate", None)
    return f"{type(fault).__qualname__} {code}" if code else type(fault).__qualname__


def _place(claim: Claim, provider: Provider, calls: list[CallReport]) -> None:
    fragment = get_fragment(team_id=claim.team_id, fragment_id=claim.fragment_id)
    if _ended_before(claim):
        return
    signals = signals_of(team_id=claim.team_id, fragment_id=fragment.id) if claim.guarded else []
    # What a guarded text's sender proposes is not shown to the models.
    proposal = {} if claim.guarded else proposal_of(team_id=claim.team_id, item_id=claim.item_id)
    asked = extraction_request(fragment, proposal=proposal, signals=signals, request_id=f"extract_{claim.token.hex}")
    extraction, _ = converse(
        provider,
        Stage.EXTRACT,
        asked,
        lambda text: contract.read_extraction(text, request=asked, check_value=offers.check_value),
        calls,
    )
    if extraction.signals:
        _quarantine(claim, SecurityEventKind.REVIEWER, extraction.signals)
        return
    offer = offers.make(fragment, extraction)
    question = verifier_request(fragment, extraction, offer, signals=signals, request_id=f"verify_{claim.token.hex}")
    verification, answer = converse(
        provider,
        Stage.VERIFY,
        question,
        lambda text: contract.read_verification(text, request=question, accepts=offer.accepts),
        calls,
    )
    if verification.signals:
        _quarantine(claim, SecurityEventKind.VERIFIER, verification.signals)
        return
    accepted = Accepted(
        fragment=fragment,
        extraction=extraction,
        verification=verification,
        offer=offer,
        proposal=proposal,
        signals=tuple((s.start, s.end) for s in signals),
        model=answer.model,
        response_hash=hashlib.sha256(answer.text.encode()).hexdigest(),
    )
    if not commit(claim, accepted):
        _ended_before(claim)


def _ended_before(claim: Claim) -> bool:
    """End an item that may not be placed, since its revision is outdated or its text is held."""
    if not is_current(team_id=claim.team_id, fragment_id=claim.fragment_id):
        end_superseded(claim)
        return True
    if is_quarantined(team_id=claim.team_id, fragment_id=claim.fragment_id):
        end_held(claim)
        return True
    return False


def _quarantine(claim: Claim, by: SecurityEventKind, signals: Sequence[contract.Signal]) -> None:
    end_quarantined(claim, by=by, signals=[(s.kind, s.start, s.end) for s in signals])


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
    turns: tuple[Turn, ...] = (Turn(Role.USER, canonical_json(request).decode()),)
    for number in range(1, limits.ANSWERS + 1):
        call = Call(stage, system, turns, schema, float(limits.CALL_SECONDS))
        answer, spent = _ask(provider, call, number, calls)
        try:
            if answer.truncated:
                raise contract.AnswerRefused([contract.TRUNCATED])
            result = read(answer.text)
        except contract.AnswerRefused as refused:
            calls.append(_report(call, number, AttemptOutcome.INVALID, spent, answer, refused))
            reply = Turn(Role.USER, contract.correction_turn(refused.faults))
            turns = (*turns, Turn(Role.MODEL, answer.text or "(empty)"), reply)
            continue
        calls.append(_report(call, number, AttemptOutcome.VALID, spent, answer))
        return result, answer
    raise AnswersExhausted(stage.value)


def _ask(provider: Provider, call: Call, number: int, calls: list[CallReport]) -> tuple[Answer, int]:
    """Repeat one call while the other side is away, within the bounds on tries and time."""
    began = time.monotonic()
    for tries in range(1, limits.TRANSPORT_TRIES + 1):
        started = time.monotonic()
        try:
            answer = provider.complete(call)
            return answer, int((time.monotonic() - started) * 1000)
        except ProviderUnavailable as away:
            spent = int((time.monotonic() - started) * 1000)
            outcome = AttemptOutcome.UNAVAILABLE
            calls.append(CallReport(call.stage.value, number, outcome, spent, code=away.reason))
            wait = away.retry_after if away.retry_after is not None else backoff(tries=tries, chance=1).seconds
            late = time.monotonic() - began + wait > limits.TRANSPORT_SECONDS
            if tries == limits.TRANSPORT_TRIES or late:
                raise
            time.sleep(wait)
    raise AssertionError("unreachable")


def _report(
    call: Call,
    number: int,
    outcome: AttemptOutcome,
    spent: int,
    answer: Answer,
    refused: contract.AnswerRefused | None = None,
) -> CallReport:
    return CallReport(
        stage=call.stage.value,
        number=number,
        outcome=outcome,
        milliseconds=spent,
        code=refused.faults[0].code if refused else "",
        faults=len(refused.faults) if refused else 0,
        model=answer.model,
        tokens_in=answer.usage.tokens_in,
        tokens_out=answer.usage.tokens_out,
    )


@contextmanager
def _lease_kept(claim: Claim) -> Iterator[None]:
    """Renew the lease from a second thread while the item is worked on; the next beat makes up for one that fails."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(limits.HEARTBEAT_SECONDS):
            try:
                heartbeat(claim)
            except LeaseLost:
                return
            except DatabaseError as fault:
                log.warning("heartbeat failed: item %s: %s", claim.item_id, _kind_of(fault))
            finally:
                connection.close()

    thread = threading.Thread(target=beat, name=f"heartbeat-{claim.item_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
