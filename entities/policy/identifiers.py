"""The one normal form of a persistent identifier ("Entity Identity And Resolution").

What has no form is refused rather than guessed: two that are taken for one would fuse two things.
"""

import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

import idna
import regex

from densemem.core import limits
from densemem.core.faults import Refused
from densemem.core.names import fold

CUSTOM_SCHEME: Final = regex.compile(r"[a-z][a-z0-9_.-]{1,62}")
BAD: Final = regex.compile(r"[\p{Cc}\p{Cs}]")
LOCAL_PART: Final = regex.compile(r"[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*")
HANDLE: Final = regex.compile(r"[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.-]{0,62}")
ORCID: Final = regex.compile(r"(?:orcid:|https?://orcid\.org/)?(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dXx])/?", regex.I)
WIKIDATA: Final = regex.compile(r"(?:https?://www\.wikidata\.org/(?:wiki|entity)/)?(Q[1-9]\d{0,10})/?", regex.I)
DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class IdentifierRefused(Refused):
    """An identifier, or its scheme, has no normal form; the detail says how to write it."""

    code = "identifier_refused"


@dataclass(frozen=True, slots=True, order=True)
class CanonicalIdentifier:
    """A scheme, and the one form of a value in it: equal ones name the same thing."""

    scheme: str
    value: str


def canonical_identifier(scheme: str, value: str) -> CanonicalIdentifier:
    """
    Return the one form of an identifier.

    :param scheme: email, url, handle, orcid, wikidata, or a lower-case word of the team's own
    :raises IdentifierRefused: the scheme is no such word, or the value has no form in it
    """
    if not CUSTOM_SCHEME.fullmatch(scheme):
        detail = "Write a scheme as a lower-case word of 2 to 63 characters: letters, digits and _ . - after a letter."
        raise IdentifierRefused(detail, code="identifier_scheme_refused")
    if BAD.search(value):
        raise IdentifierRefused("An identifier holds no control characters and no lone surrogates.")
    form = FORMS.get(scheme, _custom)(value.strip())
    if len(form) > limits.IDENTIFIER_CHARS:
        raise IdentifierRefused(f"An identifier has at most {limits.IDENTIFIER_CHARS} characters.")
    return CanonicalIdentifier(scheme, form)


def is_exclusive(scheme: str) -> bool:
    """Tell if one thing has one value in a scheme, so that two values speak for two things."""
    return scheme not in SHARED_SCHEMES


def differing_schemes(one: Collection[CanonicalIdentifier], other: Collection[CanonicalIdentifier]) -> set[str]:
    """Return the schemes in which one thing has one value, and these two have none in common."""
    schemes = {i.scheme for i in one} & {i.scheme for i in other}
    shared = {i.scheme for i in set(one) & set(other)}
    return {scheme for scheme in schemes - shared if is_exclusive(scheme)}


def _email(value: str) -> str:
    local, at, domain = value.removeprefix("mailto:").rpartition("@")
    if not at or len(local) > 64 or not LOCAL_PART.fullmatch(local) or "." not in domain:
        raise IdentifierRefused("Write an address as name@example.org.")
    return f"{unicodedata.normalize('NFC', local)}@{_domain(domain)}"


def _domain(text: str) -> str:
    """Return a domain in lower case and ASCII, so that each has one form in every script."""
    try:
        return idna.encode(text.rstrip("."), uts46=True, transitional=False).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError):
        raise IdentifierRefused("The domain is none: write it as example.org.") from None


def _url(value: str) -> str:
    parts = _split(value)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else _domain(host)
    port = parts.port
    shown = f":{port}" if port is not None and port != DEFAULT_PORTS[parts.scheme] else ""
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{host}{shown}{parts.path.rstrip('/')}{query}"


def _split(value: str) -> SplitResult:
    refused = IdentifierRefused("Write an address as https://example.org/path, without a login and without spaces.")
    try:
        parts = urlsplit(value)
        usable = parts.scheme in DEFAULT_PORTS and parts.hostname and (parts.port or 1) > 0
    except ValueError:
        raise refused from None
    if not usable or "@" in parts.netloc or regex.search(r"\s", value):
        raise refused
    return parts


def _handle(value: str) -> str:
    bare = fold(value.removeprefix("@"))
    if not HANDLE.fullmatch(bare):
        raise IdentifierRefused("Write a handle as @name: up to 63 letters, digits and _ . - without spaces.")
    return bare


def _orcid(value: str) -> str:
    found = ORCID.fullmatch(value)
    digits = "".join(found.groups()).upper() if found else ""
    if not found or _check_character(digits[:-1]) != digits[-1]:
        raise IdentifierRefused("Write an ORCID as 0000-0002-1825-0097; its last character must check the others.")
    return "-".join(digits[at : at + 4] for at in range(0, 16, 4))


def _check_character(digits: str) -> str:
    """Return the last character of an ORCID by ISO 7064, MOD 11-2."""
    total = 0
    for digit in digits:
        total = (total + int(digit)) * 2
    rest = (12 - total % 11) % 11
    return "X" if rest == 10 else str(rest)


def _wikidata(value: str) -> str:
    found = WIKIDATA.fullmatch(value)
    if not found:
        raise IdentifierRefused("Write a Wikidata item as Q42.")
    return str(found[1]).upper()


def _custom(value: str) -> str:
    """Return the value as it is but for composition and white space: what case means is known to its issuer."""
    form = " ".join(unicodedata.normalize("NFC", value).split())
    if not regex.search(r"[\p{L}\p{N}]", form):
        raise IdentifierRefused("An identifier holds at least one letter or digit.")
    return form


FORMS: Final[Mapping[str, Callable[[str], str]]] = {
    "email": _email,
    "url": _url,
    "handle": _handle,
    "orcid": _orcid,
    "wikidata": _wikidata,
}
SHARED_SCHEMES: Final = frozenset({"email", "url", "handle"})  # one thing may have several
