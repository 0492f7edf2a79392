"""Redaction: a text and every copy of its words go for good; ids, decisions and everybody else's words stay."""

import json
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from densemem.auth import Principal
from densemem.core.faults import NotThere
from densemem.providers.base import Call, Stage
from densemem.providers.scripted import Scripted
from entities.models import Entity, Name, Value
from evidence.models import Content, Fragment, Redaction, RedactionReceipt, Wording
from placement.decide import DecisionRefused, EvidenceUnusable, Redacted, get_redaction, inspect, redact
from placement.models import Item, ItemAnswer, ItemProposal
from placement.status import get_placement
from placement.tasks import drain
from relationships.models import Observation, RelationshipRecord, SearchDocument, SupportDecision
from relationships.recall import recall
from relationships.trace import trace
from review.models import Decision, Task
from review.policy import NotTheDecider
from review.reviews import get_review
from tests.deciding import ATTACK, HACKING, HACKS, hold, retracted
from tests.said import Fact, model, say, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sound")]

TEXT = "Zelda Quist works on Harbor."
WORKS = Fact("Zelda Quist", "works on", "Harbor", "works_on")
BORN = Fact("Zelda Quist", "was born on", "3 May 1990", "born_on", value={"type": "date", "value": "1990-05-03"})
OTHER = "Zelda Quist leads Beacon."
LEADS = Fact("Zelda Quist", "leads", "Beacon", "leads")


def taken_out(who: Principal, fragment_id: UUID, **fields: Any) -> Redacted:
    """Redact a text."""
    given = {"body": {"reason": "Asked by the person."}, "idempotency_key": uuid4().hex, **fields}
    return redact(principal=who, fragment_id=fragment_id, now=timezone.now(), **given)


def left(*words: str) -> list[str]:
    """Return every table and column in which one of these words can be read, in whatever form."""
    found = []
    for field in (f for m in apps.get_models() for f in m._meta.local_fields):
        table = field.model._meta.db_table
        with connection.cursor() as cursor:
            sought = f'SELECT count(*) FROM "{table}" WHERE "{field.column}"::text ILIKE ANY(%s)'
            cursor.execute(sought, [[f"%{word}%" for word in words]])
            if cursor.fetchone()[0]:
                found.append(f"{table}.{field.column}")
    return found


def of(text: str) -> Fragment:
    """Return the oldest fragment with a text."""
    return Fragment.objects.filter(content__text=text).order_by("seq").first()


