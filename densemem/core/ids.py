"""Identifiers: ordered by time for new rows, derived from content for rows that must be written only once."""

import hashlib
import os
import secrets
import threading
import time
from typing import Final
from uuid import UUID

from densemem.core.canonical import canonical_json

COUNTER_BITS: Final = 42
TAIL_BITS: Final = 32
VARIANT: Final = 0b10 << 62
NANOSECONDS: Final = 1_000_000  # in one millisecond


class _Clock:
    """The last moment and count given out; one a process."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything; a forked child must not repeat what its parent will give out."""
        self.lock = threading.Lock()
        self.millisecond = 0
        self.counter = 0

    def tick(self) -> tuple[int, int]:
        """Return a (millisecond, counter) greater than every one before, whatever the system clock does."""
        with self.lock:
            now = time.time_ns() // NANOSECONDS
            if now > self.millisecond:
                self.millisecond, self.counter = now, secrets.randbits(COUNTER_BITS - 1)
            else:
                self.counter += 1
            if self.counter >> COUNTER_BITS:
                self.millisecond, self.counter = self.millisecond + 1, secrets.randbits(COUNTER_BITS - 1)
            return self.millisecond, self.counter


_CLOCK = _Clock()
os.register_at_fork(after_in_child=_CLOCK.reset)


def uuid7() -> UUID:
    """Return a new UUID of version 7; those of one process rise strictly, over all its threads."""
    millisecond, counter = _CLOCK.tick()
    high, low = divmod(counter, 1 << (COUNTER_BITS - 12))
    tail = low << TAIL_BITS | secrets.randbits(TAIL_BITS)
    return UUID(int=millisecond << 80 | 7 << 76 | high << 64 | VARIANT | tail)


def derived_id(*parts: object) -> UUID:
    """
    Return the UUID (version 8) that these parts always give; their borders count, so ("a", "bc") is not ("ab", "c").

    :raises CanonicalRefused: a part has no canonical form
    """
    number = int.from_bytes(hashlib.sha256(canonical_json(list(parts))).digest()[:16])
    number &= ~(0xF << 76) & ~(0b11 << 62)
    return UUID(int=number | 8 << 76 | VARIANT)
