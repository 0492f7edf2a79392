"""Short ways to look at what somebody knows: a record's standing, what recall finds, what the catalogue says."""

from typing import Any, Final

from django.db import connection
from django.utils import timezone

from densemem.auth import Principal
from relationships.models import RelationshipRecord
from relationships.recall import recall
from tests.deciding import TEXT, WORKS, of_source, record_of
from tests.said import Fact, say

AGAIN: Final = "A visitor wrote home that by now Mara Lind gladly works on Harbor."


def standing(who: Principal) -> tuple[str, str, int, int]:
    """Return tier, status, supports and voices of the only record of a profile."""
    row = record_of(who)
    return row.tier, row.status, row.support_count, row.source_group_count


def works_on(project: str, **fields: Any) -> Fact:
    """Return that Mara works on a project."""
    return Fact("Mara Lind", "works on", project, "works_on", **fields)


def found(who: Principal, query: str, **asked: Any) -> set[Any]:
    """Return the records that recall answers."""
    answer = recall(principal=who, query=query, now=timezone.now(), **asked)
    return {item.relationship_id for group in answer.results for item in group.relationships}


def catalogue(question: str) -> list[str]:
    """Return what the catalogue of the database answers."""
    with connection.cursor() as cursor:
        cursor.execute(question)
        return [name for (name,) in cursor.fetchall()]


def fact_of_two_sources(who: Principal) -> RelationshipRecord:
    """Say one thing by two independent sources."""
    say(who, TEXT, WORKS, **of_source("hr"))
    say(who, AGAIN, WORKS, **of_source("diary"))
    assert standing(who) == ("fact", "active", 2, 2)
    return record_of(who)
