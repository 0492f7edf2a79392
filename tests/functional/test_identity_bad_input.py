"""What a decision about who is who refuses: each with its code, and nothing written."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from densemem.auth import Principal
from densemem.core import limits
from densemem.core.faults import Because, NotThere, Refused
from evidence.models import Fragment
from placement.decide import decide_identity, identity, redact
from placement.models import Item
from relationships.models import Observation, RelationshipRecord
from tests.database import counts
from tests.deciding import hold, of_source
from tests.identity import apart, decided, merging, named, previewed, report_of, splitting, withdrawing, works
from tests.said import Fact, say

pytestmark = pytest.mark.usefixtures("sound")
Body = dict[str, Any]


@pytest.fixture
def basis(ada: Principal) -> Body:
    """What ties Mark to Mark Huang, both of whom Ada knows."""
    say(ada, "Mark works on Harbor.", works("Mark", "Harbor"), **of_source("a"))
    say(ada, "Mark works on Skiff.", works("Mark", "Skiff"), **of_source("b"))
    say(ada, "Mark Huang works on Harbor.", works("Mark Huang", "Harbor"), **of_source("c"))
    return report_of(ada)


def seen(who: Principal) -> list[Any]:
    return list(Observation.objects.filter(owner_id=who.profile_id).order_by("seq").values_list("id", flat=True))


def joined(basis: Body) -> Body:
    return merging(named("Mark Huang"), named("Mark"), basis=[basis])


def refused(who: Principal, body: Body, *, token: str = "1.x", now: Any = None) -> Refused:
    """Return how a decision is refused, which writes nothing."""
    before = counts()
    with pytest.raises(Refused) as found:
        given = {**body, "token": token} if token else body
        decide_identity(principal=who, body=given, idempotency_key=uuid4().hex, now=now or timezone.now())
    assert counts() == before
    return found.value


def places(found: Refused) -> dict[str, str]:
    return {fault.pointer: fault.code for fault in found.faults}


BROKEN: dict[str, tuple[Callable[[Body], Body], dict[str, str]]] = {
    "without a survivor": (lambda b: _without(b, "survivor_id"), {"/survivor_id": "missing_field"}),
    "without a basis": (lambda b: _without(b, "basis"), {"/basis": "missing_field"}),
    "with what a split needs": (
        lambda b: {**b, "children": [{"observation_ids": [str(uuid4())]}]},
        {"/children": "field_not_used"},
    ),
    "with a basis without its span": (
        lambda b: {**b, "basis": [_without(b["basis"][0], "start")]},
        {"/basis/0/start": "missing_field"},
    ),
    "with a span that is empty": (
        lambda b: {**b, "basis": [{**b["basis"][0], "start": 5, "end": 5}]},
        {"/basis/0/end": "span_is_empty"},
    ),
    "with a span outside the text": (
        lambda b: {**b, "basis": [{**b["basis"][0], "end": 1000}]},
        {"/basis/0/end": "span_outside_text"},
    ),
    "with an identifier without a form": (
        lambda b: {**b, "basis": [{"kind": "external_identifier", "scheme": "orcid", "value": "17"}]},
        {"/basis/0": "orcid_malformed"},
    ),
}


def _without(body: Body, name: str) -> Body:
    return {key: value for key, value in body.items() if key != name}


class TestBodies:
    @pytest.mark.parametrize("name", BROKEN)
    def test_are_refused_with_the_place(self, ada: Principal, basis: Body, name: str) -> None:
        change, faults = BROKEN[name]

        found = refused(ada, change(joined(basis)))

        assert found.because is Because.INVALID
        if name == "with an identifier without a form":
            assert set(places(found)) == set(faults)
        else:
            assert places(found) == faults

    @pytest.mark.parametrize("reason", ["", "  ", None])
    def test_need_a_reason(self, ada: Principal, basis: Body, reason: str | None) -> None:
        found = refused(ada, {**joined(basis), "reason": reason})

        assert [fault.pointer for fault in found.faults] == ["/reason"]

    def test_of_an_unknown_kind_or_field_are_refused(self, ada: Principal, basis: Body) -> None:
        assert places(refused(ada, {**joined(basis), "kind": "fuse"})).keys() == {"/kind"}
        assert refused(ada, {**joined(basis), "hurry": True}).faults


class TestMembers:
    def test_one_is_not_merged_into_itself_nor_named_twice(self, ada: Principal, basis: Body) -> None:
        mark = named("Mark")

        assert refused(ada, merging(mark, mark, basis=[basis])).code == "merge_into_itself"
        twice = refused(ada, merging(named("Mark Huang"), mark, mark, basis=[basis]))
        assert twice.code == "member_listed_twice"
        assert refused(ada, apart(mark, mark)).code == "member_listed_twice"

    def test_of_different_kinds_are_not_one(self, ada: Principal, basis: Body) -> None:
        tie = report_of(ada, "Mark is Harbor.")

        assert refused(ada, merging(named("Harbor"), named("Mark"), basis=[tie])).code == "kinds_differ"

    def test_of_another_team_are_as_if_there_were_none(self, ada: Principal, stranger: Principal, basis: Body) -> None:
        say(stranger, "Zed works on Yawl.", works("Zed", "Yawl"))
        zed, mark = named("Zed"), named("Mark")
        bodies = [merging(mark, zed, basis=[basis]), apart(mark, zed), splitting(zed, seen(stranger))]
        nobody = [
            {**bodies[0], "absorbed_ids": [str(uuid4())]},
            {**bodies[1], "entity_ids": [str(mark.id), str(uuid4())]},
        ]

        answers = [refused(ada, body) for body in [*bodies, *nobody, withdrawing(uuid4())]]

        assert {type(a) for a in answers} == {NotThere}
        assert len({(a.code, a.detail) for a in answers}) == 1

    def test_of_another_teams_decision_it_is_the_same(self, ada: Principal, stranger: Principal, basis: Body) -> None:
        done = decided(ada, joined(basis))

        found = refused(stranger, withdrawing(done.identity_id))

        assert (type(found), found.detail) == (NotThere, NotThere().detail)

    def test_a_decision_of_another_profile_is_its_own(self, ada: Principal, bo: Principal, basis: Body) -> None:
        done = decided(ada, joined(basis))

        found = refused(bo, withdrawing(done.identity_id))

        assert (found.code, found.because) == ("not_owner", Because.FORBIDDEN)
        assert previewed(bo, withdrawing(done.identity_id)).refusal == "not_owner"

    def test_one_that_is_taken_for_another_is_named_by_that(self, ada: Principal, basis: Body) -> None:
        decided(ada, joined(basis))
        say(ada, "Ivo works on Skiff.", works("Ivo", "Skiff"))
        tie = report_of(ada, "Mark is Ivo.")

        assert refused(ada, merging(named("Ivo"), named("Mark"), basis=[tie])).code == "already_absorbed"
        assert refused(ada, splitting(named("Mark"), seen(ada)[:1])).code == "taken_for_another"
        assert refused(ada, apart(named("Mark"), named("Mark Huang"))).code == "treated_as_one"


class TestTokens:
    def test_have_to_come_with_the_decision(self, ada: Principal, basis: Body) -> None:
        assert places(refused(ada, joined(basis), token="")) == {"/token": "missing_field"}

    @pytest.mark.parametrize("forged", ["x", "99999999999.abc", "17.é", "17.\ud800", "٣.x", "1" * 400])
    def test_that_nobody_gave_out_are_refused(self, ada: Principal, basis: Body, forged: str) -> None:
        assert refused(ada, joined(basis), token=forged).because in (Because.CONFLICT, Because.INVALID)

    def test_hold_for_15_minutes(self, ada: Principal, basis: Body, monkeypatch: pytest.MonkeyPatch) -> None:
        found = previewed(ada, joined(basis))
        monkeypatch.setattr(identity, "HOLDS_FOR", timedelta(seconds=-1))
        over = previewed(ada, joined(basis)).token

        assert found.expires_at is not None
        assert timedelta(minutes=14) < found.expires_at - timezone.now() < timedelta(minutes=15)
        assert refused(ada, joined(basis), token=over).code == "impact_stale"
        assert decided(ada, joined(basis), token=found.token)

    def test_are_of_one_caller_one_body_and_one_moment(self, ada: Principal, bo: Principal, basis: Body) -> None:
        body = joined(basis)
        token = previewed(ada, body).token
        stamp, mac = token.split(".")

        for who, changed, sent in (
            (bo, body, token),
            (ada, {**body, "reason": "They are the same person."}, token),
            (ada, {**body, "survivor_id": body["absorbed_ids"][0], "absorbed_ids": [body["survivor_id"]]}, token),
            (ada, body, f"{int(stamp) + 60}.{mac}"),
        ):
            assert refused(who, changed, token=sent).code == "impact_stale"

    def test_are_used_up_by_what_they_apply(self, ada: Principal, basis: Body) -> None:
        kept = apart(named("Mark"), named("Mark Huang"))
        token = previewed(ada, kept).token
        decided(ada, withdrawing(decided(ada, kept, token=token).identity_id))

        assert refused(ada, kept, token=token).code == "impact_stale"


class TestKeys:
    def test_answer_once_more_as_the_first_time_and_for_nothing_else(self, ada: Principal, basis: Body) -> None:
        body, key = joined(basis), uuid4().hex
        token = previewed(ada, body).token
        first = decided(ada, body, token=token, key=key)
        before = counts()

        again = decided(ada, body, token=token, key=key)

        assert (again.identity_id, again.decision_id, again.replayed) == (first.identity_id, first.decision_id, True)
        assert counts() == before
        other = {**body, "reason": "Something else.", "token": token}
        with pytest.raises(Refused, match="another decision"):
            decide_identity(principal=ada, body=other, idempotency_key=key, now=timezone.now())

    def test_of_a_decision_may_be_any_word_and_previews_need_none(self, ada: Principal, basis: Body) -> None:
        done = decided(ada, joined(basis), key="preview")
        decided(ada, withdrawing(done.identity_id))

        assert not previewed(ada, joined(basis)).refusal


class TestSplits:
    def test_that_part_nothing_are_refused(self, ada: Principal, basis: Body) -> None:
        one, two = seen(ada)[:2]

        assert refused(ada, splitting(named("Mark"), [one, two])).code == "split_leaves_nothing"
        assert refused(ada, splitting(named("Mark"), [one], [one])).code == "observation_listed_twice"

    def test_attribute_what_one_owns_of_the_parent(self, ada: Principal, bo: Principal, basis: Body) -> None:
        say(bo, "Mark works on Dinghy.", works("Mark", "Dinghy"))
        one, _, of_huang = seen(ada)[:3]

        for foreign in (seen(bo)[0], of_huang, uuid4()):
            found = refused(ada, splitting(named("Mark"), [one], [foreign]))
            assert (found.code, found.because) == ("observation_not_owned", Because.FORBIDDEN)

    def test_give_a_mention_to_one_child(self, ada: Principal, basis: Body) -> None:
        say(ada, "Mark works on Yawl and on Ketch.", works("Mark", "Yawl"), works("Mark", "Ketch"))
        one, two = seen(ada)[-2:]

        found = refused(ada, splitting(named("Mark"), [one], [two]))

        assert places(found) == {"/children/1/observation_ids/0": "mention_attributed_twice"}

    def test_give_the_same_words_to_one_child(self, ada: Principal, basis: Body) -> None:
        alias = {"entities": [{"ref": "m", "name": "Mark", "aliases": ["M. H."]}]}
        say(ada, "Mark, called M. H., works on Yawl.", works("Mark", "Yawl"), proposal=alias)
        say(ada, "Mark and M. H. work on Ketch.", works("Mark", "Ketch"), works("M. H.", "Ketch"))
        one, two = seen(ada)[-2:]

        found = refused(ada, splitting(named("Mark"), [one], [seen(ada)[0]]))

        assert places(found) == {"/children": "span_attributed_twice"}
        assert str(two) in found.faults[0].detail or str(one) in found.faults[0].detail


class TestEvidence:
    def test_that_is_held_outdated_redacted_or_nobodys_is_not_cited(
        self, ada: Principal, cy: Principal, stranger: Principal, basis: Body
    ) -> None:
        say(ada, "Mark Huang is Mark, says HR.", **of_source("hr"))
        outdated = Fragment.objects.get(content__text="Mark Huang is Mark, says HR.")
        say(ada, "Mark Huang is somebody else, says HR.", **of_source("hr", 2))
        held = Fragment.objects.get(pk=report_of(ada, "Mark is Mark Huang, wrote someone.")["fragment_id"])
        hold(cy, held.id)
        gone = Fragment.objects.get(pk=report_of(ada, "Mark is Mark Huang, by the badge.")["fragment_id"])
        redact(
            principal=cy,
            fragment_id=gone.id,
            body={"reason": "Asked to."},
            idempotency_key=uuid4().hex,
            now=timezone.now(),
        )
        foreign = Fragment.objects.get(pk=report_of(stranger)["fragment_id"])

        for text in (outdated.id, held.id, gone.id, foreign.id, uuid4()):
            found = refused(ada, joined({**basis, "fragment_id": str(text), "end": 4}))
            assert (found.code, places(found)) == ("evidence_not_usable", {"/basis/0/fragment_id": "not_usable"})


def test_a_text_that_is_being_placed_is_waited_for(ada: Principal, basis: Body) -> None:
    say(ada, "Mark lives in Graz.", Fact("Mark", "lives in", "Graz", "lives_in", object_kind="place"), **of_source("d"))
    say(
        ada,
        "Mark Huang lives in Porto.",
        Fact("Mark Huang", "lives in", "Porto", "lives_in", object_kind="place"),
        **of_source("e"),
    )
    item = Item.objects.get(fragment__content__text="Mark lives in Graz.")
    Item.objects.filter(pk=item.id).update(state="queued")

    impact = previewed(ada, joined(basis))

    Item.objects.filter(pk=item.id).update(state=item.state)
    assert impact.refusal == "item_in_work"
    assert RelationshipRecord.objects.filter(status="active").count() == 5


def test_more_mentions_than_one_transaction_may_change_are_not_decided_about(
    ada: Principal, basis: Body, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = joined(basis)
    say(ada, "Mark works on Yawl.", replace(works("Mark", "Yawl"), verdict="insufficient"))
    assert not previewed(ada, body).refusal

    monkeypatch.setattr(limits, "FANOUT_SUPPORTS", 2)  # the supports that move; the mentions are three

    assert previewed(ada, body).refusal == "source_fanout_exceeded"
