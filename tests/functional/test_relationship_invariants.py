"""The acceptance invariants of the page "Relationship Model And Lifecycle", by their numbers."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from densemem.auth import Principal
from densemem.core.faults import Refused
from densemem.providers.base import Call, Stage
from densemem.providers.scripted import Scripted
from entities.models import Entity, Value
from evidence.models import Content, Fragment, FragmentRetirement, Source, SourceGroup
from evidence.policy import RevisionConflict
from placement import contract
from placement.decide import (
    change_lifecycle,
    dispute,
    lift,
    register_wording,
    retire_evidence,
)
from relationships.models import (
    CrossReference,
    EvidenceSupport,
    Observation,
    ObservationResolution,
    PredicateDefinition,
    RelationshipRecord,
    SemanticEdge,
    SupportDecision,
    Transition,
    VerificationEvent,
)
from relationships.recall import recall
from relationships.serving import serve_recall
from relationships.trace import trace
from tests.database import counts
from tests.deciding import (
    ATTACK,
    GRAZ,
    HACKING,
    PORTO,
    TEXT,
    WORKS,
    adopted,
    answer,
    corrected,
    hold,
    hold_back,
    of_source,
    open_task,
    place,
    reasoned,
    record_of,
    retracted,
    rows_of,
    two_alexes,
)
from tests.knowing import AGAIN, catalogue, fact_of_two_sources, found, standing, works_on
from tests.said import Fact, extraction, model, say, send, verification
from tests.writing import writing

pytestmark = pytest.mark.usefixtures("sound")

# A hypothesis has no table yet; whatever gets one of these names may not lead to knowledge.
KEYS_TO_GUESSES = (
    "SELECT conrelid::regclass::text FROM pg_constraint "
    "WHERE contype = 'f' AND confrelid::regclass::text ~ 'hypothes|dream'"
)
FUNCTIONS_OF_GUESSES = (
    "SELECT proname::text FROM pg_proc WHERE prosrc ~* 'hypothes|dream' "
    "AND prosrc ~* 'insert into (entities|relationships)_'"
)
READ_BY_EDGES = (
    "SELECT DISTINCT read.refobjid::regclass::text FROM pg_depend AS read JOIN pg_rewrite AS rule ON rule.oid = read.objid "
    "WHERE rule.ev_class = 'semantic_edges'::regclass AND read.refclassid = 'pg_class'::regclass "
    "AND read.refobjid <> rule.ev_class"
)
IDENTITY = (
    "id",
    "owner_id",
    "subject_entity_id",
    "predicate_key",
    "object_entity_id",
    "object_value_id",
    "polarity",
    "valid_from",
    "valid_to",
    "scope_key",
    "semantic_group_key",
    "recorded_at",
)


@pytest.fixture
def one_of_each(ada: Principal, cy: Principal) -> dict[tuple[str, str], RelationshipRecord]:
    """One record for every status, and for both tiers of an active one, each by the product's own operations."""

    def said(text: str, fact: Fact, **fields: Any) -> RelationshipRecord:
        view = say(ada, text, fact, **fields)
        return RelationshipRecord.objects.get(pk=view.items[0].outcomes[0].relationship_id)

    records = [
        said("Mara Lind works on Harbor.", WORKS),
        said("Mara Lind works on Beacon.", works_on("Beacon", verdict="insufficient")),
        said("Mara Lind never worked on Lantern.", works_on("Lantern", verdict="contradicted")),
        said("Ivo lives in Graz.", GRAZ, observed_at="2026-04-01T00:00:00Z"),
        said("Ivo lives in Porto.", PORTO, observed_at="2026-05-01T00:00:00Z"),
        said(
            "Ivo lives in Turin.",
            Fact("Ivo", "lives in", "Turin", "lives_in", object_kind="place"),
            observed_at="2026-03-01T00:00:00Z",
        ),
    ]
    for name in ("Anchor", "Buoy", "Galley", "Skiff"):
        records.append(said(f"Mara Lind works on {name}.", works_on(name), **of_source(name)))
    *_, anchor, buoy, galley, _ = records
    hold_back(dispute, ada, anchor)
    retracted(ada, buoy)
    hold(cy, EvidenceSupport.objects.get(relationship=galley).fragment_id)
    said("As the paper had it, the crew of Skiff includes Mara Lind now.", works_on("Skiff"), **of_source("paper"))
    for row in records:
        row.refresh_from_db()
    return {(row.status, row.tier if row.status == "active" else ""): row for row in records}


