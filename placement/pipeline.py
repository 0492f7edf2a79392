"""The way of one item through the models ("Memory Write Pipeline", stages 4-9).

Models are asked outside any transaction; everything is decided before the first row; one commit, fenced by the lease.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from densemem.db.keyed import team_digest
from densemem.providers.base import Provider, ProviderUnavailable, Stage
from entities.policy import CandidatesMoved
from evidence.queries import Standing, get_fragment, signals_of, standing_of
from evidence.vocabulary import SecurityEventKind
from placement import contract, offers
from placement.commit import Accepted, Judged, commit
from placement.context import extraction_request, verifier_request
from placement.conversation import AnswersExhausted, converse
from placement.lease import lease_kept
from placement.operations import (
    CallReport,
    Claim,
    LeaseLost,
    end_failed,
    end_held,
    end_quarantined,
    end_superseded,
    keep_extraction,
    put_back,
    report_calls,
)
from placement.reentry import Entry, begin
from relationships.queries import registry

log = logging.getLogger(__name__)


def place(claim: Claim, provider: Provider) -> None:
    """Bring one claimed item to its end, or put it back. Raises only when the database is away."""
    calls: list[CallReport] = []
    try:
        _place_or_put_back(claim, provider, calls)
    except LeaseLost:
        log.info("lease lost: item %s", claim.item_id)
    finally:
        if calls:
            report_calls(claim, calls)


def _place_or_put_back(claim: Claim, provider: Provider, calls: list[CallReport]) -> None:
    try:
        with lease_kept(claim, provider) as asked:
            _place(claim, asked, calls)
    except LeaseLost:
        raise
    except CandidatesMoved:
        put_back(claim, reason="candidates_moved", uncounted=True)
    except ProviderUnavailable as away:
        put_back(claim, reason=f"provider_{away.reason}", asked_seconds=away.retry_after or 0)
    except AnswersExhausted as refused:
        end_failed(claim, reason=str(refused))
    except Exception as fault:
        # Its message may hold words of the evidence: only its type is logged.
        log.error("internal error: item %s: %s", claim.item_id, _kind_of(fault))
        put_back(claim, reason="internal_error")


def _kind_of(fault: Exception) -> str:
    """Return the type of a fault, with the code that the database gives; nothing of its message."""
    code = getattr(fault.__cause__, "sqlstate", None)
    return f"{type(fault).__qualname__} {code}" if code else type(fault).__qualname__


def _place(claim: Claim, provider: Provider, calls: list[CallReport]) -> None:
    fragment, standing = get_fragment(team_id=claim.team_id, fragment_id=claim.fragment_id)
    if _ended_before(claim, standing):
        return
    signals = signals_of(team_id=claim.team_id, fragment_id=fragment.id) if claim.guarded else []
    entry = begin(claim)
    # What a guarded text's sender proposes is not shown to the models.
    proposal = {} if claim.guarded else entry.proposal
    extraction = entry.extraction
    if extraction is None:
        asked = extraction_request(
            fragment,
            registry(team_id=claim.team_id),
            proposal=proposal,
            signals=signals,
            request_id=f"extract_{claim.token.hex}",
        )
        extraction = _extract(claim, provider, asked, entry, calls)
        if extraction is None:
            return
    # Read again: an answer may take minutes, and what was registered meanwhile is offered.
    spans = tuple((s.start, s.end) for s in signals)
    known = registry(team_id=claim.team_id)
    offer = offers.make(fragment, extraction, known, owner_id=claim.owner_id, proposal=proposal, signals=spans)
    bound = entry.binding(offer.keys)
    offer = replace(offer, predicates={**offer.predicates, **{ref: (key,) for ref, key in bound.predicates.items()}})
    judged = Judged(entry.verification, "", "") if entry.verification else None
    if judged is None:
        question = verifier_request(
            fragment, extraction, offer, signals=signals, request_id=f"verify_{claim.token.hex}"
        )
        judged = _verify(claim, provider, question, offer, calls)
        if judged is None:
            return
    accepted = Accepted(
        fragment=fragment,
        extraction=extraction,
        extracted=entry.extracted,
        statements=entry.statements,
        judged=judged,
        verified=entry.verified,
        bound=bound,
        offer=offer,
        proposal=proposal,
        signals=spans,
        redactions=standing.redactions,
        calls=calls,
    )
    if commit(claim, accepted):
        calls.clear()  # reported with the rest
    else:
        _ended_before(claim, _standing_of(claim))


def _extract(
    claim: Claim, provider: Provider, asked: Mapping[str, Any], entry: Entry, calls: list[CallReport]
) -> contract.Extraction | None:
    """Ask the structure reviewer, and keep its accepted answer; None when it saw control text."""
    extraction, answer = converse(
        provider,
        Stage.EXTRACT,
        asked,
        lambda text: contract.read_extraction(text, request=asked, check_value=offers.check_value),
        calls,
    )
    if extraction.signals:
        _quarantine(claim, SecurityEventKind.REVIEWER, extraction.signals)
        return None
    own = entry.own(extraction)
    keep_extraction(claim, extraction=own, model=answer.model)
    return own


def _verify(
    claim: Claim, provider: Provider, question: Mapping[str, Any], offer: offers.Offer, calls: list[CallReport]
) -> Judged | None:
    """Ask the verifier; None when it saw control text. Whether the revision is still current is looked at first."""
    if _ended_before(claim, _standing_of(claim)):
        return None
    verification, answer = converse(
        provider,
        Stage.VERIFY,
        question,
        lambda text: contract.read_verification(text, request=question, accepts=offer.accepts),
        calls,
    )
    if verification.signals:
        _quarantine(claim, SecurityEventKind.VERIFIER, verification.signals)
        return None
    return Judged(verification, answer.model, team_digest(claim.team_id, answer.text))


def _standing_of(claim: Claim) -> Standing:
    return standing_of(team_id=claim.team_id, fragment_id=claim.fragment_id)


def _ended_before(claim: Claim, standing: Standing) -> bool:
    """End an item that may not be placed, since its revision is outdated or its text is held."""
    if not standing.current:
        end_superseded(claim)
    elif standing.held:
        end_held(claim)
    return not standing.current or standing.held


def _quarantine(claim: Claim, by: SecurityEventKind, signals: Sequence[contract.Signal]) -> None:
    end_quarantined(claim, by=by, signals=[(s.kind, s.start, s.end) for s in signals])
