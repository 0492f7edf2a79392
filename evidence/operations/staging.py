"""Staging what was said: texts, fragments, and which voices they show to be one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings

from densemem.core.canonical import keyed_digest
from densemem.db.insert import insert, together
from densemem.db.keyed import team_digest
from densemem.db.read import fetch
from evidence.models import Content, Fragment, GroupJoin, Ingest, Shingles, Wording
from evidence.operations.holding import hold_scanned, record_scans
from evidence.operations.joining import Bound, New, StoredText, bound_anew, joins_shown, loosened
from evidence.operations.sources import SourceStep, group_of
from evidence.operations.voices import hashed, lock_words, sample
from evidence.policy import EvidenceIn, normal_text, word_runs
from evidence.scan import Assessment
from evidence.vocabulary import GroupKind, WordingKind

ALIKE: Final = """
    SELECT id, digest, normal_digest, redacted_at IS NOT NULL FROM evidence_content
    WHERE team_id = %(team)s AND normal_digest = ANY(%(normals)s)"""


@dataclass(frozen=True, slots=True)
class Heard:
    """What an intake brings, compared with what the team has; its rows have no ingest and no moment yet.

    :param fragments: in the order of the request
    :param bound: the source groups that it binds to others
    """

    contents: tuple[Content, ...]
    shingles: tuple[Shingles, ...]
    fragments: tuple[Fragment, ...]
    joins: tuple[GroupJoin, ...]
    bound: Bound


@dataclass(frozen=True, slots=True)
class Copied:
    """Words that must be copied beside a row."""

    of: UUID
    kind: WordingKind
    text: str


def open_ingest(*, team_id: UUID, owner_id: UUID, key: str, request_hash: str, now: datetime) -> UUID:
    """Record an accepted request and return its id."""
    made = Ingest(
        team_id=team_id,
        owner_id=owner_id,
        idempotency_key=team_digest(team_id, key),
        request_hash=request_hash,
        recorded_at=now,
    )
    insert([made])
    return made.id


def hear(
    *,
    team_id: UUID,
    owner_id: UUID,
    items: Sequence[EvidenceIn],
    steps: Mapping[str, SourceStep],
    may_bind: Callable[[Bound], bool],
    now: datetime,
) -> Heard:
    """Wait for every intake that may say the same, and compare the texts with all that is stored.

    :param steps: by source key
    :param may_bind: tells if whole source groups may be bound to others; if not, the new texts alone are
    :param now: when it was asked for: a new source group is made then, and old answers count no more as served
    :raises FragmentUnknown: a text says that it derives from a fragment that is not there
    """
    own = group_of(team_id=team_id, kind=GroupKind.OWNER, key=str(owner_id), now=now)
    texts, contents, shingles = _compare(team_id=team_id, texts=[item.content for item in items])
    fragments = [
        Fragment(
            team_id=team_id,
            owner_id=owner_id,
            evidence_index=index,
            content_id=texts[item.content].content_id,
            source_type=item.source_type,
            authority=item.authority,
            source_label=item.source_label,
            source=steps[item.source.key].source if item.source else None,
            revision_id=steps[item.source.key].revision_id if item.source else None,
            group_id=steps[item.source.key].source.group_id if item.source else own,
            observed_at=item.observed_at,
            labels=list(item.labels),
            metadata=dict(item.metadata),
        )
        for index, item in enumerate(items)
    ]
    new = [New(f, i, texts[i.content]) for f, i in zip(fragments, items, strict=True)]
    joins, known = joins_shown(team_id=team_id, owner_id=owner_id, new=new, now=now)
    bound = bound_anew(joins, known)
    if bound.ones and not may_bind(bound):
        joins, bound = loosened(joins), Bound()
    return Heard(tuple(contents), tuple(shingles), tuple(fragments), tuple(joins), bound)


def stage(heard: Heard, *, ingest_id: UUID, assessments: Sequence[Assessment], now: datetime) -> None:
    """Store the texts, fragments, scan events and source groups of one ingest, all at one moment."""
    for fragment in heard.fragments:
        fragment.ingest_id = ingest_id
    for row in (*heard.contents, *heard.shingles, *heard.fragments, *heard.joins):
        row.recorded_at = now
    with together():
        insert((*heard.contents, *heard.shingles, *heard.fragments))
        insert(heard.joins, ignore_conflicts=True)
        record_scans(heard.fragments, assessments, now=now)
    hold_scanned(heard.fragments, assessments, now=now)


def copy_words(*, team_id: UUID, fragment_id: UUID, words: Sequence[Copied], now: datetime) -> None:
    """Store words copied from a fragment beside the rows that need them."""
    insert(
        Wording(team_id=team_id, fragment_id=fragment_id, of=w.of, kind=w.kind, text=w.text, recorded_at=now)
        for w in words
    )


def _compare(*, team_id: UUID, texts: Sequence[str]) -> tuple[dict[str, StoredText], list[Content], list[Shingles]]:
    """Return where each distinct text is kept, once, and the rows to store; a text that the team has is shared."""
    key = settings.CONTENT_KEY.encode()
    digests = {text: (keyed_digest(key, text), keyed_digest(key, normal_text(text))) for text in texts}
    normals = {normal for _, normal in digests.values()}
    runs = {text: hashed(team_id, word_runs(text)) for text in texts}
    # Two intakes of nearly the same words must see each other, or a join is missed.
    lock_words(team_id=team_id, digests=normals, runs=frozenset().union(*runs.values()))
    alike = fetch(ALIKE, team=team_id, normals=list(normals))
    # What was redacted does not come back: the same text is kept anew, and still no second voice.
    known = {digest: (number, normal) for number, digest, normal, gone in alike if not gone}
    said_before = {normal for _, _, normal, _ in alike}
    new = [
        Content(team_id=team_id, digest=exact, normal_digest=normal, text=text)
        for text, (exact, normal) in digests.items()
        if exact not in known
    ]
    ids = {exact: number for exact, (number, _) in known.items()} | {row.digest: row.id for row in new}
    stored = {
        text: StoredText(
            ids[exact], normal, normal in said_before, frozenset() if normal in said_before else runs[text]
        )
        for text, (exact, normal) in digests.items()
    }
    shingles = [
        Shingles(team_id=team_id, content_id=s.content_id, hashes=list(s.runs), sample=sample(s.runs))
        for s in stored.values()
        if s.runs
    ]
    return stored, new, shingles
