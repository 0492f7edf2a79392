"""The views: each asks queries once and gives plain rows to its template."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from densemem.console import console_page, principal_of_page
from densemem.http import read_id
from densemem.paging import Cursor, CursorInvalid
from entities.queries import CandidateView, candidates_of, names_of
from evidence.pages import EvidenceCard
from relationships.pages.claims import evidence_of, known_of
from relationships.search import Claim
from review.models import Task
from review.queries import Counts, count_open, get_task, tasks_page
from review.questions import Asked, ask
from review.serving import note_asked
from review.vocabulary import TaskKind

LABELS: Final = {
    TaskKind.IDENTITY: ("person", "Identity"),
    TaskKind.PREDICATE: ("predicate", "Wording"),
    TaskKind.RELATIONSHIP: ("conflict", "Statement"),
    TaskKind.CORRECTION: ("undo", "Correction"),
    TaskKind.POLICY: ("shield", "Held text"),
}


@dataclass(frozen=True, slots=True)
class Label:
    """A kind of task as its icon and word."""

    icon: str
    word: str


@dataclass(frozen=True, slots=True)
class Facet:
    """A filter of the inbox with its counter and address."""

    word: str
    count: int
    address: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A task as the inbox lists it."""

    asked: Asked
    label: Label
    mine: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that a mention may mean: its names and what recall knows of it."""

    view: CandidateView
    names: list[str]
    known: list[Claim]


@console_page
def home(request: HttpRequest) -> HttpResponse:
    """Begin at the inbox."""
    return redirect("console:inbox")


@console_page
def inbox(request: HttpRequest) -> HttpResponse:
    """List the open questions of the team; the filters are in the address."""
    caller = principal_of_page(request)
    kind, mine = _read_kind(request.GET.get("kind", "")), request.GET.get("mine") == "1"
    found = tasks_page(
        team_id=caller.team_id,
        owner_id=caller.profile_id if mine else None,
        kind=kind,
        cursor=_read_cursor(request.GET.get("cursor", "")),
    )
    counts = count_open(team_id=caller.team_id, owner_id=caller.profile_id, mine=mine)
    asked = ask(team_id=caller.team_id, tasks=found.rows)
    note_asked(caller, asked, now=timezone.now())
    shown: dict[str, Any] = {
        "here": "inbox",
        "rows": [Row(a, _label(a.task), a.task.owner_id == caller.profile_id) for a in asked],
        "kinds": _kinds(counts, kind=kind, mine=mine),
        "owners": _owners(counts, kind=kind, mine=mine),
        "more": _address(kind=kind, mine=mine, cursor=found.next) if found.next else "",
        "filtered": mine or kind is not None,
    }
    return render(request, "review/inbox.html", shown)


@console_page
def task(request: HttpRequest, task_id: str) -> HttpResponse:
    """Show one question with its evidence and what may answer it."""
    caller = principal_of_page(request)
    found = get_task(team_id=caller.team_id, task_id=read_id(task_id))
    (asked,) = ask(team_id=caller.team_id, tasks=[found])
    candidates = [] if asked.card.text is None else _candidates(caller.team_id, found)
    rivals = _rival_evidence(caller.team_id, asked)
    known = [claim for candidate in candidates for claim in candidate.known]
    note_asked(caller, [asked], known=known, cards=[asked.card, *rivals], now=timezone.now())
    shown: dict[str, Any] = {
        "asked": asked,
        "label": _label(found),
        "mine": found.owner_id == caller.profile_id,
        "me": caller.profile_id,
        "candidates": candidates,
        "rival_evidence": rivals,
        "events": list(found.events.all()),
    }
    return render(request, "review/task.html", shown)


def _candidates(team_id: UUID, task: Task) -> list[Candidate]:
    if task.resolution_id is None:
        return []
    views = candidates_of(team_id=team_id, event_ids=[task.resolution_id])[task.resolution_id]
    ids = [view.entity_id for view in views]
    names = names_of(team_id=team_id, entity_ids=ids)
    known = known_of(team_id=team_id, entity_ids=ids)
    return [Candidate(view, names[view.entity_id], known.get(view.entity_id, [])) for view in views]


def _rival_evidence(team_id: UUID, asked: Asked) -> list[EvidenceCard]:
    if asked.rival is None:
        return []
    return evidence_of(team_id=team_id, relationship_id=asked.rival.relationship_id)


def _label(task: Task) -> Label:
    return Label(*LABELS[TaskKind(task.kind)])


def _read_kind(text: str) -> TaskKind | None:
    """Read a kind from an address.

    :raises Http404: it is none
    """
    try:
        return TaskKind(text) if text else None
    except ValueError:
        raise Http404("There is no such kind of question.") from None


def _read_cursor(text: str) -> Cursor | None:
    """Read where a page begins from an address.

    :raises Http404: it is no cursor
    """
    try:
        return Cursor.read(text)
    except CursorInvalid:
        raise Http404("There is no such page.") from None


def _address(*, kind: TaskKind | None, mine: bool, cursor: Cursor | None = None) -> str:
    asked = {"kind": kind or "", "mine": "1" if mine else "", "cursor": str(cursor or "")}
    return "?" + urlencode({name: value for name, value in asked.items() if value})


def _kinds(counts: Counts, *, kind: TaskKind | None, mine: bool) -> list[Facet]:
    every = Facet("All kinds", sum(counts.shown.values()), _address(kind=None, mine=mine), kind is None)
    return [
        every,
        *(
            Facet(LABELS[k][1], counts.shown.get(k, 0), _address(kind=k, mine=mine), k is kind)
            for k in TaskKind
            if counts.shown.get(k) or k is kind
        ),
    ]


def _owners(counts: Counts, *, kind: TaskKind | None, mine: bool) -> list[Facet]:
    return [
        Facet("Whole team", counts.all, _address(kind=kind, mine=False), not mine),
        Facet("Mine", counts.mine, _address(kind=kind, mine=True), mine),
    ]
