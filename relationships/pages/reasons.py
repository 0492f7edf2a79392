"""The closed reason codes of knowledge, as whole sentences for a reader."""

from typing import Final

STANDING: Final = {
    "single_source": "one source says so",
    "independent_sources": "two or more independent sources say so",
    "authorized_user": "a person with authority for this kind of source says so",
    "no_effective_support": "no evidence counts for it now",
    "verdict_contradicted": "the evidence says otherwise",
    "verdict_insufficient": "the evidence does not say enough",
    "identity_or_scope_open": "who or what is meant, or where it holds, is open",
    "self_relation": "both ends are the same",
    "conflict_held": "it competes with another statement of the same owner",
    "span_overlaps_signal": "its evidence needs a person's eye",
    "source_revision_advanced": "a newer revision of the source took the place of the one cited",
    "evidence_redacted": "the text that it rested on was redacted",
    "superseded": "a newer statement took its place",
    "hold_kept": "a person's decision or an open question holds it",
    "forgotten_by_owner": "its owner forgot it",
    "disputed_by_owner": "its owner disputes it",
    "lifted_by_owner": "its owner let it take part again",
    "corrected_by_owner": "its owner corrected what was misread",
    "evidence_retired": "the owner of the text withdrew it",
    "reinstated_by_manager": "a manager let its evidence count again",
    "verified_again": "verified once more, the text does not say so",
    "decision_withdrawn": "the answer that it rested on was taken back",
    "modality_question": "the text asks it and does not state it",
    "modality_proposal": "the text proposes it and does not state it",
    "modality_speculation": "the text wonders about it and does not state it",
    "modality_quoted": "the text quotes somebody else",
}
STATUS: Final = {
    "pending_evidence": "waits for evidence that says it outright",
    "active": "takes part in recall",
    "needs_review": "a person has to decide",
    "quarantined": "its evidence is held",
    "superseded": "a newer statement took its place",
    "disputed": "its owner disputes it",
    "retracted": "its owner took it back",
    "rejected": "the evidence does not carry it",
}
VERDICT: Final = {
    "entailed": "the span says it outright",
    "contradicted": "the span says otherwise",
    "insufficient": "the span does not say enough",
}


def in_words(code: str) -> str:
    """Return a reason code as words; a code without a sentence of its own reads as it is spelled."""
    if code.startswith("stated_again_after_"):
        return f"it was {_spoken(code.removeprefix('stated_again_after_'))} and is now stated again"
    if code.startswith("kept_"):
        return f"it stays {_spoken(code.removeprefix('kept_'))}"
    return STANDING.get(code, _spoken(code))


def _spoken(code: str) -> str:
    return code.replace("_", " ")
