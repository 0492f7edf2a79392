"""Which provider this process asks; chosen by the settings, made once."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from densemem.core import limits
from densemem.providers.base import Provider


@cache
def provider() -> Provider:
    """Return the provider that DENSEMEM_PROVIDER names, one for the whole process; `provider.cache_clear()` forgets it.

    :raises ImproperlyConfigured: an unknown name, or no key for a provider that needs one
    """
    name = settings.DENSEMEM_PROVIDER
    if name not in MAKERS:
        raise ImproperlyConfigured(f"DENSEMEM_PROVIDER is {name!r}; it must be one of {', '.join(sorted(MAKERS))}.")
    return MAKERS[name]()


def concurrency() -> int:
    """Return how many items one drain works on at once. The offline reviewer waits for nobody, so it does one.

    :raises ImproperlyConfigured: no whole number within the bounds
    """
    given = str(settings.DENSEMEM_CONCURRENCY or ("1" if settings.DENSEMEM_PROVIDER == "rules" else "8"))
    if not given.isdecimal() or not 1 <= int(given) <= limits.CONCURRENCY:
        raise ImproperlyConfigured(
            f"DENSEMEM_CONCURRENCY is {given!r}; it must be a whole number from 1 to {limits.CONCURRENCY}."
        )
    return int(given)


def _anthropic() -> Provider:
    """Return the vendor's provider; the module is imported only when it is used."""
    from densemem.providers.anthropic import Claude

    if not settings.ANTHROPIC_API_KEY:
        raise ImproperlyConfigured("DENSEMEM_PROVIDER is 'anthropic', so ANTHROPIC_API_KEY must be set.")
    return Claude(
        api_key=settings.ANTHROPIC_API_KEY,
        base_url=settings.ANTHROPIC_BASE_URL,
        model=settings.ANTHROPIC_MODEL,
    )


def _rules() -> Provider:
    """Return the offline reviewer."""
    from densemem.providers.rules import Rules

    return Rules()


def _scripted() -> Provider:
    """Return a provider without answers: the demo and the tests give it theirs."""
    from densemem.providers.scripted import Scripted

    return Scripted()


MAKERS: Final[Mapping[str, Callable[[], Provider]]] = MappingProxyType(
    {"anthropic": _anthropic, "rules": _rules, "scripted": _scripted}
)