class TestRelationshipInvariants:
    def test_01_repeated_equivalent_observations_reuse_one_record(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        say(ada, "Mara Lind is working on Harbor.", Fact("Mara Lind", "is working on", "Harbor", "works_on"))
        say(ada, TEXT, WORKS)

        record = RelationshipRecord.objects.get()
        assert Observation.objects.count() == 3
        assert set(ObservationResolution.objects.values_list("relationship", flat=True)) == {record.id}
        assert Transition.objects.filter(tier_before=None).count() == 1

    def test_02_independent_evidence_adds_support_to_the_same_identity(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS, **of_source("hr"))
        first = record_of(ada)

        say(ada, AGAIN, WORKS, **of_source("diary"))

        assert record_of(ada).id == first.id
        assert standing(ada)[2:] == (2, 2)

    def test_03_only_active_claims_and_facts_are_edges(self, one_of_each: dict[Any, RelationshipRecord]) -> None:
        eligible = {one_of_each["active", "validated_claim"].id, one_of_each["active", "fact"].id}
        eligible |= {r.id for r in RelationshipRecord.objects.filter(status="active")}

        assert set(SemanticEdge.objects.values_list("pk", flat=True)) == eligible
        assert set(SemanticEdge.objects.values_list("tier", flat=True)) == {"validated_claim", "fact"}

    def test_04_what_is_not_active_never_appears_in_default_recall(
        self, ada: Principal, bo: Principal, one_of_each: dict[Any, RelationshipRecord]
    ) -> None:
        hidden = {status: row.id for (status, _), row in one_of_each.items() if status != "active"}
        assert len(hidden) == 7

        for who in (ada, bo):
            shown = found(who, "Mara Ivo Harbor Beacon Lantern Graz Porto Turin Anchor Buoy Galley Skiff", limit=50)
            assert shown == set(RelationshipRecord.objects.filter(status="active").values_list("pk", flat=True))
            assert shown.isdisjoint(hidden.values())

    def test_05_promotion_changes_the_same_identity(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS, **of_source("hr"))
        before = RelationshipRecord.objects.values(*IDENTITY).get()

        say(ada, AGAIN, WORKS, **of_source("diary"))

        assert RelationshipRecord.objects.values(*IDENTITY).get() == before
        steps = Transition.objects.order_by("version").values_list("version", "tier_before", "tier")
        assert list(steps) == [(1, None, "validated_claim"), (2, "validated_claim", "fact")]

    def test_06_every_support_is_one_exact_span_of_a_fragment(self, ada: Principal) -> None:
        text = f"\N{ANCHOR} Zoë says: {TEXT} Once more: {TEXT}"

        def quotes_the_second(call: Call) -> str:
            request = json.loads(call.turns[0].text)
            if call.stage is Stage.VERIFY:
                return json.dumps(verification(request, [WORKS]))
            made = extraction(request, [WORKS])
            made["observations"][0]["quotes"] = [{"quote": TEXT, "occurrence": 2}]
            return json.dumps(made)

        for _ in range(2):
            say(ada, text, using=Scripted(quotes_the_second), **of_source("hr"))

        support = EvidenceSupport.objects.get()
        assert (support.start, support.end) == (text.rindex(TEXT), text.rindex(TEXT) + len(TEXT))
        (shown,) = trace(principal=ada, relationship_id=support.relationship_id).supports.items
        assert shown.passage is not None
        assert (shown.passage.marked, shown.evidence.fragment_id) == (TEXT, support.fragment_id)

    def test_07_stored_knowledge_alone_makes_no_support_and_no_promotion(self, ada: Principal, bo: Principal) -> None:
        fact_of_two_sources(ada)
        say(bo, "Mara Lind, as I saw for myself, works on Harbor.", WORKS, **of_source("notes"))
        assert standing(bo) == ("validated_claim", "active", 1, 1)  # the fact of another lends it nothing

        serve_recall(principal=bo, query="Mara Harbor", now=timezone.now())
        say(bo, "I can tell you: Mara Lind works on Harbor", WORKS, **of_source("memory"))

        assert standing(bo)[0] == "validated_claim"
        assert record_of(bo).source_group_count == 1

    def test_08_normal_recall_loads_no_evidence_and_no_history(self, ada: Principal, bo: Principal) -> None:
        fact_of_two_sources(ada)
        say(bo, TEXT, WORKS)

        with CaptureQueriesContext(connection) as asked:
            assert len(found(ada, "Mara Harbor")) == 2

        statements = " ".join(query["sql"] for query in asked)
        unread = (Content, Fragment, Observation, VerificationEvent, EvidenceSupport, SupportDecision, Transition)
        assert [m.__name__ for m in unread if f'"{m._meta.db_table}"' in statements] == []

    def test_09_trace_rebuilds_evidence_judgment_and_lifecycle(self, ada: Principal) -> None:
        record = fact_of_two_sources(ada)
        send(ada, "The list is empty.", **of_source("hr", 2))
        hold_back(dispute, ada, record)
        hold_back(lift, ada, record)

        told = trace(principal=ada, relationship_id=record.id)

        assert {s.passage.marked: s.effective for s in told.supports.items if s.passage} == {TEXT: False, AGAIN: True}
        assert [(v.verdict, v.cycle) for v in told.verifications.items] == [("entailed", 1)] * 2
        assert {s.verification_id for s in told.supports.items} == {v.verification_id for v in told.verifications.items}
        assert [d.action for d in reversed(told.support_decisions.items)] == ["grant", "grant", "revoke"]
        steps = [(s.version, s.tier, s.status, s.reason) for s in reversed(told.transitions.items)]
        assert steps == [
            (1, "validated_claim", "active", "single_source"),
            (2, "fact", "active", "independent_sources"),
            (3, "validated_claim", "active", "source_revision_advanced"),
            (4, "validated_claim", "disputed", "disputed_by_owner"),
            (5, "validated_claim", "active", "lifted_by_owner"),
        ]

    def test_10_an_unknown_predicate_asks_and_registers_nothing(self, ada: Principal) -> None:
        registered = PredicateDefinition.objects.count()

        say(ada, HACKING, Fact("Mara Lind", "is hacking on", "Harbor", "hacks_on"))

        assert open_task().kind == "predicate_needs_review"
        assert PredicateDefinition.objects.count() == registered
        assert not (RelationshipRecord.objects.exists() or SemanticEdge.objects.exists())

    def test_11_no_way_leads_from_a_hypothesis_to_a_node_or_an_edge(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        nodes_and_edges = {m._meta.db_table for m in (Entity, Value, RelationshipRecord, EvidenceSupport)}

        assert nodes_and_edges.isdisjoint(catalogue(KEYS_TO_GUESSES))
        assert catalogue(FUNCTIONS_OF_GUESSES) == []
        assert catalogue(READ_BY_EDGES) == [RelationshipRecord._meta.db_table]
        row = RelationshipRecord.objects.values().get() | {"id": uuid4(), "predicate_key": "uses", "support_count": 0}
        with pytest.raises(IntegrityError, match="record_active_has_support"), writing(ada.profile_id):
            RelationshipRecord.objects.create(**row)

    def test_12_forget_takes_the_edge_and_keeps_nodes_and_history(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        record = record_of(ada)
        kept = (Entity, Fragment, Content, Observation, VerificationEvent, EvidenceSupport)
        before = [list(m.objects.order_by("pk").values()) for m in kept]

        retracted(ada, record)

        assert not SemanticEdge.objects.exists()
        assert found(ada, "Mara Harbor") == set()
        assert [list(m.objects.order_by("pk").values()) for m in kept] == before
        told = trace(principal=ada, relationship_id=record.id)
        assert [s.status for s in told.transitions.items] == ["retracted", "active"]
        assert told.supports.count == 1

    def test_13_one_record_is_at_most_one_edge(self, ada: Principal, bo: Principal) -> None:
        fact_of_two_sources(ada)
        say(ada, TEXT, WORKS)
        say(bo, TEXT, WORKS)

        edges = list(SemanticEdge.objects.values_list("pk", "owner_id"))
        assert sorted(edges) == sorted((record_of(who).id, who.profile_id) for who in (ada, bo))

    def test_14_a_registry_edit_leaves_what_a_record_means(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        record, theirs = record_of(ada), rows_of(ada)
        meant = trace(principal=ada, relationship_id=record.id).meaning
        given: dict[str, Any] = {"principal": cy, "key": "works_on", "now": timezone.now()}

        wording = {"wording": "is hacking on", "reason": "We say so."}
        register_wording(expected_version=1, body=wording, idempotency_key="w", **given)
        retirement = {"state": "retired", "reason": "Told apart now."}
        change_lifecycle(expected_version=2, body=retirement, idempotency_key="r", **given)

        assert PredicateDefinition.objects.filter(key="works_on").count() == 3
        assert rows_of(ada) == theirs
        assert trace(principal=ada, relationship_id=record.id).meaning == meant
        assert found(ada, "Mara Harbor") == {record.id}

    def test_15_a_revoked_support_stays_and_counts_no_more(self, ada: Principal) -> None:
        record = fact_of_two_sources(ada)
        links = list(EvidenceSupport.objects.order_by("pk").values())
        say(ada, "The list is empty.", **of_source("hr", 2))

        assert list(EvidenceSupport.objects.order_by("pk").values()) == links
        gone = SupportDecision.objects.filter(support__fragment__content__text=TEXT).order_by("seq")
        assert list(gone.values_list("action", flat=True)) == ["grant", "revoke"]
        assert standing(ada) == ("validated_claim", "active", 1, 1)

        say(
            ada,
            "The list is long: Mara Lind, by the harbour master's word, works on Harbor.",
            WORKS,
            **of_source("hr", 3),
        )
        say(ada, "Nothing is left of the diary.", **of_source("diary", 2))
        assert record_of(ada).id == record.id
        assert standing(ada) == ("validated_claim", "active", 1, 1)  # three links, and one that counts

    def test_16_nobody_changes_what_another_profile_knows(self, ada: Principal, bo: Principal, cy: Principal) -> None:
        two_alexes(ada)
        say(ada, "Alex works on Harbor.", Fact("Alex", "works on", "Harbor", "works_on"))
        task = open_task(kind="identity_needs_review")
        record = RelationshipRecord.objects.filter(owner_id=ada.profile_id).earliest("recorded_at")
        text = Fragment.objects.earliest("recorded_at")
        chosen = {"entity_ref": "Alex", "candidate_entity_id": str(task.resolution.candidates.first().entity_id)}
        theirs, waiting = rows_of(ada), counts()

        for other in (bo, cy):
            attempts = [
                lambda who=other: retracted(who, record),
                lambda who=other: hold_back(dispute, who, record),
                lambda who=other: hold_back(lift, who, record),
                lambda who=other: corrected(who, record, valid_from="2026-01-01"),
                lambda who=other: reasoned(retire_evidence, who, fragment_id=text.id),
                lambda who=other: answer(who, task, "select_entity", **chosen),
            ]
            for attempt in attempts:
                with pytest.raises(Refused) as refused:
                    attempt()
                assert refused.value.code == "not_owner"
        assert (rows_of(ada), counts()) == (theirs, waiting)

        say(
            bo,
            "Alex Ferrant, called Alex, lives in Porto.",
            Fact("Alex Ferrant", "lives in", "Porto", "lives_in", object_kind="place"),
        )
        assert rows_of(ada) == theirs

    def test_17_a_challenge_keeps_both_positions_in_sight(self, ada: Principal, bo: Principal) -> None:
        say(ada, "Ivo lives in Graz.", GRAZ)
        theirs = rows_of(ada)

        say(bo, "Ivo lives in Porto.", PORTO)

        assert CrossReference.objects.get().kind == "challenges"
        assert rows_of(ada) == theirs
        for query in ("Graz", "Porto"):
            (conflict,) = recall(principal=ada, query=query, now=timezone.now()).conflicts
            positions = [[(i.author.profile_id, i.object.name) for i in p.relationships] for p in conflict.positions]
            assert sorted(positions) == sorted([[(ada.profile_id, "Graz")], [(bo.profile_id, "Porto")]])

    def test_18_adopted_evidence_stays_what_and_whose_it_was(self, ada: Principal, bo: Principal) -> None:
        say(ada, TEXT, WORKS, **of_source("hr"))
        told = (Fragment, Content, Source, SourceGroup)
        before = [list(m.objects.order_by("pk").values()) for m in told]

        place(adopted(bo, Fragment.objects.get()), bo, WORKS)

        assert [list(m.objects.order_by("pk").values()) for m in told] == before
        theirs, mine = (EvidenceSupport.objects.get(owner_id=who.profile_id) for who in (ada, bo))
        assert (mine.fragment_id, mine.group_id) == (theirs.fragment_id, theirs.group_id)
        (shown,) = trace(principal=bo, relationship_id=mine.relationship_id).supports.items
        assert (shown.evidence.author.profile_id, shown.evidence.source_key) == (ada.profile_id, "hr")

    def test_19_a_verifier_judges_evidence_and_selects_no_stored_relationship(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        record = record_of(ada)
        judgment = contract.VERIFIER_RESPONSE["properties"]["relationship_results"]["items"]
        assert set(judgment["properties"]) == {
            "ref",
            "predicate_status",
            "predicate_key",
            "evidence_verdict",
            "confidence",
            "rationale",
        }

        def selects(call: Call) -> str:
            request = json.loads(call.turns[0].text)
            if call.stage is Stage.EXTRACT:
                return json.dumps(extraction(request, [WORKS]))
            assert str(record.id) not in call.turns[0].text
            made = verification(request, [WORKS])
            made["relationship_results"][0]["relationship_id"] = str(record.id)
            return json.dumps(made)

        view = say(ada, AGAIN, using=Scripted(selects))

        assert (view.processing_state, VerificationEvent.objects.count()) == ("failed", 1)
        assert record_of(ada).version == record.version

    def test_20_all_revisions_of_a_source_are_one_voice(self, ada: Principal) -> None:
        for number, text in enumerate((TEXT, AGAIN, "On the third list: Mara Lind works on Harbor, still."), start=1):
            say(ada, text, WORKS, **of_source("hr", number))
        say(ada, "Mara Lind, they say on the quay, works on Harbor.", WORKS, **of_source("hr", 4))

        assert EvidenceSupport.objects.count() == 4
        assert EvidenceSupport.objects.values("group").distinct().count() == 1
        assert standing(ada) == ("validated_claim", "active", 1, 1)

    @pytest.mark.parametrize("previous", [None, "0", "2"])
    def test_21_a_wrong_prior_revision_changes_no_state(self, ada: Principal, previous: str | None) -> None:
        say(ada, TEXT, WORKS, **of_source("hr"))
        before = counts(), rows_of(ada), Source.objects.values().get()
        named = {"previous_source_revision": previous} if previous else {}

        with pytest.raises(RevisionConflict):
            send(ada, "The list is empty.", source_key="hr", source_revision="9", **named)

        assert (counts(), rows_of(ada), Source.objects.values().get()) == before

    def test_22_a_new_revision_ends_the_old_for_all_and_says_so_of_each(self, ada: Principal, bo: Principal) -> None:
        say(ada, TEXT, WORKS, **of_source("hr"))
        place(adopted(bo, Fragment.objects.get()), bo, WORKS)

        send(ada, "The list is empty.", **of_source("hr", 2))

        for who in (ada, bo):
            assert standing(who) == ("candidate", "pending_evidence", 0, 0)
            decision = SupportDecision.objects.filter(support__owner_id=who.profile_id).latest("seq")
            step = Transition.objects.filter(relationship=record_of(who)).latest("seq")
            assert (decision.action, step.status_before, step.status) == ("revoke", "active", "pending_evidence")
            assert {(row.reason, row.actor_id) for row in (decision, step)} == {("source_revision_advanced", None)}

    def test_23_what_loses_the_basis_of_a_fact_is_demoted_by_itself(self, ada: Principal) -> None:
        fact = fact_of_two_sources(ada)

        send(ada, "The list is empty.", **of_source("hr", 2))

        claim = record_of(ada)
        assert (claim.id, claim.version, standing(ada)) == (fact.id, 3, ("validated_claim", "active", 1, 1))
        assert SemanticEdge.objects.get().tier == "validated_claim"

    def test_24_a_held_replacement_does_not_bring_the_old_revision_back(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS, **of_source("hr"))

        view = say(ada, f"{TEXT} {ATTACK}", WORKS, **of_source("hr", 2))

        assert view.processing_state == "quarantined"
        assert standing(ada) == ("candidate", "pending_evidence", 0, 0)
        assert Source.objects.get().current_revision.token == "2"
        assert SupportDecision.objects.latest("seq").action == "revoke"

    def test_25_unkeyed_evidence_supersedes_no_evidence(self, ada: Principal) -> None:
        say(ada, "Ivo lives in Graz.", GRAZ, observed_at="2026-04-01T00:00:00Z")
        say(ada, "Ivo lives in Graz!", GRAZ, observed_at="2026-05-01T00:00:00Z")
        say(
            ada,
            "Ivo lives in Graz or nowhere.",
            using=model(Fact("Ivo", "lives in", "Graz", "lives_in", object_kind="place", verdict="insufficient")),
        )

        assert standing(ada)[1:3] == ("active", 2)
        assert set(SupportDecision.objects.values_list("action", flat=True)) == {"grant"}
        assert not FragmentRetirement.objects.exists()
