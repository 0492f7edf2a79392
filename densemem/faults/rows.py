"""What the tables hold: counted, hashed, and told without ids, so that two teams with the same fate look the same."""

from collections import Counter
from collections.abc import Collection
from typing import Any, Final
from uuid import UUID

from django.apps import apps
from django.db import connection

from densemem.faults.fault import Broken

# What a model call cost is told even by a worker that lost its item.
TELEMETRY: Final = "placement_attempt"
# What intake and work themselves write of an item. An accepted extraction may be kept for the next try.
WORK: Final = {"evidence_securityevent", "placement_item", "placement_itemanswer", "placement_itemevent"}
TABLES: Final = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
WITH_COLUMN: Final = """
SELECT table_name FROM information_schema.columns JOIN pg_tables ON tablename = table_name AND schemaname = table_schema
WHERE table_schema = 'public' AND column_name = %s ORDER BY 1
"""
HASHED: Final = (
    "SELECT '{0}', count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '') FROM \"{0}\" t"
)
COUNTED: Final = "SELECT '{0}', count(*) FROM \"{0}\" WHERE {1} = %(id)s"


def everything(*, without: Collection[str] = ()) -> dict[str, str]:
    """Return, by table, how many rows it has and a hash of them all."""
    tables = [name for name in _column(TABLES) if name not in without]
    return dict(_rows(" UNION ALL ".join(HASHED.format(name) for name in tables)))


def counts(team_id: UUID) -> dict[str, int]:
    """Return, by table, how many rows of a team it has; telemetry apart."""
    return _counts("team_id", team_id)


def no_knowledge_of(item: Any) -> None:
    """Make sure that nothing was concluded from an item's text.

    :raises Broken: tables beside those of intake and work name it
    """
    found = Counter(_counts("item_id", item.id)) + Counter(_counts("fragment_id", item.fragment_id))
    if beyond := {table for table, count in found.items() if count} - WORK:
        raise Broken(f"the item {item.id} left rows in {sorted(beyond)}")


def differences(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Name the tables that differ."""
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return ", ".join(f"{name} {before.get(name)} -> {after.get(name)}" for name in names)


def same(before: dict[str, Any], after: dict[str, Any], *, what: str) -> None:
    """Make sure that two states are equal.

    :raises Broken: they are not
    """
    if before != after:
        raise Broken(f"{what}: {differences(before, after)}")


def outcome(team_id: UUID) -> dict[str, Any]:
    """Return what became of a team without ids and times: items, records, sources and questions, each sorted."""
    return {
        "items": _told("placement.Item", team_id, "state", "category", "reason"),
        "records": _told(
            "relationships.RelationshipRecord", team_id, "tier", "status", "support_count", "source_group_count"
        ),
        "sources": _told("evidence.Source", team_id, "source_key", "current_revision__token"),
        "tasks": _told("review.Task", team_id, "kind", "status"),
    }


def items(team_id: UUID) -> Any:
    """Return the items of a team."""
    return apps.get_model("placement", "Item").objects.of_team(team_id)


def _told(table: str, team_id: UUID, *columns: str) -> list[tuple[Any, ...]]:
    found = apps.get_model(table)._default_manager.filter(team_id=team_id).values_list(*columns)
    return sorted(found, key=repr)


def _counts(column: str, value: UUID) -> dict[str, int]:
    tables = [name for name in _column(WITH_COLUMN, column) if name != TELEMETRY]
    return dict(_rows(" UNION ALL ".join(COUNTED.format(name, column) for name in tables), id=value))


def _column(sql: str, *given: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return [name for (name,) in cursor.fetchall()]


def _rows(sql: str, **given: UUID) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, given or None)
        return list(cursor.fetchall())
