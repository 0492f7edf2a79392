"""What nobody can write in life: SQL for the `forger` of the audit's tests."""

from django.db import connections


def update(table: str, change: str, where: str = "true") -> str:
    """Return the SQL that changes one row that fits."""
    return f"UPDATE {table} SET {change} WHERE id = (SELECT id FROM {table} WHERE {where} ORDER BY id LIMIT 1)"  # noqa: S608


def delete(table: str, where: str = "true") -> str:
    """Return the SQL that deletes one row that fits."""
    return f"DELETE FROM {table} WHERE id = (SELECT id FROM {table} WHERE {where} ORDER BY id LIMIT 1)"  # noqa: S608


def without(constraint: str, table: str = "relationships_relationshiprecord") -> str:
    """Return the SQL that drops a constraint."""
    return f"ALTER TABLE {table} DROP CONSTRAINT {constraint}"


def plant(statements: list[str]) -> None:
    """Write what no operation would."""
    with connections["default"].cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
