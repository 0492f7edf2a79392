"""Names in a text: the client's first, then the team's known names, then what the shape of the writing gives away."""

from collections.abc import Iterable

import regex

from densemem.providers.rules import lexicon
from densemem.providers.rules.shapes import Mention, Value

ENTITY_KINDS = (
    "person",
    "organization",
    "team",
    "project",
    "product",
    "technology",
    "place",
    "document",
    "event",
    "concept",
)
ANY = frozenset(ENTITY_KINDS)
_WORD = r"\p{Lu}[\p{L}\p{N}&+#]*(?:['’]\p{Lu}\p{L}+)?(?:[-.]\p{L}[\p{L}\p{N}]*)*"
_PART = rf"(?:{_WORD}|\p{{Lu}}\.)"
_JOIN = r"(?:\s(?:of|for|de|du|da|von|van|der|den|la|le|al|bin|ibn|y|&)){1,2}(?:\s(?:the|la|der))?"
CAPITALS = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}_.@/-]){_PART}(?:(?:\s{_PART}|{_JOIN}\s{_PART})|\s\d+(?:\.\d+)*(?![\p{{L}}\p{{N}}:/]|\s(?:EUR|USD|GBP|CHF)))*(?:,?\s(?:Inc|Ltd|Jr|Sr|Co|LLC)\b\.?)*"
)
TICKET = regex.compile(r"(?<![\p{L}\p{N}-])[A-Z]{2,6}-\d{1,6}(?![\p{L}\p{N}-])")
_NOUNS = "|".join(
    sorted(
        {word for kind in ("team", "project", "product", "document", "event", "place") for word in lexicon.HEADS[kind]}
    )
)
DESCRIBED = regex.compile(
    rf"\b[Tt]he\s(?P<np>(?:(?:\p{{Ll}}[\p{{Ll}}-]+|\p{{Lu}}[\p{{L}}\p{{N}}]*)\s){{1,3}}?(?:{_NOUNS}))\b(?!\s(?:{_NOUNS})\b|[-'’])"
)
_SORTS = {
    "project": "project",
    "team": "team",
    "gateway": "product",
    "service": "product",
    "tool": "product",
    "app": "product",
    "library": "product",
    "company": "organization",
    "firm": "organization",
    "city": "place",
    "town": "place",
    "village": "place",
    "colleague": "person",
    "squad": "team",
    "product": "product",
    "application": "product",
    "server": "product",
}
_SORT = regex.compile(rf"\b({'|'.join(_SORTS)})\s(?:of\s)?$", regex.IGNORECASE)
_TICKET_KINDS = frozenset({"concept", "project", "document"})


def kinds_of(surface: str) -> tuple[frozenset[str], bool]:
    """Return the kinds that a name may have by its own words, and whether a cue word says so."""
    words = regex.findall(r"[\p{L}\p{N}+#.&-]+", surface.casefold())
    last = words[-1].rstrip(".") if words else ""
    if TICKET.fullmatch(surface):
        return _TICKET_KINDS, True
    for kind, heads in lexicon.HEADS.items():
        if len(words) > 1 and last in heads:
            return frozenset({kind}), True
    if len(words) > 1 and words[0] in lexicon.PREFIXES:
        return frozenset({lexicon.PREFIXES[words[0]]}), True
    if " ".join(words) in lexicon.TECHNOLOGIES:
        return frozenset({"technology"}), True
    if " ".join(words) in lexicon.LANGUAGES:
        return frozenset({"concept"}), True
    if any(word in lexicon.HEADS["organization"] for word in words[1:]):
        return frozenset({"organization"}), True
    return (ANY if looks_like_person(surface) or len(words) == 1 else ANY - {"person"}), False


def looks_like_person(surface: str) -> bool:
    """Say whether a name has the shape of a full personal name: two to four capitalised words without digits."""
    return bool(
        regex.fullmatch(
            r"\p{Lu}[\p{Ll}'’-]+\p{L}*(?:\s(?:\p{Lu}\.|\p{Lu}[\p{L}'’.-]+|de|van|von|der|den|bin|al|la)){0,3}\s\p{Lu}[\p{L}'’-]+",
            surface,
        )
    )


