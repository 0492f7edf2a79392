"""An Entity that has a new name: where it stands, who may give it, and what becomes of the one before."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from densemem.auth import Principal
from densemem.core.faults import NotThere, Refused
from densemem.providers.rules import Rules
from entities.models import Entity, Name, ResolutionEvent
from entities.serving import get_entity
from evidence.models import Fragment
from placement.decide import Decided, EvidenceUnusable, rename
from placement.request import RequestInvalid
from relationships.models import SearchDocument
from review.models import Decision
from review.policy import NotTheDecider
from tests.deciding import TEXT, WORKS, hold
from tests.integration.test_decisions_api import post
from tests.said import say, send
from tests.served import token_of

NEWS = "Since May she is called Mara Berg."


@pytest.fixture
def mara(ada: Principal) -> Entity:
    """Mara Lind, as Ada named her."""
    say(ada, TEXT, WORKS)
    found: Entity = Entity.objects.get(names__key="mara lind")
    return found


def told(who: Principal, text: str = NEWS) -> Fragment:
    """Return a text in which the new name stands."""
    found: Fragment = Fragment.objects.get(ingest_id=send(who, text))
    return found


def body(text: Fragment, name: str = "Mara Berg", **given: Any) -> dict[str, Any]:
    start = text.content.text.find(name)
    place = {"start": start, "end": start + len(name)}
    return {"name": name, "fragment_id": str(text.id), "reason": "She married.", **place, **given}


def renamed(who: Principal, entity_id: UUID, given: dict[str, Any], **more: Any) -> Decided:
    return rename(
        principal=who, entity_id=entity_id, body=given, idempotency_key=uuid4().hex, now=timezone.now(), **more
    )


class TestRename:
    def test_gives_the_new_name_and_keeps_the_old_one_as_former(self, ada: Principal, mara: Entity) -> None:
        text = told(ada)

        done = renamed(ada, mara.id, body(text))

        seen = get_entity(principal=ada, entity_id=mara.id)
        assert seen.canonical_name == "Mara Berg"
        assert [(n.words, n.kind, n.owner_id) for n in seen.names] == [
            ("Mara Berg", "canonical", ada.profile_id),
            ("Mara Lind", "former", ada.profile_id),
        ]
        assert (seen.names[0].fragment_id, seen.names[0].start) == (text.id, NEWS.find("Mara Berg"))
        made = Decision.objects.get(pk=done.decision_id)
        assert (made.action, made.entity_id, made.evidence.get().fragment_id) == ("rename_entity", mara.id, text.id)

    def test_is_followed_by_the_search_documents(self, ada: Principal, mara: Entity) -> None:
        renamed(ada, mara.id, body(told(ada)))

        (document,) = SearchDocument.objects.all()
        assert document.text.startswith("Mara Berg")
        assert {"'berg'", "'lind'"} <= {t.split(":")[0] for t in str(document.terms).split()}

    @pytest.mark.parametrize("name", ["Mara Lind", "Mara Berg"])
    def test_leaves_the_entity_to_be_found_by_both(self, ada: Principal, mara: Entity, name: str) -> None:
        renamed(ada, mara.id, body(told(ada)))

        view = say(ada, f"{name} works on Harbor. Still.", using=Rules())

        (event,) = ResolutionEvent.objects.filter(ingest_id=view.ingest_id, start=0)
        assert (event.action, event.entity_id) == ("reuse", mara.id)

    def test_can_go_back_to_an_older_name(self, ada: Principal, mara: Entity) -> None:
        renamed(ada, mara.id, body(told(ada)))

        renamed(ada, mara.id, body(told(ada, "She is Mara Lind again."), "Mara Lind"))

        seen = get_entity(principal=ada, entity_id=mara.id)
        assert [(n.words, n.kind) for n in seen.names] == [
            ("Mara Lind", "canonical"),
            ("Mara Berg", "former"),
            ("Mara Lind", "former"),
        ]

    def test_is_rehearsed_without_a_trace(self, ada: Principal, mara: Entity) -> None:
        done = renamed(ada, mara.id, body(told(ada)), dry_run=True)

        assert done.dry_run
        assert list(Name.objects.filter(entity=mara).values_list("display", flat=True)) == ["Mara Lind"]

    def test_under_the_same_key_is_made_once(self, ada: Principal, mara: Entity) -> None:
        given = {"principal": ada, "entity_id": mara.id, "body": body(told(ada)), "idempotency_key": "once"}

        first, again = (rename(**given, now=timezone.now()) for _ in range(2))

        assert (again.decision_id, again.replayed) == (first.decision_id, True)
        assert Name.objects.filter(entity=mara).count() == 2


class TestRefusal:
    def test_of_another_profile_names_what_it_may_do(self, bo: Principal, mara: Entity) -> None:
        with pytest.raises(NotTheDecider, match="alias") as refused:
            renamed(bo, mara.id, body(told(bo)))

        assert refused.value.code == "not_owner"

    @pytest.mark.parametrize("given", [{"start": 0}, {"end": 9_999}, {"name": "Mara Bergs"}, {"start": 30, "end": 20}])
    def test_of_a_span_that_reads_otherwise(self, ada: Principal, mara: Entity, given: dict[str, Any]) -> None:
        with pytest.raises(RequestInvalid):
            renamed(ada, mara.id, body(told(ada), **given))

    @pytest.mark.parametrize("name", ["\u200b", "\u200b\u2060"])
    def test_of_a_name_in_which_nothing_is_seen(self, ada: Principal, mara: Entity, name: str) -> None:
        with pytest.raises(RequestInvalid) as refused:
            renamed(ada, mara.id, body(told(ada, f"Called {name} now."), name))

        assert refused.value.faults[0].code == "name_is_empty"

    def test_of_the_name_that_it_has(self, ada: Principal, mara: Entity) -> None:
        with pytest.raises(Refused, match="already") as refused:
            renamed(ada, mara.id, body(told(ada, "Hello, Mara Lind."), "Mara Lind"))

        assert refused.value.code == "name_unchanged"

    def test_of_a_text_that_does_not_count(self, ada: Principal, cy: Principal, mara: Entity) -> None:
        old = Fragment.objects.get(ingest_id=send(ada, NEWS, source_key="notes", source_revision="1"))
        send(ada, "Nothing new.", source_key="notes", source_revision="2", previous_source_revision="1")
        held = told(ada, f"Note: {NEWS}")
        hold(cy, held.id)

        with pytest.raises(EvidenceUnusable):
            renamed(ada, mara.id, body(old))
        with pytest.raises(Exception, match="held"):
            renamed(ada, mara.id, body(held))

    def test_of_another_team_is_that_of_none(self, ada: Principal, stranger: Principal, mara: Entity) -> None:
        for who, entity, text in ((stranger, mara.id, told(stranger)), (ada, uuid4(), told(ada)), (ada, mara.id, told(stranger, f"{NEWS}!"))):  # fmt: skip
            with pytest.raises(NotThere):
                renamed(who, entity, body(text))
        with pytest.raises(NotThere):
            get_entity(principal=stranger, entity_id=mara.id)

    def test_leaves_nothing_behind(self, bo: Principal, mara: Entity) -> None:
        with pytest.raises(NotTheDecider):
            renamed(bo, mara.id, body(told(bo)))

        assert (Name.objects.filter(entity=mara).count(), Decision.objects.count()) == (1, 0)


class TestDoor:
    def test_renames_and_reads(self, client: Client, ada: Principal, mara: Entity) -> None:
        given = body(told(ada))

        tried = post(ada, f"entities/{mara.id}/names?dry_run=true", given)
        done = post(ada, f"entities/{mara.id}/names", given)
        read = client.get(f"/api/v1/entities/{mara.id}", headers={"Authorization": f"Bearer {token_of(ada)}"})

        assert (tried.status_code, done.status_code, done.json()["action"]) == (200, 201, "rename_entity")
        assert (read.status_code, read.json()["canonical_name"], read.json()["kind"]) == (200, "Mara Berg", "person")
        assert [n["kind"] for n in read.json()["names"]] == ["canonical", "former"]

    def test_tells_nobody_of_another_team(self, client: Client, stranger: Principal, mara: Entity) -> None:
        secret = token_of(stranger)

        answers = [
            client.get(f"/api/v1/entities/{number}", headers={"Authorization": f"Bearer {secret}"})
            for number in (mara.id, uuid4())
        ]

        assert [a.status_code for a in answers] == [404, 404]
        assert answers[0].json()["detail"] == answers[1].json()["detail"]

    def test_shows_no_words_of_a_held_text(self, ada: Principal, cy: Principal, mara: Entity) -> None:
        text = told(ada)
        renamed(ada, mara.id, body(text))
        hold(cy, text.id)

        seen = get_entity(principal=cy, entity_id=mara.id)

        assert [(n.words, n.held) for n in seen.names] == [(None, True), ("Mara Lind", False)]
        assert seen.canonical_name == "Mara Lind"
