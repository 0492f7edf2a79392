"""Random lives of a memory: every step is done by the product and by the model, and both must say the same."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import Any, ClassVar, Final, TypeVar
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from psycopg.pq import TransactionStatus

from densemem.audit import audit
from densemem.auth import Principal
from densemem.core.faults import NotThere, Refused
from evidence.models import Fragment
from placement import decide
from placement.models import Item as ItemRow
from placement.remember import TargetUnknown
from review.models import Task
from tests.machine.claims import Claim, Key, Seen
from tests.machine.model import Item, Model, Record, Text
from tests.machine.watch import Watch
from tests.machine.world import (
    DATES,
    TEAM_OF,
    TEAMS,
    Found,
    World,
    newest_observation,
    proposal_of,
    provider_of,
    words_of,
)
from tests.said import send

Picked = TypeVar("Picked")

BEGIN: Final = date(2024, 1, 1)
END: Final = date(2024, 3, 1)  # in the midst of the moments at which things are seen
FIRST_SEEN: Final = date(2024, 2, 10)
NAMES: Final = ("Mara", "Harbor")
CLAIMS: Final = (
    Claim("Mara", "works_on", "Harbor"),
    Claim("Mara", "works_on", "Harbor"),
    Claim("Mara", "works_on", "Harbor", "-"),
    Claim("Mara", "works_on", "Harbor", until=END),
    Claim("Mara", "works_on", "Beacon"),
    Claim("Mara", "lives_in", "Graz"),
    Claim("Mara", "lives_in", "Graz"),
    Claim("Mara", "lives_in", "Graz", since=BEGIN),
    Claim("Mara", "lives_in", "Graz", until=END),
    Claim("Mara", "lives_in", "Porto"),
    Claim("Mara", "lives_in", "Porto"),
    Claim("Mara", "lives_in", "Porto", "-"),
    *(Claim("Harbor", "due_on", day) for day in DATES),
    Claim("Harbor", "due_on", DATES[0], since=BEGIN, until=END),
)

people = st.sampled_from(["Ada", "Ada", "Bo", "Bo", "Uma"])
claims = st.sampled_from(CLAIMS)
verdicts = st.sampled_from(["entailed", "entailed", "entailed", "contradicted", "insufficient"])
sources = st.sampled_from([None, None, "wiki", "diary"])
seldom = st.sampled_from([False, False, False, True])
mostly = st.sampled_from([True, True, True, False])
picks = st.integers(0, 999)


class Machine(RuleBasedStateMachine):
    """
    One example is one life, in a transaction that is taken back.

    :param world: the teams that all examples begin with
    """

    world: ClassVar[World]

    def __init__(self) -> None:
        super().__init__()
        self.models = {team: Model() for team in TEAMS}
        self.ids: dict[Text | Item, UUID] = {}
        self.items: dict[UUID, Item] = {}
        self.read: set[Item] = set()
        self.records: dict[Key, UUID] = {}
        self.current: dict[str, tuple[str, Text]] = {}  # by source group: its revision and its text
        self.cases: list[Found] = []
        self.moments: list[tuple[datetime, dict[Key, Seen]]] = []
        self.watch = Watch()
        self.sent = 0
        self.example = transaction.atomic()
        self.example.__enter__()

    def teardown(self) -> None:
        """Audit the whole life, see that no deferred law is broken, and take it back."""
        try:
            if connection.connection.info.transaction_status is not TransactionStatus.INERROR:
                connection.check_constraints()
                self.look_everywhere()
                self.audit_all()
        finally:
            transaction.set_rollback(True)
            self.example.__exit__(None, None, None)

    @initialize(said=st.tuples(claims, claims, claims))
    def begin(self, said: tuple[Claim, ...]) -> None:
        """Everybody says something, so that every step has something to do."""
        for who, claim in zip(TEAM_OF, said, strict=True):
            self.send(who, claim, "entailed")
        self.work_if(True)

    # Evidence comes in.

    @rule(who=people, claim=claims, verdict=verdicts, source=sources, strong=seldom, now=mostly)
    def remember(self, who: str, claim: Claim, verdict: str, source: str | None, strong: bool, now: bool) -> None:
        self.send(who, claim, verdict, source=source, strong=strong)
        self.work_if(now)

    @precondition(lambda self: self.texts())
    @rule(pick=picks, who=people, verdict=verdicts, source=sources, now=mostly)
    def repeat(self, pick: int, who: str, verdict: str, source: str | None, now: bool) -> None:
        """The words of somebody, sent again; of whichever team."""
        text = chosen(self.texts(), pick)
        self.send(who, text.claim, verdict, source=source, words=text.words)
        self.work_if(now)

    @precondition(lambda self: self.known())
    @rule(pick=picks, who=people, claim=claims, verdict=verdicts, stale=seldom, now=mostly)
    def correct_by_text(self, pick: int, who: str, claim: Claim, verdict: str, stale: bool, now: bool) -> None:
        """A text that names a record as its correction target; sometimes at a version that is gone, or another's."""
        record = chosen(self.known(), pick)
        target = record.key, record.version - stale or 1
        if TEAM_OF[who] != TEAM_OF[record.key.owner]:
            with pytest.raises(TargetUnknown):
                send(self.world.people[who], "No.", proposal=proposal_of(claim, self.records[record.key], target[1]))
        else:
            self.send(who, claim, verdict, target=target)
        self.work_if(now)

    @precondition(lambda self: self.texts())
    @rule(pick=picks, who=people, now=mostly)
    def adopt(self, pick: int, who: str, now: bool) -> None:
        text = chosen(self.texts(), pick)
        taken = any(item.text is text and item.owner == who for item in self.items.values())
        if TEAM_OF[who] != TEAM_OF[text.owner]:
            with pytest.raises(NotThere):
                self.adopted(who, text)
        elif not taken or text.owner == who:
            item = self.model_of(who).adopt(text, who)
            done = self.expect(item is not None, lambda: self.adopted(who, text))
            if item is not None:
                self.keep(item, done.item_id)
        self.work_if(now)

    @precondition(lambda self: self.read)
    @rule(pick=picks, verdict=verdicts, now=mostly)
    def verify_again(self, pick: int, verdict: str, now: bool) -> None:
        item = chosen(sorted(self.read, key=lambda i: self.ids[i]), pick)
        item.text.verdict = verdict
        observation = newest_observation(self.ids[item])
        allowed = self.model_of(item.owner).verify_again(item)
        who = self.world.people[item.owner]
        self.expect(allowed, lambda: reasoned(decide.verify_again, who, observation_id=observation))
        self.work_if(now)

    @precondition(lambda self: any(list(model.queued()) for model in self.models.values()))
    @rule()
    def work(self) -> None:
        """A worker places what waits, one text after the other."""
        self.work_if(True)

    # People decide about texts.

    @precondition(lambda self: self.texts())
    @rule(pick=picks)
    def hold(self, pick: int) -> None:
        self.decide_text(pick, Model.hold, decide.quarantine)

    @precondition(lambda self: self.texts())
    @rule(pick=picks)
    def redact(self, pick: int) -> None:
        self.decide_text(pick, Model.redact, decide.redact)

    @precondition(lambda self: self.texts())
    @rule(pick=picks)
    def retire(self, pick: int) -> None:
        text = chosen(self.texts(), pick)
        owner = self.world.people[text.owner]
        allowed = self.model_of(text.owner).retire(text)
        self.expect(allowed, lambda: reasoned(decide.retire_evidence, owner, fragment_id=self.ids[text]))

    @precondition(lambda self: self.held())
    @rule(pick=picks, now=mostly)
    def release(self, pick: int, now: bool) -> None:
        text = chosen(self.held(), pick)
        task = Task.objects.get(fragment_id=self.ids[text], kind="policy_needs_review", status="open")
        row = ItemRow.objects.get(pk=task.item_id)
        body = {"action": "release_quarantine", "item_version": row.version, "message": "Nothing wrong with it."}
        manager = self.world.managers[TEAM_OF[text.owner]]
        decide.decide(principal=manager, review_id=task.id, body=body, idempotency_key=uuid4().hex, now=timezone.now())
        assert self.model_of(text.owner).release(text)
        self.work_if(now)

    # Owners decide about records.

    @precondition(lambda self: self.known())
    @rule(pick=picks)
    def forget(self, pick: int) -> None:
        self.decide_record(pick, Model.forget, decide.forget)

    @precondition(lambda self: self.known())
    @rule(pick=picks)
    def dispute(self, pick: int) -> None:
        self.decide_record(pick, Model.dispute, decide.dispute)

    @precondition(lambda self: self.known("retracted", "disputed"))
    @rule(pick=picks)
    def lift(self, pick: int) -> None:
        self.decide_record(pick, Model.lift, decide.lift, *("retracted", "disputed"))

    @precondition(lambda self: self.known("active"))
    @rule(
        pick=picks, bound=st.sampled_from([None, BEGIN]), end=st.sampled_from([None, END]), day=st.sampled_from(DATES)
    )
    def correct(self, pick: int, bound: date | None, end: date | None, day: str) -> None:
        """A misread value, or a misread validity."""
        record = chosen(self.known("active"), pick)
        claim = record.key.claim._replace(since=bound, until=end)
        body: dict[str, Any] = {"valid_from": bound and bound.isoformat(), "valid_to": end and end.isoformat()}
        if claim.predicate == "due_on":
            claim = claim._replace(object=day)
            body["object_value"] = {"type": "date", "value": day}
        version = record.version
        allowed = self.model_of(record.key.owner).correct(record, claim)
        self.expect(allowed, lambda: self.decided(decide.correct_relationship, record, version, body))

    @precondition(lambda self: self.known())
    @rule(pick=picks, who=people)
    def trespass(self, pick: int, who: str) -> None:
        """Nobody decides about the record of somebody else, and another team is not even told that it is there."""
        record = chosen(self.known(), pick)
        if who != record.key.owner:
            fault = Refused if TEAM_OF[who] == TEAM_OF[record.key.owner] else NotThere
            with pytest.raises(fault):
                self.decided(decide.forget, record, record.version, by=who)

    @precondition(lambda self: self.cases)
    @rule(pick=picks, who=people)
    def settle(self, pick: int, who: str) -> None:
        """Somebody says that the positions of a conflict do not compete."""
        case = chosen(self.cases, pick)
        if TEAM_OF[who] != case.team:
            with pytest.raises(NotThere):
                self.stated(who, case)
        else:
            self.expect(self.model_of(who).say_not_competing(who, case.positions), lambda: self.stated(who, case))

    @rule(who=people, name=st.sampled_from(NAMES))
    def look(self, who: str, name: str) -> None:
        """Recall shows what is active and holds now, of the own team alone."""
        self.look_for(who, name)

    @rule(pick=picks, who=people, name=st.sampled_from(NAMES))
    def look_back(self, pick: int, who: str, name: str) -> None:
        """What was known at an earlier moment is what was true of the model then."""
        moment, known = chosen(self.moments, pick)
        self.look_for(who, name, known, moment)

    # After every step.

    @invariant()
    def the_model_is_right(self) -> None:
        expected = self.compare()
        self.moments.append((timezone.now(), expected))

    def compare(self) -> dict[Key, Seen]:
        """See that every record is as the model has it, and return how."""
        found = self.world.records()
        self.records = {key: number for number, (key, _) in found.items()}
        real = dict(found.values())
        assert len(real) == len(found)
        expected = {key: seen for model in self.models.values() for key, seen in model.seen().items()}
        wrong = {k: (real.get(k), expected.get(k)) for k in {*real, *expected} if real.get(k) != expected.get(k)}
        assert not wrong, f"by record, what is and what the model says: {wrong}"
        return expected

    @invariant()
    def what_speaks_of_another_is_right(self) -> None:
        conflicts = [model.conflicts for model in self.models.values()]
        said = {(self.records[one], self.records[other], k) for c in conflicts for one, other, k in c.references}
        assert (found := self.world.references()) == said, (found - said, said - found)
        self.cases = self.world.cases()
        real = {(case.team, case.positions): case.is_open for case in self.cases}
        expected = {(team, p): is_open for team, m in self.models.items() for p, is_open in m.cases().items()}
        assert real == expected, (real, expected)

    @invariant()
    def no_law_is_broken(self) -> None:
        broken = self.world.broken()
        assert not broken, broken
        differing = self.watch.differing()
        assert not differing, differing

    def look_everywhere(self) -> None:
        """See with the eyes of everybody."""
        for who in TEAM_OF:
            for name in NAMES:
                self.look_for(who, name)

    def look_for(
        self, who: str, name: str, known: dict[Key, Seen] | None = None, known_at: datetime | None = None
    ) -> None:
        """See that recall shows what is active and holds, as the model has it or had it at a moment."""
        known = self.model_of(who).seen() if known is None else known
        mine = {k: s for k, s in known.items() if TEAM_OF[k.owner] == TEAM_OF[who] and name in k.claim[:3]}
        active = {k: s for k, s in mine.items() if s.status == "active" and not k.claim.until}
        expected = {self.records[k]: (s.tier, s.status, s.supports, s.voices, s.version) for k, s in active.items()}
        assert self.world.found(who, name, known_at) == expected

    def audit_all(self) -> None:
        """Compare every row with its ledgers."""
        differing = [(check.name, check.differences) for check in audit().checks if check.differences]
        assert not differing, differing

    # How a step is done.

    def send(
        self,
        who: str,
        claim: Claim,
        verdict: str,
        *,
        source: str | None = None,
        strong: bool = False,
        words: str = "",
        target: tuple[Key, int] | None = None,
    ) -> None:
        """Send a text, as the next revision of its source if it has one."""
        self.sent += 1
        words, observed = words or words_of(claim, self.sent), FIRST_SEEN + timedelta(days=self.sent)
        group = f"{who}/{source}" if source else who
        token, before = self.current.get(group, (None, None))
        fields: dict[str, Any] = {"observed_at": f"{observed}T00:00:00Z"}
        if source:
            fields |= {"source_key": source, "source_revision": str(self.sent)}
            fields |= {"previous_source_revision": token} if token else {}
        if strong:
            fields["authority"] = "authoritative"
        if target:
            fields["proposal"] = proposal_of(claim, self.records[target[0]], target[1])
        ingest = send(self.world.people[who], words, **fields)
        text = Text(who, words, claim, verdict, observed, group, strong)
        item = self.model_of(who).remember(text, replaces=before, target=target)
        if source:
            self.current[group] = (str(self.sent), text)
        self.ids[text] = Fragment.objects.values_list("id", flat=True).get(ingest_id=ingest)
        self.keep(item, ItemRow.objects.values_list("id", flat=True).get(ingest_id=ingest))

    def work_if(self, now: bool) -> None:
        """Let a worker place everything that waits, or nothing."""
        while now:
            placed = self.world.work(self.answers)
            if placed is None:
                assert not [i for model in self.models.values() for i in model.queued()]
                return
            item = self.items[placed]
            assert item.state == "queued"
            self.model_of(item.owner).place(item)
            if item.state == "done":
                self.read.add(item)

    def answers(self, item_id: UUID) -> Any:
        text = self.items[item_id].text
        return provider_of(text.claim, text.verdict)

    def decide_text(self, pick: int, expected: Callable[[Model, Text], bool], done: Callable[..., Any]) -> None:
        text = chosen(self.texts(), pick)
        manager = self.world.managers[TEAM_OF[text.owner]]
        allowed = expected(self.model_of(text.owner), text)
        self.expect(allowed, lambda: reasoned(done, manager, fragment_id=self.ids[text]))

    def decide_record(
        self, pick: int, expected: Callable[[Model, Record], bool], done: Callable[..., Any], *statuses: str
    ) -> None:
        record = chosen(self.known(*statuses), pick)
        version = record.version
        allowed = expected(self.model_of(record.key.owner), record)
        self.expect(allowed, lambda: self.decided(done, record, version))

    def decided(
        self, done: Callable[..., Any], record: Record, version: int, body: Any = None, by: str | None = None
    ) -> Any:
        return done(
            principal=self.world.people[by or record.key.owner],
            relationship_id=self.records[record.key],
            expected_version=version,
            body={"message": "It was wrong.", **(body or {})},
            idempotency_key=uuid4().hex,
            now=timezone.now(),
        )

    def stated(self, who: str, case: Found) -> Any:
        return decide.state_not_competing(
            principal=self.world.people[who],
            conflict_id=case.id,
            expected_version=case.version,
            body={"message": "Both can be."},
            idempotency_key=uuid4().hex,
            now=timezone.now(),
        )

    def adopted(self, who: str, text: Text) -> Any:
        body = {"fragment_id": str(self.ids[text]), "spans": [{"start": 0, "end": len(text.words)}]}
        return decide.adopt(
            principal=self.world.people[who], body=body, idempotency_key=uuid4().hex, now=timezone.now()
        )

    def expect(self, allowed: bool, act: Callable[[], Any]) -> Any:
        """Do what the model allows; what it does not allow, the product must refuse."""
        if allowed:
            return act()
        with pytest.raises(Refused):
            act()
        return None

    def keep(self, item: Item, number: UUID) -> None:
        self.ids[item] = number
        self.items[number] = item

    def model_of(self, who: str) -> Model:
        return self.models[TEAM_OF[who]]

    def texts(self) -> list[Text]:
        return [text for model in self.models.values() for text in model.texts]

    def held(self) -> list[Text]:
        return [text for text in self.texts() if text.held and text.current]

    def known(self, *statuses: str) -> list[Record]:
        """Return the records, of everybody, that have one of these statuses; all of them without any."""
        every = (record for model in self.models.values() for record in model.records.values())
        return [record for record in every if not statuses or record.status in statuses]


def chosen(options: Sequence[Picked], pick: int) -> Picked:
    """Return one of the options."""
    return options[pick % len(options)]


def reasoned(done: Callable[..., Any], who: Principal, **about: Any) -> Any:
    return done(
        principal=who, body={"reason": "It was wrong."}, idempotency_key=uuid4().hex, now=timezone.now(), **about
    )
