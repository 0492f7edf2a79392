"""Entities in the admin: to be read. A name or value whose evidence is held is not shown."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from densemem.admin import ReadOnlyAdmin, show
from densemem.core.inert import visible
from entities.models import (
    Entity,
    Identifier,
    IdentityBasis,
    IdentityDecision,
    IdentityMember,
    Name,
    ResolutionCandidate,
    ResolutionEvent,
    Value,
)
from evidence.pages import held_now

HELD = "Held"


class CopiedWordsAdmin(ReadOnlyAdmin):
    """A table with words copied from evidence: they are shown unless that evidence is held."""

    list_select_related: ClassVar[tuple[str, ...]] = ("team",)
    search_fields = ("id__exact", "fragment__id__exact")
    search_help_text = "An exact id of the row or of its fragment"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Tell beside each row whether its evidence is held."""
        return super().get_queryset(request).annotate(is_held=held_now())

    @admin.display(description="words")
    def shown(self, row: Any) -> str:
        """Return the words with unseen characters named, or that they are held."""
        return HELD if row.is_held else visible(row.display)


@admin.register(Name)
class NameAdmin(CopiedWordsAdmin):
    list_display = ("id", "team", "shown", "kind", "entity", "recorded_at")
    list_select_related: ClassVar[tuple[str, ...]] = ("team", "entity")
    list_filter = ("team", "kind", "recorded_at")
    exclude = ("display", "key")
    readonly_fields = ("shown",)


@admin.register(Value)
class ValueAdmin(CopiedWordsAdmin):
    list_display = ("id", "team", "shown", "type", "recorded_at")
    list_filter = ("team", "type", "recorded_at")
    exclude = ("display", "canonical")
    readonly_fields = ("shown",)


@admin.register(Identifier)
class IdentifierAdmin(CopiedWordsAdmin):
    list_display = ("id", "team", "shown", "scheme", "entity", "recorded_at")
    list_select_related: ClassVar[tuple[str, ...]] = ("team", "entity")
    list_filter = ("team", "scheme", "recorded_at")
    exclude = ("display", "value")
    readonly_fields = ("shown",)


show(
    IdentityDecision,
    columns=("kind", "author", "of_decision", "recorded_at"),
    search=("author__id__exact",),
    filters=("kind", "recorded_at"),
)
show(IdentityMember, columns=("decision", "entity", "role"), search=("entity__id__exact",), filters=("role",))
show(
    IdentityBasis,
    columns=("decision", "entity", "kind", "identifier", "fragment"),
    search=("entity__id__exact", "fragment__id__exact"),
    filters=("kind",),
)
show(Entity, columns=("kind", "status", "version", "created_at"), filters=("kind", "status", "created_at"))
show(
    ResolutionEvent,
    columns=("action", "reason", "entity", "fragment", "recorded_at"),
    search=("fragment__id__exact", "entity__id__exact"),
    filters=("action", "reason", "recorded_at"),
)
show(ResolutionCandidate, columns=("event", "entity", "reason", "recorded_at"), filters=("reason", "recorded_at"))
