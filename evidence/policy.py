"""The pure rules of evidence: source revisions, independence and authority ("Stable Source Revisions")."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import regex

from densemem.core.faults import Because, Refused
from densemem.core.limits import ECHO_WORDS, NEAR_COPY_PERCENT, NEAR_COPY_WORDS
from densemem.core.names import fold
from evidence.vocabulary import Authority, SourceType

# Scripts that put no space between words: each sign counts as a word.
UNSPACED: Final = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
WORD: Final = regex.compile(rf"{UNSPACED}\p{{M}}*|(?:(?!{UNSPACED})[\p{{L}}\p{{N}}\p{{M}}_])+")

# A name with fewer letters stands in too many texts, and one of more words is found by its runs.
NAME_LETTERS: Final = 4
IDENTIFIER_SIGNS: Final = 8  # an identifier tells by its digits, too
NAME_WORDS: Final = 9


@dataclass(frozen=True, slots=True)
class SourceClaim:
    """The stable source that a text says it comes from, and which revision it is."""

    key: str
    revision: str
    previous: str | None
    supersedes: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class EvidenceIn:
    """One text as it was sent, checked."""

    content: str
    source_type: SourceType
    authority: Authority
    source_label: str
    group_hint: str | None
    source: SourceClaim | None
    derived_from: tuple[UUID, ...]
    observed_at: datetime | None
    labels: tuple[str, ...]
    metadata: Mapping[str, Any]


class SourceNotOwned(Refused):
    """Only the owner of a source advances it."""

    code = "source_not_owned"
    because = Because.FORBIDDEN


class RevisionConflict(Refused):
    """The request does not continue the current revision of its source."""

    code = "revision_conflict"
    because = Because.CONFLICT


class AuthorityRefused(Refused):
    """The membership has no grant to speak with authority through this type of source."""

    code = "authority_not_granted"
    because = Because.FORBIDDEN


class RevisionStep(StrEnum):
    """What a request does to its source."""

    FIRST = "first"
    ADVANCE = "advance"
    REPLAY = "replay"


def check_revision(
    *,
    current_token: str | None,
    owner_is_caller: bool,
    token: str,
    previous: str | None,
    same_content: bool,
    former_tokens: Collection[str] = (),
) -> RevisionStep:
    """
    Decide what a revision does to its source; a retry of the current one changes nothing.

    :param current_token: None while the source has no revision
    :param same_content: the content under the current token equals what was sent
    :param former_tokens: those that the source had before the current one
    :raises SourceNotOwned: the caller is not the owner of the source
    :raises RevisionConflict: a token used before, or not the exact current one named as previous
    """
    if not owner_is_caller:
        raise SourceNotOwned("This source belongs to another profile; use a source key of your own.")
    if current_token is None:
        return _first(previous)
    if token == current_token:
        return _replay(same_content)
    if token in former_tokens:
        raise RevisionConflict("This revision is no longer current.", code="revision_token_is_former")
    if previous is None:
        raise RevisionConflict(
            "Name the current revision as previous_source_revision.", code="previous_revision_missing"
        )
    if previous != current_token:
        raise RevisionConflict("The previous revision named is not the current one.", code="previous_revision_stale")
    return RevisionStep.ADVANCE


def check_authority(*, authority: Authority, source_type: SourceType, granted: Collection[str]) -> None:
    """
    Refuse authority without a grant; it is never lowered in silence.

    :param granted: the source types through which the membership may speak with authority
    :raises AuthorityRefused: there is no grant for this type
    """
    if authority is Authority.AUTHORITATIVE and source_type not in granted:
        raise AuthorityRefused(f"A manager must grant authority for {source_type} first, or send another authority.")


def count_voices(said: Iterable[tuple[UUID, UUID]], joins: Mapping[UUID, Set[UUID]]) -> int:
    """
    Count the independent voices among texts: the fewest source groups that may be behind them all.

    A text may come from its own group and from each that it is joined to. Of texts that can come from several groups,
    and from none that has a text of its own here, no more than two voices are counted. What is joined to the groups of
    others takes nothing from them: more texts are never fewer voices, and a join changes no text but its own.

    :param said: (fragment, source group) of each text
    :param joins: by fragment and by source group, the groups that it is joined to; others than these do no harm
    """
    texts = {behind(fragment, group, joins) for fragment, group in said}
    sure: frozenset[UUID] = frozenset().union(*(text for text in texts if len(text) == 1))
    open_still = [text for text in texts if not text & sure]
    if not open_still:
        return len(sure)
    return len(sure) + (1 if frozenset.intersection(*open_still) else 2)


def behind(fragment: UUID, group: UUID, joins: Mapping[UUID, Set[UUID]]) -> frozenset[UUID]:
    """Return every source group that may be behind a text: its own, and those that it or its group is joined to."""
    return frozenset({group}).union(joins.get(group, ()), joins.get(fragment, ()))


def normal_text(text: str) -> str:
    """Return the text as copies are compared: NFKC, case-folded, white space collapsed."""
    return fold(text)


def word_runs(text: str) -> frozenset[str]:
    """Return every run of five words of a text, without its punctuation, the words of a run with spaces between.

    All words of a shorter text are one run.
    """
    words = words_in(text)
    return frozenset(_runs(words, min(len(words), NEAR_COPY_WORDS))) if words else frozenset()


def words_in(text: str) -> list[str]:
    """Return the words of a text as copies are compared: folded, without punctuation."""
    return WORD.findall(normal_text(text))


def text_runs(text: str, *, most: int) -> list[tuple[str, ...]]:
    """Return the runs of five words of a text by which a copy is found, evenly spread; a shorter text is one run."""
    words = words_in(text)
    found = list(dict.fromkeys(runs_of(words))) or [tuple(words)] * bool(words)
    return found[:: -(-len(found) // most) or 1]


def name_run(name: str) -> tuple[str, ...] | None:
    """Return a name as one run of words; None for what says too little, such as a number, or is too long."""
    words = words_in(name)
    telling = sum(char.isalpha() for word in words for char in word) >= NAME_LETTERS
    return tuple(words) if telling and len(words) <= NAME_WORDS else None


def identifier_run(identifier: str) -> tuple[str, ...] | None:
    """Return an identifier as one run of words, as of a name; one of few letters tells by its digits."""
    words = words_in(identifier)
    telling = sum(map(str.isalnum, "".join(words))) >= IDENTIFIER_SIGNS
    return name_run(identifier) or (tuple(words) if telling and len(words) <= NAME_WORDS else None)


def near_copy(one: Set[Any], other: Set[Any]) -> bool:
    """
    Tell if two texts say nearly the same: at least 80 % of the runs of the shorter one stand in the other.

    Give their word runs, or what stands for each run in both. A text without words copies nothing; one of fewer than
    five copies what has the same words, and nothing else.
    """
    fewer = min(len(one), len(other))
    return fewer > 0 and 100 * len(one & other) >= NEAR_COPY_PERCENT * fewer


def heard_runs(text: str) -> frozenset[str]:
    """Return the word runs of every length up to five: those of each passage that the text repeats are among them."""
    words = words_in(text)
    return frozenset(run for length in range(1, NEAR_COPY_WORDS + 1) for run in _runs(words, length))


def long_enough(passage: str) -> bool:
    """Tell if a passage of evidence has so many words that nobody says them again by chance."""
    return len(words_in(passage)) >= ECHO_WORDS


def _first(previous: str | None) -> RevisionStep:
    """Begin a source; nothing can come before its first revision."""
    if previous is not None:
        raise RevisionConflict(
            "The first revision of a source names no previous one.", code="first_revision_has_previous"
        )
    return RevisionStep.FIRST


def _replay(same_content: bool) -> RevisionStep:
    """Recognise a retry of the current revision by its content."""
    if not same_content:
        raise RevisionConflict("This revision was already sent with other content.", code="revision_token_reused")
    return RevisionStep.REPLAY


def runs_of(words: list[str], size: int = NEAR_COPY_WORDS) -> Iterator[tuple[str, ...]]:
    """Yield each run of so many words."""
    return zip(*(words[shift:] for shift in range(size)), strict=False)


def _runs(words: list[str], length: int) -> Iterator[str]:
    """Yield the same with spaces between the words."""
    return map(" ".join, runs_of(words, length))
