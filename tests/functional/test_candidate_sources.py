"""What becomes of a mention whose name is only like a known one, or that too many bear."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from densemem.auth import Principal
from densemem.core import limits
from densemem.models import Team
from densemem.providers.base import Call, Stage
from densemem.providers.rules import Rules
from densemem.providers.scripted import Scripted
from entities import search
from entities.models import Entity, Name, ResolutionCandidate, ResolutionEvent
from placement.decide import withdraw_decision
from placement.models import Item
from placement.status import IngestView
from relationships.models import SearchDocument
from review.models import Task
from review.reviews import get_review
from tests import factories
from tests.deciding import WORKS, answer, nobody, open_task, place, reasoned
from tests.said import Fact, extraction, model, say, verification

SHORT = Fact("M. Lind", "works on", "Harbor", "works_on")
TEXT = "M. Lind works on Harbor."
NAMED = {"entities": [{"ref": "m", "name": "M. Lind", "entity_kind": "person"}]}
AGAIN = "As we know, M. Lind works on Harbor."


def answering(choose: Callable[[Mapping[str, Any]], tuple[str, str | None]]) -> Scripted:
    """Return a verifier that answers each mention of M. Lind as `choose` says."""

    def reply(call: Call) -> str:
        request = json.loads(call.turns[0].text)
        if call.stage is Stage.EXTRACT:
            return json.dumps(extraction(request, [SHORT]))
        made = verification(request, [SHORT])
        action, chosen = choose(request["entity_mentions"][0])
        made["entity_results"][0].update(action=action, candidate_entity_id=chosen)
        return json.dumps(made)

    return Scripted(reply)


def first(mention: Mapping[str, Any]) -> tuple[str, str | None]:
    return "reuse", mention["candidates"][0]["entity_id"]


def known(who: Principal) -> Entity:
    """Make Mara Lind known."""
    say(who, "Mara Lind works on Harbor.", WORKS)
    found: Entity = Entity.objects.get(names__key="mara lind")
    return found


def event_of(view: IngestView) -> ResolutionEvent:
    found: ResolutionEvent = ResolutionEvent.objects.filter(ingest_id=view.ingest_id, mention_ref="M. Lind").latest(
        "seq"
    )
    return found


def offered_for(event: ResolutionEvent) -> list[tuple[Any, str]]:
    return list(ResolutionCandidate.objects.filter(event=event).order_by("seq").values_list("entity_id", "reason"))


class TestProposal:
    def test_that_an_answer_reuses_waits_for_a_person(self, ada: Principal) -> None:
        mara = known(ada)

        view = say(ada, TEXT, using=answering(first))

        event = event_of(view)
        assert (event.action, event.reason, event.entity_id) == ("ambiguous", "only_proposed", None)
        assert offered_for(event) == [(mara.id, "initials")]
        assert open_task().reason == "only_proposed"

    def test_does_not_keep_a_new_entity_from_being_made_and_is_kept_for_whoever_asks_why(self, ada: Principal) -> None:
        mara = known(ada)

        event = event_of(say(ada, TEXT, using=answering(lambda mention: ("create", None))))

        assert (event.action, event.reason) == ("create", "still_new")
        assert offered_for(event) == [(mara.id, "initials")]

    def test_is_shown_to_a_model_as_any_other_candidate(self, ada: Principal) -> None:
        mara = known(ada)
        provider = answering(first)

        say(ada, TEXT, using=provider)

        (call,) = [c for c in provider.calls if c.stage is Stage.VERIFY]
        assert json.loads(call.turns[0].text)["entity_mentions"][0]["candidates"] == [
            {"entity_id": str(mara.id), "canonical_name": "Mara Lind", "kind": "person", "identity_context": {}}
        ]

    def test_is_not_chosen_offline(self, ada: Principal) -> None:
        known(ada)

        view = say(ada, TEXT, using=Rules(), proposal=NAMED)

        (event,) = ResolutionEvent.objects.filter(ingest_id=view.ingest_id, start=0)
        assert (event.action, event.entity_id) == ("ambiguous", None)

    def test_is_not_made_where_somebody_bears_the_name(self, ada: Principal) -> None:
        known(ada)
        say(ada, TEXT, using=answering(lambda mention: ("create", None)))
        provider = model(SHORT)

        say(ada, AGAIN, using=provider)

        (call,) = [c for c in provider.calls if c.stage is Stage.VERIFY]
        (mention, _) = json.loads(call.turns[0].text)["entity_mentions"]
        assert [c["canonical_name"] for c in mention["candidates"]] == ["M. Lind"]

    @pytest.mark.django_db(transaction=True)
    def test_that_cannot_be_read_fails_the_item_and_is_never_no_candidate(
        self, ada: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        known(ada)
        monkeypatch.setattr(search, "LIKE", "SELECT nothing FROM nowhere")

        view = say(ada, TEXT, using=answering(lambda mention: ("create", None)))

        item = Item.objects.get(ingest_id=view.ingest_id)
        assert (item.state, item.attempts) == ("queued", 1)
        assert not ResolutionEvent.objects.filter(ingest_id=view.ingest_id).exists()
        assert not Name.objects.filter(key="m. lind").exists()


class TestChoice:
    """The owner's choice makes the surface an alias: next time it is exact."""

    def chosen(self, who: Principal) -> tuple[Entity, Any]:
        mara = known(who)
        say(who, TEXT, using=answering(first))
        done = answer(who, open_task(), "select_entity", entity_ref="M. Lind", candidate_entity_id=str(mara.id))
        place(done, who, using=nobody())
        return mara, done

    def test_keeps_what_the_text_calls_it_with_its_span_and_the_decider(self, ada: Principal) -> None:
        mara, _ = self.chosen(ada)

        alias = Name.objects.get(key="m. lind")

        assert (alias.entity_id, alias.kind, alias.owner_id) == (mara.id, "alias", ada.profile_id)
        assert alias.fragment.content.text[alias.start : alias.end] == "M. Lind"
        assert all("m" in d.text.casefold() for d in SearchDocument.objects.all())

    def test_lets_the_next_answer_reuse_it_offline_too(self, ada: Principal) -> None:
        mara, _ = self.chosen(ada)

        view = say(ada, "M. Lind works on Harbor!", using=Rules(), proposal=NAMED)

        (event,) = ResolutionEvent.objects.filter(ingest_id=view.ingest_id, start=0)
        assert (event.action, event.entity_id) == ("reuse", mara.id)

    def test_of_one_who_bears_the_name_keeps_it_once(self, ada: Principal) -> None:
        team = Team.objects.get(pk=ada.team_id)
        one, _ = (factories.Entity(team=team, name="M. Lind") for _ in range(2))
        say(ada, TEXT, SHORT)
        done = answer(ada, open_task(), "select_entity", entity_ref="M. Lind", candidate_entity_id=str(one.id))
        place(done, ada, using=nobody())

        assert Name.objects.filter(key="m. lind").count() == 2

    def test_that_is_taken_back_takes_the_alias_along(self, ada: Principal) -> None:
        mara, done = self.chosen(ada)
        reasoned(withdraw_decision, ada, decision_id=done.decision_id)

        view = say(ada, AGAIN, using=answering(first))

        event = event_of(view)
        assert (event.action, event.reason) == ("ambiguous", "only_proposed")

        again = open_task(
            reason="only_proposed", resolution=ResolutionEvent.objects.filter(entity=None).earliest("seq")
        )
        place(answer(ada, again, "select_entity", entity_ref="M. Lind", candidate_entity_id=str(mara.id)), ada)
        provider = model(SHORT)
        assert event_of(say(ada, f"{AGAIN} Yes.", using=provider)).entity_id == mara.id


class TestTooMany:
    def test_that_bear_a_name_leave_it_open_and_say_how_many_they_are(self, ada: Principal) -> None:
        more = limits.CANDIDATES + 3
        team = Team.objects.get(pk=ada.team_id)
        for _ in range(more):
            factories.Entity(team=team, name="M. Lind")

        view = say(ada, TEXT, using=answering(first))

        event = event_of(view)
        assert (event.action, event.reason) == ("ambiguous", "too_many_candidates")
        rows = offered_for(event)
        assert (len(rows), {reason for _, reason in rows}) == (limits.CANDIDATES, {f"exact_key of {more}"})
        review = get_review(principal=ada, review_id=Task.objects.get().id)
        assert (len(review.candidates), review.candidates_total) == (limits.CANDIDATES, more)
        assert {(c.why_offered, c.of_many) for c in review.candidates} == {("exact_key", more)}
