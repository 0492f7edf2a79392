"""Review in the admin: the open questions and their history, to be read."""

from densemem.admin import show
from review.models import Task, TaskEvent

# The subject of a task may copy a wording of evidence that is held by now.
show(
    Task,
    columns=("owner", "kind", "status", "reason", "opened_at"),
    search=("owner__name", "fragment__id__exact"),
    filters=("kind", "status", "opened_at"),
    hidden=("subject",),
)
show(
    TaskEvent,
    columns=("task", "version", "status", "actor", "reason", "recorded_at"),
    search=("task__id__exact",),
    filters=("status", "recorded_at"),
)
