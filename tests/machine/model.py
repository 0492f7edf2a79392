"""What the product is to do, in plain Python: its rules are written from the pages and shared with nothing.

"Relationship Model And Lifecycle" and docs/lifecycle.md say them in words. A team has texts, items that place a text
for somebody, and records. Nothing of one team is ever seen by another, so each team has a model of its own.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import combinations

from tests.machine.claims import Claim, Key, Seen
from tests.machine.conflicts import Conflicts

RANK = {"candidate": 0, "validated_claim": 1, "fact": 2}
ONE_AT_A_TIME = ("lives_in", "due_on")


@dataclass(eq=False)
class Text:
    """A text that was sent. `verdict` is what a verifier will say of it; a text that counts no more is not current."""

    owner: str
    words: str
    claim: Claim
    verdict: str
    observed: date
    group: str
    authoritative: bool
    current: bool = True
    held: bool = False
    guarded: bool = False
    redacted: bool = False


@dataclass(eq=False)
class Item:
    """A text on its way to be placed for somebody: `queued`, `done`, `held` or `over`.

    :param target: the record that is to be corrected, and the version that was seen
    :param again: its owner asked for one more judgment
    :param corrected: its owner has corrected since what was read in it
    """

    text: Text
    owner: str
    target: tuple[Key, int] | None = None
    state: str = "queued"
    again: bool = False
    corrected: bool = False


@dataclass(eq=False)
class Record:
    """
    A record.

    :param counting: the texts that hold it up
    :param rested: the texts that hold it up or ever did
    :param meant: by a text that it was misread in, what its owner corrected it to
    :param replaced: how it was superseded last, and since when
    :param before: the status that it had before the present one
    :param counted: what was written of its supports and voices when it changed last
    """

    key: Key
    tier: str = "candidate"
    status: str = ""
    by_person: bool = False
    version: int = 0
    counting: set[Text] = field(default_factory=set)
    rested: set[Text] = field(default_factory=set)
    meant: dict[Text, "Record"] = field(default_factory=dict)
    counted: tuple[int, int] = (0, 0)
    replaced: tuple[str, date] | None = None
    before: str = ""
    successors: set[Key] = field(default_factory=set)


class Model:
    """One team. A method that returns False says that the product must refuse, and that nothing may change."""

    def __init__(self) -> None:
        self.texts: list[Text] = []
        self.items: list[Item] = []
        self.records: dict[Key, Record] = {}
        self.bound: dict[str, set[str]] = defaultdict(set)  # groups to those that said the same before
        self.traced: dict[int, set[str]] = {}  # a text to the groups that what it repeats goes back to
        self.conflicts = Conflicts()

    def seen(self) -> dict[Key, Seen]:
        """Return every record as it must be found."""
        return {
            r.key: Seen(r.tier, r.status, r.by_person, len(r.counting), self.voices(r.counting), r.version)
            for r in self.records.values()
        }

    def active(self) -> list[Key]:
        """Return the records that take part."""
        return [r.key for r in self.records.values() if r.status == "active"]

    def cases(self) -> dict[frozenset[Claim], bool]:
        """Return every conflict by its positions, and whether it is open."""
        active = self.active()
        return {frozenset(case.positions): case.is_open(active) for case in self.conflicts.cases}

    # What comes in.

    def remember(self, text: Text, *, replaces: Text | None, target: tuple[Key, int] | None = None) -> Item:
        """Take in a text, which may be the next revision of its source; who says the same words is one voice."""
        if replaces:
            self._stop_counting([replaces])
        self._join(text)
        self.texts.append(text)
        for record in self.records.values():
            self._recount(record)
        return self._queue(Item(text, text.owner, target))

    def adopt(self, text: Text, owner: str) -> Item | None:
        """Queue a text for somebody else; None where that is refused."""
        if not text.current or text.held or text.owner == owner:
            return None
        return self._queue(Item(text, owner))

    def verify_again(self, item: Item) -> bool:
        """Queue one observation for one more judgment."""
        if item.state != "done" or not item.text.current or item.text.held or item.corrected:
            return False
        item.state, item.again = "queued", True
        return True

    # What a worker does.

    def place(self, item: Item) -> None:
        """Let a text say what it says, for the owner of the item."""
        text, again = item.text, item.again
        item.again = False
        item.state = "over" if not text.current else "held" if text.held else "done"
        if item.state != "done":
            return
        read = self.records.setdefault(Key(item.owner, text.claim), Record(Key(item.owner, text.claim)))
        record = read
        while text.verdict == "entailed" and text in record.meant:
            record = record.meant[text]
        target, moved = self._target(item, again=again)
        rivals = self._met(record, text, moved=moved, target=target)
        back = self._is_back(record, text) and "hold" not in rivals.values()
        tier, status, grants = self._standing(record, text, unclear=moved, held="hold" in rivals.values(), back=back)
        item.corrected = grants and record is not read
        if grants:
            record.counting.add(text)
            record.rested.add(text)
        elif again and text.verdict != "entailed" and text in record.counting:
            record.counting.remove(text)
            tier, status = self._worth(record)
        self._step(record, tier, status, by_person=record.by_person and status == record.status)
        if status == "active" and grants:
            for old, kind in rivals.items():
                self._supersede(old, record, kind)
            self._refer(record, {text} if item.owner != text.owner else set(), target=target)

    # What people decide.

    def hold(self, text: Text) -> bool:
        """A manager holds a text."""
        if not text.current or text.held:
            return False
        text.held = True
        self._end_items(text, "held", owner=text.owner)
        waiting = [r for r in self.records.values() if r.status == "pending_evidence" and text in r.rested]
        self._revoke([text], bare="quarantined")
        for record in waiting:
            self._recount(record, "quarantined")
        return True

    def release(self, text: Text) -> bool:
        """A manager releases a held text: it is placed anew for all who had it placed."""
        if not text.current or not text.held:
            return False
        text.held, text.guarded = False, True
        for record in self.records.values():
            others = any(other.held and other.current for other in record.rested)
            if record.status == "quarantined" and text in record.rested and not others:
                self._write(record, *self._earned(record.counting))
        for item in self.items:
            if item.text is text and item.state != "queued":
                item.state, item.again = "queued", False
        return True

    def retire(self, text: Text) -> bool:
        """Its owner withdraws a text."""
        if not text.current:
            return False
        self._stop_counting([text])
        return True

    def redact(self, text: Text) -> bool:
        """A manager takes out the words, for everybody who sent them."""
        if text.redacted:
            return False
        sharing = [t for t in self.texts if t.words == text.words and not t.redacted]
        for shared in sharing:
            shared.redacted = True
        self._stop_counting(sharing)
        return True

    def forget(self, record: Record) -> bool:
        """Its owner takes a record out of recall."""
        if record.status == "retracted":
            return False
        return self._take_out(record, "retracted")

    def dispute(self, record: Record) -> bool:
        """Its owner holds a record back."""
        if record.status not in ("active", "pending_evidence", "needs_review"):
            return False
        return self._take_out(record, "disputed")

    def lift(self, record: Record) -> bool:
        """Its owner lets a record take part again, judged by what counts now, unless it does not go with another."""
        if record.status not in ("retracted", "disputed"):
            return False
        taken = any(self.records[key].status == "active" for key in record.successors)
        if record.before == "superseded" and taken:
            return False
        tier, status = self._earned(record.counting)
        if status == "active" and not self._goes_alone(record, tier, self._active(record)):
            return False
        self._write(record, tier, status)
        if status == "active":
            self._refer(record, record.counting)
        return True

    def correct(self, old: Record, claim: Claim) -> bool:
        """Its owner corrects a record: what held it up holds up the right one from here on."""
        new = self.records.get(Key(old.key.owner, claim)) or Record(Key(old.key.owner, claim))
        if old.status != "active" or claim == old.key.claim:
            return False
        if new.status in ("needs_review", "retracted", "disputed"):
            return False
        together = new.counting | old.counting
        tier, status = self._earned(together)
        others = [r for r in self._active(old) if r is not new]
        if new.status != "active" and not self._goes_alone(new, tier, others, counting=together):
            return False
        for item in self.items:
            if item.owner == old.key.owner and item.text in old.counting:
                item.corrected = True
        for text in old.counting:
            old.meant[text] = new
            new.meant.pop(text, None)
        new.rested |= together
        new.counting, old.counting = together, set()
        self.records[new.key] = new
        self._write(new, tier, status)
        self._write(old, old.tier, "superseded")
        self._succeed(old, new, "corrected")
        self._refer(new, new.counting)
        return True

    def say_not_competing(self, who: str, positions: frozenset[Claim]) -> bool:
        """Somebody says that the positions of a conflict do not compete."""
        return self.conflicts.say(positions, who, self.active())

    # How a text that is placed decides.

    def _target(self, item: Item, *, again: bool) -> tuple[Record | None, bool]:
        """Return the record to be corrected, if it is as it was seen; and whether its sender has not seen it so."""
        if item.target is None or item.text.guarded:
            return None, False
        key, version = item.target
        same = self.records[key].version == version
        return (self.records[key] if same else None), not same and not again

    def _standing(self, record: Record, text: Text, *, unclear: bool, held: bool, back: bool) -> tuple[str, str, bool]:
        """Return tier, status, and whether the text holds the record up from here on."""
        entailed = text.verdict == "entailed"
        if record.status not in ("", "active", "pending_evidence"):
            reopens = entailed and (
                (record.status == "rejected" and not record.by_person) or record.status == "quarantined" or back
            )
            if not reopens:
                return record.tier, record.status, entailed and not unclear
        if entailed and not unclear and not held:
            return *self._earned(record.counting | {text}), True
        if record.status == "active":
            return record.tier, record.status, False
        status = {"contradicted": "rejected", "insufficient": "pending_evidence"}.get(text.verdict, "needs_review")
        return "candidate", status, False

    def _is_back(self, record: Record, text: Text) -> bool:
        """Tell if a superseded record is said later than what took its place; what was corrected never returns."""
        if record.status != "superseded" or record.replaced is None:
            return False
        kind, since = record.replaced
        return kind != "corrected" and _moment(record.key.claim, record.counting | {text})[0] > since

    def _met(self, record: Record, text: Text, *, moved: bool, target: Record | None) -> dict[Record, str]:
        """Return the owner's active records that the new statement does not go with, each with what that means."""
        superseded = record.status == "superseded"
        tier, status, grants = self._standing(record, text, unclear=moved, held=False, back=superseded)
        if status != "active" or not grants:
            return {}
        others = [r for r in self._active(record) if r is target or _slot(r.key.claim) == _slot(record.key.claim)]
        if record.status == "active":
            others = [r for r in others if r is target]
        counting = record.counting | {text}
        answers = {old: _meet(record, tier, counting, old, corrects=old is target) for old in others}
        return {old: answer for old, answer in answers.items() if answer}

    def _goes_alone(self, record: Record, tier: str, others: list[Record], counting: set[Text] | None = None) -> bool:
        """Tell if a record goes with the owner's active ones, whichever came first."""
        mine = Record(record.key, tier=tier, counting=counting or record.counting)
        return not any(
            _meet(mine, tier, mine.counting, old) or _meet(old, old.tier, old.counting, mine) for old in others
        )

    def _active(self, record: Record) -> list[Record]:
        """Return the owner's other active records."""
        mine = (r for r in self.records.values() if r.key.owner == record.key.owner)
        return [r for r in mine if r.status == "active" and r is not record]

    # What a record says of others.

    def _refer(self, record: Record, taken: set[Text], *, target: Record | None = None) -> None:
        """Let a record that became active, or was said again, speak of the active ones of other owners.

        :param taken: the texts by which it says nothing of its own of a record that rests on them all
        """
        for other in self.records.values():
            foreign = other.status == "active" and other.key.owner != record.key.owner
            if foreign and (kind := self._kind(record, other, taken, corrects=other is target)):
                self.conflicts.refer(record.key, other.key, kind)

    def _kind(self, record: Record, other: Record, taken: set[Text], *, corrects: bool) -> str:
        mine, theirs = record.key.claim, other.key.claim
        if mine == theirs:
            return "adopts_evidence_from" if taken and taken <= other.counting else "confirms"
        if corrects:
            return "corrects"
        return "challenges" if _denies(mine, theirs) or _excludes(mine, theirs) else ""

    # How support decides.

    def _join(self, text: Text) -> None:
        """Bind the group of a text to those that said its words before, and the text to what these go back to."""
        before = {other.group: other for other in reversed(self.texts) if other.words == text.words}
        back = set().union(*(self.bound[group] | self.traced[id(other)] for group, other in before.items()))
        self.traced[id(text)] = back - {text.group, *before}
        self.bound[text.group] |= before.keys() - {text.group}

    def voices(self, texts: set[Text]) -> int:
        """Count the fewest groups that may be behind the texts; two at most of those that could come from several."""
        behind = [{text.group} | self.bound[text.group] | self.traced[id(text)] for text in texts]
        sure = set().union(*(groups for groups in behind if len(groups) == 1))
        rest = [groups for groups in behind if not groups & sure]
        names = set().union(*rest)
        fewest = (n for n in (0, 1) for some in combinations(names, n) if all(groups & set(some) for groups in rest))
        return len(sure) + next(fewest, 2)

    def _earned(self, texts: set[Text]) -> tuple[str, str]:
        """Return what these texts are worth."""
        voices = self.voices(texts)
        if not voices:
            return "candidate", "pending_evidence"
        strong = voices >= 2 or any(text.authoritative for text in texts)
        return ("fact" if strong else "validated_claim"), "active"

    def _worth(self, record: Record, bare: str = "pending_evidence") -> tuple[str, str]:
        """Return where a record stands by what is left; a hold is kept."""
        if record.status not in ("active", "pending_evidence"):
            return record.tier, record.status
        tier, status = self._earned(record.counting)
        return tier, (status if record.counting else bare)

    def _revoke(self, texts: list[Text], *, bare: str = "pending_evidence") -> None:
        for record in self.records.values():
            if record.counting & set(texts):
                record.counting -= set(texts)
                self._recount(record, bare)

    def _recount(self, record: Record, bare: str = "pending_evidence") -> None:
        self._step(record, *self._worth(record, bare), by_person=record.by_person)

    def _stop_counting(self, texts: list[Text]) -> None:
        for text in texts:
            text.current = False
            self._end_items(text, "over")
        self._revoke(texts)

    # How rows change.

    def _step(self, record: Record, tier: str, status: str, *, by_person: bool) -> None:
        """Write a version, if anything of the record is new."""
        now = tier, status, *self._counts(record)
        if not record.version or now != (record.tier, record.status, *record.counted):
            self._write(record, tier, status, by_person=by_person)

    def _write(self, record: Record, tier: str, status: str, *, by_person: bool = False) -> None:
        if status != record.status:
            record.before = record.status
        record.tier, record.status, record.by_person = tier, status, by_person
        record.version += 1
        if status != "active":
            self.conflicts.leave(record.key)
        record.counted = self._counts(record)

    def _counts(self, record: Record) -> tuple[int, int]:
        return len(record.counting), self.voices(record.counting)

    def _take_out(self, record: Record, status: str) -> bool:
        self._write(record, record.tier, status, by_person=True)
        return True

    def _supersede(self, old: Record, new: Record, kind: str) -> None:
        self._write(old, old.tier, "superseded")
        self._succeed(old, new, kind)

    def _succeed(self, old: Record, new: Record, kind: str) -> None:
        old.replaced = kind, _moment(new.key.claim, new.counting)[0]
        old.successors.add(new.key)

    def _queue(self, item: Item) -> Item:
        self.items.append(item)
        return item

    def _end_items(self, text: Text, state: str, *, owner: str | None = None) -> None:
        """End the items of a text; of all who have it placed, unless an owner is named."""
        for item in self.items:
            if item.text is text and owner in (None, item.owner):
                item.state, item.again = state, False

    def queued(self) -> Iterator[Item]:
        """Yield the items that a worker will take."""
        return (item for item in self.items if item.state == "queued")


