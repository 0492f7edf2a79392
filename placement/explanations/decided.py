"""The decisions about who is who of a team, listed and one by one: everybody's own, and what others hold."""

from typing import Final
from uuid import UUID

from densemem.auth import Principal
from densemem.core import limits
from densemem.core.faults import NotThere
from densemem.core.words import Scope
from densemem.paging import Cursor, Order, Page, page_of
from entities.queries.explained import identity_rows, step_of
from placement.explanations.shapes import DecidedIdentity
from placement.explanations.steps import told

NEWEST_FIRST: Final = Order("recorded_at", newest_first=True)


def list_identities(
    *, principal: Principal, cursor: Cursor | None = None, limit: int = limits.PAGE_DEFAULT
) -> Page[DecidedIdentity]:
    """Return a page of the team's decisions about who is who, the newest first; those withdrawn are among them.

    :raises ScopeMissing: the caller may not read
    """
    principal.require(Scope.READ)
    page = page_of(identity_rows(team_id=principal.team_id), order=NEWEST_FIRST, cursor=cursor, limit=limit)
    return page.of(told(team_id=principal.team_id, steps=[step_of(row) for row in page.rows]))


def get_identity(*, principal: Principal, identity_id: UUID) -> DecidedIdentity:
    """Return one decision about who is who.

    :raises ScopeMissing: the caller may not read
    :raises NotThere: no such decision in the team
    """
    principal.require(Scope.READ)
    row = identity_rows(team_id=principal.team_id).filter(pk=identity_id).first()
    if row is None:
        raise NotThere
    (decided,) = told(team_id=principal.team_id, steps=[step_of(row)])
    return decided
