"""What a decision about who is who may rest on, and which decisions are refused ("Identity And Relationships").

Likeness is no evidence, and evidence is not passed on: each Entity that is absorbed is tied to the survivor by itself.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Final, TypeAlias
from uuid import UUID

import regex

from densemem.core import limits
from densemem.core.denial import denies
from densemem.core.faults import Because, Refused
from densemem.core.names import fold
from entities.policy.identifiers import CanonicalIdentifier
from entities.vocabulary import BasisKind, EntityKind, IdentityKind

Redirects: TypeAlias = Mapping[UUID, UUID]  # from an absorbed Entity to the survivor, one hop


class IdentityFault(StrEnum):
    """Why a decision about who is who is refused."""

    EVIDENCE = "insufficient_identity_evidence"
    ITSELF = "merge_into_itself"
    TWICE = "member_listed_twice"
    TOO_FEW = "too_few_members"
    CYCLE = "identity_cycle"
    HOPS = "too_many_hops"
    ABSORBED = "already_absorbed"
    SPLIT = "already_split"
    DISTINCT = "kept_distinct"
    ONE = "treated_as_one"
    KINDS = "kinds_differ"
    NO_OBSERVATION = "child_without_observations"
    OBSERVATION_TWICE = "observation_listed_twice"
    NOT_OWNED = "observation_not_owned"
    NOTHING_LEFT = "split_leaves_nothing"
    SUPERSEDED = "decision_superseded"
    WITHDRAWAL = "withdrawal_not_withdrawable"


STATES: Final = frozenset(
    {
        IdentityFault.CYCLE,
        IdentityFault.HOPS,
        IdentityFault.ABSORBED,
        IdentityFault.SPLIT,
        IdentityFault.DISTINCT,
        IdentityFault.ONE,
        IdentityFault.SUPERSEDED,
    }
)


class IdentityRefused(Refused):
    """A decision about who is who is refused, and nothing was written.

    :param decision_ids: the decisions that stand in its way
    """

    def __init__(self, fault: IdentityFault, detail: str, *, decision_ids: Iterable[UUID] = ()) -> None:
        super().__init__(detail, code=fault.value)
        self.decision_ids = tuple(decision_ids)
        if fault in STATES:
            self.because = Because.CONFLICT
        elif fault is IdentityFault.NOT_OWNED:
            self.because = Because.FORBIDDEN


class InsufficientIdentityEvidence(IdentityRefused):
    """Nothing strong enough ties an Entity to the one that it would be taken for."""

    def __init__(self, missing: Sequence[UUID]) -> None:
        detail = (
            f"Nothing ties {_listed(missing)} to the survivor. Cite an identifier that both bear, or a span that names "
            "both in a sentence that denies nothing, or decide in the console with a reason and a span. That they are "
            "alike is no evidence."
        )
        super().__init__(IdentityFault.EVIDENCE, detail)
        self.missing = tuple(missing)


@dataclass(frozen=True, slots=True)
class SharedIdentifier:
    """A persistent identifier that several entities bear: by Entity, the row that says so; `bearers` in the team."""

    kind = BasisKind.IDENTIFIER

    identifier: CanonicalIdentifier
    rows: Mapping[UUID, UUID]
    bearers: int

    @property
    def is_hub(self) -> bool:
        """Tell if so many bear it that it says nothing of any two."""
        return self.bearers > limits.IDENTIFIER_HUB

    def ties(self, one: UUID, other: UUID) -> bool:
        """Tell if it is strong evidence that two entities are one."""
        return not self.is_hub and one in self.rows and other in self.rows


@dataclass(frozen=True, slots=True)
class ExplicitReport:
    """A cited span of evidence that names both entities, in a sentence that denies nothing.

    :param text: of the span
    :param around: of the whole sentences in which it stands
    :param names: what each Entity is called
    """

    kind = BasisKind.REPORT

    fragment_id: UUID
    start: int
    end: int
    text: str
    around: str
    names: Mapping[UUID, Collection[str]]

    def ties(self, one: UUID, other: UUID) -> bool:
        """Tell if a name of each stands in the span, at places of their own, and nothing around them denies."""
        ones, others = self._places(one, self.text), self._places(other, self.text)
        both = any(a_end <= b or b_end <= a for a, a_end in ones for b, b_end in others)
        return both and not self._denies(one, other)

    def _denies(self, one: UUID, other: UUID) -> bool:
        """Tell if a word that denies stands in the sentences, beside the names."""
        left = list(fold(self.around))
        for begin, end in self._places(one, self.around) + self._places(other, self.around):
            left[begin:end] = " " * (end - begin)
        return denies("".join(left))

    def _places(self, entity: UUID, text: str) -> list[tuple[int, int]]:
        text = fold(text)
        return [place for name in self.names.get(entity, ()) for place in _standing(fold(name), text)]


@dataclass(frozen=True, slots=True)
class HumanReview:
    """A person's decision in the console: whom it names, why, and the spans that it cites.

    :param by_token: it came through a token, and so perhaps from no person
    """

    kind = BasisKind.HUMAN

    named: frozenset[UUID]
    reason: str
    spans: tuple[tuple[UUID, int, int], ...]
    by_token: bool

    def ties(self, one: UUID, other: UUID) -> bool:
        """Tell if it is a decision that may stand by itself."""
        stated = bool(self.reason.strip()) and bool(self.spans) and not self.by_token
        return stated and {one, other} <= self.named


Basis: TypeAlias = SharedIdentifier | ExplicitReport | HumanReview


@dataclass(frozen=True, slots=True)
class Standing:
    """What the decisions of one profile say that were not withdrawn.

    :param redirects: of its merges, each hop
    :param split: entities that it has split
    :param distinct: by pair, the decision that keeps the two apart
    """

    redirects: Redirects = field(default_factory=dict)
    split: frozenset[UUID] = frozenset()
    distinct: Mapping[frozenset[UUID], UUID] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Made:
    """A decision about who is who, as its withdrawal needs it; `records` are those of interest that it changed."""

    id: UUID
    kind: IdentityKind
    seq: int
    members: frozenset[UUID]
    withdrawn: bool
    records: frozenset[UUID] = frozenset()


def check_basis(*, survivor: UUID, absorbed: Sequence[UUID], basis: Collection[Basis]) -> dict[UUID, tuple[Basis, ...]]:
    """
    Return, by absorbed Entity, what ties it to the survivor.

    :raises InsufficientIdentityEvidence: for one of them there is nothing, whatever ties it to another
    """
    tying = {entity: tuple(item for item in basis if item.ties(entity, survivor)) for entity in absorbed}
    missing = [entity for entity, items in tying.items() if not items]
    if missing:
        raise InsufficientIdentityEvidence(missing)
    return tying


def check_members(
    *, survivor: UUID, absorbed: Sequence[UUID], kinds: Mapping[UUID, EntityKind], standing: Standing
) -> None:
    """
    Check that a profile may take these entities for the survivor, as far as its own decisions go.

    :raises IdentityRefused: naming what stands in the way
    """
    _check_listed(survivor, absorbed)
    for entity in absorbed:
        if entity in path_of(survivor, standing.redirects):
            raise IdentityRefused(
                IdentityFault.CYCLE,
                f"{survivor} is taken for {entity} already: merge the other way round, or withdraw.",
            )
    _check_untouched([survivor, *absorbed], standing)
    if max(_depth(entity, standing.redirects) for entity in absorbed) + 1 > limits.REDIRECTS:
        detail = f"An Entity is taken for another over at most {limits.REDIRECTS} hops. Merge into the last one."
        raise IdentityRefused(IdentityFault.HOPS, detail)
    _check_apart({survivor, *absorbed}, standing)
    told = {kinds[entity] for entity in (survivor, *absorbed)} - {EntityKind.OTHER}
    if len(told) > 1:
        raise IdentityRefused(IdentityFault.KINDS, f"Things of different kinds are not one: {', '.join(sorted(told))}.")


def check_distinct(*, one: UUID, other: UUID, standing: Standing) -> None:
    """
    Check that a profile may keep two entities apart.

    :raises IdentityRefused: they are the same id, taken for one, or kept apart already
    """
    if one == other:
        raise IdentityRefused(IdentityFault.TWICE, "Name two different entities.")
    if survivor_of(one, standing.redirects) == survivor_of(other, standing.redirects):
        raise IdentityRefused(IdentityFault.ONE, "You treat the two as one: withdraw that merge first.")
    _check_apart({one, other}, standing)


def check_split(*, children: Sequence[Sequence[UUID]], owned: Collection[UUID]) -> None:
    """
    Check that a split parts something.

    :param children: by new Entity, the observations that are about it
    :param owned: the profile's observations that are about the parent
    :raises IdentityRefused: an empty child, an observation twice or not its own, or all of them in one child
    """
    listed = list(chain.from_iterable(children))
    if not children or not all(children):
        raise IdentityRefused(IdentityFault.NO_OBSERVATION, "List at least one observation for each new Entity.")
    if twice := {number for number in listed if listed.count(number) > 1}:
        detail = f"An observation is about one thing: {_listed(sorted(twice))} is listed twice."
        raise IdentityRefused(IdentityFault.OBSERVATION_TWICE, detail)
    if foreign := set(listed) - set(owned):
        detail = f"You split what you own: {_listed(sorted(foreign))} is not an observation of yours about this Entity."
        raise IdentityRefused(IdentityFault.NOT_OWNED, detail)
    if len(children) == 1 and len(listed) == len(set(owned)):
        detail = "All that is known would be about the one new Entity: leave something out, or list two."
        raise IdentityRefused(IdentityFault.NOTHING_LEFT, detail)


def check_withdrawal(decision: Made, *, others: Collection[Made]) -> bool:
    """
    Tell if a decision is to be withdrawn; False when it was already.

    :param others: decisions of the same author
    :raises IdentityRefused: it is a withdrawal itself, or later decisions rest on it
    """
    if decision.kind is IdentityKind.WITHDRAW:
        raise IdentityRefused(IdentityFault.WITHDRAWAL, "A withdrawal is not withdrawn: decide anew.")
    if decision.withdrawn:
        return False
    later = [o for o in others if o.seq > decision.seq and not o.withdrawn and o.kind is not IdentityKind.WITHDRAW]
    meeting = (o for o in later if o.members & decision.members or o.records & decision.records)
    blocking = sorted(meeting, key=lambda o: o.seq)
    if blocking:
        ids = [o.id for o in blocking]
        detail = (
            "You decided later about the same entities or Relationships: "
            f"withdraw {_listed(ids)} first, the newest of them first."
        )
        raise IdentityRefused(IdentityFault.SUPERSEDED, detail, decision_ids=ids)
    return True


def path_of(entity: UUID, redirects: Redirects) -> tuple[UUID, ...]:
    """Return an Entity and everything that it is taken for, hop by hop; what runs in a circle ends before it closes."""
    path = [entity]
    while (target := redirects.get(path[-1])) is not None and target not in path:
        path.append(target)
    return tuple(path)


def survivor_of(entity: UUID, redirects: Redirects) -> UUID:
    """Return what an Entity is taken for in the end; itself where nothing was decided."""
    return path_of(entity, redirects)[-1]


def _check_listed(survivor: UUID, absorbed: Sequence[UUID]) -> None:
    if survivor in absorbed:
        raise IdentityRefused(IdentityFault.ITSELF, "An Entity is not merged into itself: name another survivor.")
    if not absorbed:
        raise IdentityRefused(IdentityFault.TOO_FEW, "Name at least two entities: a survivor, and one that it absorbs.")
    if len(set(absorbed)) < len(absorbed):
        raise IdentityRefused(IdentityFault.TWICE, "Name each Entity once.")


def _check_untouched(members: Iterable[UUID], standing: Standing) -> None:
    """Refuse members that the profile has merged away or split: what is about them was attributed to others."""
    for entity in members:
        if entity in standing.redirects:
            target = survivor_of(entity, standing.redirects)
            detail = f"You take {entity} for {target}: name that one, or withdraw the merge."
            raise IdentityRefused(IdentityFault.ABSORBED, detail)
        if entity in standing.split:
            detail = f"You have split {entity}: name what it was split into, or withdraw the split."
            raise IdentityRefused(IdentityFault.SPLIT, detail)


def _check_apart(members: Collection[UUID], standing: Standing) -> None:
    """Refuse what a decision keeps apart, also by way of what was merged before."""
    ends = {pair: {survivor_of(entity, standing.redirects) for entity in pair} for pair in standing.distinct}
    blocking = sorted(
        standing.distinct[pair] for pair, both in ends.items() if pair <= set(members) or both <= set(members)
    )
    if blocking:
        detail = f"You keep them apart: withdraw {_listed(blocking)} first."
        raise IdentityRefused(IdentityFault.DISTINCT, detail, decision_ids=blocking)


def _depth(entity: UUID, redirects: Redirects) -> int:
    """Return the most hops over which something is taken for an Entity."""
    paths = (path_of(start, redirects) for start in redirects)
    return max((path.index(entity) for path in paths if entity in path), default=0)


def _standing(name: str, text: str) -> list[tuple[int, int]]:
    """Return where a name stands in a text as words of its own."""
    around = r"[\p{Latin}\p{N}]"
    return [m.span() for m in regex.finditer(rf"(?<!{around}){regex.escape(name)}(?!{around})", text, overlapped=True)]


def _listed(ids: Iterable[UUID]) -> str:
    return ", ".join(str(number) for number in ids)
