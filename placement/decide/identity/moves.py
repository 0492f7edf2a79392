"""What each kind of decision about who is who does, inside its one transaction."""

from collections.abc import Collection, Mapping
from typing import Final
from uuid import UUID

from densemem.core import limits
from densemem.core.faults import Fault
from densemem.core.ids import derived_id
from densemem.core.names import NameRefused, lookup_key
from entities.operations import attribute_mentions, create_entities, lock_names
from entities.plan import Attribution, NewEntity, NewName, Origin
from entities.policy.identity import IdentityFault, IdentityRefused
from entities.stored import MentionView, absorbed_into, mentions_of
from entities.vocabulary import MemberRole, NameKind
from evidence.queries import texts_of
from placement.decide.identity.asking import ask_all, check_idle, questions_about, wait_for_owner
from placement.decide.identity.rules import check_apart, check_merge, check_parent, check_parts
from placement.decide.identity.work import Work
from placement.request import RequestInvalid
from relationships.operations import FanoutExceeded
from relationships.policy import Reattribution, place_of
from relationships.reattribute import (
    Around,
    Cited,
    Ends,
    carry_out,
    count_of_others,
    decide_merge,
    decide_split,
    items_resting,
    lock_around,
    observations_citing,
    records_touching,
    rename,
)
from relationships.vocabulary import LineageKind
from review.operations import NewTask
from review.queries import DecisionFacts
from review.vocabulary import TaskKind

OPEN: Final = "identity_split"


def merge(work: Work) -> DecisionFacts:
    """Take entities for one: what the author holds of those that are absorbed is about the survivor from here on."""
    survivor, *absorbed = work.asked.entities
    touched = records_touching(team_id=work.team, owner_id=work.me, entity_ids=absorbed)
    work.lock(items_resting(team_id=work.team, record_ids=touched))
    check_merge(work)
    around = lock_around(team_id=work.team, owner_id=work.me, entity_ids=absorbed, into=[survivor])
    moved = decide_merge(around, owner_id=work.me, ends=dict.fromkeys(absorbed, survivor))
    tasks = questions_about(moved, team_id=work.team)
    check_idle(work, tasks)
    mentions = _mentions_of(work, absorbed)
    work.depend_on(around, sorted(str(m.event_id) for m in mentions), entities=work.asked.entities)
    work.members = ((survivor, MemberRole.SURVIVOR), *((a, MemberRole.ABSORBED) for a in absorbed))
    made = work.record()
    work.mentions = len(mentions)
    _carry(work, moved, around, LineageKind.REKEYED)
    rename(team_id=work.team, owner_id=work.me, entity_ids=[survivor], now=work.desk.now)
    ask_all(work, tasks)
    return made


def distinct(work: Work) -> DecisionFacts:
    """Hold two apart: nothing moves, and no merge of them passes until this is withdrawn."""
    one, other = work.asked.entities
    work.lock(())
    check_apart(work)
    work.depend_on(None, entities=work.asked.entities)
    work.members = ((one, MemberRole.DISTINCT_A), (other, MemberRole.DISTINCT_B))
    return work.record()


