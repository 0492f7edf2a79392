"""The admin of the installation: who may come in can be changed, what happened can only be read."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from densemem.models import AccessToken, Membership, Profile, Team

admin.site.site_header = "Dense-Mem"
admin.site.site_title = "Dense-Mem"
admin.site.index_title = "Installation"

ROWS = 50  # a page of the admin


class ReadOnlyAdmin(admin.ModelAdmin):
    """A table that is looked at: nothing is added, changed or removed, one by one or in bulk."""

    actions = None
    list_per_page = ROWS
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


def show(
    model: type[models.Model],
    *,
    columns: Iterable[str],
    search: Iterable[str] = (),
    filters: Iterable[str] = (),
    hidden: Iterable[str] = (),
) -> None:
    """Register a read-only table. Every list shows the team first and can be searched by exact id.

    :param hidden: columns that are never shown: text whose evidence may be held
    """
    shown = {
        "list_display": ("id", "team", *columns),
        "list_select_related": _keys(model, ("team", *columns)),
        "search_fields": ("id__exact", *search),
        "search_help_text": "An exact id" + ("" if not search else ", or words"),
        "list_filter": ("team", *filters),
        "exclude": tuple(hidden),
    }
    admin.site.register(model, type(f"{model.__name__}Admin", (ReadOnlyAdmin,), shown))


def _keys(model: type[models.Model], columns: Iterable[str]) -> tuple[str, ...]:
    names = {f.name for f in model._meta.fields if f.is_relation}
    return tuple(c for c in columns if c in names)


class KeptAdmin(admin.ModelAdmin):
    """A table that may be changed but whose rows stay."""

    actions = None
    list_per_page = ROWS

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


@admin.register(Team)
class TeamAdmin(KeptAdmin):
    list_display = ("name", "id", "created_at")
    search_fields = ("name",)
    list_filter = ("created_at",)


class MembershipInline(admin.StackedInline):
    """What the profile may do, on its own page."""

    model = Membership
    fields = ("role", "scopes", "authority_grants")
    extra = 0
    can_delete = False


@admin.register(Profile)
class ProfileAdmin(KeptAdmin):
    list_display = ("name", "team", "kind", "user", "steward", "deactivated_at")
    list_select_related = ("team", "user", "steward")
    search_fields = ("name", "user__username")
    list_filter = ("team", "kind", "created_at", "deactivated_at")
    autocomplete_fields = ("user", "steward")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Keep team, kind and steward of a profile as they were made: records and tokens rest on them."""
        return ("team", "kind", "steward") if obj else ()


@admin.register(Membership)
class MembershipAdmin(KeptAdmin):
    list_display = ("profile", "team", "role", "scopes", "authority_grants")
    list_select_related = ("profile", "team")
    search_fields = ("profile__name",)
    list_filter = ("team", "role")
    autocomplete_fields = ("profile",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Keep whose membership it is."""
        return ("team", "profile") if obj else ()


@admin.register(AccessToken)
class AccessTokenAdmin(admin.ModelAdmin):
    """Tokens can be looked at and revoked; they are made by `manage.py create_token`, which shows them once."""

    list_display = ("token_key", "profile", "label", "scopes", "created", "expiry", "last_used_at")
    list_select_related = ("profile",)
    list_per_page = ROWS
    search_fields = ("token_key", "label", "profile__name")
    list_filter: ClassVar[Any] = ("created", "expiry", "last_used_at")
    exclude = ("digest",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False
