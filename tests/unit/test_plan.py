"""What one item does to knowledge, decided in memory: no database is asked."""

from collections.abc import Mapping, Set
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid5

import pytest

from entities.policy import Candidate, CandidatesMoved, Newcomer
from entities.vocabulary import CandidateReason, EntityKind, ResolutionAction
from placement.contract import Draft, EntityResult, Extraction, Mention, ObservationResult, Verification
from placement.plan import (
    Given,
    KnowledgeDecided,
    MentionsDecided,
    Target,
    decide_knowledge,
    decide_mentions,
    ready,
    wanted_names,
)
from relationships.identity import Identity
from relationships.policy import Behaviour, StoredRecord, StoredSupport
from relationships.vocabulary import (
    Cardinality,
    CrossReferenceKind,
    LineageKind,
    Modality,
    Outcome,
    Polarity,
    RelationshipKind,
    Status,
    Tier,
    TimePrecision,
    Verdict,
)

SPACE = UUID(int=0)
NOW = datetime(2025, 6, 1, tzinfo=UTC)
SEEN = datetime(2025, 5, 1, tzinfo=UTC)
LIVES = Behaviour("lives_in", 1, RelationshipKind.STATE, Cardinality.ONE, symmetric=False)
KNOWS = Behaviour("knows", 1, RelationshipKind.STATE, Cardinality.MANY, symmetric=True)
BEHAVIOURS = {b.key: b for b in (LIVES, KNOWS)}


def number(name: str) -> UUID:
    """Return the id that a name always has here."""
    return uuid5(SPACE, name)


TEAM, ADA, BO = number("team"), number("Ada"), number("Bo")


def draft(
    ref: str = "o0", subject: str = "Ivo", predicate: str = "lives_in", target: str = "Graz", **change: Any
) -> Draft:
    """Return one observation of the text, its predicate resolved to the key that it names."""
    made = Draft(
        ref=ref,
        subject_ref=subject,
        predicate=predicate,
        object_ref=target,
        value_ref=None,
        polarity=Polarity.PLUS,
        modality=Modality.STATEMENT,
        ended=False,
        valid_from=None,
        valid_to=None,
        scope=None,
        proposal_id=None,
        spans=((0, 10),),
    )
    return replace(made, **change)


def given(
    *drafts: Draft, verdict: Verdict = Verdict.ENTAILED, open_mentions: tuple[str, ...] = (), **change: Any
) -> Given:
    """Return an accepted item about these drafts; every mention reuses the one Entity of its name."""
    names = list(dict.fromkeys(n for d in drafts for n in (d.subject_ref, d.object_ref) if n))
    entities = {
        n: EntityResult(ResolutionAction.AMBIGUOUS, None, Decimal("0.5"), "r")
        if n in open_mentions
        else EntityResult(ResolutionAction.REUSE, str(number(n)), Decimal("0.9"), "r")
        for n in names
    }
    judged = {
        d.ref: ObservationResult(d.predicate if d.predicate in BEHAVIOURS else None, verdict, Decimal("0.9"), "r")
        for d in drafts
    }
    made = Given(
        team_id=TEAM,
        seed="seed",
        owner_id=ADA,
        ingest_id=number("ingest"),
        item_id=number("item"),
        cycle=1,
        extracted=1,
        fragment_id=number("fragment"),
        group_id=number("group"),
        authoritative=False,
        observed_at=SEEN,
        now=NOW,
        text=" ".join(names),
        extraction=Extraction((), tuple(Mention(n, EntityKind.PERSON, 0, len(n), n) for n in names), (), drafts),
        verification=Verification((), entities, judged),
        candidates={n: (Candidate(number(n), EntityKind.PERSON, CandidateReason.EXACT),) for n in names},
        keys={n: n.casefold() for n in names},
        behaviours=BEHAVIOURS,
    )
    return replace(made, **change)


def record(
    subject: str = "Ivo",
    target: str = "Graz",
    *,
    owner: UUID = ADA,
    behaviour: Behaviour = LIVES,
    seen: datetime = SEEN - timedelta(days=30),
    groups: tuple[str, ...] = ("old",),
    **change: Any,
) -> StoredRecord:
    """Return an active record that evidence of these source groups holds up."""
    ends = {name: change.pop(name) for name in ("valid_from", "valid_to", "scope_key", "polarity") if name in change}
    identity = Identity(
        TEAM, owner, number(subject), behaviour.key, number(target), None, ends.pop("polarity", Polarity.PLUS), **ends
    )
    supports = tuple(
        StoredSupport(number(f"fragment of {g}"), 0, 5, number(g), False, True, seen, n)
        for n, g in enumerate(groups, 1)
    )
    made = StoredRecord(
        id=number(f"record {subject} {behaviour.key} {target} {owner} {ends}"),
        identity=identity,
        behaviour=behaviour,
        tier=Tier.FACT if len(groups) > 1 else Tier.CLAIM,
        status=Status.ACTIVE,
        held_by_person=False,
        version=3,
        recorded_at=seen,
        valid_from_precision=None,
        valid_to_precision=None,
        support_count=len(groups),
        source_group_count=len(groups),
        supports=supports,
    )
    return replace(made, **change)


