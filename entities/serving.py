"""One Entity, as members of its team may read it: what it is, what it is called, and where each name stands."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from densemem.auth import Principal
from densemem.core import limits
from densemem.core.faults import NotThere
from densemem.core.words import GONE, Scope
from entities.models import Entity, Identifier, Name
from entities.vocabulary import EntityKind, EntityStatus, NameKind
from evidence.queries import held_among


@dataclass(frozen=True, slots=True)
class Said:
    """Words at a span of a text, in code points, half-open; none while the text is held or once it is redacted."""

    words: str | None
    held: bool
    owner_id: UUID
    fragment_id: UUID
    start: int
    end: int
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class NameView(Said):
    """A name: canonical, alias, or former; a canonical one that was followed by another is former."""

    kind: NameKind


@dataclass(frozen=True, slots=True)
class IdentifierView(Said):
    """A persistent identifier that a text gives to the Entity."""

    scheme: str


@dataclass(frozen=True, slots=True)
class EntityView:
    """
    One Entity.

    :param canonical_name: None where no text that may be shown gives one
    :param names: the canonical one first, then former ones, then aliases, the newest `limits.ENTITY_NAMES`
    :param names_total: how many there are
    """

    entity_id: UUID
    kind: EntityKind
    status: EntityStatus
    version: int
    created_at: datetime
    canonical_name: str | None
    identity_context: Mapping[str, Any]
    names: tuple[NameView, ...]
    names_total: int
    identifiers: tuple[IdentifierView, ...]


def get_entity(*, principal: Principal, entity_id: UUID) -> EntityView:
    """Return one Entity of the team.

    :raises ScopeMissing: without `read`
    :raises NotThere: no such Entity in the team
    """
    principal.require(Scope.READ)
    team = principal.team_id
    found = Entity.objects.of_team(team).filter(pk=entity_id).first()
    if found is None:
        raise NotThere
    of_it = Name.objects.of_team(team).filter(entity_id=entity_id)
    rows = list(of_it.order_by("-version", "-seq")[: limits.ENTITY_NAMES])
    identifiers = list(
        Identifier.objects.of_team(team).filter(entity_id=entity_id).order_by("-seq")[: limits.ENTITY_NAMES]
    )
    cited = {row.fragment_id for row in rows} | {row.fragment_id for row in identifiers}
    held = held_among(team_id=team, fragment_ids=cited)
    names = _names(rows, held)
    shown = [name.words for name in names if name.words and name.kind is not NameKind.ALIAS]
    return EntityView(
        entity_id=found.id,
        kind=EntityKind(found.kind),
        status=EntityStatus(found.status),
        version=found.version,
        created_at=found.created_at,
        canonical_name=shown[0] if shown else None,
        identity_context=found.identity_context if shown else {},
        names=names,
        names_total=of_it.count(),
        identifiers=tuple(IdentifierView(**_said(row, row.value, held), scheme=row.scheme) for row in identifiers),
    )


def _names(rows: Collection[Name], held: Collection[UUID]) -> tuple[NameView, ...]:
    newest = max((row.version for row in rows), default=0)
    return tuple(
        NameView(**_said(row, row.key, held), kind=NameKind.FORMER if 0 < row.version < newest else NameKind(row.kind))
        for row in rows
    )


def _said(row: Any, key: str, held: Collection[UUID]) -> dict[str, Any]:
    """Return a row as it may be shown.

    :param key: begins with `GONE` once the words were redacted
    """
    is_held = row.fragment_id in held
    return {
        "words": None if is_held or key.startswith(GONE) else row.display,
        "held": is_held,
        "owner_id": row.owner_id,
        "fragment_id": row.fragment_id,
        "start": row.start,
        "end": row.end,
        "recorded_at": row.recorded_at,
    }
