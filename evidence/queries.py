"""Reads of evidence. Everything is asked for within one team."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.core.words import REDACTED
from densemem.db.clock import TELLING, clock_of
from densemem.db.keyed import team_digest
from densemem.db.read import fetch
from evidence.models import (
    Fragment,
    FragmentRetirement,
    Ingest,
    Quarantine,
    SecurityEvent,
    SecuritySignal,
    Source,
    SourceRevision,
    Wording,
)
from evidence.vocabulary import BINDING, QuarantineStatus, SecurityDecision, WordingKind

# Whether it is current and its words are there, and whether it is held.
STANDS: Final = """
    NOT EXISTS (SELECT FROM evidence_fragmentretirement AS gone
                WHERE (gone.team_id, gone.fragment_id) = (fragment.team_id, fragment.id))
      AND (source.id IS NULL OR source.current_revision_id IS NOT DISTINCT FROM fragment.revision_id)
      AND NOT EXISTS (SELECT FROM evidence_content AS words
                      WHERE words.id = fragment.content_id AND words.redacted_at IS NOT NULL),
    EXISTS (SELECT FROM evidence_quarantine AS held
            WHERE (held.team_id, held.fragment_id) = (fragment.team_id, fragment.id) AND held.status = 'active'),
    (SELECT count(*) FROM evidence_redaction AS redaction WHERE redaction.team_id = fragment.team_id)"""
SOURCE: Final = "LEFT JOIN evidence_source AS source ON source.id = fragment.source_id"
HELD_BACK: Final = f"""
    SELECT id FROM (
      SELECT fragment.id, {STANDS} FROM evidence_fragment AS fragment {SOURCE}
      WHERE fragment.team_id = %(team)s AND fragment.id = ANY(%(fragments)s)
    ) AS found(id, current, held, redactions) WHERE current AND held"""  # noqa: S608 - our own words
ONE: Final = "WHERE fragment.team_id = %(team)s AND fragment.id = %(fragment)s"
STANDING: Final = f"SELECT {STANDS} FROM evidence_fragment AS fragment {SOURCE} {ONE}"  # noqa: S608 - our own words
STANDING_NOW: Final = f"""
    WITH {TELLING} SELECT clock_timestamp(), {STANDS}
    FROM told CROSS JOIN evidence_fragment AS fragment {SOURCE} {ONE}"""  # noqa: S608 - our own words
FRAGMENT: Final = f"""
    SELECT {STANDS}, fragment.id, fragment.team_id, fragment.owner_id, fragment.ingest_id, content.text,
           fragment.group_id, fragment.authority = 'authoritative',
           coalesce(fragment.observed_at, fragment.recorded_at),
           source.id, source.source_key, revision.id, revision.token
    FROM evidence_fragment AS fragment
    JOIN evidence_content AS content ON content.id = fragment.content_id {SOURCE}
    LEFT JOIN evidence_sourcerevision AS revision ON revision.id = fragment.revision_id {ONE}"""  # noqa: S608 - our own words

EARLIER: Final = """
    SELECT id, request_hash FROM evidence_ingest
    WHERE team_id = %(team)s AND owner_id = %(owner)s AND idempotency_key = %(key)s"""
JOINS: Final = """
    SELECT one_id, other_id FROM evidence_groupjoin
    WHERE team_id = %(team)s AND one_id = ANY(%(groups)s) AND reason = ANY(%(binding)s)
    UNION
    SELECT fragment_id, other_id FROM evidence_groupjoin
    WHERE team_id = %(team)s AND fragment_id = ANY(%(fragments)s) AND reason <> ALL(%(binding)s)"""
JOINED_TO: Final = """
    SELECT DISTINCT one_id FROM evidence_groupjoin WHERE team_id = %(team)s AND other_id = ANY(%(groups)s)"""


@dataclass(frozen=True, slots=True)
class FragmentView:
    """A fragment as placement needs it: its exact text, and what policy asks of it."""

    id: UUID
    team_id: UUID
    owner_id: UUID
    ingest_id: UUID
    text: str
    group_id: UUID
    authoritative: bool
    observed_at: datetime
    source_id: UUID | None
    source_key: str | None
    revision_id: UUID | None
    revision: str | None


@dataclass(frozen=True, slots=True)
class SignalView:
    """A suspicious span of a fragment."""

    kind: str
    severity: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Standing:
    """
    If a fragment may be placed.

    :param current: its revision is the source's current one, nobody withdrew it, and its text was not redacted
    :param held: it is in quarantine
    :param redactions: how many there were in the team: with one more, what was read before may hold words that are gone
    """

    current: bool
    held: bool
    redactions: int


def get_fragment(*, team_id: UUID, fragment_id: UUID) -> tuple[FragmentView, Standing]:
    """Return one fragment with its text, and how it stands.

    A text that does not say when it was observed was observed when recorded.
    """
    found = find_fragment(team_id=team_id, fragment_id=fragment_id)
    assert found is not None  # it was referred to
    return found


def find_fragment(*, team_id: UUID, fragment_id: UUID) -> tuple[FragmentView, Standing] | None:
    """Return the same, or None when the team has no such fragment."""
    rows = fetch(FRAGMENT, team=team_id, fragment=fragment_id)
    return next(((FragmentView(*columns[3:]), Standing(*columns[:3])) for columns in rows), None)


def standing_now(*, team_id: UUID, fragment_id: UUID) -> tuple[datetime, Standing]:
    """Take the moment of a commit, and return it with how a fragment stands at it; for who holds every lock."""
    ((taken, *stands),) = fetch(STANDING_NOW, team=team_id, fragment=fragment_id, clock=clock_of(team_id))
    return taken, Standing(*stands)


def find_ingest(*, team_id: UUID, owner_id: UUID, key: str) -> tuple[UUID, str] | None:
    """Return (id, request hash) of the ingest that this key made, or None."""
    return next(iter(fetch(EARLIER, team=team_id, owner=owner_id, key=team_digest(team_id, key))), None)


def moment_of_ingest(*, team_id: UUID, ingest_id: UUID) -> datetime:
    """Return the moment of an intake that is there."""
    found: datetime = Ingest.objects.of_team(team_id).values_list("recorded_at", flat=True).get(pk=ingest_id)
    return found


def is_current(*, team_id: UUID, fragment_id: UUID) -> bool:
    """Tell if a fragment still counts: it is of the source's current revision, neither withdrawn nor redacted."""
    return standing_of(team_id=team_id, fragment_id=fragment_id).current


