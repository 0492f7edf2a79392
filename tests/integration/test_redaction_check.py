"""`manage.py redactions check` finds each kind of copy that a redaction should have removed, or that came since."""

import hashlib
import json
from contextlib import suppress
from io import StringIO
from typing import Any, Final
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.utils import timezone

from densemem.models import Team
from evidence.models import Fragment
from placement.decide import redact
from tests.forged import plant, update
from tests.said import Fact, say, someone

MAIL: Final = "zelda@quay.example"
ORCID: Final = "0000-0002-1825-0097"
TEXT: Final = f"Zelda Quist ({MAIL}, {ORCID}) is also known as Harbourmaster."
NAMES: Final = Fact(
    "Zelda Quist",
    "is also known as",
    "Harbourmaster",
    "also_known_as",
    value={"type": "text", "value": "Harbourmaster"},
)
HASHED: Final = hashlib.sha256(TEXT.encode()).hexdigest()
COPIES: Final = [
    ("evidence_content", "text", f"'{TEXT}'"),
    ("evidence_fragment", "labels", "ARRAY['zelda quist']"),
    ("evidence_fragment", "metadata", """'{"of": ["Zelda Quist"]}'"""),
    ("evidence_ingest", "idempotency_key", f"'{HASHED}'"),
    ("evidence_ingest", "request_hash", f"'{hashlib.blake2b(TEXT.encode(), digest_size=32).hexdigest()}'"),
    ("evidence_wording", "text", "'Harbourmaster'"),
    ("evidence_securityevent", "reason", "'of Zelda  QUIST'"),
    ("evidence_redaction", "reason", "'of Zelda-Quist'"),
    ("entities_entity", "identity_context", """'{"also": "Zelda Quist"}'"""),
    ("entities_name", "display", "'Zelda Quist'"),
    ("entities_name", "key", "'zelda quist'"),
    ("entities_identifier", "display", f"'{MAIL}'"),
    ("entities_identifier", "value", f"'{MAIL.upper()}'"),
    ("evidence_redaction", "reason", f"'Of {MAIL}.'"),
    ("relationships_verificationevent", "reason", f"'It gives {ORCID}.'"),
    ("entities_value", "canonical", "'Harbourmaster'"),
    ("entities_resolutionevent", "mention_ref", "'Zelda Quist'"),
    ("placement_itemproposal", "payload", """'{"entities": [{"name": "Zelda Quist"}]}'"""),
    ("placement_itemanswer", "payload", f"""'{{"rationale": "{TEXT}"}}'"""),
    ("relationships_observation", "subject_ref", "'Zelda Quist'"),
    ("relationships_observation", "proposal_id", "'zelda-quist'"),
    ("relationships_observation", "scope_key", "'role=harbourmaster'"),
    ("relationships_relationshiprecord", "scope_key", "'role=harbourmaster'"),
    ("relationships_relationshiprecord", "semantic_group_key", f"'{HASHED}'"),
    ("relationships_searchdocument", "text", "'Zelda Quist is also known'"),
    ("relationships_searchdocument", "terms", "to_tsvector('simple', 'known zelda quist')"),
    ("relationships_verificationevent", "reason", "'It says Harbourmaster.'"),
    ("relationships_verificationevent", "response_hash", f"'{hashlib.sha256(b'zelda quist').hexdigest()}'"),
    ("review_decision", "message", "'Zelda Quist asked.'"),
    ("review_decision", "request_hash", f"'{hashlib.md5(TEXT.encode(), usedforsecurity=False).hexdigest()}'"),
]


def checked() -> list[tuple[str, str]]:
    """Return (table, column) of each row in which the command finds words."""
    out = StringIO()
    with suppress(SystemExit):
        call_command("redactions", "check", "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return sorted((row["table"], row["column"]) for row in found["leftovers"])


@pytest.fixture
def sample(transactional_db: None) -> Team:
    """A team with one text that was redacted."""
    team = Team.objects.create(name="Northwind (sample)")
    ada, cy = someone(team, "Ada"), someone(team, "Cy", role="manager")
    say(ada, TEXT, NAMES, proposal={"entities": [{"ref": "z", "name": "Zelda Quist", "entity_kind": "person"}]})
    body = {"reason": "Asked for."}
    number = Fragment.objects.get().id
    redact(principal=cy, fragment_id=number, body=body, idempotency_key=uuid4().hex, now=timezone.now())
    return team


@pytest.mark.parametrize(("table", "column", "copy"), COPIES, ids=[f"{t}.{c}" for t, c, _ in COPIES])
def test_finds_a_copy_and_names_its_place(forger: None, table: str, column: str, copy: str) -> None:
    assert checked() == []

    plant([update(table, f"{column} = {copy}")])

    assert checked() == [(table, column)]