def split(work: Work) -> DecisionFacts:
    """Tell one Entity apart: what is attributed moves, span by span; what is not waits for its owner."""
    (parent,) = work.asked.entities
    touched = records_touching(team_id=work.team, owner_id=work.me, entity_ids=[parent])
    first = _mentions(work, parent)
    work.lock({m.item_id for m in first} | items_resting(team_id=work.team, record_ids=touched))
    check_parent(work)
    mentions = _mentions(work, parent)
    work.check_held(m.item_id for m in mentions)
    seen = observations_citing(team_id=work.team, owner_id=work.me, item_ids={m.item_id for m in mentions})
    plan = _Split(work, parent, mentions, seen)
    lock_names(team_id=work.team, keys={name.key for name in plan.names})
    around = lock_around(team_id=work.team, owner_id=work.me, entity_ids=[parent], into=plan.children)
    moved = decide_split(around, owner_id=work.me, parent_id=parent, attributed=plan.attributed)
    open_, tasks = plan.left_open(moved), questions_about(moved, team_id=work.team)
    check_idle(work, {*tasks, *(m.item_id for m in open_)})
    work.depend_on(around, sorted(str(m.event_id) for m in mentions), entities=[parent])
    work.members = ((parent, MemberRole.PARENT), *((c, MemberRole.CHILD) for c in plan.children))
    made = work.record()
    plan.make_children()
    events = plan.attribute(open_)
    _carry(work, moved, around, LineageKind.SPLIT)
    for mention in open_:
        tasks.setdefault(mention.item_id, []).extend(plan.questions(mention, events[mention.place], moved))
    ask_all(work, tasks)
    return made


def _carry(work: Work, moved: Reattribution, around: Around, kind: LineageKind) -> None:
    work.supports = sum(len(a.came) for a in moved.arrivals)
    work.others = count_of_others(team_id=work.team, owner_id=work.me, entity_ids=work.asked.entities)
    carry_out(moved, around, team_id=work.team, owner_id=work.me, identity_id=work.number, kind=kind, now=work.desk.now)


def _mentions(work: Work, entity_id: UUID) -> list[MentionView]:
    """Return the author's mentions of an Entity, by way of what it takes for it too."""
    absorbed = absorbed_into(team_id=work.team, entity_ids=[entity_id]).get((work.me, entity_id), frozenset())
    return _mentions_of(work, [entity_id, *absorbed])


def _mentions_of(work: Work, entity_ids: Collection[UUID]) -> list[MentionView]:
    """Return the author's mentions that mean one of these.

    :raises FanoutExceeded: they are more than one transaction may change
    """
    found = mentions_of(team_id=work.team, owner_id=work.me, entity_ids=entity_ids)
    if len(found) > limits.FANOUT_SUPPORTS:
        raise FanoutExceeded("Too many of your texts mention these entities to decide about them at once.")
    return found