def occurrences(text: str, name: str) -> list[tuple[int, int]]:
    """Return where a name stands in the text as a whole word."""
    if not name.strip():
        return []
    left = r"(?<![\p{L}\p{N}_])" if name[0].isascii() and name[0].isalnum() else ""
    right = r"(?![\p{L}\p{N}_])" if name[-1].isascii() and name[-1].isalnum() else ""
    return [found.span() for found in regex.finditer(left + regex.escape(name) + right, text)]


def given(text: str, spans: Iterable[tuple[int, int]], kind: str | None) -> list[Mention]:
    """Make mentions of spans that the client or the registry vouches for."""
    made = []
    for start, end in spans:
        surface = text[start:end]
        kinds, sure = (frozenset({kind}), True) if kind and kind != "other" else kinds_of(surface)
        made.append(Mention(start, end, surface, kinds, sure))
    return made


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Drop opener and role words, and a possessive, from the ends of a capitalised run."""
    while True:
        first = regex.match(r"[\p{L}.'’-]+", text[start:end])
        word = first.group().casefold().rstrip(".") if first else ""
        adverb = word.endswith("ly") and word not in lexicon.NAMES_IN_LY
        if not first or not (adverb or word in lexicon.OPENERS | lexicon.ROLE_WORDS):
            break
        rest = text[start + first.end() : end]
        if not rest.strip():
            return start, start
        start += first.end() + len(rest) - len(rest.lstrip())
    last = regex.search(r"\s(?:NOT|NO|NEVER|WIP|TBD|TBC|OK|LOL)$", text[start:end])
    return (start, start + last.start()) if last else (start, end)


def capitalised(text: str) -> list[Mention]:
    """Find runs of capitalised words that are not merely the start of a sentence."""
    found = []
    for run in CAPITALS.finditer(text):
        start, end = _trim(text, *run.span())
        surface = text[start:end]
        if start == end or surface.casefold() in lexicon.CALENDAR:
            continue
        kinds, sure = kinds_of(surface)
        said = _SORT.search(text, max(0, start - 40), start)
        if said and not sure:
            kinds, sure = frozenset({_SORTS[said.group(1).lower()]}), True
        found.append(Mention(start, end, surface, kinds, sure))
    return found


def described(text: str) -> list[Mention]:
    """Find definite descriptions such as "the refund module": their last word tells the kind."""
    found = []
    for match in DESCRIBED.finditer(text):
        start, end = match.span("np")
        words = match.group("np").split()
        if any(word.casefold() in lexicon.OPENERS for word in words[:-1]):
            continue
        kinds, _sure = kinds_of(match.group("np"))
        found.append(Mention(start, end, match.group("np"), kinds, True))
    return found


def tickets(text: str) -> list[Mention]:
    """Find ticket numbers such as HRB-12."""
    return [Mention(m.start(), m.end(), m.group(), _TICKET_KINDS, True) for m in TICKET.finditer(text)]


def outside(values: Iterable[Value], group: Iterable[Mention]) -> list[Mention]:
    """Drop the mentions that are really part of a date."""
    taken = [(value.start, value.end) for value in values]
    return [
        m
        for m in group
        if all(
            m.end <= start or end <= m.start or m.start < start and end <= m.end and end - start == 4
            for start, end in taken
        )
    ]


def merge(*groups: Iterable[Mention]) -> list[Mention]:
    """Join groups of mentions, the earlier group winning every overlap; the result is in text order."""
    kept: list[Mention] = []
    for group in groups:
        for mention in sorted(group, key=lambda m: (m.start, m.start - m.end)):
            if mention.start < mention.end and all(
                mention.end <= other.start or other.end <= mention.start for other in kept
            ):
                kept.append(mention)
    return sorted(kept, key=lambda m: m.start)