def decide(
    item: Given,
    *stored: StoredRecord,
    joins: Mapping[UUID, Set[UUID]] = MappingProxyType({}),
    targets: dict[str, Target] | None = None,
) -> KnowledgeDecided:
    """Decide the item beside these records."""
    drafts = [ready(d, item) for d in item.extraction.observations]
    return decide_knowledge(
        given=item, mentions=identities(item), drafts=drafts, stored=stored, joins=joins, targets=targets or {}
    )


def identities(item: Given) -> MentionsDecided:
    """Decide the mentions, with no newcomer."""
    return decide_mentions(item, {})


class TestEndedState:
    def test_without_a_stated_end_had_ended_when_it_was_observed(self) -> None:
        item = given(draft(ended=True))

        read = ready(item.extraction.observations[0], item)

        assert (read.valid_to, read.valid_to_precision) == (SEEN, TimePrecision.BY)

    def test_keeps_the_end_that_is_stated(self) -> None:
        item = given(draft(ended=True, valid_to="2025-03-01"))

        read = ready(item.extraction.observations[0], item)

        assert (read.valid_to, read.valid_to_precision) == (datetime(2025, 3, 1, tzinfo=UTC), TimePrecision.DAY)

    def test_supports_the_record_that_already_says_so_whenever_it_was_seen(self) -> None:
        ended = record(valid_to=SEEN - timedelta(days=9), valid_to_precision=TimePrecision.BY)

        decided = decide(given(draft(ended=True)), ended)

        assert decided.plan.records == ()
        assert [s.relationship_id for s in decided.plan.supports] == [ended.id]

    def test_is_another_record_beside_a_stated_end(self) -> None:
        ended = record(valid_to=SEEN - timedelta(days=9), valid_to_precision=TimePrecision.DAY)

        assert len(decide(given(draft(ended=True)), ended).plan.records) == 1

    def test_closes_the_open_record_and_takes_its_place(self) -> None:
        still = record()

        decided = decide(given(draft(ended=True)), still)

        (line,) = decided.plan.lineage
        (new,) = decided.plan.records
        assert (line.kind, line.predecessor_id, line.successor_id) == (LineageKind.CLOSED, still.id, new.id)
        assert {c.relationship_id: c.status for c in decided.plan.changes}[still.id] is Status.SUPERSEDED


class TestOpenQuestion:
    @pytest.mark.parametrize("scope", ["in staging", "colour=red", "role=", "role=a;role=b"])
    def test_of_a_scope_that_cannot_be_read_is_held(self, scope: str) -> None:
        decided = decide(given(draft(scope=scope)))

        (seen,), (change,) = decided.plan.observations, decided.plan.changes
        assert (seen.outcome, change.status, change.tier) == (Outcome.REVIEW, Status.REVIEW, Tier.CANDIDATE)
        assert decided.plan.supports == ()
        assert [h.reason for h in decided.held] == ["identity_or_scope_open"]

    def test_is_not_asked_of_a_scope_that_can_be_read(self) -> None:
        decided = decide(given(draft(scope=" Role = Lead ")))

        assert decided.plan.records[0].identity.scope_key == "role=lead"
        assert decided.held == ()

    def test_of_a_validity_that_holds_at_no_moment_is_held(self) -> None:
        item = given(draft(valid_from="2025-04-01", valid_to="2025-03-01"))

        assert ready(item.extraction.observations[0], item).open == "validity_in_doubt"
        assert decide(item).plan.changes[0].status is Status.REVIEW

    def test_of_an_open_end_makes_no_record(self) -> None:
        decided = decide(given(draft(), open_mentions=("Graz",)))

        assert decided.plan.records == decided.plan.changes == decided.plan.supports == ()
        assert decided.plan.observations[0].outcome is Outcome.IDENTITY
        assert [h.resolution_id for h in decided.held] == [
            identities(given(draft(), open_mentions=("Graz",))).resolution_of["Graz"].id
        ]

    def test_of_a_wording_is_asked_once_and_makes_no_record(self) -> None:
        decided = decide(given(draft("o0", predicate="haunts"), draft("o1", predicate="Haunts", target="Porto")))

        assert decided.plan.records == ()
        assert [o.outcome for o in decided.plan.observations] == [Outcome.PREDICATE] * 2
        assert [h.observation_id for h in decided.held] == [o.id for o in decided.plan.observations]
        assert len({h.subject for h in decided.held}) == 1

    @pytest.mark.parametrize(("signals", "held"), [(((9, 12),), True), (((10, 12),), False), ((), False)])
    def test_of_a_span_that_overlaps_a_signal_is_held(self, signals: tuple[tuple[int, int], ...], held: bool) -> None:
        change = decide(given(draft(), signals=signals)).plan.changes[0]

        assert (change.status is Status.REVIEW) == held

    def test_of_a_relation_to_itself_is_held(self) -> None:
        assert decide(given(draft(target="Ivo"))).held[0].reason == "self_relation"