class _Split:
    """How a split attributes: each listed observation its mentions, and each mention everything that cites it.

    :raises Refused: nothing is told apart, or what is not the caller's
    :raises RequestInvalid: a mention has two children
    """

    def __init__(self, work: Work, parent: UUID, mentions: list[MentionView], seen: list[Cited]) -> None:
        self.work, self.parent = work, parent
        self.mentions = {m.place: m for m in mentions}
        self.seen = [o for o in seen if self._refs(o)]
        count = len(work.asked.children)
        taken = [str(m.event_id) for m in mentions]
        self.children = [derived_id("entity", parent, "split", n, *taken) for n in range(count)]
        self.child_of = self._attribute()
        self.names = [self._name(child) for child in self.children]

    @property
    def attributed(self) -> Mapping[tuple[UUID, tuple[UUID, int, int]], Ends]:
        """By record and span, whom the ends mean now.

        :raises RequestInvalid: two observations that say the same in the same words mean two things
        """
        found: dict[tuple[UUID, tuple[UUID, int, int]], Ends] = {}
        for o in self.seen:
            ends = (self.child_of.get((o.item_id, o.subject_ref)), self.child_of.get((o.item_id, o.object_ref)))
            for place in o.places if o.relationship_id else ():
                assert o.relationship_id is not None
                if found.setdefault((o.relationship_id, place), ends) != ends:
                    detail = f"Another observation says the same in the same words as {o.observation_id}: list both."
                    faults = [Fault("/children", "span_attributed_twice", detail)]
                    raise RequestInvalid("Nothing was decided. Mend each place and send it again.", faults=faults)
        return found

    def left_open(self, moved: Reattribution) -> list[MentionView]:
        """Return the mentions that nobody attributed and that something active rested on."""
        refs = dict.fromkeys((o.item_id, ref) for o in self._homeless(moved) for ref in self._refs(o))
        return [self.mentions[place] for place in refs if place not in self.child_of]

    def make_children(self) -> None:
        """Make the entities, each with the name that its first mention has."""
        for child, name in zip(self.children, self.names, strict=True):
            mention = self._first(child)
            item = self.work.items[mention.item_id]
            origin = Origin(self.work.team, self.work.me, item.ingest_id, mention.fragment_id, item.id, item.version)
            new = NewEntity(child, mention.kind)
            create_entities(origin=origin, entities=[new], names=[name], now=self.work.desk.now)

    def attribute(self, open_: list[MentionView]) -> dict[tuple[UUID, str], UUID]:
        """Say anew whom each mention means, and which are open."""
        work = self.work
        waiting = {m.item_id: wait_for_owner(work, m.item_id, OPEN) for m in open_}
        now = [Attribution(m.item_id, m.mention_ref, waiting[m.item_id], None, tuple(self.children)) for m in open_]
        for (item, ref), child in self.child_of.items():
            now.append(Attribution(item, ref, work.items[item].version, child))
        work.mentions, work.left_open = len(self.child_of), len(open_)
        return attribute_mentions(
            team_id=work.team, identity_id=work.number, attributions=now, reason=OPEN, now=work.desk.now
        )

    def questions(self, mention: MentionView, event_id: UUID, moved: Reattribution) -> list[NewTask]:
        """Return the question whom a mention means, once for each observation that waits for the answer."""
        subject = f"mention:{mention.item_id}:{mention.kind}:{mention.mention_ref}:{self.work.number}"
        return [
            NewTask(TaskKind.IDENTITY, subject, OPEN, observation_id=o.observation_id, resolution_id=event_id)
            for o in self._homeless(moved)
            if o.item_id == mention.item_id and mention.mention_ref in self._refs(o)
        ]

    def _homeless(self, moved: Reattribution) -> list[Cited]:
        homeless = {(r.id, place_of(s)) for r, s in moved.homeless}
        return [o for o in self.seen if any((o.relationship_id, place) in homeless for place in o.places)]

    def _refs(self, seen: Cited) -> list[str]:
        return [ref for ref in (seen.subject_ref, seen.object_ref) if (seen.item_id, ref) in self.mentions]

    def _attribute(self) -> dict[tuple[UUID, str], UUID]:
        known = {o.observation_id: o for o in self.seen}
        check_parts(self.work, owned=list(known))
        child_of: dict[tuple[UUID, str], UUID] = {}
        faults = []
        for n, listed in enumerate(self.work.asked.children):
            for i, number in enumerate(listed):
                for ref in self._refs(known[number]):
                    place = known[number].item_id, ref
                    if child_of.setdefault(place, self.children[n]) != self.children[n]:
                        detail = "Another observation gives this mention to another child. A mention means one thing."
                        faults.append(Fault(f"/children/{n}/observation_ids/{i}", "mention_attributed_twice", detail))
        if faults:
            raise RequestInvalid("Nothing was decided. Mend each place and send it again.", faults=faults)
        if len(self.children) == 1 and len(child_of) == len(self.mentions):
            detail = "Every mention would be of the one new Entity: leave something out, or list two."
            raise IdentityRefused(IdentityFault.NOTHING_LEFT, detail)
        return child_of

    def _first(self, child: UUID) -> MentionView:
        return next(self.mentions[place] for place, of in self.child_of.items() if of == child)

    def _name(self, child: UUID) -> NewName:
        mention = self._first(child)
        text = texts_of(team_id=self.work.team, fragment_ids=[mention.fragment_id])[mention.fragment_id]
        words = text[mention.start : mention.end]
        try:
            key = lookup_key(words)
        except NameRefused:
            key = words
        return NewName(child, NameKind.CANONICAL, words, key, mention.start, mention.end)
