"""For whom a test writes rows itself: the database refuses knowledge of anybody else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from django.db import connections, transaction

from densemem.db.writer import PROFILE

Made = ParamSpec("Made")
Answer = TypeVar("Answer")


@contextmanager
def writing(owner_id: UUID, *, using: str = "default") -> Iterator[None]:
    """Write as a profile; afterwards as whoever wrote before, so that no operation under test borrows the right."""
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        cursor.execute("SELECT current_setting(%s, true)", [PROFILE])
        before = cursor.fetchone()[0] or ""
        cursor.execute("SELECT set_config(%s, %s, true)", [PROFILE, str(owner_id)])
        yield
        cursor.execute("SELECT set_config(%s, %s, true)", [PROFILE, before])


def by_its_owner(make: Callable[Made, Answer]) -> Callable[Made, Answer]:
    """Let a maker of rows write as the owner of its first argument."""

    @wraps(make)
    def made(*args: Made.args, **given: Made.kwargs) -> Answer:
        owned: Any = args[0]
        with writing(owned.owner_id):
            return make(*args, **given)

    return made
