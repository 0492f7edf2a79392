"""Why two entities are one or not, and why a mention means what it does: shown to the team, without held words."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from densemem.core import limits
from densemem.core.words import Scope
from entities.models import Identifier, IdentityBasis, IdentityDecision, IdentityMember, ResolutionEvent
from evidence.models import Fragment
from placement.decide import redact
from review.models import Decision, DecisionEvidence
from tests import factories
from tests.factories.evidence import RECORDED
from tests.said import Fact, say
from tests.writing import writing

pytestmark = pytest.mark.django_db
ACTIONS = {
    "merge": "merge_entities",
    "split": "split_entity",
    "distinct": "keep_distinct",
    "withdraw": "withdraw_identity",
}
WORKS = Fact("Mara Lind", "works on", "Harbor", "works_on")


@pytest.fixture
def team() -> Any:
    return factories.Team()


@pytest.fixture
def ada(team: Any) -> Any:
    return factories.Profile(team=team, name="Ada")


@pytest.fixture
def bo(team: Any) -> Any:
    return factories.Profile(team=team, name="Bo")


@pytest.fixture
def mara(team: Any) -> Any:
    return factories.Entity(team=team, name="Mara Lind")


@pytest.fixture
def ml(team: Any) -> Any:
    return factories.Entity(team=team, name="M. Lind")


def decided(
    author: Any, kind: str, roles: Mapping[UUID, str], *, of: Any = None, cited: Any = None, identifier: Any = None
) -> IdentityDecision:
    """Record a decision of a profile about who is who, with one span or identifier that it rests on."""
    of_team = {"team_id": author.team_id, "recorded_at": RECORDED}
    made = Decision.objects.create(
        **of_team,
        owner=author,
        action=ACTIONS[kind],
        operation=ACTIONS[kind],
        idempotency_key=uuid4().hex,
        request_hash="0" * 64,
        message=f"{author.name} is sure.",
    )
    if cited:
        DecisionEvidence.objects.create(**of_team, decision=made, fragment=cited)
    with writing(author.id):
        row = IdentityDecision.objects.create(**of_team, author=author, kind=kind, of_decision=of, decision=made)
        for entity, role in roles.items():
            IdentityMember.objects.create(**of_team, decision=row, entity_id=entity, role=role)
        if cited or identifier:
            span = {"kind": "explicit_report", "fragment": cited, "start": 0, "end": 9}
            IdentityBasis.objects.create(
                **of_team,
                decision=row,
                entity_id=next(e for e, role in roles.items() if role != "survivor"),
                **(span if cited else {"kind": "external_identifier", "identifier": identifier}),
            )
    return row


def merged(author: Any, absorbed: Any, survivor: Any, **basis: Any) -> IdentityDecision:
    return decided(author, "merge", {survivor.id: "survivor", absorbed.id: "absorbed"}, **basis)


def explained(client: Any, profile: Any, one: Any, other: Any) -> Any:
    address = f"/api/v1/identities/explanations?entity={one.id}&entity={other.id}"
    return client.get(address, headers=factories.bearer(profile, scopes=(Scope.READ,)))


def codes(answer: Any) -> list[str]:
    return [reason["code"] for reason in answer.json()["why_not"]]


class TestWhy:
    def test_tells_each_identifier_that_both_bear_with_every_span(self, client, ada, bo, mara, ml) -> None:
        rows = [factories.Identifier(entity=e, value="Q42", owner=p) for e, p in ((mara, ada), (ml, bo))]
        factories.Identifier(entity=mara, value="mara@example.org", scheme="email")

        answer = explained(client, ada, mara, ml).json()

        assert [(e["entity_id"], e["name"], e["kind"]) for e in answer["entities"]] == [
            (str(mara.id), "Mara Lind", "person"),
            (str(ml.id), "M. Lind", "person"),
        ]
        (shared,) = answer["why"]["shared_identifiers"]
        assert (shared["scheme"], shared["value"], shared["counts"]) == ("wikidata", "Q42", True)
        assert shared["said"] == [
            {
                "entity_id": str(r.entity_id),
                "owner_profile_id": str(r.owner_id),
                "fragment_id": str(r.fragment_id),
                "start": 0,
                "end": 3,
            }
            for r in rows
        ]
        assert answer["why_not"] == []

    def test_tells_the_merges_that_stand_with_their_reason_and_basis(self, client, ada, bo, mara, ml) -> None:
        text = factories.Fragment(team=ada.team, text="Mara Lind signs as M. Lind.")
        merge = merged(ada, ml, mara, cited=text)

        answer = explained(client, bo, mara, ml).json()

        (shown,) = answer["why"]["merges"]
        assert (shown["identity_decision_id"], shown["author"]["name"], shown["reason"], shown["stands"]) == (
            str(merge.id), "Ada", "Ada is sure.", True,
        )  # fmt: skip
        (report,) = answer["why"]["reports"]
        assert shown["basis"] == [report]
        assert (report["entity_id"], report["kind"], report["fragment_id"], report["start"], report["end"]) == (
            str(ml.id), "explicit_report", str(text.id), 0, 9,
        )  # fmt: skip
        assert answer["how"] == [shown]
        assert codes(explained(client, bo, mara, ml)) == []

    def test_reaches_over_several_hops(self, client, team, ada, mara, ml) -> None:
        between = factories.Entity(team=team, name="Lind")
        first, second = merged(ada, ml, between), merged(ada, between, mara)

        answer = explained(client, ada, mara, ml).json()

        assert [m["identity_decision_id"] for m in answer["why"]["merges"]] == [str(first.id), str(second.id)]
        assert [t["taken_for"] for t in answer["for_you"]] == [str(mara.id)] * 2
        assert answer["opinions"]["as_one"] == 1


class TestWhyNot:
    def test_tells_what_speaks_against_it(self, client, ada, bo, mara, team) -> None:
        place = factories.Entity(team=team, name="Mara", kind="place")
        for entity, value in ((mara, "Q42"), (place, "Q43")):
            factories.Identifier(entity=entity, value=value)
        kept = decided(bo, "distinct", {mara.id: "distinct_a", place.id: "distinct_b"})

        answer = explained(client, ada, mara, place)

        assert codes(answer) == ["kept_distinct", "identifiers_differ", "kinds_differ", "no_evidence_in_common"]
        assert answer.json()["why_not"][0]["identity_decision_id"] == str(kept.id)

    def test_tells_a_hub_that_counts_for_nothing(self, client, ada, team, mara, ml) -> None:
        text = factories.Fragment(team=team)
        others = [factories.Entity(team=team) for _ in range(limits.IDENTIFIER_HUB - 1)]
        for entity in (mara, ml, *others):
            factories.Identifier(entity=entity, scheme="email", value="all@example.org", fragment=text)

        answer = explained(client, ada, mara, ml)

        assert [i["counts"] for i in answer.json()["why"]["shared_identifiers"]] == [False]
        assert codes(answer) == ["identifier_of_many", "no_evidence_in_common"]

    def test_says_nothing_of_schemes_in_which_a_thing_may_have_several(self, client, ada, mara, ml) -> None:
        for entity, value in ((mara, "a@example.org"), (ml, "b@example.org")):
            factories.Identifier(entity=entity, scheme="email", value=value)

        assert codes(explained(client, ada, mara, ml)) == ["no_evidence_in_common"]


class TestHow:
    def test_orders_the_decisions_of_all_and_counts_who_treats_them_as_one(self, client, ada, bo, mara, ml) -> None:
        cy = factories.Profile(team=ada.team, name="Cy")
        first = merged(ada, ml, mara)
        decided(ada, "withdraw", {}, of=first)
        merged(bo, mara, ml)
        decided(cy, "distinct", {mara.id: "distinct_a", ml.id: "distinct_b"})

        answer = explained(client, ada, mara, ml).json()

        assert [(s["kind"], s["author"]["name"], s["stands"]) for s in answer["how"]] == [
            ("merge", "Ada", False),
            ("withdraw", "Ada", False),
            ("merge", "Bo", True),
            ("distinct", "Cy", True),
        ]
        assert answer["how"][1]["of_decision_id"] == str(first.id)
        assert [m["author"]["name"] for m in answer["why"]["merges"]] == ["Bo"]
        assert answer["opinions"] == {"as_one": 1, "of": 2, "words": "1 of 2 profiles treat them as one."}
        assert [t["taken_for"] for t in answer["for_you"]] == [str(mara.id), str(ml.id)]
        bos = explained(client, bo, mara, ml).json()
        assert [t["taken_for"] for t in bos["for_you"]] == [str(ml.id)] * 2


class TestHidden:
    @pytest.mark.parametrize("how", ["held", "redacted"])
    def test_are_words_of_texts_that_may_not_be_shown(self, client, ada, team, mara, ml, how) -> None:
        text = factories.Fragment(team=team, text="Zebulon knows Mara Lind as M. Lind.")
        for entity in (mara, ml):
            factories.Identifier(entity=entity, scheme="handle", value="zebulon", fragment=text)
        merged(ada, ml, mara, identifier=Identifier.objects.filter(entity=ml).get())
        assert "zebulon" in explained(client, ada, mara, ml).content.decode()

        withhold(text, how)
        answer = explained(client, ada, mara, ml)

        assert "zebulon" not in answer.content.decode()
        (step,) = answer.json()["how"]
        assert (step["reason"], step["withheld"], step["basis"][0]["withheld"]) == (None, how, how)
        assert answer.json()["why"]["shared_identifiers"] == []

    def test_is_a_name_that_only_held_text_gives(self, client, ada, mara, ml) -> None:
        withhold(mara.names.get().fragment, "held")

        assert [e["name"] for e in explained(client, ada, mara, ml).json()["entities"]] == [None, "M. Lind"]


def withhold(fragment: Fragment, how: str) -> None:
    """Hold a text, or have a manager redact it."""
    if how == "held":
        factories.Quarantine(fragment=fragment)
        return
    factories.Item(fragment=fragment)
    manager = factories.principal_of(factories.Profile(team=fragment.team, membership__role="manager"))
    given = {"body": {"reason": "Asked for."}, "idempotency_key": uuid4().hex, "now": timezone.now()}
    redact(principal=manager, fragment_id=fragment.id, **given)


class TestDoor:
    @pytest.mark.parametrize("name", ["explain_identity", "explain_mention"])
    def test_is_named_by_the_schema_and_takes_no_name_of_another(self, name) -> None:
        document = SchemaGenerator().get_schema(request=None, public=True)

        (door,) = [m for path in document["paths"].values() for m in path.values() if m.get("operationId") == name]
        shape = door["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[-1]
        assert shape in document["components"]["schemas"]

    def test_answers_404_for_what_is_not_in_the_team(self, client, ada, mara) -> None:
        foreign = factories.Entity()
        headers = factories.bearer(ada)
        for other in (foreign.id, UUID(int=7), "nothing"):
            address = f"/api/v1/identities/explanations?entity={mara.id}&entity={other}"
            answer = client.get(address, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")

    @pytest.mark.parametrize("query", ["", "entity={0}", "entity={0}&entity={0}", "entity={0}&entity={1}&entity={0}"])
    def test_wants_two_different_entities(self, client, ada, mara, ml, query) -> None:
        address = f"/api/v1/identities/explanations?{query.format(mara.id, ml.id)}"
        answer = client.get(address, headers=factories.bearer(ada))
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (422, "two_entities")

    def test_wants_the_scope_to_read(self, client, ada, mara, ml) -> None:
        headers = factories.bearer(ada, scopes=(Scope.WRITE,))
        address = f"/api/v1/identities/explanations?entity={mara.id}&entity={ml.id}"
        assert client.get(address, headers=headers).status_code == 403


class TestMention:
    def test_tells_what_was_offered_why_it_was_taken_and_what_became_of_it(self, client, ada, team) -> None:
        me = factories.principal_of(ada)
        say(me, "Mara Lind works on Harbor.", WORKS)
        say(me, "Again: Mara Lind works on Harbor.", WORKS)
        event = ResolutionEvent.objects.filter(mention_ref="Mara Lind").order_by("-seq")[0]
        child = factories.Entity(team=team, name="Mara the Younger")
        split = decided(ada, "split", {event.entity_id: "parent", child.id: "child"})
        moved = ResolutionEvent(
            **{f: getattr(event, f) for f in ("team_id", "ingest_id", "fragment_id", "item_id", "cycle", "kind")},
            mention_ref=event.mention_ref, start=event.start, end=event.end, action="reuse", entity=child,
            confidence=1, reason="identity_split", identity=split, recorded_at=RECORDED,
        )  # fmt: skip
        moved.save(force_insert=True)

        answer = client.get(f"/api/v1/mentions/{event.id}/explanation", headers=factories.bearer(ada)).json()

        assert (answer["surface"], answer["action"], answer["reason"]) == (
            "Mara Lind", "reuse", "evidence_names_candidate",
        )  # fmt: skip
        assert answer["offered"] == [
            {
                "entity_id": str(event.entity_id),
                "name": "Mara Lind",
                "kind": "person",
                "why_offered": "exact_key",
            }
        ]
        assert (answer["rationale"], answer["confidence"], answer["withheld"]) == ("Scripted.", "high", None)
        assert answer["entity"]["entity_id"] == str(event.entity_id)
        (later,) = answer["later"]
        assert (later["reason"], later["entity"]["name"]) == ("identity_split", "Mara the Younger")
        assert later["identity"]["identity_decision_id"] == str(split.id)

    @pytest.mark.parametrize("how", ["held", "redacted"])
    def test_shows_nothing_of_a_text_that_may_not_be_shown(self, client, ada, how) -> None:
        say(factories.principal_of(ada), "Zebulon works on Harbor.", Fact("Zebulon", "works on", "Harbor", "works_on"))
        event = ResolutionEvent.objects.get(mention_ref="Zebulon")
        withhold(event.fragment, how)

        answer = client.get(f"/api/v1/mentions/{event.id}/explanation", headers=factories.bearer(ada))

        assert answer.json()["withheld"] == how
        assert "Zebulon" not in answer.content.decode() and "Scripted" not in answer.content.decode()

    def test_of_another_team_or_of_none_is_not_there(self, client, ada) -> None:
        stranger = factories.Profile()
        say(factories.principal_of(stranger), "Mara Lind works on Harbor.", WORKS)
        foreign = ResolutionEvent.objects.get(mention_ref="Mara Lind")
        for number in (foreign.id, UUID(int=7), "nothing"):
            answer = client.get(f"/api/v1/mentions/{number}/explanation", headers=factories.bearer(ada))
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
