"""Evidence in the admin. The text of a fragment is shown unless it is held; `Content` has no page of its own."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from densemem.admin import ReadOnlyAdmin, show
from densemem.core.inert import visible
from evidence.models import (
    Fragment,
    FragmentRetirement,
    GroupJoin,
    Ingest,
    Quarantine,
    Redaction,
    RedactionReceipt,
    SecurityEvent,
    SecuritySignal,
    Source,
    SourceGroup,
    SourceRevision,
    Wording,
)
from evidence.pages import held_now

HELD = "Held: the text is not shown."
REDACTED = "Redacted: the text is gone."


@admin.register(Fragment)
class FragmentAdmin(ReadOnlyAdmin):
    list_display = ("id", "team", "owner", "source_type", "authority", "source_label", "held", "recorded_at")
    list_select_related = ("team", "owner")
    search_fields = ("id__exact", "ingest__id__exact", "source_label", "source__source_key")
    search_help_text = "An exact id of a fragment or an ingest, or words of the source"
    list_filter = ("team", "source_type", "authority", "recorded_at")
    exclude = ("content",)
    readonly_fields = ("shown_text",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Tell beside each fragment whether it is held."""
        return super().get_queryset(request).annotate(is_held=held_now("pk"))

    @admin.display(boolean=True, description="held")
    def held(self, fragment: Any) -> bool:
        """Tell if the text is held now."""
        return bool(fragment.is_held)

    @admin.display(description="text")
    def shown_text(self, fragment: Any) -> str:
        """Return the text with unseen characters named, or one generic line."""
        if fragment.content.redacted_at is not None:
            return REDACTED
        return HELD if fragment.is_held else visible(fragment.content.text)


show(Ingest, columns=("owner", "recorded_at"), filters=("recorded_at",))
show(
    Source,
    columns=("owner", "source_key", "current_revision", "created_at"),
    search=("source_key",),
    filters=("created_at",),
)
show(SourceGroup, columns=("kind", "key", "recorded_at"), search=("key",), filters=("kind", "recorded_at"))
show(SourceRevision, columns=("source", "token", "recorded_at"), search=("token",), filters=("recorded_at",))
show(FragmentRetirement, columns=("fragment", "recorded_at"), search=("fragment__id__exact",), filters=("recorded_at",))
show(GroupJoin, columns=("one", "other", "reason", "recorded_at"), filters=("reason", "recorded_at"))
show(
    SecurityEvent,
    columns=("fragment", "kind", "decision", "actor", "recorded_at"),
    search=("fragment__id__exact",),
    filters=("kind", "decision", "recorded_at"),
)
show(
    SecuritySignal,
    columns=("event", "kind", "severity", "start", "end", "recorded_at"),
    search=("event__id__exact",),
    filters=("kind", "severity", "recorded_at"),
)
show(
    Quarantine,
    columns=("fragment", "status", "opened_at", "released_at"),
    search=("fragment__id__exact",),
    filters=("status", "opened_at", "released_at"),
)
show(
    Redaction,
    columns=("fragment", "actor", "recorded_at"),
    search=("fragment__id__exact",),
    filters=("recorded_at",),
)
show(RedactionReceipt, columns=("redaction", "recorded_at"), filters=("recorded_at",), hidden=("runs",))
show(
    Wording,
    columns=("fragment", "of", "kind", "recorded_at"),
    search=("of__exact", "fragment__id__exact"),
    filters=("kind", "recorded_at"),
    hidden=("text",),
)