class TestSymmetricEnds:
    def test_are_one_record_whoever_comes_first(self) -> None:
        forth, back = (draft(r, a, "knows", b) for r, a, b in (("o0", "Ivo", "Mara"), ("o1", "Mara", "Ivo")))

        decided = decide(given(forth, replace(back, spans=((20, 30),))))

        (made,) = decided.plan.records
        assert made.identity.subject_id < made.identity.object_entity_id
        assert len(decided.plan.supports) == 2

    def test_keep_their_order_where_the_predicate_has_one(self) -> None:
        decided = decide(given(draft("o0", "Ivo", target="Mara"), draft("o1", "Mara", target="Ivo")))

        assert len(decided.plan.records) == 2


class TestSupersession:
    def test_replaces_the_older_when_the_new_is_at_least_as_strong(self) -> None:
        old = record(target="Porto")

        decided = decide(given(draft()), old)

        (line,) = decided.plan.lineage
        assert (line.kind, line.predecessor_id, line.effective_at) == (LineageKind.REPLACED, old.id, SEEN)
        stepped = next(c for c in decided.plan.changes if c.relationship_id == old.id)
        assert (stepped.status, stepped.tier, stepped.version) == (Status.SUPERSEDED, Tier.CLAIM, 4)

    @pytest.mark.parametrize(
        "old",
        [record(target="Porto", seen=SEEN + timedelta(days=1)), record(target="Porto", groups=("a", "b"))],
        ids=["older-than-it", "weaker-than-it"],
    )
    def test_of_a_newer_or_stronger_record_asks_the_owner(self, old: StoredRecord) -> None:
        decided = decide(given(draft()), old)

        (change,) = decided.plan.changes
        (question,) = decided.held
        assert (change.status, change.tier) == (Status.REVIEW, Tier.CANDIDATE)
        assert (question.reason, question.rival_id) == ("conflict_held", old.id)

    @pytest.mark.parametrize(
        "other",
        [
            record(target="Porto", owner=BO),
            record(target="Porto", scope_key="role=lead"),
            record(target="Porto", valid_to=SEEN - timedelta(days=99), valid_from=SEEN - timedelta(days=199)),
            record(target="Porto", status=Status.RETRACTED),
            record("Mara", "Porto"),
        ],
        ids=["other-owner", "other-scope", "past-that-is-over", "hidden", "other-subject"],
    )
    def test_leaves_alone_what_it_does_not_meet(self, other: StoredRecord) -> None:
        item = given(draft(valid_from="2025-04-01"))

        decided = decide(item, other)

        assert decided.plan.lineage == ()
        assert other.id not in {c.relationship_id for c in decided.plan.changes}

    def test_waits_for_an_entailed_statement(self) -> None:
        old = record(target="Porto")

        for item in (given(draft(), verdict=Verdict.INSUFFICIENT), given(draft(modality=Modality.QUESTION))):
            assert decide(item, old).plan.lineage == ()


class TestCorrectionTarget:
    def test_of_the_caller_is_superseded_whatever_the_times(self) -> None:
        old = record(target="Porto", seen=SEEN + timedelta(days=300))

        decided = decide(given(draft()), old, targets={"o0": Target(old.id, old.version)})

        assert [line.kind for line in decided.plan.lineage] == [LineageKind.CORRECTED]

    def test_of_another_profile_is_only_referred_to(self) -> None:
        theirs = record(target="Porto", owner=BO)

        decided = decide(given(draft()), theirs, targets={"o0": Target(theirs.id, theirs.version)})

        (reference,) = decided.plan.references
        assert (reference.kind, reference.target_id, reference.target_version) == (
            CrossReferenceKind.CORRECTS,
            theirs.id,
            3,
        )
        assert decided.plan.lineage == ()
        assert theirs.id not in {c.relationship_id for c in decided.plan.changes}

    def test_stays_as_it_is_when_the_evidence_does_not_entail_the_new(self) -> None:
        old = record(target="Porto")

        decided = decide(given(draft(), verdict=Verdict.CONTRADICTED), old, targets={"o0": Target(old.id, 3)})

        assert (decided.plan.lineage, decided.held) == ((), ())


