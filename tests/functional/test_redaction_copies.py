"""After a redaction no table holds anything by which a guess of the words could be confirmed, whoever put it there."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from densemem.auth import Principal
from densemem.core.canonical import canonical_json
from densemem.providers.base import Call, Stage
from densemem.providers.scripted import Scripted
from entities.models import Entity, Identifier, Name
from evidence.models import Fragment, Ingest
from evidence.policy import normal_text
from placement.decide import dispute, lift, redact, verify_again
from placement.models import Item, ItemAnswer, ItemProposal
from placement.remember import KeyReused, remember
from placement.request import RequestInvalid, same_meaning
from placement.status import get_placement
from placement.tasks import drain
from relationships.models import Observation, RelationshipRecord
from relationships.recall import recall
from relationships.trace import trace
from review.models import Decision
from tests.deciding import adopted, answer, hold, hold_back, open_task, place
from tests.said import Fact, model, say, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sound")]

TEXT: Final = "Zelda Quist, in the office, is also known as PIN 4921."
PIN: Final = Fact(
    "Zelda Quist",
    "is also known as",
    "PIN 4921",
    "also_known_as",
    value={"type": "text", "value": "PIN 4921"},
    scope="role=zelda deputy",
    proposal_id="pin-4921",
)
SIBLING: Final = "Mara Lind leads Beacon."
LEADS: Final = Fact("Mara Lind", "leads", "Beacon", "leads")
WORKS: Final = Fact("Zelda Quist", "works on", "Harbor", "works_on")
MAIL: Final = "pin4921@quay.example"
ORCID: Final = "0000-0002-1825-0097"
IDENTIFIED: Final = f"Zelda Quist ({MAIL}, {ORCID}) works on Harbor."
WORDS: Final = re.compile(r"zelda|quist|pin\W{0,3}4921")
HASHES: Final = ("md5", "sha1", "sha256", "sha512", "blake2b", "blake2s")
ENOUGH: Final = 12  # hex digits of a digest that stand nowhere by chance; the ids that are cut from one keep so many


def request(text: str = TEXT) -> dict[str, Any]:
    """Return a request that says the words wherever a client may."""
    spans = [{"evidence_index": 0, "start": 0, "end": len(text)}]
    entity = {
        "ref": "zelda",
        "name": "Zelda Quist",
        "entity_kind": "person",
        "identity_context": {"note": "Zelda with PIN 4921"},
    }
    mara = {
        "ref": "mara",
        "name": "Mara Lind",
        "entity_kind": "person",
        "identity_context": {"friend": "Zelda Quist"},
    }
    known = {
        "proposal_id": "pin-4921",
        "subject_ref": "zelda",
        "predicate": "also_known_as",
        "object_value": {"type": "text", "value": "PIN 4921"},
        "polarity": "+",
        "modality": "statement",
        "client_comment": "PIN 4921, says Zelda",
        "evidence": spans,
    }
    return {
        "evidence": [
            {
                "content": text,
                "source_type": "document",
                "observed_at": "2026-05-01T09:00:00+02:00",
                "labels": ["PIN 4921"],
                "metadata": {"sha256": hashlib.sha256(text.encode()).hexdigest(), "title": "Zelda"},
            },
            {"content": SIBLING, "source_type": "document"},
        ],
        "proposal": {"entities": [entity, mara], "relationships": [known]},
    }


def rows_with(*needles: str) -> list[str]:
    """Return the tables that hold one of these in a row, written in whatever form, without its hyphens."""
    pattern = "|".join(map(re.escape, needles))
    return sorted(table for table, row in every_row() if re.search(pattern, row.replace("-", "")))


def said_in_tables() -> list[str]:
    """Return the tables in which the words stand."""
    return sorted({table for table, row in every_row() if WORDS.search(row)})


def every_row() -> Iterator[tuple[str, str]]:
    """Yield every row of every table as text, all of its columns in it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
        )
        for (table,) in cursor.fetchall():
            cursor.execute(f'SELECT whole::text FROM "{table}" AS whole')
            yield from ((table, row.lower()) for (row,) in cursor.fetchall())


def digests(*guesses: object) -> set[str]:
    """Return how each guess begins as a digest without a key: of its bytes, or of its canonical JSON."""
    found = set()
    for guess in guesses:
        plain = guess.encode() if isinstance(guess, str) else canonical_json(guess)
        forms = {plain, json.dumps(guess, default=str).encode()}
        found |= {hashlib.new(name, form).hexdigest()[:ENOUGH] for name in HASHES for form in forms}
    return found


