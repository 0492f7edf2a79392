"""Lives in which people decide who is who: each decision is compared while it stands, and when it is taken back."""

from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from placement.decide import Decided
from tests.identity import (
    apart,
    decided,
    in_person,
    merging,
    previewed,
    rows_in_hashes,
    splitting,
    withdrawing,
)
from tests.machine.machine import Machine, chosen, mostly, people, picks, seldom
from tests.machine.selves import KIND, Selves
from tests.machine.world import TEAM_OF, newest_observation

PAIRS: Final = (
    *(("Harbor", "Beacon"), ("Beacon", "Harbor"), ("Graz", "Porto"), ("Porto", "Graz")) * 3,
    ("Graz", "Graz"),
    ("Mara", "Graz"),
)


class Lives(Machine):
    """A machine that also merges, splits, keeps apart and withdraws."""

    def __init__(self) -> None:
        super().__init__()
        self.selves = {team: Selves(model) for team, model in self.models.items()}
        self.splits = 0

    @rule(who=people, pick=picks, by_person=seldom)
    def merge(self, who: str, pick: int, by_person: bool) -> None:
        """Somebody takes one for another, by a text that names both or by what it sees itself, and thinks again."""
        self.work_if(True)
        selves = self.selves[TEAM_OF[who]]
        survivor, absorbed = pair = chosen([p for p in PAIRS if selves.about(who, p[1])] or PAIRS, pick)
        fragment, end = self.world.naming[TEAM_OF[who]]
        kind = "human_review" if by_person else "explicit_report"
        basis = [{"kind": kind, "fragment_id": str(fragment), "start": 0, "end": end}]
        body = merging(*(self.world.entity(who, name) for name in pair), basis=basis)
        before = self.counted(who)
        if made := self.decide(who, body, selves.merge(who, survivor, absorbed, self.records)):
            self.see(before, less=selves.lost)
            self.withdraw_older(who, frozenset(pair))
            self.take_back(who, made, before)

    @rule(who=people, name=st.sampled_from(sorted(KIND)), pick=picks)
    def split(self, who: str, name: str, pick: int) -> None:
        """Somebody tells one apart by some of what was read, and thinks again."""
        self.work_if(True)
        meaning = self.world.items_meaning(who, name, [self.ids[item] for item in self.read])
        mine = [item for item in self.read if item.owner == who and self.ids[item] in meaning]
        if mine:
            mine.sort(key=lambda item: self.ids[item])
            self.splits += 1
            listed, child = mine[: pick % len(mine) + 1], f"{name}/{self.splits}"
            body = splitting(self.world.entity(who, name), [newest_observation(self.ids[item]) for item in listed])
            texts = {"listed": {item.text for item in listed}, "owned": {item.text for item in mine}}
            selves, before = self.selves[TEAM_OF[who]], self.counted(who)
            if made := self.decide(who, body, selves.split(who, name, child, self.records, **texts)):
                self.world.call_child(made.identity_id, child)
                self.see(before, less=selves.lost)
                self.take_back(who, made, before)

    @rule(who=people, one=st.sampled_from(sorted(KIND)), other=st.sampled_from(sorted(KIND)))
    def keep_apart(self, who: str, one: str, other: str) -> None:
        selves = self.selves[TEAM_OF[who]]
        body = apart(self.world.entity(who, one), self.world.entity(who, other))
        if made := self.decide(who, body, selves.keep_apart(who, one, other)):
            selves.apart[who][-1].id = made.identity_id

    @precondition(lambda self: any(s.apart[who] for s in self.selves.values() for who in TEAM_OF))
    @rule(who=people, newest=mostly)
    def withdraw(self, who: str, newest: bool) -> None:
        """Somebody takes back what keeps two apart: the newest that stands, or the oldest."""
        selves = self.selves[TEAM_OF[who]]
        if standing := selves.apart[who]:
            decision = standing[-1 if newest else 0]
            self.decide(who, withdrawing(decision.id), selves.withdraw(who, decision))

    # How a step is done.

    def decide(self, who: str, body: dict[str, Any], refusal: str) -> Decided | None:
        """Decide what the model allows; what it does not allow must be refused in its words."""
        person = in_person(self.world.people[who])
        if refusal:
            assert (found := previewed(person, body).refusal) == refusal, (found, refusal)
            return None
        return decided(person, body)

    def withdraw_older(self, who: str, about: frozenset[str]) -> None:
        """See that what a merge stands on is not taken back under it."""
        selves = self.selves[TEAM_OF[who]]
        for older in selves.apart[who]:
            if older.names & about:
                refusal = selves.withdraw(who, older, also_standing=about)
                self.decide(who, withdrawing(older.id), refusal)
                return

    def counted(self, who: str) -> tuple[str, int, dict[str, dict[str, str]]]:
        """Return whose decision comes, how much holds up what is theirs, and the rows of everybody else."""
        others = {other: rows_in_hashes(self.world.people[other]) for other in TEAM_OF if other != who}
        return who, self.world.supports(who), others

    def see(self, before: tuple[str, int, dict[str, dict[str, str]]], *, less: int) -> None:
        """Compare all that the model has, what was counted before, and every law and ledger.

        :param less: supports that count no more
        """
        self.compare()
        self.what_speaks_of_another_is_right()
        self.no_law_is_broken()
        who, supports, others = self.counted(before[0])
        assert (who, supports + less, others) == before

    def take_back(self, who: str, made: Decided, before: tuple[str, int, dict[str, dict[str, str]]]) -> None:
        """Withdraw what was decided just now: everything is as it was."""
        self.selves[TEAM_OF[who]].give_back()
        self.decide(who, withdrawing(made.identity_id), "")
        self.see(before, less=0)