class TestTakesOut:
    def test_every_copy_of_the_words_in_every_table(self, ada: Principal, cy: Principal) -> None:
        entities = [
            {
                "ref": "z",
                "name": "Zelda Quist",
                "aliases": ["Quist"],
                "identity_context": {"note": "Zelda of the docks"},
            }
        ]
        say(ada, TEXT, WORKS, proposal={"entities": entities})
        before = {table.partition(".")[0] for table in left("zelda", "quist")}

        done = taken_out(cy, of(TEXT).id)

        assert left("zelda", "quist", "works on harbor") == []
        assert {
            "evidence_content",
            "evidence_wording",
            "entities_name",
            "placement_itemproposal",
            "placement_itemanswer",
            "relationships_searchdocument",
            "relationships_observation",
            "entities_resolutionevent",
        } <= before
        assert done.receipt is not None
        removed = {table for table, rows in done.receipt.removed.items() if rows}
        assert before <= removed

    def test_values_units_and_scopes(self, ada: Principal, cy: Principal) -> None:
        text = "Zelda Quist works on Harbor as tidewaiter and was born on 3 May 1990."
        scoped = Fact("Zelda Quist", "works on", "Harbor", "works_on", scope="role=tidewaiter")
        say(ada, text, BORN, scoped)
        assert Value.objects.get().canonical == "1990-05-03"
        assert left("tidewaiter")

        taken_out(cy, of(text).id)

        assert (Value.objects.get().display, Value.objects.get().unit) == ("[redacted]", None)
        assert left("1990-05-03", "3 May 1990", "tidewaiter", "zelda") == []

    def test_a_text_that_waits_for_a_person_with_its_question(self, ada: Principal, cy: Principal) -> None:
        say(ada, HACKING, HACKS)
        task = Task.objects.get()

        taken_out(cy, of(HACKING).id)

        task.refresh_from_db()
        assert (task.status, Item.objects.get().state) == ("canceled", "redacted")
        shown = json.dumps(get_review(principal=ada, review_id=task.id), default=str).lower()
        assert "redacted" in shown
        assert "mara" not in shown
        assert "hacking" not in shown

    def test_a_text_that_is_held(self, ada: Principal, cy: Principal) -> None:
        say(ada, f"{TEXT} {ATTACK}")

        taken_out(cy, Fragment.objects.get().id)

        assert left("zelda", "previous instructions") == []
        assert Task.objects.get().status == "canceled"
        body = {"reason": "What was it?"}
        seen = inspect(
            principal=cy, fragment_id=Fragment.objects.get().id, body=body, idempotency_key="i", now=timezone.now()
        )
        assert (seen.evidence.redacted, seen.evidence.text) == (True, "[redacted]")

    def test_for_every_owner_who_said_the_same(self, ada: Principal, bo: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        say(bo, TEXT, WORKS)

        done = taken_out(cy, Fragment.objects.order_by("seq")[1].id)

        assert done.receipt is not None
        assert [f.author for f in done.receipt.fragments] == ["Ada", "Bo"]
        assert {r.status for r in RelationshipRecord.objects.all()} == {"pending_evidence"}
        assert {i.state for i in Item.objects.all()} == {"redacted"}
        assert {c.owner_profile_id for c in done.changes} == {ada.profile_id, bo.profile_id}
        assert left("zelda") == []


class TestKeeps:
    def test_ids_offsets_digests_and_decisions(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        before = Content.objects.values("id", "digest", "normal_digest").get()
        counted = {m: m.objects.count() for m in (Fragment, Observation, Wording, Name, Entity, ItemAnswer)}

        taken_out(cy, of(TEXT).id)

        kept = Content.objects.get()
        assert {name: getattr(kept, name) for name in before} == before
        assert len(kept.text) == len(TEXT)
        assert {m: m.objects.count() for m in counted} == counted

    def test_the_same_text_of_another_team(self, ada: Principal, stranger: Principal, cy: Principal) -> None:
        say(stranger, TEXT, WORKS)
        say(ada, TEXT, WORKS)
        mine = Fragment.objects.get(team_id=ada.team_id)

        taken_out(cy, mine.id)

        assert Content.objects.get(team_id=stranger.team_id).text == TEXT
        assert RelationshipRecord.objects.get(team_id=stranger.team_id).status == "active"
        assert Name.objects.filter(team_id=stranger.team_id, display="Zelda Quist").exists()

    def test_a_name_that_stands_in_another_text_until_that_goes_too(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        say(ada, OTHER, LEADS)

        taken_out(cy, of(TEXT).id)

        assert set(Name.objects.values_list("display", flat=True)) == {"Zelda Quist", "[redacted]", "Beacon"}
        found = recall(principal=ada, query="Zelda Quist", now=timezone.now())
        assert [c.sentence for g in found.results for c in g.relationships] == ["Zelda Quist leads Beacon"]

        taken_out(cy, of(OTHER).id)

        assert set(Name.objects.values_list("display", flat=True)) == {"[redacted]"}
        assert left("zelda") == []

    def test_a_record_that_another_text_supports(self, ada: Principal, cy: Principal) -> None:
        again = "As we know, Zelda Quist works on Harbor."
        say(ada, TEXT, WORKS)
        say(ada, again, WORKS)

        done = taken_out(cy, of(TEXT).id)

        record = RelationshipRecord.objects.get()
        assert (record.status, record.support_count) == ("active", 1)
        assert [c.reason for c in done.changes] == ["evidence_redacted"]
        assert SupportDecision.objects.order_by("-seq").first().reason == "evidence_redacted"
        assert "Zelda Quist works on Harbor" in SearchDocument.objects.get().text

    def test_the_same_text_said_anew_as_new_content(self, ada: Principal, cy: Principal) -> None:
        text = "Zelda Quist works on Harbor and was born on 3 May 1990."
        say(ada, text, BORN, WORKS)
        taken_out(cy, of(text).id)

        say(ada, text, BORN, WORKS)
        say(ada, f"Again: {text}", BORN)

        assert list(Content.objects.order_by("seq").values_list("text", flat=True))[1] == text
        assert [v.canonical for v in Value.objects.exclude(display="[redacted]")] == ["1990-05-03"]
        found = recall(principal=ada, query="Zelda Quist Harbor", now=timezone.now())
        assert "Zelda Quist works on Harbor" in [c.sentence for g in found.results for c in g.relationships]


class TestAnswers:
    def test_trace_and_status_say_redacted(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        record = RelationshipRecord.objects.get()

        taken_out(cy, of(TEXT).id)

        seen = trace(principal=ada, relationship_id=record.id)
        assert [(s.withheld, s.passage, s.effective) for s in seen.supports.items] == [("redacted", None, False)]
        assert [o.withheld for o in seen.observations.items] == ["redacted"]
        assert [v.withheld for v in seen.verifications.items] == ["redacted"]
        assert seen.relationship.sentence == "[redacted] works on [redacted]"
        (item,) = get_placement(team_id=ada.team_id, ingest_id=view.ingest_id).items
        assert (item.state, item.category, item.reason) == ("redacted", "evidence_redacted", "evidence_redacted")
        assert item.outcomes == ()

    def test_the_receipt_names_what_went_and_what_is_out_of_reach(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS, source="Letters")

        receipt = taken_out(cy, of(TEXT).id).receipt

        assert receipt is not None
        assert get_redaction(principal=ada, redaction_id=receipt.redaction_id) == receipt
        assert (receipt.by.name, receipt.reason) == ("Cy", "Asked by the person.")
        assert [(f.author, f.source_label) for f in receipt.fragments] == [("Ada", "Letters")]
        assert receipt.removed["evidence_content"] == 1
        assert {"exports", "backups", "database_files"} <= set(receipt.out_of_reach)

    def test_the_preview_shows_the_same_and_stores_nothing(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        key = uuid4().hex

        shown = taken_out(cy, of(TEXT).id, dry_run=True, idempotency_key=key)

        assert shown.dry_run
        assert of(TEXT) is not None
        assert (Redaction.objects.count(), RedactionReceipt.objects.count(), Decision.objects.count()) == (0, 0, 0)
        done = taken_out(cy, of(TEXT).id, idempotency_key=key)
        assert shown.receipt is not None
        assert done.receipt is not None
        assert shown.receipt.removed == done.receipt.removed
        assert shown.changes == done.changes != ()

    def test_a_retry_is_answered_alike(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        number, key = of(TEXT).id, uuid4().hex

        first = taken_out(cy, number, idempotency_key=key)
        again = taken_out(cy, number, idempotency_key=key)

        assert again.replayed
        assert (again.decision_id, again.receipt) == (first.decision_id, first.receipt)


class TestRefuses:
    def test_who_is_no_manager_or_of_another_team(self, ada: Principal, stranger: Principal) -> None:
        say(ada, TEXT, WORKS)

        with pytest.raises(NotTheDecider) as refused:
            taken_out(ada, of(TEXT).id)
        with pytest.raises(NotThere):
            taken_out(stranger, of(TEXT).id)

        assert refused.value.code == "not_manager"
        assert of(TEXT) is not None

    def test_what_is_redacted_already(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        number = of(TEXT).id
        taken_out(cy, number)

        with pytest.raises(DecisionRefused) as refused:
            taken_out(cy, number)
        with pytest.raises(DecisionRefused):
            hold(cy, number)

        assert refused.value.code == "already_redacted"

    def test_a_decision_that_would_rest_on_it(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        number = of(TEXT).id
        say(ada, OTHER, LEADS)
        taken_out(cy, number)
        record = RelationshipRecord.objects.get(status="active")

        with pytest.raises(EvidenceUnusable):
            retracted(ada, record, body={"message": "See there.", "fragment_ids": [str(number)]})


class TestMeetsAWorker:
    @pytest.mark.parametrize("stage", [Stage.EXTRACT, Stage.VERIFY])
    def test_that_is_placing_the_text_and_writes_nothing_after(
        self, ada: Principal, cy: Principal, stage: Stage
    ) -> None:
        ingest_id = send(ada, TEXT)
        usual = model(WORKS)

        def answer(call: Call) -> str:
            if call.stage is stage:
                taken_out(cy, Fragment.objects.get().id)
            return usual.complete(call).text

        drain(using=Scripted(answer), linger=False)

        assert left("zelda") == []
        assert (RelationshipRecord.objects.count(), Name.objects.count()) == (0, 0)
        (item,) = get_placement(team_id=ada.team_id, ingest_id=ingest_id).items
        assert item.state == "redacted"

    def test_that_has_not_begun(self, ada: Principal, cy: Principal) -> None:
        send(ada, TEXT, proposal={"entities": [{"ref": "z", "name": "Zelda Quist"}]})

        taken_out(cy, Fragment.objects.get().id)

        assert drain(using=model(WORKS), linger=False) == 0
        assert ItemProposal.objects.get().payload == {}


class TestCheck:
    def checked(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        out = StringIO()
        try:
            call_command("redactions", "check", *arguments, "--json", stdout=out)
        except SystemExit as ended:
            return int(ended.code or 0), json.loads(out.getvalue())
        return 0, json.loads(out.getvalue())

    def test_finds_nothing_after_a_redaction(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        receipt = taken_out(cy, of(TEXT).id).receipt
        assert receipt is not None

        code, found = self.checked(str(receipt.redaction_id))

        assert found["leftovers"] == []
        assert (code, found["count"], found["redactions"]) == (0, 0, 1)
        assert found["rows"] > 20

    @pytest.mark.parametrize(
        "planted",
        ["They said: ZELDA  QUIST, works on... harbor!", "Ask zelda quist about it."],
        ids=["a run of the text", "a name"],
    )
    def test_finds_a_planted_copy_and_names_its_row_without_its_words(
        self, ada: Principal, cy: Principal, planted: str
    ) -> None:
        say(ada, TEXT, WORKS)
        taken_out(cy, of(TEXT).id)
        row = SearchDocument.objects.get()
        SearchDocument.objects.filter(pk=row.pk).update(text=planted)

        code, found = self.checked()

        assert code == 1
        (one,) = found["leftovers"]
        assert (one["table"], one["column"], one["row"]) == ("relationships_searchdocument", "text", str(row.pk))
        assert "quist" not in json.dumps(found).lower()


class TestTheDatabase:
    def test_takes_out_nothing_without_the_row_that_says_who_asked(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)

        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT * FROM evidence_redact(%s)", [uuid4()])

        assert of(TEXT) is not None

    def test_takes_out_a_text_once(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        taken_out(cy, of(TEXT).id)

        with (
            pytest.raises(DatabaseError, match="redacted already"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute("SELECT * FROM evidence_redact(%s)", [Redaction.objects.get().id])
