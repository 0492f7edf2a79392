"""Redaction: a text and every copy of its words go for good; ids, decisions and everybody else's words stay."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from densemem.auth import Principal
from densemem.core.faults import NotThere
from entities.models import Entity, Name, Value
from evidence.models import Content, Fragment, Redaction, RedactionReceipt, Wording
from placement.decide import Redacted, get_redaction, redact
from placement.models import Item, ItemAnswer, ItemProposal
from relationships.models import EvidenceSupport, Observation, RelationshipRecord, SearchDocument, SupportDecision
from review.models import Decision, Task
from tests.said import Fact, say, send, someone

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sound")]

TEXT = "Zelda Quist works on Harbor."
WORKS = Fact("Zelda Quist", "works on", "Harbor", "works_on")


def taken_out(who: Principal, fragment_id: UUID, **fields: Any) -> Redacted:
    """Redact a text."""
    given = {"body": {"reason": "Asked by the person."}, "idempotency_key": uuid4().hex, **fields}
    return redact(principal=who, fragment_id=fragment_id, now=timezone.now(), **given)


def left(*words: str) -> list[str]:
    """Return every table and column in which one of these words can still be read, as text or as JSON."""
    found = []
    for model in apps.get_models():
        for field in model._meta.local_fields:
            with connection.cursor() as cursor:
                quoted = f'"{model._meta.db_table}"', f'"{field.column}"'
                if field.get_internal_type() == "BinaryField":
                    continue
                cursor.execute(
                    f"SELECT count(*) FROM {quoted[0]} WHERE {quoted[1]}::text ILIKE ANY(%s)",
                    [[f"%{word}%" for word in words]],
                )
                if cursor.fetchone()[0]:
                    found.append(f"{model._meta.label}.{field.column}")
    return found


def test_no_column_of_any_table_holds_the_words_any_more(ada: Principal, cy: Principal) -> None:
    proposal = {"entities": [{"ref": "z", "name": "Zelda Quist", "aliases": ["Quist"]}]}
    say(ada, TEXT, WORKS, proposal=proposal)
    assert len(left("zelda", "quist")) > 5

    done = taken_out(cy, Fragment.objects.get().id)

    assert left("zelda", "quist", "works on Harbor") == []
    assert done.processing_state == "redacted"