def forms(text: str) -> list[str]:
    """Return a text as it may have been written or folded before it was hashed."""
    return [text, text.strip("."), text.lower(), text.casefold(), normal_text(text), normal_text(text).strip(".")]


def taken_out(who: Principal, fragment: Fragment, **fields: Any) -> Any:
    body = {"reason": "Asked for.", **fields}
    return redact(principal=who, fragment_id=fragment.id, body=body, idempotency_key=uuid4().hex, now=timezone.now())


class Told(Scripted):
    """A model whose answers are kept, to guess them again, and whose reasons repeat the words."""

    def __init__(self, *facts: Fact) -> None:
        self.texts: list[str] = []
        usual = model(*facts)

        def answer(call: Call) -> str:
            text = usual.complete(call).text.replace("Scripted.", "Zelda Quist said PIN 4921.")
            self.texts.append(text)
            return text

        super().__init__(answer)


class TestNothingIsLeft:
    def test_of_a_short_secret_that_was_said_in_every_place(self, ada: Principal, bo: Principal, cy: Principal) -> None:
        told = Told(PIN)
        body, key = request(), hashlib.sha256(TEXT.encode()).hexdigest()
        done = remember(principal=ada, body=body, idempotency_key=key, now=timezone.now())
        item, sibling = Item.objects.filter(ingest_id=done.ingest_id).order_by("evidence_index")
        Item.objects.filter(pk=sibling.pk).update(available_at=timezone.now() + timedelta(hours=1))
        drain(using=told, linger=False)
        Item.objects.filter(pk=sibling.pk).update(available_at=timezone.now())
        drain(using=Told(LEADS), linger=False)
        assert {i.state for i in Item.objects.all()} == {"completed"}
        record, seen = RelationshipRecord.objects.get(predicate_key="also_known_as"), item_of(item)
        recall(principal=bo, query="Zelda Quist", now=timezone.now())
        trace(principal=bo, relationship_id=record.id)
        place(adopted(bo, item.fragment), bo, PIN, using=told)
        why = {"body": {"message": "Zelda has PIN 4921."}}
        asked = hold_back(dispute, ada, record, **why)
        hold_back(lift, ada, record, **why)
        place(
            verify_again(
                principal=ada,
                observation_id=seen.id,
                body={"reason": "Is it PIN 4921?"},
                idempotency_key="zelda-1",
                now=timezone.now(),
            ),
            ada,
            using=told,
        )
        hold(cy, item.fragment_id, reason="It shows the PIN 4921.")
        assert {
            "evidence_content",
            "evidence_fragment",
            "evidence_securityevent",
            "evidence_wording",
            "entities_entity",
            "entities_name",
            "entities_value",
            "entities_resolutionevent",
            "placement_itemanswer",
            "placement_itemproposal",
            "relationships_observation",
            "relationships_relationshiprecord",
            "relationships_verificationevent",
            "review_decision",
        } == set(said_in_tables())
        ids: list[tuple[object, ...]] = [("value", record.team_id, "text", "PIN 4921", None, 1)]
        for cycle in range(1, 6):
            for number in Item.objects.values_list("id", flat=True):
                ids.append(("entity", number, cycle, "zelda quist", "person"))
                ids += [(kind, number, cycle, "o0") for kind in ("observation", "record")]
                ids.append(("resolution", number, cycle, "Zelda Quist"))
        group = [
            "semantic_group",
            record.team_id,
            record.subject_entity_id,
            record.predicate_key,
            None,
            record.object_value_id,
            "+",
            None,
            None,
            record.scope_key,
        ]
        decided = [
            ["dispute", str(record.id), why["body"]],
            ["verify_again", str(seen.id), {"reason": "Is it PIN 4921?"}],
        ]
        guesses = digests(
            *(form for text in (TEXT, "PIN 4921", "4921", "Zelda Quist", *told.texts) for form in forms(text)),
            body,
            same_meaning(body),
            body["evidence"],
            body["evidence"][0],
            body["proposal"],
            group,
            group[1:],
            record.scope_key,
            *decided,
            *map(list, ids),
        )
        # The sender stored one itself.
        assert set(rows_with(*guesses)) == {"evidence_fragment"}

        receipt = taken_out(cy, item.fragment).receipt

        assert said_in_tables() == []
        assert rows_with(*guesses) == []
        assert asked.decision_id in set(Decision.objects.values_list("id", flat=True))
        assert {place for place, rows in receipt.removed.items() if rows} >= {
            "evidence_fragment",
            "evidence_securityevent",
            "relationships_verificationevent",
            "review_decision",
            "entities_entity",
        }
        assert {"backups", "logs", "models"} <= set(receipt.out_of_reach)


