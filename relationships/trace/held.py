"""Which texts may be shown: a text that is held never is, whoever asks for a trace."""

from collections.abc import Collection
from uuid import UUID

from evidence.queries import is_quarantined


def held_among(*, team_id: UUID, fragment_ids: Collection[UUID]) -> frozenset[UUID]:
    """Return those of at most a few hundred fragments that are held now."""
    return frozenset(i for i in fragment_ids if is_quarantined(team_id=team_id, fragment_id=i))
