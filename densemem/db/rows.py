"""The base of every table that belongs to a team."""

from datetime import datetime
from typing import Any, ClassVar, Self
from uuid import UUID

from django.db import models

from densemem.db.fields import IdField


class TeamQuerySet(models.QuerySet[Any]):
    """Rows of one team first; chained words read as a sentence."""

    def of_team(self, team_id: UUID) -> Self:
        """Keep the rows of one team."""
        return self.filter(team_id=team_id)

    def owned_by(self, profile_id: UUID) -> Self:
        """Keep the rows that one profile owns."""
        return self.filter(owner_id=profile_id)

    def known_by(self, at: datetime | None) -> Self:
        """Keep the ledger rows that were known by a moment, as `densemem.core.times.known` tells; None keeps all."""
        return self if at is None else self.filter(recorded_at__lte=at)


class TeamRow(models.Model):
    """A row of one team: UUIDv7 `id`, and (team, id) unique so that keys can refer to both."""

    id = IdField()
    team = models.ForeignKey("densemem.Team", models.PROTECT, related_name="+")

    objects: ClassVar[Any] = TeamQuerySet.as_manager()

    class Meta:
        abstract = True


def one_per_team(table: str) -> models.UniqueConstraint:
    """Return the constraint that composite foreign keys refer to."""
    return models.UniqueConstraint(name=f"{table}_in_team", fields=["team", "id"])