class TestCrossReference:
    @pytest.mark.parametrize(
        ("theirs", "kind"),
        [
            (record(owner=BO), CrossReferenceKind.CONFIRMS),
            (record(target="Porto", owner=BO), CrossReferenceKind.CHALLENGES),
            (record(owner=BO, polarity=Polarity.MINUS), CrossReferenceKind.CHALLENGES),
        ],
        ids=["same", "other-value", "denial"],
    )
    def test_says_what_the_new_record_means_for_theirs(self, theirs: StoredRecord, kind: CrossReferenceKind) -> None:
        decided = decide(given(draft()), theirs)

        assert [(r.kind, r.target_id, r.source_version) for r in decided.plan.references] == [(kind, theirs.id, 1)]

    def test_is_made_once(self) -> None:
        theirs = record(owner=BO)
        mine = record(references=frozenset({(theirs.id, CrossReferenceKind.CONFIRMS)}))

        assert decide(given(draft()), theirs, mine).plan.references == ()

    def test_is_not_made_of_what_is_not_active(self) -> None:
        assert decide(given(draft(scope="free")), record(owner=BO)).plan.references == ()
        assert decide(given(draft()), record(owner=BO, status=Status.DISPUTED)).plan.references == ()


class TestSameFactTwice:
    def test_in_one_item_makes_one_record_of_one_voice(self) -> None:
        decided = decide(given(draft("o0"), draft("o1", spans=((20, 30),))))

        assert (len(decided.plan.records), len(decided.plan.supports)) == (1, 2)
        assert [(c.version, c.support_count, c.source_group_count) for c in decided.plan.changes] == [
            (1, 1, 1),
            (2, 2, 1),
        ]

    def test_of_one_span_is_counted_once(self) -> None:
        decided = decide(given(draft("o0"), draft("o1")))

        assert (len(decided.plan.supports), len(decided.plan.changes), len(decided.plan.observations)) == (1, 1, 2)

    @pytest.mark.parametrize(
        ("joins", "tier", "voices"), [({}, Tier.FACT, 2), ({number("old"): {number("group")}}, Tier.CLAIM, 1)]
    )
    def test_of_another_group_is_a_second_voice_unless_joined(
        self, joins: Mapping[UUID, Set[UUID]], tier: Tier, voices: int
    ) -> None:
        (change,) = decide(given(draft()), record(), joins=joins).plan.changes

        assert (change.tier, change.support_count, change.source_group_count) == (tier, 2, voices)

    def test_gives_the_same_ids_each_time(self) -> None:
        assert decide(given(draft())) == decide(given(draft()))


class TestMentions:
    def creating(self, *names: str, candidates: dict[str, tuple[Candidate, ...]] | None = None) -> Given:
        """Return an item whose mentions all create, under one lookup key."""
        item = given(draft(subject=names[0], target=names[-1]))
        answers = {n: EntityResult(ResolutionAction.CREATE, None, Decimal("0.9"), "r") for n in names}
        return replace(
            item,
            verification=replace(item.verification, entities=answers),
            candidates=candidates or {},
            keys=dict.fromkeys(names, "alex"),
        )

    def test_of_one_name_and_kind_make_one_entity(self) -> None:
        decided = identities(self.creating("Alex", "ALEX"))

        assert len(decided.entities) == len(decided.names) == 1
        assert decided.entity_of["Alex"] == decided.entity_of["ALEX"]

    def test_of_one_group_that_differ_are_ambiguous(self) -> None:
        item = self.creating(
            "Alex", "ALEX", candidates={"ALEX": (Candidate(number("A"), EntityKind.PERSON, CandidateReason.EXACT),)}
        )
        reuse = EntityResult(ResolutionAction.REUSE, str(number("A")), Decimal("0.9"), "r")
        item = replace(
            item, verification=replace(item.verification, entities=item.verification.entities | {"ALEX": reuse})
        )

        decided = identities(item)

        assert decided.resolution_of["Alex"].action is ResolutionAction.AMBIGUOUS
        assert decided.entity_of == {"ALEX": number("A")}
        assert wanted_names(item) == set()

    def test_of_one_ingest_reuse_what_its_other_item_made(self) -> None:
        item = self.creating("Alex", "ALEX")

        decided = decide_mentions(item, {("alex", EntityKind.PERSON): [Newcomer(number("A"), same_ingest=True)]})

        assert (decided.entities, set(decided.entity_of.values())) == ((), {number("A")})

    def test_go_back_to_the_candidates_when_another_ingest_made_the_name(self) -> None:
        item = self.creating("Alex", "ALEX")

        with pytest.raises(CandidatesMoved):
            decide_mentions(item, {("alex", EntityKind.PERSON): [Newcomer(number("A"), same_ingest=False)]})
