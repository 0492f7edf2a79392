"""The inside of a worker's process."""

import json
import os
import signal
import time
from multiprocessing.connection import Connection
from random import Random
from typing import Final

from django.conf import settings

from densemem.faults.workers import Orders
from densemem.providers.base import Answer, Call, Role, Stage, Turn
from densemem.providers.rules import Rules
from placement.tasks import drain

IDLE_SECONDS: Final = 0.02
ANY_REQUEST: Final = {
    "request_id": "warm",
    "evidence": [{"evidence_id": "e", "content": "Mara Lind works on Harbor."}],
    "proposal": {"entities": [], "observations": []},
    "known_names": [],
    "entity_kinds": [],
    "value_types": [],
    "predicates": [],
    "signals": [],
}


def warm() -> None:
    """Let the offline reviewer read its words."""
    Rules().complete(Call(Stage.EXTRACT, "", (Turn(Role.USER, json.dumps(ANY_REQUEST)),), {}))


def work(orders: Orders, told: Connection) -> None:
    """Say that it is ready, and drain the queue as it was ordered."""
    for alias, entry in orders.databases.items():
        settings.DATABASES[alias].update(entry)
    model = Moody(orders)
    told.send(True)
    while drain(using=model, linger=not orders.once) or not orders.once:
        time.sleep(IDLE_SECONDS)


class Moody:
    """The offline reviewer, who takes its time and cannot stand some texts."""

    name = "rules"

    def __init__(self, orders: Orders) -> None:
        """Take what sets its mood."""
        self._orders = orders
        self._chance = Random(orders.seed)
        self._rules = Rules()

    def complete(self, call: Call) -> Answer:
        """Answer as the offline reviewer does, unless the text kills it."""
        if self._orders.poison and self._orders.poison in call.turns[0].text:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(self._chance.uniform(0, self._orders.seconds_most))
        return self._rules.complete(call)