class TestIdentifiers:
    def test_of_the_text_go_with_it_wherever_somebody_repeats_them(
        self, ada: Principal, bo: Principal, cy: Principal
    ) -> None:
        say(ada, IDENTIFIED, WORKS)
        say(bo, SIBLING, LEADS)
        record = RelationshipRecord.objects.get(predicate_key="leads")
        hold_back(dispute, bo, record, body={"message": f"Ask {MAIL.upper()}."})
        hold_back(lift, bo, record, body={"message": f"So says {ORCID}."})
        assert {row.display for row in Identifier.objects.all()} == {MAIL, ORCID}
        assert any(name.forms for name in Name.objects.filter(display="Zelda Quist"))
        assert rows_with(ORCID.replace("-", "")) != []

        receipt = taken_out(cy, Fragment.objects.get(content__text=IDENTIFIED)).receipt

        assert (said_in_tables(), rows_with(ORCID.replace("-", ""))) == ([], [])
        assert receipt.removed["entities_identifier"] == 2
        assert {(row.display, row.value) for row in Identifier.objects.all()} == {
            ("[redacted]", f"REDACTED:{row.id}") for row in Identifier.objects.all()
        }
        assert [name.forms for name in Name.objects.filter(display="[redacted]")] == [[], []]

    def test_that_another_text_gives_stay_there(self, ada: Principal, bo: Principal, cy: Principal) -> None:
        say(ada, IDENTIFIED, WORKS)
        other = say(bo, f"Zelda Quist ({ORCID}) leads Beacon.", Fact("Zelda Quist", "leads", "Beacon", "leads"))
        hold_back(dispute, bo, RelationshipRecord.objects.get(owner=bo.profile_id), body={"message": f"See {ORCID}."})
        kept = Identifier.objects.get(fragment=other.items[0].evidence_id)

        taken_out(cy, Fragment.objects.get(content__text=IDENTIFIED))

        kept.refresh_from_db()
        assert (kept.value, kept.display) == (ORCID, ORCID)
        assert [row.display for row in Identifier.objects.exclude(pk=kept.pk)] == ["[redacted]", "[redacted]"]
        assert Decision.objects.get(action="dispute").message == f"See {ORCID}."

    def test_that_begin_like_a_tombstone_go_too(self, ada: Principal, cy: Principal) -> None:
        badge = {"scheme": "badge", "value": "REDACTED:4921-0007"}
        proposed = {"entities": [{"ref": "z", "name": "Zelda Quist", "identifiers": [badge]}]}
        say(ada, "Zelda Quist works on Harbor with REDACTED:4921-0007.", WORKS, proposal=proposed)
        assert Identifier.objects.get().value == badge["value"]

        taken_out(cy, Fragment.objects.get())

        assert rows_with("redacted:49210007") == []


class TestARetry:
    def test_is_answered_by_what_was_redacted_and_stores_nothing(self, ada: Principal, cy: Principal) -> None:
        sent = {"principal": ada, "body": request(), "idempotency_key": "k", "now": timezone.now()}
        first = remember(**sent)
        drain(using=model(PIN), linger=False)
        taken_out(cy, Fragment.objects.get(ingest_id=first.ingest_id, evidence_index=0))

        again = remember(**sent)

        assert (again.ingest_id, again.replayed) == (first.ingest_id, True)
        assert (Ingest.objects.count(), Fragment.objects.count(), said_in_tables()) == (1, 2, [])
        assert get_placement(team_id=ada.team_id, ingest_id=again.ingest_id).items[0].state == "redacted"
        with pytest.raises(KeyReused):
            remember(**sent | {"body": request("Zelda Quist is known as PIN 4922.")})


