"""Sources, their revisions and their groups; what their owner withdraws."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.conf import settings

from densemem.core.canonical import digest, keyed_digest
from densemem.core.faults import Because, Fault, Refused
from densemem.core.ids import uuid7
from densemem.db.insert import insert
from densemem.db.locks import lock
from densemem.db.read import fetch
from evidence.models import (
    Fragment,
    FragmentRetirement,
    Source,
    SourceGroup,
    SourceRevision,
)
from evidence.policy import EvidenceIn, RevisionStep, SourceClaim, check_revision
from evidence.vocabulary import (
    GroupKind,
)

GROUPS: Final = """
    SELECT key, id FROM evidence_sourcegroup
    WHERE team_id = %(team)s AND kind = %(kind)s AND key = ANY(%(keys)s)"""


class FragmentUnknown(Refused):
    """The request refers to fragments that are not there, or not the caller's where they must be."""

    because = Because.MISSING
    code = "fragment_not_found"


@dataclass(frozen=True, slots=True)
class SourceStep:
    """What one source does in an intake. `revision_id` is the new revision, or the current one on a replay."""

    source: Source
    step: RevisionStep
    revision_id: UUID
    replaced_revision_id: UUID | None
    replayed_ingest_id: UUID | None


def lock_source(
    *, team_id: UUID, owner_id: UUID, claim: SourceClaim, said: Sequence[EvidenceIn], now: datetime
) -> SourceStep:
    """Lock the caller's source, making it if it is new, and decide what the claimed revision does. Writes no revision.

    The lock is on its name, for other intakes: the row, which commits lock, is taken when it advances.

    :raises RevisionConflict: the claim does not continue the current revision
    """
    lock("source", team_id, owner_id, claim.key)
    source = Source.objects.of_team(team_id).owned_by(owner_id).filter(source_key=claim.key).first()
    if source is None:
        source = _make_source(team_id=team_id, owner_id=owner_id, key=claim.key, now=now)
    current = source.current_revision
    tokens = SourceRevision.objects.of_team(team_id).filter(source=source).values_list("token", flat=True)
    step = check_revision(
        current_token=current.token if current else None,
        owner_is_caller=source.owner_id == owner_id,
        token=claim.revision,
        previous=claim.previous,
        same_content=current is not None and current.content_hash == _content_hash(said),
        former_tokens=set(tokens) - ({current.token} if current else set()),
    )
    replay = step is RevisionStep.REPLAY
    return SourceStep(
        source=source,
        step=step,
        revision_id=current.id if replay and current else uuid7(),
        replaced_revision_id=current.id if current and not replay else None,
        replayed_ingest_id=current.ingest_id if replay and current else None,
    )


def lock_rows(steps: Iterable[SourceStep]) -> None:
    """Wait for the rows of sources, which commits lock; after items, before texts."""
    rows = Source.objects.filter(pk__in=[step.source.id for step in steps]).order_by("pk")
    list(rows.select_for_update(of=("self",)).values_list("pk"))


def advance_source(
    *, step: SourceStep, claim: SourceClaim, ingest_id: UUID, said: Sequence[EvidenceIn], now: datetime
) -> None:
    """Append the revision and move the source's pointer to it. The caller holds the source's lock."""
    source = step.source
    SourceRevision.objects.create(
        id=step.revision_id,
        team_id=source.team_id,
        source=source,
        token=claim.revision,
        previous_id=step.replaced_revision_id,
        content_hash=_content_hash(said),
        ingest_id=ingest_id,
        recorded_at=now,
    )
    source.current_revision_id = step.revision_id
    source.save(update_fields=["current_revision"])


def retire_fragments(
    *, team_id: UUID, owner_id: UUID, fragment_ids: Collection[UUID], ingest_id: UUID, now: datetime
) -> None:
    """Withdraw fragments of the caller; what is already withdrawn stays so.

    :raises FragmentUnknown: one is not there or belongs to another profile
    """
    mine = Fragment.objects.of_team(team_id).owned_by(owner_id).filter(pk__in=fragment_ids)
    all_found(fragment_ids, set(mine.values_list("id", flat=True)), "supersedes_fragment_ids")
    FragmentRetirement.objects.bulk_create(
        [
            FragmentRetirement(team_id=team_id, fragment_id=fragment, by_ingest_id=ingest_id, recorded_at=now)
            for fragment in sorted(fragment_ids)
        ],
        ignore_conflicts=True,
    )


def retire_fragment(*, team_id: UUID, owner_id: UUID, fragment_id: UUID, now: datetime) -> None:
    """Withdraw a fragment because its owner decided so; that it is its own, and counts, has been checked."""
    row = FragmentRetirement(team_id=team_id, fragment_id=fragment_id, by_profile_id=owner_id, recorded_at=now)
    insert([row])


def _content_hash(said: Sequence[EvidenceIn]) -> str:
    """Return the keyed digest of everything that a revision says: the same token with other fields is other content."""
    fields = [{**asdict(item), "source": None} for item in said]
    return keyed_digest(settings.CONTENT_KEY.encode(), digest(fields))


def _make_source(*, team_id: UUID, owner_id: UUID, key: str, now: datetime) -> Source:
    source_id = uuid7()
    group = group_of(team_id=team_id, kind=GroupKind.SOURCE, key=str(source_id), now=now)
    return Source.objects.create(
        id=source_id, team_id=team_id, owner_id=owner_id, source_key=key, group_id=group, created_at=now
    )


def group_of(*, team_id: UUID, kind: GroupKind, key: str, now: datetime) -> UUID:
    """Return the id of a source group, making it when it is new."""
    return groups_of(team_id=team_id, kind=kind, keys={key}, now=now)[key]


def groups_of(*, team_id: UUID, kind: GroupKind, keys: Collection[str], now: datetime) -> dict[str, UUID]:
    """Return the ids of source groups by key, making those that are new."""
    given: dict[str, Any] = {"team": team_id, "kind": kind.value, "keys": list(keys)}
    found = dict(fetch(GROUPS, **given))
    if new := sorted(set(keys) - set(found)):
        made = [SourceGroup(team_id=team_id, kind=kind, key=key, recorded_at=now) for key in new]
        SourceGroup.objects.bulk_create(made, ignore_conflicts=True)
        found = dict(fetch(GROUPS, **given))
    return found


def all_found(asked: Collection[UUID], found: set[UUID], field: str) -> None:
    if missing := set(asked) - found:
        faults = [
            Fault(f"/evidence/{field}", "not_found", f"{m} is no fragment that you may name here.") for m in missing
        ]
        raise FragmentUnknown("The request names fragments that are not there.", faults=faults)
