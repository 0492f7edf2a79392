"""`manage.py qcluster`: the background workers. They are django-q2's, with two mends.

Its workers get no signal, so a drain would go on to its end however long the cluster is told to stop. And one that is
killed while it waits for work would take the lock on their common queue with it, and leave the others waiting for ever.
"""

from queue import Empty
from types import FrameType
from typing import Any, Final

from django.core.management.base import BaseCommand
from django_q import cluster
from django_q.queues import Queue

from placement import tasks

TURN_SECONDS: Final = 0.05


class Cluster(cluster.Cluster):
    """A cluster whose drains hear at once that they are to stop."""

    def sig_handler(self, signum: int, frame: FrameType | None) -> None:
        """Stop; drains finish or put back what they hold."""
        tasks.stopping.value = True
        super().sig_handler(signum, frame)


class PatientQueue(Queue):
    """A queue whose readers hold its lock only while they read, not while they wait."""

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Return the next entry.

        :raises Empty: nothing came in time
        """
        while block and timeout is None:
            self._reader.poll(None)
            try:
                return super().get(timeout=TURN_SECONDS)
            except Empty:  # another was faster
                continue
        return super().get(block, timeout)


class Command(BaseCommand):
    help = "Run the background workers that place what was remembered. Stop them with Ctrl+C."

    def handle(self, *args: Any, **options: Any) -> None:
        """Start the workers; this process ends when they do."""
        cluster.Queue = PatientQueue
        Cluster().start()
