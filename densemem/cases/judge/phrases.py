"""Reading what a case expects in words: every word of it must belong to a phrase that is really compared."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from densemem.cases.judge.seen import Seen
from densemem.cases.world import NotUnderstood

Holds = Callable[[Seen, re.Match[str]], bool]
BETWEEN: Final = re.compile(r"(?:[\s;,.:]|and\b|->)*")
END: Final = r"(?=$|[\s;,.:])"


@dataclass(frozen=True, slots=True)
class Phrase:
    """
    Words with a meaning.

    :param key: of which expectations they may stand, as a pattern of the key
    :param wants: they ask for something that only a language model may find
    """

    key: re.Pattern[str]
    text: re.Pattern[str]
    holds: Holds
    wants: bool = False


def phrases(key: str, *rows: tuple[str, Holds], wants: bool = False) -> tuple[Phrase, ...]:
    """Return phrases for the expectations whose key fits a pattern."""
    keyed = re.compile(key)
    return tuple(Phrase(keyed, re.compile(text + END), holds, wants) for text, holds in rows)


def check(seen: Seen, key: str, text: str, known: Iterable[Phrase]) -> Iterator[str]:
    """Yield why words do not hold, and what of them nobody understands."""
    fitting = [phrase for phrase in known if phrase.key.fullmatch(key)]
    for said, phrase in _parts(text, fitting):
        if phrase is None:
            yield f"not understood: {key}: {said!r}"
        elif not (phrase.wants and seen.offline):
            yield from _failed(seen, key, phrase, said)


def _parts(text: str, known: list[Phrase]) -> Iterator[tuple[str, Phrase | None]]:
    at = _skip(text, 0)
    while at < len(text):
        found = [(phrase, match) for phrase in known if (match := phrase.text.match(text, at))]
        if not found:
            yield text[at:], None
            return
        phrase, match = max(found, key=lambda pair: pair[1].end())
        yield match.group(), phrase
        at = _skip(text, match.end())


def _skip(text: str, at: int) -> int:
    found = BETWEEN.match(text, at)
    assert found is not None
    return found.end()


def _failed(seen: Seen, key: str, phrase: Phrase, said: str) -> Iterator[str]:
    match = phrase.text.match(said)
    assert match is not None
    seen.notes.clear()
    try:
        holds = phrase.holds(seen, match)
    except NotUnderstood as missing:
        yield f"not understood: {key}: {said!r} ({missing})"
        return
    if not holds:
        yield f"{key}: {said!r} does not hold" + (f" ({'; '.join(seen.notes)})" if seen.notes else "")
