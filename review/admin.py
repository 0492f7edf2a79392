"""Review in the admin: the open questions and their history, to be read."""

from densemem.admin import show
from review.models import Decision, DecisionEvidence, DecisionUse, Task, TaskEvent, Waiting

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
show(
    Waiting,
    columns=("task", "item", "observation", "recorded_at"),
    search=("task__id__exact", "item__id__exact"),
    filters=("recorded_at",),
)
show(
    Decision,
    columns=("owner", "action", "task", "item", "message", "recorded_at"),
    search=("owner__name", "task__id__exact", "item__id__exact", "relationship__id__exact"),
    filters=("action", "recorded_at"),
)
show(DecisionEvidence, columns=("decision", "fragment", "recorded_at"), search=("decision__id__exact",), filters=())
show(DecisionUse, columns=("decision", "item", "cycle", "recorded_at"), search=("item__id__exact",), filters=())
