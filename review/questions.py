"""The question of a task in words, made when it is shown; a text that is held or redacted lends none."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from densemem.core.inert import merge, visible
from evidence.pages import EvidenceCard, Span, evidence_cards
from evidence.queries import wordings_of
from evidence.vocabulary import WordingKind
from relationships.pages.claims import spans_of
from relationships.pages.reasons import in_words
from relationships.search import Claim, claims_of
from relationships.vocabulary import Status
from review.models import Task
from review.vocabulary import TaskKind

QUOTE_CHARS: Final = 120  # of a text inside a question; the evidence itself is never cut

HELD: Final = "A text is held and waits for a manager"
REDACTED: Final = "A text was redacted: its words are gone"
UNQUOTED: Final = {
    TaskKind.IDENTITY: "Who or what is meant in one text?",
    TaskKind.PREDICATE: "What does the wording of one statement mean?",
    TaskKind.RELATIONSHIP: "Does one statement hold?",
    TaskKind.CORRECTION: "Does one correction hold?",
    TaskKind.POLICY: HELD,
}
WHY: Final = {
    TaskKind.IDENTITY: "More than one known name fits, and the text does not tell them apart.",
    TaskKind.PREDICATE: "No registered predicate has this wording, so nothing is concluded from it.",
    TaskKind.RELATIONSHIP: "The statement is kept out of recall until its owner decides.",
    TaskKind.CORRECTION: "The correction changes nothing until its owner decides.",
    TaskKind.POLICY: "The text was set aside before anything was concluded from it. Only a manager can release it.",
}
REASONS: Final = {
    "create_beside_exact_match": "A known name is the same to the letter; the text does not say if it is another.",
    "not_told_apart": "The text does not tell the candidates apart.",
    "only_proposed": "The text was taken to mean something whose name is only like what it says.",
    "too_many_candidates": "More known things bear this name than can be offered, so no answer chose among all.",
    "answers_differ": "Two places in one text point to different candidates.",
    "reads_two_ways": "The text can be read in two ways.",
    "predicate_not_registered": "No registered predicate has this wording.",
    "evidence_held": "The text was held before anything was concluded from it.",
}


@dataclass(frozen=True, slots=True)
class Words:
    """A run of a question; `quoted` words are somebody's evidence."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A task with its question, its evidence and the statements that it is about.

    `spans` are those of the task in the text of the card, none while it is held.
    """

    task: Task
    question: tuple[Words, ...]
    card: EvidenceCard
    spans: tuple[Span, ...]
    claim: Claim | None
    rival: Claim | None

    @property
    def title(self) -> str:
        """The question for a place that holds no markup."""
        return "".join(f"“{visible(w.text)}”" if w.quoted else w.text for w in self.question)

    @property
    def why(self) -> str:
        """Why a person is asked, in one sentence."""
        kind, reason = TaskKind(self.task.kind), self.task.reason
        if self.card.text is None:
            return WHY[TaskKind.POLICY] if self.card.held else f"{REDACTED}."
        if kind is TaskKind.RELATIONSHIP and reason:
            words = in_words(reason)
            return f"{words[0].upper()}{words[1:]}. {WHY[kind]}"
        return REASONS.get(reason, WHY[kind])


def ask(*, team_id: UUID, tasks: Collection[Task]) -> list[Asked]:
    """Return the tasks with their questions, in order; the number of queries does not grow with them."""
    observed = {t.observation_id for t in tasks if t.observation_id}
    spans = spans_of(team_id=team_id, observations=observed)
    marks = {t.id: merge(_marks(t, spans)) for t in tasks}
    cards = evidence_cards(team_id=team_id, spans=_by_fragment(tasks, marks))
    claims = claims_about(team_id=team_id, tasks=tasks)
    wordings = wordings_of(team_id=team_id, rows=observed, kind=WordingKind.PREDICATE)
    return [_asked(t, cards[t.fragment_id], marks[t.id], claims, wordings) for t in tasks]


def claims_about(*, team_id: UUID, tasks: Collection[Task]) -> dict[UUID, Claim]:
    """Return the claims that tasks are about. What rests on a held text lends no words to a question on another one."""
    told = (r for t in tasks for r in (t.relationship, t.rival) if r is not None)
    records = {r.id: r for r in told if r.status != Status.QUARANTINED}
    return {c.relationship_id: c for c in claims_of(team_id=team_id, rows=list(records.values()))}


def _asked(
    task: Task, card: EvidenceCard, marks: list[Span], claims: Mapping[UUID, Claim], wordings: Mapping[UUID, str]
) -> Asked:
    hidden = card.text is None
    claim, rival = (None if hidden or i is None else claims.get(i) for i in (task.relationship_id, task.rival_id))
    return Asked(
        task, _question(task, card, claim, rival, wordings), card, () if hidden else tuple(marks), claim, rival
    )


def _question(
    task: Task, card: EvidenceCard, claim: Claim | None, rival: Claim | None, wordings: Mapping[UUID, str]
) -> tuple[Words, ...]:
    """Return the question; what cannot be quoted is asked in generic words."""
    if card.text is None:
        return (Words(REDACTED if card.redacted else HELD),)
    match task.kind:
        case TaskKind.IDENTITY if task.resolution:
            surface = card.text[task.resolution.start : task.resolution.end]
            return Words("Which one is "), _quote(surface), Words("?")
        case TaskKind.PREDICATE if wording := _wording(task, wordings):
            return Words("What does "), _quote(wording), Words(" mean here?")
        case TaskKind.RELATIONSHIP if claim and rival:
            return Words("Which holds: "), _quote(claim.sentence), Words(" or "), _quote(rival.sentence), Words("?")
        case TaskKind.RELATIONSHIP | TaskKind.CORRECTION if claim:
            return Words("Does it hold that "), _quote(claim.sentence), Words("?")
    return (Words(UNQUOTED[TaskKind(task.kind)]),)


def _wording(task: Task, wordings: Mapping[UUID, str]) -> str:
    return wordings.get(task.observation_id, "") if task.observation_id else ""


def _quote(text: str) -> Words:
    line = " ".join(text.split())
    return Words(line if len(line) <= QUOTE_CHARS else f"{line[:QUOTE_CHARS]}…", quoted=True)


def _by_fragment(tasks: Collection[Task], marks: Mapping[UUID, list[Span]]) -> dict[UUID, list[Span]]:
    """Return what is marked in each fragment by all of these tasks together."""
    found: dict[UUID, list[Span]] = {}
    for task in tasks:
        found.setdefault(task.fragment_id, []).extend(marks[task.id])
    return {fragment: merge(spans) for fragment, spans in found.items()}


def _marks(task: Any, observed: Mapping[UUID, list[Span]]) -> list[Span]:
    """Return what a task marks in its text: the mention that is open, or the observation's own spans."""
    if task.resolution:
        return [(task.resolution.start, task.resolution.end)]
    return observed.get(task.observation_id, [])