def is_quarantined(*, team_id: UUID, fragment_id: UUID) -> bool:
    """Tell if a fragment is held."""
    return standing_of(team_id=team_id, fragment_id=fragment_id).held


def standing_of(*, team_id: UUID, fragment_id: UUID, lock: bool = False) -> Standing:
    """Return whether a fragment may be placed, in one look.

    With `lock` its source is locked first, and stays as it is until the transaction ends.
    """
    if lock:
        source = Fragment.objects.of_team(team_id).filter(pk=fragment_id).values("source_id")
        list(Source.objects.of_team(team_id).filter(pk__in=source).select_for_update().values_list("pk"))
    (stands,) = fetch(STANDING, team=team_id, fragment=fragment_id)
    return Standing(*stands)


def held_among(*, team_id: UUID, fragment_ids: Collection[UUID]) -> set[UUID]:
    """Return those of these fragments that are held."""
    held = Quarantine.objects.of_team(team_id).filter(fragment_id__in=fragment_ids, status=QuarantineStatus.ACTIVE)
    return set(held.values_list("fragment_id", flat=True))


def held_back_among(*, team_id: UUID, fragment_ids: Collection[UUID]) -> set[UUID]:
    """Return those of these fragments that are held and would count otherwise."""
    return {number for (number,) in fetch(HELD_BACK, team=team_id, fragments=list(fragment_ids))}


def redacted_among(*, team_id: UUID, fragment_ids: Collection[UUID]) -> set[UUID]:
    """Return those of these fragments whose text is gone."""
    gone = Fragment.objects.of_team(team_id).filter(pk__in=fragment_ids, content__redacted_at__isnull=False)
    return set(gone.values_list("id", flat=True))


def signals_of(*, team_id: UUID, fragment_id: UUID) -> list[SignalView]:
    """Return every span of a fragment that the scan or a model found suspicious, in order, each once."""
    rows = SecuritySignal.objects.of_team(team_id).filter(event__fragment_id=fragment_id).order_by("seq")
    found = {(r.start, r.end, r.kind): SignalView(r.kind, r.severity, r.start, r.end) for r in rows}
    return [found[place] for place in sorted(found)]


@dataclass(frozen=True, slots=True)
class SecurityStep:
    """One security event of a fragment."""

    kind: str
    decision: str
    actor_profile_id: UUID | None
    reason: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class HeldText:
    """A text with everything that was found suspicious in it, for a manager who decides about it."""

    fragment_id: UUID
    owner_profile_id: UUID
    held: bool
    redacted: bool
    text: str
    signals: tuple[SignalView, ...]
    history: tuple[SecurityStep, ...]


def held_text(*, team_id: UUID, fragment_id: UUID) -> HeldText:
    """Return a text with its signals and its security history. The caller has checked who asks, and records it."""
    fragment = Fragment.objects.of_team(team_id).select_related("content").get(pk=fragment_id)
    events = SecurityEvent.objects.of_team(team_id).filter(fragment=fragment).order_by("seq")
    return HeldText(
        fragment_id=fragment.id,
        owner_profile_id=fragment.owner_id,
        held=is_quarantined(team_id=team_id, fragment_id=fragment_id),
        redacted=fragment.content.redacted_at is not None,
        text=fragment.content.text if fragment.content.redacted_at is None else REDACTED,
        signals=tuple(signals_of(team_id=team_id, fragment_id=fragment_id)),
        history=tuple(SecurityStep(e.kind, e.decision, e.actor_id, e.reason, e.recorded_at) for e in events),
    )


