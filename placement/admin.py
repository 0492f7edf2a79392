"""Placement in the admin: runs, items and attempts, to be read. Copied words of evidence stay out."""

from densemem.admin import show
from placement.models import Adoption, Attempt, Item, ItemAnswer, ItemEvent, ItemProposal, Run

show(Run, columns=("ingest", "recorded_at"), search=("ingest__id__exact",), filters=("recorded_at",))
show(
    Item,
    columns=("owner", "state", "category", "reason", "attempts", "available_at"),
    search=("ingest__id__exact", "fragment__id__exact"),
    filters=("state", "category", "available_at", "completed_at"),
)
show(
    ItemEvent,
    columns=("item", "version", "state", "category", "reason", "recorded_at"),
    search=("item__id__exact",),
    filters=("state", "category", "recorded_at"),
)
show(
    ItemProposal,
    columns=("item", "fragment", "recorded_at"),
    search=("item__id__exact",),
    filters=("recorded_at",),
    hidden=("payload",),
)
show(
    Adoption,
    columns=("item", "fragment", "recorded_at"),
    search=("item__id__exact", "fragment__id__exact"),
    filters=("recorded_at",),
)
show(
    ItemAnswer,
    columns=("item", "cycle", "stage", "model", "recorded_at"),
    search=("item__id__exact",),
    filters=("stage", "model", "recorded_at"),
    hidden=("payload",),
)
show(
    Attempt,
    columns=("item", "stage", "number", "outcome", "code", "milliseconds", "made_at"),
    search=("item__id__exact",),
    filters=("stage", "outcome", "made_at"),
)
