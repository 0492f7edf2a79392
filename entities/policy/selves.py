"""What a profile takes an Entity for, by its own decisions ("Merge and split require identity evidence").

Each hop is kept and followed when it is read. What others decided changes nothing here: an Entity that somebody made by
a split stands for the one that was split, for everybody but its author.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from densemem.core import limits
from densemem.core.faults import Because, Refused
from entities.vocabulary import MemberRole

HOPS: Final = limits.REDIRECTS


class TooManyHops(Refused):
    """Merges follow upon each other further than is looked at."""

    because = Because.CONFLICT
    code = "too_many_hops"


@dataclass(frozen=True, slots=True)
class Membership:
    """
    An Entity in a decision.

    :param leads_to: the survivor of a merge, the parent of a split
    :param own: the profile that asks has decided it
    :param active: it was not withdrawn
    """

    entity_id: UUID
    role: MemberRole
    decision_id: UUID
    leads_to: UUID | None
    own: bool
    active: bool


def next_self(rows: Sequence[Membership]) -> tuple[UUID | None, bool]:
    """
    Return where an Entity leads by its memberships, and whether it leads anywhere at all.

    None for one that the profile has told apart: it stands for nothing any more.
    """
    for row in rows:
        if row.role is MemberRole.CHILD and not (row.own and row.active):
            return row.leads_to, True
        if row.role is MemberRole.ABSORBED and row.own and row.active:
            return row.leads_to, True
    if any(row.role is MemberRole.PARENT and row.own and row.active for row in rows):
        return None, True
    return None, False


def selves(
    entities: Sequence[UUID], memberships: Mapping[UUID, Sequence[Membership]]
) -> tuple[dict[UUID, UUID | None], set[UUID]]:
    """
    Return what each Entity is taken for, as far as these memberships tell, and the entities whose own are missing.

    :param memberships: by Entity; one that was looked up and has none has an empty row
    :raises TooManyHops: more than 16, or a circle
    """
    found: dict[UUID, UUID | None] = {}
    missing: set[UUID] = set()
    for entity in entities:
        here: UUID | None = entity
        for _ in range(HOPS + 1):
            if here is None:
                break
            if here not in memberships:
                missing.add(here)
                break
            there, leads = next_self(memberships[here])
            if not leads:
                break
            here = there
        else:
            raise TooManyHops(f"More than {HOPS} merges follow upon each other. Withdraw one of them first.")
        found[entity] = here
    return found, missing
