"""Remember over HTTP: a real server on the loopback, and clients that send as fast as they are answered."""

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from django.apps import apps

from densemem.bench.calibration import Calibration
from densemem.bench.figures import Figure, middle, slow
from densemem.bench.load import Load, Step
from densemem.bench.people import body_of, new_team, tell, token_of
from densemem.bench.processes import serving
from densemem.bench.statements import counted

BAR: Final = "L1"
FRAGMENTS: Final = 3  # of one request
WARM_UP: Final = 3  # requests of each client before the clock starts
REPEATED: Final = 10  # requests that are sent once more
TIMEOUT_SECONDS: Final = 30
START_SECONDS: Final = 120  # for all clients to be warm
STATUS: Final = 202


@dataclass(slots=True)
class Sent:
    """What one client sent, and what it was answered."""

    took: list[float] = field(default_factory=list)
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)  # by idempotency key
    errors: Counter[str] = field(default_factory=Counter)
    unknown: int = 0  # sent without an answer: such a request may be stored or not


@dataclass(slots=True)
class Clock:
    """When all clients start and must stop, and how many requests are left for them."""

    barrier: threading.Barrier
    seconds: float
    left: Iterator[int]
    most: int
    done: int = 0
    ends: float = 0.0


def run(load: Load, calibration: Calibration, step: Step) -> list[Figure]:
    """Send the load, then compare what was acknowledged with what is stored."""
    people = new_team(load.clients)
    with serving() as address:
        sent, seconds = _send(load, address, [token_of(who) for who in people], step)
        again = _send_again(address, people[0], sent[0], seed=load.seed)
    took = [one for client in sent for one in client.took]
    cal = calibration
    figures = [
        Figure(BAR, "requests", len(took) / seconds, "/s", least=100, beside=cal.insert_rate),
        Figure(BAR, "request p50", middle(took), " ms", most=40, beside=cal.insert_middle),
        Figure(BAR, "request p95", slow(took), " ms", most=120, beside=cal.insert_slow),
        Figure(BAR, "errors", sum(sum(client.errors.values()) for client in sent), most=0),
        *compared(people[0].team_id, sent, again),
    ]
    return [*figures, Figure(BAR, "SQL statements of one intake", _statements(load))]


def _send(load: Load, address: str, tokens: Sequence[str], step: Step) -> tuple[list[Sent], float]:
    """Let all clients send at once; return what each did, and how many seconds they took together."""
    clock = Clock(threading.Barrier(load.clients + 1, timeout=START_SECONDS), load.seconds, count(), load.requests)
    with ThreadPoolExecutor(load.clients) as pool:
        work = [pool.submit(_client, index, load, address, token, clock) for index, token in enumerate(tokens)]
        clock.barrier.wait()
        began = time.perf_counter()
        while not all(one.done() for one in work):
            step("Remember", max((time.perf_counter() - began) / load.seconds, clock.done / load.requests))
            time.sleep(0.1)
        sent = [one.result() for one in work]
    return sent, clock.ends - began


def _client(index: int, load: Load, address: str, token: str, clock: Clock) -> Sent:
    """Send requests one after the other, each with notes that nobody else sends."""
    sent, warm = Sent(), Sent()
    numbers = count(index * load.requests * FRAGMENTS * 2, FRAGMENTS)
    with closing(Session(address, token)) as session:
        for _ in range(WARM_UP):
            _remember(session, next(numbers), load.seed, warm)
        clock.barrier.wait()
        ends = time.perf_counter() + clock.seconds
        while time.perf_counter() < ends and next(clock.left) < clock.most:
            _remember(session, next(numbers), load.seed, sent)
            clock.done += 1
        clock.ends = max(clock.ends, time.perf_counter())
    sent.answers.update(warm.answers)
    sent.errors.update(warm.errors)
    sent.unknown += warm.unknown
    return sent


def _remember(session: "Session", number: int, seed: int, sent: Sent) -> None:
    body = json.dumps(body_of(range(number, number + FRAGMENTS), seed=seed)).encode()
    began = time.perf_counter()
    try:
        status, answer = session.post(body, key=f"bench-{number}")
    except (OSError, http.client.HTTPException) as error:
        sent.errors[type(error).__name__] += 1
        sent.unknown += 1
        return
    if status != STATUS:
        sent.errors[str(status)] += 1
        return
    sent.took.append(time.perf_counter() - began)
    sent.answers[f"bench-{number}"] = answer


class Session:
    """One connection that stays open; opened anew after an error."""

    def __init__(self, address: str, token: str) -> None:
        """Take the address of the REST door."""
        at = urlsplit(address)
        assert at.hostname is not None
        self._connection = http.client.HTTPConnection(at.hostname, at.port, timeout=TIMEOUT_SECONDS)
        self._path = f"{at.path}ingests"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def post(self, body: bytes, *, key: str) -> tuple[int, dict[str, Any]]:
        """Send one request to remember; return the status and the document."""
        try:
            self._connection.request("POST", self._path, body, {**self._headers, "Idempotency-Key": key})
            response = self._connection.getresponse()
            return response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; the next request opens it anew."""
        self._connection.close()


def _send_again(address: str, who: Any, sent: Sent, *, seed: int) -> dict[str, dict[str, Any]]:
    """Send requests once more under the keys that were answered: each must be answered by its earlier intake."""
    again = Sent()
    with closing(Session(address, token_of(who))) as session:
        for key in list(sent.answers)[:REPEATED]:
            _remember(session, int(key.removeprefix("bench-")), seed, again)
    return again.answers


def compared(team_id: UUID, sent: Sequence[Sent], again: dict[str, dict[str, Any]]) -> list[Figure]:
    """Compare what was acknowledged with the rows."""
    answers = {key: answer for client in sent for key, answer in client.answers.items()}
    acknowledged = Counter(item["evidence_id"] for answer in answers.values() for item in answer["items"])
    fragments = apps.get_model("evidence", "Fragment").objects.filter(team_id=team_id)
    stored = {str(row) for row in fragments.values_list("id", flat=True)}
    unanswered = sum(client.unknown for client in sent) * FRAGMENTS
    doubled = sum(number - 1 for number in acknowledged.values())
    other = sum(answer["ingest_id"] != answers[key]["ingest_id"] for key, answer in again.items())
    return [
        Figure(BAR, "fragments acknowledged", acknowledged.total(), least=1),
        Figure(BAR, "fragments lost", len(set(acknowledged) - stored), most=0),
        Figure(BAR, "fragments doubled", doubled + max(0, len(stored - set(acknowledged)) - unanswered), most=0),
        Figure(BAR, "requests sent again that made a new intake", other, most=0),
    ]


def _statements(load: Load) -> int:
    """Count the SQL statements of one intake of three fragments, by a call."""
    (who,) = new_team(1)
    tell(who, range(FRAGMENTS), seed=load.seed)  # the first one of an owner makes its source group
    with counted() as seen:
        tell(who, range(FRAGMENTS, 2 * FRAGMENTS), seed=load.seed)
    return len(seen)
