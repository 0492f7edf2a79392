"""Identifiers that a text puts directly beside a name: `Name <name@example.org>`, `Name (@name, ORCID 0000-...)`.

Read by fixed rules: a part of the brackets that could be something else is passed over.
"""

from dataclasses import dataclass
from typing import Final

import regex

from densemem.core import limits
from entities.policy.identifiers import CanonicalIdentifier, IdentifierRefused, canonical_identifier

BRACKETS: Final = regex.compile(r"[ \t\u00a0]?(?:<([^<>\n]{3,600})>|\(([^()\n]{2,600})\)|（([^（）\n]{2,600})）)")
PART: Final = regex.compile(r"[^,;，、；\s][^,;，、；]*")
EMAIL: Final = regex.compile(r"(?:mailto:)?([^\s@<>]+@[^\s@<>]+\.[^\s@<>]+)")
ORCID: Final = regex.compile(r"(?:ORCID(?: iD)?:? ?|https?://orcid\.org/)(\d{4}-\d{4}-\d{4}-\d{3}[\dXx])/?", regex.I)
ORCID_BARE: Final = regex.compile(r"(\d{4}-\d{4}-\d{4}-\d{3}[\dXx])")
WIKIDATA: Final = regex.compile(
    r"(?:Wikidata:? ?|https?://www\.wikidata\.org/(?:wiki|entity)/)(Q[1-9]\d{0,10})/?", regex.I
)
WIKIDATA_BARE: Final = regex.compile(r"(Q[1-9]\d{1,10})")  # with one digit it is a quarter, or a car
URL: Final = regex.compile(r"(https?://\S+)", regex.I)
HANDLE: Final = regex.compile(r"(@[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.-]*)")
READERS: Final = (
    ("email", EMAIL),
    ("orcid", ORCID),
    ("orcid", ORCID_BARE),
    ("wikidata", WIKIDATA),
    ("wikidata", WIKIDATA_BARE),
    ("url", URL),
    ("handle", HANDLE),
)


@dataclass(frozen=True, slots=True)
class Stated:
    """An identifier as it stands in a text, and where."""

    identifier: CanonicalIdentifier
    display: str
    start: int
    end: int


def stated_beside(text: str, end: int) -> tuple[Stated, ...]:
    """Return the identifiers in the brackets that follow a name.

    :param end: where the name ends
    """
    found = BRACKETS.match(text, end)
    if not found:
        return ()
    begin, stop = found.span(found.lastindex)
    parts = (part for part in PART.finditer(text, begin, stop))
    read = (stated for part in parts if (stated := _read(part.group().rstrip(), part.start())))
    return tuple(read)[: limits.IDENTIFIERS]


def stated_at(text: str, scheme: str, value: str) -> Stated | None:
    """Return an identifier where its value stands literally in a text, by itself; None when it does not.

    :raises IdentifierRefused: it has no form
    """
    identifier = canonical_identifier(scheme, value)
    words = f"@{value.removeprefix('@')}" if scheme == "handle" else value.strip()
    around = r"[\p{L}\p{N}\p{M}_@/.+-]"
    after = r"(?![\p{L}\p{N}\p{M}_@/+-]|\.[\p{L}\p{N}])"  # a full stop may follow
    found = regex.search(rf"(?<!{around}){regex.escape(words)}{after}", text)
    return Stated(identifier, words, found.start(), found.end()) if found else None


def _read(part: str, at: int) -> Stated | None:
    for scheme, shape in READERS:
        if found := shape.fullmatch(part):
            try:
                identifier = canonical_identifier(scheme, found[1])
            except IdentifierRefused:
                return None
            return Stated(identifier, found[1], at + found.start(1), at + found.end(1))
    return None
