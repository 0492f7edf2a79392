"""Columns with a meaning of their own: ids, closed words, the ledger's sequence, keys that cannot cross a team."""

from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import models

from densemem.core.ids import uuid7

SEQUENCE = "densemem_ledger_seq"


class NextInSequence(models.Func):
    """The next number of the one sequence that orders every ledger row."""

    template = f"nextval('{SEQUENCE}')"
    output_field = models.BigIntegerField()


class SequenceField(models.BigIntegerField):
    """A number that the database gives; unique over all ledgers."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("db_default", NextInSequence())
        options.setdefault("unique", True)
        options.setdefault("editable", False)
        super().__init__(**options)


def new_id() -> UUID:
    """Return a fresh UUID of version 7: sortable by time, made in the application."""
    return uuid7()


class IdField(models.UUIDField):
    """The primary key of every table of ours."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("primary_key", True)
        options.setdefault("default", new_id)
        options.setdefault("editable", False)
        super().__init__(**options)


def word(words: type[StrEnum], **options: Any) -> models.CharField:
    """Return a column for one of a closed set of words; the table's CHECK comes from `word_check`."""
    return models.CharField(max_length=32, choices=[(w.value, w.value.replace("_", " ")) for w in words], **options)


def word_check(table: str, column: str, words: type[StrEnum], *, nullable: bool = False) -> models.CheckConstraint:
    """Return the CHECK that keeps a column within its words."""
    condition = models.Q(**{f"{column}__in": [w.value for w in words]})
    if nullable:
        condition |= models.Q(**{f"{column}__isnull": True})
    return models.CheckConstraint(name=f"{table}_{column}_is_known", condition=condition)


def _in_team(options: dict[str, Any]) -> dict[str, Any]:
    """Django makes no constraint of its own for such a key: `densemem.db.migrate` makes one of two columns."""
    return {"related_name": "+", **options, "db_constraint": False}


class TeamKey(models.ForeignKey):
    """A foreign key inside one team: the database checks (team_id, x_id) together; what is referred to stays."""

    def __init__(self, to: Any, on_delete: Any = models.PROTECT, **options: Any) -> None:
        super().__init__(to, on_delete, **_in_team(options))


class TeamOneKey(models.OneToOneField):
    """The same for at most one row of a team that refers to one."""

    def __init__(self, to: Any, on_delete: Any = models.PROTECT, **options: Any) -> None:
        super().__init__(to, on_delete, **_in_team(options))


TEAM_KEYS = (TeamKey, TeamOneKey)
