"""Playing a case: its world is made, its steps are taken in order, and everything that can be judged is kept."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from unittest.mock import patch
from uuid import UUID

from densemem.audit.tables import rows
from densemem.cases import bundles
from densemem.cases.doors import Answered, Doors
from densemem.cases.files import Case
from densemem.cases.script import Asked, Entry, Script
from densemem.cases.tables import Snapshot, take_snapshot
from densemem.cases.worker import work
from densemem.cases.world import NotUnderstood, Person, World
from densemem.core import limits
from densemem.core.ids import uuid7
from densemem.providers.base import Provider
from densemem.providers.rules import Rules
from placement import conversation

QUICK_SECONDS: Final = 0.05
BEAT_SECONDS: Final = 5.0  # within which a lease must be renewed when it is renewed every few milliseconds
ATTEMPTS: Final = {"extract_attempts": "ANSWERS", "verify_attempts": "ANSWERS"}


@dataclass
class Done:
    """One step that was taken, and what was there before and after it.

    :param ingest: the placement of the step's ingest when nothing waits any more, as its sender may see it
    :param asked: the model calls that the step caused
    """

    number: int
    said: Any
    person: Person | None = None
    answered: Answered | None = None
    before: Snapshot | None = None
    at_answer: Snapshot | None = None
    after: Snapshot | None = None
    ingest_id: UUID | None = None
    ingest: Mapping[str, Any] | None = None
    asked: list[Asked] = field(default_factory=list)
    missing: tuple[str, ...] = ()

    @property
    def call(self) -> str:
        """What was called."""
        return self.said if isinstance(self.said, str) else self.said.get("call", "")


class Play:
    """The state of one case while it is played, and what the judge looks at when it is over."""

    def __init__(self, case: Case, world: World, doors: Doors, *, others: Mapping[str, Case]) -> None:
        self.case = case
        self.world = world
        self.doors = doors
        self.others = others
        self.script = Script(case.script, self.find)
        self.steps: list[Done] = []
        self.opening: Snapshot | None = None
        self.priors: list[UUID] = []
        self.prior_states: dict[UUID, Mapping[str, Any]] = {}
        self.naps: list[float] = []
        self.beats: list[bool] = []
        # What special steps and races found, under names of their own.
        self.found: dict[str, Any] = {}

    @property
    def provider(self) -> Provider:
        """Who answers as the models: the script, or the offline reviewer where only a language model could."""
        return Rules() if self.case.needs_llm else self.script

    def find(self, placeholder: str, team_id: UUID) -> str:
        """Return what a placeholder stands for in a team."""
        kind, _, rest = placeholder.partition(":")
        if kind == "$cand":
            return str(self.world.entity_id(team_id, rest))
        if kind == "$created":
            step, _, ref = rest.partition(".")
            return str(self.created(int(step), ref))
        return placeholder

    def created(self, step: int, ref: str) -> UUID:
        """Return the entity that a mention of an earlier step became."""
        ingest = self.steps[step - 1].ingest_id
        events = rows("entities.ResolutionEvent").filter(ingest_id=ingest, mention_ref=ref).order_by("seq")
        found: UUID | None = events.values_list("entity_id", flat=True).last()
        if found is None:
            raise NotUnderstood(f"step {step} made no entity of {ref!r}")
        return found

    def remember(self, person: Person, body: Any, *, key: str = "", mcp: bool = False) -> Answered:
        """Send evidence through a door; `body` may be bytes."""
        key = key or uuid7().hex
        if mcp:
            return self.doors.call_tool(person.token, "remember", {**body, "idempotency_key": key})
        return self.doors.post(person.token, "ingests", body, Idempotency_Key=key)

    def place(self) -> int:
        """Let a worker place what is ready; return how many items it took."""
        with self.hurried():
            return work(self.provider)

    def say(self, name: str, text: str, entries: Sequence[Entry], **fields: Any) -> Answered:
        """Let somebody say something that stands before the case, or beside it, with model answers of its own."""
        person = self.world.person(name)
        body = bundles.request_body({"evidence": [{"content": text, **fields}]})
        answered = self.remember(person, body)
        if answered.status != 202:
            raise NotUnderstood(f"what was said before was refused: {answered.body}")
        self.place_with(entries)
        return answered

    def place_with(self, entries: Sequence[Entry]) -> Script:
        """Let a worker place what is ready, with model answers of its own."""
        script = Script(entries, self.find)
        work(script)
        return script

    def placement(self, person: Person, ingest_id: UUID) -> Mapping[str, Any]:
        """Return how far an ingest is, as somebody of the team may see it."""
        found: Mapping[str, Any] = self.doors.get(person.token, f"ingests/{ingest_id}").body
        return found

    @contextmanager
    def hurried(self) -> Iterator[None]:
        """Bound what a case bounds, and let waits inside a claim pass quickly; they are kept in `naps`."""
        with ExitStack() as stack:
            for name, value in self.config():
                stack.enter_context(patch.object(limits, name, value))
            if any("http_error" in e or "timeout" in e for e in self.case.script):
                stack.enter_context(patch.object(conversation, "time", _Quick(self)))
                stack.enter_context(patch.object(limits, "HEARTBEAT_SECONDS", QUICK_SECONDS / 5))
            yield

    def config(self) -> list[tuple[str, int]]:
        """Return the limits that the case sets.

        :raises NotUnderstood: there is no such limit
        """
        given = self.case.input.get("config", {})
        unknown = set(given) - set(ATTEMPTS)
        if unknown:
            raise NotUnderstood(f"config {sorted(unknown)}")
        return [(ATTEMPTS[name], value) for name, value in given.items()]

    @contextmanager
    def step(self, said: Any) -> Iterator[Done]:
        """Take one step: look at the tables around it, and keep what it asks of the models."""
        done = Done(len(self.steps) + 1, said, before=take_snapshot())
        self.steps.append(done)
        asked = len(self.script.asked)
        yield done
        done.after = take_snapshot()
        done.at_answer = done.at_answer or done.after
        done.asked = self.script.asked[asked:]


class _Quick:
    """A clock that naps briefly, and looks meanwhile whether the lease of the item is renewed."""

    def __init__(self, play: Play) -> None:
        self._play = play

    def monotonic(self) -> float:
        """Return the real clock."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Note a nap, and take a short one."""
        self._play.naps.append(seconds)
        self._play.beats.append(self._sees_beat())

    def _sees_beat(self) -> bool:
        """Wait, not for long, until a lease is renewed."""
        leases = rows("placement.Item").exclude(lease_until=None).values_list("lease_until", flat=True)
        before, ends = list(leases), time.monotonic() + BEAT_SECONDS
        while time.monotonic() < ends:
            time.sleep(QUICK_SECONDS)
            if before and list(leases.all()) > before:
                return True
        return False
