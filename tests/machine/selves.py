"""Who is who, in plain Python, written from "Who is who" in docs/lifecycle.md and shared with nothing.

A method of `Selves` returns the code of a refusal, or nothing where the model allows the decision and has made it. What
keeps two apart stands until it is withdrawn. A merge or a split is taken back before the next thing is said: what is
said while one stands is not modelled.
"""

from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

from tests.machine.claims import Claim, Key
from tests.machine.model import Model, Record, Text

KIND = {"Mara": "person", "Harbor": "project", "Beacon": "project", "Graz": "place", "Porto": "place"}

Stand = tuple[str, str, bool, set[Text]]


@dataclass(eq=False)
class Apart:
    """A decision that keeps two apart; `id` is the product's, known once it has been made."""

    names: frozenset[str]
    id: UUID | None = None


class Selves:
    """What the profiles of one team take for what."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.apart: dict[str, list[Apart]] = defaultdict(list)  # by profile, what stands, the oldest first
        self.touched: dict[Record, Stand] = {}  # by the merge or split that stands, how each record stood before
        self.lost = 0  # supports that count no more by it: spans that both had, and those that are open again

    def merge(self, who: str, survivor: str, absorbed: str, numbers: dict[Key, UUID]) -> str:
        """Take one for another: what follows from it is about the survivor from here on."""
        if survivor == absorbed:
            return "merge_into_itself"
        if self._keeps_apart(who, {survivor, absorbed}):
            return "kept_distinct"
        if KIND[survivor] != KIND[absorbed]:
            return "kinds_differ"
        leaving = self.about(who, absorbed)
        moving = sorted(filter(_follows, leaving), key=lambda r: (r.status != "active", numbers[r.key]))
        targets = {old: Key(who, _renamed(old.key.claim, absorbed, survivor)) for old in moving}
        there = [self.model.records[key] for key in targets.values() if key in self.model.records]
        if any(record.status == "needs_review" for record in [*leaving, *there]):
            return "questions_open"
        came = {old: set(old.counting) for old in moving}
        self._carry(
            who,
            [old for old in moving if old.status == "active" or targets[old] not in self.model.records],
            targets,
            came=came,
            gone=came,
        )
        return ""

    def split(
        self, who: str, parent: str, child: str, numbers: dict[Key, UUID], *, listed: set[Text], owned: set[Text]
    ) -> str:
        """Part one: what is listed is about a new thing, and of the rest it is asked what is meant."""
        if listed == owned:
            return "split_leaves_nothing"
        leaving = self.about(who, parent)
        if any(record.status == "needs_review" for record in leaving):
            return "questions_open"
        moving = sorted(filter(_follows, leaving), key=lambda r: (r.status != "active", numbers[r.key]))
        came = {old: old.counting & listed for old in moving}
        gone = {old: set(old.counting) if old.status == "active" else came[old] for old in moving}
        targets = {old: Key(who, _renamed(old.key.claim, parent, child)) for old in moving}
        self._carry(who, [old for old in moving if came[old]], targets, came=came, gone=gone)
        return ""

    def keep_apart(self, who: str, one: str, other: str) -> str:
        """Keep two apart. Nothing moves."""
        if one == other:
            return "member_listed_twice"
        if self._keeps_apart(who, {one, other}):
            return "kept_distinct"
        self.apart[who].append(Apart(frozenset({one, other})))
        return ""

    def withdraw(self, who: str, decision: Apart, *, also_standing: frozenset[str] = frozenset()) -> str:
        """Take back what keeps two apart, unless something later about one of them stands.

        :param also_standing: what a merge that stands is about
        """
        later = self.apart[who][self.apart[who].index(decision) + 1 :]
        if any(decision.names & names for names in [*(one.names for one in later), also_standing]):
            return "decision_superseded"
        self.apart[who].remove(decision)
        return ""

    def give_back(self) -> None:
        """Take back the merge or split that stands: everything is as it was, and what is new waits for evidence."""
        risen = []
        for record, (tier, status, by_person, counting) in self.touched.items():
            if status == "active" != record.status:
                risen.append(record)
            record.counting = counting
            self.model._step(record, tier, status, by_person=by_person)
        for record in risen:
            self.model._refer(record, record.counting)
        self._begin()

    def about(self, who: str, name: str) -> list[Record]:
        """Return the records of a profile that have a name at an end."""
        return [record for record in self._own(who) if name in record.key.claim[:3:2]]

    def _carry(
        self,
        who: str,
        carried: list[Record],
        targets: dict[Record, Key],
        *,
        came: dict[Record, set[Text]],
        gone: dict[Record, set[Text]],
    ) -> None:
        """Let each record that is carried pass its texts on, and stop resting on those that are gone."""
        self._begin()
        standing = [r for r in self._own(who) if r.status == "active" and r not in came]
        new = {old: self.model.records.get(targets[old]) or Record(targets[old]) for old in carried}
        stands = {old: self._arriving(new[old], old, came[old], standing) for old in carried}
        for old in came:
            if gone[old] and (old in carried or old.status == "active"):
                self._note(old)
                passed = came[old] - new[old].counting if old in new else set()
                self.lost += len(gone[old] - passed)
                self._leave(old, gone[old])
        for old in carried:
            self._note(new[old])
            self.model.records[new[old].key] = new[old]
            new[old].rested = new[old].rested | came[old]
            new[old].counting = new[old].counting | came[old]
            tier, status, by_person = stands[old]
            self.model._write(new[old], tier, status, by_person=by_person)
        for old in carried:
            if new[old].status == "active":
                self._speak(old if came[old] else None, new[old])

    def _own(self, who: str) -> list[Record]:
        return [record for record in self.model.records.values() if record.key.owner == who]

    def _keeps_apart(self, who: str, names: set[str]) -> bool:
        return any(one.names == names for one in self.apart[who])

    def _begin(self) -> None:
        self.touched, self.lost = {}, 0

    def _note(self, *records: Record) -> None:
        for r in records:
            before = (r.tier, r.status, r.by_person) if r.version else ("candidate", "pending_evidence", False)
            self.touched[r] = *before, set(r.counting)

    def _leave(self, record: Record, gone: set[Text]) -> None:
        record.counting = record.counting - gone
        status = "superseded" if record.status == "active" else record.status
        self.model._write(record, record.tier, status, by_person=record.by_person and status == record.status)

    def _arriving(self, new: Record, old: Record, came: set[Text], standing: list[Record]) -> tuple[str, str, bool]:
        """Return tier, status and hold of a record that takes over. Identity supersedes nothing."""
        together = new.counting | came
        tier, status = self.model._earned(together)
        if not new.version and old.status != "active":
            return "candidate", old.status, old.by_person
        if _is_taken_out(new):
            return new.tier, new.status, new.by_person
        if new.status == "superseded":
            corrected = new.replaced is not None and new.replaced[0] == "corrected"
            return (new.tier, "superseded", False) if corrected else ("candidate", "needs_review", False)
        if new.status != "active":
            if not self.model._goes_alone(new, tier, standing, counting=together):
                return "candidate", "needs_review", False
            standing.append(Record(new.key, tier=tier, status=status, counting=together))
        return tier, status, False

    def _speak(self, old: Record | None, new: Record) -> None:
        """Let what took over speak of others where it is active anew, and keep what stood against the old one."""
        if new not in self.touched or self.touched[new][1] != "active":
            self.model._refer(new, new.counting)
        if old:
            active = [key for key in self.model.active() if key.owner != new.key.owner]
            self.model.conflicts.inherit(new.key, old.key, active)


def _follows(record: Record) -> bool:
    """Tell if a record goes along: what is active, and what a person took out."""
    return _is_taken_out(record) or (record.status == "active" and bool(record.counting))


def _is_taken_out(record: Record) -> bool:
    return record.status in ("retracted", "disputed") or (record.status == "rejected" and record.by_person)


def _renamed(claim: Claim, absorbed: str, survivor: str) -> Claim:
    ends = {end: survivor for end in ("subject", "object") if getattr(claim, end) == absorbed}
    return claim._replace(**ends)
