"""All faults, by name."""

from typing import Final

from densemem.faults.fault import Fault
from densemem.faults.killed import F1, F6
from densemem.faults.paused import F4
from densemem.faults.provider import F5
from densemem.faults.races import F7
from densemem.faults.statements import F3

FAULTS: Final[dict[str, Fault]] = {fault.name: fault for fault in (F1, F3, F4, F5, F6, F7)}