def _meet(new: Record, tier: str, counting: set[Text], old: Record, *, corrects: bool = False) -> str:
    """Return how a new statement takes the place of an active one, `hold` where it may not, or nothing."""
    one, other = new.key.claim, old.key.claim
    if corrects:
        return "corrected"
    closing = one[:4] == other[:4] and one.until and not other.until and other.since in (None, one.since)
    if closing and one.until and _moment(other, old.counting)[1] > one.until:
        return "hold"
    if not closing:
        if _denies(one, other):
            return "hold"
        if not _excludes(one, other):
            return ""
        if _moment(one, counting) < _moment(other, old.counting):
            return "hold"
    if RANK[tier] < RANK[old.tier]:
        return "hold"
    return "closed" if closing else "replaced"


def _denies(one: Claim, other: Claim) -> bool:
    """Tell if one says yes and the other no to the same at a common time."""
    return one[:3] == other[:3] and one.polarity != other.polarity and _overlap(one, other)


def _excludes(one: Claim, other: Claim) -> bool:
    """Tell if both give a value at a common time, where there is one at a time."""
    single = one.predicate in ONE_AT_A_TIME and _slot(one) == _slot(other) and one.object != other.object
    return single and one.polarity == other.polarity == "+" and _overlap(one, other)


def _moment(claim: Claim, counting: set[Text]) -> tuple[date, date]:
    """Order statements in time: by their start, else by when they were seen last."""
    seen = max(text.observed for text in counting)
    return claim.since or seen, seen


def _overlap(one: Claim, other: Claim) -> bool:
    starts_before_end = not one.since or not other.until or one.since < other.until
    return starts_before_end and (not other.since or not one.until or other.since < one.until)


def _slot(claim: Claim) -> tuple[str, str]:
    return claim.subject, claim.predicate
