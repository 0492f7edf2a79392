"""Rules in words: what a text says, read word by word ("Stage 2: Deterministic Injection Scan").

A phrase is steps parted by spaces. A step is words parted by `|`; a name in capitals stands for a list of words; `?`
lets a step be absent; `.`, `..` and `...` let at most 1, 4 and 9 other words stand between; `END` is the end of a
sentence. Each word of a text becomes one letter that tells which steps it may take, so that phrases are short patterns
over letters.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import Final

from densemem.core import limits
from evidence.scan.automaton import spans
from evidence.scan.model import Budget, Match, Rule
from evidence.scan.views import fold_text

END: Final = "."
# Each word is two bytes, the first of them 0x80 or more; the end of a sentence alone begins with 0x7f.
_FIRST: Final = 0x80
_SIZE: Final = 0x7F
_OTHER: Final = bytes((_FIRST, 0))
_END: Final = b"\x7f\x01"
PIECE_BYTES: Final = 1 << 15
GROUP: Final = 36  # rules of one automaton; the time to compile one grows faster than its rules
GAPS: Final = {".": 1, "..": 4, "...": 9}

MARKS: Final = (b".", b":", b"@")
_TABLE = bytes(
    ord(".") if chr(code) in ".!?;" else code if code > 127 or chr(code).isalnum() or chr(code) in ":@\n" else ord(" ")
    for code in range(256)
)
_TOKENS = re.compile(rb"[^ ]+")


def forms(words: str) -> Iterator[str]:
    """Give the folded words of a list, in which `stem(ending,ending)` stands for several."""
    for word in words.split():
        before, opened, rest = word.partition("(")
        endings, _, after = rest.partition(")")
        for ending in endings.split(",") if opened else [""]:
            yield fold_text(before + ending + after)


class Phrases:
    """A closed set of phrases, compiled into one automaton over the letters of their words."""

    def __init__(self, rules: Sequence[Rule], lists: Mapping[str, str]) -> None:
        self.rules = tuple(rules)
        self._lists = {name: frozenset(forms(words)) for name, words in lists.items()} | {"END": frozenset([END])}
        steps = dict.fromkeys(self._words(step) for rule in rules for step in rule.pattern.split() if step not in GAPS)
        places: dict[str, list[int]] = {}
        for place, words in enumerate(steps):
            for word in sorted(words - {END}):
                places.setdefault(word, []).append(place)
        letters: dict[tuple[int, ...], bytes] = {}
        for held in places.values():
            first, second = divmod(len(letters) + 1, _SIZE)
            letters.setdefault(tuple(held), bytes((_FIRST + first, second)))
        letter_of = {word: letters[tuple(held)] for word, held in places.items()} | {END: _END}
        self._letters = {word.encode(): letter for word, letter in letter_of.items()}
        self._choices = {words: _choice({letter_of[word] for word in words}) for words in steps}
        patterns = [self._compiled(rule.pattern) for rule in rules]
        self._automata = [(first, spans(patterns[first : first + GROUP])) for first in range(0, len(patterns), GROUP)]

    def _words(self, step: str) -> frozenset[str]:
        """Give every word that may take a step."""
        found: set[str] = set()
        for name in step.rstrip("?").split("|"):
            found |= self._lists[name] if name.isupper() and name.isascii() else {fold_text(name)}
        return frozenset(found)

    def _compiled(self, phrase: str) -> str:
        """Give the pattern over letters that a phrase stands for."""
        pattern = ""
        for step in phrase.split():
            if step in GAPS:
                pattern += rf"[^\x7f]{{0,{2 * GAPS[step]}}}"
            else:
                pattern += self._choices[self._words(step)] + "?" * step.endswith("?")
        return pattern

    def _spelled(self, parted: bytes) -> bytes:
        """Give the letters of all words, framed by two ends of sentences; a piece at a time keeps memory near."""
        spelled = [_END]
        start = 0
        while start < len(parted):
            end = parted.find(b" ", start + PIECE_BYTES)
            end = len(parted) if end < 0 else end
            spelled.append(b"".join(map(self._letters.get, parted[start:end].split(), repeat(_OTHER))))
            start = end
        return b"".join((*spelled, _END))

    def example(self, rule: Rule) -> list[str]:
        """Give one word for each step of a phrase; together they are a text in which it holds."""
        return [
            min(self._words(step), key=lambda word: (word == END, word))
            for step in rule.pattern.split()
            if step not in GAPS
        ]

    def matches(self, text: str, budget: Budget) -> Iterator[Match]:
        """Yield the phrases that hold in a normalised text, with their spans in it."""
        data = text.encode()
        parted = _parted(data)
        letters = self._spelled(parted)
        found: list[tuple[int, int, int]] = []

        for first, automaton in self._automata:

            def seen(rule: int, start: int, end: int, first: int = first) -> bool:
                budget.matches -= 1
                found.append((first + rule, start, end))
                return budget.spent

            automaton.scan(letters, seen)
            if budget.spent:
                break
        if not found:
            return
        if budget.spent:
            found = found[: limits.SIGNALS]  # the text is quarantined whatever the others say
        # Word k is letter k + 1: an end of a sentence stands before the first.
        ends = [(rule, max(start // 2 - 1, 0), min(end // 2 - 2, len(letters) // 2 - 3)) for rule, start, end in found]
        spans_of = _word_spans(parted, {word for _, *edges in ends for word in edges})
        place = characters(data, {edge for span in spans_of.values() for edge in span})
        for rule, first, last in ends:
            yield Match(place[spans_of[first][0]], place[spans_of[last][1]], self.rules[rule])


def _choice(letters: set[bytes]) -> str:
    """Give the pattern of one step: any of its letters."""
    rows: dict[int, list[int]] = {}
    for first, second in sorted(letters):
        rows.setdefault(first, []).append(second)
    choices = (
        f"\\x{first:02x}[" + "".join(f"\\x{one:02x}" for one in seconds) + "]" for first, seconds in rows.items()
    )
    return f"(?:{'|'.join(choices)})"


def _parted(data: bytes) -> bytes:
    """Give the words of a text and the ends of its sentences, parted by white space."""
    plain = data.translate(_TABLE).replace(b"\n\n", b" .").replace(b"\n", b" ")
    for mark in MARKS:
        plain = plain.replace(mark, b" " + mark + b" ")
    return plain


def _word_spans(parted: bytes, wanted: set[int]) -> dict[int, tuple[int, int]]:
    """Give the spans of some words, by their number, in the bytes before marks were set apart."""
    spans_of: dict[int, tuple[int, int]] = {}
    tokens = _TOKENS.finditer(parted)
    number, counted, added = 0, 0, 0
    for word in sorted(wanted):
        token = next(islice(tokens, word - number, None))
        number = word + 1
        start, end = token.span()
        added += sum(2 * parted.count(mark, counted, start) for mark in MARKS)
        counted = start
        shift = added + (token.group() in MARKS)
        spans_of[word] = start - shift, end - shift
    return spans_of


def characters(data: bytes, offsets: set[int]) -> dict[int, int]:
    """Turn offsets in UTF-8 bytes into offsets in characters."""
    place: dict[int, int] = {}
    before, count = 0, 0
    for offset in sorted(offsets):
        count += len(data[before:offset].decode("utf-8", "replace"))
        place[offset] = count
        before = offset
    return place
