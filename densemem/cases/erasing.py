"""What is erased: the text of a case, and where its words must not stand even before."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from django.core import serializers

from densemem.audit.tables import rows
from densemem.cases.doors import Answered
from densemem.cases.play import Play
from densemem.cases.world import NotUnderstood, Person

LONG: Final = 12  # characters of a word that stands nowhere by chance


class _Kept(logging.Handler):
    """Keep what is logged, as it would be written."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line."""
        self.lines.append(self.format(record))


@contextmanager
def listening(play: Play) -> Iterator[None]:
    """Keep what the server and the workers of this process log while a case is played."""
    kept = _Kept()
    kept.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
    play.found["log"] = kept.lines
    logging.getLogger().addHandler(kept)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(kept)


def texts(play: Play) -> list[str]:
    """Return every text as it is stored, in order."""
    ingests = [s.ingest_id for s in play.steps if s.ingest_id]
    kept = rows("evidence.Fragment").filter(ingest_id__in=ingests).order_by("seq")
    return list(kept.values_list("content__text", flat=True))


def check(play: Play, said: str) -> None:
    """Look for words of the texts in each of the places that a case names.

    :raises NotUnderstood: one of them is none that we know
    """
    words = {word for text in texts(play) for word in text.split() if len(word) >= LONG}
    play.found["leaks"] = []
    for place in said.split(", "):
        if place not in PLACES:
            raise NotUnderstood(f"check {place!r}")
        held = PLACES[place](play)
        play.found["leaks"] += [place for word in words if word in held]


def erase(play: Play, person: Person) -> Answered:
    """Redact the one text of the case, as somebody; what it was is kept for the judge."""
    play.found["texts"] = texts(play)
    ingests = [s.ingest_id for s in play.steps if s.ingest_id]
    number = rows("evidence.Fragment").get(ingest_id__in=ingests).id
    body = {"reason": "A credential was pasted by mistake."}
    return play.doors.post(person.token, f"evidence/{number}/redactions", body, Idempotency_Key=f"erase-{number}")


def _rows_of(*labels: str) -> Callable[[Play], str]:
    return lambda _: "".join(serializers.serialize("json", rows(label)) for label in labels)


PLACES: Final[Mapping[str, Callable[[Play], str]]] = {
    "application log": lambda play: "\n".join(play.found["log"]),
    "task payloads": lambda _: str([waiting.task for waiting in rows("django_q.OrmQ")]),
    "error reports": lambda play: json.dumps(
        [s.answered.body for s in play.steps if s.answered and s.answered.is_error]
    ),
    "provider telemetry": _rows_of("placement.Attempt"),
    "idempotency store": _rows_of("evidence.Ingest", "review.Decision"),
}
