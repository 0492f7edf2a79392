"""What a plan is made from: the accepted answers, and the drafts read into our own types."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from densemem.core.times import TimeRefused, check_window, format_instant, parse_bound
from entities.policy import Candidate, CanonicalValue, Stated, canonical_value
from entities.vocabulary import EntityKind
from placement.contract import Accepts, Draft, Extraction, Verification
from relationships.identity import ScopeRefused, scope_key
from relationships.policy import Behaviour
from relationships.vocabulary import TimePrecision


@dataclass(frozen=True, slots=True)
class Target:
    """The Relationship that a draft wants to correct, if it is still at the version that the client saw."""

    record_id: UUID
    expected_version: int


@dataclass(frozen=True, slots=True)
class Bound:
    """
    What is settled before policy decides: earlier decisions about mentions, and a person's answer. Both bind.

    :param settled: by mention ref, the Entity of an earlier cycle
    :param chosen: by mention ref, the Entity that the owner chose; None for a new one
    :param predicates: by draft ref, the predicate that the owner chose
    :param released: drafts whose holds the owner answered with yes
    :param rejected: drafts that the owner answered with no
    :param shown: the active records that the owner saw beside what it released
    :param lifted: records whose holds the owner answered with yes
    :param corrected: records that the owner declared to be mistakes of its own
    :param again: by draft ref, why its owner has it verified once more
    """

    settled: Mapping[str, UUID] = field(default_factory=dict)
    chosen: Mapping[str, UUID | None] = field(default_factory=dict)
    predicates: Mapping[str, str] = field(default_factory=dict)
    released: frozenset[str] = frozenset()
    rejected: frozenset[str] = frozenset()
    shown: frozenset[UUID] = frozenset()
    lifted: frozenset[UUID] = frozenset()
    corrected: frozenset[UUID] = frozenset()
    again: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Given:
    """One item with everything that was accepted about it.

    :param extracted: the cycle in which the extraction was accepted
    :param statements: how many the whole extraction has, where only a part is taken up
    :param accepts: by predicate key, the kinds that its ends may be of
    :param kinds: of the entities that a person chose or an earlier cycle settled
    :param verified: by draft ref, the cycle in which it was judged; without an entry, this one

    :param candidates: by mention ref, what was offered to the verifier
    :param bearers: by mention ref, how many Entities of its kind bear its name
    :param kinds: of the offered entities
    :param keys: by mention ref, the lookup key of its surface
    :param identifiers: by mention ref, the persistent identifiers that the text gives to it
    :param proposal: the part of the client's proposal that cites the item; empty for guarded text
    :param signals: spans that the scan marked in guarded text
    :param seed: of the ids of the team
    :param spent: ids of values whose words were redacted
    :param meant: by a record that was misread in this text, the one that its owner corrected it to
    """

    team_id: UUID
    seed: str
    owner_id: UUID
    ingest_id: UUID
    item_id: UUID
    cycle: int
    extracted: int
    fragment_id: UUID
    group_id: UUID
    authoritative: bool
    observed_at: datetime
    now: datetime
    text: str
    extraction: Extraction
    verification: Verification
    candidates: Mapping[str, tuple[Candidate, ...]]
    keys: Mapping[str, str]
    behaviours: Mapping[str, Behaviour]
    identifiers: Mapping[str, tuple[Stated, ...]] = field(default_factory=dict)
    proposal: Mapping[str, Any] = field(default_factory=dict)
    signals: tuple[tuple[int, int], ...] = ()
    verified: Mapping[str, int] = field(default_factory=dict)
    statements: int | None = None
    accepts: Accepts = field(default_factory=dict)
    kinds: Mapping[UUID, EntityKind] = field(default_factory=dict)
    bound: Bound = field(default_factory=Bound)
    bearers: Mapping[str, int] = field(default_factory=dict)
    spent: frozenset[UUID] = frozenset()
    meant: Mapping[UUID, UUID] = field(default_factory=dict)
    adopted: bool = False  # the text is another profile's

    def predicate_of(self, ref: str) -> str | None:
        """Return the predicate of a draft: the owner's choice, else the verifier's; None while it is open."""
        return self.bound.predicates.get(ref) or self.verification.observations[ref].predicate_key

    def fits(self, key: str, subject_id: UUID, object_entity_id: UUID | None) -> bool:
        """Tell if a predicate accepts the ends that a person chose: others were checked with the answer."""
        subjects, objects = self.accepts.get(key, ((), ()))
        subject = self.kinds.get(subject_id)
        target = self.kinds.get(object_entity_id) if object_entity_id else None
        return (subject is None or subject in subjects) and (target is None or target in objects)

    def judged_in(self, ref: str) -> int:
        """Return the cycle in which a draft was judged."""
        return self.verified.get(ref, self.cycle)


@dataclass(frozen=True, slots=True)
class Ready:
    """A draft with its validity, scope and value read; `open` names what could not be read and waits for a person."""

    draft: Draft
    value: CanonicalValue | None
    display: str
    valid_from: datetime | None
    valid_to: datetime | None
    valid_from_precision: TimePrecision | None
    valid_to_precision: TimePrecision | None
    scope_key: str | None
    open: str | None


def ready(draft: Draft, given: Given, *, moved: bool = False) -> Ready:
    """Read a draft. An ended state without a stated end had ended when it was observed: a limit, kept as such."""
    value = next((v for v in given.extraction.values if v.ref == draft.value_ref), None)
    start, start_precision = _bound(draft.valid_from)
    end, end_precision = _bound(draft.valid_to)
    if draft.ended and end is None:
        end, end_precision = given.observed_at, TimePrecision.BY
    scope, is_open = _scope(draft.scope)
    try:
        check_window(start, end)
    except TimeRefused:
        start, end, start_precision, end_precision, is_open = None, None, None, None, "validity_in_doubt"
    return Ready(
        draft=draft,
        value=canonical_value(value.type, value.value, value.unit) if value else None,
        display=value.surface if value else "",
        valid_from=start,
        valid_to=end,
        valid_from_precision=start_precision,
        valid_to_precision=end_precision,
        scope_key=scope,
        open="target_moved" if moved else is_open,
    )


def ended_by(observed_at: datetime) -> str:
    """Return, as a bound in words, the end of a state that a text tells as past without saying when it ended."""
    return format_instant(observed_at)


def _bound(text: str | None) -> tuple[datetime | None, TimePrecision | None]:
    if text is None:
        return None, None
    bound = parse_bound(text)
    return bound.at, TimePrecision(bound.precision)


def _scope(text: str | None) -> tuple[str | None, str | None]:
    """Read a scope; free text is kept from counting as no scope at all."""
    try:
        return scope_key(text), None
    except ScopeRefused:
        return None, "scope_in_doubt"
