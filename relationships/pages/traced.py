"""A trace as its page shows it: each support with its words, its judgment and its decisions in one place."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from densemem.core import limits
from densemem.core.inert import Excerpt, Part
from evidence.pages import EvidenceCard
from relationships.pages.reasons import in_words
from relationships.search import Claim
from relationships.trace import Trace
from relationships.trace.shapes import HELD, REDACTED, Decision, Observed, Passage, Reference, Support, Verified

SAYS: Final = {
    "confirms": ("confirms", "is confirmed by"),
    "challenges": ("challenges", "is challenged by"),
    "corrects": ("corrects", "is corrected by"),
    "adopts_evidence_from": ("takes over evidence of", "lends evidence to"),
}


@dataclass(frozen=True, slots=True)
class SupportRow:
    """One support: the span, what the verifier said of it, and every decision about it."""

    ref: str
    support: Support
    card: EvidenceCard
    verified: Verified | None
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """What this record says of another, or another of it, in words."""

    says: str
    reference: Reference


@dataclass(frozen=True, slots=True)
class Traced:
    """The page of one record."""

    trace: Trace
    supports: tuple[SupportRow, ...]
    references: tuple[ReferenceRow, ...]
    others: tuple[Verified, ...]  # judgments that no support rests on

    @property
    def claim(self) -> Claim:
        """The record itself."""
        return self.trace.relationship

    @property
    def reason(self) -> str:
        """Why it stands where it stands, in words."""
        steps = self.trace.transitions.items
        return in_words(steps[0].reason) if steps else ""

    @property
    def counting(self) -> int:
        """How many of the supports shown count now."""
        return sum(row.support.effective for row in self.supports)

    @property
    def revoked(self) -> int:
        """How many of the supports shown count no longer."""
        return len(self.supports) - self.counting

    @property
    def wordings(self) -> tuple[Observed, ...]:
        """The observations whose own words may be shown."""
        return tuple(o for o in reversed(self.trace.observations.items) if o.wording)


def arrange(trace: Trace) -> Traced:
    """Put what belongs together side by side, the oldest first; supports that count come before all others."""
    verified = {v.verification_id: v for v in trace.verifications.items}
    decisions: dict[UUID, list[Decision]] = defaultdict(list)
    for decision in reversed(trace.support_decisions.items):
        decisions[decision.support_id].append(decision)
    oldest = tuple(reversed(trace.supports.items))
    ordered = sorted(oldest, key=lambda s: not s.effective)
    rows = tuple(
        SupportRow(f"S{n}", s, _card(s), verified.get(s.verification_id), tuple(decisions[s.support_id]))
        for n, s in enumerate(ordered, start=1)
    )
    rested_on = {s.verification_id for s in ordered}
    others = tuple(v for v in reversed(trace.verifications.items) if v.verification_id not in rested_on)
    references = tuple(_reference(trace.relationship.relationship_id, r) for r in reversed(trace.references.items))
    return Traced(trace, rows, references, others)


def _reference(traced: UUID, reference: Reference) -> ReferenceRow:
    active, passive = SAYS.get(reference.kind, (reference.kind, reference.kind))
    return ReferenceRow(active if reference.source_relationship_id == traced else passive, reference)


def _card(support: Support) -> EvidenceCard:
    cited = support.evidence
    return EvidenceCard(
        fragment_id=cited.fragment_id,
        source=cited.source_label or cited.source_key or cited.source_type,
        revision=cited.revision or "",
        current=cited.revision_is_current,
        author_id=cited.author.profile_id,
        author=cited.author.name,
        author_kind="",
        said_at=cited.observed_at,
        held=support.withheld == HELD,
        redacted=support.withheld == REDACTED,
        text=None,
        excerpt=_excerpt(support.passage, support.start, support.end) if support.passage else None,
    )


def _excerpt(passage: Passage, start: int, end: int) -> Excerpt:
    first, last = start - len(passage.before), end + len(passage.after)
    parts = (
        Part(passage.before, first, start, marked=False),
        Part(passage.marked, start, end, marked=True),
        Part(passage.after, end, last, marked=False),
    )
    goes_on = len(passage.after) == limits.TRACE_CONTEXT_CHARS
    return Excerpt(tuple(p for p in parts if p.text), more_before=first > 0, more_after=goes_on)
