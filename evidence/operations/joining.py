"""Which source groups a new text is joined to: it is no voice beside them ("Source Independence And Fact Promotion").

A join has a direction. It binds the text, or its whole source group, to the groups that said the same before, and takes
nothing from those: they stay as independent of each other as they were.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.db.read import fetch
from evidence.models import Fragment, GroupJoin
from evidence.operations.echoes import echoes
from evidence.operations.sources import all_found, groups_of
from evidence.operations.voices import Said, near_copies
from evidence.policy import EvidenceIn
from evidence.queries import Joins, joins_of
from evidence.vocabulary import BINDING, GroupKind, JoinReason

# Who said these words first of each source group.
SAID_BEFORE: Final = """
    SELECT DISTINCT ON (content.normal_digest, said.group_id) content.normal_digest, said.id, said.group_id
    FROM evidence_content AS content JOIN evidence_fragment AS said ON said.content_id = content.id
    WHERE content.team_id = %(team)s AND said.team_id = %(team)s AND content.normal_digest = ANY(%(normals)s)
    ORDER BY content.normal_digest, said.group_id, said.seq"""

Source = tuple[UUID, UUID]  # a fragment and its source group


@dataclass(frozen=True, slots=True)
class StoredText:
    """Where a text is kept, and the digest of its words.

    :param runs: its word runs, hashed; none when the team had said the same words before
    """

    content_id: UUID
    normal_digest: str
    shared: bool
    runs: frozenset[int]


@dataclass(frozen=True, slots=True)
class New:
    """A new text: its row, what was sent, and where its words are kept."""

    row: Fragment
    sent: EvidenceIn
    text: StoredText

    @property
    def source(self) -> Source:
        """The fragment and its source group."""
        return self.row.id, self.row.group_id


@dataclass(frozen=True, slots=True)
class Bound:
    """Source groups that were bound to others just now, and those others."""

    ones: frozenset[UUID] = frozenset()
    others: frozenset[UUID] = frozenset()


@dataclass(slots=True)
class Shown:
    """What one new text shows: the groups that it is joined to by reason, and the texts that it repeats."""

    groups: dict[JoinReason, set[UUID]]
    repeated: set[Source]


def joins_shown(*, team_id: UUID, owner_id: UUID, new: Sequence[New], now: datetime) -> tuple[list[GroupJoin], Joins]:
    """Return the joins that new texts show, and those that there were around them.

    A text is joined to the groups that it repeats and to those that these go back to, so that no join needs another
    one to be understood.

    :raises FragmentUnknown: a text says that it derives from a fragment that is not there
    """
    shown = _shown(team_id, owner_id, new, now)
    if not any(one.repeated or any(one.groups.values()) for one in shown):
        return [], {}
    known = joins_of(team_id=team_id, said={n.source for n in new}.union(*(one.repeated for one in shown)))
    seen: Joins = defaultdict(set, {key: set(groups) for key, groups in known.items()})
    joins: list[GroupJoin] = []
    for one, found in zip(new, shown, strict=True):
        for reason, other in _joined(one.row.group_id, found, seen):
            seen[one.row.group_id if reason in BINDING else one.row.id].add(other)
            joins.append(
                GroupJoin(
                    team_id=team_id,
                    one_id=one.row.group_id,
                    other_id=other,
                    reason=reason,
                    fragment=one.row,
                )
            )
    return joins, known


def bound_anew(joins: Sequence[GroupJoin], known: Joins) -> Bound:
    """Return what these joins bind that was not bound: only that can change a count of what is stored."""
    new = [j for j in joins if j.reason in BINDING and j.other_id not in known.get(j.one_id, ())]
    return Bound(frozenset(j.one_id for j in new), frozenset(j.other_id for j in new))


def loosened(joins: Sequence[GroupJoin]) -> list[GroupJoin]:
    """Return the same joins with every text joined for itself, and no group bound."""
    for join in joins:
        if join.reason in BINDING:
            join.reason = JoinReason.TRACED
    return list({(j.other_id, j.reason, j.fragment_id): j for j in joins}.values())


def _joined(own: UUID, found: Shown, seen: Joins) -> Iterator[tuple[JoinReason, UUID]]:
    """Yield what a text is joined to, then what that goes back to."""
    direct = set().union(*found.groups.values())
    for reason, groups in found.groups.items():
        yield from ((reason, group) for group in sorted(groups - {own}))
    traced = set().union(*(seen[key] for source in found.repeated for key in source if key in seen))
    yield from ((JoinReason.TRACED, group) for group in sorted(traced - direct - {own}))


def _shown(team_id: UUID, owner_id: UUID, new: Sequence[New], now: datetime) -> list[Shown]:
    hinted = {one.sent.group_hint for one in new if one.sent.group_hint}
    hints = groups_of(team_id=team_id, kind=GroupKind.HINT, keys=hinted, now=now) if hinted else {}
    same = _said_before(team_id, new)
    near = near_copies(team_id=team_id, said=[Said(*one.source, one.text.runs) for one in new])
    said = [(one.sent.content, one.row.group_id) for one in new]
    heard = echoes(team_id=team_id, profile_id=owner_id, said=said, now=now)
    origins = _origins(team_id, {origin for one in new for origin in one.sent.derived_from})
    shown = []
    for one, copied, nearly, repeated in zip(new, same, near, heard, strict=True):
        derived = {origins[origin] for origin in one.sent.derived_from}
        groups = {
            JoinReason.HINT: {hints[one.sent.group_hint]} if one.sent.group_hint else set(),
            JoinReason.SAME_TEXT: _groups(copied),
            JoinReason.NEAR_COPY: _groups(nearly) - _groups(copied),
            JoinReason.ECHO: set(repeated),
            JoinReason.DERIVED: _groups(derived),
        }
        shown.append(Shown(groups, copied | nearly | derived))
    return shown


def _groups(sources: Collection[Source]) -> set[UUID]:
    return {group for _, group in sources}


def _said_before(team_id: UUID, new: Sequence[New]) -> list[set[Source]]:
    """Return, for each new text, who said the same words before it, the first of each source group."""
    found: dict[str, set[Source]] = defaultdict(set)
    if shared := sorted({one.text.normal_digest for one in new if one.text.shared}):
        for words, fragment, group in fetch(SAID_BEFORE, team=team_id, normals=shared):
            found[words].add((fragment, group))
    before = []
    for one in new:
        before.append(set(found[one.text.normal_digest]))
        found[one.text.normal_digest].add(one.source)
    return before


def _origins(team_id: UUID, origins: Collection[UUID]) -> dict[UUID, Source]:
    """Return each fragment that a text says to derive from, with its source group.

    :raises FragmentUnknown: one is not there
    """
    if not origins:
        return {}
    found = dict(Fragment.objects.of_team(team_id).filter(pk__in=origins).values_list("id", "group_id"))
    all_found(origins, set(found), "derived_from_fragment_ids")
    return {origin: (origin, group) for origin, group in found.items()}
