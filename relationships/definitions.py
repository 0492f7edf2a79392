"""The registry of a team as it is shown: every version of every predicate, and whose it is ("Predicate Registry")."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from densemem.core import limits
from densemem.core.faults import NotThere
from densemem.paging import Cursor, Order, Page, page_of
from relationships.models import PredicateDefinition
from relationships.vocabulary import Lifecycle

OLDEST_FIRST: Final = Order("recorded_at", newest_first=False)


@dataclass(frozen=True, slots=True)
class Definition:
    """One version of a predicate as it is shown; `whose` is `shared` (by all teams) or `team`.

    `aliases` run from subject to object, `inverse_aliases` from object to subject. `shelf_days` is how long a state is
    commonly taken to hold, None where nothing is said.
    """

    key: str
    version: int
    lifecycle: str
    whose: str
    aliases: tuple[str, ...]
    inverse_aliases: tuple[str, ...]
    symmetric: bool
    subject_kinds: tuple[str, ...]
    object_kinds: tuple[str, ...]
    relationship_kind: str
    cardinality: str
    shelf_days: int | None
    example: str
    recorded_at: datetime


def definitions_of(team_id: UUID | None) -> QuerySet[PredicateDefinition]:
    """Return every version of every predicate of a team: of the shared ones, and of its own.

    :param team_id: None gives the shared ones alone
    """
    return PredicateDefinition.objects.filter(Q(team__isnull=True) | Q(team_id=team_id))


def predicates_page(
    *, team_id: UUID, cursor: Cursor | None = None, limit: int = limits.PAGE_DEFAULT
) -> Page[Definition]:
    """Return a page of what a team may use now, each predicate in its newest version; the longest registered first."""
    page = page_of(_usable(team_id), order=OLDEST_FIRST, cursor=cursor, limit=limit)
    return page.of([_definition(row) for row in page.rows])


def predicates_of(*, team_id: UUID | None) -> list[Definition]:
    """Return all that a team may use now, by key; `limits.TEAM_PREDICATES` bounds it. None gives the shared ones."""
    return [_definition(row) for row in _usable(team_id).order_by("key")]


def _usable(team_id: UUID | None) -> QuerySet[PredicateDefinition]:
    newest = definitions_of(team_id).order_by("key", "-seq").distinct("key")
    return PredicateDefinition.objects.filter(pk__in=newest.values("pk")).exclude(lifecycle=Lifecycle.RETIRED)


def versions_of(*, team_id: UUID, key: str) -> tuple[Definition, ...]:
    """Return the versions of a predicate for a team, the newest `limits.PAGE_ITEMS`, newest first.

    :raises NotThere: the team has no such predicate
    """
    rows = definitions_of(team_id).filter(key=key).order_by("-seq")[: limits.PAGE_ITEMS]
    if found := tuple(_definition(row) for row in rows):
        return found
    raise NotThere


def version_of(*, team_id: UUID, key: str, version: int) -> Definition:
    """Return one version of a predicate as it holds for a team: its own comes before a shared one.

    :raises NotThere: the team has no such version
    """
    found = definitions_of(team_id).filter(key=key, version=version).order_by("-seq").first()
    if found is None:
        raise NotThere
    return _definition(found)


def _definition(row: PredicateDefinition) -> Definition:
    return Definition(
        key=row.key,
        version=row.version,
        lifecycle=row.lifecycle,
        whose="team" if row.team_id else "shared",
        aliases=tuple(row.active),
        inverse_aliases=tuple(row.inverse),
        symmetric=row.symmetric,
        subject_kinds=tuple(sorted(row.subject_kinds)),
        object_kinds=tuple(sorted(row.object_kinds)),
        relationship_kind=row.kind,
        cardinality=row.cardinality,
        shelf_days=row.shelf_days,
        example=row.example,
        recorded_at=row.recorded_at,
    )
