"""The trace of a record that much rests on: its first page and all of them, alone in its team and among others."""

import time
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid4

from django.apps import apps
from django.utils import timezone

from densemem.auth import Principal
from densemem.bench.calibration import Calibration
from densemem.bench.figures import Figure, middle
from densemem.bench.load import Load, Step
from densemem.bench.notes import name
from densemem.bench.people import new_team
from densemem.bench.statements import counted
from densemem.bench.stub import Stub
from densemem.core import limits
from densemem.paging import Before
from placement.remember import remember
from placement.tasks import drain
from relationships.trace import trace

BAR: Final = "L4"
TEXTS: Final = 20  # of a request
SUPPORTS: Final = 1_000
OTHERS: Final = 2_000  # records that come later
TIMES: Final = 15  # that each thing is measured


@dataclass(frozen=True, slots=True)
class Looked:
    """Middle times in milliseconds, the statements of each page, and the supports that all pages showed."""

    first_ms: float
    first_statements: int
    all_ms: float
    statements: int
    pages: int
    shown: int


def run(load: Load, calibration: Calibration, step: Step) -> list[Figure]:
    """Trace one record; then let others come, and trace it again."""
    (owner,) = new_team(1)
    step("Place what the record rests on", 0)
    _say(owner, [" ".join([f"Note {n}.", *[_claim(0)] * (SUPPORTS // TEXTS)]) for n in range(TEXTS)])
    record = apps.get_model("relationships", "RelationshipRecord")._default_manager.get(team_id=owner.team_id)
    step("Trace it", 0.3)
    alone = looked(owner, record.id)
    step("Place other records", 0.4)
    each = OTHERS // TEXTS
    _say(owner, [" ".join(_claim(1 + n * each + m) for m in range(each)) for n in range(TEXTS)])
    step("Trace it among them", 0.9)
    among = looked(owner, record.id)
    more = among.first_statements + among.statements - alone.first_statements - alone.statements
    cal = calibration
    return [
        Figure(BAR, "supports of the record", record.support_count, least=SUPPORTS, most=SUPPORTS),
        Figure(BAR, "first page of everything, p50", among.first_ms, " ms", most=150, beside=cal.insert_middle),
        Figure(BAR, "statements of the first page", among.first_statements),
        Figure(BAR, "all pages of its supports, p50", among.all_ms, " ms", beside=cal.insert_middle),
        Figure(BAR, "pages of its supports", among.pages),
        Figure(BAR, "statements of them", among.statements),
        Figure(BAR, "supports that the pages show", among.shown, least=SUPPORTS, most=SUPPORTS),
        Figure(BAR, f"first page among {OTHERS:,} records / alone", among.first_ms / alone.first_ms, most=1.5),
        Figure(BAR, f"all pages among {OTHERS:,} records / alone", among.all_ms / alone.all_ms, most=1.5),
        Figure(BAR, "statements more among them", more, most=0),
    ]


def looked(who: Principal, record_id: UUID) -> Looked:
    """Trace a record several times; what is counted is the same each time."""
    first, whole = [], []
    for _ in range(TIMES):
        began = time.perf_counter()
        with counted() as of_first:
            trace(principal=who, relationship_id=record_id)
        first.append(time.perf_counter() - began)
        began = time.perf_counter()
        with counted() as of_all:
            pages = _pages(who, record_id)
        whole.append(time.perf_counter() - began)
    return Looked(middle(first), len(of_first), middle(whole), len(of_all), len(pages), sum(pages))


def _pages(who: Principal, record_id: UUID) -> list[int]:
    """Return how many supports each page shows, from the first to the last."""
    found: list[int] = []
    cursor: str | None = ""
    while cursor is not None:
        page = trace(
            principal=who,
            relationship_id=record_id,
            only="supports",
            before=Before.read(cursor),
            limit=limits.PAGE_ITEMS,
        ).supports
        found.append(len(page.items))
        cursor = page.next
    return found


def _claim(number: int) -> str:
    return f"Mara {name(number)} works on Project {name(number)}."


def _say(who: Principal, texts: list[str]) -> None:
    """Remember texts, and place them."""
    body = {"evidence": [{"content": text, "source_type": "document"} for text in texts]}
    remember(principal=who, body=body, idempotency_key=uuid4().hex, now=timezone.now())
    drain(using=Stub(), linger=False)
