"""Playing the rounds of a fault, and asking after each whether the laws still hold."""

import time
from collections.abc import Callable, Iterable
from random import Random

from densemem.audit import audit
from densemem.faults.fault import Broken, Failure, Fault, Figures, Report

Step = Callable[[Report, int], None]


def run(fault: Fault, *, seed: int, rounds: Iterable[int], step: Step | None = None) -> Report:
    """
    Play rounds of a fault in the database that this process points to.

    A round that fails does not end the run.

    :param rounds: their numbers; number and seed decide all that is left to chance in a round
    :param step: called after each round with the report so far and the number of the round
    """
    report, began = Report(fault, seed), time.monotonic()
    for number in rounds:
        try:
            report.add(_round(fault, Random(f"{seed} {fault.name} {number}")))
        except Broken as broken:
            report.failures.append(Failure(number, str(broken)))
        except Exception as raised:
            report.failures.append(Failure(number, f"{type(raised).__qualname__}: {raised}"))
        report.rounds += 1
        report.seconds = time.monotonic() - began
        if step:
            step(report, number)
    return report


def _round(fault: Fault, chance: Random) -> Figures:
    figures = fault.play(chance)
    check_laws()
    return figures


def check_laws() -> None:
    """Audit everything.

    :raises Broken: a law does not hold
    """
    found = [f"{check.name}: {d.row} {d.detail}" for check in audit().checks for d in check.differences]
    if found:
        raise Broken(f"{len(found)} differences: {'; '.join(found[:5])}")