class TestTheReason:
    @pytest.mark.parametrize("reason", ["Zelda  QUIST asked for it.", f"They sent: {TEXT}"])
    def test_may_not_repeat_the_words(self, ada: Principal, cy: Principal, reason: str) -> None:
        say(ada, TEXT, replace(PIN, proposal_id=None))

        with pytest.raises(RequestInvalid) as refused:
            taken_out(cy, Fragment.objects.get(), reason=reason)

        assert [(f.pointer, f.code) for f in refused.value.faults] == [("/reason", "repeats_the_text")]
        assert Fragment.objects.get().content.text == TEXT


class TestOthers:
    def test_texts_of_the_request_lose_the_proposal_and_are_placed_without_it(
        self, ada: Principal, cy: Principal
    ) -> None:
        send_whole(ada)

        taken_out(cy, Fragment.objects.get(evidence_index=0))

        assert [proposal.payload for proposal in ItemProposal.objects.all()] == [{}, {}]
        drain(using=model(LEADS), linger=False)
        assert [r.predicate_key for r in RelationshipRecord.objects.all()] == ["leads"]
        assert said_in_tables() == []

    def test_what_a_worker_had_read_of_the_request_does_not_come_back(self, ada: Principal, cy: Principal) -> None:
        send_whole(ada)
        gone = Fragment.objects.get(evidence_index=0)
        Item.objects.filter(fragment=gone).update(available_at=timezone.now() + timedelta(hours=1))
        usual, calls = model(LEADS), []

        def meddle(call: Call) -> str:
            calls.append(call.stage)
            if len(calls) == 1:
                taken_out(cy, gone)
            return usual.complete(call).text

        drain(using=Scripted(meddle), linger=False)

        assert calls == [Stage.EXTRACT, Stage.EXTRACT, Stage.VERIFY]
        assert Item.objects.get(evidence_index=1).attempts == 1
        assert [entity.identity_context for entity in Entity.objects.all()] == [{}, {}]
        assert said_in_tables() == []

    def test_reasons_of_models_and_people_that_repeat_a_name_nobody_says_any_more(
        self, ada: Principal, bo: Principal, cy: Principal
    ) -> None:
        say(ada, TEXT, replace(PIN, proposal_id=None))
        say(bo, SIBLING, LEADS, using=Told(LEADS))
        hold_back(
            dispute, bo, RelationshipRecord.objects.get(predicate_key="leads"), body={"message": "Ask Zelda Quist."}
        )
        assert "review_decision" in said_in_tables()

        taken_out(cy, Fragment.objects.get(content__text=TEXT))

        assert said_in_tables() == []
        assert ItemAnswer.objects.get(fragment__content__text=SIBLING, stage="extract").payload

    def test_an_answer_is_verified_anew_when_the_first_judgment_repeated_the_words(
        self, ada: Principal, bo: Principal, cy: Principal
    ) -> None:
        say(ada, TEXT, replace(PIN, proposal_id=None))
        hacks = Fact("Mara Lind", "is hacking on", "Harbor", "works_on")
        view = say(bo, "Mara Lind is hacking on Harbor.", hacks, using=Told(hacks))
        taken_out(cy, Fragment.objects.get(content__text=TEXT))

        answer(bo, open_task(), "reject", message="It is not so.")
        done = place(view, bo, hacks)

        assert done.items[0].state == "completed"
        assert said_in_tables() == []

    def test_a_worker_that_knew_the_name_begins_anew(self, ada: Principal, bo: Principal, cy: Principal) -> None:
        say(ada, TEXT, replace(PIN, proposal_id=None))
        gone = Fragment.objects.get()
        told, calls = Told(LEADS), []

        def meddle(call: Call) -> str:
            calls.append(call.stage)
            if calls == [Stage.EXTRACT, Stage.VERIFY]:
                taken_out(cy, gone)
                return told.complete(call).text
            return model(LEADS).complete(call).text

        send(bo, SIBLING)
        drain(using=Scripted(meddle), linger=False)

        assert calls == [Stage.EXTRACT, Stage.VERIFY, Stage.VERIFY]
        assert Item.objects.get(fragment__content__text=SIBLING).state == "completed"
        assert said_in_tables() == []


def send_whole(who: Principal) -> None:
    """Send the request with both texts; nothing is placed yet."""
    remember(principal=who, body=request(), idempotency_key=uuid4().hex, now=timezone.now())


def item_of(item: Item) -> Observation:
    found: Observation = Observation.objects.get(item=item)
    return found
