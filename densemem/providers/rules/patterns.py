"""Every pattern in one fixed order, and the wordings they emit. A predicate without a pattern never becomes active by rules."""

from functools import cache

from densemem.providers.rules.firms import firms
from densemem.providers.rules.foreign import foreign
from densemem.providers.rules.forms import Form
from densemem.providers.rules.people import people
from densemem.providers.rules.wording import expand
from densemem.providers.rules.work import work


@cache
def forms() -> tuple[Form, ...]:
    """Return every pattern in a fixed order."""
    groups = (people(), firms(), work(), foreign())
    return tuple(form for group in groups for form in group)


@cache
def wordings() -> dict[str, list[str]]:
    """Return, for each predicate key, every wording that the patterns can emit, in lower case with single blanks."""
    found: dict[str, set[str]] = {}
    for form in forms():
        found.setdefault(form.key, set()).update(_spellings(form))
    return {key: sorted(words) for key, words in sorted(found.items())}


def _spellings(form: Form) -> set[str]:
    """Spell out the finite alternatives of a form's wording."""
    if form.wording is not None:
        return {form.wording.casefold()}
    return {text.casefold() for text in expand(_group_source(form.source))}


def _group_source(pattern: str) -> str:
    """Return the source of the group `w` of a pattern."""
    begin = pattern.index("(?P<w>") + len("(?P<w>")
    depth, end = 1, begin
    while depth:
        depth += {"(": 1, ")": -1}.get(pattern[end], 0)
        end += 1
    return pattern[begin : end - 1]
