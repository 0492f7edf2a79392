"""What an intake costs: one look or one write for each kind of row, however many fragments a request has."""

import json
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from densemem.auth import Principal
from densemem.models import Team
from tests.said import someone
from tests.served import token_of

pytestmark = pytest.mark.django_db

MOST = 15  # with the token, and without BEGIN and COMMIT


@pytest.fixture
def ada() -> Principal:
    """A member who may read and write."""
    return someone(Team.objects.create(name=f"Northwind (sample) {uuid4().hex[:6]}"), "Ada")


def statements_of(client: Client, secret: str, fragments: int) -> list[str]:
    """Send a request of so many fragments and return the SQL statements that it took."""
    texts = [f"Note {uuid4().hex} of Northwind." for _ in range(fragments)]
    body = {"evidence": [{"content": text, "source_type": "document"} for text in texts]}
    headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": uuid4().hex}
    with CaptureQueriesContext(connection) as seen:
        response = client.post("/api/v1/ingests", json.dumps(body), content_type="application/json", headers=headers)
    assert response.status_code == 202
    assert len(response.json()["items"]) == fragments
    return [q["sql"] for q in seen if "SAVEPOINT" not in q["sql"]]


def test_an_intake_takes_few_statements_whatever_the_number_of_its_fragments(client: Client, ada: Principal) -> None:
    secret = token_of(ada)
    statements_of(client, secret, 1)  # the first one of an owner makes its source group

    seen = {fragments: statements_of(client, secret, fragments) for fragments in (1, 3, 10, 20)}

    plain = {fragments: len(found) for fragments, found in seen.items()}
    assert len(set(plain.values())) == 1, plain
    assert plain[3] <= MOST, seen[3]