def is_guarded(*, team_id: UUID, fragment_id: UUID) -> bool:
    """Tell if a fragment is placed with extra care: whatever was once doubted or held is, for good."""
    events = SecurityEvent.objects.of_team(team_id).filter(fragment_id=fragment_id)
    return events.exclude(decision=SecurityDecision.PASS).exists()


def usable_among(*, team_id: UUID, fragment_ids: Collection[UUID]) -> set[UUID]:
    """Return those of these fragments that a decision may rest on: current, not withdrawn, held or redacted."""
    there = Fragment.objects.of_team(team_id).filter(pk__in=fragment_ids, content__redacted_at__isnull=True)
    rows = there.select_related("source")
    current = {r.id for r in rows if r.source is None or r.source.current_revision_id == r.revision_id}
    gone = FragmentRetirement.objects.of_team(team_id).filter(fragment_id__in=current)
    return current - set(gone.values_list("fragment_id", flat=True)) - held_among(team_id=team_id, fragment_ids=current)


def fragment_exists(*, team_id: UUID, fragment_id: UUID) -> bool:
    """Tell if the team has this fragment."""
    return Fragment.objects.of_team(team_id).filter(pk=fragment_id).exists()


def owner_of_fragment(*, team_id: UUID, fragment_id: UUID) -> UUID | None:
    """Return whose a fragment is; None when the team has no such one."""
    rows = Fragment.objects.of_team(team_id).filter(pk=fragment_id)
    owner: UUID | None = rows.values_list("owner_id", flat=True).first()
    return owner


def is_retired(*, team_id: UUID, fragment_id: UUID) -> bool:
    """Tell if somebody withdrew a fragment, for good."""
    return bool(FragmentRetirement.objects.of_team(team_id).filter(fragment_id=fragment_id).exists())


def fragments_of_ingest(*, team_id: UUID, ingest_id: UUID) -> list[UUID]:
    """Return the ids of the fragments of one ingest, in their order."""
    rows = Fragment.objects.of_team(team_id).filter(ingest_id=ingest_id).order_by("evidence_index")
    return list(rows.values_list("id", flat=True))


def fragments_of_revision(*, team_id: UUID, revision_id: UUID) -> list[UUID]:
    """Return the ids of the fragments that came with one revision."""
    return list(Fragment.objects.of_team(team_id).filter(revision_id=revision_id).values_list("id", flat=True))


Joins = dict[UUID, set[UUID]]


def joins_of(*, team_id: UUID, said: Iterable[tuple[UUID, UUID]]) -> Joins:
    """Return, by fragment and by source group, the groups that these (fragment, source group) are joined to."""
    fragments, groups = [set(side) for side in zip(*said, strict=True)] or [set(), set()]
    binding = [reason.value for reason in BINDING]
    found: Joins = defaultdict(set)
    if groups:
        for one, other in fetch(JOINS, team=team_id, fragments=list(fragments), groups=list(groups), binding=binding):
            found[one].add(other)
    return dict(found)


def sources_of(*, team_id: UUID, fragment_ids: Collection[UUID]) -> dict[UUID, UUID]:
    """Return the source group of each fragment."""
    return dict(Fragment.objects.of_team(team_id).filter(pk__in=fragment_ids).values_list("id", "group_id"))


def joined_to(*, team_id: UUID, groups: Collection[UUID]) -> set[UUID]:
    """Return these source groups with those that have a text which is joined to one of them."""
    return {*groups, *(one for (one,) in fetch(JOINED_TO, team=team_id, groups=list(groups)))}


def origins_of(*, team_id: UUID, said: Collection[tuple[UUID, UUID]]) -> dict[UUID, set[UUID]]:
    """Return, by fragment, the source groups that said first what these (fragment, source group) say.

    What only repeats others is theirs alone; every other text is of its own group, and of those that this is joined to.
    """
    joins = joins_of(team_id=team_id, said=said)
    return {fragment: joins.get(fragment) or {group} | joins.get(group, set()) for fragment, group in said}


def revisions_known_at(*, team_id: UUID, source_ids: Collection[UUID], at: datetime) -> dict[UUID, UUID]:
    """Return, by source, the revision that was current at a moment."""
    known = SourceRevision.objects.of_team(team_id).filter(source_id__in=source_ids).known_by(at)
    newest = known.order_by("source_id", "-seq").distinct("source_id")
    return dict(newest.values_list("source_id", "id"))


def texts_of(*, team_id: UUID, fragment_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the exact text of each fragment."""
    rows = Fragment.objects.of_team(team_id).filter(pk__in=fragment_ids).select_related("content")
    return {row.id: row.content.text for row in rows}


def wordings_of(*, team_id: UUID, rows: Collection[UUID], kind: WordingKind) -> dict[UUID, str]:
    """Return the copied words of one kind that belong to these rows."""
    found = Wording.objects.of_team(team_id).filter(of__in=rows, kind=kind)
    return dict(found.values_list("of", "text"))
