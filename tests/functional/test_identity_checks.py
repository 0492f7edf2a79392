"""Who is who, by the numbers of "Judgments, identity decisions and typed links": checks 15 to 20, 22."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from densemem.auth import Principal
from densemem.core import limits
from densemem.core.faults import Refused
from entities.models import Entity, IdentityDecision, ResolutionEvent
from entities.policy.identity import IdentityRefused
from evidence.models import Fragment, Ingest
from placement import offers, pipeline
from placement.decide import ImpactStale, dispute
from placement.decide.identity.rules import AlreadyWithdrawn
from placement.tasks import drain
from relationships.models import Observation, RelationshipRecord
from relationships.recall import recall
from relationships.trace import trace
from tests import factories
from tests.database import counts
from tests.deciding import hold_back, of_source
from tests.identity import (
    apart,
    decided,
    in_person,
    merging,
    named,
    previewed,
    records,
    report_of,
    rows_in_hashes,
    splitting,
    withdrawing,
    works,
)
from tests.said import model, say, send

pytestmark = pytest.mark.usefixtures("sound")

STAFF = {"kind": "external_identifier", "scheme": "staff", "value": "A-17"}


def two_marks(who: Principal) -> dict[str, Any]:
    """Let a profile say the same of two names, each by a source of its own, and return what ties the two."""
    say(who, "Mark works on Harbor.", works("Mark", "Harbor"), **of_source("a"))
    say(who, "Mark Huang works on Harbor.", works("Mark Huang", "Harbor"), **of_source("b"))
    return report_of(who)


def taking_mark(who: Principal) -> dict[str, Any]:
    """Return the body by which a profile takes Mark for Mark Huang."""
    basis = [two_marks(who)]
    return merging(named("Mark Huang"), named("Mark"), basis=basis)


def borne_by(*entities: Entity) -> None:
    """Let a text that is there give each of these entities the same identifier."""
    text = Fragment.objects.all()[0]
    for entity in entities:
        factories.Identifier(
            entity=entity, owner_id=text.owner_id, scheme="staff", value="A-17", fragment=text, start=0, end=4
        )


def merged(who: Principal) -> Any:
    """Let a profile take Mark for Mark Huang."""
    return decided(who, taking_mark(who))


def refused_by(work: Callable[[], Any]) -> str:
    """Return the code of a refusal, which writes nothing."""
    before = counts()
    with pytest.raises(Refused) as refused:
        work()
    assert counts() == before
    return refused.value.code


class TestCheck15OfTheEvidence:
    def test_likeness_alone_is_refused(self, ada: Principal) -> None:
        two_marks(ada)
        say(ada, "Mark was here.")
        about_one = report_of(ada, "Mark is well.")

        for basis in ([], [about_one]):
            impact = previewed(ada, merging(named("Mark Huang"), named("Mark"), basis=basis))
            assert (impact.refusal, impact.token) == ("insufficient_identity_evidence", "")

    def test_an_identifier_that_both_bear_is_enough(self, ada: Principal) -> None:
        two_marks(ada)
        borne_by(named("Mark"), named("Mark Huang"))

        done = decided(ada, merging(named("Mark Huang"), named("Mark"), basis=[STAFF]))

        rows = IdentityDecision.objects.get(pk=done.identity_id).basis.all()
        assert {row.kind for row in rows} == {"external_identifier"}
        assert {row.identifier.entity_id for row in rows if row.identifier} == {
            named("Mark").id,
            named("Mark Huang").id,
        }

    def test_an_identifier_that_101_bear_is_none(self, ada: Principal) -> None:
        two_marks(ada)
        like = {"team_id": ada.team_id, "kind": "person", "first_ingest": Ingest.objects.all()[0]}
        others = [Entity(**like, created_at=timezone.now()) for _ in range(limits.IDENTIFIER_HUB - 1)]
        body = merging(named("Mark Huang"), named("Mark"), basis=[STAFF])
        with transaction.atomic():  # nobody resolved these entities: they are not left to the audit
            borne_by(named("Mark"), named("Mark Huang"), *Entity.objects.bulk_create(others[1:]))
            assert not previewed(ada, body).refusal

            borne_by(*Entity.objects.bulk_create(others[:1]))

            assert previewed(ada, body).refusal == "insufficient_identity_evidence"
            transaction.set_rollback(True)

    def test_a_person_decides_before_a_page_but_not_through_a_token(self, ada: Principal) -> None:
        basis = [{**two_marks(ada), "kind": "human_review"}]
        body = merging(named("Mark Huang"), named("Mark"), basis=basis)

        assert previewed(ada, body).refusal == "insufficient_identity_evidence"
        assert decided(in_person(ada), body).identity_id

    def test_each_that_is_absorbed_needs_evidence_of_its_own(self, ada: Principal) -> None:
        tie = two_marks(ada)
        say(ada, "Marky works on Skiff.", works("Marky", "Skiff"))
        beside = report_of(ada, "Marky is Mark.")
        body = merging(named("Mark Huang"), named("Mark"), named("Marky"), basis=[tie, beside])

        impact = previewed(ada, body)

        assert impact.refusal == "insufficient_identity_evidence"
        assert str(named("Marky").id) in impact.would_refuse[0].detail

    def test_what_is_kept_distinct_is_not_merged_until_that_is_withdrawn(self, ada: Principal) -> None:
        tie = two_marks(ada)
        body = merging(named("Mark Huang"), named("Mark"), basis=[tie])
        kept = decided(ada, apart(named("Mark"), named("Mark Huang")))

        impact = previewed(ada, body)
        assert (impact.refusal, str(kept.identity_id) in impact.would_refuse[0].detail) == ("kept_distinct", True)

        decided(ada, withdrawing(kept.identity_id))
        assert decided(ada, body).identity_id


class TestCheck16OfTheToken:
    def test_a_refusal_is_what_the_preview_shows(self, ada: Principal) -> None:
        two_marks(ada)
        body = merging(named("Mark Huang"), named("Mark"), basis=[])

        impact = previewed(ada, body)

        code = refused_by(lambda: decided(ada, body, token="1.x"))
        assert code == impact.refusal == "insufficient_identity_evidence"

    @pytest.mark.parametrize("text", ["Mark is not Mark Huang.", "It is not true that <Mark is Mark Huang>."])
    def test_a_report_that_denies_it_ties_nothing_however_narrow_the_span(self, ada: Principal, text: str) -> None:
        two_marks(ada)
        cited = report_of(ada, text.replace("<", "").replace(">", ""))
        if "<" in text:
            cited |= {"start": text.index("<"), "end": text.index(">") - 1}
        body = merging(named("Mark Huang"), named("Mark"), basis=[cited])

        assert previewed(ada, body).refusal == "insufficient_identity_evidence"
        assert refused_by(lambda: decided(ada, body, token="1.x")) == "insufficient_identity_evidence"

    def test_a_preview_stores_nothing(self, ada: Principal) -> None:
        body = taking_mark(ada)
        before, mine = counts(), rows_in_hashes(ada)

        impact = previewed(ada, body)

        assert impact.changes
        assert impact.supports_moved
        assert (counts(), rows_in_hashes(ada)) == (before, mine)

    def test_a_changed_record_makes_it_stale(self, ada: Principal) -> None:
        body = taking_mark(ada)
        token = previewed(ada, body).token
        say(ada, "Mark Huang works on Harbor again.", works("Mark Huang", "Harbor"), **of_source("c"))

        assert refused_by(lambda: decided(ada, body, token=token)) == "impact_stale"


class TestCheck17OfOthers:
    def test_their_rows_stay_byte_for_byte_and_recall_shows_them_the_opinion(
        self, ada: Principal, bo: Principal
    ) -> None:
        basis = two_marks(ada)
        say(bo, "Mark works on Harbor.", works("Mark", "Harbor"), **of_source("b"))
        say(bo, "Mark Huang works on Harbor as well.", works("Mark Huang", "Harbor"), **of_source("c"))
        before, theirs = rows_in_hashes(bo), records(bo)

        body = merging(named("Mark Huang"), named("Mark"), basis=[basis])
        impact = previewed(ada, body)
        done = decided(ada, body, token=impact.token)

        assert impact.unchanged_of_others == 2
        assert rows_in_hashes(bo) == before
        assert records(bo) == theirs
        found = recall(principal=bo, query="Mark Harbor", now=timezone.now())
        own = [c for g in found.results for c in g.relationships if c.author.profile_id == bo.profile_id]
        assert {c.subject.entity_id for c in own} == {named("Mark").id, named("Mark Huang").id}
        (opinion,) = found.identity_opinions
        assert (opinion.kind, opinion.profiles, opinion.of) == ("merge", 1, 2)
        assert set(opinion.entity_ids) == {named("Mark").id, named("Mark Huang").id}

        decided(ada, withdrawing(done.identity_id))
        assert rows_in_hashes(bo) == before
        assert recall(principal=bo, query="Mark Harbor", now=timezone.now()).identity_opinions == ()

    def test_what_another_says_later_lands_where_that_profile_takes_it_to_be(
        self, ada: Principal, bo: Principal
    ) -> None:
        merged(ada)

        say(bo, "Mark works on Skiff.", works("Mark", "Skiff"))
        say(ada, "Mark works on Skiff as I see it.", works("Mark", "Skiff"))

        assert records(bo) == {"Mark Skiff": ("active", 1, 1)}
        assert records(ada)["Mark Huang Skiff"] == ("active", 1, 1)
        assert "Mark Skiff" not in records(ada)


class TestCheck18OfSources:
    def test_one_source_that_said_it_of_both_makes_no_fact(self, ada: Principal) -> None:
        say(ada, "Mark works on Harbor.", works("Mark", "Harbor"))
        say(ada, "Mark Huang works on Harbor, they say.", works("Mark Huang", "Harbor"))

        decided(ada, merging(named("Mark Huang"), named("Mark"), basis=[report_of(ada)]))

        kept = RelationshipRecord.objects.get(owner_id=ada.profile_id, status="active")
        assert (kept.tier, kept.support_count, kept.source_group_count) == ("validated_claim", 2, 1)

    def test_a_span_that_said_it_of_both_counts_once_and_of_both_again_when_withdrawn(self, ada: Principal) -> None:
        said = works("Mark", "Harbor"), works("Mark Huang", "Harbor")
        say(ada, "Mark, or Mark Huang, works on Harbor.", *said, **of_source("a"))

        done = decided(ada, merging(named("Mark Huang"), named("Mark"), basis=[report_of(ada)]))
        assert records(ada) == {"Mark Harbor": ("superseded", 0, 0), "Mark Huang Harbor": ("active", 1, 1)}

        decided(ada, withdrawing(done.identity_id))
        assert records(ada) == {"Mark Harbor": ("active", 1, 1), "Mark Huang Harbor": ("active", 1, 1)}

    def test_two_independent_ones_do(self, ada: Principal) -> None:
        merged(ada)

        kept = RelationshipRecord.objects.get(owner_id=ada.profile_id, status="active")
        assert (kept.tier, kept.support_count, kept.source_group_count) == ("fact", 2, 2)


class TestCheck19OfWithdrawal:
    def test_brings_back_what_was_and_keeps_what_was_said_since(self, ada: Principal) -> None:
        done = merged(ada)
        ids = set(RelationshipRecord.objects.values_list("id", flat=True))
        say(
            ada,
            "Harbor is what Mark Huang builds.",
            works("Mark Huang", "Harbor"),
            **of_source("c"),
        )
        assert records(ada)["Mark Huang Harbor"] == ("active", 3, 3)

        old = RelationshipRecord.objects.get(subject_entity=named("Mark"))
        found = trace(principal=ada, relationship_id=old.id, now=timezone.now())
        assert (found.relationship.status, found.relationship.subject.name) == ("superseded", "Mark")
        assert [(s.kind, s.other.subject.name) for s in found.lineage.items] == [("rekeyed", "Mark Huang")]

        back = decided(ada, withdrawing(done.identity_id))

        assert records(ada) == {"Mark Harbor": ("active", 1, 1), "Mark Huang Harbor": ("active", 2, 2)}
        assert set(RelationshipRecord.objects.values_list("id", flat=True)) == ids
        assert back.compensation is None

    def test_what_was_said_of_both_since_stays_where_it_was_put(self, ada: Principal) -> None:
        done = merged(ada)
        say(ada, "Mark works on Skiff.", works("Mark", "Skiff"))

        decided(ada, withdrawing(done.identity_id))

        assert records(ada)["Mark Huang Skiff"] == ("active", 1, 1)
        say(ada, "Mark works on Dinghy.", works("Mark", "Dinghy"))
        assert records(ada)["Mark Dinghy"] == ("active", 1, 1)

    def test_what_its_owner_did_to_a_record_since_stays(self, ada: Principal) -> None:
        done = merged(ada)
        hold_back(dispute, ada, RelationshipRecord.objects.get(subject_entity=named("Mark Huang")))

        decided(ada, withdrawing(done.identity_id))

        assert records(ada) == {"Mark Harbor": ("active", 1, 1), "Mark Huang Harbor": ("disputed", 1, 1)}


class TestCheck20OfLaterDecisions:
    def test_the_later_one_is_named_and_goes_first(self, ada: Principal) -> None:
        first = merged(ada)
        say(ada, "Marcus works on Harbor.", works("Marcus", "Harbor"), **of_source("d"))
        second = decided(
            ada, merging(named("Marcus"), named("Mark Huang"), basis=[report_of(ada, "Mark Huang is Marcus.")])
        )
        assert records(ada)["Marcus Harbor"] == ("active", 3, 3)

        with pytest.raises(IdentityRefused) as refused:
            decided(ada, withdrawing(first.identity_id), token="1.x")
        assert (refused.value.code, refused.value.decision_ids) == ("decision_superseded", (second.identity_id,))

        decided(ada, withdrawing(second.identity_id))
        assert records(ada) == {
            "Mark Harbor": ("superseded", 0, 0),
            "Mark Huang Harbor": ("active", 2, 2),
            "Marcus Harbor": ("active", 1, 1),
        }
        decided(ada, withdrawing(first.identity_id))
        assert records(ada)["Mark Harbor"] == ("active", 1, 1)

    def test_one_about_other_entities_counts_where_it_moved_the_same_record(self, ada: Principal) -> None:
        first = merged(ada)
        say(ada, "Marcus works on Beacon.", works("Marcus", "Beacon"), **of_source("d"))
        report = report_of(ada, "Harbor is Beacon.")
        second = decided(ada, merging(named("Beacon"), named("Harbor"), basis=[report]))

        with pytest.raises(IdentityRefused) as refused:
            decided(ada, withdrawing(first.identity_id), token="1.x")
        assert (refused.value.code, refused.value.decision_ids) == ("decision_superseded", (second.identity_id,))

        decided(ada, withdrawing(second.identity_id))
        decided(ada, withdrawing(first.identity_id))
        assert records(ada)["Mark Harbor"] == ("active", 1, 1)

    def test_once_more_answers_as_the_first_time(self, ada: Principal) -> None:
        done = merged(ada)
        back = decided(ada, withdrawing(done.identity_id))
        before = counts()

        again = decided(ada, withdrawing(done.identity_id), token="1.x")

        assert (again.identity_id, again.decision_id) == (back.identity_id, back.decision_id)
        assert again.replayed
        assert counts() == before
        assert previewed(ada, withdrawing(done.identity_id)).refusal == AlreadyWithdrawn.code

    def test_a_circle_is_refused(self, ada: Principal) -> None:
        basis = two_marks(ada)
        decided(ada, merging(named("Mark Huang"), named("Mark"), basis=[basis]))

        impact = previewed(ada, merging(named("Mark"), named("Mark Huang"), basis=[basis]))

        assert impact.refusal == "identity_cycle"

    def test_a_withdrawal_is_not_withdrawn(self, ada: Principal) -> None:
        back = decided(ada, withdrawing(merged(ada).identity_id))

        assert previewed(ada, withdrawing(back.identity_id)).refusal == "withdrawal_not_withdrawable"


class TestCheck22OfConcurrency:
    def test_new_evidence_of_what_is_absorbed_makes_the_preview_stale(self, ada: Principal) -> None:
        body = taking_mark(ada)
        token = previewed(ada, body).token
        say(ada, "Mark works on Skiff.", works("Mark", "Skiff"))

        assert refused_by(lambda: decided(ada, body, token=token)) == ImpactStale.code

    def test_a_new_mention_of_what_is_split_makes_the_preview_stale(self, ada: Principal) -> None:
        say(ada, "Mark works on Harbor.", works("Mark", "Harbor"), **of_source("a"))
        say(ada, "Mark works on Skiff.", works("Mark", "Skiff"), **of_source("b"))
        one, two = Observation.objects.order_by("seq")
        body = splitting(named("Mark"), [one.id], [two.id])
        token = previewed(ada, body).token
        say(ada, "Mark works on Skiff, I guess.", replace(works("Mark", "Skiff"), verdict="insufficient"))

        assert refused_by(lambda: decided(ada, body, token=token)) == ImpactStale.code

    def test_a_text_on_its_way_goes_back_to_the_candidates_and_lands_on_the_survivor(
        self, ada: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        body = taking_mark(ada)
        made, offered = offers.make, []

        def decides_after(*args: Any, **given: Any) -> offers.Offer:
            offer = made(*args, **given)
            offered.append(offer.candidates["Mark"][0].entity_id)
            if len(offered) == 1:
                decided(ada, body)
            return offer

        monkeypatch.setattr(pipeline.offers, "make", decides_after)
        send(ada, "Mark works on Skiff.")
        drain(using=model(works("Mark", "Skiff")), linger=False)

        assert offered == [named("Mark").id, named("Mark Huang").id]
        assert records(ada)["Mark Huang Skiff"] == ("active", 1, 1)
        event = ResolutionEvent.objects.filter(mention_ref="Mark").latest("seq")
        assert (event.action, event.entity_id) == ("reuse", named("Mark Huang").id)
