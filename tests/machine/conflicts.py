"""What records say of those of other owners, and the conflicts that come of it, as the pages have them.

A conflict is a connected set of meanings. Whether it is open follows from who holds them now and what these said.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from tests.machine.claims import Claim, Key

AGAINST = ("challenges", "corrects")


@dataclass(eq=False)
class Case:
    """A conflict. `said` has, by record, the positions of which its owner said that they do not compete."""

    positions: set[Claim]
    said: dict[Key, frozenset[Claim]] = field(default_factory=dict)

    def is_open(self, active: Collection[Key]) -> bool:
        """Tell if two positions are held, and not all who hold one have said that they do not compete."""
        holders = self.holders(active)
        return len({key.claim for key in holders}) > 1 and not self.have_said(holders, holders)

    def holders(self, active: Collection[Key]) -> list[Key]:
        """Return the active records that hold a position."""
        return [key for key in active if key.claim in self.positions]

    def have_said(self, own: Collection[Key], holders: Collection[Key]) -> bool:
        """Tell if what was said for each of these records covers every position that is held."""
        held = {key.claim for key in holders}
        return all(held <= self.said.get(key, frozenset()) for key in own)


class Conflicts:
    """The references and conflicts of one team, the oldest case first."""

    def __init__(self) -> None:
        self.references: set[tuple[Key, Key, str]] = set()
        self.cases: list[Case] = []

    def refer(self, source: Key, target: Key, kind: str) -> None:
        """Let a record say something of another; what speaks against it joins both meanings in one case."""
        self.references.add((source, target, kind))
        if kind in AGAINST:
            self._put_against(source.claim, target.claim)

    def inherit(self, heir: Key, old: Key, active: Collection[Key]) -> None:
        """Let what stands against a record, of those active, stand against the one that takes over from it."""
        pairs = [(one, other) for one, other, kind in self.references if kind in AGAINST and old in (one, other)]
        rivals = {end for pair in pairs for end in pair if end != old and end in active}
        for rival in rivals:
            if not any((heir, rival, kind) in self.references for kind in AGAINST):
                self.references.add((heir, rival, "challenges"))
            self._put_against(heir.claim, rival.claim)

    def leave(self, key: Key) -> None:
        """Forget what the owner of a record said: it is not active any more."""
        for case in self.cases:
            case.said.pop(key, None)

    def say(self, positions: Collection[Claim], who: str, active: Collection[Key]) -> bool:
        """Let an owner say that the positions of a case do not compete; False where that is refused."""
        (case,) = (case for case in self.cases if case.positions == set(positions))
        holders = case.holders(active)
        own = [key for key in holders if key.owner == who]
        if not own or not case.is_open(active) or case.have_said(own, holders):
            return False
        case.said |= dict.fromkeys(own, frozenset(case.positions))
        return True

    def _put_against(self, one: Claim, other: Claim) -> None:
        met = [case for case in self.cases if case.positions & {one, other}]
        if not met:
            self.cases.append(Case({one, other}))
            return
        oldest, *others = met
        oldest.positions |= {one, other}.union(*(case.positions for case in others))
        self.cases = [case for case in self.cases if case not in others]
