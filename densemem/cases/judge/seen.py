"""What the judge looks at: the records, questions and answers of one played case, or of one of its steps."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from densemem.audit.tables import rows
from densemem.cases.play import Done, Play
from densemem.cases.script import Asked
from densemem.cases.tables import Snapshot
from densemem.cases.world import NotUnderstood
from densemem.core.names import lookup_key

# Cases call a question by what is open; the product by what it is about.
KINDS: Final = {"identity_ambiguous": "identity_needs_review"}


@dataclass
class Seen:
    """A played case as the judge sees it; `step` narrows it to what one step did."""

    play: Play
    step: Done | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def offline(self) -> bool:
        """Whether only the offline reviewer looked at what a language model would have to."""
        return self.play.case.needs_llm

    def at(self, step: Done) -> "Seen":
        """Return the same, narrowed to one step."""
        return replace(self, step=step)

    def note(self, text: object) -> None:
        """Say what was found instead."""
        self.notes.append(str(text))

    def equal(self, found: Any, wanted: Any) -> bool:
        """Compare, and note what was found when it differs."""
        if found != wanted:
            self.note(f"found {found!r}")
        return bool(found == wanted)

    # Steps.

    def numbered(self, number: int) -> Done:
        """Return a step.

        :raises NotUnderstood: the case has no such step
        """
        if not 1 <= number <= len(self.play.steps):
            raise NotUnderstood(f"there is no step {number}")
        return self.play.steps[number - 1]

    def done(self) -> Done:
        """Return the step that is judged: the one asked about, else the only one that was answered.

        :raises NotUnderstood: several are meant
        """
        if self.step is not None:
            return self.step
        answered = [s for s in self.play.steps if s.ingest_id] or self.play.steps
        if len(answered) != 1:
            raise NotUnderstood("which step is meant")
        return answered[0]

    def ingests(self) -> list[UUID]:
        """Return the ingests that are judged."""
        steps = [self.step] if self.step else self.play.steps
        return [s.ingest_id for s in steps if s.ingest_id]

    def wrote_nothing(self) -> bool:
        """Tell if the step that is judged changed no durable row."""
        done = self.done()
        assert done.before is not None and done.after is not None
        same = done.before.fingerprint == done.after.fingerprint
        if not same:
            self.note(
                {k: v - done.before.counts[k] for k, v in done.after.counts.items() if v != done.before.counts[k]}
            )
        return same

    def asked(self, stage: str = "") -> list[Asked]:
        """Return the model calls that are judged."""
        found = self.step.asked if self.step else self.play.script.asked
        return [call for call in found if not stage or call.stage == stage]

    def counted(self, name: str, end: Snapshot | None = None) -> int:
        """Return how many rows there are of a name since the case was opened."""
        opening = self.play.opening
        last = end or (self.step.after if self.step else self.play.steps[-1].after)
        assert opening is not None and last is not None
        return last.counts[name] - (0 if name == "Entity" else opening.counts[name])

    # Knowledge.

    def records(self) -> list[Any]:
        """Return the records of all teams, or those that the step's evidence led to, oldest first."""
        found = (
            rows("relationships.RelationshipRecord")
            .select_related("owner", "object_value")
            .order_by("recorded_at", "pk")
        )
        if self.step is not None:
            found = found.filter(resolutions__observation__ingest_id=self.step.ingest_id).distinct()
        return list(found)

    def active(self) -> list[Any]:
        """Return the records that normal reads may show."""
        return [r for r in self.records() if r.status == "active"]

    def new(self) -> list[Any]:
        """Return the records that were not there before the first step."""
        return [r for r in self.records() if r.id not in self.play.priors]

    def edges(self) -> int:
        """Return how many edges normal reads may see, after the step or at the end."""
        return self.counted("SemanticEdge")

    def observations(self) -> list[Any]:
        """Return the observations of what was sent in the steps."""
        return list(rows("relationships.Observation").filter(ingest_id__in=self.ingests()).order_by("seq"))

    def wordings(self, kind: str) -> list[str]:
        """Return copied words of a kind, of what was sent in the steps."""
        found = rows("evidence.Wording").filter(fragment__ingest_id__in=self.ingests(), kind=kind)
        return list(found.order_by("seq").values_list("text", flat=True))

    def names_of(self, entity_id: UUID) -> set[str]:
        """Return the lookup keys of an entity."""
        return set(rows("entities.Name").filter(entity_id=entity_id).values_list("key", flat=True))

    def is_thing(self, entity_id: UUID | None, wanted: str) -> bool:
        """Tell if an entity is what a case calls so: by its short name, else by a name that it bears."""
        if entity_id is None:
            return False
        known = [number for (_, key), number in self.play.world.entities.items() if key == wanted]
        return entity_id in known if known else lookup_key(wanted) in self.names_of(entity_id)

    def is_triple(self, record: Any, subject: str, predicate: str, target: str) -> bool:
        """Tell if a record says this of these."""
        if record.predicate_key != predicate or not self.is_thing(record.subject_entity_id, subject):
            return False
        if record.object_entity_id is not None:
            return self.is_thing(record.object_entity_id, target)
        return is_value(record.object_value, target)

    def words(self, record: Any) -> str:
        """Return a record in short words, for a report."""
        by_id = {number: key for (_, key), number in self.play.world.entities.items()}
        subject = by_id.get(record.subject_entity_id, "?")
        value = record.object_value
        target = by_id.get(record.object_entity_id, "?") if value is None else value_words(value)
        return f"{subject} {record.polarity}{record.predicate_key} {target} ({record.tier}/{record.status})"

    # Questions to people.

    def tasks(self) -> list[Any]:
        """Return the open questions about what was sent in the steps, oldest first."""
        found = rows("review.Task").filter(status="open", fragment__ingest_id__in=self.ingests())
        return list(found.select_related("resolution").order_by("opened_at", "pk"))

    # Recall.

    def recall(self, query: str, *, name: str = "", **parameters: Any) -> list[Mapping[str, Any]]:
        """Ask as somebody, and return every claim of the answer."""
        person = self.play.world.person(name or self.asker())
        answered = self.play.doors.get(person.token, "recall", query=query, **parameters)
        return list(claims(answered.body))

    def asker(self) -> str:
        """Return who asks when nobody is named: whoever acted first."""
        for step in self.play.steps:
            if step.person is not None:
                return step.person.name
        return next(iter(self.play.world.members))


def claims(body: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every claim of an answer of recall."""
    for group in body.get("results", []) if isinstance(body, dict) else []:
        yield from group["relationships"]


def value_words(value: Any) -> str:
    """Return a typed value as one text."""
    return f"{value.canonical} {value.unit}" if value.unit else str(value.canonical)


def is_value(value: Any, wanted: str) -> bool:
    """Tell if a stored value is the one that a case names, in any of its canonical writings."""
    spoken = {value_words(value), value.canonical, f"PT{value.canonical}S" if value.type == "duration" else ""}
    return wanted in spoken


def moment(text: str) -> datetime:
    """Read a time of a case; a plain date is 00:00 UTC."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
