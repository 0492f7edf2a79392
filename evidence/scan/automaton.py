"""Many patterns in one pass over a text, in time that grows with the text alone, whatever it says.

The automaton is Hyperscan's: no backtracking, and one pass for all patterns together.
"""

import re
import threading
from collections.abc import Callable, Sequence
from functools import cached_property

import hyperscan

_BOUNDED = re.compile(r"(?<!\\x)\{(\d+),\d+\}")
_POSSESSIVE = re.compile(r"(?<=[*+?}])\+")


class Automaton:
    """A closed set of patterns, compiled at first use; safe for many threads."""

    def __init__(self, patterns: Sequence[str], flags: int) -> None:
        self._patterns = [_POSSESSIVE.sub("", one).encode() for one in patterns]
        self._flags = flags
        self._scratch = threading.local()
        self._compiling = threading.Lock()

    @cached_property
    def _database(self) -> hyperscan.Database:
        with self._compiling:
            database = hyperscan.Database()
            database.compile(
                expressions=self._patterns,
                ids=list(range(len(self._patterns))),
                elements=len(self._patterns),
                flags=[self._flags] * len(self._patterns),
            )
            return database

    def scan(self, data: bytes, seen: Callable[[int, int, int], bool | None]) -> None:
        """Call `seen(pattern, start, end)` for each match, in bytes, until it answers true."""
        if not hasattr(self._scratch, "space"):
            self._scratch.space = hyperscan.Scratch(self._database)

        def report(pattern: int, start: int, end: int, flags: int, context: object) -> bool | None:
            return seen(pattern, start, end)

        try:
            self._database.scan(data, match_event_handler=report, scratch=self._scratch.space)
        except hyperscan.ScanTerminated:
            return

    def present(self, text: str) -> frozenset[int]:
        """Give the numbers of the patterns that are found in a text."""
        found: set[int] = set()
        self.scan(text.encode(), lambda pattern, start, end: found.add(pattern))
        return frozenset(found)


def any_of(characters: str) -> Automaton:
    """Give an automaton for one class of characters."""
    return Automaton([characters], hyperscan.HS_FLAG_UTF8 | hyperscan.HS_FLAG_SINGLEMATCH)


def presence(patterns: Sequence[str]) -> Automaton:
    """Give an automaton that tells which patterns may occur, each once; it may say yes too often, never no."""
    # Without upper bounds the automaton is small; bytes beyond ASCII are no word characters to it.
    loose = [_BOUNDED.sub(r"{\1,}", one if one.isascii() else one.replace(r"\w", ".")) for one in patterns]
    flags = hyperscan.HS_FLAG_PREFILTER | hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_CASELESS
    return Automaton(loose, flags)


def spans(patterns: Sequence[str]) -> Automaton:
    """Give an automaton that tells where each pattern begins and ends, over any bytes."""
    return Automaton(patterns, hyperscan.HS_FLAG_SOM_LEFTMOST | hyperscan.HS_FLAG_DOTALL)
