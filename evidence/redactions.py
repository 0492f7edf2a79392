"""Reads of what was redacted, and of who shares a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from evidence.models import Fragment, RedactionReceipt


@dataclass(frozen=True, slots=True)
class Sharer:
    """A fragment with a text that others may have too: whose, and where from."""

    fragment_id: UUID
    author_profile_id: UUID
    author: str
    source_label: str
    source_key: str | None


@dataclass(frozen=True, slots=True)
class SharedText:
    """A text of a team, and every fragment that has it, the oldest first."""

    content_id: UUID
    normal_digest: str
    redacted: bool
    fragments: tuple[Sharer, ...]


def shared_text(*, team_id: UUID, fragment_id: UUID) -> SharedText | None:
    """Return the text of a fragment with all that share it; None when the team has no such fragment."""
    of_team = Fragment.objects.of_team(team_id)
    asked = of_team.filter(pk=fragment_id).select_related("content").first()
    if asked is None:
        return None
    rows = of_team.filter(content=asked.content).select_related("owner", "source").order_by("seq")
    return SharedText(
        content_id=asked.content_id,
        normal_digest=asked.content.normal_digest,
        redacted=asked.content.redacted_at is not None,
        fragments=tuple(
            Sharer(r.id, r.owner_id, r.owner.name, r.source_label, r.source.source_key if r.source else None)
            for r in rows
        ),
    )


@dataclass(frozen=True, slots=True)
class RedactionFacts:
    """A redaction that was carried out; `removed` are rows by table. It holds no text."""

    id: UUID
    fragment_id: UUID
    actor_profile_id: UUID
    actor: str
    reason: str
    removed: Mapping[str, int]
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Traces:
    """Keyed digests of runs of words by which copies can be found that a redaction should have removed."""

    redaction_id: UUID
    team_id: UUID
    runs: frozenset[str]

    @property
    def sizes(self) -> frozenset[int]:
        """How many words the runs have."""
        return frozenset(int(run.partition(":")[0]) for run in self.runs)


def traces_of(*, redaction_id: UUID | None = None) -> list[Traces]:
    """Return the traces of one redaction, or of all of the installation, for whoever runs it."""
    rows = RedactionReceipt.objects.order_by("seq")
    asked = rows.filter(redaction_id=redaction_id) if redaction_id else rows
    return [Traces(*row[:2], frozenset(row[2])) for row in asked.values_list("redaction_id", "team_id", "runs")]


def find_redaction(
    *, team_id: UUID, redaction_id: UUID | None = None, fragment_id: UUID | None = None
) -> RedactionFacts | None:
    """Return a redaction of the team by its id, or by any fragment that had the text; None when there is none."""
    receipts = RedactionReceipt.objects.of_team(team_id).select_related("redaction__actor")
    if redaction_id is not None:
        receipts = receipts.filter(redaction_id=redaction_id)
    if fragment_id is not None:
        content = Fragment.objects.of_team(team_id).filter(pk=fragment_id).values("content_id")
        receipts = receipts.filter(redaction__content__in=content)
    found = receipts.first()
    if found is None:
        return None
    row = found.redaction
    return RedactionFacts(
        row.id, row.fragment_id, row.actor_id, row.actor.name, row.reason, found.removed, row.recorded_at
    )
